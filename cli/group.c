#include "cli/group.h"

#include "cli/number.h"

#include <signal.h>

void pdk__cli_group_stop(struct pdk__cli_group *g, int signal, int64_t grace_ms)
{
    if (g->stopping || g->leader == 0)
        return;
    g->stopping = true;
    g->kill_at = pdk__cli_now_ms() + (signal == SIGKILL ? 0 : grace_ms);
    kill(-g->leader, signal);
    /* A stopped process acts on nothing but SIGKILL. */
    kill(-g->leader, SIGCONT);
}

void pdk__cli_group_step(struct pdk__cli_group *g)
{
    if (g->kill_at < 0 || pdk__cli_now_ms() < g->kill_at)
        return;
    g->kill_at = -1;
    if (g->leader != 0)
        kill(-g->leader, SIGKILL);
}
