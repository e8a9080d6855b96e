#include "cli/connect.h"

#include "cli/incident.h"
#include "cli/message.h"
#include "cli/number.h"
#include "cli/opener.h"
#include "cli/signals.h"
#include "cli/target.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

/* Why TLS let no client be created; "". A sub-command has one client. */
static char unmade[PDK__CLI_WHY];

/* Create a client, by DEADLINE. */
static int make(const struct pdk__cli_options *o, int64_t deadline, pdk_client **c)
{
    int rc;
    struct pdk__cli_opener *opener = pdk__cli_opener_begin(o);
    if (opener == NULL)
        return PDK_ESYSTEM;
    struct pollfd fd = {.fd = pdk__cli_opener_fd(opener), .events = POLLIN};
    poll(&fd, 1, pdk__cli_poll_ms(deadline));
    return pdk__cli_opener_take(opener, &rc, c, unmade) ? rc : PDK_ETIMEDOUT;
}

int pdk__cli_connect_dispatched(const struct pdk__cli_options *o, pdk_client **c)
{
    int64_t deadline = pdk__cli_now_ms() + o->connect_ms;
    pdk__cli_signals_end_first();
    int rc = make(o, deadline, c);
    int64_t left = deadline - pdk__cli_now_ms();
    return rc == 0 ? pdk_client_wait(*c, left > 0 ? left : 0) : rc;
}

int pdk__cli_connect(const struct pdk__cli_options *o, pdk_client **c)
{
    pdk_client_options_set_dispatch(o->client, false);
    return pdk__cli_connect_dispatched(o, c);
}

/* On the thread of the callbacks. */
static void tell(pdk_client *c, pdk_session_state state, void *arg)
{
    static bool apart; /* a sub-command has one client */
    const struct pdk__cli_options *o = arg;
    char path[PDK__CLI_SHORT];
    (void)c;
    if (state == PDK_SESSION_SUSPENDED)
        pdk__cli_message("waiting for %s: %s", pdk__cli_short(o->path, path), pdk_strerror(PDK_EDISCONNECTED));
    else if (state == PDK_SESSION_CONNECTED && apart)
        pdk__cli_message("waiting for %s: connected again", pdk__cli_short(o->path, path));
    apart = state == PDK_SESSION_SUSPENDED || (apart && state == PDK_SESSION_CONNECTING);
}

void pdk__cli_connect_tell(const struct pdk__cli_options *o)
{
    if (o->verbose)
        pdk_client_options_set_on_session(o->client, tell, (void *)o);
}

void pdk__cli_unanswered(pdk_client *c, int64_t ms, char *why, size_t size)
{
    char incident[512] = "";
    if (c != NULL)
        pdk_client_last_error(c, incident, sizeof incident);
    const char *last = strstr(incident, " (last: ");
    snprintf(why, size, "no server answered within %.3g s%s", (double)ms / 1000, last != NULL ? last : "");
}

int pdk__cli_report_failure(const struct pdk__cli_options *o, pdk_client *c, int rc)
{
    char why[256] = "", text[PDK__CLI_INCIDENT];
    int status = pdk__cli_status_of(rc, STATUS_NO_ENSEMBLE);
    if (rc == PDK_ETIMEDOUT)
        pdk__cli_unanswered(c, o->connect_ms, why, sizeof why);
    else if (c != NULL)
        pdk_client_last_error(c, why, sizeof why);
    else if (unmade[0] != '\0')
        snprintf(why, sizeof why, "%s", unmade);
    else if (rc == PDK_EINVAL)
        snprintf(why, sizeof why, "'%s' is no list of HOST:PORT", o->hosts);
    pdk__cli_incident(o, rc, why, text);
    pdk__cli_message("%s", text);
    return status;
}
