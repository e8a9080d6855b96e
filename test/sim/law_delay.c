/*
 * Where a lock delay is set: after a holder that did not unlock, no contender is granted before the delay has passed. A
 * holder that unlocks removes its mark before its node is deleted, unless connections break, so that no contender waits
 * in vain.
 */
#include "test/sim/laws.h"
#include <string.h>

/* The last holder of a path. */
static struct {
    const struct claim *claim;
    uint64_t number;
    char name[PDK__NAME_MAX];
    bool lost; /* it was notified */
    bool gone;
    instant gone_at;
} last[PATHS];

static void begin(struct world *w)
{
    (void)w;
    memset(last, 0, sizeof last);
}

/* Only a holder whose node existed when it was granted. */
static void follow(struct world *w, const struct claim *claim)
{
    int p = claim->path;
    if (!world_node_there(w, claim))
        return;
    last[p].claim = claim;
    last[p].number = claim->number;
    last[p].lost = last[p].gone = false;
    strcpy(last[p].name, claim->machine.name);
}

/* It may have unlocked after another client had deleted its node, without knowing of that. */
static bool unlocked(int p)
{
    bool over = last[p].claim == NULL || last[p].claim->number != last[p].number || last[p].claim->released;
    return over && !last[p].lost;
}

/* By the fastest clock: a contender with that clock may have waited, given up, and left the lock to the next. */
static bool too_early(const struct world *w, int p)
{
    int64_t passed_us = (w->agenda.now - last[p].gone_at) * (1000000 + w->drift_ppm) / 1000000;
    return passed_us / 1000 + 2 < w->lock_delay_ms;
}

static void granted(struct world *w, const struct claim *claim)
{
    int p = claim->path;
    if (last[p].gone && !unlocked(p) && w->lock_delay_ms > 0) {
        if (too_early(w, p))
            world_break(w, law_delay.name, "client %d follows one that did not unlock", claim->client->id);
        see(SIGHT_DELAYED);
    }
    follow(w, claim);
}

static void told(struct world *w, const struct claim *claim, enum pdk__action_kind what)
{
    (void)w;
    if (what == PDK__ACT_LOST && claim->number == last[claim->path].number)
        last[claim->path].lost = true;
}

/* A connection that breaks right between the two can lose the one and not the other. */
static bool connections_broke(const struct world *w)
{
    static const enum fault breaks[] = {FAULT_CUT,          FAULT_BLACKHOLE, FAULT_ISOLATE,      FAULT_CRASH,
                                        FAULT_PAUSE,        FAULT_PARTITION, FAULT_CLIENT_PAUSE, FAULT_DEPOSE,
                                        FAULT_PAUSE_LEADER, FAULT_STRAND};
    for (size_t i = 0; i < sizeof breaks / sizeof *breaks; i++)
        if (w->faults_done[breaks[i]] > 0)
            return true;
    return w->plan.exhaustive;
}

/* Only a delete of its own counts, when no request was lost for want of memory. */
static void check_mark(struct world *w, int p, const struct txn *txn)
{
    bool own = txn->kind == TXN_DELETE && txn->session >= 0 && unlocked(p) && w->starved_permille == 0 &&
               !connections_broke(w);
    if (own && strcmp(w->ensemble.truth.dirs[p].mark, last[p].name) == 0)
        world_break(w, law_delay.name, "%s is gone, and its mark is not", last[p].name);
}

static void committed(struct world *w, const struct txn *txn)
{
    for (int p = 0; p < PATHS; p++) {
        if (last[p].number == 0 || last[p].gone || tree_find(&w->ensemble.truth, p, last[p].name) != NULL)
            continue;
        check_mark(w, p, txn);
        last[p].gone = true;
        last[p].gone_at = w->agenda.now;
    }
}

const struct law law_delay = {
    .name = "delay", .begin = begin, .granted = granted, .told = told, .committed = committed};
