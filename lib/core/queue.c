#include "lib/core/queue.h"
#include "lib/assert.h"
#include "lib/core/ask.h"
#include "lib/core/course.h"
#include "paddock/error.h"

/* A path can be renewed only when it is vacant: by its last contender, else by us. Then it may never be vacant
 * again. */
static bool open_to_us(const struct pdk__contender *c, const struct pdk__event *ev)
{
    size_t places = c->wish->places > 0 ? c->wish->places : 1;
    if (ev->outcome != PDK__OK) /* there is no path */
        return true;
    if (c->queue.spent)
        return pdk__rule_renewed(c->wish->rule, ev->children, ev->n_children);
    return pdk__rule_free(c->wish->rule, ev->children, ev->n_children, places);
}

void pdk__queue_looked(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    assert(c->queue.spent || !c->queue.looked);
    if (open_to_us(c, ev)) {
        c->queue.looked = true;
        c->queue.spent = false;
        pdk__course_advance(c, out);
    } else if (c->wish->try_only) {
        pdk__course_fail(c, out, PDK_EBUSY);
    } else {
        pdk__course_back_off(c);
    }
}

/* A node that was created on this connection, right before the listing, is there. */
static void first(struct pdk__contender *c, struct pdk__actions *out)
{
    if (c->phase == PDK__CREATING)
        pdk__course_grant(c, out);
    else
        pdk__course_check(c, out);
}

static void wait(struct pdk__contender *c)
{
    assert(c->queue.watching);
    c->phase = PDK__WAITING;
    if (c->queue.by_exists)
        pdk__course_timer(c);
}

/* An exists-watch may be on a node that was gone when it was set, and would stay there. */
static void watch(struct pdk__contender *c, const char *predecessor, bool by_exists, struct pdk__actions *out)
{
    if (c->queue.by_exists)
        pdk__ask_unwatch(c, out);
    pdk__ask_watch(c, out, predecessor, by_exists);
    pdk__ask_own_if_due(c, out);
}

/* A client knows of its own contender whether it was the first when it went. */
static bool of_our_client(const struct pdk__contender *c, const char *child)
{
    struct pdk__name ours = pdk__name_parse(c->node.name), name = pdk__name_parse(child);
    return name.kind == PDK__NAME_OURS && name.session == ours.session;
}

/* Looking ahead: the listing that shows who is left is made while the predecessor holds, so that its end admits us. */
static bool looks_ahead(const struct pdk__contender *c, const struct pdk__place *place)
{
    return c->wish->conditions->look_ahead && place->before != NULL && !of_our_client(c, place->predecessor);
}

static void queue_up(struct pdk__contender *c, const struct pdk__place *place, struct pdk__actions *out)
{
    c->queue.next_in_line = place->next;
    c->queue.leads = place->leads;
    c->queue.replaceable = place->replaceable;
    c->queue.before = looks_ahead(c, place);
    if (c->phase == PDK__WATCHING) /* the watch on the children was set with the listing */
        wait(c);
    else
        watch(c, c->queue.before ? place->before : place->predecessor, false, out);
}

/* A listing tells a name only, which may be that of another node by now: but for the first, it does not put the watch
 * of our node off. */
static void take_place(struct pdk__contender *c, const struct pdk__place *place, struct pdk__actions *out)
{
    if (c->node.shown_ms == 0)
        c->node.shown_ms = c->asked_ms;
    if (place->admitted)
        first(c, out);
    else
        queue_up(c, place, out);
}

/* Its number is no place in the queue. */
static bool numberless(const struct pdk__contender *c)
{
    int64_t sequence = pdk__name_parse(c->node.name).sequence;
    return sequence >= PDK__SEQUENCE_LAST || sequence < 0;
}

/* Can it give up its node and make another? */
static bool may_come_back(const struct pdk__contender *c)
{
    return !c->wish->bound && c->wish->base == NULL && c->queue.returns < PDK__RETURNS_MAX;
}

static bool has_no_place(const struct pdk__contender *c, const struct pdk__place *place)
{
    return place->tied || numberless(c);
}

/* Why our node cannot be admitted or wait at PLACE; or 0. */
static int objection(const struct pdk__contender *c, const struct pdk__place *place)
{
    if (place->baseless)
        return PDK_ELOST;
    if (c->wish->try_only && (numberless(c) ? !place->alone : !place->admitted))
        return PDK_EBUSY;
    return has_no_place(c, place) && !may_come_back(c) ? PDK_EEXHAUSTED : 0;
}

/* It comes back, or its owner does with all that are bound. */
static void note_return(struct pdk__contender *c, const struct pdk__place *place)
{
    c->queue.spent = numberless(c);
    c->queue.returns += place->alone || !c->queue.spent;
}

static void leave(struct pdk__contender *c, const struct pdk__place *place, struct pdk__actions *out)
{
    note_return(c, place);
    c->queue.leaves = true;
    pdk__course_advance(c, out);
}

static void fail(struct pdk__contender *c, const struct pdk__place *place, int error, struct pdk__actions *out)
{
    if (error == PDK_EEXHAUSTED)
        note_return(c, place);
    pdk__course_fail(c, out, error);
}

void pdk__queue_listed(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    /* once the lock is not wanted, a known node is deleted, and no listing is requested */
    assert(c->requested && c->node.name[0] != '\0');
    struct pdk__place place = {0};
    if (ev->outcome == PDK__OK)
        place = pdk__rule_place(c->wish->rule, ev->children, ev->n_children, c->node.name, c->wish->base);
    int error = place.present ? objection(c, &place) : 0;
    if (!place.present)
        pdk__course_node_deleted(c, out);
    else if (error != 0)
        fail(c, &place, error, out);
    else if (has_no_place(c, &place))
        leave(c, &place, out);
    else
        take_place(c, &place, out);
}

/* The predecessor is deleted, and no watch is wanted there. */
static void move_up(struct pdk__contender *c, struct pdk__actions *out)
{
    c->queue.watching = false;
    if (c->session.connected && c->queue.next_in_line && !c->queue.replaceable)
        pdk__course_check(c, out);
    else
        pdk__course_advance(c, out);
}

static void watched_children(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__UNKNOWN)
        pdk__course_back_off(c);
    else if (pdk__event_refused(ev))
        pdk__course_fail(c, out, pdk__event_error(ev));
    else
        pdk__queue_listed(c, ev, out);
}

void pdk__queue_watched(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    assert(c->queue.watching);
    if (c->wish->rule->by_children)
        watched_children(c, ev, out);
    else if (ev->outcome == PDK__OK)
        wait(c);
    else if (ev->outcome == PDK__NO_NODE)
        move_up(c, out);
    else if (ev->outcome == PDK__NO_AUTH && !c->queue.by_exists)
        watch(c, ev->name, true, out);
    else if (ev->outcome == PDK__REFUSED)
        pdk__course_fail(c, out, pdk__event_error(ev));
    else /* nor by exists (servers from 3.8.4 on): list at intervals */
        pdk__course_back_off(c);
}

/* An event before the reply can be of an older watch, set again with the connection. The one that was asked for can be
 * set after it: by exists in any case, by getData unless the node is deleted. */
void pdk__queue_fired(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    bool early = c->phase == PDK__WATCHING;
    if (!early && c->phase != PDK__WAITING)
        return;
    assert(c->queue.watching);
    c->queue.watching = early;
    c->queue.next_in_line = c->queue.next_in_line || (ev->deleted && ev->first && !c->queue.before);
    if (ev->deleted)
        move_up(c, out);
    else
        pdk__course_advance(c, out);
}
