#include "cli/look/look.h"

#include <paddock/error.h>

/* The paths were listed one after the other, so a circle may be of waits that were never there together. Nodes that are
 * in two looks were all there between them. */
static int confirm(struct pdk__cli_look *look, pdk_client *c, bool processes)
{
    look->second.timeout_ms = look->first.timeout_ms;
    int rc = pdk__cli_tree_again(c, &look->first, &look->second);
    if (rc != 0)
        return rc;
    pdk__cli_census_free(&look->census);
    return pdk__cli_census_take(&look->census, &look->second, &look->first, processes) ? 0 : PDK_ENOMEM;
}

int pdk__cli_look_take(struct pdk__cli_look *look, pdk_client *c, char *const *roots, bool processes, const char **at)
{
    int rc = pdk__cli_tree_walk(c, &look->first, roots, at);
    if (rc == 0 && !pdk__cli_census_take(&look->census, &look->first, NULL, processes))
        rc = PDK_ENOMEM;
    return rc == 0 && look->census.verdict.n_deadlocks > 0 ? confirm(look, c, processes) : rc;
}

void pdk__cli_look_free(struct pdk__cli_look *look)
{
    pdk__cli_census_free(&look->census);
    pdk__cli_tree_free(&look->second);
    pdk__cli_tree_free(&look->first);
}
