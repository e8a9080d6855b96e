/*
 * Where a lock delay is set: after a holder that did not unlock, no contender is granted before the delay has passed. A
 * holder that unlocks clears its record before its node is deleted, unless its connection broke since the grant, so
 * that no contender waits in vain.
 */
#include "test/sim/laws.h"
#include <string.h>

/* The last holder of a path. */
static struct {
    const struct claim *claim;
    const struct client *client;
    unsigned attempts; /* its connection at the grant */
    int n_starved;
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
    last[p].client = claim->client;
    last[p].attempts = claim->client->attempts;
    last[p].n_starved = claim->client->n_starved;
    last[p].number = claim->number;
    last[p].lost = last[p].gone = false;
    strcpy(last[p].name, claim->machine->node.name);
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
    if (last[p].gone && !unlocked(p) && claim->delays) {
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

/* Only a delete of its own counts. A connection that broke since the grant can have lost the clear of the record and
 * not the node's. */
static void check_record(struct world *w, int p, const struct txn *txn)
{
    bool own = txn->kind == TXN_DELETE && txn->session >= 0 && unlocked(p) &&
               !world_deleted_by_order(w, p, last[p].name);
    if (!own || strcmp(w->ensemble.truth.dirs[p].record, last[p].name) != 0)
        return;
    if (last[p].client->attempts != last[p].attempts)
        excuse(EXCUSE_RECORD_BROKEN_OFF);
    else if (last[p].client->n_starved > last[p].n_starved)
        excuse(EXCUSE_RECORD_NO_MEMORY);
    else
        world_break(w, law_delay.name, "%s is gone, and its record is not", last[p].name);
}

static void committed(struct world *w, const struct txn *txn)
{
    for (int p = 0; p < PATHS; p++) {
        if (last[p].number == 0 || last[p].gone || tree_find(&w->ensemble.truth, p, last[p].name) != NULL)
            continue;
        check_record(w, p, txn);
        last[p].gone = true;
        last[p].gone_at = w->agenda.now;
    }
}

const struct law law_delay = {
    .name = "delay", .begin = begin, .granted = granted, .told = told, .committed = committed};
