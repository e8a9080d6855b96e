/* The answers of the library to an actor, judged by one rule for all recipes. */
#include "test/sim/actor.h"
#include "test/sim/wired.h"
#include <string.h>

static const char law[] = "caller";

/* A request is given up after so many creates that never arrived, and each takes a fault, or a want of memory. */
enum { LOST_CREATES = 9 };

/* --- the grant --------------------------------------------------------------------------------------------------- */

static int path_of(const struct actor *a, unsigned i)
{
    return has(a->recipe, HAS_ALL_PATHS) ? a->recipe->nodes - (int)i : a->recipe->nodes;
}

void actor_nodes(const struct actor *a, struct nodes *nodes)
{
    nodes->n = a->grant != NULL ? pdk_grant_count(a->grant) : pdk_lock_count(a->lock);
    for (unsigned i = 0; i < nodes->n; i++)
        a->grant != NULL ? pdk_grant_node(a->grant, i, nodes->names[i], PDK__NAME_MAX)
                         : pdk_lock_node(a->lock, i, nodes->names[i], PDK__NAME_MAX);
}

/* The claim that was granted the node. */
static const struct claim *claim_of(const struct client *c, int path, const char *name)
{
    for (int i = 0; i < c->n_claims; i++)
        if (c->claims[i].granted && c->claims[i].path == path && strcmp(c->claims[i].machine->node.name, name) == 0)
            return &c->claims[i];
    return NULL;
}

static void judge_two(const struct actor *a, const struct actor *other, bool hands_on)
{
    const struct client *c = a->client;
    if (other == a || other->token != a->token)
        return;
    if (other->holds)
        world_break(c->world, law, "two requests of client %d hold one grant", c->id);
    if (other->turn >= a->turn)
        world_break(c->world, law, "turn %llu of client %d comes late", (unsigned long long)a->turn, c->id);
    see(hands_on ? SIGHT_HANDED_ON : SIGHT_RESUMED);
    if (other->lock != a->lock)
        see(SIGHT_HANDED_ACROSS);
}

/* The turns of one node have one owner at a time, in their order. */
static void judge_turn(const struct actor *a)
{
    const struct client *c = a->client;
    struct world *w = c->world;
    bool hands_on = has(a->recipe, HAS_TURNS) && w->budget > 0;
    bool stays = has(a->recipe, HAS_IDLE) && w->idle_ms > 0;
    if (a->turn == 0 || (a->turn > 1 && !hands_on && !stays))
        world_break(w, law, "client %d has turn %llu of a %s", c->id, (unsigned long long)a->turn, a->recipe->name);
    for (int i = 0; i < c->n_actors; i++)
        judge_two(a, &c->actors[i], hands_on);
    for (int i = 0; i < c->crowd.n_asked; i++)
        judge_two(a, &c->members[i], hands_on);
}

static pdk_state state_of(const struct actor *a)
{
    return a->grant != NULL ? pdk_grant_state(a->grant) : pdk_lock_state(a->lock);
}

/* All nodes or none. A candidate's term may have ended. */
void judge_grant(struct actor *a)
{
    struct client *c = a->client;
    struct world *w = c->world;
    struct nodes nodes;
    fiber_now->n_locks++;
    pdk_state state = state_of(a);
    int64_t valid_ms = a->grant != NULL ? pdk_grant_valid_ms(a->grant) : pdk_lock_valid_ms(a->lock), token = 0;
    if (a->grant != NULL) {
        pdk_grant_token(a->grant, &token, NULL);
        pdk_grant_token(a->grant, NULL, &a->turn);
    } else {
        pdk_lock_token(a->lock, &token, NULL);
        pdk_lock_token(a->lock, NULL, &a->turn);
    }
    actor_nodes(a, &nodes);
    fiber_now->n_locks--;
    a->token = token;
    if (c->closes || (has(a->recipe, HAS_TERMS) && state != PDK_HELD))
        return;
    judge_turn(a);
    if (state == PDK_LOST || state == PDK_FREE)
        world_break(w, law, "client %d is answered 0, and the state of its %s is %d", c->id, a->recipe->name,
                    (int)state);
    if (valid_ms <= 0 || token <= 0)
        world_break(w, law, "client %d holds a %s for %lld ms, by token %lld", c->id, a->recipe->name,
                    (long long)valid_ms, (long long)token);
    for (unsigned i = 0; i < nodes.n; i++)
        if (claim_of(c, path_of(a, i), nodes.names[i]) == NULL)
            world_break(w, law, "client %d holds a %s, and \"%s\" is not among its nodes", c->id, a->recipe->name,
                        nodes.names[i]);
}

/* The state as the library answers it. A grant that it calls HELD is of a client that is connected, and that has at
 * least the promised time left: also when no thread of the library has run since the connection broke, or since that
 * time began. */
pdk_state judge_state(const struct actor *a)
{
    const struct client *c = a->client;
    bool apart = c->io != IO_CONNECTED; /* the call itself may leave a silent server */
    fiber_now->n_locks++;
    pdk_state state = state_of(a);
    fiber_now->n_locks--;
    const struct pdk__session *s = client_session(c);
    if (state != PDK_HELD || c->closes)
        return state;
    if (apart && c->io != IO_CONNECTED && !client_is_real) /* which may not know yet */
        world_break(c->world, law, "client %d is told HELD, and is not connected", c->id);
    if (pdk__session_deadline_ms(s) - client_now_ms(c) < s->limits.min_valid_ms)
        world_break(c->world, law, "client %d is told HELD, and has too little time left", c->id);
    return state;
}

/* --- other answers ----------------------------------------------------------------------------------------------- */

/* A client that was paused may read its clock for the first time after that: the call of a candidate's that waits is
 * its second one. */
void judge_time(const struct actor *a, int64_t began_ms, int64_t timeout_ms)
{
    const struct client *c = a->client;
    struct world *w = c->world;
    int64_t over_ms = client_now_ms(c) - began_ms - timeout_ms;
    int64_t late_ms = 20 + (w->late_permille > 0 ? w->late_delay / 100 : 0);
    if (over_ms > late_ms && w->agenda.now - c->resumed > (timeout_ms + late_ms) * 1000)
        world_break(w, law, "client %d is answered about its %s %lld ms after its deadline", c->id, a->recipe->name,
                    (long long)over_ms);
}

/* A request that the servers do not take is given up in the end, and makes no node. Several nodes have no number that
 * can be used up. */
void judge_answer(const struct actor *a, int rc)
{
    const struct client *c = a->client;
    struct world *w = c->world;
    bool large = c->oversized && a->recipe == &recipes[RECIPE_MUTEX];
    bool several = has(a->recipe, HAS_PERMITS | HAS_ALL_PATHS);
    if (rc == 0 && large)
        world_break(w, law, "client %d is granted a lock that the servers do not take", c->id);
    if (rc == PDK_EREFUSED && large)
        see(SIGHT_TOO_LARGE_REFUSED);
    if (rc == PDK_EREFUSED && !c->oversized && several && c->n_starved == 0 && w->n_faults < LOST_CREATES)
        world_break(w, law, "client %d is refused what a server may not refuse", c->id);
    if (rc == PDK_EEXHAUSTED && several && !w->hostile)
        world_break(w, law, "client %d is refused a %s: the numbers are used up", c->id, a->recipe->name);
    if ((has(a->recipe, HAS_PERMITS) || a->later) && (rc == 0) != (a->grant != NULL))
        world_break(w, law, "client %d is answered %s, and has a handle or none", c->id, pdk_strerrorname(rc));
    if (rc == 0 && has(a->recipe, HAS_PERMITS) && a->n_permits > 1)
        see(SIGHT_SEVERAL_PERMITS);
}

/* --- the release ------------------------------------------------------------------------------------------------- */

/* The node by the truth; NULL: it is deleted, or another's has its name. */
static const struct node *node_left(struct world *w, int path, const char *name)
{
    const struct node *node = tree_find(&w->ensemble.truth, path, name);
    return node != NULL && !node->planted && node->owner >= 0 ? node : NULL;
}

/* It was handed on to another thread, or is idle, and may be lost by now; or its delete is under way. */
static bool may_stay(const struct actor *a, const struct claim *claim, bool later)
{
    const struct world *w = a->client->world;
    bool handed = has(a->recipe, HAS_TURNS) && w->budget > 0 && claim != NULL && (!claim->released || later);
    return handed || (has(a->recipe, HAS_IDLE) && w->idle_ms > 0) ||
           (has(a->recipe, HAS_NOWAIT) && w->nowait && !later);
}

/* Answered 0 it left no node. A client can hear of the end of its session before that is committed. */
static void judge_left(const struct actor *a, const char *verb, const struct node *node)
{
    struct world *w = a->client->world;
    if ((w->ending >> node->owner & 1) != 0)
        excuse(EXCUSE_ENDING_NODE);
    else
        world_break(w, law, "client %d has %s its %s, and %s is there", a->client->id, verb, a->recipe->name,
                    node->name);
}

/* A loss that was known is not hidden. */
void judge_release(const struct actor *a, const struct nodes *nodes, int rc, bool lost, bool last, bool later)
{
    struct client *c = a->client;
    struct world *w = c->world;
    if (lost && rc == 0)
        world_break(w, law, "client %d releases a %s that is lost, and is answered 0", c->id, a->recipe->name);
    if (rc == PDK_EPERM || rc == PDK_EINVAL || rc == PDK_EDEADLK)
        world_break(w, law, "client %d may not release its own %s: %s", c->id, a->recipe->name, pdk_strerrorname(rc));
    if (has(a->recipe, HAS_TERMS) && last && state_of(a) == PDK_HELD)
        world_break(w, law, "client %d has resigned, and leads", c->id);
    for (unsigned i = 0; i < nodes->n && rc == 0 && last; i++) {
        const struct node *node = node_left(w, path_of(a, i), nodes->names[i]);
        if (node != NULL && !may_stay(a, claim_of(c, path_of(a, i), nodes->names[i]), later))
            judge_left(a, "released", node);
    }
}

/* A session that was given up takes its node along. */
void judge_flush(const struct actor *a, const struct nodes *nodes)
{
    struct client *c = a->client;
    struct world *w = c->world;
    const struct claim *claim = claim_of(c, path_of(a, 0), nodes->names[0]);
    bool released = claim != NULL && claim->released;
    int rc = pdk_client_flush(c->library, PDK_FOREVER);
    if (rc != 0 && !c->closes)
        world_break(w, law, "client %d cannot flush: %s", c->id, pdk_strerrorname(rc));
    if (rc != 0 || !released)
        return;
    for (unsigned i = 0; i < nodes->n; i++) {
        const struct node *node = node_left(w, path_of(a, i), nodes->names[i]);
        if (node != NULL && world_session_id(node->owner) == client_session(c)->id)
            judge_left(a, "flushed", node);
    }
    see(SIGHT_FLUSHED);
}

/* --- beside all that --------------------------------------------------------------------------------------------- */

/* Nothing that a thread or a handle may do with a grant is done in the child. */
static bool refuses_child(struct actor *a)
{
    int64_t token;
    uint64_t turn;
    pdk_grant *g = a->grant;
    bool attempt = a->mode->attempt == NULL || a->mode->attempt(a->lock) == PDK_EFORKED;
    a->grant = g;
    if (g != NULL)
        return attempt && pdk_grant_token(g, &token, NULL) == PDK_EFORKED && pdk_grant_release(g) == PDK_EFORKED;
    return attempt && pdk_lock_token(a->lock, &token, NULL) == PDK_EFORKED &&
           pdk_lock_token(a->lock, NULL, &turn) == PDK_EFORKED && a->mode->release(a->lock) == PDK_EFORKED;
}

/* It takes no time. */
void judge_child(struct actor *a)
{
    struct client *c = a->client;
    pdk_contender_list *list;
    c->child = fiber_now;
    if (pdk_lock_state(a->lock) == PDK_HELD || pdk_lock_valid_ms(a->lock) > 0)
        world_break(c->world, law, "the child of client %d holds", c->id);
    if (!refuses_child(a) || pdk_client_flush(c->library, 0) != PDK_EFORKED || pdk_lock_free(a->lock) != PDK_EFORKED ||
        pdk_contenders(c->library, "/0", PDK_CONTENDERS_ALL, 0, &list) != PDK_EFORKED ||
        pdk_client_free(c->library) != PDK_EFORKED)
        world_break(c->world, law, "the child of client %d may do something", c->id);
    c->child = NULL;
    see(SIGHT_FORKED);
}

static bool unwanted(const struct client *c, int64_t token)
{
    for (int i = 0; i < c->n_claims; i++)
        if (c->claims[i].granted && c->claims[i].token == token)
            return !c->claims[i].revoked;
    return false;
}

/* A holder is asked for its lock, at most once per grant, and for one that it had. */
void judge_event(pdk_lock *l, const pdk_event *event, void *client)
{
    struct client *c = client;
    if (event->kind != PDK_EVENT_REVOKED)
        return;
    if (unwanted(c, event->token))
        world_break(c->world, law, "client %d is asked for its lock, and nobody wants it", c->id);
    see(SIGHT_ASKED_BACK);
    for (int i = 0; i < c->n_actors; i++) {
        struct actor *a = &c->actors[i];
        if (!a->holds || a->lock != l || a->token != event->token)
            continue;
        if (a->wanted)
            world_break(c->world, law, "client %d is asked twice for its lock", c->id);
        a->wanted = true;
        fiber_wake_all(&a->wanted);
    }
}
