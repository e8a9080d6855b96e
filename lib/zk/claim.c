#include "lib/zk/claim.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/zk/request.h"
#include "lib/zk/stray.h"
#include <string.h>
#include <sys/random.h>

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

static struct pdk__claim *claim_of(struct pdk__member *m) { return PDK__MEMBER(m, struct pdk__claim, member); }

/* --- paths ------------------------------------------------------------------------------------------------------- */

/* The path of our own node, or NULL while it has none (or memory is out). Borrowed until the next event. */
static const char *own_path(struct pdk__claim *claim)
{
    if (claim->machine.node.exists != PDK__NODE_YES)
        return NULL;
    if (claim->own != NULL && strcmp(claim->own + strlen(claim->spec.path) + 1, claim->machine.node.name) == 0)
        return claim->own;
    pdk__free(claim->own);
    return claim->own = pdk__join(claim->spec.path, claim->machine.node.name);
}

/* The path of a sequential create, to which the server adds the number: no node has exactly this path. NULL when memory
 * is out; the caller frees. */
static char *asked_path(const struct pdk__claim *claim)
{
    char name[PDK__NAME_MAX];
    pdk__name_format(name, claim->machine.session.id, claim->machine.attempt, claim->spec.rule->tag);
    return pdk__join(claim->spec.path, name);
}

/* The path of a create under the number of another node. */
static char *numbered_path(const struct pdk__claim *claim)
{
    const struct pdk__contender *machine = &claim->machine;
    char name[PDK__NAME_MAX];
    pdk__name_format_at(name, machine->session.id, machine->attempt, claim->spec.rule->tag,
                        pdk__name_parse(machine->conditions.base).sequence);
    return pdk__join(claim->spec.path, name);
}

static struct pdk__node_data data_of(const struct pdk__claim *claim)
{
    return (struct pdk__node_data){claim->spec.data, claim->spec.data_size};
}

/* --- questions --------------------------------------------------------------------------------------------------- */

static bool watch_predecessor(struct pdk__claim *claim, const struct pdk__action *action)
{
    char *path;
    if (action->by_children)
        path = pdk__strdup(claim->spec.path);
    else if (action->by_exists) /* requested again for the same node, with its whole path */
        path = pdk__strdup(action->name);
    else
        path = pdk__join(claim->spec.path, action->name);
    pdk__free(claim->predecessor);
    claim->predecessor = path;
    claim->unwatched = false;
    if (path != NULL && action->by_children)
        return pdk__wire_watch_children(&claim->wire, action->op, path) == 0;
    return path != NULL && pdk__wire_watch(&claim->wire, action->op, path, action->by_exists) == 0;
}

/* An adopted handle may have watches of the application on the same node, and only all watches of a path can be
 * removed. On a node that is gone no neighbour relies on one. */
static void unwatch_predecessor(struct pdk__claim *claim, bool gone)
{
    struct pdk_client *c = claim->client;
    const char *path = claim->predecessor;
    if (path != NULL && !c->adopted && (gone || !pdk__members_watch(c, path, &claim->member)))
        pdk__request_unwatch(c, path);
    claim->unwatched = true;
}

/* Not without memory for the stray that it may become. Both requests are sent at once: the servers answer a
 * session's requests in order, so the listing contains the node. */
static bool create(struct pdk__claim *claim, uint64_t op)
{
    if (claim->stray == NULL)
        claim->stray = pdk__stray_reserve(claim->spec.path);
    bool sequential = claim->spec.conditions.base[0] == '\0';
    char *path = claim->stray == NULL ? NULL : sequential ? asked_path(claim) : numbered_path(claim);
    bool sent = path != NULL && pdk__wire_create(&claim->wire, op, path, data_of(claim), sequential) == 0 &&
                pdk__wire_list(&claim->wire, op, claim->spec.path) == 0;
    pdk__free(path);
    return sent;
}

static bool barrier(struct pdk__claim *claim, uint64_t op)
{
    char *path = asked_path(claim);
    bool sent = path != NULL && pdk__wire_barrier(&claim->wire, op, path) == 0 &&
                pdk__wire_list(&claim->wire, op, claim->spec.path) == 0;
    pdk__free(path);
    return sent;
}

static bool identify(struct pdk__claim *claim, uint64_t op, const char *name)
{
    char *node = pdk__join(claim->spec.path, name);
    bool sent = node != NULL && pdk__wire_identify(&claim->wire, op, node) == 0;
    pdk__free(node);
    return sent;
}

/* Send the request of an action about our own node. */
static bool put_own(struct pdk__claim *claim, const struct pdk__action *action)
{
    struct pdk__wire *wire = &claim->wire;
    const char *node = own_path(claim);
    if (node == NULL)
        return false;
    if (action->kind == PDK__ACT_OWN)
        return pdk__wire_own(wire, action->op, node, action->by_exists) == 0;
    if (action->kind == PDK__ACT_CONFIRM)
        return pdk__wire_confirm(wire, action->op, node, data_of(claim), action->version, action->revoked) == 0;
    return pdk__wire_delete(wire, action->op, node) == 0;
}

/* Send one action's request. False if nothing was sent, and no reply will come. */
static bool put(struct pdk__claim *claim, const struct pdk__action *action)
{
    struct pdk__wire *wire = &claim->wire;
    const char *path = claim->spec.path;
    switch (action->kind) {
    case PDK__ACT_CREATE:
        return create(claim, action->op);
    case PDK__ACT_PARENTS: /* the path stays if it will have a record */
        return pdk__wire_parents(wire, action->op, path, claim->spec.conditions.lock_delay_ms > 0) == 0;
    case PDK__ACT_BARRIER:
        return barrier(claim, action->op);
    case PDK__ACT_IDENTIFY:
        return identify(claim, action->op, action->name);
    case PDK__ACT_LIST:
        return pdk__wire_list(wire, action->op, path) == 0;
    case PDK__ACT_WATCH:
        return watch_predecessor(claim, action);
    case PDK__ACT_OWN:
    case PDK__ACT_CONFIRM:
    case PDK__ACT_DELETE:
        return put_own(claim, action);
    case PDK__ACT_READ_RECORD:
        return pdk__wire_read(wire, action->op, path) == 0;
    case PDK__ACT_RECORD:
        return pdk__wire_record(wire, action->op, path, claim->machine.node.name, action->version) == 0;
    case PDK__ACT_CLEAR: /* the machine does not wait for the answer */
        pdk__wire_clear(wire, action->op, path, action->version);
        return true;
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
        [PDK__ACT_READ_RECORD] = PDK__EV_RECORD_READ,
        [PDK__ACT_RECORD] = PDK__EV_RECORDED,
        [PDK__ACT_DELETE] = PDK__EV_DELETED,
    };
    return (struct pdk__event){.kind = reply[action->kind], .op = action->op, .outcome = PDK__UNKNOWN};
}

/* --- actions ----------------------------------------------------------------------------------------------------- */

static void finish(struct pdk__claim *claim, int rc)
{
    struct pdk_client *c = claim->client;
    assert(!claim->needs_lease && claim->machine.node.exists != PDK__NODE_YES);
    pdk__wire_end(&claim->wire);
    pdk__member_leave(c, &claim->member, claim->spec.path);
    pdk__free(claim->predecessor);
    pdk__free(claim->own);
    pdk__free(claim->stray);
    claim->predecessor = claim->own = NULL;
    claim->stray = NULL;
    claim->listener->done(claim, rc);
}

static void tell(struct pdk__claim *claim, const struct pdk__action *action)
{
    switch (action->kind) {
    case PDK__ACT_GRANTED:
        assert(action->token > 0 && claim->machine.node.exists == PDK__NODE_YES && claim->needs_lease);
        claim->listener->granted(claim, action->token);
        break;
    case PDK__ACT_FAILED:
        assert(action->error != 0);
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
        unwatch_predecessor(claim, action->gone);
        break;
    case PDK__ACT_STRAY:
        assert(action->attempt != 0);
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

static void note_link(struct pdk__claim *claim)
{
    char why[PDK__REASON_MAX];
    if (pdk__standing_slow(&claim->standing, why))
        claim->listener->hindered(claim, why);
}

/* The session is notified when the client's lock is released (client.c), not in the middle of a step. */
static void count_need(struct pdk__claim *claim)
{
    bool wants = pdk__contender_needs_lease(&claim->machine);
    assert(claim->client->n_needing_lease >= (unsigned)claim->needs_lease);
    claim->client->n_needing_lease += (unsigned)wants - (unsigned)claim->needs_lease;
    claim->needs_lease = wants;
}

/* EVENT need not carry now_ms. */
static void feed(struct pdk__claim *claim, struct pdk__event event)
{
    struct pdk__actions actions, failed = {0};
    enum pdk__phase before = claim->machine.phase;
    assert(pdk__client_locked(claim->client) && claim->member.calls != NULL); /* it is not done */
    event.now_ms = pdk__now_ms();
    if (claim->machine.spare == 0)
        claim->machine.spare = next_attempt();
    pdk__contender_step(&claim->machine, &event, &actions);
    pdk__standing_step(&claim->standing, before, &event, &actions);
    if (claim->client->unfit)
        note_link(claim);
    count_need(claim);
    pdk__client_arm(claim->client, pdk__contender_wake_ms(&claim->machine));
    for (size_t i = 0; i < actions.n; i++) {
        struct pdk__action *action = &actions.list[i];
        if (!put(claim, action))
            failed.list[failed.n++] = *action;
        tell(claim, action);
    }
    for (size_t i = 0; i < failed.n; i++) /* a machine that waits for a reply is not done, so the claim still exists */
        feed(claim, unsent(&failed.list[i]));
}

/* --- as a wire's owner, and as a member -------------------------------------------------------------------------- */

static void replied(struct pdk__wire *wire, const struct pdk__wire_reply *reply)
{
    struct pdk__claim *claim = PDK__MEMBER(wire, struct pdk__claim, wire);
    struct pdk__event event = reply->event;
    assert(event.op != 0);
    if (event.children != NULL && event.outcome == PDK__OK) /* first, because the claim may end with its event */
        pdk__stray_listed(claim->client, claim->spec.path, event.children, event.n_children);
    if (event.kind == PDK__EV_WATCHED) {
        pdk__standing_predecessor(&claim->standing, reply->who);
        event.name = claim->predecessor;
    }
    const char *own = reply->bare && claim->spec.data_size > 0 ? own_path(claim) : NULL;
    if (own != NULL)
        pdk__wire_restore(wire, own, data_of(claim), event.version);
    feed(claim, event);
}

static void session(struct pdk__member *m, const struct pdk__event *event) { feed(claim_of(m), *event); }

static void tick(struct pdk__member *m) { pdk__claim_tick(claim_of(m)); }

static void fired(struct pdk__member *m, const char *path, enum pdk__node_change change)
{
    struct pdk__claim *claim = claim_of(m);
    struct pdk__event event = {.deleted = change == PDK__NODE_DELETED};
    const char *own = own_path(claim);
    bool children = claim->spec.rule->by_children && strcmp(claim->spec.path, path) == 0;
    if (change == PDK__NODE_OTHER && !children)
        return;
    if (own != NULL && strcmp(own, path) == 0) {
        event.kind = PDK__EV_OWN_FIRED;
        event.op = claim->machine.node.watch_op;
    } else if (claim->predecessor != NULL && strcmp(claim->predecessor, path) == 0) {
        event.kind = PDK__EV_FIRED;
        event.deleted = event.deleted && !children; /* the path itself is deleted: a listing tells */
        event.op = claim->machine.op;
    } else {
        return;
    }
    feed(claim, event);
}

static bool watches(struct pdk__member *m, const char *path)
{
    struct pdk__claim *claim = claim_of(m);
    const char *own = own_path(claim);
    const char *watched = claim->machine.queue.watching && !claim->unwatched ? claim->predecessor : NULL;
    return (watched != NULL && strcmp(watched, path) == 0) || (own != NULL && strcmp(own, path) == 0);
}

static void hindered(struct pdk__member *m, enum pdk__hindrance what, const char *why)
{
    struct pdk__claim *claim = claim_of(m);
    if (what == PDK__LINK_SLOW)
        note_link(claim);
    else if (claim->needs_lease)
        claim->listener->hindered(claim, why);
}

static char *vacant_path(struct pdk__member *m)
{
    struct pdk__claim *claim = claim_of(m);
    return claim->needs_lease ? asked_path(claim) : NULL;
}

static const struct pdk__member_calls calls = {.session = session,
                                               .tick = tick,
                                               .fired = fired,
                                               .watches = watches,
                                               .hindered = hindered,
                                               .vacant_path = vacant_path,
                                               .awaited = true};

/* --- what the recipes call --------------------------------------------------------------------------------------- */

int pdk__claim_start(struct pdk__claim *claim, struct pdk_client *c, const struct pdk__claim_listener *listener,
                     const struct pdk__claim_spec *spec)
{
    assert(spec->path[0] == '/' && (spec->data != NULL || spec->data_size == 0));
    int rc = pdk__member_may_join(c, spec->path);
    if (rc != 0)
        return rc;
    *claim = (struct pdk__claim){.client = c, .listener = listener, .spec = *spec, .due_ms = PDK__NEVER};
    claim->wire = (struct pdk__wire){.client = c, .reply = replied};
    claim->standing = (struct pdk__standing){.client = c, .path = spec->path, .machine = &claim->machine};
    pdk__member_join(c, &claim->member, &calls, spec->path);
    bool connected = c->session.phase == PDK__SESSION_CONNECTED;
    uint32_t attempt = next_attempt();
    pdk__contender_init(&claim->machine, &c->ops, spec->rule, attempt, c->seed ^ (uint64_t)attempt << 32, c->session.id,
                        connected, !c->session.lease_low);
    claim->machine.conditions = spec->conditions;
    feed(claim,
         (struct pdk__event){.kind = PDK__EV_ACQUIRE, .try_only = spec->try_only, .deadline_ms = spec->deadline_ms});
    return 0;
}

void pdk__claim_release(struct pdk__claim *claim) { feed(claim, (struct pdk__event){.kind = PDK__EV_RELEASE}); }

void pdk__claim_expect(struct pdk__claim *claim, int64_t at_ms)
{
    claim->due_ms = at_ms;
    pdk__client_arm(claim->client, at_ms);
}

void pdk__claim_judge_again(struct pdk__claim *claim) { feed(claim, (struct pdk__event){.kind = PDK__EV_RULE}); }

void pdk__claim_tick(struct pdk__claim *claim)
{
    if (pdk__now_ms() >= claim->due_ms) {
        claim->due_ms = PDK__NEVER;
        claim->listener->due(claim);
    }
    pdk__client_arm(claim->client, claim->due_ms);
    feed(claim, (struct pdk__event){.kind = PDK__EV_TIMER});
}
