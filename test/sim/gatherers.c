/*
 * The gatherers: threads of a client that lock both paths of the mutexes as one, beside the users that lock one of them.
 * The answers of the library are judged here, at once.
 */
#include "test/sim/world.h"
#include <paddock.h>
#include <string.h>

static const char law[] = "gatherer";

/* A request is given up after so many creates that never arrived, and each takes a fault, or a want of memory. */
enum { PATHS_GATHERED = 2, LOST_CREATES = 9 };

static const char *const paths[PATHS_GATHERED] = {"/1", "/0"}; /* as given: not sorted */

static instant ms(int64_t n) { return n * 1000; }

/* The claim that holds the path of TOKEN and NODE. */
static const struct claim *claim_of(const struct client *c, int path, int64_t token)
{
    for (int i = 0; i < c->n_claims; i++)
        if (c->claims[i].granted && c->claims[i].path == path && c->claims[i].token == token)
            return &c->claims[i];
    return NULL;
}

/* By the handle that one of them may have, the node of path I has a name and no number. */
static int64_t token_of(const struct gatherer *g, unsigned i)
{
    const struct client *c = g->client;
    int64_t token = 0;
    char name[PDK__NAME_MAX];
    if (g->grant != NULL)
        pdk_grant_node(g->grant, i, name, sizeof name);
    else
        pdk_lock_node(c->multilock, i, name, sizeof name);
    for (int k = 0; k < c->n_claims; k++)
        if (c->claims[k].granted && c->claims[k].path == 1 - (int)i &&
            strcmp(c->claims[k].machine->node.name, name) == 0)
            token = c->claims[k].token;
    return token;
}

/* All paths or none. No time passes in here. */
static void judge_grant(struct gatherer *g)
{
    struct client *c = g->client;
    pdk_mutex *m = c->multilock;
    fiber_now->n_locks++;
    pdk_state state = g->grant != NULL ? pdk_grant_state(g->grant) : pdk_lock_state(m);
    int64_t valid_ms = g->grant != NULL ? pdk_grant_valid_ms(g->grant) : pdk_lock_valid_ms(m);
    int64_t tokens[PATHS_GATHERED] = {0};
    for (unsigned i = 0; i < PATHS_GATHERED; i++)
        tokens[i] = token_of(g, i);
    fiber_now->n_locks--;
    if (c->closes)
        return;
    if (state == PDK_LOST || state == PDK_FREE || valid_ms <= 0)
        world_break(c->world, law, "client %d is answered 0, and its state is %d for %lld ms", c->id, (int)state,
                    (long long)valid_ms);
    for (int i = 0; i < PATHS_GATHERED; i++)
        if (claim_of(c, 1 - i, tokens[i]) == NULL)
            world_break(c->world, law, "client %d has all paths, and %s is not among them", c->id, paths[i]);
}

static void answered(int rc, void *arg)
{
    struct gatherer *g = arg;
    if (g->answered)
        world_break(g->client->world, law, "a callback comes twice");
    g->answered = true;
    g->answer = rc;
    if (rc == 0 && g->locks)
        judge_grant(g);
    fiber_wake_all(&g->answered);
}

static int await_answer(struct gatherer *g)
{
    while (!g->answered)
        fiber_block(&g->answered, -1);
    return g->answer;
}

/* Of its handle or of the thread; the handle ends. */
static int unlock_now(struct gatherer *g)
{
    pdk_grant *grant = g->grant;
    g->grant = NULL;
    return grant != NULL ? pdk_grant_release(grant) : pdk_mutex_unlock(g->client->multilock);
}

static int lock_later(struct gatherer *g)
{
    struct world *w = g->client->world;
    g->answered = false;
    g->locks = true;
    int rc = pdk_mutex_lock_async(g->client->multilock, w->healed ? PDK_FOREVER : 4000, answered, g, &g->grant);
    if (rc != 0)
        return rc;
    if (chance(&w->random, 300) && !w->healed) {
        fiber_block(g, ms(between(&w->random, 1, 500)));
        if (!g->answered)
            pdk_grant_cancel(g->grant);
    }
    await_answer(g);
    if (g->answer != 0)
        unlock_now(g); /* nothing, or what is lost */
    return g->answer;
}

static int judged(struct gatherer *g, int rc)
{
    if (rc == 0)
        judge_grant(g);
    return rc;
}

static int lock(struct gatherer *g)
{
    struct world *w = g->client->world;
    pdk_mutex *m = g->client->multilock;
    int kind = w->healed ? 0 : below(&w->random, 10), timeout_ms = between(&w->random, 20, 4000);
    if (kind == 9)
        return judged(g, pdk_mutex_trylock(m));
    if (kind >= 6)
        return judged(g, pdk_mutex_timedlock(m, timeout_ms));
    if (kind == 5)
        return lock_later(g);
    return judged(g, pdk_mutex_lock(m));
}

static int unlock_later(struct gatherer *g)
{
    g->answered = false;
    g->locks = false;
    pdk_grant *grant = g->grant;
    g->grant = NULL;
    int rc = grant != NULL ? pdk_grant_release_async(grant, answered, g)
                           : pdk_mutex_unlock_async(g->client->multilock, answered, g);
    return rc != 0 ? rc : await_answer(g);
}

/* Answered 0 it left no node; a client can hear of the end of its session before that is committed. */
static void judge_unlock(struct gatherer *g, char names[][PDK__NAME_MAX])
{
    struct world *w = g->client->world;
    for (int i = 0; i < PATHS_GATHERED; i++) {
        const struct node *node = tree_find(&w->ensemble.truth, 1 - i, names[i]);
        if (node == NULL || node->planted || world_session_id(node->owner) != client_session(g->client)->id)
            continue;
        if ((w->ending >> node->owner & 1) != 0)
            excuse(EXCUSE_ENDING_NODE);
        else
            world_break(w, law, "client %d has unlocked all paths, and %s is there", g->client->id, names[i]);
    }
}

static void unlock(struct gatherer *g)
{
    struct world *w = g->client->world;
    pdk_mutex *m = g->client->multilock;
    char names[PATHS_GATHERED][PDK__NAME_MAX];
    for (unsigned i = 0; i < PATHS_GATHERED; i++)
        g->grant != NULL ? pdk_grant_node(g->grant, i, names[i], sizeof names[i])
                         : pdk_lock_node(m, i, names[i], sizeof names[i]);
    bool lost = (g->grant != NULL ? pdk_grant_state(g->grant) : pdk_lock_state(m)) == PDK_LOST;
    int rc = chance(&w->random, 300) ? unlock_later(g) : unlock_now(g);
    STORY(w, "client %d gatherer %d: unlock answers %s", g->client->id, g->index, pdk_strerrorname(rc));
    if ((rc == PDK_EPERM && !g->client->closes) || rc == PDK_EINVAL || rc == PDK_EDEADLK || (lost && rc == 0))
        world_break(w, law, "client %d unlocks all paths: %s", g->client->id, pdk_strerrorname(rc));
    if (rc == 0)
        judge_unlock(g, names);
}

static void gather_once(struct gatherer *g)
{
    struct world *w = g->client->world;
    int rc = lock(g);
    STORY(w, "client %d gatherer %d: lock answers %s", g->client->id, g->index, pdk_strerrorname(rc));
    if (rc == PDK_EREFUSED && !g->client->oversized && g->client->n_starved == 0 && w->n_faults < LOST_CREATES)
        world_break(w, law, "client %d is refused what a server may not refuse", g->client->id);
    if (rc == PDK_EEXHAUSTED && !w->hostile)
        world_break(w, law, "client %d is refused: the numbers are used up", g->client->id);
    if (rc != 0)
        return;
    fiber_block(g, ms(between(&w->random, 1, chance(&w->random, 700) ? 200 : 3000)));
    unlock(g);
}

void *gatherer_run(void *arg)
{
    struct gatherer *g = arg;
    struct random *r = &g->client->world->random;
    for (g->rounds = between(r, 1, 4); g->rounds > 0 && !g->client->closes; g->rounds--) {
        fiber_block(g, ms(between(r, 1, 300)));
        gather_once(g);
    }
    g->rounds = 0;
    return NULL;
}

int gatherers_begin(struct client *c)
{
    if (c->multilock != NULL)
        return 0;
    pdk_lock_options *o = pdk_lock_options_new();
    if (o == NULL)
        return PDK_ENOMEM;
    pdk_lock_options_set_confirmed(o, c->world->confirmed);
    pdk_lock_options_set_look_ahead(o, c->looks_ahead);
    pdk_lock_options_set_refuse_mixed(o, c->refuses_mixed);
    int rc = pdk_mutex_new_several(&c->multilock, c->library, paths, PATHS_GATHERED, o);
    pdk_lock_options_free(o);
    return rc;
}

void gatherers_end(struct client *c)
{
    if (c->multilock != NULL && pdk_lock_free(c->multilock) != 0)
        world_break(c->world, law, "client %d cannot free its multi-lock", c->id);
    c->multilock = NULL;
}
