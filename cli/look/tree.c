#include "cli/look/tree.h"

#include "cli/look/site.h"
#include "cli/message.h"
#include "cli/owner.h"
#include "lib/assert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
    char *path;
    int depth;
    bool part; /* of a semaphore */
};

/* Breadth first: what is nearest to a root is looked at when there is too much. */
struct queue {
    struct item *items;
    size_t n, next, room;
};

static int push(struct queue *q, char *path, int depth, bool part)
{
    if (path != NULL && q->n == q->room) {
        size_t room = 2 * q->room + 16;
        struct item *items = realloc(q->items, room * sizeof *items);
        if (items != NULL) {
            q->items = items;
            q->room = room;
        }
    }
    if (path == NULL || q->n == q->room) {
        free(path);
        return PDK_ENOMEM;
    }
    q->items[q->n++] = (struct item){path, depth, part};
    return 0;
}

static void queue_free(struct queue *q)
{
    for (size_t i = 0; i < q->n; i++)
        free(q->items[i].path);
    free(q->items);
}

/* --- below a path ------------------------------------------------------------------------------------------------ */

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

static int push_children(struct pdk__cli_tree *tree, struct queue *q, const struct item *item,
                         const pdk_contender_list *list)
{
    int rc = 0;
    bool semaphore = pdk__cli_site(list) == SITE_SEMAPHORE;
    for (size_t i = 0; rc == 0 && i < pdk_contender_list_size(list); i++) {
        const char *name = pdk_contender_text(list, i, PDK_CONTENDER_NAME);
        bool own = strcmp(item->path, "/") == 0 && strcmp(name, "zookeeper") == 0;
        if (own || !may_have_children(list, i))
            continue;
        if (item->depth >= tree->depth || q->n >= (size_t)tree->max_paths)
            tree->truncated = true;
        else
            rc = push(q, join(item->path, name), item->depth + 1, semaphore && pdk__cli_is_part(name));
    }
    return rc;
}

/* --- a path ------------------------------------------------------------------------------------------------------ */

/* The list is the tree's from here on. */
static int add_place(struct pdk__cli_tree *tree, const char *path, pdk_contender_list *list, bool part)
{
    struct pdk__cli_place *places = realloc(tree->places, (tree->n + 1) * sizeof *places);
    char *copy = strdup(path), *semaphore = part ? strndup(path, (size_t)(strrchr(path, '/') - path)) : NULL;
    if (places != NULL)
        tree->places = places;
    if (places == NULL || copy == NULL || (part && semaphore == NULL)) {
        free(copy);
        free(semaphore);
        pdk_contender_list_free(list);
        return PDK_ENOMEM;
    }
    tree->places[tree->n++] = (struct pdk__cli_place){copy, list, semaphore};
    tree->n_contenders += pdk_contender_list_size(list);
    return 0;
}

static bool has_contender(const pdk_contender_list *list)
{
    return pdk_contender_list_size(list) > 0 && !pdk__cli_is_junk(list, 0);
}

/* Names alone cost one request, and most paths of a tree are no locks. */
static int look(pdk_client *c, struct pdk__cli_tree *tree, struct queue *q, const struct item *item)
{
    pdk_contender_list *names = NULL, *list = NULL;
    int rc = pdk_contenders(c, item->path, 0, tree->timeout_ms, &names);
    tree->n_paths += rc == 0;
    bool lock = rc == 0 && (has_contender(names) || (tree->parts && item->part));
    if (lock && tree->n_contenders + pdk_contender_list_size(names) > PDK__CLI_CONTENDERS_MAX) {
        tree->truncated = true;
        lock = false;
    }
    if (lock)
        rc = pdk_contenders(c, item->path, PDK_CONTENDERS_ALL, tree->timeout_ms, &list);
    if (rc == 0)
        rc = push_children(tree, q, item, list != NULL ? list : names);
    pdk_contender_list_free(names);
    if (rc == 0 && list != NULL)
        return add_place(tree, item->path, list, item->part);
    pdk_contender_list_free(list);
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
            rc = push(&q, strdup(roots[i]), 0, false);
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
        pdk_contender_list *list = NULL;
        rc = pdk_contenders(c, before->places[i].path, PDK_CONTENDERS_ALL, before->timeout_ms, &list);
        if (rc == 0)
            rc = add_place(tree, before->places[i].path, list, before->places[i].semaphore != NULL);
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
    }
    free(tree->places);
}
