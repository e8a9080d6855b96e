/*
 * The queue as one contender sees it: which contender it waits for, and how that one's node is watched.
 */
#ifndef PDK__QUEUE_H
#define PDK__QUEUE_H

#include "lib/core/event.h"

struct pdk__contender;

/* A path that its only contender could not renew so often will not be renewed. A client that takes our number each time
 * goes on. */
enum { PDK__RETURNS_MAX = 8 };

struct pdk__queue {
    bool looked;       /* a listing before any create was made */
    bool leaves;       /* our node has no place in the queue, and goes; the request goes on, with another */
    bool spent;        /* the numbers of the path are used up: no other is made until it is vacant, or was renewed */
    unsigned returns;  /* how often it left although it was the only one, or because another had its number. Of one
                          that must not come back alone, too: its owner has all come back */
    bool watching;     /* a watch on a predecessor, or on the children, may be set */
    bool by_exists;    /* it was asked for by exists */
    bool before;       /* it is on the contender before the predecessor, which is still ahead when the watch fires */
    bool next_in_line; /* the deletion of one contender would have admitted us: by the last listing or event */
    bool leads;        /* the first of those that it would have admitted */
    bool replaceable;  /* unless that one has left another in its place */
};

/* The listing before a create: of a try, or where the numbers are used up. */
void pdk__queue_looked(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out);

/* A listing that shows the place of our node. */
void pdk__queue_listed(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out);

/* The predecessor is read and watched; or the children are listed and watched, where the rule is BY_CHILDREN. */
void pdk__queue_watched(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out);

/* That watch has fired. */
void pdk__queue_fired(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out);

#endif
