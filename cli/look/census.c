#include "cli/look/census.h"

#include "cli/message.h"
#include "cli/owner.h"
#include "lib/assert.h"
#include "lib/core/order.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *pdk__cli_node_path(const struct pdk__cli_census *census, size_t node)
{
    assert(node < census->n_nodes);
    return census->tree->places[census->nodes[node].place].path;
}

const pdk_contender_list *pdk__cli_node_list(const struct pdk__cli_census *census, size_t node)
{
    assert(node < census->n_nodes);
    return census->tree->places[census->nodes[node].place].list;
}

void pdk__cli_actor(const struct pdk__cli_census *census, size_t actor, char *text, size_t size)
{
    char owner[700], clean[400], thread[40] = "";
    size_t node = census->speaker[actor], i = census->nodes[node].i;
    const pdk_contender_list *list = pdk__cli_node_list(census, node);
    pdk__cli_owner(list, i, owner, sizeof owner);
    pdk__cli_printable(clean, sizeof clean, 120, owner);
    if (pdk_contender_number(list, i, PDK_CONTENDER_THREAD) != pdk_contender_number(list, i, PDK_CONTENDER_PID))
        snprintf(thread, sizeof thread, " thread %" PRId64, pdk_contender_number(list, i, PDK_CONTENDER_THREAD));
    snprintf(text, size, "%s%s", clean, thread);
}

/* --- nodes ------------------------------------------------------------------------------------------------------- */

/* Is node I of OTHER in LIST? A name may be that of a later node. */
static bool is_in(const pdk_contender_list *list, const pdk_contender_list *other, size_t i)
{
    size_t low = 0, high = pdk_contender_list_size(list);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = pdk__order_compare(pdk_contender_text(list, middle, PDK_CONTENDER_NAME),
                                       pdk_contender_text(other, i, PDK_CONTENDER_NAME));
        if (order == 0)
            return pdk_contender_number(list, middle, PDK_CONTENDER_TOKEN) ==
                   pdk_contender_number(other, i, PDK_CONTENDER_TOKEN);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static bool has_permits(const pdk_contender_list *list)
{
    for (size_t i = 0; i < pdk_contender_list_size(list); i++)
        if (pdk_contender_number(list, i, PDK_CONTENDER_MODE) == PDK_MODE_PERMIT)
            return true;
    return false;
}

static bool add_nodes(struct pdk__cli_census *census, const struct pdk__cli_tree *before)
{
    const struct pdk__cli_tree *tree = census->tree;
    census->nodes = calloc(tree->n_contenders + 1, sizeof *census->nodes);
    for (size_t p = 0; census->nodes != NULL && p < tree->n; p++) {
        const pdk_contender_list *list = tree->places[p].list;
        bool permits = has_permits(list);
        for (size_t i = 0; i < pdk_contender_list_size(list); i++) {
            bool counts = permits || !pdk__cli_is_junk(list, i);
            counts = counts && (before == NULL || is_in(before->places[p].list, list, i));
            census->nodes[census->n_nodes++] = (struct pdk__cli_node){
                .place = p, .i = i, .actor = counts ? 0 : PDK__CLI_NONE};
        }
    }
    return census->nodes != NULL;
}

/* --- actors ------------------------------------------------------------------------------------------------------ */

struct key {
    char text[96];
    size_t node;
};

static void key_of(const struct pdk__cli_census *census, size_t node, bool processes, struct key *key)
{
    const pdk_contender_list *list = pdk__cli_node_list(census, node);
    size_t i = census->nodes[node].i, size = sizeof key->text;
    int64_t session = pdk_contender_number(list, i, PDK_CONTENDER_SESSION),
            pid = pdk_contender_number(list, i, PDK_CONTENDER_PID);
    int64_t thread = processes ? 0 : pdk_contender_number(list, i, PDK_CONTENDER_THREAD);
    key->node = node;
    if (session == 0)
        snprintf(key->text, size, "node %zu", node);
    else if (pid != 0 && *pdk_contender_text(list, i, PDK_CONTENDER_MACHINE) != '\0')
        snprintf(key->text, size, "thread %s %" PRId64 " %" PRId64, pdk_contender_text(list, i, PDK_CONTENDER_MACHINE),
                 pid, thread);
    else
        snprintf(key->text, size, "session %" PRIx64 " %" PRId64, session, thread);
}

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    int order = strcmp(x->text, y->text);
    return order != 0 ? order : x->node < y->node ? -1 : x->node > y->node;
}

static void number_actors(struct pdk__cli_census *census, struct key *keys, size_t n)
{
    qsort(keys, n, sizeof *keys, compare_keys);
    size_t *n_actors = &census->waits.n_actors;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || strcmp(keys[i].text, keys[i - 1].text) != 0)
            census->speaker[(*n_actors)++] = keys[i].node;
        census->nodes[keys[i].node].actor = *n_actors - 1;
    }
}

static bool add_actors(struct pdk__cli_census *census, bool processes)
{
    size_t n = 0;
    struct key *keys = calloc(census->n_nodes + 1, sizeof *keys);
    census->speaker = calloc(census->n_nodes + 1, sizeof *census->speaker);
    bool whole = keys != NULL && census->speaker != NULL;
    for (size_t node = 0; whole && node < census->n_nodes; node++)
        if (census->nodes[node].actor != PDK__CLI_NONE)
            key_of(census, node, processes, &keys[n++]);
    if (whole)
        number_actors(census, keys, n);
    free(keys);
    return whole;
}

/* --- waits ------------------------------------------------------------------------------------------------------- */

static bool add_blocker(struct pdk__cli_census *census, size_t actor)
{
    if (census->n_pool == census->pool_room) {
        size_t room = 2 * census->pool_room + 64;
        size_t *pool = realloc(census->pool, room * sizeof *pool);
        if (pool == NULL)
            return false;
        census->pool = pool;
        census->pool_room = room;
    }
    census->pool[census->n_pool++] = actor;
    return true;
}

/* A wait for the blockers that were added last. They have their place when all are known. */
static bool add_wait(struct pdk__cli_census *census, struct pdk__cli_wait wait, struct pdk__cli_reason reason)
{
    size_t n = census->waits.n;
    if (n == census->list_room) {
        size_t room = 2 * census->list_room + 64;
        struct pdk__cli_wait *list = realloc(census->list, room * sizeof *list);
        struct pdk__cli_reason *reasons = realloc(census->reasons, room * sizeof *reasons);
        census->list = list != NULL ? list : census->list;
        census->reasons = reasons != NULL ? reasons : census->reasons;
        if (list == NULL || reasons == NULL)
            return false;
        census->list_room = room;
    }
    census->list[n] = wait;
    census->reasons[n] = reason;
    census->waits.n++;
    return true;
}

/* A contender that waits for all ahead of it: what is ahead of it need not be counted again. */
static bool waits_for_all(const pdk_contender_list *list, size_t i)
{
    int64_t mode = pdk_contender_number(list, i, PDK_CONTENDER_MODE);
    return (mode == PDK_MODE_EXCLUSIVE || mode == PDK_MODE_WRITE) && !pdk__cli_is_kazoo(list, i);
}

/* The blockers of a node, as they are collected. */
struct blockers {
    size_t n, all, own; /* actors in the pool; nodes that block; nodes of the waiter itself among these */
    size_t nearest, holder;
};

static bool collect(struct pdk__cli_census *census, size_t node, bool permit, struct blockers *b)
{
    const pdk_contender_list *list = pdk__cli_node_list(census, node);
    size_t i = census->nodes[node].i, first = node - i;
    *b = (struct blockers){.nearest = PDK__CLI_NONE, .holder = PDK__CLI_NONE};
    for (size_t k = permit ? pdk_contender_list_size(list) : i; k-- > 0;) {
        const struct pdk__cli_node *other = &census->nodes[first + k];
        if (other->actor == PDK__CLI_NONE || !pdk_contender_blocks(list, k, i))
            continue;
        b->all++;
        b->own += other->actor == census->nodes[node].actor;
        if (other->actor != census->nodes[node].actor) {
            b->nearest = b->nearest == PDK__CLI_NONE ? other->actor : b->nearest;
            b->holder = other->holds ? other->actor : b->holder;
            b->n++;
            if (!add_blocker(census, other->actor))
                return false;
        }
        if (!permit && waits_for_all(list, k))
            break;
    }
    return true;
}

/* The first holder, also where a contender between stands for all ahead of it. */
static size_t first_holder(const struct pdk__cli_census *census, size_t node, const struct blockers *b)
{
    size_t first = node - census->nodes[node].i;
    if (b->holder != PDK__CLI_NONE)
        return b->holder;
    for (size_t other = first; other < node; other++)
        if (census->nodes[other].holds && census->nodes[other].actor != census->nodes[node].actor)
            return census->nodes[other].actor;
    return b->nearest;
}

/* Each contender of a semaphore may wait for each before it. A wait that is left out makes no deadlock. */
enum { POOL_MAX = 4000000 };

/* A permit of an actor's own does not come back before the actor goes on. */
static bool add_node(struct pdk__cli_census *census, size_t node)
{
    struct blockers b;
    struct pdk__cli_node *own = &census->nodes[node];
    const pdk_contender_list *list = pdk__cli_node_list(census, node);
    bool permit = pdk_contender_number(list, own->i, PDK_CONTENDER_MODE) == PDK_MODE_PERMIT;
    int64_t limit = pdk_contender_number(list, own->i, PDK_CONTENDER_LIMIT);
    size_t pool = census->n_pool;
    if (permit && census->truncated)
        return true;
    if (!collect(census, node, permit, &b))
        return false;
    if (census->n_pool > POOL_MAX) {
        census->n_pool = pool;
        return census->truncated = true;
    }
    size_t excess = !permit ? b.n : limit > 0 && b.all >= (size_t)limit ? b.all - (size_t)limit + 1 : 0;
    bool junk = pdk__cli_is_junk(list, own->i);
    own->holds = junk ? pdk_contender_holds(list, own->i) : permit ? excess == 0 : b.all == 0;
    if (excess == 0) {
        census->n_pool = pool;
        return true;
    }
    bool alone = excess > b.n; /* it waits for more than there is */
    if (alone && !add_blocker(census, own->actor))
        return false;
    struct pdk__cli_wait wait = {.actor = own->actor, .n = b.n + alone, .excess = alone ? b.n + 1 : excess};
    size_t holder = b.n > 0 ? first_holder(census, node, &b) : own->actor;
    return add_wait(census, wait, (struct pdk__cli_reason){.node = node, .holder = holder});
}

/* --- commands ---------------------------------------------------------------------------------------------------- */

struct name {
    const char *text;
    size_t node;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

/* The holder of the node under which ACTOR's process runs waits for ACTOR. */
static bool add_command(struct pdk__cli_census *census, size_t actor, const struct name *names, size_t n)
{
    size_t speaker = census->speaker[actor];
    struct name key = {
        .text = pdk_contender_text(pdk__cli_node_list(census, speaker), census->nodes[speaker].i, PDK_CONTENDER_UNDER)};
    const struct name *found = *key.text != '\0' ? bsearch(&key, names, n, sizeof *names, compare_names) : NULL;
    if (found == NULL || census->nodes[found->node].actor == actor)
        return true;
    struct pdk__cli_wait wait = {.actor = census->nodes[found->node].actor, .n = 1, .excess = 1};
    struct pdk__cli_reason reason = {.node = found->node, .holder = actor, .command = true};
    return add_blocker(census, actor) && add_wait(census, wait, reason);
}

static bool add_commands(struct pdk__cli_census *census)
{
    size_t n = 0;
    struct name *names = calloc(census->n_nodes + 1, sizeof *names);
    bool whole = names != NULL;
    for (size_t node = 0; whole && node < census->n_nodes; node++)
        if (census->nodes[node].actor != PDK__CLI_NONE)
            names[n++] = (struct name){
                pdk_contender_text(pdk__cli_node_list(census, node), census->nodes[node].i, PDK_CONTENDER_NAME), node};
    if (whole && n > 0)
        qsort(names, n, sizeof *names, compare_names);
    for (size_t actor = 0; whole && actor < census->waits.n_actors; actor++)
        whole = add_command(census, actor, names, n);
    free(names);
    return whole;
}

/* --- the whole --------------------------------------------------------------------------------------------------- */

static bool add_waits(struct pdk__cli_census *census)
{
    bool whole = true;
    for (size_t node = 0; whole && node < census->n_nodes; node++)
        if (census->nodes[node].actor != PDK__CLI_NONE) {
            size_t before = census->waits.n;
            whole = add_node(census, node);
            census->n_waiting += census->waits.n - before;
            census->n_holding += census->nodes[node].holds;
        }
    whole = whole && add_commands(census);
    size_t at = 0;
    for (size_t i = 0; i < census->waits.n; at += census->list[i++].n)
        census->list[i].blockers = census->pool + at;
    assert(!whole || at == census->n_pool);
    census->waits.list = census->list;
    return whole;
}

bool pdk__cli_census_take(struct pdk__cli_census *census, const struct pdk__cli_tree *tree,
                          const struct pdk__cli_tree *before, bool processes)
{
    *census = (struct pdk__cli_census){.tree = tree};
    assert(before == NULL || before->n == tree->n);
    return add_nodes(census, before) && add_actors(census, processes) && add_waits(census) &&
           pdk__cli_waits_judge(&census->waits, &census->verdict);
}

void pdk__cli_census_free(struct pdk__cli_census *census)
{
    free(census->nodes);
    free(census->speaker);
    free(census->reasons);
    free(census->list);
    free(census->pool);
    pdk__cli_verdict_free(&census->verdict);
}
