/*
 * Events of a lock on their way to the program: to its callback, and to a descriptor that it polls. Each of the two
 * gets all of them, in order. A program that lets more than 16 wait loses some in the middle, and never the last one of
 * a sort: a change of the grant, a request for it, a place in the queue.
 *
 * Each has a queue of its own, allocated when the program asks for it and not when an event comes: a report cannot
 * fail. Most locks have neither.
 */
#ifndef PDK__EVENTS_H
#define PDK__EVENTS_H

#include "paddock/lock.h"
#include "recipes/object.h"

enum { PDK__EVENTS_MAX = 16 };

struct pdk__event_queue {
    size_t n;
    pdk_event list[PDK__EVENTS_MAX];
};

struct pdk__events {
    struct pdk__object *object; /* of LOCK; counted from the moment at which an event waits for the callback until that
                                   has run */
    pdk_lock *lock;
    struct pdk__callback callback;
    pdk_event_cb cb;
    void *arg;
    struct pdk__event_queue *to_call; /* NULL until the first callback */
    int fd;                           /* readable while TO_READ is not empty; -1 until the first request for it */
    struct pdk__event_queue *to_read; /* NULL until then */
};

void pdk__events_init(struct pdk__events *events, struct pdk__object *object, pdk_lock *lock);

/* All below with the client's lock held. */

void pdk__events_tell(struct pdk__events *events, pdk_event event);

/* Set the callback from now on. With NULL there is none, and events that still wait for it are forgotten. PDK_ENOMEM:
 * all is as before. */
int pdk__events_call(struct pdk__events *events, pdk_event_cb cb, void *arg);

/* The descriptor, opened at the first request for it, or PDK_ESYSTEM, PDK_ENOMEM. */
int pdk__events_fd(struct pdk__events *events);

/* Take the oldest event that waits to be read. False when there is none. */
bool pdk__events_read(struct pdk__events *events, pdk_event *event);

/* From now on no event is reported, and the descriptor is closed. */
void pdk__events_end(struct pdk__events *events);

/* Free what is left, without the lock or with it. */
void pdk__events_clear(struct pdk__events *events);

#endif
