/* The end of a client: calls that wait return, later calls say that it has ended, in whatever order objects are
 * freed. */
#include "recipes/lockable.h"
#include "test/lib/fixture.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_int n_told, last_rc;

static void count(int rc, void *arg)
{
    (void)arg;
    last_rc = rc;
    n_told++;
}

/* A path that a stranger holds. */
static const char *busy_path(void)
{
    const char *path = fixture_path();
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    fixture_make_below(path, "a-lock-0000000000", "");
    return path;
}

static void *wait_for_nobody(void *arg)
{
    pdk_client *c = arg;
    return (void *)(intptr_t)pdk_client_wait(c, PDK_FOREVER);
}

static void waiters_return(void)
{
    const char *path = busy_path();
    pdk_client *c = fixture_client(NULL);
    pdk_mutex *m = fixture_mutex(c, path);
    struct locker l[3];
    pdk_grant *g;
    n_told = 0;
    for (int i = 0; i < 3; i++)
        locker_start(&l[i], m);
    CHECK_RC(pdk_mutex_lock_async(m, PDK_FOREVER, count, NULL, &g), 0);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 5);
    CHECK_RC(pdk_client_close(c), 0);
    CHECK_EQ(fixture_children(path), 1);
    for (int i = 0; i < 3; i++) {
        locker_finish(&l[i]);
        CHECK_RC(l[i].rc, PDK_ECLOSED);
    }
    CHECK_EQ(n_told, 1);
    CHECK_RC(last_rc, PDK_ECLOSED);
    fixture_end(c, m);
}

/* There is no server to be waited for. */
static void unconnected_waiters_return(void)
{
    pdk_client *c;
    void *rc;
    pthread_t thread;
    struct locker l;
    pdk__proxy_refuse(fixture.proxy, true);
    CHECK_RC(pdk_client_new(&c, fixture.hosts, NULL), 0);
    pdk_mutex *m = fixture_mutex(c, "/nowhere");
    locker_start(&l, m);
    CHECK_EQ(pthread_create(&thread, NULL, wait_for_nobody, c), 0);
    CHECK_RC(pdk_client_wait(c, 20), PDK_ETIMEDOUT);
    CHECK(!l.settled);
    CHECK_RC(pdk_client_close(c), 0);
    locker_finish(&l);
    CHECK_RC(l.rc, PDK_ECLOSED);
    CHECK_EQ(pthread_join(thread, &rc), 0);
    CHECK_RC((int)(intptr_t)rc, PDK_ECLOSED);
    fixture_end(c, m);
    pdk__proxy_refuse(fixture.proxy, false);
}

/* --- a grant whose thread has not run yet ------------------------------------------------------------------------ */

static int gate[2]; /* a byte lets the thread go on */
static atomic_bool stopped;

static void stop_here(int sig)
{
    char go;
    (void)sig;
    stopped = true;
    CHECK_EQ(read(gate[0], &go, 1), 1);
}

static void stop(pthread_t thread)
{
    struct sigaction stops = {.sa_handler = stop_here};
    stopped = false;
    CHECK_EQ(pipe(gate), 0);
    CHECK_EQ(sigaction(SIGUSR1, &stops, NULL), 0);
    CHECK_EQ(pthread_kill(thread, SIGUSR1), 0);
    CHECK_WITHIN(LONG_MS, stopped);
}

/* It was granted, closed and freed before its thread ran again. */
static void closed_before_it_ran(unsigned budget)
{
    struct locker l;
    pdk_mutex *m;
    pdk_lock_options *o = pdk_lock_options_new();
    fixture_begin();
    struct peer other = peer_new(0);
    pdk_client *c = fixture_client(NULL);
    CHECK_RC(pdk_lock_options_set_keep(o, budget, 0), 0);
    CHECK_RC(pdk_mutex_new(&m, c, fixture.path, o), 0);
    pdk_lock_options_free(o);
    CHECK_RC(pdk_mutex_lock(other.mutex), 0);
    locker_start(&l, m);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 2);
    CHECK_RC(pdk__client_enter(c), 0); /* the thread is in its wait, and not at work with the client's lock */
    stop(l.thread);
    pdk__client_leave(c);
    CHECK_RC(pdk_mutex_unlock(other.mutex), 0);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_HELD);
    CHECK_RC(pdk_client_close(c), 0);
    CHECK_RC(pdk_lock_free(m), 0);
    CHECK_EQ(write(gate[1], "", 1), 1);
    CHECK_WITHIN(LONG_MS, l.settled);
    CHECK_RC(l.rc, PDK_ECLOSED);
    locker_finish(&l);
    close(gate[0]);
    close(gate[1]);
    pdk_client_free(c);
    peer_free(&other);
}

static void grant_closed_before_it_ran(void) { closed_before_it_ran(0); }
static void turn_closed_before_it_ran(void) { closed_before_it_ran(10); }

static void *close_it(void *arg) { return (void *)(intptr_t)pdk_client_close(arg); }

static void closed_by_two(void)
{
    const char *path = busy_path();
    for (int i = 0; i < 20; i++) {
        pthread_t threads[2];
        void *rc;
        struct locker l;
        pdk_client *c = fixture_client(NULL);
        pdk_mutex *m = fixture_mutex(c, path);
        locker_start(&l, m);
        for (int k = 0; k < 2; k++)
            CHECK_EQ(pthread_create(&threads[k], NULL, close_it, c), 0);
        for (int k = 0; k < 2; k++) {
            CHECK_EQ(pthread_join(threads[k], &rc), 0);
            CHECK_RC((int)(intptr_t)rc, 0);
        }
        CHECK_EQ(pdk_client_state(c), PDK_SESSION_OVER);
        locker_finish(&l);
        CHECK_RC(l.rc, PDK_ECLOSED);
        fixture_end(c, m);
    }
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 1);
}

static void *use(void *arg)
{
    pdk_mutex *m = arg;
    pdk_grant *g;
    CHECK_RC(pdk_mutex_lock(m), PDK_ECLOSED);
    CHECK_RC(pdk_mutex_trylock(m), PDK_ECLOSED);
    CHECK_RC(pdk_mutex_timedlock(m, 100), PDK_ECLOSED);
    CHECK_RC(pdk_mutex_timedlock(m, 0), PDK_ECLOSED);
    CHECK_RC(pdk_mutex_lock_async(m, PDK_FOREVER, count, NULL, &g), PDK_ECLOSED);
    CHECK_RC(pdk_mutex_unlock(m), PDK_ECLOSED);
    CHECK_EQ(pdk_lock_state(m), PDK_FREE);
    return m;
}

static void used_afterwards(void)
{
    const char *path = fixture_path();
    pdk_contender_list *list;
    pdk_client *c = fixture_client(NULL);
    pdk_mutex *m = fixture_mutex(c, path), *n;
    n_told = 0;
    CHECK_RC(pdk_client_close(c), 0);
    use(m);
    CHECK_RC(pdk_mutex_new(&n, c, path, NULL), PDK_ECLOSED);
    CHECK_RC(pdk_client_wait(c, PDK_FOREVER), PDK_ECLOSED);
    CHECK_RC(pdk_contenders(c, path, PDK_CONTENDERS_ALL, PDK_FOREVER, &list), PDK_ECLOSED);
    CHECK_RC(pdk_client_close(c), 0);
    CHECK_EQ(n_told, 0);
    CHECK_EQ(pdk_client_session_id(c), 0);
    fixture_end(c, m);
}

/* The system gives the ids of threads that have ended to new ones. None of those is one that callbacks run on. */
static void used_by_later_threads(void)
{
    enum { N = 8 };
    pthread_t threads[N];
    void *result;
    pdk_client *c = fixture_client(NULL);
    pdk_mutex *m = fixture_mutex(c, fixture_path());
    CHECK_RC(pdk_client_close(c), 0);
    for (int i = 0; i < N; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, use, m), 0);
    for (int i = 0; i < N; i++) {
        CHECK_EQ(pthread_join(threads[i], &result), 0);
        CHECK(result == m);
    }
    fixture_end(c, m);
}

static void freed_in_any_order(void)
{
    const char *path = busy_path(), *free_path = fixture_path();
    int64_t token;
    pdk_grant *g, *other;
    n_told = 0;
    pdk_client *c = fixture_client(NULL);
    pdk_mutex *held = fixture_mutex(c, free_path), *waiting = fixture_mutex(c, path), *idle = fixture_mutex(c, path);
    CHECK_RC(pdk_mutex_lock(held), 0);
    CHECK_RC(pdk_mutex_lock_async(waiting, PDK_FOREVER, count, NULL, &g), 0);
    CHECK_RC(pdk_mutex_lock_async(waiting, PDK_FOREVER, count, NULL, &other), 0);
    CHECK_RC(pdk_lock_free(held), PDK_EBUSY);
    CHECK_RC(pdk_lock_free(waiting), PDK_EBUSY);
    CHECK_RC(pdk_lock_free(idle), 0);
    CHECK_RC(pdk_grant_release(other), PDK_EPERM);
    CHECK_RC(pdk_lock_free(waiting), PDK_EBUSY);
    CHECK_RC(pdk_client_free(c), 0); /* closes it */
    CHECK_EQ(n_told, 2);
    CHECK_EQ(pdk_lock_state(held), PDK_LOST);
    CHECK_RC(pdk_lock_token(held, &token, NULL), 0);
    CHECK_RC(pdk_grant_cancel(g), 0);
    CHECK_RC(pdk_lock_free(waiting), 0); /* and its handle ends */
    CHECK_RC(pdk_lock_free(held), 0);    /* without an unlock */
    CHECK_RC(pdk_client_free(NULL), 0);
    CHECK_RC(pdk_lock_free(NULL), 0);
    CHECK_RC(pdk_grant_release(NULL), PDK_EINVAL);
    CHECK_EQ(fixture_children(path), 1);
}

/* No server answers. The close ends all the same, by the limits of ZooKeeper's client. */
static void closed_in_the_dark(void)
{
    const char *path = fixture_path();
    pdk_client *c = fixture_client(fixture_options(4000));
    pdk_mutex *m = fixture_mutex(c, path);
    CHECK_RC(pdk_mutex_lock(m), 0);
    pdk__proxy_hold(fixture.proxy, PDK__TO_SERVER, true);
    CHECK_RC(pdk_client_close(c), 0);
    CHECK_EQ(pdk_lock_state(m), PDK_LOST);
    pdk__proxy_hold(fixture.proxy, PDK__TO_SERVER, false);
    fixture_end(c, m);
    CHECK_WITHIN(LONG_MS, fixture_children(path) <= 0);
}

/* --- signals ----------------------------------------------------------------------------------------------------- */

enum { THREADS_MAX = 64 };

static int known[THREADS_MAX]; /* threads of the test's own */
static int n_known;

static bool is_known(int thread)
{
    for (int i = 0; i < n_known; i++)
        if (known[i] == thread)
            return true;
    return false;
}

/* Valgrind blocks all signals of a thread that is not in a system call. */
static bool takes_signals(const char *thread)
{
    enum { SIGNALS = 0x7fffffff & ~(1 << 8 | 1 << 18) }; /* all ordinary ones but KILL and STOP */
    char name[300], line[256];
    unsigned long long mask = ~0ull;
    snprintf(name, sizeof name, "/proc/self/task/%s/status", thread);
    FILE *f = fopen(name, "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, "SigBlk:", 7) == 0)
            mask = strtoull(line + 7, NULL, 16);
    if (f != NULL)
        fclose(f);
    return (mask & SIGNALS) != SIGNALS;
}

/* Threads that are not known, and would take a signal that a program may handle. With KNOW, they all are from now
 * on. */
static int strangers(bool know)
{
    DIR *dir = opendir("/proc/self/task");
    int n = 0;
    CHECK(dir != NULL);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        int thread = atoi(entry->d_name);
        if (thread == 0 || is_known(thread))
            continue;
        n += takes_signals(entry->d_name);
        if (know && n_known < THREADS_MAX)
            known[n_known++] = thread;
    }
    closedir(dir);
    return n;
}

static void signals_pass_by(void)
{
    CHECK(strangers(true) > 0);
    pdk_client *c = fixture_client(NULL);
    pdk_mutex *m = fixture_mutex(c, fixture_path());
    CHECK_EQ(strangers(false), 0);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_EQ(strangers(false), 0);
    fixture_end(c, m);
    CHECK_EQ(strangers(false), 0);
}

static void *wait_in_vain(void *arg) { return (void *)(intptr_t)pdk_mutex_lock(arg); }

static bool cancelled(pdk_client *c, pdk_mutex *m)
{
    pdk__client_lock(c);
    struct pdk__list *list = &PDK__MEMBER(m, struct pdk__lockable, lock)->cohort->acquisitions;
    bool waits = !pdk__list_empty(list);
    if (waits)
        pdk__hold_cancel(&PDK__MEMBER(list->next, struct pdk__acquisition, link)->hold);
    pdk__client_leave(c);
    return waits;
}

/* It waits no more, so the lock may be freed; and has not left the call. Without a server nothing is left to be done
 * that would keep the lock alive. */
static void freed_under_a_leaver(void)
{
    pdk_client *c;
    pdk__proxy_refuse(fixture.proxy, true);
    CHECK_RC(pdk_client_new(&c, fixture.hosts, NULL), 0);
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        void *rc;
        pdk_mutex *m = fixture_mutex(c, "/nowhere");
        CHECK_EQ(pthread_create(&thread, NULL, wait_in_vain, m), 0);
        CHECK_WITHIN(LONG_MS, cancelled(c, m));
        CHECK_RC(pdk_lock_free(m), 0);
        CHECK_EQ(pthread_join(thread, &rc), 0);
        CHECK_RC((int)(intptr_t)rc, PDK_ECANCELED);
    }
    fixture_end(c, NULL);
    pdk__proxy_refuse(fixture.proxy, false);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"those who wait for a lock return when the client is closed, and leave no nodes", waiters_return},
        {"those who wait for a server return when the client is closed", unconnected_waiters_return},
        {"a grant that a close ends before its thread runs is none", grant_closed_before_it_ran},
        {"a turn that a close ends before its thread runs is none", turn_closed_before_it_ran},
        {"two threads may close at once, and both return when it is done", closed_by_two},
        {"a closed client refuses everything", used_afterwards},
        {"a closed client mistakes no thread for one of its own", used_by_later_threads},
        {"clients, locks and pending locks are freed in any order", freed_in_any_order},
        {"a lock can be freed as soon as nobody waits, although a thread is on its way out", freed_under_a_leaver},
        {"a client closes although no server answers", closed_in_the_dark},
        {"signals of the program do not reach the library's threads", signals_pass_by},
        {0},
    };
    return fixture_main(argc, argv, "close", tests, ON_ONE);
}
