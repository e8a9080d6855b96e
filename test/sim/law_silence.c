/*
 * A server that does not answer is left in time: no client waits for two thirds of the timeout, as ZooKeeper's client
 * does, where it knows of another server.
 *
 * Not judged is a client that has left a server since a write was answered soon, or within the last timeout: it waits
 * longer each time. A lent handle is its program's: Paddock does not break its connection. Nor is a client judged that
 * was paused, or found no memory, on this connection; nor one on a slow link.
 */
#include "test/sim/laws.h"

static bool knows_another(const struct world *w, const struct client *c)
{
    return w->ensemble.n > 1 && (c->hosts & (c->hosts - 1)) != 0 && !c->one_name && !c->adopts;
}

/* By its own clock it waits so long, which may run apart. */
static instant too_long(const struct world *w) { return w->session_ms * 1000 / 3 * 2 / 100 * 99; }

/* The timer that is due then may be a trip late. */
static bool has_left(const struct client *c)
{
    const struct pdk__session *s = client_session(c);
    int64_t until_ms = s->silence.left_ms + s->timeout_ms + world_trips_ms(c->world, 1);
    return s->silence.n_left > 0 || (s->silence.left_ms != PDK__UNKNOWN_MS && client_now_ms(c) <= until_ms);
}

static bool slow(const struct client *c)
{
    const struct pdk__session *s = client_session(c);
    return 3 * pdk__session_lag_ms(s) > s->timeout_ms / 5;
}

static void parted(struct world *w, const struct client *c)
{
    instant silent = w->agenda.now - c->received;
    bool silence = c->io == IO_CONNECTED && silent >= too_long(w);
    bool able = !c->closes && !slow(c) && w->agenda.now - c->resumed > silent && c->n_starved == c->n_starved_before;
    if (silence && able && knows_another(w, c) && client_session(c)->phase == PDK__SESSION_CONNECTED && !has_left(c))
        world_break(w, law_silence.name, "client %d waits for server %d, which is silent", c->id, c->server);
}

const struct law law_silence = {.name = "silence", .parted = parted};
