/* An administrator's, or a stranger's, faults against the lock itself. Only while the servers are well: blocking
 * calls. */
#include "test/chaos/nemesis.h"

#include "test/lib/check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool servers_are_hurt(const struct nemesis *n)
{
    for (int i = 0; i < n->n_active; i++)
        if (fault_sort(n->active[i].id) == SORT_SERVER)
            return true;
    return false;
}

static bool servers_are_well(const struct nemesis *n)
{
    return !servers_are_hurt(n) && n->well_ns != 0 && zoo_state(n->zh) == ZOO_CONNECTED_STATE;
}

/* One of those that the clients use. */
static const char *choose_path(struct nemesis *n, struct fault *f)
{
    do
        f->lane = (enum lane)dice_below(&n->dice, N_LANES);
    while ((n->workers->lanes >> f->lane & 1) == 0);
    return lane_rules[f->lane].path;
}

static const char *sequence(const char *name) { return strlen(name) > 10 ? name + strlen(name) - 10 : name; }

static bool delete_child(struct nemesis *n, const char *parent, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", parent, name);
    return admin_delete(n, path) == ZOK;
}

/* The first of the queue, or any. */
static bool delete_node(struct nemesis *n, struct fault *f)
{
    struct String_vector names = {0};
    const char *path = choose_path(n, f);
    if (!servers_are_well(n) || zoo_get_children(n->zh, path, 0, &names) != ZOK || names.count == 0)
        return false;
    int chosen = dice_below(&n->dice, names.count);
    for (int i = 0; dice_chance(&n->dice, 70) && i < names.count; i++)
        if (strcmp(sequence(names.data[i]), sequence(names.data[chosen])) < 0)
            chosen = i;
    f->took = delete_child(n, path, names.data[chosen]);
    snprintf(f->node, sizeof f->node, "%s", names.data[chosen]);
    deallocate_String_vector(&names);
    return true;
}

/* A contender that comes in between is deleted with the rest, in the next try. */
static bool delete_path(struct nemesis *n, struct fault *f)
{
    struct String_vector names = {0};
    const char *path = choose_path(n, f);
    if (!servers_are_well(n))
        return false;
    for (int tries = 0; tries < 20 && !f->took; tries++) {
        if (zoo_get_children(n->zh, path, 0, &names) != ZOK)
            return tries > 0;
        for (int i = 0; i < names.count; i++)
            delete_child(n, path, names.data[i]);
        deallocate_String_vector(&names);
        f->took = admin_delete(n, path) == ZOK;
    }
    return true;
}

static bool create(struct nemesis *n, struct fault *f, const char *name, int mode)
{
    char path[256], made[256];
    snprintf(path, sizeof path, "%s/%s", choose_path(n, f), name);
    int rc = admin_create(n, path, mode, made);
    f->took = rc == ZOK;
    if (rc == ZOPERATIONTIMEOUT && mode == ZOO_PERSISTENT)
        snprintf(made, sizeof made, "%s", path);
    else if (rc != ZOK)
        return false;
    snprintf(f->node, sizeof f->node, "%.100s", strrchr(made, '/') + 1);
    return true;
}

/* A contender of another library, which queues, holds and goes. */
static bool come(struct nemesis *n, struct fault *f)
{
    char name[80];
    if (!servers_are_well(n))
        return false;
    unsigned long long a = dice_throw(&n->dice), b = dice_throw(&n->dice);
    if (dice_chance(&n->dice, 70))
        snprintf(name, sizeof name, "_c_%08llx-%04llx-4%03llx-a%03llx-%012llx-lock-", a >> 32, a & 0xffff,
                 (a >> 16) & 0xfff, b >> 52, b & 0xffffffffffff);
    else
        snprintf(name, sizeof name, "%016llx%016llx__lock__", a, b);
    return create(n, f, name, ZOO_EPHEMERAL_SEQUENTIAL);
}

static bool litter(struct nemesis *n, struct fault *f)
{
    static const char *const names[] = {"README", "lock-", "x-lock-123", "nothing", "-lock-00000000zz"};
    return servers_are_well(n) && create(n, f, names[dice_below(&n->dice, 5)], ZOO_PERSISTENT);
}

/* It must not stay: a foreign contender blocks all others. */
static bool is_gone(struct nemesis *n, const struct fault *f)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", lane_rules[f->lane].path, f->node);
    admin_mend(n, n->well_ns != 0 && !servers_are_hurt(n));
    int rc = admin_delete(n, path);
    return rc == ZOK || rc == ZNONODE;
}

static void leave(struct nemesis *n, struct fault *f)
{
    if (*f->node != '\0')
        CHECK_WITHIN(60000, is_gone(n, f));
}

const struct fault_kind admin_faults[N_FAULTS] = {
    [FAULT_NODE_DELETED] = {10, 0, 10, true, delete_node, NULL, NULL},
    [FAULT_PATH_DELETED] = {4, 0, 10, false, delete_path, NULL, NULL},
    [FAULT_FOREIGN] = {6, 10, 300, false, come, NULL, leave},
    [FAULT_JUNK] = {3, 50, 1000, false, litter, NULL, leave},
};
