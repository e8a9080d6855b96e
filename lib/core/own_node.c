#include "lib/core/own_node.h"
#include "lib/assert.h"
#include "lib/core/order.h"
#include "paddock/error.h"
#include <string.h>

bool pdk__own_node_there(const struct pdk__own_node *n)
{
    return n->watch == PDK__OWN_WATCHED && n->verified && !n->by_exists;
}

void pdk__own_node_forget_watch(struct pdk__own_node *n)
{
    n->watch = PDK__OWN_UNWATCHED;
    n->watch_op = 0;
    n->again_ms = 0; /* the next connection may answer */
}

void pdk__own_node_forget(struct pdk__own_node *n)
{
    n->exists = PDK__NODE_NO;
    n->verified = false;
    n->revoked = false;
    n->confirmed = 0;
    n->shown_ms = 0;
    pdk__own_node_forget_watch(n);
}

static void found(struct pdk__own_node *n, const struct pdk__event *ev, int32_t version)
{
    assert(n->exists != PDK__NODE_NO);
    n->exists = PDK__NODE_YES;
    n->token = ev->token;
    n->version = version;
    n->lost_creates = n->parent_tries = 0;
}

struct pdk__verdict pdk__own_node_created(struct pdk__own_node *n, const struct pdk__event *ev, int64_t session)
{
    bool nameless = ev->outcome == PDK__OK && (ev->name == NULL || ev->name[0] == '\0');
    if (ev->outcome == PDK__UNKNOWN || nameless) /* a server may say anything: the node is looked for */
        return pdk__verdict(PDK__MOVE_RETRY);
    if (ev->outcome != PDK__OK)
        return pdk__verdict_refused(PDK__MOVE_UNCREATED, ev);
    found(n, ev, 0);
    strncpy(n->name, ev->name, PDK__NAME_MAX - 1);
    n->verified = ev->owner == session && ev->token > 0;
    return n->verified ? pdk__verdict(PDK__MOVE_CREATED) : pdk__verdict_fail(PDK_EREFUSED);
}

/* The lowest candidate that was not looked at yet. Without one, the node does not exist. */
struct pdk__verdict pdk__own_node_candidate(struct pdk__own_node *n, const struct pdk__event *ev, int64_t session,
                                            uint32_t attempt)
{
    assert(n->exists == PDK__NODE_MAYBE);
    const char *candidate = NULL;
    if (ev->outcome == PDK__OK)
        candidate = pdk__order_candidate(ev->children, ev->n_children, session, attempt, n->name);
    if (candidate == NULL)
        return pdk__verdict(PDK__MOVE_ABSENT);
    strncpy(n->name, candidate, PDK__NAME_MAX - 1);
    return pdk__verdict(PDK__MOVE_CANDIDATE);
}

struct pdk__verdict pdk__own_node_identified(struct pdk__own_node *n, const struct pdk__event *ev, int64_t session)
{
    assert(n->exists == PDK__NODE_MAYBE && n->name[0] != '\0');
    if (ev->outcome == PDK__OK && ev->owner == session && ev->token > 0) {
        found(n, ev, ev->version);
        n->verified = true;
        return pdk__verdict(PDK__MOVE_ADVANCE);
    }
    if (ev->outcome == PDK__OK || ev->outcome == PDK__NO_NODE) /* another client's, or deleted */
        return pdk__verdict(PDK__MOVE_ANOTHER);
    if (ev->outcome == PDK__UNKNOWN)
        return pdk__verdict(PDK__MOVE_RETRY);
    return pdk__verdict_refused(PDK__MOVE_SEARCH, ev);
}

static struct pdk__verdict seen(struct pdk__own_node *n, const struct pdk__event *ev, int64_t session)
{
    if (ev->owner != session || ev->token == 0 || ev->token != n->token)
        return pdk__verdict(PDK__MOVE_NODE_DELETED); /* another node, under our name */
    n->watch = PDK__OWN_WATCHED;
    n->verified = true;
    n->version = ev->version;
    return (struct pdk__verdict){.move = PDK__MOVE_SEEN, .revoked = ev->revoked};
}

struct pdk__verdict pdk__own_node_read(struct pdk__own_node *n, const struct pdk__event *ev, int64_t session)
{
    assert(n->exists == PDK__NODE_YES && n->watch_op != 0);
    n->watch = PDK__OWN_UNWATCHED;
    if (ev->outcome == PDK__OK)
        return seen(n, ev, session);
    if (ev->outcome == PDK__NO_NODE)
        return pdk__verdict(PDK__MOVE_NODE_DELETED);
    if (ev->outcome == PDK__NO_AUTH && !n->by_exists) {
        n->by_exists = true;
        return pdk__verdict(PDK__MOVE_LOOK);
    }
    return ev->outcome == PDK__UNKNOWN ? pdk__verdict(PDK__MOVE_UNSEEN) : pdk__verdict_refused(PDK__MOVE_UNSEEN, ev);
}

/* A quorum agreed on the write, so the node existed, after all that the last holder had written. If the outcome is
 * unknown, or another client wrote meanwhile, the node is read again, and written again. */
struct pdk__verdict pdk__own_node_confirmed(struct pdk__own_node *n, const struct pdk__event *ev, int64_t session)
{
    assert(n->exists == PDK__NODE_YES && n->verified);
    if (ev->outcome == PDK__NO_NODE || (ev->outcome == PDK__OK && ev->owner != session))
        return pdk__verdict(PDK__MOVE_NODE_DELETED);
    if (ev->outcome == PDK__OK && ev->token > n->token) {
        n->confirmed = ev->token;
        n->version = ev->version;
        return pdk__verdict(PDK__MOVE_CONFIRMED);
    }
    if (ev->outcome == PDK__OK)
        return pdk__verdict_fail(PDK_EREFUSED); /* a server may say anything */
    if (ev->outcome == PDK__UNKNOWN || ev->outcome == PDK__CHANGED) {
        n->verified = false;
        return pdk__verdict(PDK__MOVE_RETRY);
    }
    return pdk__verdict_refused(PDK__MOVE_FAIL, ev);
}

struct pdk__verdict pdk__own_node_deleted(const struct pdk__own_node *n, const struct pdk__event *ev, bool released)
{
    assert(n->exists == PDK__NODE_YES && n->n_deletes > 0);
    if (ev->outcome == PDK__UNKNOWN)
        return pdk__verdict(PDK__MOVE_RETRY);
    /* Refused: without DELETE on the path a session cannot remove its own node, and asking again will not help. */
    if (ev->outcome != PDK__OK && ev->outcome != PDK__NO_NODE)
        return pdk__verdict_refused(PDK__MOVE_DELETED, ev);
    /* Another client deleted the node of a grant, and its event did not come before the release. */
    bool lost = ev->outcome == PDK__NO_NODE && released && n->n_deletes == 1;
    return (struct pdk__verdict){.move = PDK__MOVE_DELETED, .error = lost ? PDK_ELOST : 0};
}
