/*
 * The crafts of a worker: one object, its grants one after the other, and the same few questions for every recipe.
 * All functions are for the worker's own thread.
 */
#ifndef PDK__TEST_CRAFTS_H
#define PDK__TEST_CRAFTS_H

#include "test/lib/dice.h"
#include "test/lib/history.h"
#include "test/lib/lanes.h"
#include <paddock.h>

/* The next request. */
struct wish {
    enum recipe recipe;
    int n_nodes; /* of a grant */
    enum way way;
    int64_t timeout_ms;
};

typedef void (*told_cb)(pdk_state state, int64_t token);

enum { CRAFT_THREADS_MAX = 500 };

/* How a lock is held and given back. Not every craft has each. */
struct craft_options {
    int threads;   /* of a worker by dice with a mutex, each with requests of its own; 0: one, with hand-over two */
    bool handover; /* the threads of a process take turns */
    bool idle;     /* the node stays for KEPT_MS */
    bool nowait;   /* an unlock does not wait */
    bool brief;    /* a worker by dice holds for a moment, and locks again at once */
    bool jobs;     /* a worker by dice runs jobs under the mutex (job.h) */
};

struct craft {
    const char *name; /* for the command lines of worker and run */
    unsigned lanes;   /* the set of lanes (1U << lane) that it uses */
    int (*make)(pdk_client *c, told_cb cb, const struct craft_options *options);
    void (*choose)(struct dice *dice, struct wish *wish); /* recipe and nodes; may be NULL: that of a mutex */
    int (*lock)(const struct wish *wish);
    int (*unlock)(bool yields);
    pdk_state (*state)(void);
    int64_t (*valid_ms)(void);
    int64_t (*token)(void);                       /* of the grant; 0: it is over */
    uint64_t (*turn)(void);                       /* of the grant under its node. May be NULL */
    int (*parts)(struct record parts[PARTS_MAX]); /* the nodes, RC being their lanes; how many */
    int (*free)(void);
    bool yields; /* an unlock can leave the client a candidate */
};

/* NULL: there is none of that name. "mutex" is the worker's own. */
const struct craft *craft_find(const char *name);

/* Divide "NAME+OPTION...", as "mutex+handover+idle"; a number, as in "mutex+25", is that of the threads. False: there
 * is no such option. */
bool craft_read(const char *text, char name[32], struct craft_options *options);

/* Every one but the mutex's; ends with NULL. A seed of a run chooses among the first four. */
extern const struct craft *const crafts[];

/* A writer's grant: go on as a reader. */
int craft_downgrade(void);

#endif
