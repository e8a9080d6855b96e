#include "cli/look/graph.h"

#include "cli/commands.h"
#include "cli/connect.h"
#include "cli/look/look.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/target.h"

#include <stdio.h>
#include <string.h>

enum { PATHS_MAX = 10000000 };

static const char usage[] = "Usage: paddock graph [OPTION]... [PATH]...\n"
                            "Show which contenders wait for which, in all locks at and below PATH (/), and\n"
                            "the deadlocks among them.\n";

static const char notes[] = "A command under 'paddock lock' that waits for another lock keeps the first one:\n"
                            "that counts, too.\n"
                            "Exit: 0; 1 when there is a deadlock; 64 usage, 69 no ensemble, 70 internal,\n"
                            "77 not permitted. See paddock(1).\n";

struct graph {
    struct pdk__cli_options options; /* first */
    bool json, dot, processes;
    int depth, max_paths;
};

#define AT(member) .at = offsetof(struct graph, member)

static const struct pdk__cli_option own_options[] = {
    {"json", 0, KIND_FLAG, AT(json), .help = "a JSON object, for programs"},
    {"dot", 0, KIND_FLAG, AT(dot), .help = "a graph, for dot(1) of Graphviz"},
    {"processes", 0, KIND_FLAG, AT(processes), .help = "take the threads of a process for one"},
    {"depth", 0, KIND_NUMBER, AT(depth), .high = 1000, .help = "look so far below each PATH (%)"},
    {"max-paths", 0, KIND_NUMBER, AT(max_paths), .low = 1, .high = PATHS_MAX, .help = "look at so many paths (%)"},
    {0}};

static int check(struct pdk__cli_options *o)
{
    struct graph *g = PDK__MEMBER(o, struct graph, options);
    if (g->json && g->dot)
        return pdk__cli_usage("graph: --json or --dot, not both");
    int status = 0;
    for (char **word = g->options.words; status == 0 && *word != NULL; word++)
        if (strcmp(*word, "/") != 0)
            status = pdk__cli_target_path(o->command, *word);
    return status == 0 ? pdk__cli_options_ensemble(&g->options) : status;
}

static void warn(const struct graph *g, const struct pdk__cli_census *census)
{
    fflush(stdout);
    if (g->options.quiet)
        return;
    if (census->truncated)
        pdk__cli_message("there are too many waits, some are left out");
    pdk__cli_tree_warn(census->tree, "");
}

static int print(const struct graph *g, const struct pdk__cli_census *census)
{
    int status = 0;
    if (g->json)
        status = pdk__cli_graph_json(census);
    else if (g->dot)
        pdk__cli_graph_dot(census);
    else
        pdk__cli_graph_text(census);
    warn(g, census);
    return status != 0 ? status : census->verdict.n_deadlocks > 0 ? STATUS_BUSY : 0;
}

static int run(struct pdk__cli_options *o)
{
    struct graph *g = PDK__MEMBER(o, struct graph, options);
    static char root[] = "/";
    char *everything[] = {root, NULL};
    char *const *roots = g->options.words[0] != NULL ? g->options.words : everything;
    struct pdk__cli_look look = {
        .first = {.depth = g->depth, .max_paths = g->max_paths, .timeout_ms = g->options.connect_ms}};
    pdk_client *c = NULL;
    int status = 0;
    g->options.path = roots[0];
    int rc = pdk__cli_connect(&g->options, &c);
    if (rc == 0)
        rc = pdk__cli_look_take(&look, c, roots, g->processes, &g->options.path);
    if (rc == 0)
        status = print(g, &look.census);
    if (rc != 0)
        status = pdk__cli_report_failure(&g->options, c, rc);
    pdk__cli_look_free(&look);
    pdk_client_free(c);
    return status;
}

static const struct pdk__cli_verb verb = {
    "graph", usage, notes, {own_options, pdk__cli_ensemble_options}, .ends = false, .check = check, .run = run,
};

int pdk__cli_graph_main(int argc, char **argv)
{
    struct graph g = {.depth = PDK__CLI_DEPTH, .max_paths = PDK__CLI_PATHS};
    return pdk__cli_verb_main(&verb, &g.options, argc, argv);
}
