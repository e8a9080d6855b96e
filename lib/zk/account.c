#include "lib/zk/account.h"
#include "lib/clock.h"
#include "lib/core/name.h"
#include "lib/identity.h"
#include "lib/incident.h"
#include "lib/zk/claim.h"
#include "lib/zk/log.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

/* --- the connection ---------------------------------------------------------------------------------------------- */

static void describe_address(const struct sockaddr_storage *address, char *buf, size_t size)
{
    const struct sockaddr_in *v4 = (const void *)address;
    const struct sockaddr_in6 *v6 = (const void *)address;
    char text[INET6_ADDRSTRLEN] = "?";
    if (address->ss_family == AF_INET)
        inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
    else if (address->ss_family == AF_INET6)
        inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
    snprintf(buf, size, "%s:%d", text, ntohs(address->ss_family == AF_INET6 ? v6->sin6_port : v4->sin_port));
}

static void note_server(struct pdk_client *c)
{
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof address;
    bool known = c->zh != NULL && zookeeper_get_connected_host(c->zh, (struct sockaddr *)&address, &size) != NULL;
    if (known)
        describe_address(&address, c->server, sizeof c->server);
    else
        snprintf(c->server, sizeof c->server, "a server");
}

/* " (last: connection refused by 127.0.0.1:2181)" */
static void describe_trouble(struct pdk_client *c, char *buf, size_t size)
{
    char trouble[200];
    pdk__log_trouble(c, trouble, sizeof trouble);
    snprintf(buf, size, "%s%s%s", trouble[0] != '\0' ? " (last: " : "", trouble, trouble[0] != '\0' ? ")" : "");
}

void pdk__account_connection(struct pdk_client *c, char *buf, size_t size)
{
    char trouble[216];
    describe_trouble(c, trouble, sizeof trouble);
    if (c->session.phase == PDK__SESSION_CONNECTED)
        snprintf(buf, size, "connected to %s", c->server);
    else if (c->reached)
        snprintf(buf, size, "no server reached for %lld ms%s", (long long)(pdk__now_ms() - c->apart_ms), trouble);
    else
        snprintf(buf, size, "no server reached%s", trouble);
}

/* The reason without the leading words for RC: the incident contains them already. */
static const char *beyond(const char *reason, int rc)
{
    const char *words = pdk_strerror(rc);
    size_t n = strlen(words);
    if (strncmp(reason, words, n) != 0)
        return reason;
    return strncmp(reason + n, ": ", 2) == 0 ? reason + n + 2 : reason + n;
}

void pdk__account_error(struct pdk_client *c, int rc, char *buf, size_t size)
{
    buf[0] = '\0';
    if (rc == PDK_ETIMEDOUT || rc == PDK_EUNKNOWN || rc == PDK_EDISCONNECTED)
        pdk__account_connection(c, buf, size);
    else if (rc != PDK_ECLOSED && rc == c->over)
        snprintf(buf, size, "%s", beyond(c->reason, rc));
}

/* --- the session ------------------------------------------------------------------------------------------------- */

static void came_up(struct pdk_client *c)
{
    note_server(c);
    c->n_links++;
    c->reached = true;
    c->renewal = ZOK;
    c->error[0] = '\0';
    pdk__log_forget_trouble(c);
    snprintf(c->reason, sizeof c->reason, "connected to %s", c->server);
    pdk__log(c, PDK_LOG_INFO, "session: connected to %s, session %016llx, timeout %lld ms", c->server,
             (long long)c->session.id, (long long)c->session.timeout_ms);
}

static void went_down(struct pdk_client *c)
{
    char trouble[216];
    describe_trouble(c, trouble, sizeof trouble);
    c->apart_ms = pdk__now_ms();
    snprintf(c->reason, sizeof c->reason, "the connection to %s was lost%.200s", c->server, trouble);
    pdk__log(c, PDK_LOG_WARNING, "session: %s", c->reason);
}

static void expired(struct pdk_client *c, const struct pdk__session_event *event)
{
    char connection[300];
    pdk__account_connection(c, connection, sizeof connection);
    if (event->kind == PDK__SEV_TIMER)
        snprintf(c->reason, sizeof c->reason, "it was given up: %s", connection);
    else if (event->kind == PDK__SEV_CONNECTED)
        snprintf(c->reason, sizeof c->reason, "the servers gave another session in its place");
    else
        snprintf(c->reason, sizeof c->reason, "the servers ended the session");
    pdk__log(c, PDK_LOG_WARNING, "session: expired: %s", c->reason);
}

static void over(struct pdk_client *c, int error)
{
    struct pdk__session_limits limits = pdk__session_limits(&c->session);
    int n = snprintf(c->reason, sizeof c->reason, "%s", pdk_strerror(error));
    if (error == PDK_ESHORT)
        snprintf(
            c->reason + n, sizeof c->reason - (size_t)n,
            ": the servers granted %lld ms, which must be more than %lld ms for half a tick of %lld ms, %lld ms of "
            "drift margin and %lld ms of least validity",
            (long long)limits.timeout_ms, (long long)limits.gap_ms, (long long)limits.tick_ms,
            (long long)limits.margin_ms, (long long)limits.min_valid_ms);
    if (error != PDK_ECLOSED)
        snprintf(c->error, sizeof c->error, "session: %s", c->reason);
    pdk__log(c, error == PDK_ECLOSED ? PDK_LOG_INFO : PDK_LOG_ERROR, "session: over: %s", c->reason);
}

/* The result is 0, too, before the session is proven to live. */
static int64_t left_ms(const struct pdk_client *c, int64_t now_ms)
{
    int64_t deadline_ms = pdk__session_deadline_ms(&c->session);
    return deadline_ms > now_ms ? deadline_ms - now_ms : 0;
}

static void doubted(struct pdk_client *c, int64_t now_ms)
{
    int64_t left = left_ms(c, now_ms);
    if (left > 0)
        pdk__log(c, PDK_LOG_INFO, "session: in doubt: %lld ms are left", (long long)left);
}

static void account(struct pdk_client *c, const struct pdk__session_event *event,
                    const struct pdk__session_action *action)
{
    switch (action->kind) {
    case PDK__SACT_UP:
        came_up(c);
        break;
    case PDK__SACT_DOWN:
        went_down(c);
        break;
    case PDK__SACT_EXPIRED:
        expired(c, event);
        break;
    case PDK__SACT_OVER:
        over(c, action->error);
        break;
    case PDK__SACT_OPEN:
        pdk__log(c, PDK_LOG_INFO, "session: a new handle is opened");
        break;
    case PDK__SACT_PRESUMED:
        pdk__log(c, PDK_LOG_WARNING, "session: no server has confirmed in time that it lives");
        break;
    case PDK__SACT_DOUBTED:
        doubted(c, event->now_ms);
        break;
    case PDK__SACT_PROVEN:
        pdk__log(c, PDK_LOG_DEBUG, "session: proven to live for %lld ms", (long long)left_ms(c, event->now_ms));
        break;
    default:
        break;
    }
}

void pdk__account_session(struct pdk_client *c, enum pdk__session_phase before, const struct pdk__session_event *event,
                          const struct pdk__session_actions *actions)
{
    for (size_t i = 0; i < actions->n; i++)
        account(c, event, &actions->list[i]);
    if (before != c->session.phase)
        pdk__log(c, PDK_LOG_DEBUG, "session: %s -> %s", pdk__session_phase_name(before),
                 pdk__session_phase_name(c->session.phase));
}

/* Every lock of the session depends on its renewal, on whichever path that is tried. */
static void hinder_all(struct pdk_client *c, const char *why)
{
    PDK__LIST_EACH (link, &c->claims) {
        struct pdk__claim *claim = PDK__MEMBER(link, struct pdk__claim, link);
        if (claim->wants_proof)
            claim->listener->hindered(claim, why);
    }
}

void pdk__account_renewal(struct pdk_client *c, const char *node, int zrc)
{
    char why[PDK__REASON_MAX];
    bool news = c->renewal != ZNOAUTH;
    c->renewal = zrc;
    if (zrc != ZNOAUTH || node == NULL)
        return;
    int length = (int)(strrchr(node, '/') - node);
    snprintf(why, sizeof why, "the session cannot be renewed: %.*s does not permit DELETE", length < 200 ? length : 200,
             node);
    if (news)
        pdk__log(c, PDK_LOG_WARNING, "session: cannot be renewed: %.*s does not permit DELETE", length, node);
    snprintf(c->error, sizeof c->error, "session: %s", why);
    hinder_all(c, why);
}

/* --- a claim's standing ------------------------------------------------------------------------------------------ */

static void note_stranger(struct pdk__claim *claim, const char *child)
{
    char clean[128];
    if (claim->standing.strangers)
        return;
    claim->standing.strangers = true;
    pdk__incident_clean(clean, sizeof clean, child, strlen(child));
    pdk__log(claim->client, PDK_LOG_INFO, "%s: a contender of another recipe: %s", claim->spec.path, clean);
}

static void note_listing(struct pdk__claim *claim, const struct pdk__event *event)
{
    struct pdk__standing *s = &claim->standing;
    bool has_node = claim->machine.node == PDK__NODE_YES;
    int64_t own = has_node ? pdk__name_parse(claim->machine.name).sequence : INT64_MAX, lowest = INT64_MAX;
    s->known = true;
    s->ahead = 0;
    s->holder[0] = s->who[0] = '\0';
    for (size_t i = 0; i < event->n_children; i++) {
        const char *child = event->children[i];
        struct pdk__name name = pdk__name_parse(child);
        if (name.kind == PDK__NAME_FOREIGN)
            note_stranger(claim, child);
        if (name.kind == PDK__NAME_JUNK || name.sequence >= own)
            continue;
        s->ahead++;
        if (name.sequence >= lowest)
            continue;
        lowest = name.sequence;
        pdk__incident_clean(s->holder, sizeof s->holder, child, strlen(child));
    }
}

void pdk__account_owner(char *buf, size_t size, const char *data, int length)
{
    struct pdk__identity id = {0};
    char host[128], label[64];
    buf[0] = '\0';
    if (length <= 0 || length > 4096) /* ours are shorter */
        return;
    pdk__identity_parse(&id, data, (size_t)length);
    pdk__incident_clean(host, sizeof host, id.host, strlen(id.host));
    pdk__incident_clean(label, sizeof label, id.label, strlen(id.label));
    if (host[0] != '\0' && id.pid != 0)
        snprintf(buf, size, "%s pid %lld%s%s%s", host, (long long)id.pid, label[0] != '\0' ? " (" : "", label,
                 label[0] != '\0' ? ")" : "");
    else
        snprintf(buf, size, "%s", host);
}

void pdk__account_predecessor(struct pdk__claim *claim, const char *who)
{
    snprintf(claim->standing.who, sizeof claim->standing.who, "%s", who);
}

static void describe_place(const struct pdk__standing *s, char *buf, size_t size)
{
    const char *who = s->ahead == 1 && s->who[0] != '\0' ? s->who : s->holder;
    if (s->ahead == 0)
        snprintf(buf, size, "first in the queue");
    else
        snprintf(buf, size, "held by %s, %zu ahead", who, s->ahead);
}

static void describe_situation(struct pdk__claim *claim, enum pdk__phase phase, char *buf, size_t size)
{
    struct pdk_client *c = claim->client;
    char server[300];
    pdk__account_connection(c, server, sizeof server);
    if (c->session.phase != PDK__SESSION_CONNECTED)
        snprintf(buf, size, "%s", server);
    else if (pdk__client_unfit(c, buf, size))
        return;
    else if (phase == PDK__DELAYED)
        snprintf(buf, size, "first in the queue, while a lock delay runs");
    else if (phase == PDK__PROVING)
        snprintf(buf, size, "first in the queue, but the session is not proven to live for long enough (%s%s)", server,
                 c->renewal == ZNOAUTH ? "; the path does not permit DELETE, by which it is renewed" : "");
    else if (claim->standing.known)
        describe_place(&claim->standing, buf, size);
    else
        snprintf(buf, size, "%s, which has not answered", server);
}

void pdk__account_situation(struct pdk__claim *claim, char *buf, size_t size)
{
    describe_situation(claim, claim->machine.phase, buf, size);
}

int64_t pdk__account_ahead(const struct pdk__claim *claim)
{
    return claim->standing.known ? (int64_t)claim->standing.ahead : -1;
}

/* --- why --------------------------------------------------------------------------------------------------------- */

/* The permission that was missing when EVENT reported a refusal. */
static const char *permission(const struct pdk__event *event)
{
    switch (event->kind) {
    case PDK__EV_CREATED:
    case PDK__EV_MADE_PARENTS:
        return "CREATE";
    case PDK__EV_DELETED:
        return "DELETE";
    case PDK__EV_CONFIRMED:
    case PDK__EV_MARKED:
        return "WRITE";
    default:
        return "READ";
    }
}

static void why_lost(struct pdk__claim *claim, const struct pdk__event *event, char *buf, size_t size)
{
    struct pdk_client *c = claim->client;
    char connection[300];
    pdk__account_connection(c, connection, sizeof connection);
    switch (event->kind) {
    case PDK__EV_SESSION_EXPIRED:
        snprintf(buf, size, "the session expired: %.250s", c->reason);
        break;
    case PDK__EV_SESSION_OVER:
    case PDK__EV_SESSION_LEFT:
        snprintf(buf, size, "%s", event->error == PDK_ECLOSED ? pdk_strerror(PDK_ECLOSED) : c->reason);
        break;
    case PDK__EV_SESSION_PRESUMED:
    case PDK__EV_SESSION_DOUBTED:
    case PDK__EV_TIMER:
        if (c->renewal == ZNOAUTH)
            snprintf(buf, size, "the session could not be renewed: the path does not permit DELETE");
        else
            snprintf(buf, size, "no server has confirmed in time that the session lives: %.200s", connection);
        break;
    default:
        snprintf(buf, size, "its node is deleted");
    }
}

static void why_failed(struct pdk__claim *claim, enum pdk__phase before, const struct pdk__event *event, int error,
                       char *buf, size_t size)
{
    buf[0] = '\0';
    if (error == PDK_ETIMEDOUT || error == PDK_EBUSY)
        describe_situation(claim, before, buf, size);
    else if (error == PDK_EACCES)
        snprintf(buf, size, "%s is missing", permission(event));
    else if (error != PDK_ECLOSED && event->kind == PDK__EV_SESSION_OVER)
        snprintf(buf, size, "%s", claim->client->reason);
}

static void why_left(struct pdk__claim *claim, int error, char *buf, size_t size)
{
    if (error == PDK_EACCES)
        snprintf(buf, size, "the path does not permit DELETE, so the node stays until the session ends");
    else if (error == PDK_ELOST)
        snprintf(buf, size, "another client had deleted its node before it was unlocked");
    else if (error == PDK_EUNKNOWN)
        pdk__account_connection(claim->client, buf, size);
    else
        buf[0] = '\0';
}

/* --- the log of a claim ------------------------------------------------------------------------------------------ */

static void tell(struct pdk__claim *claim, enum pdk__phase before, const struct pdk__event *event,
                 const struct pdk__action *action)
{
    struct pdk_client *c = claim->client;
    const char *path = claim->spec.path;
    char *why = claim->standing.why;
    size_t size = sizeof claim->standing.why;
    char server[300];
    switch (action->kind) {
    case PDK__ACT_GRANTED:
        pdk__log(c, PDK_LOG_INFO, "%s: granted, token %lld, node %s", path, (long long)action->token,
                 claim->machine.name);
        break;
    case PDK__ACT_FAILED:
        why_failed(claim, before, event, action->error, why, size);
        pdk__log(c, PDK_LOG_INFO, "%s: not granted: %s%s%s", path, pdk_strerror(action->error),
                 why[0] != '\0' ? ": " : "", why);
        break;
    case PDK__ACT_SUSPECT:
        pdk__account_connection(c, server, sizeof server);
        pdk__log(c, PDK_LOG_WARNING, "%s: suspect: %lld ms are left, %s", path, (long long)left_ms(c, event->now_ms),
                 server);
        break;
    case PDK__ACT_HELD:
        pdk__log(c, PDK_LOG_INFO, "%s: held again", path);
        break;
    case PDK__ACT_LOST:
        why_lost(claim, event, why, size);
        pdk__log(c, PDK_LOG_WARNING, "%s: lost: %s", path, why);
        break;
    case PDK__ACT_REVOKED:
        pdk__log(c, PDK_LOG_INFO, "%s: another client asks for it", path);
        break;
    case PDK__ACT_DONE:
        if (action->error != 0)
            why_left(claim, action->error, why, size);
        if (action->error != 0)
            pdk__log(c, PDK_LOG_WARNING, "%s: %s%s%s", path, pdk_strerror(action->error), why[0] != '\0' ? ": " : "",
                     why);
        else
            pdk__log(c, PDK_LOG_INFO, "%s: nothing is left on the servers", path);
        break;
    default:
        break;
    }
}

static void tell_phase(struct pdk__claim *claim, enum pdk__phase before, const struct pdk__event *event)
{
    struct pdk_client *c = claim->client;
    const char *path = claim->spec.path;
    enum pdk__phase now = claim->machine.phase;
    char place[300];
    pdk__log(c, PDK_LOG_DEBUG, "%s: %s -> %s", path, pdk__phase_name(before), pdk__phase_name(now));
    if (now == PDK__WAITING) {
        describe_place(&claim->standing, place, sizeof place);
        pdk__log(c, PDK_LOG_INFO, "%s: waiting: %s", path, place);
    } else if (now == PDK__RECOVERING) {
        pdk__log(c, PDK_LOG_INFO, "%s: a create has no answer: its node is looked for", path);
    } else if (now == PDK__RESTING) {
        pdk__log(c, PDK_LOG_INFO, "%s: no answer: asked again in %lld ms", path,
                 (long long)(claim->machine.rest_ms - event->now_ms));
    }
}

void pdk__account_link(struct pdk__claim *claim)
{
    struct pdk_client *c = claim->client;
    char why[PDK__REASON_MAX];
    bool waits = claim->machine.wanted && !pdk__phase_grants(claim->machine.phase);
    if (!waits || claim->standing.slow_link == c->n_links || !pdk__client_unfit(c, why, sizeof why))
        return;
    claim->standing.slow_link = c->n_links;
    pdk__log(c, PDK_LOG_WARNING, "%s: not granted yet: %s", claim->spec.path, why);
    claim->listener->hindered(claim, why);
}

void pdk__account_claim(struct pdk__claim *claim, enum pdk__phase before, const struct pdk__event *event,
                        const struct pdk__actions *actions)
{
    if (event->kind == PDK__EV_LISTED && event->outcome == PDK__OK)
        note_listing(claim, event);
    if (before != claim->machine.phase)
        tell_phase(claim, before, event);
    for (size_t i = 0; i < actions->n; i++)
        tell(claim, before, event, &actions->list[i]);
    if (claim->machine.node != PDK__NODE_YES) /* a later node will be after all nodes created until then */
        claim->standing.known = false;
    if (claim->client->unfit)
        pdk__account_link(claim);
}
