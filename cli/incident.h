/* A failure, in one line for people. */
#ifndef PDK_CLI_INCIDENT_H
#define PDK_CLI_INCIDENT_H

#include "cli/options.h"

enum { PDK__CLI_INCIDENT = 2 * 160 + 360 }; /* a host list or path, shortened, and a reason */

/* Explain why O's command failed with RC. WHY is the library's note, "" when there is none. */
void pdk__cli_incident(const struct pdk__cli_options *o, int rc, const char *why, char text[PDK__CLI_INCIDENT]);

#endif
