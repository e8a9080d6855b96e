/*
 * A contender that leaves a queue removes its watch. Whenever a client and its server have nothing to tell each other,
 * each watch that the server keeps for the client's session is one that a contender of the client wants: on its own
 * node, or on its predecessor's. At the end of the run no server keeps a watch.
 *
 * Excused is a removal for which there was no memory, and one that found no connection, or lost it: that watch is set
 * again on the next connection, and stays until its node is deleted. So does one on a predecessor where a hostile
 * client has put another before it. And the watches of a session that its client has given up end with the handle,
 * which the client has yet to close.
 */
#include "lib/zk/client.h"
#include "test/sim/laws.h"
#include "test/sim/wired.h"
#include <string.h>

/* The word of a double barrier is not there yet when it is watched. */
static bool by_exists(const struct world *w, const struct watch *watch)
{
    return w->secretive || watch->path == MEETING_PATH;
}

/* One of an exists on a missing node outlives a removal whose answer is lost, and a connection that its client has
 * left. */
static void judge_last(struct world *w, const struct server *s, const struct watch *watch)
{
    const struct client *c = &w->clients[w->session_client[watch->session]];
    bool left = c->server != s->id || w->attached[s->id][c->id] != c->attempts;
    if (c->adopts)
        excuse(EXCUSE_LENT);
    else if (c->n_starved > 0)
        excuse(EXCUSE_NO_MEMORY_TO_UNWATCH);
    else if (w->secretive && w->hostile)
        excuse(EXCUSE_FORGED_AHEAD);
    else if (by_exists(w, watch) && (left || watch->again))
        excuse(EXCUSE_UNWATCHED_APART);
    else
        world_break(w, law_watches.name, "server %d keeps a watch of client %d on %s", s->id, c->id, watch->name);
}

static void finished(struct world *w)
{
    for (int i = 0; i < w->ensemble.n; i++)
        for (int j = 0; j < w->ensemble.servers[i].n_watches; j++)
            if (*w->ensemble.servers[i].watches[j].name != '\0')
                judge_last(w, &w->ensemble.servers[i], &w->ensemble.servers[i].watches[j]);
}

/* --- the contenders that want it --------------------------------------------------------------------------------- */

static bool relies(const struct claim *claim, int path, const char *name)
{
    bool predecessor = claim->has_predecessor && !claim->unwatched && strcmp(claim->predecessor.name, name) == 0;
    return claim->used && claim->path == path && (predecessor || strcmp(claim->machine->node.name, name) == 0);
}

/* A call that has ended may still clean up, and rest for up to 3 s before it does. */
enum { CLEANS_UP_MS = 10000 };

static bool attends(const struct client *c, int path)
{
    const struct attendant *a = &c->attendants[path == BARRIER_PATH];
    return path >= MEETING_PATH && (a->calls || c->world->agenda.now - a->ended < CLEANS_UP_MS * INT64_C(1000));
}

static bool wanted(const struct client *c, int path, const char *name, const struct claim *except)
{
    if (c->onlooker.observer != NULL && c->onlooker.path == path)
        return true;
    if (attends(c, path))
        return true;
    for (int i = 0; i < c->n_claims; i++)
        if (&c->claims[i] != except && relies(&c->claims[i], path, name))
            return true;
    return false;
}

/* Otherwise watches would pile up on a lock that is tried often and held for long. */
static void told(struct world *w, const struct claim *claim, enum pdk__action_kind what)
{
    if (what == PDK__ACT_DONE && claim->armed && client_session(claim->client)->phase == PDK__SESSION_CONNECTED &&
        tree_find(&w->ensemble.truth, claim->path, claim->predecessor.name) != NULL &&
        !wanted(claim->client, claim->path, claim->predecessor.name, claim))
        world_break(w, law_watches.name, "client %d leaves its watch on %s", claim->client->id,
                    claim->predecessor.name);
}

/* --- the server's table ------------------------------------------------------------------------------------------ */

/* The real client's queues are not ours to see. */
static bool all_heard(const struct client *c)
{
    return c->n_unheard == 0 && c->library != NULL && pdk__list_empty(&c->library->requests);
}

static bool all_told(const struct world *w, const struct client *c)
{
    const struct connection *connection = &w->ensemble.servers[c->server].connections[c->id];
    return c->io == IO_CONNECTED && connection->open && connection->established &&
           w->attached[c->server][c->id] == c->attempts && c->n_outstanding == 0 && c->n_queued == 0 &&
           (!client_is_real || all_heard(c)) && c->up[c->server].n == 0 && c->down[c->server].n == 0 &&
           c->inbox.n == 0 && c->n_completions == 0 && connection->n_pending == 0;
}

/* A server replaced the session silently. Requests that were queued for the old one set their watches in the new
 * one. */
static bool given_up(const struct client *c)
{
    enum pdk__session_phase phase = client_session(c)->phase;
    return phase == PDK__SESSION_BACKOFF || phase == PDK__SESSION_OPENING;
}

static void judge(struct world *w, const struct client *c, const struct watch *watch)
{
    if (c->adopts)
        excuse(EXCUSE_LENT);
    else if (given_up(c))
        excuse(EXCUSE_GIVEN_UP);
    else if (c->n_starved > 0)
        excuse(EXCUSE_NO_MEMORY_TO_UNWATCH);
    else if (watch->again)
        excuse(EXCUSE_UNWATCHED_APART);
    else if (w->hostile)
        excuse(EXCUSE_FORGED_AHEAD);
    else
        world_break(w, law_watches.name, "server %d keeps a watch on %s, and client %d does not want it", c->server,
                    watch->name, c->id);
}

static void received(struct world *w, struct client *c)
{
    const struct server *s = &w->ensemble.servers[c->server];
    if (s->n_watches == 0 || c->closes || !all_told(w, c))
        return;
    for (int i = 0; i < s->n_watches; i++)
        if (s->watches[i].session == c->session && !s->watches[i].children &&
            !wanted(c, s->watches[i].path, s->watches[i].name, NULL))
            judge(w, c, &s->watches[i]);
}

const struct law law_watches = {.name = "watches", .told = told, .received = received, .finished = finished};
