/*
 * Belief against the session's life at the leader: how long somebody still believed after the ensemble had ended his
 * session, when another was granted. Reported; enforced where nothing has happened but to connections between clients
 * and servers. Beyond that, a server that was cut off from its leader, lags behind it (its answers to the leader's pings
 * wait too, and the touches in them), or was stopped, can keep a client connected, and a session that is ended by order
 * ends before anybody can know.
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

static bool between_client_and_server_only(const struct world *w)
{
    static const enum fault beyond[] = {FAULT_CRASH,  FAULT_PAUSE,       FAULT_PARTITION,    FAULT_CLIENT_PAUSE,
                                        FAULT_DEPOSE, FAULT_DELETE,      FAULT_KILL_SESSION, FAULT_BLACKHOLE,
                                        FAULT_STRAND, FAULT_PAUSE_LEADER};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++)
        if (w->faults_done[beyond[i]] > 0)
            return false;
    return w->drift_ppm < DRIFT_WITHIN_PPM && !w->ensemble.silent && w->ensemble.lag_permille == 0 &&
           !w->plan.exhaustive;
}

/* How late the thread may be that brings the news of a silence, and the millisecond that the clocks are rounded by. */
static int64_t noticed_late_ms(const struct world *w) { return w->inbox_delay / 1000 + 2; }

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
            if (late_ms > noticed_late_ms(w) && between_client_and_server_only(w))
                world_break(w, law_belief.name, "client %d believes %lld ms after its session's end", i,
                            (long long)late_ms);
        }
}

const struct law law_belief = {.name = "belief", .begin = begin, .committed = committed, .granted = granted};
