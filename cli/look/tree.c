#include "cli/look/tree.h"

#include "cli/look/site.h"
#include "cli/message.h"
#include "cli/owner.h"
#include "lib/assert.h"
#include "lib/core/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
    char *path;
    int depth;
    bool part;     /* of a semaphore */
    bool recorded; /* a record may stand beside it */
};

/* Breadth first: what is nearest to a root is looked at when there is too much. */
struct queue {
    struct item *items;
    size_t n, next, room;
};

/* The path of ITEM is the queue's from here on. */
static int push(struct queue *q, struct item item)
{
    if (item.path != NULL && q->n == q->room) {
        size_t room = 2 * q->room + 16;
        struct item *items = realloc(q->items, room * sizeof *items);
        if (items != NULL) {
            q->items = items;
            q->room = room;
        }
    }
    if (item.path == NULL || q->n == q->room) {
        free(item.path);
        return PDK_ENOMEM;
    }
    q->items[q->n++] = item;
    return 0;
}

static void queue_free(struct queue *q)
{
    for (size_t i = 0; i < q->n; i++)
        free(q->items[i].path);
    free(q->items);
}

/* --- below a path ------------------------------------------------------------------------------------------------ */

/* Of a node whose path is not too long for a record's. */
enum { NAME_SIZE = 4096 };

static char *join(const char *path, const char *name)
{
    char *joined = NULL;
    int n = asprintf(&joined, "%s/%s", strcmp(path, "/") != 0 ? path : "", name);
    return n >= 0 ? joined : NULL;
}

/* A contender's node has no children, unless it is none: "job-0000000001" may be a directory of locks. */
static bool may_have_children(const pdk_contender_list *list, size_t i)
{
    bool seen = pdk_contender_number(list, i, PDK_CONTENDER_TOKEN) != 0;
    return pdk__cli_is_junk(list, i) || (seen && pdk_contender_number(list, i, PDK_CONTENDER_SESSION) == 0);
}

/* LIST is in the order of contenders. */
static bool has_name(const pdk_contender_list *list, const char *name)
{
    size_t low = 0, high = pdk_contender_list_size(list);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = pdk__order_compare(pdk_contender_text(list, middle, PDK_CONTENDER_NAME), name);
        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static bool has_record(const pdk_contender_list *list, const char *name)
{
    char record[NAME_SIZE];
    return snprintf(record, sizeof record, "%s" PDK__CLI_RECORD, name) < NAME_SIZE && has_name(list, record);
}

/* The name of the lock whose record NAME may be, where that is not in LIST; "": there is none. */
static void deleted_lock(const pdk_contender_list *list, const char *name, char lock[NAME_SIZE])
{
    size_t length = strlen(name), tail = strlen(PDK__CLI_RECORD);
    bool record = length > tail && length < NAME_SIZE && strcmp(name + length - tail, PDK__CLI_RECORD) == 0;
    snprintf(lock, NAME_SIZE, "%.*s", record ? (int)(length - tail) : 0, name);
    if (strcmp(lock, ".") == 0 || strcmp(lock, "..") == 0 || has_name(list, lock))
        *lock = '\0';
}

static int push_child(struct pdk__cli_tree *tree, struct queue *q, const struct item *parent, const char *name,
                      struct item child)
{
    if (parent->depth >= tree->depth || q->n >= (size_t)tree->max_paths) {
        tree->truncated = true;
        return 0;
    }
    child.path = join(parent->path, name);
    child.depth = parent->depth + 1;
    return push(q, child);
}

/* The servers may have deleted a job's path between its runs. */
static int push_children(struct pdk__cli_tree *tree, struct queue *q, const struct item *item,
                         const pdk_contender_list *list)
{
    int rc = 0;
    char lock[NAME_SIZE] = "";
    bool semaphore = pdk__cli_site(list) == SITE_SEMAPHORE;
    for (size_t i = 0; rc == 0 && i < pdk_contender_list_size(list); i++) {
        const char *name = pdk_contender_text(list, i, PDK_CONTENDER_NAME);
        bool own = strcmp(item->path, "/") == 0 && strcmp(name, "zookeeper") == 0;
        if (own || !may_have_children(list, i))
            continue;
        bool part = semaphore && pdk__cli_is_part(name), recorded = tree->runs && has_record(list, name);
        rc = push_child(tree, q, item, name, (struct item){.part = part, .recorded = recorded});
        if (tree->runs)
            deleted_lock(list, name, lock);
        if (rc == 0 && *lock != '\0')
            rc = push_child(tree, q, item, lock, (struct item){.recorded = true});
    }
    return rc;
}

/* --- a path ------------------------------------------------------------------------------------------------------ */

/* The list and the run are the tree's from here on. */
static int add_place(struct pdk__cli_tree *tree, const char *path, pdk_contender_list *list, bool part,
                     struct pdk__cli_last_run *run)
{
    struct pdk__cli_place *places = realloc(tree->places, (tree->n + 1) * sizeof *places);
    char *copy = strdup(path), *semaphore = part ? strndup(path, (size_t)(strrchr(path, '/') - path)) : NULL;
    if (places != NULL)
        tree->places = places;
    if (places == NULL || copy == NULL || (part && semaphore == NULL)) {
        free(copy);
        free(semaphore);
        pdk_contender_list_free(list);
        pdk__cli_last_run_free(run);
        return PDK_ENOMEM;
    }
    tree->places[tree->n++] = (struct pdk__cli_place){copy, list, semaphore, *run};
    tree->n_contenders += pdk_contender_list_size(list);
    return 0;
}

static bool has_contender(const pdk_contender_list *list)
{
    return pdk_contender_list_size(list) > 0 && !pdk__cli_is_junk(list, 0);
}

/* The locks and leases of a semaphore are places, and not its own path. */
static bool is_place(const struct pdk__cli_tree *tree, const struct item *item, const pdk_contender_list *names,
                     const struct pdk__cli_last_run *run)
{
    bool ran = pdk__cli_run_exists(run, PDK_RUN_LAST) && pdk__cli_site(names) != SITE_SEMAPHORE;
    return has_contender(names) || (tree->parts && item->part) || ran;
}

/* NAMES are those of ITEM's path. *LIST stays NULL where it is no place. */
static int list_place(pdk_client *c, struct pdk__cli_tree *tree, const struct item *item,
                      const pdk_contender_list *names, pdk_contender_list **list, struct pdk__cli_last_run *run)
{
    int rc = item->recorded ? pdk__cli_last_run_read(run, c, item->path, tree->timeout_ms) : 0;
    if (rc != 0 || !is_place(tree, item, names, run))
        return rc;
    if (tree->n_contenders + pdk_contender_list_size(names) > PDK__CLI_CONTENDERS_MAX) {
        tree->truncated = true;
        return 0;
    }
    rc = pdk_contenders(c, item->path, PDK_CONTENDERS_ALL, tree->timeout_ms, list);
    return rc == 0 ? pdk__cli_last_run_confirm(run, c, item->path, tree->timeout_ms, *list) : rc;
}

/* Names alone cost one request, and most paths of a tree are no locks. */
static int look(pdk_client *c, struct pdk__cli_tree *tree, struct queue *q, const struct item *item)
{
    pdk_contender_list *names = NULL, *list = NULL;
    struct pdk__cli_last_run run = {0};
    int rc = pdk_contenders(c, item->path, 0, tree->timeout_ms, &names);
    tree->n_paths += rc == 0;
    if (rc == 0)
        rc = list_place(c, tree, item, names, &list, &run);
    if (rc == 0)
        rc = push_children(tree, q, item, list != NULL ? list : names);
    pdk_contender_list_free(names);
    if (rc == 0 && list != NULL)
        return add_place(tree, item->path, list, item->part, &run);
    pdk_contender_list_free(list);
    pdk__cli_last_run_free(&run);
    return rc;
}

/* --- the whole --------------------------------------------------------------------------------------------------- */

static bool is_below(const char *path, const char *root)
{
    size_t n = strcmp(root, "/") != 0 ? strlen(root) : 0;
    return strncmp(path, root, n) == 0 && path[n] == '/';
}

/* Another root has it, or is the same and comes first. */
static bool is_covered(char *const *roots, size_t i)
{
    for (size_t k = 0; roots[k] != NULL; k++)
        if ((k != i && strcmp(roots[k], roots[i]) != 0 && is_below(roots[i], roots[k])) ||
            (k < i && strcmp(roots[k], roots[i]) == 0))
            return true;
    return false;
}

int pdk__cli_tree_walk(pdk_client *c, struct pdk__cli_tree *tree, char *const *roots, const char **at)
{
    struct queue q = {0};
    int rc = 0;
    assert(tree->depth >= 0 && tree->max_paths >= 1 && tree->n == 0);
    *at = roots[0];
    for (size_t i = 0; rc == 0 && roots[i] != NULL; i++)
        if (!is_covered(roots, i))
            rc = push(&q,
                      (struct item){.path = strdup(roots[i]), .recorded = tree->runs && strcmp(roots[i], "/") != 0});
    for (size_t i = 0; rc == 0 && i < q.n; i++) {
        struct item item = q.items[i];
        rc = look(c, tree, &q, &item);
        bool refused = rc == PDK_EACCES || rc == PDK_EPATH;
        for (size_t k = 0; rc != 0 && roots[k] != NULL; k++)
            if (strcmp(roots[k], item.path) == 0)
                *at = roots[k];
        if (refused && item.depth > 0) {
            tree->n_refused++;
            rc = 0;
        }
    }
    queue_free(&q);
    return rc;
}

int pdk__cli_tree_again(pdk_client *c, const struct pdk__cli_tree *before, struct pdk__cli_tree *tree)
{
    int rc = 0;
    assert(tree->n == 0);
    for (size_t i = 0; rc == 0 && i < before->n; i++) {
        struct pdk__cli_last_run none = {0};
        pdk_contender_list *list = NULL;
        rc = pdk_contenders(c, before->places[i].path, PDK_CONTENDERS_ALL, before->timeout_ms, &list);
        if (rc == 0)
            rc = add_place(tree, before->places[i].path, list, before->places[i].semaphore != NULL, &none);
    }
    tree->depth = before->depth;
    tree->max_paths = before->max_paths;
    tree->n_paths = before->n_paths;
    tree->n_refused = before->n_refused;
    tree->truncated = before->truncated;
    return rc;
}

void pdk__cli_tree_warn(const struct pdk__cli_tree *tree, const char *where)
{
    if (tree->truncated)
        pdk__cli_message("not everything was looked at: there are more than %d paths, %d levels or %d contenders; name "
                         "the paths, or see --max-paths and --depth%s",
                         tree->max_paths, tree->depth, PDK__CLI_CONTENDERS_MAX, where);
    if (tree->n_refused > 0)
        pdk__cli_message("%zu paths may not be looked at", tree->n_refused);
}

void pdk__cli_tree_free(struct pdk__cli_tree *tree)
{
    for (size_t i = 0; i < tree->n; i++) {
        free(tree->places[i].path);
        free(tree->places[i].semaphore);
        pdk_contender_list_free(tree->places[i].list);
        pdk__cli_last_run_free(&tree->places[i].last_run);
    }
    free(tree->places);
}
