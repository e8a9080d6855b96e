/*
 * No holder with a long enough session loses its lock to a fault that the ensemble survives: a leader that freezes, a
 * leader that dies, servers restarted one after another, or replaced by those of another release. On three real
 * servers: docker/show starts them and runs this.
 *
 * PADDOCK_SHOW_RUNS (3), PADDOCK_SHOW_SESSION_MS (30000), PADDOCK_SHOW_UPGRADE (the release to upgrade to; none).
 */
#include "test/docker/scenario.h"

#include <inttypes.h>
#include <paddock.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { RETURN_MS = 120000, CONTENDERS = 4, EVERY_MS = 10 };

static struct role {
    const char *name, *verb;
    enum kind kind;
    bool judged;
    int who; /* the worker of this run */
    int lost;
} roles[] = {
    {.name = "library", .kind = PROGRAM, .judged = true},
    {.name = "paddock lock", .kind = COMMAND, .verb = "lock", .judged = true},
    {.name = "paddock elect", .kind = COMMAND, .verb = "elect", .judged = true},
    {.name = "Curator", .kind = CURATOR},
};

#define EACH_ROLE(r) for (struct role *r = roles; r < roles + sizeof roles / sizeof *roles; r++)

static int runs, session_ms;

/* --- the processes ----------------------------------------------------------------------------------------------- */

static void begin_work(struct role *r)
{
    static int n;
    char path[128];
    snprintf(path, sizeof path, "/paddock-show/%d/patience-%d", (int)getpid(), ++n);
    r->who = workers_start(&(struct job){.kind = r->kind,
                                         .hosts = getenv("PADDOCK_TEST_HOSTS"),
                                         .path = path,
                                         .session_ms = session_ms,
                                         .question_ms = EVERY_MS,
                                         .verb = r->verb});
    if (r->kind != COMMAND)
        workers_order(r->who, "lock");
}

static void start_processes(void)
{
    EACH_ROLE(r)
    if (workers_can(r->kind, r->verb))
        begin_work(r);
    EACH_ROLE(r)
    if (workers_can(r->kind, r->verb))
        workers_await(r->who, "granted", 1, RETURN_MS);
}

static void end_processes(void)
{
    EACH_ROLE(r)
    if (workers_can(r->kind, r->verb))
        workers_dismiss(r->who);
}

/* --- a run ------------------------------------------------------------------------------------------------------- */

static void pause_leader(void)
{
    char leader[16];
    snprintf(leader, sizeof leader, "%s", pdk__fault("server leader"));
    pdk__fault("pause %s", leader);
    pdk__fault("server leader");
    pdk__fault("unpause %s", leader);
}

static void kill_leader(void)
{
    char leader[16];
    snprintf(leader, sizeof leader, "%s", pdk__fault("server leader"));
    pdk__fault("kill %s", leader);
    pdk__fault("server leader");
    pdk__fault("start %s", leader);
}

static void restart_all(void) { pdk__fault("rolling-restart"); }
static void upgrade_all(void) { pdk__fault("rolling-upgrade %s", getenv("PADDOCK_SHOW_UPGRADE")); }

/* Does it work after the ensemble has recovered, with its lock HELD and not SUSPECT? */
static bool works_on(const struct role *r, int64_t since_ns)
{
    const struct record *last = workers_last(r->who, "state");
    return last != NULL && last->ns > since_ns && last->rc == PDK_HELD;
}

static void count_lost(struct role *r, int64_t begun_ns, int64_t since_ns)
{
    struct evidence e = {0};
    CHECK_WITHIN(RETURN_MS, works_on(r, since_ns) || workers_stopped(r->who));
    if (!workers_stopped(r->who))
        return;
    r->lost++;
    workers_testify(&e, r->who, 1);
    const struct request *grant = &e.requests.list[e.grants[0]];
    printf("  (%s stopped after %.1f s", r->name, (double)(last_claim_ns(grant) - begun_ns) / 1e9);
    if (r->kind == PROGRAM)
        printf("; its deadline was %.1f s", (double)(last_deadline_ns(grant) - begun_ns) / 1e9);
    printf(")");
    evidence_free(&e);
}

static void run_once(int run, void (*fault)(void))
{
    start_processes();
    int64_t begun_ns = now_ns();
    fault();
    int64_t healed_ns = now_ns();
    printf("# run %d of %d: %.1f s", run, runs, (double)(healed_ns - begun_ns) / 1e9);
    EACH_ROLE(r)
    if (workers_can(r->kind, r->verb))
        count_lost(r, begun_ns, healed_ns);
    printf("\n");
    fflush(stdout);
    end_processes();
}

/* --- all of them ------------------------------------------------------------------------------------------------- */

static void show(void (*fault)(void))
{
    int bad = 0;
    EACH_ROLE(r) r->lost = 0;
    pdk__fault("recover");
    for (int run = 1; run <= runs; run++)
        run_once(run, fault);
    printf("#\n# %-14s %5s %7s\n", "who held", "runs", "stopped");
    EACH_ROLE(r)
    if (workers_can(r->kind, r->verb)) {
        printf("# %-14s %5d %7d\n", r->name, runs, r->lost);
        bad += r->judged ? r->lost : 0;
    }
    CHECK_EQ(bad, 0);
}

static void leader_paused(void) { show(pause_leader); }
static void leader_killed(void) { show(kill_leader); }
static void rolling_restart(void) { show(restart_all); }

static size_t served(void)
{
    size_t n = 0;
    for (int i = 0; i < CONTENDERS; i++)
        n += workers_count(i, "released");
    return n;
}

/* Once: there is no way back. */
static void upgraded(void)
{
    if (getenv("PADDOCK_SHOW_UPGRADE") == NULL)
        SKIP("that is what docker/show upgrade is for");
    runs = 1;
    scenario_begin();
    scenario_contend(CONTENDERS, session_ms);
    show(upgrade_all);
    scenario_contended(CONTENDERS);
    printf("# %d contended, and were served %zu times in all\n", CONTENDERS, served());
    scenario_finish(0);
}

/* --- the program ------------------------------------------------------------------------------------------------- */

static void setup(void)
{
    if (getenv("PADDOCK_TEST_HOSTS") == NULL)
        SKIP("no ensemble; docker/show brings one up");
    runs = workers_number("PADDOCK_SHOW_RUNS", 3);
    session_ms = workers_number("PADDOCK_SHOW_SESSION_MS", 30000);
    servers_beat();
}

static void teardown(void)
{
    workers_abandon();
    servers_beat_stop();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a leader is paused: nobody is told that the lock is lost", leader_paused},
        {"a leader is killed: nobody is told that the lock is lost", leader_killed},
        {"the servers are restarted in turn: nobody is told that the lock is lost", rolling_restart},
        {"the servers are upgraded in turn: nobody is told that the lock is lost", upgraded},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){
            .name = "patience", .tests = tests, .setup = setup, .teardown = teardown, .limit_ms = 4 * 3600 * 1000});
}
