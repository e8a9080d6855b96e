/*
 * An attendance: one call of a barrier, or one stay in a double barrier, from its request until nothing of it is left.
 * The caller may have its answer, and be gone, before that.
 *
 * It is counted: by its creator, and by its participant while that is at work.
 */
#ifndef PDK__ATTENDANCE_H
#define PDK__ATTENDANCE_H

#include "lib/zk/participant.h"
#include "recipes/object.h"

struct pdk__attendance {
    struct pdk__participant participant;
    struct pdk__object *object;
    unsigned refs;
    bool at_work;  /* the participant is not done */
    bool answered; /* the caller's request has its result */
    int result;
    bool inside; /* of a double barrier */
    bool lost;   /* its session has ended inside */
    pthread_cond_t moved;
    char *data;
    size_t data_size;
};

/* All with the client's lock held. */

/* A new one, which the creator holds by a reference. NULL when memory is out. */
struct pdk__attendance *pdk__attendance_new(struct pdk__object *o);
void pdk__attendance_unref(struct pdk__attendance *a);

/* Begin, or go on to leave. 0, or why nothing was begun. */
int pdk__attendance_call(struct pdk__attendance *a, enum pdk__barrier_task task, int64_t timeout_ms);
int pdk__attendance_enter(struct pdk__attendance *a, size_t count, int64_t timeout_ms);
void pdk__attendance_leave(struct pdk__attendance *a, int64_t timeout_ms);

/* The caller wants no answer any more: a member leaves, and waits for no other. */
void pdk__attendance_drop(struct pdk__attendance *a);

/* Wait for the answer. A thread that is cancelled drops the attendance, calls CANCELLED, which must not wait, and ends
 * its call of the object. */
int pdk__attendance_await(struct pdk__attendance *a, void (*cancelled)(struct pdk__attendance *a));

#endif
