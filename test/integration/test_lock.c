/* Locks of every kind: the common verbs, and the options that not every kind has. */
#include "lib/clock.h"
#include "lib/zk/session_driver.h"
#include "test/lib/fixture.h"

#include <string.h>
#include <unistd.h>

enum kind { MUTEX, RWLOCK, SEMAPHORE, MULTILOCK, N_KINDS };

static pdk_client *c;
static pdk_lock *locks[N_KINDS];
static const char *const names[N_KINDS] = {"a mutex", "a read/write lock", "a semaphore", "a multi-lock"};

static int make(enum kind kind, pdk_lock **lock, const pdk_lock_options *o)
{
    const char *paths[2] = {fixture_path(), fixture_path()};
    switch (kind) {
    case MUTEX:
        return pdk_mutex_new(lock, c, paths[0], o);
    case RWLOCK:
        return pdk_rwlock_new(lock, c, paths[0], o);
    case SEMAPHORE:
        return pdk_semaphore_new(lock, c, paths[0], 2, o);
    default:
        return pdk_mutex_new_several(lock, c, paths, 2, o);
    }
}

static void begin(void)
{
    fixture_begin();
    c = fixture_client(NULL);
    for (enum kind kind = MUTEX; kind < N_KINDS; kind++)
        CHECK_RC(make(kind, &locks[kind], NULL), 0);
}

static void end(void)
{
    for (enum kind kind = MUTEX; kind < N_KINDS; kind++)
        CHECK_RC(pdk_lock_free(locks[kind]), 0);
    fixture_end(c, NULL);
}

/* --- options ----------------------------------------------------------------------------------------------------- */

static void set_min_token(pdk_lock_options *o) { CHECK_RC(pdk_lock_options_set_min_token(o, 1), 0); }
static void set_confirmed(pdk_lock_options *o) { CHECK_RC(pdk_lock_options_set_confirmed(o, true), 0); }
static void set_lock_delay(pdk_lock_options *o) { CHECK_RC(pdk_lock_options_set_lock_delay_ms(o, 1), 0); }
static void set_nowait(pdk_lock_options *o) { CHECK_RC(pdk_lock_options_set_unlock_nowait(o, true), 0); }
static void set_handover(pdk_lock_options *o) { CHECK_RC(pdk_lock_options_set_keep(o, 1, 0), 0); }
static void set_idle(pdk_lock_options *o) { CHECK_RC(pdk_lock_options_set_keep(o, 0, 1), 0); }
static void set_look_ahead(pdk_lock_options *o) { CHECK_RC(pdk_lock_options_set_look_ahead(o, true), 0); }
static void set_data(pdk_lock_options *o) { CHECK_RC(pdk_lock_options_set_data(o, "d", 1), 0); }

static void options(void)
{
    static const struct {
        void (*set)(pdk_lock_options *o);
        bool fits[N_KINDS];
    } cases[] = {{set_data, {true, true, true, true}},      {set_min_token, {true, true, true, true}},
                 {set_confirmed, {true, true, true, true}}, {set_lock_delay, {true, false, false, false}},
                 {set_nowait, {true, true, true, true}},    {set_handover, {true, false, false, false}},
                 {set_idle, {true, true, false, false}},    {set_look_ahead, {true, true, false, true}}};
    begin();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (enum kind kind = MUTEX; kind < N_KINDS; kind++) {
            char text[512];
            pdk_lock *lock = NULL;
            pdk_lock_options *o = pdk_lock_options_new();
            cases[i].set(o);
            CHECK_RC(make(kind, &lock, o), cases[i].fits[kind] ? 0 : PDK_ENOTSUP);
            CHECK((lock != NULL) == cases[i].fits[kind]);
            pdk_client_last_error(c, text, sizeof text);
            CHECK(cases[i].fits[kind] ? text[0] == '\0' : strstr(text, ": not supported") != NULL);
            CHECK_RC(pdk_lock_free(lock), 0);
            pdk_lock_options_free(o);
        }
    end();
}

/* --- the verbs of another kind ----------------------------------------------------------------------------------- */

static void check_refused(enum kind kind, int rc)
{
    char text[512];
    CHECK_RC(rc, PDK_EINVAL);
    pdk_lock_last_error(locks[kind], text, sizeof text);
    const char *is = strstr(text, "invalid argument: it is ");
    CHECK(is != NULL && strcmp(is + strlen("invalid argument: it is "), names[kind]) == 0);
    CHECK_RC(pdk_lock_on_event(locks[kind], NULL, NULL), 0);
}

static void nothing(int rc, void *arg)
{
    (void)rc;
    (void)arg;
}

static void another_kind(void)
{
    pdk_grant *permit = NULL;
    struct zoo_op op;
    int64_t token;
    uint64_t turn;
    begin();
    for (enum kind kind = MUTEX; kind < N_KINDS; kind++) {
        if (kind != MUTEX && kind != MULTILOCK) {
            check_refused(kind, pdk_mutex_lock(locks[kind]));
            check_refused(kind, pdk_mutex_trylock(locks[kind]));
            check_refused(kind, pdk_mutex_unlock(locks[kind]));
            check_refused(kind, pdk_mutex_lock_async(locks[kind], 0, nothing, NULL, NULL));
        }
        if (kind != RWLOCK) {
            check_refused(kind, pdk_rwlock_rdlock(locks[kind]));
            check_refused(kind, pdk_rwlock_timedwrlock(locks[kind], 0));
            check_refused(kind, pdk_rwlock_unlock_async(locks[kind], NULL, NULL));
        }
        if (kind != SEMAPHORE) {
            check_refused(kind, pdk_semaphore_acquire(locks[kind], 1, &permit));
            check_refused(kind, pdk_semaphore_acquire_async(locks[kind], 1, 0, nothing, NULL, &permit));
            check_refused(kind, pdk_semaphore_set_limit(locks[kind], 3));
            check_refused(kind, pdk_semaphore_follow(locks[kind], "/limit"));
            CHECK_EQ(pdk_semaphore_limit(locks[kind]), 0);
        }
        unsigned n = kind == MULTILOCK ? 2 : 1;
        CHECK_EQ(pdk_lock_count(locks[kind]), n);
        CHECK(pdk_lock_path(locks[kind], n - 1) != NULL && pdk_lock_path(locks[kind], n) == NULL);
    }
    check_refused(SEMAPHORE, pdk_lock_token(locks[SEMAPHORE], &token, NULL));
    check_refused(SEMAPHORE, pdk_lock_token(locks[SEMAPHORE], NULL, &turn));
    check_refused(SEMAPHORE, pdk_lock_guard(locks[SEMAPHORE], 0, &op));
    CHECK_RC(pdk_lock_guard(locks[MUTEX], 1, &op), PDK_EINVAL);
    CHECK_RC(pdk_lock_guard(locks[MULTILOCK], 2, &op), PDK_EINVAL);
    CHECK(permit == NULL);
    end();
}

static void no_lock(void)
{
    struct zoo_op op;
    pdk_event event;
    uint64_t turn;
    int64_t token;
    char text[8];
    CHECK_RC(pdk_lock_free(NULL), 0);
    CHECK(pdk_lock_path(NULL, 0) == NULL);
    CHECK_EQ(pdk_lock_state(NULL), PDK_FREE);
    CHECK_EQ(pdk_lock_valid_ms(NULL), 0);
    CHECK_RC(pdk_lock_token(NULL, &token, NULL), PDK_EINVAL);
    CHECK_RC(pdk_lock_token(NULL, NULL, &turn), PDK_EINVAL);
    CHECK_RC(pdk_lock_ahead(NULL, &token), PDK_EINVAL);
    CHECK_RC(pdk_lock_guard(NULL, 0, &op), PDK_EINVAL);
    CHECK_EQ(pdk_lock_node(NULL, 0, text, sizeof text), 0);
    CHECK_EQ(pdk_lock_last_error(NULL, text, sizeof text), 0);
    CHECK_RC(pdk_lock_on_event(NULL, NULL, NULL), PDK_EINVAL);
    CHECK_RC(pdk_lock_fd(NULL), PDK_EINVAL);
    CHECK_RC(pdk_lock_next_event(NULL, &event), PDK_EINVAL);
    CHECK_RC(pdk_mutex_lock(NULL), PDK_EINVAL);
    CHECK_RC(pdk_mutex_unlock(NULL), PDK_EINVAL);
    CHECK_EQ(pdk_lock_count(NULL), 0);
    CHECK_EQ(pdk_semaphore_limit(NULL), 0);
}

/* --- options of every kind --------------------------------------------------------------------------------------- */

static void note(int rc, void *arg) { atomic_store((atomic_int *)arg, rc); }

static int request(enum kind kind, pdk_lock *lock, int64_t timeout_ms, atomic_int *told, pdk_grant **g)
{
    atomic_store(told, 1);
    switch (kind) {
    case MUTEX:
        return pdk_mutex_lock_async(lock, timeout_ms, note, told, g);
    case RWLOCK:
        return pdk_rwlock_wrlock_async(lock, timeout_ms, note, told, g);
    case SEMAPHORE:
        return pdk_semaphore_acquire_async(lock, 2, timeout_ms, note, told, g);
    default:
        return pdk_mutex_lock_async(lock, timeout_ms, note, told, g);
    }
}

/* The outcome of a lock of KIND that is made with O. */
static int outcome(enum kind kind, pdk_lock_options *o, pdk_lock **lock, pdk_grant **g)
{
    atomic_int told;
    CHECK_RC(make(kind, lock, o), 0);
    CHECK_RC(request(kind, *lock, PDK_FOREVER, &told, g), 0);
    CHECK_WITHIN(LONG_MS, atomic_load(&told) != 1);
    return atomic_load(&told);
}

static void least_token(void)
{
    pdk_lock_options *o = pdk_lock_options_new();
    pdk_lock *lock;
    pdk_grant *g;
    CHECK_RC(pdk_lock_options_set_min_token(o, INT64_MAX), 0);
    begin();
    for (enum kind kind = MUTEX; kind < N_KINDS; kind++) {
        CHECK_RC(outcome(kind, o, &lock, &g), PDK_ESTALE);
        CHECK_RC(pdk_grant_release(g), PDK_EPERM);
        CHECK_RC(pdk_client_flush(c, LONG_MS), 0);
        CHECK_RC(pdk_lock_free(lock), 0);
    }
    pdk_lock_options_free(o);
    end();
}

/* Each node of a grant is written once. */
static void confirmed(void)
{
    pdk_lock_options *o = pdk_lock_options_new();
    pdk_lock *lock;
    pdk_grant *g;
    CHECK_RC(pdk_lock_options_set_confirmed(o, true), 0);
    begin();
    for (enum kind kind = MUTEX; kind < N_KINDS; kind++) {
        int64_t before = pdk__proxy_requests(fixture.proxy, PDK__OP_SET);
        CHECK_RC(outcome(kind, o, &lock, &g), 0);
        CHECK_EQ(pdk__proxy_requests(fixture.proxy, PDK__OP_SET) - before, pdk_grant_count(g));
        CHECK_RC(pdk_grant_release(g), 0);
        CHECK_RC(pdk_lock_free(lock), 0);
    }
    pdk_lock_options_free(o);
    end();
}

/* The answers to the deletes are held back meanwhile. */
static void not_awaited(void)
{
    pdk_lock_options *o = pdk_lock_options_new();
    pdk_lock *lock;
    pdk_grant *g;
    CHECK_RC(pdk_lock_options_set_unlock_nowait(o, true), 0);
    begin();
    for (enum kind kind = MUTEX; kind < N_KINDS; kind++) {
        CHECK_RC(outcome(kind, o, &lock, &g), 0);
        pdk__proxy_hold(fixture.proxy, PDK__TO_CLIENT, true);
        CHECK_RC(pdk_grant_release(g), 0);
        pdk__proxy_hold(fixture.proxy, PDK__TO_CLIENT, false);
        CHECK_RC(pdk_client_flush(c, LONG_MS), 0);
        CHECK_RC(pdk_lock_free(lock), 0);
    }
    pdk_lock_options_free(o);
    end();
}

/* --- a grant ----------------------------------------------------------------------------------------------------- */

static void check_in_use(enum kind kind)
{
    char text[512];
    CHECK_RC(pdk_lock_free(locks[kind]), PDK_EBUSY);
    pdk_lock_last_error(locks[kind], text, sizeof text);
    CHECK(strstr(text, ": in use: a grant or a request of it remains") != NULL);
}

static void held(void)
{
    pdk_grant *permit;
    int64_t token = 0;
    begin();
    CHECK_RC(pdk_mutex_lock(locks[MUTEX]), 0);
    CHECK_RC(pdk_rwlock_rdlock(locks[RWLOCK]), 0);
    CHECK_RC(pdk_semaphore_acquire(locks[SEMAPHORE], 2, &permit), 0);
    CHECK_RC(pdk_mutex_lock(locks[MULTILOCK]), 0);
    for (enum kind kind = MUTEX; kind < N_KINDS; kind++) {
        bool asked = kind != SEMAPHORE;
        check_in_use(kind);
        CHECK_EQ(pdk_lock_state(locks[kind]), asked ? PDK_HELD : PDK_FREE);
        CHECK((pdk_lock_valid_ms(locks[kind]) > 0) == asked);
        CHECK_RC(pdk_lock_token(locks[kind], &token, NULL), asked ? 0 : PDK_EINVAL);
        CHECK((pdk_lock_node(locks[kind], 0, NULL, 0) > 0) == asked);
        CHECK((pdk_lock_node(locks[kind], 1, NULL, 0) > 0) == (kind == MULTILOCK));
    }
    CHECK_RC(pdk_mutex_unlock(locks[MUTEX]), 0);
    CHECK_RC(pdk_rwlock_unlock(locks[RWLOCK]), 0);
    CHECK_RC(pdk_grant_release(permit), 0);
    CHECK_RC(pdk_mutex_unlock(locks[MULTILOCK]), 0);
    CHECK_RC(pdk_lock_token(locks[MULTILOCK], &token, NULL), PDK_EPERM);
    end();
}

/* --- a loss ------------------------------------------------------------------------------------------------------ */

enum { SHORT_MS = 2000 };

static void note_state(pdk_lock *l, const pdk_event *event, void *n_lost)
{
    (void)l;
    if (event->state == PDK_LOST)
        atomic_fetch_add((atomic_int *)n_lost, 1);
}

/* No thread of the library runs, as in a process that is stopped, until nothing is certain any more. */
static void sleep_through_the_deadline(void)
{
    CHECK_RC(pdk__client_enter(c), 0);
    while (pdk__now_ms() < pdk__session_deadline_ms(&c->session))
        usleep(10000);
    pdk__client_leave(c);
}

static uint64_t count_losses(void)
{
    pdk_stats *s;
    CHECK_RC(pdk_client_stats(c, &s), 0);
    uint64_t n = pdk_stats_count(s, PDK_STAT_LOSSES);
    pdk_stats_free(s);
    return n;
}

/* The release is the first to see it. */
static void lost_unseen(void)
{
    fixture_begin();
    c = fixture_client(fixture_options(SHORT_MS));
    for (enum kind kind = MUTEX; kind < N_KINDS; kind++) {
        pdk_lock *lock;
        pdk_grant *g;
        atomic_int n_lost = 0;
        CHECK_RC(outcome(kind, NULL, &lock, &g), 0);
        CHECK_RC(pdk_lock_on_event(lock, note_state, &n_lost), 0);
        sleep_through_the_deadline();
        CHECK_RC(pdk_grant_release(g), PDK_ELOST);
        CHECK_WITHIN(LONG_MS, atomic_load(&n_lost) == 1);
        CHECK_EQ(count_losses(), kind + 1);
        CHECK_RC(pdk_client_flush(c, LONG_MS), 0);
        CHECK_RC(pdk_lock_free(lock), 0);
    }
    fixture_end(c, NULL);
}

/* --- handles ----------------------------------------------------------------------------------------------------- */

static void check_no_grant(enum kind kind, pdk_grant *g)
{
    struct zoo_op op;
    int64_t token;
    CHECK_EQ(pdk_grant_state(g), PDK_FREE);
    CHECK_EQ(pdk_grant_valid_ms(g), 0);
    CHECK_RC(pdk_grant_token(g, &token, NULL), PDK_EPERM);
    CHECK_RC(pdk_grant_guard(g, 0, &op), PDK_EPERM);
    CHECK_EQ(pdk_grant_node(g, 0, NULL, 0), 0);
    check_in_use(kind);
}

/* Of each kind one that is granted, one that has failed, and one that waits. */
static void handles(void)
{
    begin();
    for (enum kind kind = MUTEX; kind < N_KINDS; kind++) {
        pdk_grant *held, *failed, *waits;
        atomic_int told[3];
        uint64_t turn;
        CHECK_RC(request(kind, locks[kind], PDK_FOREVER, &told[0], NULL), PDK_EINVAL);
        CHECK_RC(request(kind, locks[kind], PDK_FOREVER, &told[0], &held), 0);
        CHECK_WITHIN(LONG_MS, atomic_load(&told[0]) == 0);
        CHECK_EQ(pdk_grant_state(held), PDK_HELD);
        CHECK_EQ(pdk_lock_state(locks[kind]), PDK_FREE);
        CHECK_EQ(pdk_grant_count(held), kind >= SEMAPHORE ? 2 : 1);
        CHECK_RC(pdk_grant_token(held, NULL, &turn), 0);
        CHECK_EQ(turn, 1);
        CHECK_RC(request(kind, locks[kind], 0, &told[1], &failed), 0);
        CHECK_WITHIN(LONG_MS, atomic_load(&told[1]) == PDK_EBUSY);
        CHECK_RC(request(kind, locks[kind], PDK_FOREVER, &told[2], &waits), 0);
        check_no_grant(kind, waits);
        CHECK_RC(pdk_grant_release(waits), PDK_EPERM);
        CHECK_WITHIN(LONG_MS, atomic_load(&told[2]) == PDK_ECANCELED);
        CHECK_RC(pdk_grant_release(held), 0);
        check_no_grant(kind, failed); /* it alone keeps the lock */
        CHECK_RC(pdk_grant_cancel(failed), 0);
        CHECK_RC(pdk_grant_release_async(failed, nothing, NULL), PDK_EPERM);
        char text[512];
        pdk_lock_last_error(locks[kind], text, sizeof text);
        CHECK(strstr(text, ": nothing was granted") != NULL);
    }
    end();
}

/* --- places ------------------------------------------------------------------------------------------------------ */

static _Atomic int64_t place;
static atomic_int n_places;

static void placed(pdk_lock *l, const pdk_event *event, void *arg)
{
    CHECK(arg == l);
    if (event->kind != PDK_EVENT_QUEUED)
        return;
    atomic_store(&place, event->ahead);
    atomic_fetch_add(&n_places, 1);
}

/* One holds, and two wait: the second of them is told of the first. */
static void places(void)
{
    begin();
    for (enum kind kind = MUTEX; kind < N_KINDS; kind++) {
        pdk_grant *g[3];
        atomic_int told[3];
        int64_t ahead;
        CHECK_RC(pdk_lock_on_event(locks[kind], placed, locks[kind]), 0);
        atomic_store(&n_places, 0);
        CHECK_RC(request(kind, locks[kind], PDK_FOREVER, &told[0], &g[0]), 0);
        CHECK_WITHIN(LONG_MS, atomic_load(&told[0]) == 0);
        CHECK_RC(pdk_grant_ahead(g[0], &ahead), PDK_EPERM);
        CHECK_RC(pdk_lock_ahead(locks[kind], &ahead), PDK_EPERM);
        CHECK_EQ(atomic_load(&n_places), 0); /* it did not wait */
        CHECK_RC(request(kind, locks[kind], PDK_FOREVER, &told[1], &g[1]), 0);
        CHECK_WITHIN(LONG_MS, atomic_load(&n_places) == 1);
        int64_t first = kind == SEMAPHORE ? 3 : 1; /* two permits, and one of its own is ahead of the other */
        CHECK_EQ(atomic_load(&place), first);
        CHECK_RC(request(kind, locks[kind], PDK_FOREVER, &told[2], &g[2]), 0);
        CHECK_WITHIN(LONG_MS, atomic_load(&n_places) == 2);
        int64_t second = kind == SEMAPHORE ? 1 : 2; /* the other request */
        CHECK_EQ(atomic_load(&place), second);
        CHECK_RC(pdk_grant_ahead(g[1], &ahead), 0);
        CHECK_EQ(ahead, first);
        CHECK_RC(pdk_lock_ahead(locks[kind], &ahead), 0);
        CHECK_EQ(ahead, first);
        CHECK_RC(pdk_grant_ahead(g[2], &ahead), 0);
        CHECK_EQ(ahead, second);
        CHECK_RC(pdk_lock_on_event(locks[kind], NULL, NULL), 0);
        for (int i = 2; i >= 0; i--)
            CHECK_RC(pdk_grant_release(g[i]), i == 0 ? 0 : PDK_EPERM);
    }
    end();
}

static void no_handle(void)
{
    struct zoo_op op;
    uint64_t turn;
    int64_t token;
    CHECK_RC(pdk_grant_release(NULL), PDK_EINVAL);
    CHECK_RC(pdk_grant_release_async(NULL, NULL, NULL), PDK_EINVAL);
    CHECK_RC(pdk_grant_cancel(NULL), PDK_EINVAL);
    CHECK_RC(pdk_grant_token(NULL, &token, NULL), PDK_EINVAL);
    CHECK_RC(pdk_grant_token(NULL, NULL, &turn), PDK_EINVAL);
    CHECK_RC(pdk_grant_ahead(NULL, &token), PDK_EINVAL);
    CHECK_RC(pdk_grant_guard(NULL, 0, &op), PDK_EINVAL);
    CHECK_EQ(pdk_grant_state(NULL), PDK_FREE);
    CHECK_EQ(pdk_grant_valid_ms(NULL), 0);
    CHECK_EQ(pdk_grant_count(NULL), 0);
    CHECK_EQ(pdk_grant_node(NULL, 0, NULL, 0), 0);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"an option without a meaning for a kind of lock is refused", options},
        {"a lock of each kind has a least token", least_token},
        {"a lock of each kind is confirmed by a write of each of its nodes", confirmed},
        {"a grant of each kind is released without waiting, where its lock says so", not_awaited},
        {"a verb of another kind of lock is refused, and says of which kind it is", another_kind},
        {"the common verbs take NULL", no_lock},
        {"the common verbs take each kind of lock, held; and what is held is not freed", held},
        {"a loss that the release is the first to see is told and counted", lost_unseen},
        {"a request that waits is told its place", places},
        {"a handle keeps its lock, whatever becomes of its request", handles},
        {"the verbs of a handle take NULL", no_handle},
        {0},
    };
    return fixture_main(argc, argv, "lock", tests, ON_ONE);
}
