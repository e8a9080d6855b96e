#include "lib/zk/claim.h"
#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/zk/request.h"
#include "lib/zk/stray.h"
#include <string.h>
#include <sys/random.h>

/*
 * Two limits of ZooKeeper's, one budget. A client re-sends the paths of all its watches in one packet when it
 * reconnects: over 1 MB the server drops the connection, each time (ZOOKEEPER-706). A session whose ephemeral nodes'
 * paths exceed about 2 MB leaves, when it closes, a log that no standalone server can read (ZOOKEEPER-4306). A claim
 * has one node and two watches, each under the lock's path.
 */
enum { PATH_BUDGET = 900 * 1024 };

static size_t cost(const char *path) { return 2 * (strlen(path) + 1 + PDK__NAME_MAX); }

int pdk__claim_reserve(struct pdk_client *c, const char *path)
{
    if (c->path_bytes + cost(path) > PATH_BUDGET)
        return PDK_ELIMIT;
    c->path_bytes += cost(path);
    return 0;
}

void pdk__claim_give_back(struct pdk_client *c, const char *path) { c->path_bytes -= cost(path); }

/*
 * Unique within a session, whichever threads and clients of the process share it, hence one counter for the process. It
 * begins at a random number, because a later process may attach to the same session while the first one's node still
 * exists. No lock: the child of a fork() might find it taken.
 */
static atomic_uint_least32_t last_attempt;

static void begin_somewhere(void)
{
    uint32_t somewhere;
    if (getrandom(&somewhere, sizeof somewhere, GRND_NONBLOCK) == sizeof somewhere)
        atomic_store(&last_attempt, somewhere);
}

static uint32_t next_attempt(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    uint32_t attempt;
    pthread_once(&once, begin_somewhere);
    do
        attempt = atomic_fetch_add(&last_attempt, 1) + 1;
    while (attempt == 0); /* 0 means no attempt to a machine */
    return attempt;
}

const char *pdk__claim_own(struct pdk__claim *claim)
{
    if (claim->machine.node != PDK__NODE_YES)
        return NULL;
    if (claim->own != NULL && strcmp(claim->own + strlen(claim->spec.path) + 1, claim->machine.name) == 0)
        return claim->own;
    pdk__free(claim->own);
    return claim->own = pdk__join(claim->spec.path, claim->machine.name);
}

static bool watch_predecessor(struct pdk__claim *claim, const struct pdk__action *action)
{
    char *path;
    if (action->by_exists) /* requested again for the same node, with its whole path */
        path = pdk__strdup(action->name);
    else
        path = pdk__join(claim->spec.path, action->name);
    pdk__free(claim->predecessor);
    claim->predecessor = path;
    claim->unwatched = false;
    return path != NULL && pdk__request_watch(claim, action->op, action->by_exists) == 0;
}

/* Does another claim or observer of this client watch PATH? The servers know one watch per path and session, not one
 * per claim. */
static bool watched_by_others(struct pdk__claim *claim, const char *path)
{
    PDK__LIST_EACH (link, &claim->client->claims) {
        struct pdk__claim *other = PDK__MEMBER(link, struct pdk__claim, link);
        if (other == claim)
            continue;
        const char *own = pdk__claim_own(other);
        const char *watched = other->unwatched ? NULL : other->predecessor;
        if ((watched != NULL && strcmp(watched, path) == 0) || (own != NULL && strcmp(own, path) == 0))
            return true;
    }
    PDK__LIST_EACH (link, &claim->client->followers) {
        struct pdk__follower *f = PDK__MEMBER(link, struct pdk__follower, link);
        if (f->watches(f, path))
            return true;
    }
    return false;
}

/* An adopted handle may have watches of the application on the same node, and only all watches of a path can be
 * removed. */
static void unwatch_predecessor(struct pdk__claim *claim)
{
    if (claim->predecessor != NULL && !claim->client->adopted && !watched_by_others(claim, claim->predecessor))
        pdk__request_unwatch(claim->client, claim->predecessor);
    claim->unwatched = true; /* its path is kept: the request may be lost and repeated */
}

/* Not without memory for the stray that it may become. Both requests are sent at once: the servers answer a
 * session's requests in order, so the listing contains the node. */
static bool create(struct pdk__claim *claim, uint64_t op)
{
    if (claim->stray == NULL)
        claim->stray = pdk__stray_reserve(claim->spec.path);
    return claim->stray != NULL && pdk__request_create(claim, op) == 0 && pdk__request_list(claim, op) == 0;
}

/* Send one action's request. False if nothing was sent, and no reply will come. */
static bool put(struct pdk__claim *claim, const struct pdk__action *action)
{
    switch (action->kind) {
    case PDK__ACT_CREATE:
        return create(claim, action->op);
    case PDK__ACT_PARENTS:
        return pdk__request_parents(claim, action->op) == 0;
    case PDK__ACT_BARRIER:
        return pdk__request_barrier(claim, action->op) == 0 && pdk__request_list(claim, action->op) == 0;
    case PDK__ACT_IDENTIFY:
        return pdk__request_identify(claim, action->op, action->name) == 0;
    case PDK__ACT_LIST:
        return pdk__request_list(claim, action->op) == 0;
    case PDK__ACT_WATCH:
        return watch_predecessor(claim, action);
    case PDK__ACT_OWN:
        return pdk__request_own(claim, action->op, action->by_exists) == 0;
    case PDK__ACT_CONFIRM:
        return pdk__request_confirm(claim, action->op, action->version, action->revoked) == 0;
    case PDK__ACT_READ:
        return pdk__request_read(claim, action->op) == 0;
    case PDK__ACT_MARK:
        return pdk__request_mark(claim, action->op, action->version) == 0;
    case PDK__ACT_UNMARK:
        pdk__request_unmark(claim, action->op, action->version);
        return true;
    case PDK__ACT_DELETE:
        return pdk__request_delete(claim, action->op) == 0;
    default:
        return true;
    }
}

/* The event in place of the reply to a request that could not be sent. Part of it may have been sent, so the outcome
 * is unknown. */
static struct pdk__event unsent(const struct pdk__action *action)
{
    static const enum pdk__event_kind reply[] = {
        [PDK__ACT_CREATE] = PDK__EV_CREATED,
        [PDK__ACT_PARENTS] = PDK__EV_MADE_PARENTS,
        [PDK__ACT_BARRIER] = PDK__EV_BARRIER,
        [PDK__ACT_LIST] = PDK__EV_LISTED,
        [PDK__ACT_IDENTIFY] = PDK__EV_IDENTIFIED,
        [PDK__ACT_WATCH] = PDK__EV_WATCHED,
        [PDK__ACT_OWN] = PDK__EV_OWN,
        [PDK__ACT_CONFIRM] = PDK__EV_CONFIRMED,
        [PDK__ACT_READ] = PDK__EV_READ,
        [PDK__ACT_MARK] = PDK__EV_MARKED,
        [PDK__ACT_DELETE] = PDK__EV_DELETED,
    };
    return (struct pdk__event){.kind = reply[action->kind], .op = action->op, .outcome = PDK__UNKNOWN};
}

static void finish(struct pdk__claim *claim, int rc)
{
    struct pdk_client *c = claim->client;
    pdk__request_orphan(claim);
    pdk__list_remove(&claim->link);
    pdk__claim_give_back(c, claim->spec.path);
    pdk__free(claim->predecessor);
    pdk__free(claim->own);
    pdk__free(claim->stray);
    claim->predecessor = claim->own = NULL;
    claim->stray = NULL;
    if (pdk__list_empty(&c->claims))
        pthread_cond_broadcast(&c->changed);
    claim->listener->done(claim, rc);
}

static void tell(struct pdk__claim *claim, const struct pdk__action *action)
{
    switch (action->kind) {
    case PDK__ACT_GRANTED:
        claim->listener->granted(claim, action->token);
        break;
    case PDK__ACT_FAILED:
        claim->listener->failed(claim, action->error);
        break;
    case PDK__ACT_SUSPECT:
    case PDK__ACT_HELD:
    case PDK__ACT_LOST:
        claim->listener->changed(claim, action->kind);
        break;
    case PDK__ACT_REVOKED:
        claim->listener->revoked(claim);
        break;
    case PDK__ACT_UNWATCH:
        unwatch_predecessor(claim);
        break;
    case PDK__ACT_STRAY:
        if (claim->stray != NULL) /* without memory for it no create was sent */
            pdk__stray_keep(claim->client, claim->stray, action->attempt);
        claim->stray = NULL;
        break;
    case PDK__ACT_DONE:
        finish(claim, action->error);
        break;
    default:
        break;
    }
}

/* The session is notified when the client's lock is released (client.c), not in the middle of a step. */
static void count_wish(struct pdk__claim *claim)
{
    bool wants = pdk__contender_wants_proof(&claim->machine);
    claim->client->n_wanting += (unsigned)wants - (unsigned)claim->wants_proof;
    claim->wants_proof = wants;
}

void pdk__claim_feed(struct pdk__claim *claim, struct pdk__event event)
{
    struct pdk__actions actions, failed = {0};
    enum pdk__phase before = claim->machine.phase;
    event.now_ms = pdk__now_ms();
    if (claim->machine.spare == 0)
        claim->machine.spare = next_attempt();
    pdk__contender_step(&claim->machine, &event, &actions);
    pdk__account_claim(claim, before, &event, &actions);
    count_wish(claim);
    pdk__client_arm(claim->client, pdk__contender_wake_ms(&claim->machine));
    for (size_t i = 0; i < actions.n; i++) {
        struct pdk__action *action = &actions.list[i];
        if (!put(claim, action))
            failed.list[failed.n++] = *action;
        tell(claim, action);
    }
    for (size_t i = 0; i < failed.n; i++) /* a machine that waits for a reply is not done, so the claim still exists */
        pdk__claim_feed(claim, unsent(&failed.list[i]));
}

int pdk__claim_start(struct pdk__claim *claim, struct pdk_client *c, const struct pdk__claim_listener *listener,
                     const struct pdk__claim_spec *spec)
{
    if (c->closing)
        return PDK_ECLOSED;
    if (c->over != 0)
        return c->over;
    int rc = pdk__claim_reserve(c, spec->path);
    if (rc != 0)
        return rc;
    *claim = (struct pdk__claim){.client = c, .listener = listener, .spec = *spec, .due_ms = PDK__NEVER};
    pdk__list_append(&c->claims, &claim->link);
    bool connected = c->session.phase == PDK__SESSION_CONNECTED;
    uint32_t attempt = next_attempt();
    pdk__contender_init(&claim->machine, &c->ops, attempt, c->seed ^ (uint64_t)attempt << 32, c->session.id, connected,
                        !c->session.doubted);
    claim->machine.conditions = spec->conditions;
    pdk__claim_feed(claim, (struct pdk__event){
                               .kind = PDK__EV_ACQUIRE, .try_only = spec->try_only, .deadline_ms = spec->deadline_ms});
    return 0;
}

void pdk__claim_release(struct pdk__claim *claim)
{
    pdk__claim_feed(claim, (struct pdk__event){.kind = PDK__EV_RELEASE});
}

void pdk__claim_expect(struct pdk__claim *claim, int64_t at_ms)
{
    claim->due_ms = at_ms;
    pdk__client_arm(claim->client, at_ms);
}

void pdk__claim_tick(struct pdk__claim *claim)
{
    if (pdk__now_ms() >= claim->due_ms) {
        claim->due_ms = PDK__NEVER;
        claim->listener->due(claim);
    }
    pdk__client_arm(claim->client, claim->due_ms);
    pdk__claim_feed(claim, (struct pdk__event){.kind = PDK__EV_TIMER});
}
