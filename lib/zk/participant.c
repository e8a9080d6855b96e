#include "lib/zk/participant.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/zk/request.h"
#include "lib/zk/stray.h"
#include <string.h>

static struct pdk__participant *participant_of(struct pdk__member *m)
{
    return PDK__MEMBER(m, struct pdk__participant, member);
}

/* --- the two machines -------------------------------------------------------------------------------------------- */

struct pdk__participant_machine {
    void (*step)(struct pdk__participant *p, const struct pdk__event *event, struct pdk__actions *actions);
    int64_t (*wake_ms)(const struct pdk__participant *p);
    bool is_path; /* its node is the path itself */
};

static void step_barrier(struct pdk__participant *p, const struct pdk__event *event, struct pdk__actions *actions)
{
    pdk__barrier_step(&p->machine.barrier, event, actions);
}

static int64_t wake_barrier(const struct pdk__participant *p) { return pdk__barrier_wake_ms(&p->machine.barrier); }

static const struct pdk__participant_machine barrier = {step_barrier, wake_barrier, true};

static void step_double(struct pdk__participant *p, const struct pdk__event *event, struct pdk__actions *actions)
{
    if (p->machine.double_barrier.spare == 0)
        p->machine.double_barrier.spare = pdk__members_attempt(p->client);
    pdk__double_barrier_step(&p->machine.double_barrier, event, actions);
}

static int64_t wake_double(const struct pdk__participant *p)
{
    return pdk__double_barrier_wake_ms(&p->machine.double_barrier);
}

static const struct pdk__participant_machine double_barrier = {step_double, wake_double, false};

/* --- questions --------------------------------------------------------------------------------------------------- */

/* The path of NAME, NULL for the barrier's own node. NULL when memory is out; the caller frees. */
static char *path_of(const struct pdk__participant *p, const char *name)
{
    return name != NULL ? pdk__join(p->path, name) : pdk__strdup(p->path);
}

/* A member's node is not created without memory for the stray that it may become. */
static bool create(struct pdk__participant *p, const struct pdk__action *action, const char *path)
{
    if (action->attempt == 0)
        return pdk__wire_create_persistent(&p->wire, action->op, path, p->data) == 0;
    if (p->stray == NULL)
        p->stray = pdk__stray_reserve(p->path);
    return p->stray != NULL && pdk__wire_create(&p->wire, action->op, path, p->data, false) == 0;
}

/* The ancestors of the node: the path itself is one of them where the node is under it. */
static bool make_parents(struct pdk__participant *p, uint64_t op)
{
    char *path = pdk__strdup(p->path);
    if (path == NULL)
        return false;
    char *slash = strrchr(path, '/');
    assert(slash != NULL);
    if (p->kind->is_path)
        slash[slash == path] = '\0'; /* the root has no name before its slash */
    bool sent = pdk__wire_parents(&p->wire, op, path, false, true) == 0;
    pdk__free(path);
    return sent;
}

static void forget_names(struct pdk__participant *p)
{
    for (size_t i = 0; i < p->n_names; i++)
        pdk__free(p->names[i]);
    pdk__free(p->names);
    p->names = NULL;
    p->n_names = 0;
}

/* Of a listing from which the machine may go on. Without memory for them it lists again. */
static void keep_names(struct pdk__participant *p, const struct pdk__event *listed)
{
    const struct pdk__double_barrier *b = &p->machine.double_barrier;
    forget_names(p);
    if (p->kind->is_path || b->phase != PDK__MEMBER_COUNTING || b->admitted || listed->n_children <= b->count)
        return;
    p->names = pdk__alloc(listed->n_children * sizeof *p->names);
    while (p->names != NULL && p->n_names < listed->n_children) {
        p->names[p->n_names] = pdk__strdup(listed->children[p->n_names]);
        if (p->names[p->n_names] != NULL)
            p->n_names++;
        else
            forget_names(p);
    }
}

/* Takes PATH. */
static void set_watched(struct pdk__participant *p, char *path)
{
    pdk__index_note(&p->client->index, &p->entry, &p->member, path);
    pdk__free(p->watched);
    p->watched = path;
}

static bool watch(struct pdk__participant *p, const struct pdk__action *action)
{
    forget_names(p);
    if (action->name != NULL || p->watched == NULL) { /* without a name: that node again, by exists */
        set_watched(p, path_of(p, action->name));
    }
    p->watching = p->watched != NULL;
    return p->watching && pdk__wire_watch(&p->wire, action->op, p->watched, action->by_exists) == 0;
}

static bool identify(struct pdk__participant *p, const struct pdk__action *action)
{
    set_watched(p, path_of(p, action->name));
    return p->watched != NULL && pdk__wire_identify(&p->wire, action->op, p->watched) == 0;
}

/* An adopted handle may have watches of the application on the same node, and only all watches of a path can be
 * removed. */
static void unwatch(struct pdk__participant *p)
{
    p->watching = false;
    if (p->watched != NULL && !p->client->adopted && !pdk__members_watch(p->client, p->watched, &p->member))
        pdk__request_unwatch(p->client, p->watched);
}

/* Send the write of an action about one node. */
static bool put_node(struct pdk__participant *p, const struct pdk__action *action)
{
    char *path = path_of(p, action->name);
    bool sent = false;
    if (path != NULL && action->kind == PDK__ACT_CREATE)
        sent = create(p, action, path);
    else if (path != NULL)
        sent = pdk__wire_delete(&p->wire, action->op, path) == 0;
    pdk__free(path);
    return sent;
}

/* A look at the barrier itself is a look at the present: our server may lag behind the one that was told to set it. */
static bool catch_up(struct pdk__participant *p, const struct pdk__action *action)
{
    bool looks = action->kind == PDK__ACT_WATCH || action->kind == PDK__ACT_IDENTIFY;
    return !looks || !p->kind->is_path || pdk__request_flush(p->client, p->path);
}

/* Send one action's request. False if nothing was sent, and no reply will come. */
static bool put(struct pdk__participant *p, const struct pdk__action *action)
{
    if (!catch_up(p, action))
        return false;
    switch (action->kind) {
    case PDK__ACT_CREATE:
    case PDK__ACT_DELETE:
        return put_node(p, action);
    case PDK__ACT_IDENTIFY:
        return identify(p, action);
    case PDK__ACT_PARENTS:
        return make_parents(p, action->op);
    case PDK__ACT_LIST:
        return pdk__wire_list_dated(&p->wire, action->op, p->path) == 0;
    case PDK__ACT_WATCH:
        return watch(p, action);
    default:
        return true;
    }
}

/* The event in place of the reply to a request that could not be sent. */
static struct pdk__event unsent(const struct pdk__action *action)
{
    static const enum pdk__event_kind reply[] = {
        [PDK__ACT_CREATE] = PDK__EV_CREATED, [PDK__ACT_PARENTS] = PDK__EV_MADE_PARENTS,
        [PDK__ACT_LIST] = PDK__EV_LISTED,    [PDK__ACT_IDENTIFY] = PDK__EV_IDENTIFIED,
        [PDK__ACT_WATCH] = PDK__EV_WATCHED,  [PDK__ACT_DELETE] = PDK__EV_DELETED,
    };
    return (struct pdk__event){.kind = reply[action->kind], .op = action->op, .outcome = PDK__UNKNOWN};
}

/* The name of the node that was read last. */
static const char *last_read(const struct pdk__participant *p)
{
    return p->watched != NULL && !p->kind->is_path ? p->watched + strlen(p->path) + 1 : NULL;
}

static struct pdk__event kept_listing(const struct pdk__participant *p, uint64_t op)
{
    return (struct pdk__event){.kind = PDK__EV_LISTED,
                               .op = op,
                               .children = (const char *const *)p->names,
                               .n_children = p->n_names,
                               .name = last_read(p)};
}

/* --- actions ----------------------------------------------------------------------------------------------------- */

static void finish(struct pdk__participant *p, int rc)
{
    pdk__wire_end(&p->wire);
    pdk__member_leave(p->client, &p->member);
    set_watched(p, NULL);
    forget_names(p);
    pdk__free(p->stray);
    p->stray = NULL;
    p->listener->done(p, rc);
}

static void tell(struct pdk__participant *p, const struct pdk__action *action)
{
    switch (action->kind) {
    case PDK__ACT_GRANTED:
        forget_names(p);
        p->listener->entered(p);
        break;
    case PDK__ACT_FAILED:
        assert(action->error != 0);
        forget_names(p);
        p->listener->failed(p, action->error);
        break;
    case PDK__ACT_LOST:
        p->listener->lost(p);
        break;
    case PDK__ACT_UNWATCH:
        unwatch(p);
        break;
    case PDK__ACT_STRAY:
        assert(action->attempt != 0);
        if (p->stray != NULL) /* without memory for it no create was sent */
            pdk__stray_keep(p->client, p->stray, action->attempt);
        p->stray = NULL;
        break;
    case PDK__ACT_DONE:
        finish(p, action->error);
        break;
    default:
        break;
    }
}

/* EVENT need not carry now_ms. */
static void feed(struct pdk__participant *p, struct pdk__event event)
{
    struct pdk__actions actions;
    struct pdk__event next = {0};
    assert(pdk__client_locked(p->client) && p->member.calls != NULL); /* it is not done */
    event.now_ms = pdk__now_ms();
    p->kind->step(p, &event, &actions);
    pdk__client_arm(p->client, p->kind->wake_ms(p));
    for (size_t i = 0; i < actions.n; i++) {
        struct pdk__action *action = &actions.list[i];
        assert(next.op == 0 || action->op == 0); /* one request at a time */
        if (action->kept && p->names != NULL)
            next = kept_listing(p, action->op);
        else if (!put(p, action))
            next = unsent(action);
        tell(p, action);
    }
    if (next.op != 0) /* a machine that waits for a reply is not done, so the participant still exists */
        feed(p, next);
}

/* --- as a wire's owner, and as a member of the client ------------------------------------------------------------ */

static void replied(struct pdk__wire *wire, const struct pdk__wire_reply *reply)
{
    struct pdk__participant *p = PDK__MEMBER(wire, struct pdk__participant, wire);
    struct pdk__event event = reply->event;
    if (event.kind == PDK__EV_LISTED) {
        if (event.outcome == PDK__OK) /* first, because the participant may end with its event */
            pdk__stray_listed(p->client, p->path, event.children, event.n_children);
        if (event.outcome == PDK__OK)
            keep_names(p, &event);
        event.name = last_read(p);
    }
    feed(p, event);
}

static void session(struct pdk__member *m, const struct pdk__event *event) { feed(participant_of(m), *event); }

static void tick(struct pdk__member *m) { pdk__participant_tick(participant_of(m)); }

static bool watches(struct pdk__member *m, const char *path)
{
    const struct pdk__participant *p = participant_of(m);
    return p->watching && strcmp(p->watched, path) == 0;
}

static void fired(struct pdk__member *m, const char *path, enum pdk__node_change change)
{
    if (watches(m, path))
        feed(participant_of(m), (struct pdk__event){.kind = PDK__EV_FIRED, .deleted = change == PDK__NODE_DELETED});
}

static bool look_again(struct pdk__member *m)
{
    struct pdk__participant *p = participant_of(m);
    bool watching = p->watching;
    if (watching)
        feed(p, (struct pdk__event){.kind = PDK__EV_LOOK_AGAIN});
    return watching;
}

static bool uses(const struct pdk__member *m, uint32_t attempt)
{
    const struct pdk__participant *p = PDK__MEMBER(m, struct pdk__participant, member);
    const struct pdk__double_barrier *b = &p->machine.double_barrier;
    return p->kind == &double_barrier && (b->attempt == attempt || b->spare == attempt);
}

static const struct pdk__member_calls calls = {.session = session,
                                               .tick = tick,
                                               .fired = fired,
                                               .watches = watches,
                                               .look_again = look_again,
                                               .uses = uses,
                                               .awaited = true};

/* --- what the recipes call --------------------------------------------------------------------------------------- */

static int join(struct pdk__participant *p, struct pdk_client *c, const struct pdk__participant_listener *listener,
                const char *path, struct pdk__node_data data, const struct pdk__participant_machine *kind)
{
    int rc = pdk__member_may_join(c, path);
    if (rc != 0)
        return rc;
    *p = (struct pdk__participant){.client = c, .listener = listener, .kind = kind, .path = path, .data = data};
    p->wire = (struct pdk__wire){.client = c, .awaits_nodes = true, .reply = replied};
    pdk__member_join(c, &p->member, &calls, path);
    return 0;
}

static void begin(struct pdk__participant *p, const struct pdk__participant_wish *wish)
{
    feed(p, (struct pdk__event){.kind = PDK__EV_ACQUIRE, .try_only = wish->once, .deadline_ms = wish->deadline_ms});
}

static bool connected(const struct pdk_client *c) { return c->session.phase == PDK__SESSION_CONNECTED; }

int pdk__participant_call(struct pdk__participant *p, struct pdk_client *c,
                          const struct pdk__participant_listener *listener, const char *path,
                          struct pdk__node_data data, enum pdk__barrier_task task,
                          const struct pdk__participant_wish *wish)
{
    int rc = join(p, c, listener, path, data, &barrier);
    if (rc != 0)
        return rc;
    pdk__barrier_init(&p->machine.barrier, &c->ops, task, c->seed ^ c->ops << 32, connected(c));
    begin(p, wish);
    return 0;
}

int pdk__participant_enter(struct pdk__participant *p, struct pdk_client *c,
                           const struct pdk__participant_listener *listener, const char *path,
                           struct pdk__node_data data, size_t count, const struct pdk__participant_wish *wish)
{
    int rc = join(p, c, listener, path, data, &double_barrier);
    if (rc != 0)
        return rc;
    uint32_t attempt = pdk__members_attempt(c);
    pdk__double_barrier_init(&p->machine.double_barrier, &c->ops, count, attempt, c->seed ^ (uint64_t)attempt << 32,
                             c->session.id, connected(c));
    begin(p, wish);
    return 0;
}

void pdk__participant_release(struct pdk__participant *p, const struct pdk__participant_wish *wish)
{
    struct pdk__event event = {.kind = PDK__EV_RELEASE, .deadline_ms = PDK__NEVER};
    if (wish != NULL) {
        event.try_only = wish->once;
        event.deadline_ms = wish->deadline_ms;
    }
    feed(p, event);
}

void pdk__participant_tick(struct pdk__participant *p) { feed(p, (struct pdk__event){.kind = PDK__EV_TIMER}); }

int64_t pdk__participant_wake_ms(const struct pdk__participant *p) { return p->kind->wake_ms(p); }
