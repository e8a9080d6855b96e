/* Assertions hold in release builds too. */
#undef NDEBUG

#include "lib/core/contender.h"
#include "lib/core/order.h"
#include "paddock/error.h"
#include <assert.h>
#include <string.h>

/* A create may never arrive although every look for it is answered. Then the servers will never accept it: over
 * jute.maxbuffer they drop the connection, each time (-4, never an error code). */
enum { LOST_CREATES_MAX = 8 };

/* The path may be reaped or deleted between its creation and a create in it; but not that often. */
enum { PARENT_TRIES_MAX = 16 };

enum { REST_FLOOR_MS = 10, REST_CEILING_MS = 1000 };

static bool granted(const struct pdk__contender *c) { return pdk__phase_grants(c->phase); }

static struct pdk__action *push(struct pdk__actions *out, enum pdk__action_kind kind)
{
    assert(out->n < PDK__ACTIONS_MAX);
    struct pdk__action *action = &out->list[out->n++];
    *action = (struct pdk__action){.kind = kind};
    return action;
}

/* --- asking ------------------------------------------------------------------------------------------------------ */

static struct pdk__action *ask(struct pdk__contender *c, struct pdk__actions *out, enum pdk__action_kind kind,
                               enum pdk__phase phase)
{
    struct pdk__action *action = push(out, kind);
    action->op = c->op = ++*c->ops;
    c->phase = phase;
    return action;
}

static void ask_create(struct pdk__contender *c, struct pdk__actions *out)
{
    ask(c, out, PDK__ACT_CREATE, PDK__CREATING);
    c->node = PDK__NODE_MAYBE;
    c->verified = false;
}

static void ask_own(struct pdk__contender *c, struct pdk__actions *out)
{
    struct pdk__action *action = push(out, PDK__ACT_OWN);
    action->op = c->own_op = ++*c->ops;
    action->by_exists = c->own_by_exists;
    c->own = PDK__OWN_ASKED;
}

static void ask_watch(struct pdk__contender *c, struct pdk__actions *out, const char *predecessor, bool by_exists)
{
    struct pdk__action *action = ask(c, out, PDK__ACT_WATCH, PDK__WATCHING);
    action->name = predecessor;
    action->by_exists = c->by_exists = by_exists;
    c->watching = true;
}

static void unwatch(struct pdk__contender *c, struct pdk__actions *out)
{
    if (c->watching && c->connected)
        push(out, PDK__ACT_UNWATCH);
    c->watching = false;
}

static void forget_own(struct pdk__contender *c)
{
    c->own = PDK__OWN_UNWATCHED;
    c->own_op = 0;
}

static void forget_node(struct pdk__contender *c)
{
    c->node = PDK__NODE_NO;
    c->verified = false;
    c->revoked = false;
    c->confirmed = 0;
    c->mark = PDK__MARK_NO;
    forget_own(c);
}

/* --- what next --------------------------------------------------------------------------------------------------- */

static void finish(struct pdk__contender *c, struct pdk__actions *out)
{
    unwatch(c, out);
    c->phase = PDK__DONE;
    c->op = 0;
    push(out, PDK__ACT_DONE)->error = c->error;
}

/* After the barrier all candidates are looked at, from the first. */
static void ask_barrier(struct pdk__contender *c, struct pdk__actions *out)
{
    ask(c, out, PDK__ACT_BARRIER, PDK__RECOVERING);
    c->name[0] = '\0';
}

static void pursue(struct pdk__contender *c, struct pdk__actions *out)
{
    if (c->node == PDK__NODE_MAYBE)
        ask_barrier(c, out);
    else if (c->node == PDK__NODE_YES)
        ask(c, out, PDK__ACT_LIST, PDK__LISTING);
    else if (c->try_only && !c->looked)
        ask(c, out, PDK__ACT_LIST, PDK__LOOKING);
    else
        ask_create(c, out);
}

static void ask_unmark(struct pdk__contender *c, struct pdk__actions *out)
{
    assert(c->mark == PDK__MARK_YES);
    struct pdk__action *action = push(out, PDK__ACT_UNMARK);
    action->op = c->unmark_op = ++*c->ops;
    action->version = c->mark_version;
}

static void clean_up(struct pdk__contender *c, struct pdk__actions *out)
{
    if (c->node == PDK__NODE_MAYBE) {
        ask_barrier(c, out);
        return;
    }
    /* The watch is known to be removed once the delete, sent after it, is answered. Until then both are sent again. */
    if (c->watching)
        push(out, PDK__ACT_UNWATCH);
    forget_own(c);
    if (c->mark == PDK__MARK_YES) /* a mark that MAY be ours has no known version: it could be another holder's */
        ask_unmark(c, out);
    ask(c, out, PDK__ACT_DELETE, PDK__DELETING);
    c->n_deletes++;
}

/* Continue from the known state of the node and from the request, whatever disturbance came before. */
static void advance(struct pdk__contender *c, struct pdk__actions *out)
{
    c->op = 0;
    if (!c->wanted && c->node == PDK__NODE_NO)
        finish(c, out);
    else if (!c->connected)
        c->phase = PDK__ADRIFT;
    else if (c->wanted)
        pursue(c, out);
    else
        clean_up(c, out);
}

static void set_timer(struct pdk__contender *c, int64_t now_ms)
{
    c->rest_ms = now_ms + pdk__retry_delay_ms(&c->retry, REST_FLOOR_MS, REST_CEILING_MS);
}

static void rest(struct pdk__contender *c, int64_t now_ms)
{
    c->op = 0;
    c->phase = PDK__RESTING;
    set_timer(c, now_ms);
}

/* A create that may be on its way must be awaited, or the node could appear after we have finished. The same holds
 * for a mark: its reply carries the version at which we may clear it. */
static bool awaits(const struct pdk__contender *c)
{
    bool node = c->phase == PDK__CREATING || c->phase == PDK__RECOVERING || c->phase == PDK__IDENTIFYING;
    return (c->node == PDK__NODE_MAYBE && node) || (c->phase == PDK__MARKING && c->op != 0);
}

static void give_up(struct pdk__contender *c, struct pdk__actions *out)
{
    c->wanted = false;
    if (!awaits(c))
        advance(c, out);
}

static void fail(struct pdk__contender *c, struct pdk__actions *out, int error)
{
    if (c->wanted)
        push(out, PDK__ACT_FAILED)->error = error;
    give_up(c, out);
}

/* After a loss the program may still be at work: the mark stays. */
static void lose(struct pdk__contender *c, struct pdk__actions *out)
{
    push(out, PDK__ACT_LOST);
    c->mark = PDK__MARK_NO;
    give_up(c, out);
}

static void ask_confirm(struct pdk__contender *c, struct pdk__actions *out)
{
    struct pdk__action *action = ask(c, out, PDK__ACT_CONFIRM, PDK__CONFIRMING);
    action->version = c->version;
    action->revoked = c->revoked;
}

static int64_t token_of(const struct pdk__contender *c) { return c->conditions.confirmed ? c->confirmed : c->token; }

static void hold(struct pdk__contender *c, struct pdk__actions *out)
{
    c->phase = c->proven ? PDK__HELD : PDK__PROVING;
    c->op = 0;
    pdk__retry_reset(&c->retry);
    if (c->proven)
        push(out, PDK__ACT_GRANTED)->token = token_of(c);
    if (c->proven && c->revoked)
        push(out, PDK__ACT_REVOKED);
}

/* No contender is ahead. The other conditions of a grant are met here, one after another. The own node is watched
 * after the write, because the write would only set that watch off. */
static void grant(struct pdk__contender *c, struct pdk__actions *out)
{
    if (c->conditions.lock_delay_ms > 0 && c->mark != PDK__MARK_YES) {
        ask(c, out, PDK__ACT_READ, PDK__READING);
    } else if (c->conditions.confirmed && c->confirmed == 0) {
        ask_confirm(c, out);
    } else if (token_of(c) < c->conditions.min_token) {
        fail(c, out, PDK_ESTALE);
        return;
    } else {
        hold(c, out);
    }
    if (c->own == PDK__OWN_UNWATCHED)
        ask_own(c, out);
}

/* No contender has been ahead for some time, in which our node may have been deleted. Its watch would have fired
 * first. */
static void grant_if_there(struct pdk__contender *c, struct pdk__actions *out)
{
    if (c->own == PDK__OWN_WATCHED && c->verified && !c->own_by_exists) {
        grant(c, out);
        return;
    }
    c->phase = PDK__CHECKING;
    c->op = 0;
    if (c->own != PDK__OWN_ASKED)
        ask_own(c, out);
}

/* The node that existed, or may have, is deleted for good: its name must not come back. */
static void renew_name(struct pdk__contender *c)
{
    c->attempt = c->spare;
    c->spare = 0;
}

/* Another client deleted our node: a holder has lost, a waiter queues again. */
static void vanish(struct pdk__contender *c, struct pdk__actions *out)
{
    bool held = granted(c);
    forget_node(c);
    if (held) {
        lose(c, out);
        return;
    }
    unwatch(c, out);
    renew_name(c);
    advance(c, out);
}

/* --- the caller and the clock ------------------------------------------------------------------------------------ */

static void on_acquire(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    assert(c->phase == PDK__IDLE);
    c->wanted = true;
    c->try_only = ev->try_only;
    c->deadline_ms = ev->deadline_ms;
    advance(c, out);
}

static void on_release(struct pdk__contender *c, struct pdk__actions *out)
{
    c->given_back = granted(c);
    if (c->wanted || c->phase == PDK__IDLE)
        give_up(c, out);
}

/* The own watch is not set, nothing prevents asking for it, and no other request will bring it. */
static bool own_missing(const struct pdk__contender *c)
{
    bool settled = granted(c) || c->phase == PDK__PROVING || c->phase == PDK__DELAYED || c->phase == PDK__WAITING;
    return c->connected && c->own == PDK__OWN_UNWATCHED && settled;
}

/* Servers with the fix of CVE-2024-23944 accept an exists-watch on a node that may not be read, and never fire it.
 * So list at intervals. */
static bool watch_doubtful(const struct pdk__contender *c) { return c->phase == PDK__WAITING && c->by_exists; }

static void on_timer(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (c->wanted && !granted(c) && ev->now_ms >= c->deadline_ms)
        fail(c, out, PDK_ETIMEDOUT);
    else if ((c->phase == PDK__RESTING || watch_doubtful(c)) && ev->now_ms >= c->rest_ms)
        advance(c, out);
    else if (c->phase == PDK__DELAYED && ev->now_ms >= c->delayed_ms)
        grant_if_there(c, out);
    else if (own_missing(c) && ev->now_ms >= c->rest_ms)
        ask_own(c, out);
}

int64_t pdk__contender_wake_ms(const struct pdk__contender *c)
{
    int64_t wake = PDK__NEVER;
    if (c->wanted && !granted(c))
        wake = c->deadline_ms;
    if ((c->phase == PDK__RESTING || watch_doubtful(c) || own_missing(c)) && c->rest_ms < wake)
        wake = c->rest_ms;
    if (c->phase == PDK__DELAYED && c->delayed_ms < wake)
        wake = c->delayed_ms;
    return wake;
}

bool pdk__contender_wants_proof(const struct pdk__contender *c)
{
    bool queued = c->phase == PDK__WATCHING || c->phase == PDK__WAITING;
    return granted(c) || (pdk__phase_first(c->phase) && c->phase != PDK__DELAYED) || (queued && c->next_in_line);
}

/* --- the session ------------------------------------------------------------------------------------------------- */

static void on_session_expired(struct pdk__contender *c, struct pdk__actions *out)
{
    bool held = granted(c);
    c->connected = c->proven = false;
    c->watching = false;
    forget_node(c);
    if (held)
        lose(c, out);
    else if (c->phase != PDK__IDLE && c->phase != PDK__DONE)
        advance(c, out);
}

static void on_session_up(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    /* Some servers that speak ZooKeeper's protocol grant a new session without a word about the old one. */
    if (c->session != ev->session && c->node != PDK__NODE_NO)
        on_session_expired(c, out);
    c->session = ev->session;
    c->connected = true;
    if (c->phase == PDK__ADRIFT)
        advance(c, out);
    else if (c->phase == PDK__SUSPECT)
        ask_own(c, out);
}

static void on_session_down(struct pdk__contender *c, struct pdk__actions *out)
{
    c->connected = false;
    forget_own(c); /* the client re-arms watches, but events until then may be missed */
    if (c->phase == PDK__HELD) {
        c->phase = PDK__SUSPECT;
        push(out, PDK__ACT_SUSPECT);
    } else if (c->phase != PDK__IDLE && c->phase != PDK__DONE && c->phase != PDK__SUSPECT) {
        advance(c, out);
    }
}

/* Held again: there is time, and our node exists and is watched. */
static void recover(struct pdk__contender *c, struct pdk__actions *out)
{
    if (c->phase != PDK__SUSPECT || !c->connected || !c->proven || c->own != PDK__OWN_WATCHED)
        return;
    c->phase = PDK__HELD;
    push(out, PDK__ACT_HELD);
}

static void on_session_proven(struct pdk__contender *c, struct pdk__actions *out)
{
    c->proven = true;
    if (c->phase == PDK__PROVING)
        grant_if_there(c, out);
    else
        recover(c, out);
}

static void on_session_doubted(struct pdk__contender *c, struct pdk__actions *out)
{
    c->proven = false;
    if (c->phase != PDK__HELD)
        return;
    c->phase = PDK__SUSPECT;
    push(out, PDK__ACT_SUSPECT);
}

static void on_session_presumed(struct pdk__contender *c, struct pdk__actions *out)
{
    if (granted(c))
        lose(c, out);
}

static void on_session_over(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (c->wanted && !granted(c)) {
        push(out, PDK__ACT_FAILED)->error = ev->error;
        c->wanted = false;
    }
    on_session_expired(c, out);
}

/* The loss is reported before the delete is requested: from then on no contender may count as the holder. */
static void on_session_left(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (granted(c))
        lose(c, out);
    else if (c->wanted)
        fail(c, out, ev->error);
}

/* --- replies ----------------------------------------------------------------------------------------------------- */

static int error_of(const struct pdk__event *ev)
{
    if (ev->outcome == PDK__NO_AUTH)
        return PDK_EACCES;
    return ev->outcome == PDK__NO_NODE ? PDK_ENOENT : ev->error;
}

/* The node does not exist, and no request that could still create it is under way. */
static void refused_create(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    forget_node(c);
    if (!c->wanted)
        advance(c, out);
    else if (ev->outcome == PDK__NO_NODE && c->parent_tries++ < PARENT_TRIES_MAX)
        ask(c, out, PDK__ACT_PARENTS, PDK__PARENTS);
    else
        fail(c, out, error_of(ev));
}

static void on_created(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__UNKNOWN) {
        rest(c, ev->now_ms);
        return;
    }
    if (ev->outcome != PDK__OK) {
        refused_create(c, ev, out);
        return;
    }
    c->node = PDK__NODE_YES;
    c->lost_creates = c->parent_tries = 0;
    strncpy(c->name, ev->name, PDK__NAME_MAX - 1);
    c->token = ev->token;
    c->version = 0;
    c->verified = ev->owner == c->session && ev->token != 0; /* a server may say anything */
    if (!c->verified)
        fail(c, out, PDK_EREFUSED);
    else if (!c->wanted)
        advance(c, out);
    /* else the listing is on its way */
}

static void on_made_parents(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__UNKNOWN)
        rest(c, ev->now_ms);
    else if (ev->outcome == PDK__OK)
        advance(c, out);
    else
        fail(c, out, error_of(ev));
}

static void on_barrier(struct pdk__contender *c, const struct pdk__event *ev)
{
    if (ev->outcome != PDK__OK)
        rest(c, ev->now_ms); /* without it the listing after it proves nothing */
}

static void find_place(struct pdk__contender *c, const struct pdk__place *place, struct pdk__actions *out)
{
    assert(c->wanted); /* once the lock is not wanted, a known node is deleted, and no listing is requested */
    int64_t sequence = pdk__name_parse(c->name).sequence;
    if (place->tied || sequence >= PDK__SEQUENCE_LAST || sequence < 0) {
        fail(c, out, PDK_EEXHAUSTED);
    } else if (place->ahead == 0 && c->phase == PDK__CREATING) {
        grant(c, out); /* the node was created on this connection, right before the listing */
    } else if (place->ahead == 0) {
        grant_if_there(c, out);
    } else if (c->try_only) {
        fail(c, out, PDK_EBUSY);
    } else {
        c->next_in_line = place->ahead == 1;
        ask_watch(c, out, place->predecessor, false);
        if (c->own == PDK__OWN_UNWATCHED)
            ask_own(c, out);
    }
}

static void looked(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    c->looked = true;
    if (ev->outcome == PDK__OK && pdk__order_contenders(ev->children, ev->n_children) > 0)
        fail(c, out, PDK_EBUSY);
    else
        advance(c, out);
}

/* The node does not exist, and the servers have not committed its create by now. It can still appear only if they
 * move the session back. */
static void recovered_nothing(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    forget_node(c);
    push(out, PDK__ACT_STRAY)->attempt = c->attempt;
    renew_name(c);
    c->lost_creates++;
    if (!c->wanted || c->lost_creates == 1)
        advance(c, out);
    else if (c->lost_creates > LOST_CREATES_MAX)
        fail(c, out, PDK_EREFUSED);
    else
        rest(c, ev->now_ms);
}

static void listed(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    struct pdk__place place = {0};
    if (ev->outcome == PDK__OK)
        place = pdk__order_place(ev->children, ev->n_children, c->name);
    if (!place.present)
        vanish(c, out);
    else
        find_place(c, &place, out);
}

/* The lowest candidate that was not looked at yet. Without one, the node does not exist. */
static void recovered(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    const char *candidate = NULL;
    if (ev->outcome == PDK__OK)
        candidate = pdk__order_candidate(ev->children, ev->n_children, c->session, c->attempt, c->name);
    if (candidate == NULL) {
        recovered_nothing(c, ev, out);
        return;
    }
    strncpy(c->name, candidate, PDK__NAME_MAX - 1);
    ask(c, out, PDK__ACT_IDENTIFY, PDK__IDENTIFYING)->name = c->name;
}

static void found(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    c->node = PDK__NODE_YES;
    c->verified = true;
    c->token = ev->token;
    c->version = ev->version;
    c->lost_creates = c->parent_tries = 0;
    advance(c, out);
}

/* The node cannot be found, and may exist: go on asking. If the caller has given up, its removal still needs it. */
static void search_on(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (c->wanted)
        fail(c, out, error_of(ev));
    rest(c, ev->now_ms);
}

static void on_identified(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__OK && ev->owner == c->session && ev->token != 0)
        found(c, ev, out);
    else if (ev->outcome == PDK__OK || ev->outcome == PDK__NO_NODE) /* another client's, or deleted: the next one */
        ask(c, out, PDK__ACT_LIST, PDK__RECOVERING);
    else if (ev->outcome == PDK__UNKNOWN)
        rest(c, ev->now_ms);
    else
        search_on(c, ev, out);
}

static void on_listed(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    bool refused = ev->outcome == PDK__NO_AUTH || ev->outcome == PDK__REFUSED;
    if (ev->outcome == PDK__UNKNOWN) {
        rest(c, ev->now_ms);
    } else if (refused && c->phase == PDK__RECOVERING) {
        search_on(c, ev, out);
    } else if (refused) {
        fail(c, out, error_of(ev));
    } else if (c->phase == PDK__LOOKING) {
        looked(c, ev, out);
    } else if (c->phase == PDK__RECOVERING) {
        recovered(c, ev, out);
    } else {
        listed(c, ev, out);
    }
}

/* The predecessor is deleted. */
static void move_up(struct pdk__contender *c, struct pdk__actions *out)
{
    c->watching = c->watching && c->by_exists; /* on a deleted node an exists-watch stays, a get-watch does not */
    unwatch(c, out);
    if (c->next_in_line)
        grant_if_there(c, out);
    else
        advance(c, out);
}

static void on_watched(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__OK) {
        c->phase = PDK__WAITING;
        if (c->by_exists)
            set_timer(c, ev->now_ms);
    } else if (ev->outcome == PDK__NO_NODE) {
        move_up(c, out);
    } else if (ev->outcome == PDK__NO_AUTH && !c->by_exists) {
        ask_watch(c, out, ev->name, true);
    } else if (ev->outcome == PDK__REFUSED) {
        fail(c, out, ev->error);
    } else {
        rest(c, ev->now_ms); /* nor by exists (servers from 3.8.4 on): list at intervals */
    }
}

static void on_fired(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (c->phase != PDK__WAITING && c->phase != PDK__WATCHING)
        return;
    c->watching = false;
    if (ev->deleted)
        move_up(c, out);
    else
        advance(c, out);
}

/* The revocation word stays in the node, and is read again at every change: only the first time counts. A contender
 * that does not hold yet reports it right after the grant. */
static void heed_revocation(struct pdk__contender *c, bool revoked, struct pdk__actions *out)
{
    if (revoked && !c->revoked && granted(c))
        push(out, PDK__ACT_REVOKED);
    c->revoked = c->revoked || revoked;
}

static void seen_own(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->owner != c->session || ev->token == 0 || ev->token != c->token) {
        vanish(c, out); /* another node, under our name */
        return;
    }
    c->own = PDK__OWN_WATCHED;
    c->verified = true;
    c->token = ev->token;
    c->version = ev->version;
    recover(c, out);
    heed_revocation(c, ev->revoked, out);
    if (c->phase == PDK__CHECKING)
        grant(c, out);
}

static void on_own(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    c->own = PDK__OWN_UNWATCHED;
    if (ev->outcome == PDK__OK) {
        seen_own(c, ev, out);
    } else if (ev->outcome == PDK__NO_NODE) {
        vanish(c, out);
    } else if (ev->outcome == PDK__NO_AUTH && !c->own_by_exists) {
        c->own_by_exists = true;
        ask_own(c, out);
    } else if (ev->outcome != PDK__UNKNOWN && c->phase == PDK__CHECKING) {
        fail(c, out, error_of(ev));
    } else if (c->phase == PDK__CHECKING) {
        rest(c, ev->now_ms);
    } else {
        set_timer(c, ev->now_ms);
    }
}

static void on_own_fired(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->deleted)
        vanish(c, out);
    else
        ask_own(c, out);
}

/* A quorum agreed on the write, so the node existed, after all that the last holder had written. If the outcome is
 * unknown, or another client wrote meanwhile, the node is read again, and written again. */
static void on_confirmed(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__NO_NODE || (ev->outcome == PDK__OK && ev->owner != c->session)) {
        vanish(c, out);
    } else if (ev->outcome == PDK__OK && ev->token > c->token) {
        c->confirmed = ev->token;
        c->version = ev->version;
        grant(c, out);
    } else if (ev->outcome == PDK__OK) {
        fail(c, out, PDK_EREFUSED); /* a server may say anything */
    } else if (ev->outcome == PDK__UNKNOWN || ev->outcome == PDK__CHANGED) {
        c->verified = false;
        rest(c, ev->now_ms);
    } else {
        fail(c, out, error_of(ev));
    }
}

static void ask_mark(struct pdk__contender *c, int32_t version, struct pdk__actions *out)
{
    ask(c, out, PDK__ACT_MARK, PDK__MARKING)->version = version;
    c->mark = PDK__MARK_MAYBE;
}

/* The delay runs from the moment at which a contender that shares `delay` first saw the mark, on our clock. */
static int64_t delay_end_ms(const struct pdk__contender *c, const struct pdk__event *ev)
{
    struct pdk__delay *delay = c->conditions.delay;
    if (delay->token != ev->token)
        *delay = (struct pdk__delay){ev->token, ev->now_ms};
    return delay->since_ms + c->conditions.lock_delay_ms;
}

static void wait_out(struct pdk__contender *c, int64_t end_ms, struct pdk__actions *out)
{
    if (c->try_only) {
        fail(c, out, PDK_EBUSY);
        return;
    }
    c->phase = PDK__DELAYED;
    c->op = 0;
    c->delayed_ms = end_ms;
}

static void judge_mark(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    bool ours = ev->name != NULL && strcmp(ev->name, c->name) == 0;
    int64_t end_ms = ev->name != NULL && !ours ? delay_end_ms(c, ev) : 0;
    if (ours) {
        c->mark = PDK__MARK_YES; /* written by us, and the reply was lost */
        c->mark_version = ev->version;
        grant_if_there(c, out);
    } else if (ev->now_ms < end_ms) {
        wait_out(c, end_ms, out);
    } else {
        ask_mark(c, ev->version, out);
    }
}

/* The path's own node does not exist, so neither does ours. Otherwise the unknown part is requested again. */
static void not_marked(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__NO_NODE) {
        vanish(c, out);
    } else if (ev->outcome == PDK__UNKNOWN) {
        rest(c, ev->now_ms);
    } else if (ev->outcome == PDK__CHANGED) {
        c->mark = PDK__MARK_NO;
        rest(c, ev->now_ms);
    } else {
        c->mark = PDK__MARK_NO;
        fail(c, out, error_of(ev));
    }
}

static void on_read(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__OK)
        judge_mark(c, ev, out);
    else
        not_marked(c, ev, out);
}

/* Since the listing there was time for our node to be deleted. */
static void on_marked(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    c->op = 0;
    if (ev->outcome == PDK__OK) {
        c->mark = PDK__MARK_YES;
        c->mark_version = ev->version;
        if (c->wanted)
            grant_if_there(c, out);
        else
            advance(c, out);
    } else {
        not_marked(c, ev, out);
    }
}

static void on_deleted(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__UNKNOWN) {
        rest(c, ev->now_ms);
        return;
    }
    /* Refused: without DELETE on the path a session cannot remove its own node, and asking again will not help. */
    if (ev->outcome != PDK__OK && ev->outcome != PDK__NO_NODE)
        c->error = error_of(ev);
    /* Another client deleted the node of a grant, and its event did not come before the release. */
    if (ev->outcome == PDK__NO_NODE && c->given_back && c->n_deletes == 1)
        c->error = PDK_ELOST;
    c->watching = false;
    forget_node(c);
    advance(c, out);
}

/* The delete was sent right after, and is answered after it. If both outcomes are unknown, both are sent again. */
static void on_unmarked(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__UNKNOWN && c->phase == PDK__DELETING)
        ask_unmark(c, out);
}

/* --- the step ---------------------------------------------------------------------------------------------------- */

static void dispatch_reply(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->op == 0 || ev->op != c->op)
        return;
    switch (ev->kind) {
    case PDK__EV_CREATED:
        on_created(c, ev, out);
        break;
    case PDK__EV_MADE_PARENTS:
        on_made_parents(c, ev, out);
        break;
    case PDK__EV_BARRIER:
        on_barrier(c, ev);
        break;
    case PDK__EV_LISTED:
        on_listed(c, ev, out);
        break;
    case PDK__EV_IDENTIFIED:
        on_identified(c, ev, out);
        break;
    case PDK__EV_WATCHED:
        on_watched(c, ev, out);
        break;
    case PDK__EV_FIRED:
        on_fired(c, ev, out);
        break;
    case PDK__EV_CONFIRMED:
        on_confirmed(c, ev, out);
        break;
    case PDK__EV_READ:
        on_read(c, ev, out);
        break;
    case PDK__EV_MARKED:
        on_marked(c, ev, out);
        break;
    case PDK__EV_DELETED:
        on_deleted(c, ev, out);
        break;
    default:
        assert(!"a reply of no known kind");
    }
}

static void dispatch(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    switch (ev->kind) {
    case PDK__EV_ACQUIRE:
        on_acquire(c, ev, out);
        break;
    case PDK__EV_RELEASE:
        on_release(c, out);
        break;
    case PDK__EV_TIMER:
        on_timer(c, ev, out);
        break;
    case PDK__EV_SESSION_UP:
        on_session_up(c, ev, out);
        break;
    case PDK__EV_SESSION_DOWN:
        on_session_down(c, out);
        break;
    case PDK__EV_SESSION_PROVEN:
        on_session_proven(c, out);
        break;
    case PDK__EV_SESSION_DOUBTED:
        on_session_doubted(c, out);
        break;
    case PDK__EV_SESSION_PRESUMED:
        on_session_presumed(c, out);
        break;
    case PDK__EV_SESSION_EXPIRED:
        on_session_expired(c, out);
        break;
    case PDK__EV_SESSION_OVER:
        on_session_over(c, ev, out);
        break;
    case PDK__EV_SESSION_LEFT:
        on_session_left(c, ev, out);
        break;
    case PDK__EV_UNMARKED:
        if (ev->op != 0 && ev->op == c->unmark_op)
            on_unmarked(c, ev, out);
        break;
    case PDK__EV_OWN:
    case PDK__EV_OWN_FIRED:
        if (ev->op == 0 || ev->op != c->own_op)
            break;
        if (ev->kind == PDK__EV_OWN)
            on_own(c, ev, out);
        else
            on_own_fired(c, ev, out);
        break;
    default:
        dispatch_reply(c, ev, out);
    }
}

void pdk__contender_init(struct pdk__contender *c, uint64_t *ops, uint32_t attempt, uint64_t seed, int64_t session,
                         bool connected, bool proven)
{
    *c = (struct pdk__contender){.ops = ops,
                                 .attempt = attempt,
                                 .session = session,
                                 .connected = connected,
                                 .proven = proven,
                                 .phase = PDK__IDLE};
    pdk__retry_init(&c->retry, seed);
}

void pdk__contender_step(struct pdk__contender *c, const struct pdk__event *event, struct pdk__actions *actions)
{
    const struct pdk__contender before = *c;
    assert(c->spare != 0);
    actions->n = 0;
    dispatch(c, event, actions);
    pdk__phase_check(c, &before);
}
