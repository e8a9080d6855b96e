#include "cli/look/graph.h"

#include "cli/look/listing.h"
#include "cli/message.h"
#include "cli/number.h"
#include "lib/assert.h"

#include <stdio.h>
#include <stdlib.h>

enum { ACTOR = 500, PATH = 400, DEPTH_MAX = 40 };

/* The waits by the actor that is waited for: first[actor] is the first one, next[wait] the one after; PDK__CLI_NONE
 * ends them. */
struct chains {
    const struct pdk__cli_census *census;
    size_t *first, *next;
    bool *waits; /* by actor */
    bool *shown;
};

static void path_of(const struct pdk__cli_census *census, size_t node, char path[PATH])
{
    pdk__cli_printable(path, PATH, 200, pdk__cli_node_path(census, node));
}

/* "waits", or "has waited 5s" where the node's age is known. */
static const char *waits(const struct pdk__cli_census *census, size_t node, char text[64])
{
    char age[32];
    const pdk_contender_list *list = pdk__cli_node_list(census, node);
    size_t i = census->nodes[node].i;
    bool known = pdk_contender_number(list, i, PDK_CONTENDER_SINCE_MS) > 0;
    snprintf(text, 64, known ? "has waited %s" : "waits", pdk__cli_duration(pdk__cli_listing_age_ms(list, i), age));
    return text;
}

/* --- chains ------------------------------------------------------------------------------------------------------ */

static void print_waiters(struct chains *c, size_t actor, int depth);

static void print_wait(struct chains *c, size_t wait, int depth)
{
    const struct pdk__cli_reason *reason = &c->census->reasons[wait];
    const struct pdk__cli_wait *w = &c->census->waits.list[wait];
    char who[ACTOR], path[PATH], text[64];
    size_t waiter = reason->command ? reason->holder : w->actor;
    pdk__cli_actor(c->census, waiter, who, sizeof who);
    path_of(c->census, reason->node, path);
    if (reason->command) {
        printf("%*s%s: runs %s\n", 2 * depth, "", path, who);
    } else {
        printf("%*s%s: %s %s", 2 * depth, "", path, who, waits(c->census, reason->node, text));
        if (w->excess < w->n)
            printf(", for %zu of %zu", w->excess, w->n);
        puts(c->census->verdict.stuck[w->actor] ? ", in vain" : "");
    }
    print_waiters(c, waiter, depth + 1);
}

/* An actor is shown with its waiters once. */
static void print_waiters(struct chains *c, size_t actor, int depth)
{
    if (c->shown[actor] || c->first[actor] == PDK__CLI_NONE)
        return;
    if (depth > DEPTH_MAX) {
        printf("%*s...\n", 2 * depth, "");
        return;
    }
    c->shown[actor] = true;
    for (size_t wait = c->first[actor]; wait != PDK__CLI_NONE; wait = c->next[wait])
        print_wait(c, wait, depth);
}

static void print_chain(struct chains *c, size_t actor)
{
    char who[ACTOR];
    if (c->shown[actor] || c->first[actor] == PDK__CLI_NONE)
        return;
    pdk__cli_actor(c->census, actor, who, sizeof who);
    puts(who);
    print_waiters(c, actor, 1);
}

/* In the order of the waits, so from the last one. A command stands below the holder that runs it. */
static void link_waits(struct chains *c)
{
    const struct pdk__cli_waits *waits = &c->census->waits;
    for (size_t a = 0; a < waits->n_actors; a++)
        c->first[a] = PDK__CLI_NONE;
    for (size_t i = waits->n; i-- > 0;) {
        const struct pdk__cli_reason *reason = &c->census->reasons[i];
        size_t above = reason->command ? waits->list[i].actor : reason->holder;
        c->next[i] = c->first[above];
        c->first[above] = i;
        c->waits[reason->command ? reason->holder : waits->list[i].actor] = true;
    }
}

static void print_chains(const struct pdk__cli_census *census)
{
    size_t n = census->waits.n_actors + 1, m = census->waits.n + 1;
    struct chains c = {census, calloc(n, sizeof *c.first), calloc(m, sizeof *c.next), calloc(n, sizeof *c.waits),
                       calloc(n, sizeof *c.shown)};
    if (c.first != NULL && c.next != NULL && c.waits != NULL && c.shown != NULL) {
        link_waits(&c);
        for (size_t a = 0; a + 1 < n; a++)
            if (!c.waits[a])
                print_chain(&c, a);
        for (size_t a = 0; a + 1 < n; a++) /* those that are in circles */
            print_chain(&c, a);
    }
    free(c.first);
    free(c.next);
    free(c.waits);
    free(c.shown);
}

/* --- deadlocks --------------------------------------------------------------------------------------------------- */

static bool holds_there(const struct pdk__cli_census *census, size_t actor, size_t node)
{
    size_t first = node - census->nodes[node].i;
    for (size_t k = first; k < census->n_nodes && census->nodes[k].place == census->nodes[node].place; k++)
        if (census->nodes[k].actor == actor && census->nodes[k].holds)
            return true;
    return false;
}

/* ACTOR is kept by the next one of the circle. */
static void print_step(const struct pdk__cli_census *census, size_t wait, size_t next)
{
    const struct pdk__cli_reason *reason = &census->reasons[wait];
    const struct pdk__cli_wait *w = &census->waits.list[wait];
    char who[ACTOR], whom[ACTOR], path[PATH], text[64];
    pdk__cli_actor(census, w->actor, who, sizeof who);
    pdk__cli_actor(census, next, whom, sizeof whom);
    path_of(census, reason->node, path);
    if (reason->command) {
        printf("  %s holds %s until %s has ended\n", who, path, whom);
        return;
    }
    bool holds = holds_there(census, next, reason->node);
    printf("  %s %s for %s%s, %s%s%s\n", who, waits(census, reason->node, text),
           w->excess < w->n ? "one of several that hold " : "", path, holds ? "which " : "where ", whom,
           holds ? " holds" : " is ahead");
}

static size_t members(const struct pdk__cli_census *census, size_t deadlock)
{
    size_t n = 0;
    for (size_t a = 0; a < census->waits.n_actors; a++)
        n += census->verdict.deadlock[a] == deadlock;
    return n;
}

static void print_deadlock(const struct pdk__cli_census *census, size_t deadlock, size_t *circle)
{
    size_t n = pdk__cli_waits_circle(&census->waits, &census->verdict, deadlock, circle);
    size_t all = members(census, deadlock);
    printf("deadlock %zu:\n", deadlock);
    for (size_t i = 0; i < n; i++)
        print_step(census, circle[i], census->waits.list[circle[(i + 1) % n]].actor);
    if (all > n)
        printf("  and %zu more that wait for each other\n", all - n);
    puts("  To do: end one of these processes, or take its lock away with 'paddock break'.");
}

void pdk__cli_graph_text(const struct pdk__cli_census *census)
{
    size_t *circle = calloc(census->waits.n_actors + 1, sizeof *circle), stuck = 0;
    print_chains(census);
    for (size_t d = 1; circle != NULL && d <= census->verdict.n_deadlocks; d++)
        print_deadlock(census, d, circle);
    free(circle);
    for (size_t a = 0; a < census->waits.n_actors; a++)
        stuck += census->verdict.stuck[a] && census->verdict.deadlock[a] == 0;
    if (stuck > 0)
        printf("%zu more wait for a deadlock\n", stuck);
    printf("lock paths: %zu; contenders that hold: %zu, that wait: %zu; deadlocks: %zu\n", census->tree->n,
           census->n_holding, census->n_waiting, census->verdict.n_deadlocks);
}
