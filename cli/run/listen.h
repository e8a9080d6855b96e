/* `paddock elect --listen`: a line for each change of the leader. */
#ifndef PDK_CLI_LISTEN_H
#define PDK_CLI_LISTEN_H

#include "cli/options.h"

/* Print the leader of the path, and each later one, until a signal comes. JSON: an object a line. Returns the exit
 * status, already explained. */
int pdk__cli_listen(const struct pdk__cli_options *o, bool json);

#endif
