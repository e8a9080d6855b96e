/* The members of a request to lock, as options of the command line. */
#ifndef PDK_CLI_REQUEST_OPTIONS_H
#define PDK_CLI_REQUEST_OPTIONS_H

#include "cli/options.h"

#include <jansson.h>

/* Set in O what REQUEST says of its lock; the texts are borrowed of it. A member that is null counts as absent. Returns
 * NULL, or what is wrong. */
const char *pdk__cli_request_options(struct pdk__cli_options *o, const json_t *request);

#endif
