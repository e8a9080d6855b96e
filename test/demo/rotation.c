/*
 * Leadership that rotates among many processes, while the leader is killed repeatedly: by their own stamps there are
 * never two leaders, and a successor begins soon. On three real servers: docker/show starts them and runs this.
 *
 * PADDOCK_SHOW_PROCESSES (20), PADDOCK_SHOW_TERMS (100), PADDOCK_SHOW_KILLS (5), PADDOCK_SHOW_SESSION_MS (1000),
 * PADDOCK_SHOW_TURNS (0), ZK_TICK_MS (200), the servers' own.
 */
#include "test/demo/rotate.h"
#include "test/docker/servers.h"
#include "test/docker/workers.h"
#include "test/lib/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static struct rotation rotation;

static void rotate(void)
{
    struct rotation *r = &rotation;
    rotation_run(r);
    printf("# %d processes at a time, session %d ms, tick %d ms, %d s\n", r->processes, r->session_ms, r->tick_ms,
           r->seconds);
    printf("# %zu terms of %d processes; two leaders at once, or a token that fell: never\n", r->n_terms,
           r->n_processes);
    printf("# %d leaders killed; successor after, ms: median %" PRId64 ", max %" PRId64 "; within %" PRId64
           " ms (session + tick + 1 s): %d\n",
           r->n_kills, r->median_ms, r->max_ms, r->limit_ms, r->n_within);
    CHECK_EQ(r->n_within, r->n_kills);
}

/* --- the program ------------------------------------------------------------------------------------------------- */

static void setup(void)
{
    if (getenv("PADDOCK_TEST_HOSTS") == NULL)
        SKIP("no ensemble; docker/show brings one up");
    rotation = (struct rotation){.hosts = getenv("PADDOCK_TEST_HOSTS"),
                                 .turns = workers_number("PADDOCK_SHOW_TURNS", 0) != 0,
                                 .processes = workers_number("PADDOCK_SHOW_PROCESSES", 20),
                                 .terms = workers_number("PADDOCK_SHOW_TERMS", 100),
                                 .kills = workers_number("PADDOCK_SHOW_KILLS", 5),
                                 .session_ms = workers_number("PADDOCK_SHOW_SESSION_MS", 1000),
                                 .tick_ms = workers_number("ZK_TICK_MS", 200)};
    servers_beat();
}

static void teardown(void)
{
    workers_leave();
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
