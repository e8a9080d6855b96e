/*
 * Until the deadline, by the client's own clock, the ensemble considers its session alive: whether the session holds a
 * lock or not, and whether the client is stopped, stranded or dead. So a holder has stopped believing when the leader
 * decides to end its session, before another contender can be granted. And a holder that has stopped is notified.
 *
 * Excused is what no client can know: an order ended the session, or deleted the node, or a hostile client replaced the
 * writer that goes on as a reader. Excused, too, are forbidden configurations: a client's clock that is slower than a
 * server's by more than the margin, and servers that grant unlike timeouts: the leader can have ended the session by a
 * shorter one whose answer has not reached the client. Such a belief is too long by no more than the difference.
 */
#include "test/sim/laws.h"

static uint64_t dead; /* a bit per session */

static void begin(struct world *w)
{
    (void)w;
    dead = 0;
}

static session_index session_of(const struct client *c)
{
    return (session_index)(client_session(c)->id - world_session_id(0));
}

static bool believes(const struct client *c) { return pdk__session_lease_valid(client_session(c), client_now_ms(c)); }

/* The client's clock is slower than a server's by more than two clocks may differ. */
static bool too_slow(const struct world *w, const struct client *c)
{
    for (int i = 0; i < w->ensemble.n; i++)
        if (w->ensemble.servers[i].rate_ppm - c->drift_ppm > 2 * DRIFT_WITHIN_PPM)
            return true;
    return false;
}

/* The leader counts a shorter timeout than the client was told of, and the belief ends within the difference. */
static bool granted_less(const struct world *w, const struct client *c)
{
    int64_t left_ms = pdk__session_deadline_ms(client_session(c)) - client_now_ms(c);
    return left_ms <= c->heard_timeout_ms - w->ensemble.timeout_ms[session_of(c)];
}

static void judge(struct world *w, const struct client *c, const char *when)
{
    if ((w->ended_by_order >> session_of(c) & 1) != 0)
        excuse(EXCUSE_ORDERED_END);
    else if (too_slow(w, c))
        excuse(EXCUSE_CLOCKS);
    else if (granted_less(w, c))
        excuse(EXCUSE_GRANTED_LESS);
    else
        world_break(w, law_belief.name, "client %d believes in session %d %s", c->id, session_of(c), when);
}

static void ends(struct world *w, session_index session, const char *when)
{
    const struct client *c = &w->clients[w->session_client[session]];
    if (session_of(c) == session && believes(c))
        judge(w, c, when);
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
static void received(struct world *w, struct client *c)
{
    if (believes(c) && (dead >> session_of(c) & 1) != 0)
        judge(w, c, "that was over");
}

static bool gone_by_order(const struct world *w, const struct claim *claim)
{
    return world_deleted_by_order(w, claim->path, claim->machine->node.name);
}

static void judge_both(struct world *w, const struct claim *other)
{
    if (gone_by_order(w, other))
        excuse(EXCUSE_ORDERED_DELETE);
    else
        judge(w, other->client, "while another is granted");
}

static void granted(struct world *w, const struct claim *claim)
{
    if (laws_writer_replaced(w, claim)) {
        excuse(EXCUSE_REPLACED_WRITER);
        return;
    }
    if (gone_by_order(w, claim)) {
        excuse(EXCUSE_ORDERED_DELETE);
        return;
    }
    for (int i = 0; i < w->n_clients; i++)
        for (int j = 0; j < w->clients[i].n_claims && !w->clients[i].dead; j++) {
            const struct claim *other = &w->clients[i].claims[j];
            if (other != claim && other->path == claim->path && laws_blocks(claim, other->machine->node.name) &&
                claim_believes(other))
                judge_both(w, other);
        }
}

static bool holds(const struct client *c)
{
    for (int i = 0; i < c->n_claims; i++)
        if (c->claims[i].used && c->claims[i].granted && !c->claims[i].released)
            return true;
    return false;
}

/* A holder past its deadline is notified, connected or not, as soon as its threads run. */
static void passed(struct world *w)
{
    int64_t late_ms = 10 + (w->late_permille > 0 ? 5 * w->late_delay / 1000 : 0);
    for (int i = 0; i < w->n_clients; i++) {
        const struct client *c = &w->clients[i];
        bool runs = !c->dead && !c->paused && !c->closes && w->agenda.now - c->resumed > late_ms * 1000;
        if (runs && holds(c) && client_now_ms(c) > pdk__session_deadline_ms(client_session(c)) + late_ms)
            world_break(w, law_belief.name, "client %d is not told that its time is up", c->id);
    }
}

const struct law law_belief = {.name = "belief",
                               .begin = begin,
                               .committed = committed,
                               .expiring = expiring,
                               .granted = granted,
                               .received = received,
                               .passed = passed};
