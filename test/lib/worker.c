/*
 * A process that contends for a lock, and writes its history.
 *
 *     worker HISTORY HOSTS SESSION_MS PATH
 *     worker HISTORY HOSTS SESSION_MS PATH SEED TICK_MS
 *
 * With a seed, which chooses what it does, it locks, holds and unlocks repeatedly until its history tells it to finish;
 * half of these workers know the servers' tick. Without, it reads orders, one a line, until the end of its input:
 *
 *     lock      lock; then ask for the state until the next order comes, or the lock is lost
 *     unlock
 *     state     ask for the state
 *     run       lock, hold for a moment, unlock, until the next order comes
 *
 * A belief is stamped so that it never looks longer than it was: after the lock was granted, before unlock is called,
 * before a question is asked.
 */
#include "lib/zk/client.h"
#include "test/lib/dice.h"
#include "test/lib/history.h"
#include "test/lib/register.h"
#include <paddock.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { QUESTION_MS = 10, ASYNC_LIMIT_MS = 600000, LINGER_SESSIONS = 4, MOMENT_MS = 5, LEAVE_S = 20 };

static struct history *history;
static pdk_client *client;
static pdk_mutex *mutex;
static struct dice dice;
static int session_ms, request;
static int write_percent; /* of the questions under this grant, after which it writes */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t told;
    int n_answers, rc;
} async = {.lock = PTHREAD_MUTEX_INITIALIZER, .told = PTHREAD_COND_INITIALIZER};

static void say(enum event event, int rc, int64_t token)
{
    history_write(history, &(struct record){.event = event, .rc = rc, .token = token, .kind = request});
}

static void nap(int ms) { nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL); }

static bool finishing(void) { return atomic_load(&history->finish) != 0; }

static void on_state(pdk_mutex *m, pdk_state state, int64_t token, void *arg)
{
    (void)m, (void)arg;
    say(TOLD, (int)state, token);
}

/* The session's id and password are for the faults that end the session. The first call may come before
 * pdk_client_new() has returned, so CLIENT is not to be used here. */
static void on_session(pdk_client *c, pdk_session_state state, void *arg)
{
    (void)arg;
    history_write(history, &(struct record){.event = SESSION, .rc = (int)state, .session = pdk_client_session_id(c)});
    if (state != PDK_SESSION_CONNECTED)
        return;
    const clientid_t *id = zoo_client_id(pdk__client_zh(c));
    atomic_fetch_add(&history->turn, 1);
    history->session = id->client_id;
    memcpy(history->password, id->passwd, sizeof history->password);
    atomic_fetch_add(&history->turn, 1);
    register_create(c);
}

/* --- asking ------------------------------------------------------------------------------------------------------ */

static void answered(int rc, void *arg)
{
    (void)arg;
    pthread_mutex_lock(&async.lock);
    async.rc = rc;
    if (++async.n_answers > 1)
        say(FAILED, PDK_EINVAL, 0); /* a second answer: the judge counts them */
    pthread_cond_signal(&async.told);
    pthread_mutex_unlock(&async.lock);
}

static bool await_answer(int ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    int rc = 0;
    pthread_mutex_lock(&async.lock);
    while (async.n_answers == 0 && rc == 0)
        rc = pthread_cond_timedwait(&async.told, &async.lock, &until);
    bool is_there = async.n_answers > 0;
    pthread_mutex_unlock(&async.lock);
    return is_there;
}

/* In 30 of 100 calls the caller cancels when no answer has come within 0 to 200 ms. */
static int lock_async(int64_t timeout_ms)
{
    pdk_op *op;
    async.n_answers = 0;
    int rc = pdk_mutex_lock_async(mutex, timeout_ms, answered, NULL, &op);
    if (rc != 0)
        return rc;
    if (dice_chance(&dice, 30) && !await_answer(dice_between(&dice, 0, 200)))
        pdk_op_cancel(op);
    pdk_op_free(op);
    return await_answer(ASYNC_LIMIT_MS) ? async.rc : PDK_ETIMEDOUT;
}

static int lock_by(enum way way, int64_t timeout_ms)
{
    switch (way) {
    case BY_LOCK:
        return pdk_mutex_lock(mutex);
    case BY_TIMEDLOCK:
        return pdk_mutex_timedlock(mutex, timeout_ms);
    case BY_TRYLOCK:
        return pdk_mutex_trylock(mutex);
    default:
        return lock_async(timeout_ms);
    }
}

static enum way choose_way(void)
{
    static const enum way ways[] = {BY_LOCK, BY_LOCK, BY_LOCK, BY_TIMEDLOCK, BY_TRYLOCK, BY_ASYNC};
    return atomic_load(&history->hasty) ? BY_TIMEDLOCK : ways[dice_below(&dice, 6)];
}

static int64_t choose_timeout_ms(enum way way)
{
    bool is_timed = way == BY_TIMEDLOCK || (way == BY_ASYNC && dice_chance(&dice, 50));
    int most = atomic_load(&history->hasty) || dice_chance(&dice, 50) ? 100 : 2 * session_ms;
    return is_timed ? dice_between(&dice, 10, most) : PDK_FOREVER;
}

static bool lock(enum way way, int64_t timeout_ms)
{
    request++;
    say(ASKED, (int)way, timeout_ms);
    int rc = lock_by(way, timeout_ms);
    struct record r = {.ns = now_ns(), .event = rc == 0 ? GRANTED : FAILED, .rc = rc, .kind = request};
    if (rc == 0) {
        pdk_mutex_token(mutex, &r.token);
        pdk_mutex_node(mutex, r.node, sizeof r.node);
        r.session = pdk_client_session_id(client);
        r.valid_ms = pdk_mutex_valid_ms(mutex);
        atomic_fetch_add(&history->n_grants, 1);
    }
    history_write(history, &r);
    return rc == 0;
}

/* --- holding ----------------------------------------------------------------------------------------------------- */

static int hold_ms(void)
{
    int roll = dice_below(&dice, 100);
    return roll < 70 ? dice_between(&dice, 0, 25) : roll < 96 ? dice_between(&dice, 25, 150) : session_ms / 2;
}

static bool ask(void)
{
    struct record r = {.ns = now_ns(), .event = QUESTION, .kind = request, .session = pdk_client_session_id(client)};
    pdk_mutex_token(mutex, &r.token);
    r.rc = (int)pdk_mutex_state(mutex);
    r.valid_ms = pdk_mutex_valid_ms(mutex);
    history_write(history, &r);
    if (r.rc == PDK_LOST)
        return false;
    if (dice_chance(&dice, write_percent))
        register_write(request, r.token);
    return true;
}

/* Returns the token that it had. */
static int64_t unlock(void)
{
    int64_t token = 0;
    pdk_mutex_token(mutex, &token);
    say(UNLOCKING, 0, token);
    int rc = pdk_mutex_unlock(mutex);
    say(UNLOCKED, rc, token);
    return token;
}

/* Half of the grants write. A write touches the session, and the deadlines of the others shall be tight. */
static void hold(void)
{
    write_percent = dice_chance(&dice, 50) ? 30 : 0;
    int64_t until = now_ns() + hold_ms() * INT64_C(1000000);
    int64_t limit = now_ns() + LINGER_SESSIONS * session_ms * INT64_C(1000000);
    atomic_store(&history->holding, 1);
    while (ask() && (now_ns() < until || (atomic_load(&history->linger) && now_ns() < limit)) && !finishing())
        nap(QUESTION_MS);
    atomic_store(&history->holding, 0);
    int64_t token = unlock();
    if (dice_chance(&dice, write_percent))
        register_write_late(request, token);
}

static void act_by_dice(void)
{
    while (!finishing()) {
        enum way way = choose_way();
        if (lock(way, choose_timeout_ms(way)))
            hold();
        nap(dice_chance(&dice, 50) ? 0 : dice_between(&dice, 1, 60));
    }
}

/* --- orders ------------------------------------------------------------------------------------------------------ */

/* Has another order come, within MS? */
static bool ordered(int ms) { return poll(&(struct pollfd){.fd = STDIN_FILENO, .events = POLLIN}, 1, ms) > 0; }

static void run(void)
{
    while (!ordered(0) && lock(BY_LOCK, PDK_FOREVER)) {
        if (ask() && !ordered(MOMENT_MS))
            ask();
        unlock();
    }
}

static void obey(const char *order)
{
    if (strcmp(order, "lock\n") == 0) {
        bool granted = lock(BY_LOCK, PDK_FOREVER);
        while (granted && ask() && !ordered(QUESTION_MS))
            continue;
    } else if (strcmp(order, "unlock\n") == 0) {
        unlock();
    } else if (strcmp(order, "state\n") == 0) {
        ask();
    } else if (strcmp(order, "run\n") == 0) {
        run();
    }
    atomic_fetch_add(&history->n_obeyed, 1);
}

/* The process that gave the orders has ended: do not wait for a lock indefinitely. Where the network is entered through
 * sudo, a signal to the child that the test knows does not reach this process. */
static void *watch_input(void *arg)
{
    (void)arg;
    while (poll(&(struct pollfd){.fd = STDIN_FILENO}, 1, -1) <= 0)
        continue;
    sleep(LEAVE_S);
    _exit(1);
}

/* Input is unbuffered, so that poll() sees every order that fgets() has not returned. */
static int act_by_orders(void)
{
    char order[64];
    pthread_t watcher;
    setvbuf(stdin, NULL, _IONBF, 0);
    if (pthread_create(&watcher, NULL, watch_input, NULL) != 0)
        return PDK_ESYSTEM;
    while (fgets(order, sizeof order, stdin) != NULL)
        obey(order);
    return 0;
}

/* --- the program ------------------------------------------------------------------------------------------------- */

/* TICK_MS 0: unknown. */
static int make(const char *hosts, int tick_ms, const char *path)
{
    pdk_client_options *o = pdk_client_options_new();
    if (o == NULL)
        return PDK_ENOMEM;
    int rc = pdk_client_options_set_session_timeout_ms(o, session_ms);
    if (rc == 0 && tick_ms > 0)
        rc = pdk_client_options_set_server_tick_ms(o, tick_ms);
    if (rc == 0)
        rc = pdk_client_options_set_on_session(o, on_session, NULL);
    if (rc == 0)
        rc = pdk_client_new(&client, hosts, o);
    pdk_client_options_free(o);
    if (rc == 0)
        rc = pdk_mutex_new(&mutex, client, path, NULL);
    register_begin(history, client, mutex);
    return rc != 0 ? rc : pdk_mutex_on_state(mutex, on_state, NULL);
}

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "worker: %s: %s\n", what, why);
    return 1;
}

/* Everything is closed and freed. The mutex after the client: a lock that is still held is given up with the session. */
static int leave(void)
{
    int rc = pdk_client_close(client);
    if (rc == 0)
        rc = pdk_mutex_free(mutex);
    if (rc == 0)
        rc = pdk_client_free(client);
    request++;
    say(ENDED, 0, 0);
    return rc;
}

int main(int argc, char **argv)
{
    if (argc != 5 && argc != 7)
        return 64;
    if ((history = history_open(argv[1], false)) == NULL)
        return fail(argv[1], "cannot be mapped");
    atomic_store(&history->pid, (int32_t)getpid());
    session_ms = atoi(argv[3]);
    zoo_set_debug_level((ZooLogLevel)0);
    bool by_dice = argc == 7;
    if (by_dice)
        dice_seed(&dice, strtoull(argv[5], NULL, 10));
    int rc = make(argv[2], by_dice && dice_chance(&dice, 50) ? atoi(argv[6]) : 0, argv[4]);
    if (rc != 0)
        return fail("cannot begin", pdk_strerror(rc));
    if (by_dice)
        act_by_dice();
    else
        rc = act_by_orders();
    if (rc != 0 || (rc = leave()) != 0)
        return fail("cannot end", pdk_strerror(rc));
    return 0;
}
