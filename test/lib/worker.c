/*
 * A process that contends for a lock, and writes its history.
 *
 *     worker HISTORY HOSTS SESSION_MS PATH SEED TICK_MS CRAFT
 *     worker HISTORY HOSTS SESSION_MS PATH - QUESTION_MS CRAFT
 *
 * CRAFT is what it contends for (crafts.h), a mutex of PATH or another lock, and how: "mutex+handover+idle". With
 * hand-over, two threads contend; with "mutex+25", 25. It speaks TLS where the environment says so (secure.h).
 *
 * With a seed, which chooses what it does, it locks, holds and unlocks repeatedly until its history tells it to finish;
 * half of these workers know the servers' tick. Without, it reads orders, one a line, until the end of its input. It
 * asks for the state every QUESTION_MS (0: 10):
 *
 *     lock      lock; then ask for the state until the next order comes, or the lock is lost
 *     hold      ask for the state until the next order comes; unlock when the lock is lost
 *     unlock
 *     state     ask for the state
 *     run       lock, hold for a moment, unlock, until the next order comes
 *     write     write to the register, in a transaction with the guard of the lock (register.h)
 *     late      the same, with the guard that the last write had
 *
 * With PADDOCK_TEST_TRACE in its environment a worker by dice writes a trace beside X.history, X.trace, too, for
 * test/model/trace.
 *
 * A belief is stamped so that it never looks longer than it was: after the lock was granted, before unlock is called,
 * before a question is asked.
 */
#include "lib/zk/client.h"
#include "test/lib/crafts.h"
#include "test/lib/dice.h"
#include "test/lib/history.h"
#include "test/lib/job.h"
#include "test/lib/register.h"
#include "test/lib/secure.h"
#include "test/lib/trace.h"
#include <limits.h>
#include <paddock.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ASYNC_LIMIT_MS = 600000, LINGER_SESSIONS = 4, LEAVE_S = 20, BUDGET = 3, BRIEF_MS = 20 };

static struct history *history;
static pdk_client *client;
static pdk_mutex *mutex;
static const struct craft *craft; /* what this worker contends for */
static struct craft_options options;
static int session_ms, question_ms = 10;
static int n_threads = 1; /* that contend */

/* Of the thread. */
static _Thread_local struct dice dice;
static _Thread_local int request;
static _Thread_local int write_percent; /* of the questions under this grant, after which it writes */
static _Thread_local struct wish wish;  /* the last one */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t told;
    int n_answers, rc, request;
} async = {.lock = PTHREAD_MUTEX_INITIALIZER, .told = PTHREAD_COND_INITIALIZER};

static void say_of(int number, enum event event, int rc, int64_t token)
{
    history_write(history, &(struct record){.event = event, .rc = rc, .token = token, .kind = number});
}

static void say(enum event event, int rc, int64_t token) { say_of(request, event, rc, token); }

static void nap(int ms) { nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL); }

static bool finishing(void) { return atomic_load(&history->finish) != 0; }

static void on_state(pdk_mutex *m, const pdk_event *event, void *arg)
{
    (void)m, (void)arg;
    if (event->kind == PDK_EVENT_STATE)
        say(TOLD, (int)event->state, event->token);
}

static void on_craft(pdk_state state, int64_t token) { say(TOLD, (int)state, token); }

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
        say_of(async.request, FAILED, PDK_EINVAL, 0); /* a second answer: the judge counts them */
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

static pdk_grant *grant; /* of an asynchronous lock; NULL: the lock is the thread's */

static int release_grant(void)
{
    pdk_grant *g = grant;
    grant = NULL;
    return pdk_grant_release(g);
}

/* In 30 of 100 calls the caller cancels when no answer has come within 0 to 200 ms. */
static int lock_async(int64_t timeout_ms)
{
    async.n_answers = 0;
    async.request = request;
    int rc = pdk_mutex_lock_async(mutex, timeout_ms, answered, NULL, &grant);
    if (rc != 0)
        return rc;
    if (dice_chance(&dice, 30) && !await_answer(dice_between(&dice, 0, 200)))
        pdk_grant_cancel(grant);
    rc = await_answer(ASYNC_LIMIT_MS) ? async.rc : PDK_ETIMEDOUT;
    if (rc != 0)
        release_grant();
    return rc;
}

static int lock_mutex(const struct wish *w)
{
    switch (w->way) {
    case BY_LOCK:
        return pdk_mutex_lock(mutex);
    case BY_TIMEDLOCK:
        return pdk_mutex_timedlock(mutex, w->timeout_ms);
    case BY_TRYLOCK:
        return pdk_mutex_trylock(mutex);
    default:
        return lock_async(w->timeout_ms);
    }
}

static int unlock_mutex(bool yields)
{
    (void)yields;
    return grant != NULL ? release_grant() : pdk_mutex_unlock(mutex);
}

static pdk_state mutex_state(void) { return grant != NULL ? pdk_grant_state(grant) : pdk_lock_state(mutex); }

static int64_t mutex_valid_ms(void) { return grant != NULL ? pdk_grant_valid_ms(grant) : pdk_lock_valid_ms(mutex); }

static int64_t mutex_token(void)
{
    int64_t token;
    int rc = grant != NULL ? pdk_grant_token(grant, &token, NULL) : pdk_lock_token(mutex, &token, NULL);
    return rc == 0 ? token : 0;
}

static uint64_t mutex_turn(void)
{
    uint64_t turn;
    int rc = grant != NULL ? pdk_grant_token(grant, NULL, &turn) : pdk_lock_token(mutex, NULL, &turn);
    return rc == 0 ? turn : 0;
}

static int mutex_parts(struct record parts[PARTS_MAX])
{
    parts[0].token = mutex_token();
    if (grant != NULL)
        pdk_grant_node(grant, 0, parts[0].node, sizeof parts[0].node);
    else
        pdk_lock_node(mutex, 0, parts[0].node, sizeof parts[0].node);
    return 1;
}

static int mutex_guard(struct zoo_op *op)
{
    return grant != NULL ? pdk_grant_guard(grant, 0, op) : pdk_lock_guard(mutex, 0, op);
}

static int free_mutex(void) { return pdk_lock_free(mutex); }

static const struct craft mutex_craft = {.name = "mutex",
                                         .lock = lock_mutex,
                                         .unlock = unlock_mutex,
                                         .state = mutex_state,
                                         .valid_ms = mutex_valid_ms,
                                         .token = mutex_token,
                                         .turn = mutex_turn,
                                         .parts = mutex_parts,
                                         .free = free_mutex};

/* Only a mutex is asked for without waiting; and by one thread, for there is one handle. */
static enum way choose_way(void)
{
    static const enum way ways[] = {BY_LOCK, BY_LOCK, BY_LOCK, BY_TIMEDLOCK, BY_TRYLOCK, BY_ASYNC};
    if (craft != &mutex_craft || n_threads > 1)
        return atomic_load(&history->hasty) ? BY_TIMEDLOCK : ways[dice_below(&dice, 5)];
    return atomic_load(&history->hasty) ? BY_TIMEDLOCK : ways[dice_below(&dice, 6)];
}

static int64_t choose_timeout_ms(enum way way)
{
    bool is_timed = way == BY_TIMEDLOCK || (way == BY_ASYNC && dice_chance(&dice, 50));
    int most = atomic_load(&history->hasty) || dice_chance(&dice, 50) ? 100 : 2 * session_ms;
    return is_timed ? dice_between(&dice, 10, most) : PDK_FOREVER;
}

static void say_asked(const struct wish *w)
{
    struct record r = {
        .event = ASKED, .rc = (int)w->way, .token = w->timeout_ms, .kind = ++request, .session = w->n_nodes};
    snprintf(r.node, sizeof r.node, "%s", recipe_name(w->recipe));
    history_write(history, &r);
}

/* The nodes first, and what was granted at NS. The one node of most grants is in the last record alone. */
static void say_granted(int64_t ns)
{
    struct record parts[PARTS_MAX] = {{0}};
    struct record r = {.ns = ns, .event = GRANTED, .kind = request, .token = craft->token()};
    int n = craft->parts(parts);
    r.session = pdk_client_session_id(client);
    r.valid_ms = craft->valid_ms();
    for (int i = 0; i < n && wish.n_nodes > 0; i++) {
        parts[i].event = PART;
        parts[i].kind = request;
        history_write(history, &parts[i]);
    }
    if (craft->turn != NULL && (options.handover || options.idle))
        say(TURN, 0, (int64_t)craft->turn());
    memcpy(r.node, parts[0].node, sizeof r.node);
    history_write(history, &r);
    atomic_fetch_add(&history->n_grants, 1);
}

static bool lock(enum way way, int64_t timeout_ms)
{
    wish = (struct wish){.recipe = RECIPE_MUTEX, .way = way, .timeout_ms = timeout_ms};
    if (craft->choose != NULL)
        craft->choose(&dice, &wish);
    say_asked(&wish);
    int rc = craft->lock(&wish);
    if (rc == 0)
        say_granted(now_ns());
    else
        say(FAILED, rc, 0);
    return rc == 0;
}

/* --- holding ----------------------------------------------------------------------------------------------------- */

static int hold_ms(void)
{
    int roll = dice_below(&dice, 100);
    if (options.brief)
        return dice_between(&dice, 1, BRIEF_MS);
    return roll < 70 ? dice_between(&dice, 0, 25) : roll < 96 ? dice_between(&dice, 25, 150) : session_ms / 2;
}

static bool ask(void)
{
    struct record r = {.ns = now_ns(), .event = QUESTION, .kind = request, .session = pdk_client_session_id(client)};
    r.token = craft->token();
    r.rc = (int)craft->state();
    r.valid_ms = craft->valid_ms();
    if ((craft->lanes & 1U << LANE_TURNS) != 0 &&
        craft->state() == PDK_LOST) { /* another term began between the questions */
        r.rc = PDK_LOST;
        r.valid_ms = 0;
    }
    history_write(history, &r);
    if (r.rc == PDK_LOST)
        return false;
    if (dice_chance(&dice, write_percent))
        register_write(request, r.token);
    return true;
}

static void say_unlocking(int number, bool yields, int64_t token)
{
    bool may_stay = options.handover || options.idle || options.nowait;
    history_write(history, &(struct record){
                               .event = UNLOCKING, .rc = yields, .token = token, .kind = number, .session = may_stay});
}

/* Returns the token that it had. */
static int64_t unlock(void)
{
    bool yields = craft->yields && (options.brief || dice_chance(&dice, 70));
    int64_t token = craft->token();
    say_unlocking(request, yields, token);
    int rc = craft->unlock(yields);
    say(UNLOCKED, rc, token);
    return token;
}

/* The writer goes on as a reader. False: nothing is held any more. */
static bool downgrade(void)
{
    int writer = request;
    int64_t token = craft->token();
    wish = (struct wish){.recipe = RECIPE_DOWNGRADE, .way = BY_LOCK, .timeout_ms = PDK_FOREVER};
    say_asked(&wish);
    say_unlocking(writer, false, token);
    int rc = craft_downgrade();
    bool reads = rc == 0 || rc == PDK_EUNKNOWN;
    say_of(writer, UNLOCKED, reads ? rc : craft->unlock(false), token);
    if (reads)
        say_granted(now_ns());
    else
        say(FAILED, rc, 0);
    return reads;
}

/* Half of the grants of the first thread write. A write touches the session, and the deadlines of the others shall be
 * tight. */
static void hold(void)
{
    bool first = request < THREAD_NUMBERS;
    write_percent = craft == &mutex_craft && first && dice_chance(&dice, 50) ? 30 : 0;
    bool works = options.jobs && craft == &mutex_craft && dice_chance(&dice, 60) && ask() &&
                 job_begin(history, mutex, grant, request, craft->token(), &dice);
    int64_t until = now_ns() + hold_ms() * INT64_C(1000000);
    int64_t limit = now_ns() + LINGER_SESSIONS * session_ms * INT64_C(1000000);
    atomic_store(&history->holding, 1);
    while (ask() && (now_ns() < until || (atomic_load(&history->linger) && now_ns() < limit)) && !finishing())
        nap(question_ms);
    atomic_store(&history->holding, 0);
    if (wish.recipe == RECIPE_WRITE && dice_chance(&dice, 40) && !downgrade())
        return;
    if (wish.recipe == RECIPE_DOWNGRADE)
        ask();
    if (works)
        job_end(history, request, &dice);
    int64_t token = unlock();
    if (dice_chance(&dice, write_percent))
        register_write_late(request, token);
}

static void act_by_dice(void)
{
    while (!finishing()) {
        enum way way = options.brief ? BY_LOCK : choose_way();
        if (lock(way, choose_timeout_ms(way)))
            hold();
        nap(options.brief || dice_chance(&dice, 50) ? 0 : dice_between(&dice, 1, 60));
    }
}

static uint64_t thread_seed;

static void *act_beside(void *number)
{
    dice_seed(&dice, thread_seed ^ (uint64_t)(uintptr_t)number * UINT64_C(0x2545f4914f6cdd1d));
    request = (int)(uintptr_t)number * THREAD_NUMBERS;
    act_by_dice();
    return NULL;
}

static int act_together(uint64_t seed)
{
    pthread_t others[CRAFT_THREADS_MAX];
    int n = 1;
    thread_seed = seed;
    while (n < n_threads && pthread_create(&others[n], NULL, act_beside, (void *)(uintptr_t)n) == 0)
        n++;
    act_by_dice();
    for (int i = 1; i < n; i++)
        pthread_join(others[i], NULL);
    return n == n_threads ? 0 : PDK_ESYSTEM;
}

/* --- orders ------------------------------------------------------------------------------------------------------ */

/* Has another order come, within MS? */
static bool ordered(int ms) { return poll(&(struct pollfd){.fd = STDIN_FILENO, .events = POLLIN}, 1, ms) > 0; }

static void run(void)
{
    while (!ordered(0) && lock(BY_LOCK, PDK_FOREVER)) {
        if (ask() && !ordered(question_ms))
            ask();
        unlock();
    }
}

/* For the reader of a failure. */
static void explain(void)
{
    char error[300];
    pdk_client_last_error(client, error, sizeof error);
    if (*error == '\0')
        pdk_lock_last_error(mutex, error, sizeof error);
    printf("# worker: LOST: %s\n", error);
    fflush(stdout);
}

/* False when the lock is lost. */
static bool hold_on(void)
{
    bool holds;
    while ((holds = ask()) && !ordered(question_ms))
        continue;
    return holds;
}

static void lock_and_hold(void)
{
    if (lock(BY_LOCK, PDK_FOREVER) && !hold_on())
        explain();
}

static void hold_to_the_end(void)
{
    if (!hold_on())
        unlock();
}

static void unlock_by_order(void) { unlock(); }
static void ask_by_order(void) { ask(); }

/* An order is carried out, though the answer to the register's create may be later than the grant. */
static void write_guarded(void)
{
    while (!register_exists() && !ordered(question_ms))
        continue;
    register_write(request, craft->token());
}

static void write_late(void) { register_write_late(request, register_token()); }

static void obey(const char *order)
{
    static const struct {
        const char *line;
        void (*carry_out)(void);
    } orders[] = {{"lock\n", lock_and_hold},
                  {"hold\n", hold_to_the_end},
                  {"unlock\n", unlock_by_order},
                  {"state\n", ask_by_order},
                  {"run\n", run},
                  {"write\n", write_guarded},
                  {"late\n", write_late}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (strcmp(order, orders[i].line) == 0)
            orders[i].carry_out();
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

/* --- a trace ----------------------------------------------------------------------------------------------------- */

static int servers_tick_ms;

int trace_tick_ms(void) { return servers_tick_ms; }

/* A line is whole or is the last one: the process may be killed. */
static bool open_trace(const char *history_file)
{
    char file[PATH_MAX];
    const char *end = strrchr(history_file, '.');
    snprintf(file, sizeof file, "%.*s.trace", (int)(end != NULL ? end - history_file : 0), history_file);
    return (trace_out = fopen(file, "we")) != NULL && setvbuf(trace_out, NULL, _IOLBF, 0) == 0;
}

/* --- the program ------------------------------------------------------------------------------------------------- */

static int make_mutex(const char *path)
{
    pdk_lock_options *o = pdk_lock_options_new();
    unsigned turns = options.handover ? BUDGET : 0;
    int rc = o != NULL ? pdk_lock_options_set_keep(o, turns, options.idle ? KEPT_MS : 0) : PDK_ENOMEM;
    if (rc == 0)
        rc = pdk_lock_options_set_unlock_nowait(o, options.nowait);
    if (rc == 0)
        rc = pdk_mutex_new(&mutex, client, path, o);
    pdk_lock_options_free(o);
    return rc;
}

/* TICK_MS 0: unknown. */
static int make(const char *hosts, int tick_ms, const char *path)
{
    pdk_client_options *o = pdk_client_options_new();
    if (o == NULL)
        return PDK_ENOMEM;
    int rc = pdk_client_options_set_session_timeout_ms(o, session_ms);
    if (rc == 0)
        rc = pdk_client_options_set_clock(o, tick_ms, 0);
    if (rc == 0)
        rc = pdk__speak_tls(o);
    if (rc == 0)
        rc = pdk_client_options_set_on_session(o, on_session, NULL);
    if (rc == 0)
        rc = pdk_client_new(&client, hosts, o);
    pdk_client_options_free(o);
    if (rc == 0)
        rc = make_mutex(path);
    register_begin(history, client, mutex_guard);
    if (rc == 0 && craft != &mutex_craft)
        rc = craft->make(client, on_craft, &options);
    return rc != 0 ? rc : pdk_lock_on_event(mutex, on_state, NULL);
}

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "worker: %s: %s\n", what, why);
    return 1;
}

/* Everything is closed and freed. The mutex after the client: a lock that is still held is given up with the
 * session. */
static int leave(void)
{
    int rc = pdk_client_close(client);
    if (rc == 0)
        rc = craft->free();
    if (rc == 0 && craft != &mutex_craft)
        rc = pdk_lock_free(mutex);
    if (rc == 0)
        rc = pdk_client_free(client);
    request++;
    say(ENDED, 0, 0);
    return rc;
}

static const struct craft *choose_craft(const char *text)
{
    char name[32];
    if (!craft_read(text, name, &options))
        return NULL;
    return strcmp(name, mutex_craft.name) != 0 ? craft_find(name) : &mutex_craft;
}

int main(int argc, char **argv)
{
    if (argc != 8 || (craft = choose_craft(argv[7])) == NULL)
        return 64;
    if ((history = history_open(argv[1], false)) == NULL)
        return fail(argv[1], "cannot be mapped");
    atomic_store(&history->pid, (int32_t)getpid());
    session_ms = atoi(argv[3]);
    zoo_set_debug_level((ZooLogLevel)0);
    bool by_dice = *argv[5] != '-';
    if (by_dice)
        dice_seed(&dice, strtoull(argv[5], NULL, 10));
    servers_tick_ms = by_dice ? atoi(argv[6]) : 0;
    if (by_dice && getenv("PADDOCK_TEST_TRACE") != NULL && !open_trace(argv[1]))
        return fail(argv[1], "has no trace beside it");
    if (options.brief || (!by_dice && atoi(argv[6]) > 0))
        question_ms = by_dice ? 1 : atoi(argv[6]);
    int rc = make(argv[2], by_dice && dice_chance(&dice, 50) ? atoi(argv[6]) : 0, argv[4]);
    if (rc != 0)
        return fail("cannot begin", pdk_strerror(rc));
    if (craft == &mutex_craft)
        n_threads = options.threads > 0 ? options.threads : options.handover ? 2 : 1;
    rc = by_dice ? act_together(strtoull(argv[5], NULL, 10)) : act_by_orders();
    if (rc != 0 || (rc = leave()) != 0)
        return fail("cannot end", pdk_strerror(rc));
    return 0;
}
