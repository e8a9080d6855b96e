#include "cli/run/group.h"

#include "cli/number.h"
#include "lib/assert.h"

#include <signal.h>
#include <stddef.h>

void pdk__cli_group_init(struct pdk__cli_group *g, struct pdk__cli_page *page, int signal)
{
    assert(page != NULL && signal >= 0);
    *g = (struct pdk__cli_group){.page = page, .signal = signal, .kill_at = -1};
}

static void kill_if_due(struct pdk__cli_group *g)
{
    if (g->kill_at < 0 || pdk__cli_now_ms() < g->kill_at)
        return;
    g->kill_at = -1;
    if (g->leader != 0)
        kill(-g->leader, SIGKILL);
}

static void start_ending(struct pdk__cli_group *g, int64_t kill_at)
{
    assert(g->leader > 0 && g->signal != 0 && !g->stopping);
    g->stopping = true;
    g->kill_at = kill_at;
    if (!atomic_exchange(&g->page->stopping, true) && pdk__cli_now_ms() < kill_at) {
        kill(-g->leader, g->signal);
        /* A stopped process acts on nothing but SIGKILL. */
        kill(-g->leader, SIGCONT);
    }
    kill_if_due(g);
}

static bool watched(const struct pdk__cli_group *g) { return g->leader != 0 && g->signal != 0 && !g->stopping; }

void pdk__cli_group_stop(struct pdk__cli_group *g)
{
    int64_t now = pdk__cli_now_ms();
    if (!watched(g))
        return;
    int64_t kill_at = g->signal == SIGKILL ? now : now + g->page->grace_ms;
    start_ending(g, pdk__cli_earlier(kill_at, pdk__cli_page_kill_at(g->page)));
}

static bool expiring(const struct pdk__cli_group *g)
{
    int64_t stop_at = pdk__cli_page_stop_at(g->page, g->signal);
    return watched(g) && stop_at >= 0 && pdk__cli_now_ms() >= stop_at;
}

bool pdk__cli_group_step(struct pdk__cli_group *g)
{
    bool expires = expiring(g);
    if (expires)
        start_ending(g, pdk__cli_page_kill_at(g->page));
    else if (g->page->stopping)
        pdk__cli_group_stop(g); /* another process has begun, and may have died since */
    kill_if_due(g);
    return expires;
}

int64_t pdk__cli_group_due(const struct pdk__cli_group *g)
{
    return watched(g) ? pdk__cli_page_stop_at(g->page, g->signal) : g->kill_at;
}
