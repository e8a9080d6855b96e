#include "lib/zk/claim.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/zk/request.h"
#include "lib/zk/reset.h"
#include "lib/zk/stray.h"
#include <string.h>

static struct pdk__claim *claim_of(struct pdk__member *m) { return PDK__MEMBER(m, struct pdk__claim, agent.member); }

static struct pdk__claim *claim_at(struct pdk__agent *a) { return PDK__MEMBER(a, struct pdk__claim, agent); }

/* --- paths ------------------------------------------------------------------------------------------------------- */

/* The path of our own node, if it has been made out: a watch on it was requested by that. */
static const char *noted_path(const struct pdk__claim *claim)
{
    if (claim->machine.node.exists != PDK__NODE_YES || claim->own == NULL)
        return NULL;
    return strcmp(claim->own + strlen(claim->agent.path) + 1, claim->machine.node.name) == 0 ? claim->own : NULL;
}

/* The path of our own node, or NULL while it has none (or memory is out). Borrowed until the next event. */
static const char *own_path(struct pdk__claim *claim)
{
    if (claim->machine.node.exists != PDK__NODE_YES || noted_path(claim) != NULL)
        return noted_path(claim);
    pdk__agent_keep(&claim->agent, &claim->own, &claim->own_entry,
                    pdk__join(claim->agent.path, claim->machine.node.name));
    return claim->own;
}

/* The path of a sequential create, to which the server adds the number: no node has exactly this path. NULL when memory
 * is out; the caller frees. */
static char *asked_path(const struct pdk__claim *claim)
{
    char name[PDK__NAME_MAX];
    pdk__name_format(name, claim->machine.session.id, claim->machine.attempt, claim->wish->rule->tag);
    return pdk__join(claim->agent.path, name);
}

/* The path of a create under the number of another node. */
static char *numbered_path(const struct pdk__claim *claim)
{
    const struct pdk__contender *machine = &claim->machine;
    char name[PDK__NAME_MAX];
    pdk__name_format_at(name, machine->session.id, machine->attempt, claim->wish->rule->tag,
                        pdk__name_parse(claim->wish->base).sequence);
    return pdk__join(claim->agent.path, name);
}

static struct pdk__node_data data_of(const struct pdk__claim *claim)
{
    return (struct pdk__node_data){claim->wish->data, claim->wish->data_size};
}

/* --- questions --------------------------------------------------------------------------------------------------- */

/* A predecessor of another recipe can have a longer name than ours. A holder has none. The watch of the children of a
 * path outlasts the wait. */
static void charge(struct pdk__claim *claim)
{
    struct pdk_client *c = claim->agent.client;
    bool waits = !pdk__phase_grants(claim->machine.phase) || claim->wish->rule->by_children;
    size_t node = pdk__member_node_cost(c, claim->agent.path), watch = waits ? node : 0;
    if (waits && claim->predecessor != NULL && pdk__member_watch_cost(c, claim->predecessor) > node)
        watch = pdk__member_watch_cost(c, claim->predecessor);
    pdk__member_charge(c, &claim->agent.member, node + watch);
}

static void unwatch_predecessor(struct pdk__claim *claim)
{
    pdk__agent_unwatch(&claim->agent, claim->predecessor);
    claim->unwatched = true;
}

/* NEXT is to be watched in its place; NULL: memory is out. */
static void leave_predecessor(struct pdk__claim *claim, const char *next)
{
    if (claim->predecessor != NULL && next != NULL && strcmp(claim->predecessor, next) != 0)
        unwatch_predecessor(claim);
}

static bool watch_predecessor(struct pdk__claim *claim, const struct pdk__action *action)
{
    char *path;
    if (action->by_children)
        path = pdk__strdup(claim->agent.path);
    else if (action->name == NULL) /* the same again */
        path = claim->predecessor != NULL ? pdk__strdup(claim->predecessor) : NULL;
    else if (action->by_exists) /* requested again for the same node, with its whole path */
        path = pdk__strdup(action->name);
    else
        path = pdk__join(claim->agent.path, action->name);
    if (action->again)
        leave_predecessor(claim, path);
    pdk__agent_keep(&claim->agent, &claim->predecessor, &claim->predecessor_entry, path);
    claim->unwatched = false;
    charge(claim);
    if (path != NULL && action->by_children)
        return pdk__wire_watch_children(&claim->agent.wire, action->op, path) == 0;
    return path != NULL && pdk__wire_watch(&claim->agent.wire, action->op, path, action->by_exists) == 0;
}

/* By a holder, who has room for it: it waits for no predecessor any more. */
static bool watch_rivals(struct pdk__claim *claim, uint64_t op)
{
    const char *path = claim->agent.path;
    struct pdk_client *c = claim->agent.client;
    pdk__index_note(&c->index, &claim->rivals_entry, &claim->agent.member, path);
    pdk__member_charge(c, &claim->agent.member, pdk__member_node_cost(c, path) + pdk__member_watch_cost(c, path));
    return pdk__wire_watch_children(&claim->agent.wire, op, path) == 0;
}

/* Together with the batch; false without memory for PATH. */
static bool ask_with_others(struct pdk__claim *claim, enum pdk__batch_wish wish, uint64_t op, char *path)
{
    if (path != NULL)
        pdk__batch_ask(&claim->seat, wish, op, path);
    return path != NULL;
}

/* Not without memory for the stray that it may become. Both requests are sent at once: the servers answer a
 * session's requests in order, so the listing contains the node. */
static bool create(struct pdk__claim *claim, uint64_t op)
{
    if (!pdk__agent_reserve(&claim->agent))
        return false;
    if (claim->site.batch != NULL)
        return ask_with_others(claim, PDK__BATCH_CREATE, op, asked_path(claim));
    bool sequential = claim->wish->base == NULL;
    char *path = sequential ? asked_path(claim) : numbered_path(claim);
    bool sent = path != NULL && pdk__wire_create(&claim->agent.wire, op, path, data_of(claim), sequential) == 0 &&
                pdk__wire_list(&claim->agent.wire, op, claim->agent.path) == 0;
    pdk__free(path);
    return sent;
}

static bool barrier(struct pdk__claim *claim, uint64_t op)
{
    char *path = asked_path(claim);
    bool sent = path != NULL && pdk__wire_barrier(&claim->agent.wire, op, path) == 0 &&
                pdk__wire_list(&claim->agent.wire, op, claim->agent.path) == 0;
    pdk__free(path);
    return sent;
}

static bool identify(struct pdk__claim *claim, uint64_t op, const char *name)
{
    char *node = pdk__join(claim->agent.path, name);
    bool sent = node != NULL && pdk__wire_identify(&claim->agent.wire, op, node) == 0;
    pdk__free(node);
    return sent;
}

/* Send the request of an action about our own node. */
static bool put_own(struct pdk__claim *claim, const struct pdk__action *action)
{
    struct pdk__wire *wire = &claim->agent.wire;
    const char *node = own_path(claim);
    if (node == NULL)
        return false;
    if (action->kind == PDK__ACT_OWN)
        return pdk__wire_own(wire, action->op, node, action->by_exists) == 0;
    if (action->kind == PDK__ACT_CONFIRM)
        return pdk__wire_confirm(wire, action->op, node, data_of(claim), action->version, action->revoked) == 0;
    if (claim->site.batch != NULL)
        return ask_with_others(claim, PDK__BATCH_DELETE, action->op, pdk__strdup(node));
    return pdk__wire_delete(wire, action->op, node) == 0;
}

static bool awaits(const struct pdk__agent *a, uint64_t op)
{
    return PDK__MEMBER(a, struct pdk__claim, agent)->machine.op == op;
}

/* A contender whose path was missing has waited before. */
static bool urgent(const struct pdk__agent *a)
{
    return PDK__MEMBER(a, struct pdk__claim, agent)->machine.node.parent_tries > 0;
}

/* Send one action's request. False if nothing was sent, and no reply will come. */
static bool put(struct pdk__agent *a, const struct pdk__action *action)
{
    struct pdk__claim *claim = claim_at(a);
    struct pdk__wire *wire = &claim->agent.wire;
    const char *path = claim->agent.path;
    switch (action->kind) {
    case PDK__ACT_CREATE:
        return create(claim, action->op);
    case PDK__ACT_PARENTS: /* the path stays if it will have a record */
        return pdk__wire_parents(wire, action->op, path, claim->wish->conditions->lock_delay_ms > 0, action->all) == 0;
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
    case PDK__ACT_RIVALS:
        return watch_rivals(claim, action->op);
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

/* --- actions ----------------------------------------------------------------------------------------------------- */

static void report(struct pdk__claim *claim, enum pdk__report_kind kind)
{
    claim->reported(claim, &(struct pdk__report){.kind = kind});
}

static void done(struct pdk__agent *a, int error)
{
    struct pdk__claim *claim = claim_at(a);
    assert(!claim->needs_lease && claim->machine.node.exists != PDK__NODE_YES);
    if (claim->site.batch != NULL)
        pdk__batch_leave(&claim->seat);
    pdk__agent_keep(a, &claim->predecessor, &claim->predecessor_entry, NULL);
    pdk__agent_keep(a, &claim->own, &claim->own_entry, NULL);
    pdk__index_drop(&a->client->index, &claim->rivals_entry);
    pdk__release_end(a->client, &claim->release);
    claim->reported(claim, &(struct pdk__report){.kind = PDK__REPORT_DONE, .rc = error});
}

static void tell(struct pdk__agent *a, const struct pdk__action *action)
{
    struct pdk__claim *claim = claim_at(a);
    switch (action->kind) {
    case PDK__ACT_GRANTED:
        assert(action->token > 0 && claim->machine.node.exists == PDK__NODE_YES && claim->needs_lease);
        charge(claim);
        claim->reported(claim, &(struct pdk__report){.kind = PDK__REPORT_GRANTED, .token = action->token});
        break;
    case PDK__ACT_FAILED:
        pdk__release_begin(claim->agent.client, &claim->release);
        claim->reported(claim, &(struct pdk__report){.kind = PDK__REPORT_FAILED, .rc = action->error});
        break;
    case PDK__ACT_LOST:
        pdk__release_begin(claim->agent.client, &claim->release);
        report(claim, PDK__REPORT_LOST);
        break;
    case PDK__ACT_SUSPECT:
        report(claim, PDK__REPORT_SUSPECT);
        break;
    case PDK__ACT_HELD:
        report(claim, PDK__REPORT_HELD);
        break;
    case PDK__ACT_REVOKED:
        report(claim, PDK__REPORT_REVOKED);
        break;
    case PDK__ACT_CONTENDED:
        report(claim, PDK__REPORT_CONTENDED);
        break;
    case PDK__ACT_UNWATCH:
        unwatch_predecessor(claim);
        break;
    case PDK__ACT_RENEW:
        pdk__reset_path(claim->agent.client, claim->agent.path);
        break;
    default:
        break;
    }
}

static void note_link(struct pdk__claim *claim)
{
    char why[PDK__REASON_MAX];
    if (pdk__standing_slow(&claim->standing, why))
        claim->reported(claim, &(struct pdk__report){.kind = PDK__REPORT_HINDERED, .why = why});
}

/* The session is notified when the client's lock is released (client.c), not in the middle of a step. */
static void count_need(struct pdk__claim *claim)
{
    bool wants = pdk__contender_needs_lease(&claim->machine);
    assert(claim->agent.client->members.n_needing_lease >= (unsigned)claim->needs_lease);
    claim->agent.client->members.n_needing_lease += (unsigned)wants - (unsigned)claim->needs_lease;
    claim->needs_lease = wants;
}

bool pdk__claim_waits(const struct pdk__claim *claim)
{
    return claim->machine.phase == PDK__WATCHING || claim->machine.phase == PDK__WAITING;
}

static void step(struct pdk__agent *a, const struct pdk__event *event, struct pdk__actions *actions)
{
    struct pdk__claim *claim = claim_at(a);
    enum pdk__phase before = claim->machine.phase;
    bool placed = claim->standing.known;
    if (claim->machine.spare == 0)
        claim->machine.spare = pdk__members_attempt(a->client);
    pdk__contender_step(&claim->machine, event, actions);
    pdk__standing_step(&claim->standing, before, event, actions);
    if (a->client->told.unfit)
        note_link(claim);
    count_need(claim);
    if (claim->site.batch != NULL)
        pdk__batch_stepped(&claim->seat);
    if (!placed && claim->standing.known && pdk__claim_waits(claim))
        report(claim, PDK__REPORT_QUEUED);
}

static int64_t machine_wake_ms(const struct pdk__agent *a)
{
    return pdk__contender_wake_ms(&PDK__MEMBER(a, struct pdk__claim, agent)->machine);
}

static void feed(struct pdk__claim *claim, struct pdk__event event) { pdk__agent_feed(&claim->agent, event); }

/* --- as one of a batch ------------------------------------------------------------------------------------------- */

/* A transaction's answer does not tell the number of the write, which is the token of all its nodes. So one of them is
 * looked at, and all are listed right after. */
static void answered(struct pdk__seat *seat, const struct pdk__event *event, const struct pdk__made *made)
{
    struct pdk__claim *claim = PDK__MEMBER(seat, struct pdk__claim, seat);
    struct pdk__event unknown = {.kind = PDK__EV_CREATED, .op = event->op, .outcome = PDK__UNKNOWN};
    if (made == NULL)
        feed(claim, *event);
    else if (pdk__wire_made(&claim->agent.wire, event->op, made->path, made->any) != 0 ||
             pdk__wire_list(&claim->agent.wire, event->op, claim->agent.path) != 0)
        feed(claim, unknown);
}

/* Another client may have deleted that node by then, and made one of its own under its name. That is as if the outcome
 * of the create were not known: each claim looks for its node. */
static bool made_ours(const struct pdk__claim *claim, const struct pdk__event *event)
{
    return event->outcome == PDK__OK && event->owner == claim->machine.session.id;
}

static void join_batch(struct pdk__claim *claim)
{
    claim->seat = (struct pdk__seat){.machine = &claim->machine, .answered = answered};
    claim->seat.data = data_of(claim);
    pdk__list_init(&claim->seat.link);
    if (claim->site.batch != NULL)
        pdk__batch_join(claim->site.batch, &claim->seat);
}

/* --- as an agent's owner, and as a member ------------------------------------------------------------------------ */

static void complete(struct pdk__agent *a, const struct pdk__wire_reply *reply, struct pdk__event *event)
{
    struct pdk__claim *claim = claim_at(a);
    if (event->kind == PDK__EV_CREATED && claim->site.batch != NULL && !made_ours(claim, event))
        event->outcome = PDK__UNKNOWN;
    if (event->kind == PDK__EV_WATCHED && event->op == claim->machine.rivals.op)
        event->kind = PDK__EV_RIVALS;
    if (event->kind == PDK__EV_WATCHED) {
        pdk__standing_predecessor(&claim->standing, reply->who);
        event->name = claim->predecessor;
    }
    const char *own = reply->bare && claim->wish->data_size > 0 ? own_path(claim) : NULL;
    if (own != NULL)
        pdk__wire_restore(&a->wire, own, data_of(claim), event->version);
}

static const struct pdk__agent_machine agent_machine = {.step = step,
                                                        .wake_ms = machine_wake_ms,
                                                        .put = put,
                                                        .awaits = awaits,
                                                        .urgent = urgent,
                                                        .tell = tell,
                                                        .complete = complete,
                                                        .done = done};

static int64_t wake_ms(const struct pdk__claim *claim)
{
    int64_t at_ms = pdk__contender_wake_ms(&claim->machine);
    return claim->due_ms < at_ms ? claim->due_ms : at_ms;
}

/* One of a thousand waiters is due. */
static void tick(struct pdk__member *m)
{
    struct pdk__claim *claim = claim_of(m);
    if (pdk__now_ms() >= wake_ms(claim))
        pdk__claim_tick(claim);
    else
        pdk__client_arm(claim->agent.client, wake_ms(claim));
}

static bool watches_rivals(const struct pdk__claim *claim)
{
    enum pdk__rivals_state state = claim->machine.rivals.state;
    return state == PDK__RIVALS_ASKED || state == PDK__RIVALS_NONE;
}

static const struct pdk__member_calls calls;

/* Is NODE that of a grant that its owner has released, and by its rule the first? */
static bool was_first(const struct pdk__member *m, const char *node)
{
    if (m->calls != &calls)
        return false;
    const struct pdk__claim *claim = PDK__MEMBER(m, struct pdk__claim, agent.member);
    const char *own = claim->machine.released ? noted_path(claim) : NULL;
    return own != NULL && pdk__rule_admits_first(claim->wish->rule) && strcmp(own, node) == 0;
}

/* A deleted predecessor that is another of this client's: a listing would show no more than we know. */
static bool ours_was_first(const struct pdk_client *c, const char *node)
{
    const struct pdk__index_entry *entry = NULL;
    while ((entry = pdk__index_find(&c->index, node, entry)) != NULL)
        if (was_first(entry->member, node))
            return true;
    return false;
}

static void fired(struct pdk__member *m, const char *path, enum pdk__node_change change)
{
    struct pdk__claim *claim = claim_of(m);
    struct pdk__event event = {.deleted = change == PDK__NODE_DELETED};
    const char *own = noted_path(claim);
    bool children = claim->wish->rule->by_children && strcmp(claim->agent.path, path) == 0;
    if (change == PDK__NODE_OTHER && strcmp(claim->agent.path, path) == 0 && watches_rivals(claim)) {
        event.kind = PDK__EV_RIVALS_FIRED;
        event.op = claim->machine.rivals.op;
        feed(claim, event);
        return;
    }
    if (change == PDK__NODE_OTHER && !children)
        return;
    if (own != NULL && strcmp(own, path) == 0) {
        event.kind = PDK__EV_OWN_FIRED;
        event.op = claim->machine.node.watch_op;
    } else if (claim->predecessor != NULL && strcmp(claim->predecessor, path) == 0) {
        event.kind = PDK__EV_FIRED;
        event.deleted = event.deleted && !children; /* the path itself is deleted: a listing tells */
        event.first = event.deleted && ours_was_first(claim->agent.client, path);
        event.op = claim->machine.op;
    } else {
        return;
    }
    feed(claim, event);
}

static bool look_again(struct pdk__member *m)
{
    struct pdk__claim *claim = claim_of(m);
    bool watching = pdk__contender_watches(&claim->machine);
    if (watching)
        feed(claim, (struct pdk__event){.kind = PDK__EV_LOOK_AGAIN});
    return watching;
}

static bool watches(struct pdk__member *m, const char *path)
{
    const struct pdk__claim *claim = claim_of(m);
    const char *own = noted_path(claim);
    const char *watched = claim->machine.queue.watching && !claim->unwatched ? claim->predecessor : NULL;
    return (watched != NULL && strcmp(watched, path) == 0) || (own != NULL && strcmp(own, path) == 0);
}

static void hindered(struct pdk__member *m, enum pdk__hindrance what, const char *why)
{
    struct pdk__claim *claim = claim_of(m);
    if (what == PDK__LINK_SLOW)
        note_link(claim);
    else if (claim->needs_lease)
        claim->reported(claim, &(struct pdk__report){.kind = PDK__REPORT_HINDERED, .why = why});
}

static char *vacant_path(struct pdk__member *m)
{
    struct pdk__claim *claim = claim_of(m);
    return claim->needs_lease ? asked_path(claim) : NULL;
}

static bool uses(const struct pdk__member *m, uint32_t attempt)
{
    const struct pdk__contender *machine = &PDK__MEMBER(m, struct pdk__claim, agent.member)->machine;
    return machine->attempt == attempt || machine->spare == attempt;
}

static const struct pdk__member_calls calls = {.session = pdk__agent_session,
                                               .tick = tick,
                                               .fired = fired,
                                               .watches = watches,
                                               .look_again = look_again,
                                               .hindered = hindered,
                                               .vacant_path = vacant_path,
                                               .uses = uses,
                                               .awaited = true};

/* --- what the recipes call --------------------------------------------------------------------------------------- */

int pdk__claim_start(struct pdk__claim *claim, struct pdk_client *c, pdk__claim_reported *reported,
                     const struct pdk__wish *wish, const char *path, const struct pdk__site *site)
{
    assert(wish->data != NULL || wish->data_size == 0);
    int rc = pdk__agent_join(&claim->agent, c, &agent_machine, &calls, path);
    if (rc != 0)
        return rc;
    pdk__claim_clear(claim);
    *claim = (struct pdk__claim){
        .agent = claim->agent, .reported = reported, .wish = wish, .site = *site, .due_ms = PDK__NEVER};
    claim->standing = (struct pdk__standing){.client = c, .path = path, .machine = &claim->machine};
    bool connected = c->session.phase == PDK__SESSION_CONNECTED;
    uint32_t attempt = pdk__members_attempt(c);
    pdk__contender_init(&claim->machine, &c->ops, wish, attempt, c->seed ^ (uint64_t)attempt << 32, c->session.id,
                        connected, !c->session.lease_low);
    claim->machine.session.timeout_ms = c->session.timeout_ms;
    claim->machine.spent = site->spent;
    join_batch(claim);
    feed(claim, (struct pdk__event){.kind = PDK__EV_ACQUIRE});
    return 0;
}

void pdk__claim_clear(struct pdk__claim *claim) { pdk__standing_clear(&claim->standing); }

void pdk__claim_release(struct pdk__claim *claim)
{
    pdk__release_begin(claim->agent.client, &claim->release);
    feed(claim, (struct pdk__event){.kind = PDK__EV_RELEASE});
}

/* Only a lock that can be shared needs to know when it is used. */
void pdk__claim_idle(struct pdk__claim *claim)
{
    if (!watches_rivals(claim) || pdk__rule_shares(claim->wish->rule))
        feed(claim, (struct pdk__event){.kind = PDK__EV_IDLE});
}

void pdk__claim_used(struct pdk__claim *claim)
{
    if (pdk__rule_shares(claim->wish->rule))
        feed(claim, (struct pdk__event){.kind = PDK__EV_USED});
}

void pdk__claim_expect(struct pdk__claim *claim, int64_t at_ms)
{
    claim->due_ms = at_ms;
    pdk__client_arm(claim->agent.client, at_ms);
}

void pdk__claim_judge_again(struct pdk__claim *claim) { feed(claim, (struct pdk__event){.kind = PDK__EV_RULE}); }

void pdk__claim_tick(struct pdk__claim *claim)
{
    if (pdk__now_ms() >= claim->due_ms) {
        claim->due_ms = PDK__NEVER;
        report(claim, PDK__REPORT_DUE);
    }
    pdk__client_arm(claim->agent.client, claim->due_ms);
    feed(claim, (struct pdk__event){.kind = PDK__EV_TIMER});
}
