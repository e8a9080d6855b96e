#include "lib/zk/participant.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/zk/request.h"
#include "lib/zk/stray.h"
#include <string.h>

static struct pdk__participant *participant_at(struct pdk__agent *a)
{
    return PDK__MEMBER(a, struct pdk__participant, agent);
}

static struct pdk__participant *participant_of(struct pdk__member *m)
{
    return PDK__MEMBER(m, struct pdk__participant, agent.member);
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
        p->machine.double_barrier.spare = pdk__members_attempt(p->agent.client);
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
    return name != NULL ? pdk__join(p->agent.path, name) : pdk__strdup(p->agent.path);
}

/* A member's node is not created without memory for the stray that it may become. */
static bool create(struct pdk__participant *p, const struct pdk__action *action, const char *path)
{
    if (action->attempt == 0)
        return pdk__wire_create_persistent(&p->agent.wire, action->op, path, p->data) == 0;
    return pdk__agent_reserve(&p->agent) && pdk__wire_create(&p->agent.wire, action->op, path, p->data, false) == 0;
}

/* The ancestors of the node: the path itself is one of them where the node is under it. */
static bool make_parents(struct pdk__participant *p, uint64_t op)
{
    char *path = pdk__strdup(p->agent.path);
    if (path == NULL)
        return false;
    char *slash = strrchr(path, '/');
    assert(slash != NULL);
    if (p->kind->is_path)
        slash[slash == path] = '\0'; /* the root has no name before its slash */
    bool sent = pdk__wire_parents(&p->agent.wire, op, path, false, true) == 0;
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
    pdk__agent_keep(&p->agent, &p->watched, &p->entry, path);
}

static bool watch(struct pdk__participant *p, const struct pdk__action *action)
{
    forget_names(p);
    if (action->name != NULL || p->watched == NULL) { /* without a name: that node again, by exists */
        set_watched(p, path_of(p, action->name));
    }
    p->watching = p->watched != NULL;
    return p->watching && pdk__wire_watch(&p->agent.wire, action->op, p->watched, action->by_exists) == 0;
}

static bool identify(struct pdk__participant *p, const struct pdk__action *action)
{
    set_watched(p, path_of(p, action->name));
    return p->watched != NULL && pdk__wire_identify(&p->agent.wire, action->op, p->watched) == 0;
}

/* Send the write of an action about one node. */
static bool put_node(struct pdk__participant *p, const struct pdk__action *action)
{
    char *path = path_of(p, action->name);
    bool sent = false;
    if (path != NULL && action->kind == PDK__ACT_CREATE)
        sent = create(p, action, path);
    else if (path != NULL)
        sent = pdk__wire_delete(&p->agent.wire, action->op, path) == 0;
    pdk__free(path);
    return sent;
}

/* A look at the barrier itself is a look at the present: our server may lag behind the one that was told to set it. */
static bool catch_up(struct pdk__participant *p, const struct pdk__action *action)
{
    bool looks = action->kind == PDK__ACT_WATCH || action->kind == PDK__ACT_IDENTIFY;
    return !looks || !p->kind->is_path || pdk__request_flush(p->agent.client, p->agent.path);
}

/* The last listing will do. */
static bool has_kept(const struct pdk__participant *p, const struct pdk__action *action)
{
    return action->kept && p->names != NULL;
}

/* Send one action's request. False if nothing was sent, and no reply will come. */
static bool put(struct pdk__agent *a, const struct pdk__action *action)
{
    struct pdk__participant *p = participant_at(a);
    if (!catch_up(p, action) || has_kept(p, action))
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
        return pdk__wire_list_dated(&p->agent.wire, action->op, p->agent.path) == 0;
    case PDK__ACT_WATCH:
        return watch(p, action);
    default:
        return true;
    }
}

static bool awaits(const struct pdk__agent *a, uint64_t op)
{
    const struct pdk__participant *p = PDK__MEMBER(a, struct pdk__participant, agent);
    return (p->kind->is_path ? p->machine.barrier.op : p->machine.double_barrier.op) == op;
}

/* The name of the node that was read last. */
static const char *last_read(const struct pdk__participant *p)
{
    return p->watched != NULL && !p->kind->is_path ? p->watched + strlen(p->agent.path) + 1 : NULL;
}

static bool known(struct pdk__agent *a, const struct pdk__action *action, struct pdk__event *event)
{
    struct pdk__participant *p = participant_at(a);
    if (!has_kept(p, action))
        return false;
    *event = (struct pdk__event){.kind = PDK__EV_LISTED,
                                 .op = action->op,
                                 .children = (const char *const *)p->names,
                                 .n_children = p->n_names,
                                 .name = last_read(p)};
    return true;
}

/* --- actions ----------------------------------------------------------------------------------------------------- */

static void done(struct pdk__agent *a, int error)
{
    struct pdk__participant *p = participant_at(a);
    set_watched(p, NULL);
    forget_names(p);
    p->listener->done(p, error);
}

static void tell(struct pdk__agent *a, const struct pdk__action *action)
{
    struct pdk__participant *p = participant_at(a);
    switch (action->kind) {
    case PDK__ACT_GRANTED:
        forget_names(p);
        p->listener->entered(p);
        break;
    case PDK__ACT_FAILED:
        forget_names(p);
        p->listener->failed(p, action->error);
        break;
    case PDK__ACT_LOST:
        p->listener->lost(p);
        break;
    case PDK__ACT_UNWATCH:
        p->watching = false;
        pdk__agent_unwatch(a, p->watched);
        break;
    default:
        break;
    }
}

static void step(struct pdk__agent *a, const struct pdk__event *event, struct pdk__actions *actions)
{
    participant_at(a)->kind->step(participant_at(a), event, actions);
}

static int64_t wake_ms(const struct pdk__agent *a)
{
    const struct pdk__participant *p = PDK__MEMBER(a, struct pdk__participant, agent);
    return p->kind->wake_ms(p);
}

/* --- as an agent's owner, and as a member of the client ----------------------------------------------------------- */

static void complete(struct pdk__agent *a, const struct pdk__wire_reply *reply, struct pdk__event *event)
{
    struct pdk__participant *p = participant_at(a);
    (void)reply;
    if (event->kind != PDK__EV_LISTED)
        return;
    if (event->outcome == PDK__OK)
        keep_names(p, event);
    event->name = last_read(p);
}

static const struct pdk__agent_machine agent_machine = {.step = step,
                                                        .wake_ms = wake_ms,
                                                        .put = put,
                                                        .awaits = awaits,
                                                        .known = known,
                                                        .tell = tell,
                                                        .complete = complete,
                                                        .done = done};

static void feed(struct pdk__participant *p, struct pdk__event event) { pdk__agent_feed(&p->agent, event); }

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
    const struct pdk__participant *p = PDK__MEMBER(m, struct pdk__participant, agent.member);
    const struct pdk__double_barrier *b = &p->machine.double_barrier;
    return p->kind == &double_barrier && (b->attempt == attempt || b->spare == attempt);
}

static const struct pdk__member_calls calls = {.session = pdk__agent_session,
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
    int rc = pdk__agent_join(&p->agent, c, &agent_machine, &calls, path);
    if (rc != 0)
        return rc;
    *p = (struct pdk__participant){.agent = p->agent, .listener = listener, .kind = kind, .data = data};
    p->agent.wire.awaits_nodes = true;
    return 0;
}

static void acquire(struct pdk__participant *p, const struct pdk__participant_wish *wish)
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
    acquire(p, wish);
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
    acquire(p, wish);
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
