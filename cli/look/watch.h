/* `paddock ls --watch`: the listing of each path, and again at each change. */
#ifndef PDK_CLI_WATCH_H
#define PDK_CLI_WATCH_H

#include "cli/options.h"

/* Show PATHS, which end with NULL, until a signal comes, or q on a terminal. JSON: an object a line. Returns the exit
 * status, already explained. */
int pdk__cli_watch(struct pdk__cli_options *o, char *const *paths, bool json);

#endif
