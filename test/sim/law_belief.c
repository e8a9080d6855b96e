/*
 * Belief against the session's life at the leader: how long somebody still believed after the ensemble had ended his
 * session, when another was granted. Reported, not enforced: a server cut off from its leader can keep a client
 * connected.
 */
#include "test/sim/laws.h"

static instant dead_since[SESSIONS_MAX];

static void begin(struct world *w)
{
    (void)w;
    for (int i = 0; i < SESSIONS_MAX; i++)
        dead_since[i] = -1;
}

static void committed(struct world *w, const struct txn *txn)
{
    if (txn->kind == TXN_CLOSE_SESSION)
        dead_since[txn->session] = w->agenda.now;
}

static session_index session_of(const struct claim *claim)
{
    return (session_index)(claim->machine.session - world_session_id(0));
}

static void granted(struct world *w, const struct claim *claim)
{
    for (int i = 0; i < w->n_clients; i++)
        for (int j = 0; j < CLAIMS_MAX && !w->clients[i].dead && !w->clients[i].paused; j++) {
            const struct claim *other = &w->clients[i].claims[j];
            if (other == claim || other->path != claim->path || !claim_believes(other))
                continue;
            instant since = dead_since[session_of(other)];
            if (since < 0)
                continue;
            see(SIGHT_FALSE_BELIEF);
            int64_t late_ms = (w->agenda.now - since) / 1000;
            if (late_ms > worst_false_belief_ms)
                worst_false_belief_ms = late_ms;
        }
}

const struct law law_belief = {.name = "belief", .begin = begin, .committed = committed, .granted = granted};
