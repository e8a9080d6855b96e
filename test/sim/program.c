/* The program of a client: it connects, makes its locks, starts its threads, dispatches callbacks, and closes. */
#include "recipes/lockable.h"
#include "test/sim/actor.h"
#include "test/sim/shim.h"
#include <stdio.h>
#include <zookeeper/zookeeper.h>

static const char law[] = "caller";

/* --- connecting -------------------------------------------------------------------------------------------------- */

void client_watch_own(zhandle_t *zh, int type, int state, const char *path, void *context)
{
    struct client *c = context;
    (void)path, (void)zh;
    c->heard_own += type == ZOO_SESSION_EVENT;
    if (type == ZOO_SESSION_EVENT && state == ZOO_CONNECTED_STATE && c->library != NULL)
        see(SIGHT_ADOPTED);
}

static int adopt(struct client *c, const char *hosts, const pdk_client_options *o)
{
    c->lent = zookeeper_init2(hosts, client_watch_own, (int)c->world->session_ms, NULL, c, 0, NULL);
    if (c->lent == NULL)
        return PDK_ENOMEM;
    fiber_block(c, (instant)below(&c->world->random, 100) * 1000);
    int rc = pdk_client_adopt(&c->library, c->lent, o);
    if (rc != 0) {
        zookeeper_close(c->lent);
        c->lent = NULL;
    }
    return rc;
}

/* Its nodes are for itself alone. */
static int keep_secret(pdk_client_options *o)
{
    int rc = pdk_client_options_add_auth(o, "digest", "sim");
    return rc == 0 ? pdk_client_options_add_acl(o, "auth", "", PDK_PERM_ALL) : rc;
}

/* Few contenders fill it in some seeds. */
static void narrow(struct pdk__window *window, uint64_t seed)
{
    if (seed % 4 == 1)
        window->size = window->max = 1 + (unsigned)(seed / 4 % 12);
}

/* A name for each server that it knows, which is its number; or one for all of them. */
static void name_hosts(const struct client *c, char hosts[static 4 * SERVERS_MAX])
{
    size_t n = 0;
    for (int i = 0; i < c->world->ensemble.n && (n == 0 || !c->one_name); i++)
        if ((c->hosts >> i & 1) != 0)
            n += (size_t)sprintf(hosts + n, "%s%d:1", n > 0 ? "," : "", i);
}

static int connect_library(struct client *c)
{
    struct world *w = c->world;
    struct pdk_client_options *o = pdk_client_options_new();
    char hosts[4 * SERVERS_MAX + 4];
    if (o == NULL)
        return PDK_ENOMEM;
    name_hosts(c, hosts);
    o->session_timeout_ms = (int)w->session_ms;
    o->policy = w->policy;
    o->dispatch_by_caller = c->dispatches;
    int rc = c->secretive ? keep_secret(o) : 0;
    if (rc == 0 && c->curious)
        rc = client_ask_all(c, o);
    if (rc == 0)
        rc = c->adopts ? adopt(c, hosts, o) : pdk_client_new(&c->library, hosts, o);
    pdk_client_options_free(o);
    if (rc == 0)
        narrow(&c->library->window, w->plan.seed);
    return rc;
}

/* Each step is tried again until there is memory for it. */
void *client_run(void *arg)
{
    struct client *c = arg;
    int rc;
    while ((rc = connect_library(c)) != 0) {
        STORY(c->world, "client %d cannot be made: %s", c->id, pdk_strerrorname(rc));
        fiber_block(c, 1000);
    }
    for (enum recipe_of i = 0; i < LOCKS; i++)
        while (recipe_used(c->world, i) && recipe_make(c, i, &c->locks[i]) != 0)
            fiber_block(c, 1000);
    while (c->world->members > 0 && attendants_begin(c) != 0)
        fiber_block(c, 1000);
    if (c->onlooker.rounds > 0)
        onlooker_begin(&c->onlooker, c);
    if (c->dispatches)
        fiber_start(c, client_dispatch, c);
    for (int i = 0; i < c->n_actors; i++)
        fiber_start(c, actor_run, &c->actors[i]);
    if (c->crowd.n > 0)
        fiber_start(c, crowd_run, &c->crowd);
    if (c->onlooker.rounds > 0)
        fiber_start(c, onlooker_run, &c->onlooker);
    if (c->curious)
        fiber_start(c, client_ask, c);
    c->ready = true;
    if (!chance(&c->world->random, c->world->calm ? 0 : 100))
        return NULL;
    fiber_block(c, (instant)below(&c->world->random, 20000) * 1000);
    return client_end(c);
}

/* --- dispatching ------------------------------------------------------------------------------------------------- */

void *client_dispatch(void *arg)
{
    struct client *c = arg;
    struct pollfd polled = {.fd = pdk_client_fd(c->library), .events = POLLIN};
    c->dispatching = true;
    while (!c->closes) {
        if (polled.fd >= 0 && sim_poll(&polled, 1, 1000) > 0 && !c->closes)
            pdk_client_dispatch(c->library);
    }
    c->dispatching = false;
    return NULL;
}

/* --- closing ----------------------------------------------------------------------------------------------------- */

bool client_at_work(const struct client *c)
{
    for (int i = 0; i < c->n_actors; i++)
        if (c->actors[i].rounds > 0)
            return true;
    return c->onlooker.rounds > 0 || c->crowd.n_left > 0;
}

/* A client that was closed with 0 has left no node in the session, which goes on, and no watcher on the handle. One
 * that was told of the session's end cannot know better: a deposed leader that has not noticed says so of a new
 * session. */
static void take_back(struct client *c, int rc)
{
    struct world *w = c->world;
    if (zoo_set_watcher(c->lent, client_watch_own) != client_watch_own)
        world_break(w, law, "client %d keeps its watcher on a handle that was lent", c->id);
    for (int p = 0; p < PATHS && rc == 0 && !c->expired; p++)
        for (int i = 0; i < w->ensemble.truth.dirs[p].n; i++)
            if (c->session >= 0 && w->ensemble.truth.dirs[p].nodes[i].owner == c->session &&
                (w->ending >> c->session & 1) == 0)
                world_break(w, law, "client %d is closed, and %s is there", c->id,
                            w->ensemble.truth.dirs[p].nodes[i].name);
    zookeeper_close(c->lent);
}

/* While its actors wait, or when they are done; then nothing of it is left. The world and the client itself may begin
 * it at the same instant: once is enough. */
void *client_end(void *arg)
{
    struct client *c = arg;
    struct world *w = c->world;
    if (c->closes)
        return NULL;
    c->closes = true;
    STORY(w, "client %d is closed", c->id);
    while (c->dispatching || c->asking) /* its descriptor goes with the client */
        fiber_block(c, ms(10));
    int rc = pdk_client_close(c->library);
    if (rc != 0 && !(c->adopts && rc == PDK_EUNKNOWN)) /* a session that goes on may keep its nodes */
        world_break(w, law, "client %d cannot be closed: %s", c->id, pdk_strerrorname(rc));
    if (c->lent != NULL)
        take_back(c, rc);
    while (client_at_work(c))
        fiber_block(c, ms(10));
    attendants_end(c);
    if (c->onlooker.observer != NULL)
        onlooker_end(&c->onlooker);
    for (int i = 0; i < LOCKS; i++)
        if (c->locks[i] != NULL && (rc = pdk_lock_free(c->locks[i])) != 0)
            world_break(w, law, "client %d cannot free lock %d: %s", c->id, i, pdk_strerrorname(rc));
    if ((rc = pdk_client_free(c->library)) != 0)
        world_break(w, law, "client %d cannot be freed: %s", c->id, pdk_strerrorname(rc));
    c->closed = true;
    STORY(w, "client %d is freed", c->id);
    return NULL;
}
