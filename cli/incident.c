#include "cli/incident.h"

#include "cli/message.h"
#include "cli/target.h"

#include <stdio.h>
#include <string.h>

static void no_ensemble(const struct pdk__cli_options *o, int rc, const char *why, char *text)
{
    char hosts[PDK__CLI_SHORT], subject[PDK__CLI_SHORT];
    const char *words = rc == PDK_EHOST ? "unknown host '" : rc == PDK_ESERVER ? pdk_strerror(rc) : "";
    const char *matter = strstr(why, words);
    pdk__cli_short(o->hosts, hosts);
    if (rc == PDK_ENOENT && pdk__cli_target_chroot_parent(o->hosts, subject, sizeof subject) > 0)
        snprintf(text, PDK__CLI_INCIDENT, "%s: the chroot cannot be made, for %s does not exist: make that first",
                 hosts, subject);
    else
        snprintf(text, PDK__CLI_INCIDENT, "%s: no ensemble: %.300s", hosts, matter != NULL ? matter : why);
}

void pdk__cli_incident(const struct pdk__cli_options *o, int rc, const char *why, char text[PDK__CLI_INCIDENT])
{
    char path[PDK__CLI_SHORT];
    bool is_short = strlen(o->path) < PDK__CLI_SHORT;
    pdk__cli_short(o->path, path);
    /* A note with a long path in it may have lost its end, which is the reason. */
    if (*why == '\0' || !is_short)
        why = pdk_strerror(rc);
    if (pdk__cli_status_of(rc, STATUS_NO_ENSEMBLE) == STATUS_NO_ENSEMBLE)
        no_ensemble(o, rc, why, text);
    else if (is_short && strstr(why, path) != NULL)
        snprintf(text, PDK__CLI_INCIDENT, "%.300s", why);
    else
        snprintf(text, PDK__CLI_INCIDENT, "%s: %.300s", path, why);
}
