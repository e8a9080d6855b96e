/* Faults against the servers, and between them. The servers must be well when a fault begins. */
#include "test/chaos/nemesis.h"

#include "test/lib/check.h"

static int leader(const struct nemesis *n)
{
    for (int i = 0; i < n->e->n; i++)
        if (pdk__server_running(n->e->server[i]) && pdk__server_ask_role(n->e->server[i]) == PDK__SERVER_LEADER)
            return i;
    return -1;
}

/* A follower: one that a holder is connected to, if a holder is among four places chosen by chance; else any. */
static int follower(struct nemesis *n, int lead)
{
    for (int tries = 0; tries < 4; tries++) {
        const struct place *p = &n->workers->places[dice_below(&n->dice, n->workers->n)];
        for (int i = 0; i < n->e->n; i++)
            if (i != lead && atomic_load(&p->history->holding) && pdk__proxy_connections(p->proxy[i]) > 0)
                return i;
    }
    return (lead + 1 + dice_below(&n->dice, n->e->n - 1)) % n->e->n;
}

static bool choose(struct nemesis *n, struct fault *f, bool want_leader)
{
    int lead = leader(n);
    if (lead < 0)
        return false;
    f->victim = want_leader ? lead : follower(n, lead);
    f->detail = lead;
    return f->took = true;
}

static bool kill_server(struct nemesis *n, struct fault *f, bool lead)
{
    if (!choose(n, f, lead))
        return false;
    pdk__server_kill(n->e->server[f->victim]);
    return true;
}

static bool kill_follower(struct nemesis *n, struct fault *f) { return kill_server(n, f, false); }
static bool kill_leader(struct nemesis *n, struct fault *f) { return kill_server(n, f, true); }

/* Start all servers that do not run, without a wait until they serve. */
static void restart(struct nemesis *n, struct fault *f)
{
    (void)f;
    for (int i = 0; i < n->e->n; i++)
        if (!pdk__server_running(n->e->server[i]))
            CHECK_EQ(pdk__server_start(n->e->server[i]), 0);
}

static bool stop_server(struct nemesis *n, struct fault *f)
{
    if (!choose(n, f, dice_chance(&n->dice, 50)))
        return false;
    pdk__server_stop(n->e->server[f->victim], 3000);
    return true;
}

static bool kill_two(struct nemesis *n, struct fault *f)
{
    if (!choose(n, f, dice_chance(&n->dice, 50)))
        return false;
    pdk__server_kill(n->e->server[f->victim]);
    pdk__server_kill(n->e->server[(f->victim + 1) % n->e->n]);
    return true;
}

static bool pause_server(struct nemesis *n, struct fault *f, bool lead)
{
    if (!choose(n, f, lead))
        return false;
    pdk__server_pause(n->e->server[f->victim]);
    return true;
}

static bool pause_follower(struct nemesis *n, struct fault *f) { return pause_server(n, f, false); }
static bool pause_leader(struct nemesis *n, struct fault *f) { return pause_server(n, f, true); }
static void resume(struct nemesis *n, struct fault *f) { pdk__server_resume(n->e->server[f->victim]); }

/* --- links ------------------------------------------------------------------------------------------------------- */

static void sever(pdk__proxy *link)
{
    pdk__proxy_hold(link, PDK__TO_SERVER, true);
    pdk__proxy_hold(link, PDK__TO_CLIENT, true);
}

static bool cut_follower(struct nemesis *n, struct fault *f)
{
    if (!choose(n, f, false))
        return false;
    for (int j = 0; j < n->e->n; j++)
        if (j != f->victim)
            sever(n->e->link[f->victim][j]);
    return true;
}

static bool cut_leader(struct nemesis *n, struct fault *f)
{
    if (!choose(n, f, true))
        return false;
    for (int i = 0; i < n->e->n; i++)
        if (i != f->victim)
            sever(n->e->link[i][f->victim]);
    return true;
}

static bool delay_links(struct nemesis *n, struct fault *f)
{
    if (!choose(n, f, true))
        return false;
    f->detail = dice_between(&n->dice, 5, 150);
    for (int i = 0; i < n->e->n; i++)
        for (int j = 0; j < n->e->n; j++)
            if (i != j) {
                pdk__proxy_delay(n->e->link[i][j], PDK__TO_SERVER, f->detail);
                pdk__proxy_delay(n->e->link[i][j], PDK__TO_CLIENT, f->detail);
            }
    return true;
}

static void clear_links(struct nemesis *n, struct fault *f)
{
    (void)f;
    for (int i = 0; i < n->e->n; i++)
        for (int j = 0; j < n->e->n; j++)
            if (i != j)
                pdk__proxy_clear(n->e->link[i][j]);
}

/* --- one after the other ----------------------------------------------------------------------------------------- */

static bool all_serve(const struct nemesis *n)
{
    for (int i = 0; i < n->e->n; i++)
        if (!pdk__server_running(n->e->server[i]) || pdk__server_ask_role(n->e->server[i]) == PDK__SERVER_NONE)
            return false;
    return true;
}

/* DETAIL counts how many have been restarted; the leader's turn is the last. */
static bool roll(struct nemesis *n, struct fault *f)
{
    if (!choose(n, f, true))
        return false;
    f->detail = 0;
    return true;
}

static void roll_on(struct nemesis *n, struct fault *f)
{
    if (f->detail == n->e->n || !all_serve(n))
        return;
    pdk__server *s = n->e->server[(f->victim + ++f->detail) % n->e->n];
    pdk__server_stop(s, 3000);
    CHECK_EQ(pdk__server_start(s), 0);
}

const struct fault_kind server_faults[N_FAULTS] = {
    [FAULT_FOLLOWER_KILLED] = {10, 0, 1500, false, kill_follower, NULL, restart},
    [FAULT_LEADER_KILLED] = {10, 0, 1500, false, kill_leader, NULL, restart},
    [FAULT_FOLLOWER_PAUSED] = {10, 200, 2500, true, pause_follower, NULL, resume},
    [FAULT_LEADER_PAUSED] = {10, 200, 2500, true, pause_leader, NULL, resume},
    [FAULT_FOLLOWER_CUT] = {14, 300, 2500, true, cut_follower, NULL, clear_links},
    [FAULT_LEADER_CUT] = {10, 300, 2500, true, cut_leader, NULL, clear_links},
    [FAULT_LINK_DELAY] = {6, 300, 1500, false, delay_links, NULL, clear_links},
    [FAULT_SERVER_STOPPED] = {6, 0, 800, false, stop_server, NULL, restart},
    [FAULT_ROLLING] = {4, 4000, 6000, false, roll, roll_on, restart},
    [FAULT_NO_QUORUM] = {3, 0, 1500, false, kill_two, NULL, restart},
};
