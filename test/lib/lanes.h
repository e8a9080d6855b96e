/*
 * The lanes of a run: the paths that its clients contend for, each with one recipe, and which grants exclude each other
 * on it.
 *
 * Each node has a weight and each path a room. A contender is in when it and those that are in before it fit into the
 * room. So a mutex's node fills the room, as do a writer's, a leader's and a multi-lock's on each of its paths. A
 * reader's is one of many; a permit's is one of the limit.
 */
#ifndef PDK__TEST_LANES_H
#define PDK__TEST_LANES_H

#include <stdbool.h>

enum lane {
    LANE_LOCK,
    LANE_RWLOCK,
    LANE_PERMITS,
    LANE_GATE, /* of the semaphore: its first collects permits */
    LANE_A,    /* of the multi-locks, from here */
    LANE_B,
    LANE_C,
    LANE_D,
    LANE_E,
    LANE_F,
    LANE_G,
    LANE_H, /* to here */
    LANE_TURNS,
    N_LANES
};

/* KEPT_MS: how long a node stays without an owner, where it does. */
enum { PERMITS_LIMIT = 3, MULTI_PATHS = 8, PARTS_MAX = 8, KEPT_MS = 1000 };

/* The kinds of requests. */
enum recipe {
    RECIPE_MUTEX,
    RECIPE_READ,
    RECIPE_WRITE,
    RECIPE_DOWNGRADE, /* to read, under the write lock that the client has */
    RECIPE_PERMITS,
    RECIPE_MULTI,
    RECIPE_TURN,
    N_RECIPES
};

struct lane_rule {
    const char *path;
    int room;
    bool counts_all;  /* a child without a sequence number is a contender, too */
    int patience;     /* for how many sessions a node may be in that no grant has; 0: not judged */
    bool is_indirect; /* nothing is granted there: the nodes serve another lane */
};

extern const struct lane_rule lane_rules[N_LANES];

/* The names in the records of a history; where the nodes of a recipe are, when it has one node. */
const char *recipe_name(enum recipe recipe);
enum recipe recipe_by_name(const char *name); /* RECIPE_MUTEX for what is no name */
enum lane recipe_lane(enum recipe recipe);

/* The weight of a node with that name. */
int lane_weight(enum lane lane, const char *node);

#endif
