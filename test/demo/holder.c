/*
 * A program that works under a lock of the library as its users do: it checks the lock before each step.
 *
 *     holder HOSTS SESSION_MS
 *
 * Reads orders, one a line, until the end of its input:
 *     work FILE PATH STORE    lock PATH, work until the lock is lost or the driver asks for the end, unlock
 *
 * STORE is the socket of an examples/fenced_store, or "-". Its first work is a write there, with its token. If it was
 * stopped and then finds the lock lost, it does what a program without checks would do: it writes to the store, and
 * sends a guarded transaction.
 *
 * With PADDOCK_SHOW_IDLE it unlocks after each step and locks again, by the node that stays (idle hold). Its work ends
 * when it gets another node, or none.
 */
#include "test/demo/work.h"
#include "test/lib/secure.h"

#include <inttypes.h>
#include <paddock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

enum { LATE_SESSION_MS = 30000, IDLE_MS = 60000 };

static pdk_client *client;
static const char *hosts;

/* --- what is written under the lock ------------------------------------------------------------------------------ */

static int put(const char *store, int64_t token)
{
    char program[4096], number[32];
    int status = 0;
    snprintf(program, sizeof program, "%s/examples/fenced_store", getenv("PADDOCK_BUILDDIR"));
    snprintf(number, sizeof number, "%" PRId64, token);
    pid_t pid = fork();
    if (pid == 0) {
        fclose(stderr); /* a refusal is expected */
        execl(program, program, "put", store, number, "written", (char *)NULL);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : TAKEN;
}

static void ignore_event(zhandle_t *zh, int type, int state, const char *path, void *arg)
{
    (void)zh, (void)type, (void)state, (void)path, (void)arg;
}

/* On a handle of its own: the session of a process that was stopped has expired. */
static int commit(const zoo_op_t *check, const char *path)
{
    struct Stat stat;
    zoo_op_result_t results[2];
    zoo_op_t ops[2] = {*check};
    zoo_set_debug_level((ZooLogLevel)0);
    zhandle_t *zh = zookeeper_init(hosts, ignore_event, LATE_SESSION_MS, NULL, NULL, 0);
    while (zoo_state(zh) != ZOO_CONNECTED_STATE)
        work_nap();
    zoo_set_op_init(&ops[1], path, "late", 4, -1, &stat);
    int rc = zoo_multi(zh, 2, ops, results);
    zookeeper_close(zh);
    return rc != ZOK ? rc : TAKEN;
}

static void write_late(struct work *w, const zoo_op_t *check, const char *path, const char *store)
{
    if (*store != '-')
        atomic_store(&w->fenced, put(store, atomic_load(&w->token)));
    atomic_store(&w->guarded, commit(check, path));
}

/* --- work -------------------------------------------------------------------------------------------------------- */

/* The stamp is taken before the check: work that the check allows was allowed at that moment. */
static bool may_work(struct work *w, pdk_mutex *m)
{
    int64_t before = atomic_load(&w->last_ns), asked = work_now_ns();
    pdk_state state = pdk_lock_state(m);
    if (before != 0 && asked - before > STOPPED_MS * INT64_C(1000000) && atomic_load(&w->woke_ns) == 0) {
        atomic_store(&w->answer, state);
        atomic_store(&w->woke_ns, asked);
    }
    int64_t valid_ms = pdk_lock_valid_ms(m);
    atomic_store(&w->state, state);
    if (valid_ms > 0)
        atomic_store(&w->until_ns, asked + valid_ms * 1000000);
    if (state != PDK_HELD && state != PDK_SUSPECT)
        return false;
    work_stamp(w, asked);
    return true;
}

static bool is_idle_between(void) { return getenv("PADDOCK_SHOW_IDLE") != NULL; }

static bool take_again(struct work *w, pdk_mutex *m)
{
    int64_t token = 0;
    uint64_t turn = 0;
    if (pdk_mutex_unlock(m) != 0 || pdk_mutex_trylock(m) != 0)
        return false;
    if (pdk_lock_token(m, &token, NULL) != 0 || token != atomic_load(&w->token) || pdk_lock_token(m, NULL, &turn) != 0)
        return false;
    atomic_store(&w->turn, (int64_t)turn);
    return true;
}

static void explain(struct work *w, pdk_mutex *m)
{
    char error[120];
    pdk_client_last_error(client, error, sizeof error);
    if (*error == '\0')
        pdk_lock_last_error(m, error, sizeof error);
    snprintf(w->why, sizeof w->why, "%s; its session is %s", error,
             pdk_client_session_id(client) == atomic_load(&w->session) ? "the same" : "another");
}

static void work(struct work *w, pdk_mutex *m, const char *path, const char *store)
{
    int64_t token = 0;
    zoo_op_t check;
    int rc = pdk_lock_guard(m, 0, &check);
    pdk_lock_token(m, &token, NULL);
    atomic_store(&w->token, token);
    atomic_store(&w->session, pdk_client_session_id(client));
    if (*store != '-')
        put(store, token);
    while (may_work(w, m) && atomic_load(&w->must_end) == 0 && (!is_idle_between() || take_again(w, m)))
        work_nap();
    if (rc == 0 && atomic_load(&w->woke_ns) != 0 && atomic_load(&w->must_end) == 0)
        write_late(w, &check, path, store);
    explain(w, m);
    atomic_store(&w->ended_ns, work_now_ns());
}

static int make_mutex(pdk_mutex **m, const char *path)
{
    pdk_lock_options *o = pdk_lock_options_new();
    if (o == NULL)
        return PDK_ENOMEM;
    int rc = is_idle_between() ? pdk_lock_options_set_keep(o, 0, IDLE_MS) : 0;
    if (rc == 0)
        rc = pdk_mutex_new(m, client, path, o);
    pdk_lock_options_free(o);
    return rc;
}

static int obey(const char *file, const char *path, const char *store)
{
    pdk_mutex *m = NULL;
    struct work *w = work_open(file);
    int rc = w != NULL ? make_mutex(&m, path) : PDK_ESYSTEM;
    if (rc == 0) {
        atomic_store(&w->pid, getpid());
        rc = pdk_mutex_lock(m);
    }
    if (rc == 0) {
        work(w, m, path, store);
        pdk_mutex_unlock(m);
    } else {
        fprintf(stderr, "holder: %s: %s\n", path, pdk_strerror(rc));
    }
    pdk_lock_free(m);
    if (w != NULL)
        work_close(w);
    return rc;
}

static int make(int session_ms)
{
    pdk_client_options *o = pdk_client_options_new();
    if (o == NULL)
        return PDK_ENOMEM;
    int rc = pdk_client_options_set_session_timeout_ms(o, session_ms);
    if (rc == 0)
        rc = pdk__speak_tls(o);
    if (rc == 0)
        rc = pdk_client_new(&client, hosts, o);
    pdk_client_options_free(o);
    return rc;
}

int main(int argc, char **argv)
{
    char line[2048], file[512], path[256], store[512];
    if (argc < 3)
        return 64;
    hosts = argv[1];
    int rc = make(atoi(argv[2]));
    while (rc == 0 && fgets(line, sizeof line, stdin) != NULL)
        if (sscanf(line, "work %511s %255s %511s", file, path, store) == 3)
            rc = obey(file, path, store);
    if (rc != 0)
        fprintf(stderr, "holder: %s\n", pdk_strerror(rc));
    pdk_client_free(client);
    return rc != 0;
}
