/*
 * The holder record of a lock delay, in the lock path's own data. A holder writes it before its grant and clears it
 * before it deletes its node. So a record whose node is deleted shows that its holder did not release the lock, and the
 * successor waits.
 */
#ifndef PDK__RECORD_H
#define PDK__RECORD_H

#include "lib/core/event.h"

struct pdk__contender;

/* May the record be ours? */
enum pdk__record_ours { PDK__RECORD_NO, PDK__RECORD_MAYBE, PDK__RECORD_YES };

/* Since when we have known a record whose owner's node is deleted. The code that creates contenders keeps it from one
 * to the next, so that the wait goes on and does not begin again; unless a contender's node is deleted by another
 * client, or with its session. */
struct pdk__delay {
    int64_t token; /* of the record */
    int64_t since_ms;
};

struct pdk__record {
    enum pdk__record_ours ours;
    int32_t version;    /* of the path's data, when it is ours */
    uint64_t clear_op;  /* the last request to clear it */
    int64_t delayed_ms; /* until when */
};

/* The record is read, written, cleared. */
void pdk__record_read(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out);
void pdk__record_written(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out);
void pdk__record_cleared(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out);

#endif
