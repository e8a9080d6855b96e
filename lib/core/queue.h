/*
 * The queue as one contender sees it: which contender it waits for, and how that one's node is watched.
 */
#ifndef PDK__QUEUE_H
#define PDK__QUEUE_H

#include "lib/core/verdict.h"

struct pdk__rule;

struct pdk__queue {
    bool looked;       /* a listing before any create was made */
    bool watching;     /* a watch on a predecessor, or on the children, may be set */
    bool by_exists;    /* it was asked for by exists */
    bool next_in_line; /* the deletion of one contender would have admitted us, by the last listing */
    bool replaceable;  /* unless that one has left another in its place */
};

/* The listing of a try, before its create: ADVANCE, or FAIL with PDK_EBUSY. */
struct pdk__verdict pdk__queue_looked(struct pdk__queue *q, const struct pdk__rule *rule, const struct pdk__event *ev);

/* A listing, to find the place of the node OWN, made under the number of BASE or "": FIRST, WATCH, NODE_DELETED or FAIL.
 * PDK_ELOST: BASE is deleted. A TRY does not wait. */
struct pdk__verdict pdk__queue_listed(struct pdk__queue *q, const struct pdk__rule *rule, const struct pdk__event *ev,
                                      const char *own, const char *base, bool try_only);

/* The predecessor is read and watched: WAIT, WATCH, MOVE_UP, RETRY or FAIL. */
struct pdk__verdict pdk__queue_watched(const struct pdk__queue *q, const struct pdk__event *ev);

/* The children are listed and watched, where the rule is BY_CHILDREN: as pdk__queue_listed(), but WAIT, and RETRY. */
struct pdk__verdict pdk__queue_watched_children(struct pdk__queue *q, const struct pdk__rule *rule,
                                                const struct pdk__event *ev, const char *own);

/* Its watch has fired: MOVE_UP or ADVANCE. EARLY: before the reply to the request for it. */
struct pdk__verdict pdk__queue_fired(struct pdk__queue *q, const struct pdk__event *ev, bool early);

#endif
