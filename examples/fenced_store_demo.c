/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The story: A takes a lock and is about to write when it is stopped, for longer than its session lives. B takes the
 * lock and writes. A goes on where it was, and writes, because it had checked that it holds. The store refuses it by
 * its token. ZooKeeper, where both write a node too, refuses it by the guard.
 */
#define _GNU_SOURCE /* prctl(), usleep(), where the compiler is asked for strict C11 */
#include "fenced_store.h"

#include <inttypes.h>
#include <paddock.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

enum { SESSION_MS = 4000, PATIENCE_MS = 60000 };

#define LOCK "/fenced/lock"
#define RECORD "/fenced/record"

struct stage {
    const char *hosts;
    char dir[64], store[108], file[108];
};

static void say(const char *who, const char *what, int64_t token)
{
    printf("%s: %s, token %" PRId64 "\n", who, what, token);
    fflush(stdout);
}

static int fail(const char *doing, const char *why)
{
    fprintf(stderr, "fenced_store: %s: %s\n", doing, why);
    return EXIT_TROUBLE;
}

/* --- a transaction under the guard ------------------------------------------------------------------------------- */

/* A call of ZooKeeper's whose result is awaited. */
struct call {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool done;
    int rc;
};

static void complete(int rc, const void *data)
{
    struct call *call = (struct call *)data;
    pthread_mutex_lock(&call->mutex);
    call->rc = rc;
    call->done = true;
    pthread_cond_signal(&call->cond);
    pthread_mutex_unlock(&call->mutex);
}

static int wait_call(struct call *call)
{
    pthread_mutex_lock(&call->mutex);
    while (!call->done)
        pthread_cond_wait(&call->cond, &call->mutex);
    pthread_mutex_unlock(&call->mutex);
    return call->rc;
}

/* Create the record or write it, all of it under CHECK. */
static int send_guarded(zhandle_t *zh, const zoo_op_t *check, bool create, const char *text)
{
    struct call call = {.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
    zoo_op_t ops[2] = {*check};
    zoo_op_result_t results[2];
    int length = (int)strlen(text);
    if (create)
        zoo_create_op_init(&ops[1], RECORD, text, length, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0);
    else
        zoo_set_op_init(&ops[1], RECORD, text, length, -1, NULL);
    if (zoo_state(zh) != ZOO_CONNECTED_STATE) /* with an expired handle zoo_amulti frees memory that is not its own */
        return ZCONNECTIONLOSS;
    int rc = zoo_amulti(zh, 2, ops, results, complete, &call);
    return rc == ZOK ? wait_call(&call) : rc;
}

static void connected(zhandle_t *zh, int type, int state, const char *path, void *call)
{
    (void)zh, (void)path;
    if (type == ZOO_SESSION_EVENT && state == ZOO_CONNECTED_STATE)
        complete(ZOK, call);
}

/* On a handle of its own: after the pause, the writer's own handle has no living session. */
static int write_guarded(const struct stage *s, const zoo_op_t *check, bool create, const char *text)
{
    struct call up = {.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
    zhandle_t *zh = zookeeper_init(s->hosts, connected, 10 * SESSION_MS, NULL, &up, 0);
    if (!zh)
        return ZSYSTEMERROR;
    wait_call(&up);
    int rc = send_guarded(zh, check, create, text);
    if (rc == ZNODEEXISTS) /* of an earlier run */
        rc = send_guarded(zh, check, false, text);
    zookeeper_close(zh);
    return rc;
}

/* --- the writers ------------------------------------------------------------------------------------------------- */

struct writer {
    const struct stage *stage;
    const char *name;
    pdk_client *client;
    pdk_mutex *mutex;
    int64_t token;
    zoo_op_t check;
};

static int open_writer(struct writer *w)
{
    pdk_client_options *o = pdk_client_options_new();
    if (!o)
        return PDK_ENOMEM;
    int rc = pdk_client_options_set_session_timeout_ms(o, SESSION_MS);
    if (rc == 0)
        rc = pdk_client_new(&w->client, w->stage->hosts, o);
    pdk_client_options_free(o);
    if (rc == 0)
        rc = pdk_mutex_new(&w->mutex, w->client, LOCK, NULL);
    if (rc == 0)
        rc = pdk_mutex_timedlock(w->mutex, PATIENCE_MS);
    if (rc == 0)
        rc = pdk_lock_token(w->mutex, &w->token, NULL);
    return rc ? rc : pdk_lock_guard(w->mutex, 0, &w->check);
}

static void close_writer(struct writer *w)
{
    if (w->mutex)
        pdk_mutex_unlock(w->mutex); /* PDK_ELOST: A knows that by now */
    if (w->client)
        pdk_client_close(w->client);
    pdk_lock_free(w->mutex);
    pdk_client_free(w->client);
}

static int write_to_store(struct writer *w)
{
    int64_t largest;
    int status = store_put(w->stage->store, w->token, w->name, &largest);
    if (status == 0)
        say(w->name, "the store takes the write", w->token);
    else if (status == EXIT_STALE)
        say(w->name, "the store refuses the write: it has seen a larger one than mine", w->token);
    return status;
}

static int write_to_zookeeper(struct writer *w, bool create)
{
    int rc = write_guarded(w->stage, &w->check, create, w->name);
    if (rc == ZOK)
        say(w->name, "ZooKeeper takes the guarded write", w->token);
    else if (rc == ZNONODE)
        say(w->name, "ZooKeeper refuses the guarded write: the node of the lock is gone", w->token);
    return rc == ZOK ? 0 : rc == ZNONODE ? EXIT_STALE : EXIT_TROUBLE;
}

/* Both ways. Refused means refused by both. */
static int write_both(struct writer *w, bool create)
{
    int status = write_to_store(w), other = write_to_zookeeper(w, create);
    return status == other ? status : EXIT_TROUBLE;
}

/* It writes once, checks that it holds, and sleeps right then. */
static int sleep_and_write(struct writer *w)
{
    int status = write_both(w, true);
    if (status || pdk_lock_state(w->mutex) != PDK_HELD)
        return EXIT_TROUBLE;
    say(w->name, "holds, and is about to write", w->token);
    raise(SIGSTOP);
    return write_both(w, false);
}

/* A child's work: its exit status is the result of the last write. */
static int work(const struct stage *s, const char *name, bool sleeper)
{
    struct writer w = {.stage = s, .name = name};
    int rc = open_writer(&w), status = EXIT_TROUBLE;
    if (rc)
        fail(name, pdk_strerror(rc));
    else
        status = sleeper ? sleep_and_write(&w) : write_both(&w, false);
    close_writer(&w);
    return status;
}

/* --- the story --------------------------------------------------------------------------------------------------- */

static pid_t begin(const struct stage *s, const char *name, bool sleeper)
{
    pid_t parent = getpid(), pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_TROUBLE);
    zoo_set_debug_level(0);
    _exit(name ? work(s, name, sleeper) : store_serve(s->store, s->file));
}

static bool store_answers(const struct stage *s)
{
    int64_t token;
    char text[TEXT_SIZE];
    for (int ms = 0; ms < PATIENCE_MS; ms += 10) {
        if (store_get(s->store, &token, text) == 0)
            return true;
        usleep(10000);
    }
    return false;
}

static int ended(pid_t pid)
{
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return EXIT_TROUBLE;
    return WEXITSTATUS(status);
}

static int contend(const struct stage *s)
{
    int status;
    pid_t a = begin(s, "A", true);
    if (a < 0 || waitpid(a, &status, WUNTRACED) != a || !WIFSTOPPED(status))
        return fail("A", "did not come to the point where it is stopped");
    printf("A is stopped; its session runs out\n");
    fflush(stdout);
    if (ended(begin(s, "B", false)) != 0)
        return fail("B", "could not write");
    printf("A goes on\n");
    fflush(stdout);
    kill(a, SIGCONT);
    return ended(a) == EXIT_STALE ? 0 : fail("A", "was not refused");
}

static int tell(const struct stage *s)
{
    int64_t token;
    char text[TEXT_SIZE];
    if (!store_answers(s))
        return fail("the store", "does not answer");
    int status = contend(s);
    if (status == 0 && (store_get(s->store, &token, text) || strcmp(text, "B") != 0))
        return fail("the store", "does not have what B wrote");
    if (status == 0)
        say("the store", "has what B wrote", token);
    return status;
}

/* The store's directory is removed with it. */
int demo(const char *hosts)
{
    struct stage s = {.hosts = hosts, .dir = "/tmp/fenced_store-XXXXXX"};
    if (!mkdtemp(s.dir))
        return fail(s.dir, "cannot be made");
    snprintf(s.store, sizeof s.store, "%s/store.socket", s.dir);
    snprintf(s.file, sizeof s.file, "%s/store", s.dir);
    pid_t store = begin(&s, NULL, false);
    int status = tell(&s);
    if (store > 0) {
        kill(store, SIGKILL);
        waitpid(store, NULL, 0);
    }
    unlink(s.store);
    unlink(s.file);
    rmdir(s.dir);
    return status;
}
