/* The census of a tree on standard output: as chains for people, as JSON, and as a graph for Graphviz. */
#ifndef PDK_CLI_GRAPH_H
#define PDK_CLI_GRAPH_H

#include "cli/look/census.h"

/* Each actor that others wait for, with these below it, and each deadlock. */
void pdk__cli_graph_text(const struct pdk__cli_census *census);

/* Returns 0 or an exit status, already explained. */
int pdk__cli_graph_json(const struct pdk__cli_census *census);

void pdk__cli_graph_dot(const struct pdk__cli_census *census);

#endif
