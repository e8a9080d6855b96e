/*
 * An actor: a thread of a client that takes what a recipe has, judges the answer, holds for a while, and leaves; round
 * after round. A recipe is a row, and a mode of it has its verbs.
 */
#ifndef SIM_ACTOR_H
#define SIM_ACTOR_H

#include "test/sim/world.h"
#include <paddock.h>

/* The verbs of a mode. NULL: it has none of the kind. The grant of a verb is the calling actor's. */
struct verbs {
    const char *name;
    int (*wait)(pdk_lock *l);
    int (*attempt)(pdk_lock *l);
    int (*wait_until)(pdk_lock *l, int64_t timeout_ms);
    int (*request)(pdk_lock *l, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_grant **g);
    int (*release)(pdk_lock *l);
    int (*release_later)(pdk_lock *l, pdk_lock_cb cb, void *arg);
};

/* The options that a recipe is given, and what is peculiar to it. */
enum {
    HAS_DATA = 1,
    HAS_CONFIRMED = 2,
    HAS_TURNS = 4, /* threads hand a grant on */
    HAS_IDLE = 8,  /* an unused lock stays */
    HAS_NOWAIT = 16,
    HAS_DELAY = 32,
    HAS_LOOK_AHEAD = 64,
    HAS_REFUSE_MIXED = 128,
    HAS_PERMITS = 256, /* several at once; a grant has a handle */
    HAS_TERMS = 512,   /* a candidate: its grants end and begin without a call */
    HAS_ALL_PATHS = 1024
};

struct recipe {
    const char *name;
    const char *path;
    int nodes; /* the path that they stand on; the last of all paths */
    unsigned has;
    int (*make)(pdk_lock **l, pdk_client *c, const char *path, const pdk_lock_options *o);
    pdk_event_cb told; /* NULL: events are not asked for. Its argument is the client */
    const struct verbs *mode, *rarely;
    void (*go_on)(struct actor *a); /* with what it has taken, as the calling thread's */
    void (*act)(struct actor *a);   /* a round in place of all that */
};

extern const struct recipe recipes[RECIPES];

/* Any of WHAT. */
static inline bool has(const struct recipe *r, unsigned what) { return (r->has & what) != 0; }

/* actor.c */
instant ms(int64_t n);
void hold(struct actor *a);
int take(struct actor *a, int kind);
void leave(struct actor *a, bool last);

/* The callback of a request. */
void actor_granted(int rc, void *actor);

/* answers.c: what an actor is answered is judged as it comes. No time passes in there. */
void judge_answer(const struct actor *a, int rc);
void judge_grant(struct actor *a);
pdk_state judge_state(const struct actor *a);
void judge_time(const struct actor *a, int64_t began_ms, int64_t timeout_ms);

/* The nodes of a grant, as its actor knew them before it let go. */
struct nodes {
    unsigned n;
    char names[PERMITS_MAX][PDK__NAME_MAX];
};

void actor_nodes(const struct actor *a, struct nodes *nodes);
void judge_release(const struct actor *a, const struct nodes *nodes, int rc, bool lost, bool last, bool later);

/* After a flush the nodes are gone, if they were released at all. */
void judge_flush(const struct actor *a, const struct nodes *nodes);

/* The child of a holder holds nothing, and touches nothing of its parent's. */
void judge_child(struct actor *a);

/* An event of a mutex. */
void judge_event(pdk_lock *l, const pdk_event *event, void *client);

/* candidates.c: the verbs of a leader, and its events. */
extern const struct verbs candidate_verbs;
int candidate_make(pdk_lock **l, pdk_client *c, const char *path, const pdk_lock_options *o);
void candidate_told(pdk_lock *l, const pdk_event *event, void *client);
void candidate_go_on(struct actor *a);

/* jobs.c: a holder does the job of its path. */
void job_do(struct actor *a);

/* attendants.c: a round at the barriers. */
void attendant_act(struct actor *a);

#endif
