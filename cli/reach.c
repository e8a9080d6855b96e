#include "cli/reach.h"

#include "cli/say.h"

#include <stdio.h>

int pdk__cli_reach(const struct pdk__cli_options *o, pdk_client **c)
{
    pdk_client_options_set_dispatch(o->client, false);
    int rc = pdk_client_new(c, o->hosts, o->client);
    return rc == 0 ? pdk_client_wait(*c, o->connect_ms) : rc;
}

int pdk__cli_unreached(const struct pdk__cli_options *o, pdk_client *c, int rc)
{
    char why[256] = "";
    int status = pdk__cli_status_of(rc, STATUS_NO_ENSEMBLE);
    if (rc == PDK_ETIMEDOUT)
        rc = PDK_EDISCONNECTED;
    else if (c != NULL)
        pdk_client_last_error(c, why, sizeof why);
    else if (rc == PDK_EINVAL)
        snprintf(why, sizeof why, "'%s' is no list of HOST:PORT", o->hosts);
    const char *text = why[0] != '\0' ? why : pdk_strerror(rc);
    if (status == STATUS_NO_ENSEMBLE)
        pdk__cli_say("%s: no ensemble: %s", o->hosts, text);
    else
        pdk__cli_say("%s: %s", o->path, text);
    return status;
}
