/*
 * Leadership that rotates among many workers, while the leader is killed repeatedly: by their own stamps there are
 * never two leaders, no token falls, and a successor begins soon. On the servers of docker/show, or on throwaway
 * servers.
 *
 * PADDOCK_SHOW_PROCESSES (20), PADDOCK_SHOW_TERMS (100), PADDOCK_SHOW_KILLS (5), PADDOCK_SHOW_SESSION_MS (1000),
 * PADDOCK_SHOW_TURNS (0: latches that resign; 1: in turns, by pdk_leader_yield()), ZK_TICK_MS (200), the servers' own,
 * and PADDOCK_SHOW_SERVERS (3), of throwaway ones.
 */
#include "test/chaos/findings.h"
#include "test/docker/servers.h"
#include "test/docker/workers.h"
#include "test/lib/check.h"
#include "test/lib/ensemble.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOON_MS = 60000, SLACK_MS = 1000 };

static int processes, terms, kills, session_ms, tick_ms;
static bool turns;
static char hosts[PDK__SERVER_MAX * 32];
static pdk__ensemble *ensemble; /* NULL: those of docker/show */
static int n_kills;

/* --- candidates -------------------------------------------------------------------------------------------------- */

static void add_candidate(void)
{
    workers_start(&(struct job){.hosts = hosts,
                                .path = "/rotation", /* unused: the craft has its own */
                                .session_ms = session_ms,
                                .seed = (uint64_t)workers_size() + 1,
                                .craft = turns ? "turns+brief" : "latch+brief"});
}

static int64_t count_terms(void)
{
    int64_t n = 0;
    for (int i = 0; i < workers_size(); i++)
        n += atomic_load(&workers_history(i)->n_grants);
    return n;
}

static int leader(void)
{
    for (int i = 0; i < workers_size(); i++)
        if (workers_run(i) && atomic_load(&workers_history(i)->holding))
            return i;
    return -1;
}

/* A process that had just stopped leading is no leader: killing it does not count. */
static bool was_leader(int who) { return workers_killed_ns(who) != 0 && atomic_load(&workers_history(who)->holding); }

static void kill_leader(void)
{
    int who;
    CHECK_WITHIN(SOON_MS, (who = leader()) >= 0);
    workers_kill(who);
    n_kills += was_leader(who);
    add_candidate();
}

/* The kills come evenly between the terms. */
static bool is_kill_due(int64_t n_terms) { return n_kills < kills && n_terms * kills >= (int64_t)n_kills * terms; }

static void run(void)
{
    int64_t said = 0;
    for (int i = 0; i < processes; i++)
        add_candidate();
    for (int64_t n; (n = count_terms()) < terms || n_kills < kills;) {
        if (is_kill_due(n))
            kill_leader();
        if (n - said >= 200) {
            printf("# %" PRId64 " terms, %d kills\n", said = n, n_kills);
            fflush(stdout);
        }
        CHECK_WITHIN(SOON_MS, count_terms() > n);
    }
    for (int i = 0; i < workers_size(); i++)
        atomic_store(&workers_history(i)->finish, 1);
    for (int i = 0; i < workers_size(); i++)
        if (workers_run(i))
            workers_dismiss(i);
}

/* --- judgement --------------------------------------------------------------------------------------------------- */

static int64_t successor_after(const struct evidence *e, int64_t ns)
{
    for (size_t i = 0; i < e->n_grants; i++)
        if (e->requests.list[e->grants[i]].answered_ns > ns)
            return e->requests.list[e->grants[i]].answered_ns - ns;
    return NEVER;
}

/* Lines that test/proof/tables reads. */
static void judge_successors(const struct evidence *e)
{
    struct samples took = {0};
    int limit_ms = session_ms + tick_ms + SLACK_MS, n_late = 0;
    for (int i = 0; i < workers_size(); i++)
        if (was_leader(i)) {
            sample(&took, successor_after(e, workers_killed_ns(i)));
            n_late += took.ns[took.n - 1] > limit_ms * INT64_C(1000000);
        }
    printf("# rotation.kills: %d kills - leaders ended by SIGKILL, sessions of %d ms, tick %d ms\n", n_kills,
           session_ms, tick_ms);
    printf("# rotation.successor_median: %" PRId64 " ms - from a kill to the next term: median\n",
           quantile(&took, 500) / 1000000);
    printf("# rotation.successor_max: %" PRId64 " ms - from a kill to the next term: maximum\n",
           quantile(&took, 1000) / 1000000);
    printf("# rotation.late: %d (aim: 0) - kills whose successor began after more than session, tick and a second: %d "
           "ms\n",
           n_late, limit_ms);
    free(took.ns);
    CHECK_EQ(n_late, 0);
}

static void rotate(void)
{
    struct evidence e = {0};
    int64_t begun_ns = now_ns();
    run();
    int seconds = (int)((now_ns() - begun_ns) / 1000000000);
    workers_testify(&e, 0, workers_size());
    const char *breach = judge_holders(&e);
    if (breach != NULL)
        pdk__test_fail(__FILE__, __LINE__, "%s", breach);
    printf("# rotation.terms: %zu terms - leaders %s: terms of %d processes, %d at a time, in %d s\n", e.n_grants,
           turns ? "in turns" : "of a latch", workers_size(), processes, seconds);
    printf("# rotation.overlaps: 0 (aim: 0) - terms with two leaders at once, or a token that fell\n");
    judge_successors(&e);
    evidence_free(&e);
}

/* --- the program ------------------------------------------------------------------------------------------------- */

static void setup(void)
{
    const char *given = getenv("PADDOCK_TEST_HOSTS");
    turns = workers_number("PADDOCK_SHOW_TURNS", 0) != 0;
    processes = workers_number("PADDOCK_SHOW_PROCESSES", 20);
    terms = workers_number("PADDOCK_SHOW_TERMS", 100);
    kills = workers_number("PADDOCK_SHOW_KILLS", 5);
    session_ms = workers_number("PADDOCK_SHOW_SESSION_MS", 1000);
    tick_ms = workers_number("ZK_TICK_MS", 200);
    if (given != NULL) {
        snprintf(hosts, sizeof hosts, "%s", given);
        servers_beat();
        return;
    }
    int n = workers_number("PADDOCK_SHOW_SERVERS", 3);
    ensemble = pdk__ensemble_new(&(struct pdk__ensemble_options){.n = n, .tick_ms = tick_ms, .own = true});
    for (int i = 0; i < ensemble->n; i++)
        snprintf(hosts + strlen(hosts), 32, "%s127.0.0.1:%d", i > 0 ? "," : "", pdk__server_port(ensemble->server[i]));
}

static void teardown(void)
{
    workers_leave();
    if (ensemble != NULL)
        pdk__ensemble_free(ensemble);
    else
        servers_beat_stop();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"never two leaders, and a successor soon after each was killed", rotate},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){
            .name = "rotation", .tests = tests, .setup = setup, .teardown = teardown, .limit_ms = 4 * 3600 * 1000});
}
