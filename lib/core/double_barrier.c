#include "lib/core/double_barrier.h"
#include "lib/assert.h"
#include "lib/core/contract.h"
#include "paddock/error.h"
#include <string.h>

/* NAME is NULL for the path, and where the driver knows the node. */
static void ask(struct pdk__double_barrier *b, struct pdk__actions *out, enum pdk__action_kind kind,
                enum pdk__member_phase phase, const char *name)
{
    assert(b->connected);
    b->op = ++*b->ops;
    b->phase = phase;
    pdk__actions_add(out, (struct pdk__action){.kind = kind,
                                               .op = b->op,
                                               .name = name,
                                               .by_exists = b->by_exists && kind == PDK__ACT_WATCH,
                                               .attempt = phase == PDK__MEMBER_CREATING ? b->attempt : 0});
}

static void unwatch(struct pdk__double_barrier *b, struct pdk__actions *out)
{
    if (b->watched)
        pdk__actions_add(out, (struct pdk__action){.kind = PDK__ACT_UNWATCH});
    b->watched = b->by_exists = false;
}

static void conclude(struct pdk__double_barrier *b, struct pdk__actions *out, int error)
{
    unwatch(b, out);
    b->phase = PDK__MEMBER_OVER;
    pdk__actions_add(out, (struct pdk__action){.kind = PDK__ACT_DONE, .error = error});
}

/* --- the own node ------------------------------------------------------------------------------------------------ */

/* It is deleted. A create whose outcome was unknown may still make it again. */
static void forget_node(struct pdk__double_barrier *b, struct pdk__actions *out)
{
    if (b->unsure)
        pdk__actions_add(out, (struct pdk__action){.kind = PDK__ACT_STRAY, .attempt = b->attempt});
    b->unsure = false;
    b->node = PDK__NODE_NO;
}

/* Each name is used for one node: a late request about the previous one must not meet the next. */
static void rename_node(struct pdk__double_barrier *b)
{
    assert(b->node == PDK__NODE_NO && !b->unsure && b->spare != 0);
    b->attempt = b->spare;
    b->spare = 0;
}

static void create(struct pdk__double_barrier *b, struct pdk__actions *out)
{
    pdk__name_format_member(b->name, b->session, b->attempt);
    b->node = PDK__NODE_MAYBE;
    b->admitted = b->passing = false;
    ask(b, out, PDK__ACT_CREATE, PDK__MEMBER_CREATING, b->name);
}

static void remove_node(struct pdk__double_barrier *b, struct pdk__actions *out)
{
    ask(b, out, PDK__ACT_DELETE, PDK__MEMBER_REMOVING, b->name);
}

/* --- what comes next --------------------------------------------------------------------------------------------- */

static void list(struct pdk__double_barrier *b, struct pdk__actions *out)
{
    unwatch(b, out);
    bool counts = b->aim == PDK__AIM_ENTER && !b->outwaits;
    ask(b, out, PDK__ACT_LIST, counts ? PDK__MEMBER_COUNTING : PDK__MEMBER_LISTING, NULL);
}

static void go(struct pdk__double_barrier *b, struct pdk__actions *out);

/* A member that has failed has no further aim but that its node goes. */
static void fail(struct pdk__double_barrier *b, struct pdk__actions *out, int error, enum pdk__member_aim aim)
{
    assert(!b->told && (b->aim == PDK__AIM_ENTER || b->aim == PDK__AIM_LEAVE));
    b->unsure |= b->phase == PDK__MEMBER_CREATING;
    b->told = true;
    b->aim = aim;
    pdk__actions_add(out, (struct pdk__action){.kind = PDK__ACT_FAILED, .error = error});
    go(b, out);
}

static void quit(struct pdk__double_barrier *b, struct pdk__actions *out)
{
    if (b->phase == PDK__MEMBER_FOLLOWING)
        return; /* the answer sets the watch that is to be removed */
    if (b->node == PDK__NODE_NO)
        conclude(b, out, 0);
    else
        remove_node(b, out);
}

static void go_connected(struct pdk__double_barrier *b, struct pdk__actions *out)
{
    assert(b->aim != PDK__AIM_INSIDE);
    if (b->outlived)
        remove_node(b, out);
    else if (b->aim == PDK__AIM_TIDY && !b->told)
        b->phase = PDK__MEMBER_APART; /* nothing more until the caller leaves */
    else if (b->aim == PDK__AIM_QUIT)
        quit(b, out);
    else if (b->aim == PDK__AIM_ENTER && b->node != PDK__NODE_YES)
        create(b, out);
    else
        list(b, out);
}

static void go(struct pdk__double_barrier *b, struct pdk__actions *out)
{
    assert(b->phase != PDK__MEMBER_OVER);
    if (b->connected)
        go_connected(b, out);
    else if (b->aim == PDK__AIM_QUIT && b->node == PDK__NODE_NO && !b->watched && !b->outlived)
        conclude(b, out, 0);
    else if (b->once && !b->told && (b->aim == PDK__AIM_ENTER || b->aim == PDK__AIM_LEAVE))
        fail(b, out, PDK_ETIMEDOUT, PDK__AIM_QUIT);
    else
        b->phase = PDK__MEMBER_APART;
}

static void back_off(struct pdk__double_barrier *b, int64_t now_ms)
{
    b->phase = PDK__MEMBER_BACKOFF;
    b->due_ms = now_ms + pdk__retry_delay_ms(&b->retry, PDK__BARRIER_FLOOR_MS, PDK__BARRIER_CEILING_MS);
}

/* A request had no effect: its outcome is unknown, or the servers refuse it. */
static void refuse(struct pdk__double_barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__UNKNOWN)
        back_off(b, ev->now_ms);
    else if (b->aim == PDK__AIM_ENTER || b->aim == PDK__AIM_LEAVE)
        fail(b, out, ev->error, PDK__AIM_QUIT);
    else
        conclude(b, out, ev->error);
}

static void wait(struct pdk__double_barrier *b, int64_t now_ms, struct pdk__actions *out)
{
    if (b->once)
        fail(b, out, PDK_ETIMEDOUT, PDK__AIM_QUIT);
    else
        b->phase = PDK__MEMBER_WAITING;
    bool for_another = b->aim == PDK__AIM_LEAVE || b->outwaits;
    b->due_ms = for_another && b->by_exists ? now_ms + PDK__BARRIER_UNREADABLE_MS : PDK__NEVER;
}

/* --- listings ---------------------------------------------------------------------------------------------------- */

static bool is_ready(const char *name) { return strcmp(name, PDK__READY) == 0; }

/* A contender of a lock, or the queue and the permits of a semaphore: no library gives a member such a name. */
static bool is_of_a_lock(const char *name)
{
    enum pdk__name_kind kind = pdk__name_parse(name).kind;
    return kind == PDK__NAME_OURS || kind == PDK__NAME_CURATOR || strcmp(name, "locks") == 0 ||
           strcmp(name, "leases") == 0;
}

static bool is_a_lock(const struct pdk__event *ev)
{
    for (size_t i = 0; i < ev->n_children; i++)
        if (is_of_a_lock(ev->children[i]))
            return true;
    return false;
}

static bool contains(const struct pdk__event *ev, const char *name)
{
    for (size_t i = 0; i < ev->n_children; i++)
        if (strcmp(ev->children[i], name) == 0)
            return true;
    return false;
}

/* The first of the other members in the direction that is looked in, behind AFTER if that is not NULL; and how many
 * there are, if N is not NULL. */
static const char *find_other(const struct pdk__double_barrier *b, const struct pdk__event *ev, const char *after,
                              size_t *n)
{
    const char *found = NULL;
    int way = b->lowest ? -1 : 1;
    for (size_t i = 0; i < ev->n_children; i++) {
        const char *name = ev->children[i];
        if (is_ready(name) || is_of_a_lock(name) || strcmp(name, b->name) == 0 ||
            (after != NULL && way * strcmp(name, after) <= 0))
            continue;
        if (n != NULL)
            ++*n;
        if (found == NULL || way * strcmp(name, found) < 0)
            found = name;
    }
    return found;
}

static bool is_lowest(const struct pdk__double_barrier *b, const struct pdk__event *ev)
{
    for (size_t i = 0; i < ev->n_children; i++)
        if (!is_ready(ev->children[i]) && !is_of_a_lock(ev->children[i]) && strcmp(ev->children[i], b->name) < 0)
            return false;
    return true;
}

/* By the "ready" whose token is ROUND. */
static void enter(struct pdk__double_barrier *b, int64_t round, struct pdk__actions *out)
{
    pdk__retry_reset(&b->retry);
    b->round = round;
    b->aim = PDK__AIM_INSIDE;
    b->phase = PDK__MEMBER_INSIDE;
    b->deadline_ms = PDK__NEVER;
    pdk__actions_add(out, (struct pdk__action){.kind = PDK__ACT_GRANTED});
}

/* Is it one of the first COUNT members? Where there are more, it asks the others for their age, one after the other,
 * until too few are left to be that many before it. True: yes. False: a question is under way. */
static bool admit(struct pdk__double_barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    size_t unknown = 0;
    if (!b->passing)
        b->older = 0;
    const char *other = find_other(b, ev, b->passing ? ev->name : NULL, &unknown);
    b->passing = false;
    b->admitted = b->admitted || b->older + unknown < b->count;
    if (!b->admitted)
        ask(b, out, PDK__ACT_IDENTIFY, PDK__MEMBER_PLACING, other);
    return b->admitted;
}

static void on_counted(struct pdk__double_barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__NO_NODE || (ev->outcome == PDK__OK && !contains(ev, b->name))) {
        forget_node(b, out); /* another client has deleted it */
        rename_node(b);
        back_off(b, ev->now_ms);
    } else if (ev->outcome != PDK__OK) {
        refuse(b, ev, out);
    } else if (is_a_lock(ev)) { /* its contenders would be counted */
        fail(b, out, PDK_EINVAL, PDK__AIM_QUIT);
    } else if (!admit(b, ev, out)) {
        return;
    } else if (contains(ev, PDK__READY)) {
        ask(b, out, PDK__ACT_IDENTIFY, PDK__MEMBER_DATING, PDK__READY);
    } else if (ev->n_children >= b->count) {
        ask(b, out, PDK__ACT_CREATE, PDK__MEMBER_OPENING, PDK__READY);
    } else if (b->once) {
        fail(b, out, PDK_ETIMEDOUT, PDK__AIM_QUIT);
    } else { /* "ready" is not there: only exists can watch for its creation */
        b->watched = b->by_exists = true;
        ask(b, out, PDK__ACT_WATCH, PDK__MEMBER_FOLLOWING, PDK__READY);
    }
}

/* None that is older has come since the last listing. */
static void list_kept(struct pdk__double_barrier *b, struct pdk__actions *out)
{
    list(b, out);
    out->list[out->n - 1].kept = true;
}

/* One that is older than our node is of the round before. */
static void on_dated(struct pdk__double_barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__NO_NODE) {
        list(b, out);
    } else if (ev->outcome != PDK__OK) {
        refuse(b, ev, out);
    } else if (ev->token > b->came) {
        enter(b, ev->token, out);
    } else if (b->once) {
        fail(b, out, PDK_ETIMEDOUT, PDK__AIM_QUIT);
    } else {
        b->round = ev->token;
        b->outwaits = true;
        list(b, out);
    }
}

/* Those that were older, and there when they were asked, were all there when our node was made. */
static void on_placed(struct pdk__double_barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome != PDK__OK && ev->outcome != PDK__NO_NODE && ev->outcome != PDK__NO_AUTH) {
        refuse(b, ev, out);
        return;
    }
    b->older += ev->outcome == PDK__OK && ev->token < b->token;
    b->passing = ev->outcome != PDK__NO_NODE;
    if (b->older >= b->count)
        fail(b, out, PDK_EBUSY, PDK__AIM_QUIT);
    else if (b->passing)
        list_kept(b, out);
    else
        list(b, out);
}

/* For a node with a name of its own, "exhausted" is the answer that it exists. */
static bool exists(const struct pdk__event *ev) { return ev->outcome == PDK__REFUSED && ev->error == PDK_EEXHAUSTED; }

static void on_opened(struct pdk__double_barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__OK)
        enter(b, ev->token, out);
    else if (exists(ev))
        ask(b, out, PDK__ACT_IDENTIFY, PDK__MEMBER_DATING, PDK__READY);
    else if (ev->outcome == PDK__NO_NODE)
        list(b, out); /* the path was deleted, with our node */
    else
        refuse(b, ev, out);
}

static void close_barrier(struct pdk__double_barrier *b, struct pdk__actions *out)
{
    ask(b, out, PDK__ACT_IDENTIFY, PDK__MEMBER_CHECKING, PDK__READY);
}

/* "ready" of the round is not there any more. */
static void be_closed(struct pdk__double_barrier *b, struct pdk__actions *out)
{
    if (b->outwaits) {
        b->outwaits = false;
        list(b, out);
    } else {
        conclude(b, out, 0);
    }
}

/* No member is left that is waited for. One that came since has the next round before it. */
static void finish(struct pdk__double_barrier *b, struct pdk__actions *out)
{
    if (b->node == PDK__NODE_NO || b->outwaits)
        close_barrier(b, out);
    else
        remove_node(b, out);
}

static void follow(struct pdk__double_barrier *b, struct pdk__actions *out, const char *name)
{
    b->watched = true;
    ask(b, out, PDK__ACT_WATCH, PDK__MEMBER_FOLLOWING, name);
}

static void on_others(struct pdk__double_barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    const char *after = b->passing ? ev->name : NULL;
    bool stays = b->node != PDK__NODE_NO && !b->outwaits;
    if (!b->passing)
        b->lowest = stays && is_lowest(b, ev);
    b->passing = false;
    const char *other = find_other(b, ev, after, NULL);
    if (other == NULL)
        finish(b, out);
    else if (stays && !b->lowest)
        remove_node(b, out);
    else
        follow(b, out, other);
}

/* Has the own node gone against our will? Its delete was not requested, and the listing lacks it. */
static bool missing(struct pdk__double_barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (contains(ev, b->name))
        return false;
    bool lost = b->node == PDK__NODE_YES;
    if (b->node != PDK__NODE_NO)
        forget_node(b, out);
    return lost;
}

/* On the way in, while the round before lasts. */
static void on_outwaited(struct pdk__double_barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__OK && contains(ev, b->name) && contains(ev, PDK__READY)) {
        on_others(b, ev, out);
    } else {
        b->outwaits = b->lowest = b->passing = false;
        on_counted(b, ev, out);
    }
}

static void on_listed(struct pdk__double_barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (b->outwaits) {
        on_outwaited(b, ev, out);
    } else if (ev->outcome != PDK__OK && ev->outcome != PDK__NO_NODE) {
        refuse(b, ev, out);
    } else if (b->aim == PDK__AIM_TIDY) {
        bool stale = ev->n_children == 1 && is_ready(ev->children[0]);
        stale ? close_barrier(b, out) : conclude(b, out, 0);
    } else if (missing(b, ev, out)) {
        fail(b, out, PDK_ELOST, PDK__AIM_TIDY);
    } else {
        on_others(b, ev, out);
    }
}

/* --- the other answers ------------------------------------------------------------------------------------------- */

static void got_node(struct pdk__double_barrier *b, int64_t token)
{
    b->token = token;
    if (b->came == 0)
        b->came = token;
}

static void on_created(struct pdk__double_barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    assert(b->aim == PDK__AIM_ENTER);
    if (exists(ev)) {
        ask(b, out, PDK__ACT_IDENTIFY, PDK__MEMBER_IDENTIFYING, b->name);
        return;
    }
    if (ev->outcome == PDK__UNKNOWN) {
        b->unsure = true;
        back_off(b, ev->now_ms);
        return;
    }
    got_node(b, ev->token);
    b->node = ev->outcome == PDK__OK ? PDK__NODE_YES : b->unsure ? PDK__NODE_MAYBE : PDK__NODE_NO;
    if (ev->outcome == PDK__OK)
        list(b, out);
    else if (ev->outcome == PDK__NO_NODE && b->parent_tries++ < PDK__BARRIER_PARENT_TRIES_MAX)
        ask(b, out, PDK__ACT_PARENTS, PDK__MEMBER_PARENTS, NULL);
    else
        refuse(b, ev, out);
}

static void on_made_parents(struct pdk__double_barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__OK)
        create(b, out);
    else
        refuse(b, ev, out);
}

/* A node of that name is ours if this session owns it. Another client can read the name of a node, and make one. */
static void on_identified(struct pdk__double_barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    bool ours = ev->outcome == PDK__OK && ev->owner == b->session;
    if (ours) {
        b->node = PDK__NODE_YES;
        got_node(b, ev->token);
        list(b, out);
    } else if (ev->outcome == PDK__OK || ev->outcome == PDK__NO_NODE) {
        forget_node(b, out);
        rename_node(b);
        back_off(b, ev->now_ms);
    } else {
        refuse(b, ev, out);
    }
}

/* Of "ready", on the way in. */
static void on_ready_read(struct pdk__double_barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__OK)
        list(b, out);
    else if (ev->outcome == PDK__NO_NODE)
        wait(b, ev->now_ms, out);
    else
        refuse(b, ev, out);
}

static void on_other_read(struct pdk__double_barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__NO_AUTH && !b->by_exists) {
        b->by_exists = true;
        ask(b, out, PDK__ACT_WATCH, PDK__MEMBER_FOLLOWING, NULL);
    } else if (ev->outcome == PDK__NO_NODE) {
        b->watched = b->by_exists; /* a read of a missing node sets no watch */
        list(b, out);
    } else if (ev->outcome == PDK__OK && ev->token > b->round) {
        b->passing = true;
        list(b, out);
    } else if (ev->outcome == PDK__OK) {
        wait(b, ev->now_ms, out);
    } else {
        refuse(b, ev, out);
    }
}

static void on_watched(struct pdk__double_barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    b->phase = PDK__MEMBER_WAITING;
    if (b->aim == PDK__AIM_ENTER && !b->outwaits) {
        on_ready_read(b, ev, out);
    } else if (b->aim == PDK__AIM_ENTER || b->aim == PDK__AIM_LEAVE) {
        on_other_read(b, ev, out);
    } else {
        go(b, out); /* the request has failed meanwhile */
    }
}

/* It was of another session. Where it cannot be deleted, it ends with that. */
static void on_outlived_removed(struct pdk__double_barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__UNKNOWN) {
        back_off(b, ev->now_ms);
        return;
    }
    b->outlived = false;
    go(b, out);
}

static void on_removed(struct pdk__double_barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (b->outlived) {
        on_outlived_removed(b, ev, out);
        return;
    }
    if (ev->outcome == PDK__UNKNOWN) {
        b->node = PDK__NODE_MAYBE;
        back_off(b, ev->now_ms);
        return;
    }
    bool lost = ev->outcome == PDK__NO_NODE && b->node == PDK__NODE_YES && b->aim == PDK__AIM_LEAVE;
    forget_node(b, out);
    if (ev->outcome != PDK__OK && ev->outcome != PDK__NO_NODE)
        refuse(b, ev, out); /* without DELETE on the path a session cannot remove its own node */
    else if (lost)
        fail(b, out, PDK_ELOST, PDK__AIM_TIDY);
    else
        go(b, out);
}

static void on_checked(struct pdk__double_barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__OK && ev->token == b->round)
        ask(b, out, PDK__ACT_DELETE, PDK__MEMBER_CLOSING, PDK__READY);
    else if (ev->outcome == PDK__OK || ev->outcome == PDK__NO_NODE)
        be_closed(b, out);
    else
        refuse(b, ev, out);
}

static void on_closed(struct pdk__double_barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__OK || ev->outcome == PDK__NO_NODE)
        be_closed(b, out);
    else
        refuse(b, ev, out);
}

/* --- time, session, caller --------------------------------------------------------------------------------------- */

static bool waits_for_caller(const struct pdk__double_barrier *b)
{
    return !b->told && (b->aim == PDK__AIM_ENTER || b->aim == PDK__AIM_LEAVE);
}

/* Is it to go on at a time? */
static bool scheduled(const struct pdk__double_barrier *b)
{
    return b->phase == PDK__MEMBER_BACKOFF || b->phase == PDK__MEMBER_WAITING;
}

static void on_timer(struct pdk__double_barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (waits_for_caller(b) && ev->now_ms >= b->deadline_ms)
        fail(b, out, PDK_ETIMEDOUT, PDK__AIM_QUIT);
    else if (scheduled(b) && ev->now_ms >= b->due_ms)
        go(b, out);
}

static void on_acquire(struct pdk__double_barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    assert(b->aim == PDK__AIM_ENTER && b->phase == PDK__MEMBER_APART);
    b->once = ev->try_only;
    b->deadline_ms = ev->deadline_ms;
    go(b, out);
}

static void on_release(struct pdk__double_barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (waits_for_caller(b)) {
        fail(b, out, PDK_ECANCELED, PDK__AIM_QUIT);
    } else if (b->aim == PDK__AIM_INSIDE) {
        b->aim = PDK__AIM_LEAVE;
        b->once = ev->try_only;
        b->deadline_ms = ev->deadline_ms;
        go(b, out);
    } else if (b->aim == PDK__AIM_TIDY && !b->told) { /* the loss was reported, and now it is answered */
        b->told = true;
        pdk__actions_add(out, (struct pdk__action){.kind = PDK__ACT_FAILED, .error = PDK_ELOST});
        go(b, out);
    }
}

/* The servers have deleted the node if the session ended by their word: ERROR is 0. */
static void on_expired(struct pdk__double_barrier *b, int error, struct pdk__actions *out)
{
    bool left = b->node != PDK__NODE_YES;
    b->outlived |= error != 0 && b->node != PDK__NODE_NO;
    b->connected = b->watched = b->by_exists = b->unsure = false;
    b->node = PDK__NODE_NO;
    if (b->aim == PDK__AIM_INSIDE) {
        b->aim = PDK__AIM_TIDY;
        b->phase = PDK__MEMBER_APART;
        pdk__actions_add(out, (struct pdk__action){.kind = PDK__ACT_LOST});
    } else if (b->aim == PDK__AIM_LEAVE && !left) {
        fail(b, out, PDK_ELOST, PDK__AIM_TIDY);
    } else {
        go(b, out);
    }
}

static void on_session_down(struct pdk__double_barrier *b, struct pdk__actions *out)
{
    b->connected = false;
    b->unsure |= b->phase == PDK__MEMBER_CREATING;
    if (b->phase == PDK__MEMBER_REMOVING && !b->outlived)
        b->node = PDK__NODE_MAYBE;
    if (b->aim != PDK__AIM_INSIDE)
        go(b, out);
}

static void on_session_up(struct pdk__double_barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (b->session != ev->session && b->node != PDK__NODE_NO)
        on_expired(b, PDK_EUNKNOWN, out);
    b->connected = true;
    b->session = ev->session;
    if (b->phase == PDK__MEMBER_APART && (b->aim != PDK__AIM_TIDY || b->told || b->outlived))
        go(b, out);
}

static void on_session_over(struct pdk__double_barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (b->aim == PDK__AIM_INSIDE)
        pdk__actions_add(out, (struct pdk__action){.kind = PDK__ACT_LOST});
    if (waits_for_caller(b))
        pdk__actions_add(out, (struct pdk__action){.kind = PDK__ACT_FAILED, .error = ev->error});
    b->watched = false;
    b->told = true;
    conclude(b, out, 0);
}

/* The session goes on without us: the node must go. */
static void on_session_left(struct pdk__double_barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (waits_for_caller(b)) {
        fail(b, out, ev->error, PDK__AIM_QUIT);
    } else if (b->aim == PDK__AIM_INSIDE) {
        pdk__actions_add(out, (struct pdk__action){.kind = PDK__ACT_LOST});
        b->told = true;
        b->aim = PDK__AIM_QUIT;
        go(b, out);
    } else if (b->aim == PDK__AIM_TIDY) {
        b->told = true;
        conclude(b, out, 0);
    }
}

/* --- the machine ------------------------------------------------------------------------------------------------- */

static bool expects(const struct pdk__double_barrier *b, enum pdk__event_kind kind)
{
    static const enum pdk__event_kind replies[] = {[PDK__MEMBER_CREATING] = PDK__EV_CREATED,
                                                   [PDK__MEMBER_PARENTS] = PDK__EV_MADE_PARENTS,
                                                   [PDK__MEMBER_IDENTIFYING] = PDK__EV_IDENTIFIED,
                                                   [PDK__MEMBER_COUNTING] = PDK__EV_LISTED,
                                                   [PDK__MEMBER_PLACING] = PDK__EV_IDENTIFIED,
                                                   [PDK__MEMBER_DATING] = PDK__EV_IDENTIFIED,
                                                   [PDK__MEMBER_OPENING] = PDK__EV_CREATED,
                                                   [PDK__MEMBER_FOLLOWING] = PDK__EV_WATCHED,
                                                   [PDK__MEMBER_LISTING] = PDK__EV_LISTED,
                                                   [PDK__MEMBER_REMOVING] = PDK__EV_DELETED,
                                                   [PDK__MEMBER_CHECKING] = PDK__EV_IDENTIFIED,
                                                   [PDK__MEMBER_CLOSING] = PDK__EV_DELETED,
                                                   [PDK__MEMBER_OVER] = 0};
    return replies[b->phase] == kind;
}

static void on_reply(struct pdk__double_barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    static void (*const takes[])(struct pdk__double_barrier *, const struct pdk__event *, struct pdk__actions *) = {
        [PDK__MEMBER_CREATING] = on_created,       [PDK__MEMBER_PARENTS] = on_made_parents,
        [PDK__MEMBER_IDENTIFYING] = on_identified, [PDK__MEMBER_COUNTING] = on_counted,
        [PDK__MEMBER_PLACING] = on_placed,         [PDK__MEMBER_DATING] = on_dated,
        [PDK__MEMBER_OPENING] = on_opened,         [PDK__MEMBER_FOLLOWING] = on_watched,
        [PDK__MEMBER_LISTING] = on_listed,         [PDK__MEMBER_REMOVING] = on_removed,
        [PDK__MEMBER_CHECKING] = on_checked,       [PDK__MEMBER_CLOSING] = on_closed};
    if (ev->op == b->op && expects(b, ev->kind))
        takes[b->phase](b, ev, out);
}

/* A watch reports once; what has changed is seen by a listing. */
static void on_fired(struct pdk__double_barrier *b, struct pdk__actions *out)
{
    if (b->phase != PDK__MEMBER_WAITING)
        return;
    b->watched = b->by_exists = false;
    go(b, out);
}

void pdk__double_barrier_init(struct pdk__double_barrier *b, uint64_t *ops, size_t count, uint32_t attempt,
                              uint64_t seed, int64_t session, bool connected)
{
    *b = (struct pdk__double_barrier){
        .ops = ops, .count = count, .attempt = attempt, .session = session, .connected = connected};
    assert(ops != NULL && count > 0 && attempt != 0);
    b->deadline_ms = PDK__NEVER;
    pdk__retry_init(&b->retry, seed);
}

static void dispatch(struct pdk__double_barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    switch (ev->kind) {
    case PDK__EV_ACQUIRE:
        on_acquire(b, ev, out);
        break;
    case PDK__EV_RELEASE:
        on_release(b, ev, out);
        break;
    case PDK__EV_TIMER:
        on_timer(b, ev, out);
        break;
    case PDK__EV_SESSION_UP:
        on_session_up(b, ev, out);
        break;
    case PDK__EV_SESSION_DOWN:
        on_session_down(b, out);
        break;
    case PDK__EV_SESSION_EXPIRED:
        on_expired(b, ev->error, out);
        break;
    case PDK__EV_SESSION_OVER:
        on_session_over(b, ev, out);
        break;
    case PDK__EV_SESSION_LEFT:
        on_session_left(b, ev, out);
        break;
    case PDK__EV_LOOK_AGAIN:
        if (b->phase == PDK__MEMBER_WAITING)
            go(b, out);
        break;
    case PDK__EV_FIRED:
        on_fired(b, out);
        break;
    default:
        on_reply(b, ev, out);
        break;
    }
}

/* --- the invariants ---------------------------------------------------------------------------------------------- */

/* Does a round end for it: the one that it leaves, or the one before its own, which it waits out? */
static bool ends_round(const struct pdk__double_barrier *b)
{
    return (b->aim == PDK__AIM_ENTER && b->outwaits) || b->aim == PDK__AIM_LEAVE ||
           (b->aim == PDK__AIM_TIDY && b->told);
}

static bool aim_allowed(const struct pdk__double_barrier *b)
{
    switch (b->phase) {
    case PDK__MEMBER_CREATING:
    case PDK__MEMBER_PARENTS:
    case PDK__MEMBER_IDENTIFYING:
        return b->aim == PDK__AIM_ENTER;
    case PDK__MEMBER_COUNTING:
    case PDK__MEMBER_PLACING:
    case PDK__MEMBER_DATING:
    case PDK__MEMBER_OPENING:
        return b->aim == PDK__AIM_ENTER && !b->outwaits;
    case PDK__MEMBER_WAITING:
        return b->aim == PDK__AIM_ENTER || b->aim == PDK__AIM_LEAVE;
    case PDK__MEMBER_FOLLOWING:
        return b->aim == PDK__AIM_ENTER || b->aim == PDK__AIM_LEAVE || b->aim == PDK__AIM_QUIT;
    case PDK__MEMBER_INSIDE:
        return b->aim == PDK__AIM_INSIDE;
    case PDK__MEMBER_LISTING:
    case PDK__MEMBER_CHECKING:
    case PDK__MEMBER_CLOSING:
        return ends_round(b);
    case PDK__MEMBER_REMOVING:
        return b->outlived ? b->aim != PDK__AIM_INSIDE : b->aim == PDK__AIM_LEAVE || b->aim == PDK__AIM_QUIT;
    default:
        return b->aim != PDK__AIM_INSIDE;
    }
}

static bool node_allowed(const struct pdk__double_barrier *b)
{
    bool enters = b->aim == PDK__AIM_ENTER;
    if (b->aim == PDK__AIM_TIDY || b->outlived)
        return b->node == PDK__NODE_NO;
    if (b->phase == PDK__MEMBER_CREATING || b->phase == PDK__MEMBER_IDENTIFYING)
        return b->node == PDK__NODE_MAYBE;
    if (b->phase == PDK__MEMBER_PARENTS)
        return b->node != PDK__NODE_YES;
    if (b->phase == PDK__MEMBER_CHECKING || b->phase == PDK__MEMBER_CLOSING)
        return b->node == (enters ? PDK__NODE_YES : PDK__NODE_NO);
    bool asks = b->phase > PDK__MEMBER_IDENTIFYING && b->phase != PDK__MEMBER_REMOVING;
    return b->node == PDK__NODE_YES || !(b->phase == PDK__MEMBER_INSIDE || (enters && asks));
}

static bool watch_allowed(const struct pdk__double_barrier *b)
{
    if (b->phase == PDK__MEMBER_WAITING)
        return b->watched && !b->once;
    if (b->phase == PDK__MEMBER_FOLLOWING)
        return b->watched;
    bool created = b->node == PDK__NODE_YES || b->aim != PDK__AIM_ENTER;
    bool enters = b->phase >= PDK__MEMBER_CREATING && b->phase <= PDK__MEMBER_OPENING;
    if (!created || enters || b->phase == PDK__MEMBER_INSIDE || b->phase == PDK__MEMBER_LISTING)
        return !b->watched && !b->by_exists;
    return b->watched || !b->by_exists;
}

/* The phases after BACKOFF ask a server, but for INSIDE. */
static bool question_allowed(const struct pdk__double_barrier *b)
{
    bool asks = b->phase >= PDK__MEMBER_CREATING && b->phase != PDK__MEMBER_INSIDE;
    return (b->connected || !(asks || b->phase == PDK__MEMBER_BACKOFF)) && (!asks || b->op != 0);
}

/* It goes on with the next member in a listing, and a connection can be lost before that. While others are asked for
 * their age, too few of them were older. */
static bool passing_allowed(const struct pdk__double_barrier *b)
{
    bool lists = b->phase == PDK__MEMBER_COUNTING || b->phase == PDK__MEMBER_LISTING;
    bool counts = b->phase == PDK__MEMBER_PLACING || (b->passing && b->aim == PDK__AIM_ENTER && !b->outwaits);
    return (!b->passing || b->told || lists || b->phase < PDK__MEMBER_CREATING || b->phase == PDK__MEMBER_REMOVING) &&
           (!counts || b->older < b->count);
}

bool pdk__double_barrier_allowed(const struct pdk__double_barrier *b)
{
    if (b->phase == PDK__MEMBER_OVER)
        return true;
    if (b->outlived && b->phase != PDK__MEMBER_APART && b->phase != PDK__MEMBER_BACKOFF &&
        b->phase != PDK__MEMBER_REMOVING)
        return false; /* the node of the session that was given up goes before all else */
    bool told = b->told ? b->aim == PDK__AIM_QUIT || b->aim == PDK__AIM_TIDY : b->aim != PDK__AIM_QUIT;
    bool outwaits = !b->outwaits || b->aim == PDK__AIM_ENTER || b->aim == PDK__AIM_QUIT;
    return told && outwaits && aim_allowed(b) && node_allowed(b) && watch_allowed(b) && question_allowed(b) &&
           passing_allowed(b);
}

void pdk__double_barrier_step(struct pdk__double_barrier *b, const struct pdk__event *event,
                              struct pdk__actions *actions)
{
    assert(b->phase != PDK__MEMBER_OVER && pdk__contract_allows_member(b, event));
    actions->n = 0;
    dispatch(b, event, actions);
    assert(pdk__double_barrier_allowed(b));
}

int64_t pdk__double_barrier_wake_ms(const struct pdk__double_barrier *b)
{
    int64_t deadline_ms = waits_for_caller(b) ? b->deadline_ms : PDK__NEVER;
    return scheduled(b) && b->due_ms < deadline_ms ? b->due_ms : deadline_ms;
}
