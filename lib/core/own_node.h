/*
 * A contender's own node: whether it exists, whether it is ours, and whether its deletion would be noticed.
 *
 * A watch on it costs three packets: the request, its reply, and the event at the release. So the watch is set only
 * once a fixed part of the session timeout has passed since the node was first listed, or was written. Until then a
 * deletion by another client goes unnoticed, for that long and no longer: later listings do not put the watch off. They
 * show a name, which another client may have given to a node of its own. A node that is meant to be held for long, as a
 * leader's is, is watched at once.
 *
 * It is an exact name. Either the create's reply carried it, or it has our session and attempt and its owner was read
 * and is our session.
 */
#ifndef PDK__OWN_NODE_H
#define PDK__OWN_NODE_H

#include "lib/core/event.h"
#include "lib/core/name.h"

enum pdk__existence { PDK__NODE_NO, PDK__NODE_MAYBE, PDK__NODE_YES };

/* The part of the session timeout for which no watch is set on a node that was shown: a twentieth. */
enum { PDK__UNWATCHED_PART = 20 };

/* The state of the watch on it, as far as is known. KEPT: it was set before the last connection was lost. ZooKeeper's
 * client sets it again on the next, and an event that was missed comes then, perhaps after that of another node. */
enum pdk__own_watch { PDK__OWN_UNWATCHED, PDK__OWN_ASKED, PDK__OWN_WATCHED, PDK__OWN_KEPT };

struct pdk__own_node {
    enum pdk__existence exists;
    bool verified; /* its owner was seen to be our session, and the token is known */
    bool revoked;  /* a revocation request was seen in it */
    int64_t token;
    int32_t version;          /* of its data, while verified */
    int64_t confirmed;        /* the token of a write of it, made once no contender was ahead; 0: no such write */
    char name[PDK__NAME_MAX]; /* its exact name, once it is there; before, the candidate that was looked at last */
    /* the watch */
    enum pdk__own_watch watch;
    uint64_t watch_op;
    bool by_exists;   /* it is watched by exists, because it may not be read */
    int64_t shown_ms; /* when the request was sent that has shown it: its first listing, or the latest write of it */
    int64_t again_ms; /* reading it had no result: not again before then, on this connection */
    /* the tries */
    unsigned lost_creates;          /* in a row */
    unsigned parent_tries;          /* in a row */
    enum pdk__outcome parents_made; /* of the last of them */
    int parents_error;
    unsigned n_deletes; /* requests to delete this node so far; of several, one may have succeeded unreported */
};

/* Is it known to be there now: its watch would have reported otherwise? */
bool pdk__own_node_there(const struct pdk__own_node *n);

/* Its watch may miss events from now on. */
void pdk__own_node_forget_watch(struct pdk__own_node *n);

/* The connection is lost, and a watch that was set is not asked for again: its events may come late. */
void pdk__own_node_keep_watch(struct pdk__own_node *n);

/* It does not exist. */
void pdk__own_node_forget(struct pdk__own_node *n);

#endif
