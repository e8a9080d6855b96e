#include "test/lib/lanes.h"

#include <string.h>

/* More readers than a run has. */
enum { MANY = 1000 };

/* A multi-lock is first on one path while it waits for another, and so is a permit for the others of its request: for
 * as long as holders linger. */
const struct lane_rule lane_rules[N_LANES] = {
    [LANE_LOCK] = {.path = "/chaos/lock", .room = 1, .patience = 2},
    [LANE_RWLOCK] = {.path = "/chaos/rwlock", .room = MANY, .patience = 2},
    [LANE_PERMITS] = {.path = "/chaos/permits/leases", .room = PERMITS_LIMIT, .counts_all = true, .patience = 12},
    [LANE_GATE] = {.path = "/chaos/permits/locks", .room = 1, .is_indirect = true},
    [LANE_A] = {.path = "/chaos/multi-a", .room = 1, .patience = 12},
    [LANE_B] = {.path = "/chaos/multi-b", .room = 1, .patience = 12},
    [LANE_C] = {.path = "/chaos/multi-c", .room = 1, .patience = 12},
    [LANE_D] = {.path = "/chaos/multi-d", .room = 1, .patience = 12},
    [LANE_E] = {.path = "/chaos/multi-e", .room = 1, .patience = 12},
    [LANE_F] = {.path = "/chaos/multi-f", .room = 1, .patience = 12},
    [LANE_G] = {.path = "/chaos/multi-g", .room = 1, .patience = 12},
    [LANE_H] = {.path = "/chaos/multi-h", .room = 1, .patience = 12},
    [LANE_TURNS] = {.path = "/chaos/turns", .room = 1, .patience = 2},
};

static const struct {
    const char *name;
    enum lane lane;
} recipes[N_RECIPES] = {
    [RECIPE_MUTEX] = {"mutex", LANE_LOCK},        [RECIPE_READ] = {"read", LANE_RWLOCK},
    [RECIPE_WRITE] = {"write", LANE_RWLOCK},      [RECIPE_DOWNGRADE] = {"downgrade", LANE_RWLOCK},
    [RECIPE_PERMITS] = {"permits", LANE_PERMITS}, [RECIPE_MULTI] = {"multi-lock", LANE_A},
    [RECIPE_TURN] = {"turn", LANE_TURNS},
};

const char *recipe_name(enum recipe recipe) { return recipes[recipe].name; }

enum recipe recipe_by_name(const char *name)
{
    for (int i = 0; i < N_RECIPES; i++)
        if (strcmp(recipes[i].name, name) == 0)
            return (enum recipe)i;
    return RECIPE_MUTEX;
}

enum lane recipe_lane(enum recipe recipe) { return recipes[recipe].lane; }

int lane_weight(enum lane lane, const char *node)
{
    if (lane == LANE_PERMITS || (lane == LANE_RWLOCK && strstr(node, "__READ__") != NULL))
        return 1;
    return lane_rules[lane].room;
}
