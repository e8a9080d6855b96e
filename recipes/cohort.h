/*
 * A cohort: the objects of a client and a path that take turns under one node (handover.h), and what they share: the
 * acquisitions of all of them, and the queue for turns. An object without local hand-over is alone in its cohort.
 */
#ifndef PDK__COHORT_H
#define PDK__COHORT_H

#include "recipes/turn.h"

struct pdk__lockable;
struct pdk__acquisition;

/* Counted by its objects, until no hold of any is left. */
struct pdk__cohort {
    struct pdk_client *client;
    const char *path;              /* of all */
    char *copy;                    /* owned: it outlasts each of the objects. NULL where there is one object only */
    struct pdk__list link;         /* in the client's cohorts, while an object can join */
    struct pdk__list objects;      /* of pdk__lockable: those that the program has not freed */
    struct pdk__list acquisitions; /* of pdk__acquisition: those that contend or are owned */
    unsigned refs;
    struct pdk__delay delay;

    /* requests that wait for a turn; where there is no hand-over, deferred.run is NULL */
    struct pdk__turns turns;
    struct pdk__acquisition *failed; /* the one that contended for them, until they know; counted */
    struct pdk__deferred deferred;
};

/* All with the client's lock held. */

/* K is alone in its cohort, until it joins another. */
void pdk__cohort_init(struct pdk__lockable *k);

/* K joins the cohort of its path whose nodes are as its own: they have the same data and the same conditions. The first
 * one makes it, and RUN is what its turns are served by. PDK_ENOMEM: nothing has changed. */
int pdk__cohort_join(struct pdk__lockable *k, void (*run)(struct pdk__deferred *deferred));

/* The program frees K. Returns another object of the cohort, or NULL: it was the last. */
struct pdk__lockable *pdk__cohort_retire(struct pdk__lockable *k);

/* Nothing is left of K. */
void pdk__cohort_leave(struct pdk__lockable *k);

#endif
