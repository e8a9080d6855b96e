/* The help of a sub-command: made from the rows of options that it takes, so that the two cannot differ. */
#ifndef PDK_CLI_HELP_H
#define PDK_CLI_HELP_H

#include "cli/options.h"

/* Print it on standard output. O has the defaults. GENERAL: the rows that every sub-command takes. */
void pdk__cli_help(const struct pdk__cli_verb *verb, const struct pdk__cli_option *general,
                   const struct pdk__cli_options *o);

#endif
