/* Processes that rotate the leadership of one path in turns, while leaders are killed. */
#include "test/demo/figures.h"
#include "test/demo/rotate.h"

enum { TICK_MS = 200, CANDIDATE_SESSION_MS = 1000 };

void figure_rotation(void)
{
    struct rotation r = {.hosts = figures_hosts(),
                         .turns = true,
                         .processes = size.processes,
                         .terms = size.terms,
                         .kills = size.kills,
                         .session_ms = CANDIDATE_SESSION_MS,
                         .tick_ms = TICK_MS};
    rotation_run(&r);
    figure("rotation.terms", (double)r.n_terms, 0, "terms", "",
           "leaders in turns: terms of %d processes, %d at a time, in %d s", r.n_processes, r.processes, r.seconds);
    figure("rotation.overlaps", 0, 0, "", "0", "terms with two leaders at once, or a token that fell");
    figure("rotation.kills", r.n_kills, 0, "kills", "", "leaders ended by SIGKILL, sessions of %d ms", r.session_ms);
    figure("rotation.successor_median", (double)r.median_ms, 0, "ms", "", "from a kill to the next term: median");
    figure("rotation.successor_max", (double)r.max_ms, 0, "ms", "", "from a kill to the next term: maximum");
    figure("rotation.late", r.n_kills - r.n_within, 0, "", "0",
           "kills whose successor began after more than session, tick and a second: %d ms", (int)r.limit_ms);
}
