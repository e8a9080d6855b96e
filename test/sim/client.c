/* The driver: it does what lib/zk does, over the model of ZooKeeper's client. */
#include "lib/core/order.h"
#include "paddock/error.h"
#include "test/sim/laws.h"
#include <stdlib.h>
#include <string.h>

int64_t client_now_ms(const struct client *c)
{
    instant now = c->world->agenda.now;
    return c->clock_ms + (now + now * c->drift_ppm / 1000000) / 1000;
}

bool claim_believes(const struct claim *claim)
{
    return claim->used && claim->granted && !claim->released &&
           (claim->machine.phase == PDK__HELD || claim->machine.phase == PDK__SUSPECT) &&
           pdk__session_credible(&claim->client->driver, client_now_ms(claim->client));
}

static uint32_t next_attempt(struct client *c) { return (uint32_t)c->id << 24 | ++c->last_attempt; }

/* --- tickets: the claim and the request -------------------------------------------------------------------------- */

static uint64_t ticket(const struct claim *claim, enum pdk__event_kind kind, uint64_t op)
{
    return op << 16 | (uint64_t)kind << 8 | (uint64_t)(claim->index + 1);
}

static struct claim *claim_of(struct client *c, uint64_t t) { return &c->claims[(t & 0xff) - 1]; }

/* The tickets of strays have numbers after those of claims. */
static uint64_t stray_ticket(const struct client *c, const struct stray *stray, enum pdk__event_kind kind, uint64_t op)
{
    return op << 16 | (uint64_t)kind << 8 | (uint64_t)(CLAIMS_MAX + 1 + (stray - c->strays));
}

static struct stray *stray_of(struct client *c, uint64_t t)
{
    int i = (int)(t & 0xff) - CLAIMS_MAX - 1;
    return i >= 0 ? &c->strays[i] : NULL;
}

/* --- actions ----------------------------------------------------------------------------------------------------- */

static bool ask(struct claim *claim, enum request_kind request, const char *name, bool watch,
                enum pdk__event_kind reply, uint64_t op)
{
    return io_send(claim->client, request, claim->path, name, watch, ticket(claim, reply, op));
}

static bool send(struct claim *claim, const struct pdk__action *a)
{
    char name[PDK__NAME_MAX];
    switch (a->kind) {
    case PDK__ACT_CREATE:
        pdk__name_format(name, claim->machine.session, claim->machine.attempt, PDK__WORD_LOCK);
        return ask(claim, REQ_CREATE, name, false, PDK__EV_CREATED, a->op) &&
               ask(claim, REQ_LIST, "", false, PDK__EV_LISTED, a->op);
    case PDK__ACT_PARENTS:
        see(SIGHT_PARENTS_MADE);
        return ask(claim, REQ_MAKE_DIR, "", false, PDK__EV_MADE_PARENTS, a->op);
    case PDK__ACT_BARRIER:
        pdk__name_format(name, claim->machine.session, claim->machine.attempt, PDK__WORD_LOCK);
        return ask(claim, REQ_DELETE, name, false, PDK__EV_BARRIER, a->op) &&
               ask(claim, REQ_LIST, "", false, PDK__EV_LISTED, a->op);
    case PDK__ACT_IDENTIFY:
        return ask(claim, REQ_EXISTS, a->name, false, PDK__EV_IDENTIFIED, a->op);
    case PDK__ACT_LIST:
        return ask(claim, REQ_LIST, "", false, PDK__EV_LISTED, a->op);
    case PDK__ACT_WATCH:
        claim->has_predecessor = claim->armed = true;
        claim->unwatched = false;
        claim->predecessor.path = claim->path;
        strncpy(claim->predecessor.name, a->name, PDK__NAME_MAX - 1);
        return ask(claim, a->by_exists ? REQ_EXISTS : REQ_GET, claim->predecessor.name, true, PDK__EV_WATCHED, a->op);
    case PDK__ACT_OWN:
        return ask(claim, a->by_exists ? REQ_EXISTS : REQ_GET, claim->machine.name, true, PDK__EV_OWN, a->op);
    case PDK__ACT_CONFIRM:
        return ask(claim, a->revoked ? REQ_REVOKE : REQ_SET, claim->machine.name, false, PDK__EV_CONFIRMED, a->op);
    case PDK__ACT_READ:
        return ask(claim, REQ_READ_MARK, "", false, PDK__EV_READ, a->op);
    case PDK__ACT_MARK:
        return io_mark(claim->client, claim->path, claim->machine.name, a->version,
                       ticket(claim, PDK__EV_MARKED, a->op));
    case PDK__ACT_UNMARK:
        io_mark(claim->client, claim->path, "", a->version, ticket(claim, PDK__EV_UNMARKED, a->op));
        return true;
    case PDK__ACT_DELETE:
        return ask(claim, REQ_DELETE, claim->machine.name, false, PDK__EV_DELETED, a->op);
    default:
        return true;
    }
}

static bool watched_by_others(const struct claim *claim)
{
    for (int i = 0; i < CLAIMS_MAX; i++) {
        const struct claim *other = &claim->client->claims[i];
        if (other == claim || !other->used || other->path != claim->path)
            continue;
        if ((other->has_predecessor && !other->unwatched &&
             strcmp(other->predecessor.name, claim->predecessor.name) == 0) ||
            (other->machine.node == PDK__NODE_YES && strcmp(other->machine.name, claim->predecessor.name) == 0))
            return true;
    }
    return false;
}

static void unwatch(struct claim *claim)
{
    if (claim->has_predecessor && !watched_by_others(claim))
        io_send(claim->client, REQ_UNWATCH, claim->path, claim->predecessor.name, false, 0);
    claim->unwatched = true; /* its name is kept: the request may be lost and repeated */
    claim->armed = false;
}

static void told(struct claim *claim, const struct pdk__action *a)
{
    struct world *w = claim->client->world;
    static const char *const words[] = {
        [PDK__ACT_STRAY] = "keeps a stray", [PDK__ACT_GRANTED] = "granted", [PDK__ACT_FAILED] = "failed",
        [PDK__ACT_SUSPECT] = "suspect",     [PDK__ACT_HELD] = "held",       [PDK__ACT_LOST] = "lost",
        [PDK__ACT_REVOKED] = "revoked",     [PDK__ACT_DONE] = "done"};
    STORY(w, "client %d claim %llu: %s%s%s", claim->client->id, (unsigned long long)claim->number, words[a->kind],
          a->kind == PDK__ACT_FAILED ? " " : "", a->kind == PDK__ACT_FAILED ? pdk_strerrorname(a->error) : "");
    for (const struct law *const *law = laws; *law != NULL; law++)
        if ((*law)->told != NULL)
            (*law)->told(w, claim, a->kind);
}

static void stray_begin(const struct claim *claim, uint32_t attempt);

static void tell(struct claim *claim, const struct pdk__action *a)
{
    struct world *w = claim->client->world;
    if (a->kind == PDK__ACT_UNWATCH)
        unwatch(claim);
    if (a->kind == PDK__ACT_STRAY)
        stray_begin(claim, a->attempt);
    if (a->kind < PDK__ACT_STRAY)
        return;
    told(claim, a);
    if (a->kind == PDK__ACT_GRANTED) {
        claim->settled++;
        claim->granted = true;
        claim->token = a->token;
        claim->granted_at = w->agenda.now;
        total_grants++;
        for (const struct law *const *law = laws; *law != NULL; law++)
            if ((*law)->granted != NULL)
                (*law)->granted(w, claim);
        user_granted(claim);
    } else if (a->kind == PDK__ACT_FAILED) {
        claim->settled++;
        claim->released = true;
        if (a->error == PDK_EBUSY)
            see(claim->machine.looked && claim->machine.token != 0 ? SIGHT_BUSY_LATE : SIGHT_BUSY);
        if (a->error == PDK_ETIMEDOUT)
            see(SIGHT_TIMED_OUT);
        user_failed(claim);
    } else if (a->kind == PDK__ACT_LOST) {
        claim->released = true;
        user_lost(claim);
    } else if (a->kind == PDK__ACT_REVOKED) {
        see(SIGHT_REVOKED);
        claim->revoked = true;
    } else if (a->kind == PDK__ACT_HELD) {
        see(SIGHT_HELD_AGAIN);
    } else if (a->kind == PDK__ACT_DONE) {
        claim->done++;
        claim->used = false;
    }
}

/* --- coverage ---------------------------------------------------------------------------------------------------- */

static void see_branch(const struct claim *claim, const struct pdk__event *ev, enum pdk__phase before, bool unsure)
{
    enum pdk__phase after = claim->machine.phase;
    bool waits = before == PDK__WAITING || before == PDK__WATCHING || before == PDK__LISTING;
    if (after == PDK__HELD && before == PDK__CREATING)
        see(SIGHT_GRANTED_AT_ONCE);
    else if (after == PDK__HELD && before == PDK__WAITING)
        see(SIGHT_GRANTED_BY_WATCH);
    else if (after == PDK__HELD && before == PDK__CHECKING)
        see(SIGHT_GRANTED_BY_CHECK);
    else if (after == PDK__HELD && before == PDK__PROVING)
        see(SIGHT_GRANTED_BY_PROOF);
    bool nothing = before == PDK__RECOVERING && after != before && after != PDK__IDENTIFYING;
    bool found = before == PDK__IDENTIFYING && claim->machine.node == PDK__NODE_YES;
    if (before == PDK__IDENTIFYING && after == PDK__RECOVERING)
        see(SIGHT_RECOVERY_FOUND_ANOTHERS);
    if ((ev->kind == PDK__EV_LISTED && nothing) || (ev->kind == PDK__EV_IDENTIFIED && found)) {
        see(found ? SIGHT_RECOVERY_FOUND : SIGHT_RECOVERY_FOUND_NOTHING);
        if (!claim->machine.wanted)
            see(SIGHT_RECOVERY_FOR_NOBODY);
    }
    if (ev->kind == PDK__EV_SESSION_EXPIRED && (waits || before == PDK__ADRIFT))
        see(SIGHT_EXPIRED_WAITING);
    if (ev->kind == PDK__EV_SESSION_EXPIRED && (before == PDK__HELD || before == PDK__SUSPECT))
        see(SIGHT_EXPIRED_HOLDING);
    if (ev->kind == PDK__EV_SESSION_EXPIRED && unsure)
        see(SIGHT_EXPIRED_CREATING);
    if (ev->kind == PDK__EV_SESSION_PRESUMED && (before == PDK__HELD || before == PDK__SUSPECT))
        see(claim->machine.connected ? SIGHT_PRESUMED_CONNECTED : SIGHT_PRESUMED);
    if (ev->kind == PDK__EV_SESSION_DOUBTED && before == PDK__HELD)
        see(SIGHT_DOUBTED_CONNECTED);
    if (ev->kind == PDK__EV_OWN_FIRED && ev->deleted && waits)
        see(SIGHT_VANISHED_WAITING);
    if (ev->kind == PDK__EV_OWN_FIRED && ev->deleted && before == PDK__HELD)
        see(SIGHT_VANISHED_HOLDING);
    if (ev->kind == PDK__EV_FIRED && before == PDK__WATCHING && after != before)
        see(SIGHT_FIRED_EARLY);
    if (ev->kind == PDK__EV_DELETED && ev->outcome == PDK__NO_NODE)
        see(SIGHT_DELETE_FOUND_NOTHING);
    if (after == PDK__DELETING && (before == PDK__ADRIFT || before == PDK__RESTING))
        see(SIGHT_DELETE_REPEATED);
}

static struct pdk__event unsent(const struct pdk__action *a)
{
    static const enum pdk__event_kind reply[] = {[PDK__ACT_CREATE] = PDK__EV_CREATED,
                                                 [PDK__ACT_PARENTS] = PDK__EV_MADE_PARENTS,
                                                 [PDK__ACT_BARRIER] = PDK__EV_BARRIER,
                                                 [PDK__ACT_LIST] = PDK__EV_LISTED,
                                                 [PDK__ACT_IDENTIFY] = PDK__EV_IDENTIFIED,
                                                 [PDK__ACT_WATCH] = PDK__EV_WATCHED,
                                                 [PDK__ACT_OWN] = PDK__EV_OWN,
                                                 [PDK__ACT_CONFIRM] = PDK__EV_CONFIRMED,
                                                 [PDK__ACT_READ] = PDK__EV_READ,
                                                 [PDK__ACT_MARK] = PDK__EV_MARKED,
                                                 [PDK__ACT_DELETE] = PDK__EV_DELETED};
    return (struct pdk__event){.kind = reply[a->kind], .op = a->op, .outcome = PDK__UNKNOWN};
}

/* --- strays ------------------------------------------------------------------------------------------------------ */

static void feed_stray(struct client *c, struct stray *stray, struct pdk__event event);

static bool send_for_stray(struct client *c, const struct stray *stray, const struct pdk__action *a)
{
    static const enum request_kind requests[] = {
        [PDK__ACT_LIST] = REQ_LIST, [PDK__ACT_IDENTIFY] = REQ_EXISTS, [PDK__ACT_DELETE] = REQ_DELETE};
    static const enum pdk__event_kind replies[] = {[PDK__ACT_LIST] = PDK__EV_LISTED,
                                                   [PDK__ACT_IDENTIFY] = PDK__EV_IDENTIFIED,
                                                   [PDK__ACT_DELETE] = PDK__EV_DELETED};
    const char *name = a->kind == PDK__ACT_LIST ? "" : a->name;
    return io_send(c, requests[a->kind], stray->path, name, false, stray_ticket(c, stray, replies[a->kind], a->op));
}

static void carry_out_for_stray(struct client *c, struct stray *stray, const struct pdk__action *a)
{
    if (a->kind == PDK__ACT_DONE) {
        stray->used = false;
        return;
    }
    if (a->kind == PDK__ACT_DELETE) {
        STORY(c->world, "client %d deletes its stray %s", c->id, a->name);
        see(SIGHT_STRAY_FOUND);
    }
    if (!send_for_stray(c, stray, a))
        feed_stray(c, stray, unsent(a));
}

static void feed_stray(struct client *c, struct stray *stray, struct pdk__event event)
{
    struct pdk__actions actions;
    event.now_ms = client_now_ms(c);
    pdk__stray_step(&stray->machine, &event, &actions);
    for (size_t i = 0; i < actions.n; i++)
        carry_out_for_stray(c, stray, &actions.list[i]);
    if (stray->used)
        client_arm(c, pdk__stray_wake_ms(&stray->machine));
}

static void feed_strays(struct client *c, struct pdk__event event)
{
    for (int i = 0; i < STRAYS_MAX; i++)
        if (c->strays[i].used)
            feed_stray(c, &c->strays[i], event);
}

/* When the table is full, the oldest stray is dropped, as in the library. */
static void stray_begin(const struct claim *claim, uint32_t attempt)
{
    struct client *c = claim->client;
    struct stray *stray = &c->strays[c->n_strays++ % STRAYS_MAX];
    *stray = (struct stray){.used = true, .path = claim->path};
    pdk__stray_init(&stray->machine, &c->ops, claim->machine.session, attempt, draw(&c->world->random),
                    client_now_ms(c));
    client_arm(c, pdk__stray_wake_ms(&stray->machine));
}

/* --- events ------------------------------------------------------------------------------------------------------ */

static void feed(struct claim *claim, struct pdk__event event)
{
    struct pdk__actions actions, failed = {0};
    enum pdk__phase before = claim->machine.phase;
    bool unsure = claim->machine.node == PDK__NODE_MAYBE;
    event.now_ms = client_now_ms(claim->client);
    if (claim->machine.spare == 0)
        claim->machine.spare = next_attempt(claim->client);
    if (event.op != 0 && event.op != claim->machine.op && event.op != claim->machine.own_op)
        see(SIGHT_STALE_REPLY);
    pdk__contender_step(&claim->machine, &event, &actions);
    see_branch(claim, &event, before, unsure);
    for (size_t i = 0; i < actions.n; i++) {
        if (!send(claim, &actions.list[i]))
            failed.list[failed.n++] = actions.list[i];
        tell(claim, &actions.list[i]);
    }
    for (size_t i = 0; i < failed.n && claim->used; i++)
        feed(claim, unsent(&failed.list[i]));
    if (claim->used)
        client_arm(claim->client, pdk__contender_wake_ms(&claim->machine));
}

static void feed_all(struct client *c, struct pdk__event event)
{
    for (int i = 0; i < CLAIMS_MAX; i++)
        if (c->claims[i].used)
            feed(&c->claims[i], event);
    feed_strays(c, event);
}

static void session(struct client *c, struct pdk__session_event event);

/* By the delete of a node that cannot exist, under the path of a contender that wants the proof. */
static bool probe(struct client *c)
{
    if (c->world->renews_by_sync)
        return io_ask(c, REQ_SYNC, 0, "");
    for (int i = 0; i < CLAIMS_MAX; i++) {
        const struct claim *claim = &c->claims[i];
        if (claim->used && pdk__contender_wants_proof(&claim->machine))
            return io_ask(c, REQ_DELETE, claim->path, "nobody");
    }
    return false;
}

static void carry_out(struct client *c, const struct pdk__session_action *a)
{
    switch (a->kind) {
    case PDK__SACT_UP:
        feed_all(c, (struct pdk__event){.kind = PDK__EV_SESSION_UP, .session = a->session});
        break;
    case PDK__SACT_DOWN:
        feed_all(c, (struct pdk__event){.kind = PDK__EV_SESSION_DOWN});
        break;
    case PDK__SACT_PROVEN:
        feed_all(c, (struct pdk__event){.kind = PDK__EV_SESSION_PROVEN});
        break;
    case PDK__SACT_DOUBTED:
        feed_all(c, (struct pdk__event){.kind = PDK__EV_SESSION_DOUBTED});
        break;
    case PDK__SACT_PRESUMED:
        feed_all(c, (struct pdk__event){.kind = PDK__EV_SESSION_PRESUMED});
        break;
    case PDK__SACT_EXPIRED:
        if (c->io != IO_IDLE)
            see(SIGHT_GIVEN_UP_HANDLE);
        for (int i = 0; i < CLAIMS_MAX; i++)
            c->claims[i].armed = false; /* watches end with their session */
        feed_all(c, (struct pdk__event){.kind = PDK__EV_SESSION_EXPIRED});
        break;
    case PDK__SACT_OVER:
        feed_all(c, (struct pdk__event){.kind = PDK__EV_SESSION_OVER, .error = a->error});
        break;
    case PDK__SACT_OPEN:
        STORY(c->world, "client %d makes a new handle", c->id);
        io_open(c);
        session(c, (struct pdk__session_event){.kind = PDK__SEV_OPENED});
        break;
    case PDK__SACT_PROBE:
        if (!probe(c))
            session(c, (struct pdk__session_event){.kind = PDK__SEV_UNASKED});
        break;
    case PDK__SACT_TOUCH:
        if (!io_ask(c, REQ_EXISTS, 0, ""))
            session(c, (struct pdk__session_event){.kind = PDK__SEV_UNASKED});
        break;
    case PDK__SACT_LEAVE:
        see(c->io == IO_CONNECTED ? SIGHT_LEFT_SERVER : SIGHT_PASSED_SERVER);
        STORY(c->world, "client %d leaves server %d", c->id, c->server);
        client_cut(c, true, false, false);
        break;
    }
}

static void session(struct client *c, struct pdk__session_event event)
{
    struct pdk__session_actions actions;
    int64_t deadline_ms = pdk__session_deadline_ms(&c->driver);
    event.now_ms = client_now_ms(c);
    pdk__session_step(&c->driver, &event, &actions);
    bool proven = pdk__session_deadline_ms(&c->driver) > deadline_ms;
    for (size_t i = 0; i < actions.n; i++)
        carry_out(c, &actions.list[i]);
    if (proven)
        faults_at_proof(c->world, c);
    client_arm(c, pdk__session_wake_ms(&c->driver));
}

/* Called after everything that a call or a message set off. */
static void pass_wish_on(struct client *c)
{
    bool wanted = false;
    for (int i = 0; i < CLAIMS_MAX; i++)
        wanted |= c->claims[i].used && pdk__contender_wants_proof(&c->claims[i].machine);
    if (wanted != c->driver.wanted)
        session(c, (struct pdk__session_event){.kind = wanted ? PDK__SEV_WANTED : PDK__SEV_UNWANTED});
}

void client_feed(struct claim *claim, struct pdk__event event)
{
    feed(claim, event);
    pass_wish_on(claim->client);
}

void client_heed(struct client *c)
{
    if (c->driver.phase == PDK__SESSION_CONNECTED && c->io != IO_CONNECTED)
        session(c, (struct pdk__session_event){.kind = PDK__SEV_DISCONNECTED});
    if (client_now_ms(c) >= pdk__session_wake_ms(&c->driver))
        session(c, (struct pdk__session_event){.kind = PDK__SEV_TIMER});
    pass_wish_on(c);
}

static enum pdk__outcome outcome_of(enum zerror error)
{
    if (error == Z_OK)
        return PDK__OK;
    if (error == Z_EXPIRED)
        return PDK__UNKNOWN;
    return error == Z_NONODE ? PDK__NO_NODE : PDK__REFUSED;
}

/* The strays of a path use a contender's listing, too. */
static void share_listing(struct client *c, int path, struct pdk__event event)
{
    event.op = 0;
    for (int i = 0; i < STRAYS_MAX; i++)
        if (c->strays[i].used && c->strays[i].path == path)
            feed_stray(c, &c->strays[i], event);
}

static void stray_replied(struct client *c, struct stray *stray, uint64_t t, const struct answer *a)
{
    struct pdk__event event = {.kind = (enum pdk__event_kind)(t >> 8 & 0xff), .op = t >> 16, .outcome = PDK__UNKNOWN};
    if (!stray->used)
        return;
    if (a != NULL) {
        event.outcome = outcome_of(a->error);
        event.owner = a->owner >= 0 ? world_session_id(a->owner) : 0;
        event.token = a->czxid;
        event.children = a->children;
        event.n_children = (size_t)a->n_children;
    }
    int path = stray->path;
    bool shares = pdk__stray_shares(&stray->machine) && event.op == stray->machine.op;
    feed_stray(c, stray, event);
    if (shares && event.outcome == PDK__OK)
        share_listing(c, path, event);
}

static void replied(struct client *c, uint64_t t, const struct answer *a)
{
    if (stray_of(c, t) != NULL) {
        stray_replied(c, stray_of(c, t), t, a);
        return;
    }
    struct claim *claim = claim_of(c, t);
    enum pdk__event_kind kind = (enum pdk__event_kind)(t >> 8 & 0xff);
    if (!claim->used)
        return;
    struct pdk__event event = {.kind = kind, .op = t >> 16, .outcome = PDK__UNKNOWN};
    if (a != NULL) {
        event.outcome = outcome_of(a->error);
        if ((kind == PDK__EV_MADE_PARENTS && a->error == Z_EXISTS) || kind == PDK__EV_BARRIER)
            event.outcome = PDK__OK;
        event.error = event.outcome == PDK__REFUSED ? PDK_EREFUSED : 0;
        event.name = kind == PDK__EV_WATCHED ? claim->predecessor.name : a->name;
        event.owner = a->owner >= 0 ? world_session_id(a->owner) : 0;
        event.token = kind == PDK__EV_CONFIRMED ? a->mzxid : a->czxid;
        if (kind == PDK__EV_READ && *a->name == '\0')
            event.name = NULL;
        if (kind == PDK__EV_MARKED && a->error == Z_BADVERSION)
            event.outcome = PDK__CHANGED;
        event.version = a->version;
        event.revoked = a->revoked;
        event.children = a->children;
        event.n_children = (size_t)a->n_children;
    }
    if (kind == PDK__EV_WATCHED && event.outcome == PDK__NO_NODE)
        claim->armed = false; /* a get sets no watch on a node that does not exist */
    if (kind == PDK__EV_LISTED && event.outcome == PDK__OK)
        share_listing(c, claim->path, event);
    feed(claim, event);
}

static void tell_session(struct client *c, const struct request *r, const struct answer *a)
{
    struct pdk__session_event event = {.kind = PDK__SEV_TIMER};
    if (a != NULL && outcome_of(a->error) != PDK__UNKNOWN) {
        event.kind = PDK__SEV_ANSWERED;
        event.sent_ms = r->sent_ms;
        event.agreed = r->writes;
        event.asked = r->asked;
        event.wrote = r->writes;
    } else if (r->asked) {
        event.kind = PDK__SEV_UNASKED;
    }
    session(c, event);
}

static void fired(struct client *c, const struct answer *a)
{
    for (const struct law *const *law = laws; *law != NULL; law++)
        if ((*law)->hearing != NULL)
            (*law)->hearing(c->world, c, a);
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &c->claims[i];
        if (!claim->used || claim->path != a->path)
            continue;
        if (claim->has_predecessor && strcmp(claim->predecessor.name, a->name) == 0)
            claim->armed = false;
        struct pdk__event event = {.deleted = a->deleted};
        if (claim->machine.node == PDK__NODE_YES && strcmp(claim->machine.name, a->name) == 0) {
            event.kind = PDK__EV_OWN_FIRED;
            event.op = claim->machine.own_op;
        } else if (claim->has_predecessor && strcmp(claim->predecessor.name, a->name) == 0) {
            event.kind = PDK__EV_FIRED;
            event.op = claim->machine.op;
        } else {
            continue;
        }
        feed(claim, event);
    }
}

static void hear(struct client *c, const struct answer *a)
{
    if (a->zxid > c->heard_zxid)
        c->heard_zxid = a->zxid;
}

static void hear_session(struct client *c, const struct message *m)
{
    struct pdk__session_event event = {.kind = PDK__SEV_EXPIRED};
    if (m->kind == IN_DISCONNECTED)
        event.kind = PDK__SEV_DISCONNECTED;
    if (m->kind == IN_CONNECTED) {
        /* The next server may be older than the state that an event told of: an event carries no zxid. */
        c->heard_zxid = c->joined_zxid = ((const struct answer *)m->body)->zxid;
        event.kind = PDK__SEV_CONNECTED;
        event.session = world_session_id((session_index)m->a);
        event.timeout_ms = c->world->session_ms;
    }
    session(c, event);
}

static void hear_answer(struct client *c, const struct message *m)
{
    const struct answer *a = m->kind == IN_REPLY ? m->body : NULL;
    if (a != NULL)
        hear(c, a);
    tell_session(c, a != NULL ? a->request : m->body, a);
    if (m->a != 0)
        replied(c, m->a, a);
}

static void hear_event(struct client *c, const struct answer *a)
{
    hear(c, a);
    session(c, (struct pdk__session_event){.kind = PDK__SEV_TIMER});
    fired(c, a);
}

void client_receive(void *receiver, const struct message *m)
{
    struct client *c = receiver;
    if (c->dead || (unsigned)m->b != c->handle)
        return;
    if (m->kind == IN_REPLY || m->kind == IN_UNKNOWN)
        hear_answer(c, m);
    else if (m->kind == IN_EVENT)
        hear_event(c, m->body);
    else
        hear_session(c, m);
    pass_wish_on(c);
    for (const struct law *const *law = laws; *law != NULL && (m->kind == IN_REPLY || m->kind == IN_EVENT); law++)
        if ((*law)->received != NULL)
            (*law)->received(c->world, c);
}

/* --- its clock --------------------------------------------------------------------------------------------------- */

static void ring(struct client *c)
{
    c->wake_ms = PDK__NEVER;
    session(c, (struct pdk__session_event){.kind = PDK__SEV_TIMER});
    feed_all(c, (struct pdk__event){.kind = PDK__EV_TIMER});
    pass_wish_on(c);
    for (const struct law *const *law = laws; *law != NULL; law++)
        if ((*law)->rang != NULL)
            (*law)->rang(c->world, c);
}

static void alarm(void *subject, uint64_t number)
{
    struct client *c = subject;
    if (c->dead || number != c->alarms)
        return;
    if (c->paused)
        c->late = true;
    else
        ring(c);
}

void client_arm(struct client *c, int64_t wake_ms)
{
    if (wake_ms >= c->wake_ms)
        return;
    int64_t left_ms = wake_ms - client_now_ms(c);
    c->wake_ms = wake_ms;
    if (left_ms > INT32_MAX)
        return;
    /* A clock that is slow needs more of the world's time. */
    instant left = left_ms > 0 ? left_ms * INT64_C(1000000000) / (1000000 + c->drift_ppm) + 2 : 1;
    agenda_add(&c->world->agenda, left, alarm, c, ++c->alarms);
}

void client_pause(struct client *c, bool paused)
{
    c->paused = paused;
    if (paused || c->dead)
        return;
    for (int i = 0; i < c->world->ensemble.n; i++)
        pipe_pump(&c->down[i]);
    pipe_pump(&c->inbox);
    if (c->late)
        ring(c);
    c->late = false;
}

struct claim *client_claim(struct client *c, int user, int path)
{
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &c->claims[i];
        if (claim->used)
            continue;
        *claim = (struct claim){
            .client = c, .used = true, .index = i, .user = user, .path = path, .asked = c->world->agenda.now};
        bool connected = c->driver.phase == PDK__SESSION_CONNECTED;
        claim->number = ++c->world->n_claims;
        pdk__contender_init(&claim->machine, &c->ops, next_attempt(c), draw(&c->world->random), c->driver.id, connected,
                            !c->driver.doubted);
        claim->machine.conditions.confirmed = c->world->confirmed;
        claim->machine.conditions.lock_delay_ms = c->world->lock_delay_ms;
        claim->machine.conditions.delay = &c->delays[path];
        return claim;
    }
    return NULL;
}
