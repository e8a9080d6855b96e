/*
 * Bounded belief, on three real servers: a holder stops working before the next holder begins, by the stamps of both,
 * whatever fault the network or the process has in between. docker/show starts the servers and runs this; see there.
 *
 * Each run does one thing to several holders at once. Each holder has a lock of its own, with one waiter after it. The
 * holders are a program on the library, `paddock lock`, `paddock elect`, and a program on Curator, which is compared
 * but not judged.
 *
 * With PADDOCK_SHOW_IDLE the programs on the library have idle hold: they unlock and lock again all the time, without a
 * request. Their nodes would go to a waiter at once, so the waiters come after the fault.
 *
 * With PADDOCK_SHOW_WAITERS so many more wait behind the rival for each lock: half of them where the holders are, and
 * half where the rivals are.
 *
 * PADDOCK_SHOW_RUNS (3), PADDOCK_SHOW_SESSION_MS (1400) and PADDOCK_SHOW_OUT, a directory for the figures as JSON.
 */
#include "examples/fenced_store.h"
#include "test/chaos/findings.h"
#include "test/demo/margins.h"
#include "test/demo/observer.h"
#include "test/docker/servers.h"
#include "test/docker/workers.h"
#include "test/lib/check.h"
#include "test/lib/program.h"

#include <inttypes.h>
#include <paddock.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

enum {
    SOON_MS = 120000,
    BEGIN_MS = 60000,
    RIVAL_MS = 30000,
    PLACE = 1,
    EVERY_MS = 1,
    IDLE_EVERY_MS = 2,
    EXIT_UNJUDGED = 75
};

enum fault { FOLLOWER_CUT_OFF, CLIENT_CUT_OFF, HOLDER_STOPPED };

static struct role {
    const char *name, *verb;
    enum kind kind;
    bool judged;
    int holder, rival; /* workers of this run */
    char path[128];
    _Atomic int64_t gone_ns;
    bool is_struck;
    int voids;    /* runs in which it released before the fault was complete */
    int stuck;    /* runs in which it did not begin */
    int unlawful; /* runs in which it and its rival broke a law */
    struct outcomes outcomes;
} roles[] = {
    {.name = "library", .kind = PROGRAM, .judged = true},
    {.name = "paddock lock", .kind = COMMAND, .verb = "lock", .judged = true},
    {.name = "paddock elect", .kind = COMMAND, .verb = "elect", .judged = true},
    {.name = "Curator", .kind = CURATOR},
};

enum { ROLES = sizeof roles / sizeof *roles };

#define EACH_ROLE(r) for (struct role *r = roles; r < roles + ROLES; r++)

static int runs, session_ms, n_waiters;
static bool is_idle;        /* idle hold */
static bool unjudged;       /* the machine was too busy for a role */
static int64_t least_turns; /* by an idle node, in one run */
static enum fault fault;
static char follower[16], all_hosts[256];
static struct job holders, rivals;
static struct program keeper; /* of the fenced store */
static char store[4096];      /* its socket */
static struct {
    int lost, guard_refused, fence_refused;
} woke;                     /* runs in which each happened */
static int still_connected; /* runs in which a server still had the library's connection when the next began */

/* --- the processes ----------------------------------------------------------------------------------------------- */

/* Holders to be cut off with a follower know only that server; their rivals know all servers but that one. */
static void choose_seats(void)
{
    static char here[64], elsewhere[256];
    int every_ms = is_idle ? IDLE_EVERY_MS : EVERY_MS;
    snprintf(all_hosts, sizeof all_hosts, "%s", getenv("PADDOCK_TEST_HOSTS"));
    holders = (struct job){.place = fault == CLIENT_CUT_OFF ? PLACE : 0,
                           .session_ms = session_ms,
                           .question_ms = every_ms,
                           .hosts = all_hosts};
    rivals = (struct job){.session_ms = RIVAL_MS, .question_ms = EVERY_MS, .hosts = all_hosts};
    if (fault != FOLLOWER_CUT_OFF)
        return;
    snprintf(follower, sizeof follower, "%s", pdk__fault("server follower"));
    servers_hosts(follower, true, here, sizeof here);
    servers_hosts(follower, false, elsewhere, sizeof elsewhere);
    holders.hosts = here;
    rivals.hosts = elsewhere;
}

/* Each lock has a store of its own, for the tokens of two locks cannot be compared. */
static void renew_store(void)
{
    char record[4096];
    program_kill(&keeper);
    workers_file("store", store, sizeof store);
    workers_file("record", record, sizeof record);
    unlink(store);
    unlink(record);
    program_start(&keeper, ARGS(program_built("examples/fenced_store"), "serve", store, record), 0);
    CHECK_WITHIN(SOON_MS, access(store, F_OK) == 0);
}

/* Write to the store, with the token of that worker's grant. Returns the exit status. */
static int put(int who)
{
    char token[32];
    struct program p;
    snprintf(token, sizeof token, "%" PRId64, workers_last(who, "granted")->token);
    return program_run(&p, ARGS(program_built("examples/fenced_store"), "put", store, token, "written"),
                       PROGRAM_ERRORS);
}

/* --- the parts of a run ------------------------------------------------------------------------------------------ */

/* A program locks, and asks until the lock is lost. With idle hold it unlocks and locks again all the time. */
static int contend(const struct role *r, const struct job *seat, enum kind kind)
{
    struct job job = *seat;
    bool idles = kind == PROGRAM && is_idle && seat == &holders;
    job.kind = kind;
    job.verb = r->verb;
    job.path = r->path;
    job.craft = idles ? "mutex+idle" : NULL;
    int who = workers_start(&job);
    if (idles)
        workers_order(who, "run");
    else if (kind != COMMAND) {
        workers_order(who, "lock");
        workers_order(who, "hold");
    }
    return who;
}

/* Wait up to BEGIN_MS, far more than an ensemble needs after the fault before. Report a holder that does not begin. */
static bool begins(struct role *r)
{
    int64_t until_ms = pdk__test_now_ms() + BEGIN_MS;
    while (workers_count(r->holder, "granted") == 0 && pdk__test_now_ms() < until_ms)
        pdk__test_nap();
    if (workers_count(r->holder, "granted") > 0)
        return true;
    r->stuck++;
    printf("# %s does not begin on %s: process %s, nodes %d, %s says %s\n", r->name, r->path,
           workers_stopped(r->holder) ? "has ended" : "lives", observer_count(r->path), follower,
           fault != FOLLOWER_CUT_OFF || servers_follows(follower) ? "it follows" : "it does not follow");
    return false;
}

static bool take_the_lock(int run)
{
    bool all = true;
    EACH_ROLE(r)
    if (workers_can(r->kind, r->verb)) {
        snprintf(r->path, sizeof r->path, "/paddock-show/%d/%d-%d-%d", (int)getpid(), (int)fault, run,
                 (int)(r - roles));
        r->holder = contend(r, &holders, r->kind);
    }
    EACH_ROLE(r)
    if (workers_can(r->kind, r->verb) && (all = begins(r) && all))
        observer_watch(r->path, &r->gone_ns);
    return all;
}

/* The library's holder writes. It is to write again when it has been stopped. */
static void write_with_the_lock(void)
{
    int who = roles[0].holder;
    renew_store();
    CHECK_EQ(put(who), 0);
    CHECK_EQ(workers_do(who, "write", "wrote", SOON_MS).rc, ZOK);
    workers_order(who, "hold");
}

/* A process whose threads wait for the lock. Granted, each holds for a moment and waits again. */
static void crowd(const struct role *r, const struct job *seat)
{
    char craft[32];
    struct job job = *seat;
    snprintf(craft, sizeof craft, "mutex+%d+brief", n_waiters / 2);
    job.path = r->path;
    job.craft = craft;
    job.question_ms = 0; /* the tick, unknown */
    job.seed = (uint64_t)random() + 1;
    workers_start(&job);
}

static bool queued(const struct role *r, int n)
{
    return observer_count(r->path) == n || atomic_load(&r->gone_ns) != 0;
}

static void queue_up(void)
{
    EACH_ROLE(r)
    if (workers_can(r->kind, r->verb))
        r->rival = contend(r, &rivals, r->kind == COMMAND ? COMMAND : PROGRAM);
    EACH_ROLE(r)
    if (workers_can(r->kind, r->verb)) {
        CHECK_WITHIN(SOON_MS, queued(r, 2));
        if (n_waiters > 0) {
            crowd(r, &holders);
            crowd(r, &rivals);
        }
    }
    EACH_ROLE(r)
    if (workers_can(r->kind, r->verb))
        CHECK_WITHIN(SOON_MS, is_idle || queued(r, 2 + n_waiters / 2 * 2));
}

/* The fault comes at a random moment between pings and renewals. */
static void any_moment(void)
{
    long ms = random() % 1000;
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static void stop_holders(void)
{
    EACH_ROLE(r)
    {
        r->is_struck = workers_can(r->kind, r->verb) && !workers_stopped(r->holder);
        if (r->is_struck)
            workers_signal(r->holder, SIGSTOP);
    }
}

static void wake_holders(void)
{
    EACH_ROLE(r)
    if (r->is_struck)
        workers_signal(r->holder, SIGCONT);
}

static void strike(void)
{
    if (fault == FOLLOWER_CUT_OFF)
        pdk__fault("cut-follower-from-leader %s", follower);
    else if (fault == CLIENT_CUT_OFF)
        pdk__fault("cut-client %d", PLACE);
    else
        stop_holders();
}

static void heal(void)
{
    if (fault == FOLLOWER_CUT_OFF)
        pdk__fault("heal %s", follower);
    else if (fault == CLIENT_CUT_OFF)
        pdk__fault("heal-client %d", PLACE);
    else
        wake_holders();
}

/* After it was stopped, the library's holder acts as a program without checks would: it writes to the store with its
 * token, and sends its transaction again, on the handle of its new session. */
static void note_awakening(const struct outcome *one, int64_t woke_ns)
{
    int holder = roles[0].holder, rc = ZINVALIDSTATE;
    for (int64_t until_ms = pdk__test_now_ms() + SOON_MS; rc == ZINVALIDSTATE || rc == ZCONNECTIONLOSS;) {
        CHECK(pdk__test_now_ms() < until_ms);
        pdk__test_nap();
        rc = workers_do(holder, "late", "wrote", SOON_MS).rc;
    }
    woke.lost += one->last_ns < woke_ns;
    woke.guard_refused += rc == ZNONODE;
    CHECK_EQ(put(roles[0].rival), 0);
    woke.fence_refused += put(holder) == EXIT_STALE;
}

/* A machine that is too busy to renew in time loses the lock, and releases it properly. Such a run shows nothing of the
 * fault: no session can end so soon after it. */
static bool let_go_before(const struct outcome *one) { return one->gone_ns != 0 && one->gone_ns < one->struck_ns; }

/* By the histories of both. Several grants of one idle node have its token. */
static void measure(struct role *r, struct outcome *one, int64_t *turn)
{
    struct evidence e = {0};
    workers_testify(&e, r->holder, 1);
    workers_testify(&e, r->rival, 1);
    const char *breach = r->judged ? judge_holders(&e) : NULL;
    const struct request *first = &e.requests.list[e.grants[0]];
    one->next_ns = NEVER;
    for (size_t i = 0; i < e.n_grants; i++) {
        const struct request *g = &e.requests.list[e.grants[i]];
        int64_t last_ns = last_claim_ns(g), until_ns = r->kind == PROGRAM ? last_deadline_ns(g) : 0;
        if (g->process == 1 && g->answered_ns < one->next_ns)
            one->next_ns = g->answered_ns;
        if (g->process != first->process || g->token != first->token)
            continue;
        one->last_ns = last_ns > one->last_ns ? last_ns : one->last_ns;
        one->until_ns = until_ns > one->until_ns ? until_ns : one->until_ns;
        *turn = (int64_t)g->turn;
    }
    r->unlawful += breach != NULL;
    if (breach != NULL)
        printf("\n# %s: %s\n#", r->name, breach);
    evidence_free(&e);
}

static void note_run(struct role *r, struct outcome one, int64_t woke_ns)
{
    int64_t turn = 0;
    measure(r, &one, &turn);
    one.gone_ns = atomic_load(&r->gone_ns);
    bool is_void = let_go_before(&one);
    if (r == roles && turn < least_turns)
        least_turns = turn;
    printf("  %s %.0f%s", r->name, (double)(one.next_ns - one.last_ns) / 1e6, is_void ? " (let go before)" : "");
    r->voids += is_void;
    if (is_void)
        return;
    CHECK(outcomes_add(&r->outcomes, &one));
    if (r == roles && fault == HOLDER_STOPPED)
        note_awakening(&one, woke_ns);
}

static void leave(const struct outcome *times, int64_t woke_ns)
{
    EACH_ROLE(r)
    if (workers_can(r->kind, r->verb)) {
        CHECK_WITHIN(SOON_MS, workers_stopped(r->holder));
        note_run(r, *times, woke_ns);
    }
    EACH_ROLE(r)
    if (workers_can(r->kind, r->verb))
        workers_dismiss(r->rival);
}

/* False when it could not begin. */
static bool run_once(int run)
{
    workers_end();
    choose_seats();
    observer_begin(rivals.hosts);
    if (!take_the_lock(run))
        return false;
    if (fault == HOLDER_STOPPED)
        write_with_the_lock();
    if (!is_idle)
        queue_up();
    any_moment();
    struct outcome times = {.fault_ns = now_ns()};
    strike();
    times.struck_ns = now_ns();
    if (is_idle)
        queue_up();
    EACH_ROLE(r)
    if (workers_can(r->kind, r->verb))
        CHECK_WITHIN(SOON_MS, workers_count(r->rival, "granted") > 0);
    still_connected += *servers_server_of(workers_last(roles[0].holder, "granted")->session) != '\0';
    int64_t woke_ns = now_ns();
    heal();
    printf("# run %d, ms:", run);
    leave(&times, woke_ns);
    printf("\n");
    fflush(stdout);
    return true;
}

/* --- the figures ------------------------------------------------------------------------------------------------- */

static void write_json(const char *name)
{
    const char *dir = getenv("PADDOCK_SHOW_OUT"), *separator = "";
    char file[4096];
    if (dir == NULL)
        return;
    snprintf(file, sizeof file, "%s/%s.json", dir, name);
    FILE *out = fopen(file, "we");
    CHECK(out != NULL);
    fprintf(out, "{\"fault\": \"%s\", \"session_ms\": %d, \"holders\": [", name, session_ms);
    EACH_ROLE(r)
    {
        fputs(separator, out);
        outcomes_json(&r->outcomes, out);
        separator = ",\n";
    }
    fprintf(out, "]}\n");
    CHECK_EQ(fclose(out), 0);
}

static void tell(const char *name)
{
    outcomes_head(stdout);
    EACH_ROLE(r)
    if (workers_can(r->kind, r->verb))
        outcomes_row(&r->outcomes, stdout);
    EACH_ROLE(r)
    if (r->voids > 0)
        printf("# %s: another %d times it let go before the fault was complete\n", r->name, r->voids);
    struct spread due = outcomes_due_to_gone(&roles[0].outcomes);
    printf("# The deadline that the library told lay before the node's end in %zu runs: min %.0f ms, median %.0f.\n",
           outcomes_due_before_gone(&roles[0].outcomes), due.min_ms, due.median_ms);
    printf("# In %d runs the library's first holder was still connected to a server when the next began.\n#\n",
           still_connected);
    if (is_idle)
        printf("# The library's holder had %" PRId64 " turns by its idle node in the run with the fewest.\n#\n",
               least_turns);
    if (fault == HOLDER_STOPPED)
        printf("# Of %zu runs: in %d the library's holder was answered LOST at first when it woke, in %d its guarded\n"
               "# transaction was refused, in %d the fenced store refused its write.\n#\n",
               roles[0].outcomes.n, woke.lost, woke.guard_refused, woke.fence_refused);
    write_json(name);
}

static void judge_role(const struct role *r)
{
    size_t n = r->outcomes.n, bad = n - outcomes_before_gone(&r->outcomes);
    if (r->unlawful > 0)
        pdk__test_fail(__FILE__, __LINE__, "%s: in %d runs a law was broken", r->name, r->unlawful);
    if (bad > 0)
        pdk__test_fail(__FILE__, __LINE__, "%s: in %zu of %zu runs it worked on when its lock was gone", r->name, bad,
                       n);
}

/* A machine that was too busy for a role shows nothing of the promise. That is no failure, and no proof. */
static void note_unjudged(const struct role *r)
{
    static char reason[200];
    if (r->outcomes.n >= (size_t)runs && r->stuck == 0)
        return;
    snprintf(reason, sizeof reason, "not judged: %s: let go before the fault %d times, did not begin %d times", r->name,
             r->voids, r->stuck);
    unjudged = true;
    SKIP(reason);
}

static void judge(void)
{
    int n = (int)roles[0].outcomes.n;
    if (fault == HOLDER_STOPPED && (woke.lost < n || woke.guard_refused < n || woke.fence_refused < n))
        pdk__test_fail(__FILE__, __LINE__, "a holder that had been stopped went on");
    if (outcomes_due_before_gone(&roles[0].outcomes) < (size_t)n)
        pdk__test_fail(__FILE__, __LINE__, "a deadline was told that lay behind the end of the node");
    if (is_idle && least_turns <= 1)
        pdk__test_fail(__FILE__, __LINE__, "a holder was not idle between its turns");
    EACH_ROLE(r)
    if (r->judged && workers_can(r->kind, r->verb))
        judge_role(r);
    EACH_ROLE(r)
    if (r->judged && workers_can(r->kind, r->verb))
        note_unjudged(r);
}

/* The number of runs to add, so that each role has RUNS runs that count; at most RUNS. */
static int most_voids(void)
{
    int most = 0;
    EACH_ROLE(r)
    if (r->voids + r->stuck > most)
        most = r->voids + r->stuck;
    return most < runs ? most : runs;
}

static void show(enum fault which, const char *name)
{
    EACH_ROLE(r)
    {
        outcomes_free(&r->outcomes);
        r->outcomes.who = r->name;
        r->voids = r->stuck = r->unlawful = 0;
    }
    still_connected = 0;
    least_turns = INT64_MAX;
    memset(&woke, 0, sizeof woke);
    fault = which;
    pdk__fault("recover");
    for (int run = 1; run <= runs + most_voids(); run++)
        if (!run_once(run))
            pdk__fault("recover");
    tell(name);
    judge();
}

/* --- the program ------------------------------------------------------------------------------------------------- */

static void setup(void)
{
    if (getenv("PADDOCK_TEST_HOSTS") == NULL)
        SKIP("no ensemble; docker/show brings one up");
    runs = workers_number("PADDOCK_SHOW_RUNS", 3);
    session_ms = workers_number("PADDOCK_SHOW_SESSION_MS", 1400);
    n_waiters = workers_number("PADDOCK_SHOW_WAITERS", 0);
    is_idle = getenv("PADDOCK_SHOW_IDLE") != NULL;
    srandom((unsigned)time(NULL));
    servers_beat();
}

static void teardown(void)
{
    program_kill(&keeper);
    observer_end();
    workers_leave();
    servers_beat_stop();
    EACH_ROLE(r) outcomes_free(&r->outcomes);
}

static void follower_cut_off(void) { show(FOLLOWER_CUT_OFF, "follower"); }
static void client_cut_off(void) { show(CLIENT_CUT_OFF, "client"); }
static void holder_stopped(void)
{
    if (is_idle)
        SKIP("who is stopped while its node is idle has no lock to lose");
    show(HOLDER_STOPPED, "stopped");
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a follower is cut off: who held through it is done before the next begins", follower_cut_off},
        {"a client is cut off: who held there is done before the next begins", client_cut_off},
        {"holders are stopped for longer than their sessions: none goes on when it wakes", holder_stopped},
        {0},
    };
    int rc = pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){
            .name = "belief", .tests = tests, .setup = setup, .teardown = teardown, .limit_ms = 4 * 3600 * 1000});
    return unjudged && (rc == 0 || rc == 77) ? EXIT_UNJUDGED : rc;
}
