/*
 * The verdicts. The files of a contender's nouns judge an event: own_node, queue, record, session_view. They keep their
 * own part of the state, and return what the event means for the contender as a whole. contender.c acts on it. A
 * verdict alone carries out nothing.
 */
#ifndef PDK__VERDICT_H
#define PDK__VERDICT_H

#include "lib/core/event.h"

enum pdk__move {
    PDK__MOVE_NONE,    /* nothing follows */
    PDK__MOVE_ADVANCE, /* continue from the known state of the node and from the request */
    PDK__MOVE_RETRY,   /* the outcome is unknown: the same after a rest */
    PDK__MOVE_FAIL,    /* error: end the request */
    PDK__MOVE_SEARCH,  /* error: end the request, but go on looking for the node, which may exist */
    /* own_node */
    PDK__MOVE_CREATED,      /* the node exists, and the listing that was sent with its create follows */
    PDK__MOVE_UNCREATED,    /* error: the node does not exist, and no request that could still create it is under way */
    PDK__MOVE_CANDIDATE,    /* `name` of the node may be ours: read its owner */
    PDK__MOVE_ANOTHER,      /* the candidate is not ours: look for another */
    PDK__MOVE_ABSENT,       /* no candidate is left */
    PDK__MOVE_SEEN,         /* the node is there, and is watched; revoked: it carries a revocation request */
    PDK__MOVE_UNSEEN,       /* error, or 0: reading the node had no result */
    PDK__MOVE_LOOK,         /* read and watch the node */
    PDK__MOVE_NODE_DELETED, /* the node is deleted, or another node has its name */
    PDK__MOVE_CONFIRMED,    /* a quorum has agreed that the node exists */
    PDK__MOVE_DELETED,      /* error, or 0: the node is deleted, or cannot be */
    /* queue */
    PDK__MOVE_FIRST,   /* the rule admits us */
    PDK__MOVE_WATCH,   /* name, by_exists: wait for this contender */
    PDK__MOVE_WAIT,    /* its watch is set */
    PDK__MOVE_MOVE_UP, /* it is deleted */
    /* record */
    PDK__MOVE_CHECK,    /* the record is ours: go on with the grant, if the node is still there */
    PDK__MOVE_DELAY,    /* another holder did not clear it: wait */
    PDK__MOVE_RECORD,   /* write it */
    PDK__MOVE_RECORDED, /* it is written */
    PDK__MOVE_CLEAR,    /* clear it again */
    /* session_view */
    PDK__MOVE_SUSPECT, /* a grant is in doubt */
    PDK__MOVE_RECOVER, /* it may no longer be */
    PDK__MOVE_LOSE,    /* it has ended */
    PDK__MOVE_REPLACE, /* the session is another one, and nothing was said of the end of the old one */
    PDK__MOVE_EXPIRE,  /* the session has ended; confirmed: by the servers' word */
    PDK__MOVE_END,     /* error: the same, and no session will follow */
    PDK__MOVE_LEAVE,   /* error: it goes on without us */
    PDK__N_MOVES
};

struct pdk__verdict {
    enum pdk__move move;
    int error;
    const char *name; /* borrowed from the event */
    bool by_exists;
    bool revoked;
    bool confirmed;
};

struct pdk__verdict pdk__verdict(enum pdk__move move);

/* The request ends with ERROR. */
struct pdk__verdict pdk__verdict_fail(int error);

/* MOVE, with the error by which the servers have refused the request that EVENT answers. */
struct pdk__verdict pdk__verdict_refused(enum pdk__move move, const struct pdk__event *event);

#endif
