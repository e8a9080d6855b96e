#include "lib/zk/claim.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/zk/request.h"
#include "lib/zk/reset.h"
#include "lib/zk/stray.h"
#include <string.h>

static struct pdk__claim *claim_of(struct pdk__member *m) { return PDK__MEMBER(m, struct pdk__claim, member); }

/* --- paths ------------------------------------------------------------------------------------------------------- */

/* Keep PATH, which is ours from now on, in place of another, and in the index. */
static void set_path(struct pdk__claim *claim, char **kept, struct pdk__index_entry *entry, char *path)
{
    pdk__index_note(&claim->client->index, entry, &claim->member, path);
    pdk__free(*kept);
    *kept = path;
}

/* The path of our own node, if it has been made out: a watch on it was requested by that. */
static const char *noted_path(const struct pdk__claim *claim)
{
    if (claim->machine.node.exists != PDK__NODE_YES || claim->own == NULL)
        return NULL;
    return strcmp(claim->own + strlen(claim->site.path) + 1, claim->machine.node.name) == 0 ? claim->own : NULL;
}

/* The path of our own node, or NULL while it has none (or memory is out). Borrowed until the next event. */
static const char *own_path(struct pdk__claim *claim)
{
    if (claim->machine.node.exists != PDK__NODE_YES || noted_path(claim) != NULL)
        return noted_path(claim);
    set_path(claim, &claim->own, &claim->own_entry, pdk__join(claim->site.path, claim->machine.node.name));
    return claim->own;
}

/* The path of a sequential create, to which the server adds the number: no node has exactly this path. NULL when memory
 * is out; the caller frees. */
static char *asked_path(const struct pdk__claim *claim)
{
    char name[PDK__NAME_MAX];
    pdk__name_format(name, claim->machine.session.id, claim->machine.attempt, claim->wish->rule->tag);
    return pdk__join(claim->site.path, name);
}

/* The path of a create under the number of another node. */
static char *numbered_path(const struct pdk__claim *claim)
{
    const struct pdk__contender *machine = &claim->machine;
    char name[PDK__NAME_MAX];
    pdk__name_format_at(name, machine->session.id, machine->attempt, claim->wish->rule->tag,
                        pdk__name_parse(claim->wish->base).sequence);
    return pdk__join(claim->site.path, name);
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
    struct pdk_client *c = claim->client;
    bool waits = !pdk__phase_grants(claim->machine.phase) || claim->wish->rule->by_children;
    size_t node = pdk__member_node_cost(c, claim->site.path), watch = waits ? node : 0;
    if (waits && claim->predecessor != NULL && pdk__member_watch_cost(c, claim->predecessor) > node)
        watch = pdk__member_watch_cost(c, claim->predecessor);
    pdk__member_charge(c, &claim->member, node + watch);
}

/* An adopted handle may have watches of the application on the same node, and only all watches of a path can be
 * removed. */
static void unwatch_predecessor(struct pdk__claim *claim)
{
    struct pdk_client *c = claim->client;
    const char *path = claim->predecessor;
    if (path != NULL && !c->adopted && !pdk__members_watch(c, path, &claim->member))
        pdk__request_unwatch(c, path);
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
        path = pdk__strdup(claim->site.path);
    else if (action->name == NULL) /* the same again */
        path = claim->predecessor != NULL ? pdk__strdup(claim->predecessor) : NULL;
    else if (action->by_exists) /* requested again for the same node, with its whole path */
        path = pdk__strdup(action->name);
    else
        path = pdk__join(claim->site.path, action->name);
    if (action->again)
        leave_predecessor(claim, path);
    set_path(claim, &claim->predecessor, &claim->predecessor_entry, path);
    claim->unwatched = false;
    charge(claim);
    if (path != NULL && action->by_children)
        return pdk__wire_watch_children(&claim->wire, action->op, path) == 0;
    return path != NULL && pdk__wire_watch(&claim->wire, action->op, path, action->by_exists) == 0;
}

/* By a holder, who has room for it: it waits for no predecessor any more. */
static bool watch_rivals(struct pdk__claim *claim, uint64_t op)
{
    const char *path = claim->site.path;
    struct pdk_client *c = claim->client;
    pdk__index_note(&c->index, &claim->rivals_entry, &claim->member, path);
    pdk__member_charge(c, &claim->member, pdk__member_node_cost(c, path) + pdk__member_watch_cost(c, path));
    return pdk__wire_watch_children(&claim->wire, op, path) == 0;
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
    if (claim->stray == NULL)
        claim->stray = pdk__stray_reserve(claim->site.path);
    if (claim->stray != NULL && claim->site.batch != NULL)
        return ask_with_others(claim, PDK__BATCH_CREATE, op, asked_path(claim));
    bool sequential = claim->wish->base == NULL;
    char *path = claim->stray == NULL ? NULL : sequential ? asked_path(claim) : numbered_path(claim);
    bool sent = path != NULL && pdk__wire_create(&claim->wire, op, path, data_of(claim), sequential) == 0 &&
                pdk__wire_list(&claim->wire, op, claim->site.path) == 0;
    pdk__free(path);
    return sent;
}

static bool barrier(struct pdk__claim *claim, uint64_t op)
{
    char *path = asked_path(claim);
    bool sent = path != NULL && pdk__wire_barrier(&claim->wire, op, path) == 0 &&
                pdk__wire_list(&claim->wire, op, claim->site.path) == 0;
    pdk__free(path);
    return sent;
}

static bool identify(struct pdk__claim *claim, uint64_t op, const char *name)
{
    char *node = pdk__join(claim->site.path, name);
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
    if (claim->site.batch != NULL)
        return ask_with_others(claim, PDK__BATCH_DELETE, action->op, pdk__strdup(node));
    return pdk__wire_delete(wire, action->op, node) == 0;
}

/* Send one action's request. False if nothing was sent, and no reply will come. */
static bool put(struct pdk__claim *claim, const struct pdk__action *action)
{
    struct pdk__wire *wire = &claim->wire;
    const char *path = claim->site.path;
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
        return (claim->wish->rule->by_children ? pdk__wire_list_shared : pdk__wire_list)(wire, action->op, path) == 0;
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
        [PDK__ACT_RIVALS] = PDK__EV_RIVALS,
        [PDK__ACT_DELETE] = PDK__EV_DELETED,
    };
    return (struct pdk__event){.kind = reply[action->kind], .op = action->op, .outcome = PDK__UNKNOWN};
}

/* --- actions ----------------------------------------------------------------------------------------------------- */

static void report(struct pdk__claim *claim, enum pdk__report_kind kind)
{
    claim->reported(claim, &(struct pdk__report){.kind = kind});
}

static void finish(struct pdk__claim *claim, int rc)
{
    struct pdk_client *c = claim->client;
    assert(!claim->needs_lease && claim->machine.node.exists != PDK__NODE_YES);
    pdk__wire_end(&claim->wire);
    if (claim->site.batch != NULL)
        pdk__batch_leave(&claim->seat);
    pdk__member_leave(c, &claim->member);
    set_path(claim, &claim->predecessor, &claim->predecessor_entry, NULL);
    set_path(claim, &claim->own, &claim->own_entry, NULL);
    pdk__index_drop(&c->index, &claim->rivals_entry);
    pdk__free(claim->stray);
    claim->stray = NULL;
    pdk__release_end(c, &claim->release);
    claim->reported(claim, &(struct pdk__report){.kind = PDK__REPORT_DONE, .rc = rc});
}

static void tell(struct pdk__claim *claim, const struct pdk__action *action)
{
    switch (action->kind) {
    case PDK__ACT_GRANTED:
        assert(action->token > 0 && claim->machine.node.exists == PDK__NODE_YES && claim->needs_lease);
        charge(claim);
        claim->reported(claim, &(struct pdk__report){.kind = PDK__REPORT_GRANTED, .token = action->token});
        break;
    case PDK__ACT_FAILED:
        assert(action->error != 0);
        pdk__release_begin(claim->client, &claim->release);
        claim->reported(claim, &(struct pdk__report){.kind = PDK__REPORT_FAILED, .rc = action->error});
        break;
    case PDK__ACT_LOST:
        pdk__release_begin(claim->client, &claim->release);
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
    case PDK__ACT_STRAY:
        assert(action->attempt != 0);
        if (claim->stray != NULL) /* without memory for it no create was sent */
            pdk__stray_keep(claim->client, claim->stray, action->attempt);
        claim->stray = NULL;
        break;
    case PDK__ACT_RENEW:
        pdk__reset_path(claim->client, claim->site.path);
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
        claim->reported(claim, &(struct pdk__report){.kind = PDK__REPORT_HINDERED, .why = why});
}

/* The session is notified when the client's lock is released (client.c), not in the middle of a step. */
static void count_need(struct pdk__claim *claim)
{
    bool wants = pdk__contender_needs_lease(&claim->machine);
    assert(claim->client->n_needing_lease >= (unsigned)claim->needs_lease);
    claim->client->n_needing_lease += (unsigned)wants - (unsigned)claim->needs_lease;
    claim->needs_lease = wants;
}

bool pdk__claim_waits(const struct pdk__claim *claim)
{
    return claim->machine.phase == PDK__WATCHING || claim->machine.phase == PDK__WAITING;
}

/* EVENT need not carry now_ms. */
static void feed(struct pdk__claim *claim, struct pdk__event event)
{
    struct pdk__actions actions, failed = {0};
    enum pdk__phase before = claim->machine.phase;
    bool placed = claim->standing.known;
    assert(pdk__client_locked(claim->client) && claim->member.calls != NULL); /* it is not done */
    event.now_ms = claim->stepped_ms = pdk__now_ms();
    if (claim->machine.spare == 0)
        claim->machine.spare = pdk__members_attempt(claim->client);
    pdk__contender_step(&claim->machine, &event, &actions);
    pdk__standing_step(&claim->standing, before, &event, &actions);
    if (claim->client->unfit)
        note_link(claim);
    count_need(claim);
    if (claim->site.batch != NULL)
        pdk__batch_stepped(&claim->seat);
    pdk__client_arm(claim->client, pdk__contender_wake_ms(&claim->machine));
    if (!placed && claim->standing.known && pdk__claim_waits(claim))
        report(claim, PDK__REPORT_QUEUED);
    for (size_t i = 0; i < actions.n; i++) {
        struct pdk__action *action = &actions.list[i];
        if (!put(claim, action))
            failed.list[failed.n++] = *action;
        tell(claim, action);
    }
    for (size_t i = 0; i < failed.n; i++) /* a machine that waits for a reply is not done, so the claim still exists */
        feed(claim, unsent(&failed.list[i]));
}

/* --- as one of a batch ------------------------------------------------------------------------------------------- */

/* A transaction's answer does not tell the number of the write, which is the token of all its nodes. So one of them is
 * looked at, and all are listed right after. */
static void answered(struct pdk__seat *seat, const struct pdk__event *event, const struct pdk__made *made)
{
    struct pdk__claim *claim = PDK__MEMBER(seat, struct pdk__claim, seat);
    struct pdk__event unknown = {.kind = PDK__EV_CREATED, .op = event->op, .outcome = PDK__UNKNOWN};
    if (made == NULL)
        feed(claim, *event);
    else if (pdk__wire_made(&claim->wire, event->op, made->path, made->any) != 0 ||
             pdk__wire_list(&claim->wire, event->op, claim->site.path) != 0)
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

/* --- as a wire's owner, and as a member -------------------------------------------------------------------------- */

static void replied(struct pdk__wire *wire, const struct pdk__wire_reply *reply)
{
    struct pdk__claim *claim = PDK__MEMBER(wire, struct pdk__claim, wire);
    struct pdk__event event = reply->event;
    assert(event.op != 0);
    if (event.children != NULL && event.outcome == PDK__OK) /* first, because the claim may end with its event */
        pdk__stray_listed(claim->client, claim->site.path, event.children, event.n_children);
    if (event.kind == PDK__EV_CREATED && claim->site.batch != NULL && !made_ours(claim, &event))
        event.outcome = PDK__UNKNOWN;
    if (event.kind == PDK__EV_WATCHED && event.op == claim->machine.rivals.op)
        event.kind = PDK__EV_RIVALS;
    if (event.kind == PDK__EV_WATCHED) {
        pdk__standing_predecessor(&claim->standing, reply->who);
        event.name = claim->predecessor;
    }
    const char *own = reply->bare && claim->wish->data_size > 0 ? own_path(claim) : NULL;
    if (own != NULL)
        pdk__wire_restore(wire, own, data_of(claim), event.version);
    feed(claim, event);
}

static void session(struct pdk__member *m, const struct pdk__event *event) { feed(claim_of(m), *event); }

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
        pdk__client_arm(claim->client, wake_ms(claim));
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
    const struct pdk__claim *claim = PDK__MEMBER(m, struct pdk__claim, member);
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
    bool children = claim->wish->rule->by_children && strcmp(claim->site.path, path) == 0;
    if (change == PDK__NODE_OTHER && strcmp(claim->site.path, path) == 0 && watches_rivals(claim)) {
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
        event.first = event.deleted && ours_was_first(claim->client, path);
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
    const struct pdk__contender *machine = &PDK__MEMBER(m, struct pdk__claim, member)->machine;
    return machine->attempt == attempt || machine->spare == attempt;
}

static const struct pdk__member_calls calls = {.session = session,
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
                     const struct pdk__wish *wish, const struct pdk__site *site)
{
    assert(site->path[0] == '/' && (wish->data != NULL || wish->data_size == 0));
    int rc = pdk__member_may_join(c, site->path);
    if (rc != 0)
        return rc;
    pdk__claim_clear(claim);
    *claim = (struct pdk__claim){.client = c, .reported = reported, .wish = wish, .site = *site, .due_ms = PDK__NEVER};
    claim->wire = (struct pdk__wire){.client = c, .reply = replied};
    claim->standing = (struct pdk__standing){.client = c, .path = site->path, .machine = &claim->machine};
    pdk__member_join(c, &claim->member, &calls, site->path);
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
    pdk__release_begin(claim->client, &claim->release);
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
    pdk__client_arm(claim->client, at_ms);
}

void pdk__claim_judge_again(struct pdk__claim *claim) { feed(claim, (struct pdk__event){.kind = PDK__EV_RULE}); }

void pdk__claim_tick(struct pdk__claim *claim)
{
    if (pdk__now_ms() >= claim->due_ms) {
        claim->due_ms = PDK__NEVER;
        report(claim, PDK__REPORT_DUE);
    }
    pdk__client_arm(claim->client, claim->due_ms);
    feed(claim, (struct pdk__event){.kind = PDK__EV_TIMER});
}
