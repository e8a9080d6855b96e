/*
 * Until the deadline, by the client's own clock, the ensemble considers its session alive: whether the session holds a
 * lock or not, and whether the client is stopped, stranded or dead. So a holder has stopped believing when the leader
 * decides to end its session, before another contender can be granted. And a holder that has stopped is notified.
 *
 * Excused is what no client can know: an order ended the session, or deleted the node. Excused, too, are forbidden
 * configurations: clocks that run apart by more than the margin, and renewal by sync where a deposed leader can answer
 * it.
 */
#include "test/sim/laws.h"

static uint64_t dead; /* a bit per session */

static void begin(struct world *w)
{
    (void)w;
    dead = 0;
}

static session_index session_of(const struct client *c) { return (session_index)(c->driver.id - world_session_id(0)); }

static bool believes(const struct client *c) { return pdk__session_credible(&c->driver, client_now_ms(c)); }

static bool excused(const struct world *w, session_index session)
{
    bool told_not_to = w->drift_ppm > DRIFT_WITHIN_PPM || (w->renews_by_sync && w->ensemble.epoch > 1);
    return told_not_to || (w->ended_by_order >> session & 1) != 0;
}

static void judge(struct world *w, const struct client *c, bool excuse, const char *when)
{
    if (excuse)
        see(SIGHT_FALSE_BELIEF);
    else
        world_break(w, law_belief.name, "client %d believes in session %d %s", c->id, session_of(c), when);
}

static void ends(struct world *w, session_index session, const char *when)
{
    const struct client *c = &w->clients[w->session_client[session]];
    if (session_of(c) == session && believes(c))
        judge(w, c, excused(w, session), when);
}

static void expiring(struct world *w, const struct server *s, session_index session)
{
    const struct client *c = &w->clients[w->session_client[session]];
    if (s->epoch != w->ensemble.epoch) {
        see(SIGHT_EXPIRED_BY_DEPOSED); /* which ends nothing */
        return;
    }
    if (c->io == IO_CONNECTED && c->session == session)
        see(SIGHT_EXPIRED_CONNECTED);
    ends(w, session, "that the leader ends");
}

static void committed(struct world *w, const struct txn *txn)
{
    if (txn->kind != TXN_CLOSE_SESSION)
        return;
    dead |= UINT64_C(1) << txn->session;
    ends(w, txn->session, "that is over");
}

/* Nor does a client believe in its session again. */
static void received(struct world *w, const struct client *c)
{
    if (believes(c) && (dead >> session_of(c) & 1) != 0)
        judge(w, c, excused(w, session_of(c)), "that was over");
}

static bool gone_by_order(const struct world *w, const struct claim *claim)
{
    return world_deleted_by_order(w, claim->path, claim->machine.name);
}

static void granted(struct world *w, const struct claim *claim)
{
    if (gone_by_order(w, claim))
        return; /* its notification is late */
    for (int i = 0; i < w->n_clients; i++)
        for (int j = 0; j < CLAIMS_MAX && !w->clients[i].dead; j++) {
            const struct claim *other = &w->clients[i].claims[j];
            if (other != claim && other->path == claim->path && claim_believes(other))
                judge(w, &w->clients[i], excused(w, session_of(&w->clients[i])) || gone_by_order(w, other),
                      "while another is granted");
        }
}

/* A holder past its deadline is notified, connected or not. */
static void rang(struct world *w, const struct client *c)
{
    for (int i = 0; i < CLAIMS_MAX; i++) {
        const struct claim *claim = &c->claims[i];
        bool held = claim->machine.phase == PDK__HELD || claim->machine.phase == PDK__SUSPECT;
        if (claim->used && held && !claim->released && !believes(c))
            world_break(w, law_belief.name, "client %d is not told that its time is up", c->id);
    }
}

const struct law law_belief = {.name = "belief",
                               .begin = begin,
                               .committed = committed,
                               .expiring = expiring,
                               .granted = granted,
                               .received = received,
                               .rang = rang};
