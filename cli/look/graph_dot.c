#include "cli/look/graph.h"

#include "cli/message.h"

#include <stdio.h>

/* TEXT in a quoted string: a backslash begins an escape there. */
static void quote(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
    putchar('"');
}

static void print_actor(const struct pdk__cli_census *census, size_t actor)
{
    char who[500];
    pdk__cli_actor(census, actor, who, sizeof who);
    printf("  a%zu [label=", actor);
    quote(who);
    puts(census->verdict.deadlock[actor] > 0 ? ", color=red];" : "];");
}

/* Red within a deadlock; dashed where any of several is enough; dotted from a holder to its command. */
static void print_wait(const struct pdk__cli_census *census, size_t i)
{
    const struct pdk__cli_wait *wait = &census->waits.list[i];
    const struct pdk__cli_reason *reason = &census->reasons[i];
    char path[400];
    pdk__cli_printable(path, sizeof path, 200, pdk__cli_node_path(census, reason->node));
    const char *style = reason->command ? "dotted" : wait->excess < wait->n ? "dashed" : "solid";
    for (size_t k = 0; k < wait->n; k++) {
        size_t deadlock = census->verdict.deadlock[wait->actor];
        bool red = deadlock > 0 && census->verdict.deadlock[wait->blockers[k]] == deadlock;
        printf("  a%zu -> a%zu [label=", wait->actor, wait->blockers[k]);
        quote(path);
        printf(", style=%s%s];\n", style, red ? ", color=red" : "");
    }
}

void pdk__cli_graph_dot(const struct pdk__cli_census *census)
{
    puts("digraph paddock {\n  rankdir=LR;\n  node [shape=box];");
    for (size_t a = 0; a < census->waits.n_actors; a++)
        print_actor(census, a);
    for (size_t i = 0; i < census->waits.n; i++)
        print_wait(census, i);
    puts("}");
}
