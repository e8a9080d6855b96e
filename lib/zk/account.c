#include "lib/zk/account.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/incident.h"
#include "lib/zk/code.h"
#include "lib/zk/log.h"
#include "lib/zk/member.h"
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
    bool is_v6 = address->ss_family == AF_INET6;
    snprintf(buf, size, is_v6 ? "[%s]:%d" : "%s:%d", text, ntohs(is_v6 ? v6->sin6_port : v4->sin_port));
}

static void note_server(struct pdk_client *c)
{
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof address;
    bool known = c->zh != NULL && zookeeper_get_connected_host(c->zh, (struct sockaddr *)&address, &size) != NULL;
    if (known)
        describe_address(&address, c->account.server, sizeof c->account.server);
    else
        snprintf(c->account.server, sizeof c->account.server, "a server");
}

/* " (last: connection refused by 127.0.0.1:2181; unknown host 'h9')" */
static void describe_trouble(struct pdk_client *c, const char *unknown, char *buf, size_t size)
{
    char trouble[200];
    pdk__log_trouble(c, trouble, sizeof trouble);
    bool both = trouble[0] != '\0' && unknown[0] != '\0', any = trouble[0] != '\0' || unknown[0] != '\0';
    snprintf(buf, size, "%s%s%s%s%s", any ? " (last: " : "", trouble, both ? "; " : "", unknown, any ? ")" : "");
}

void pdk__account_connection(struct pdk_client *c, char *buf, size_t size)
{
    char trouble[376];
    describe_trouble(c, c->handle.unknown, trouble, sizeof trouble);
    if (c->session.phase == PDK__SESSION_CONNECTED)
        snprintf(buf, size, "connected to %s", c->account.server);
    else if (c->account.reached)
        snprintf(buf, size, "no server reached for %lld ms%s", (long long)(pdk__now_ms() - c->account.apart_ms),
                 trouble);
    else
        snprintf(buf, size, "no server reached%s", trouble);
}

const char *pdk__account_beyond(const char *reason, int rc)
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
    if (rc == PDK_ETIMEDOUT || rc == PDK_EUNKNOWN || rc == PDK_EDISCONNECTED || rc == PDK_ETLS)
        pdk__account_connection(c, buf, size);
    else if (rc == PDK_EREFUSED && c->account.refusal != 0)
        pdk__code_describe(c->account.refusal, buf, size);
    else if (rc == PDK_EHOST)
        snprintf(buf, size, "%s", c->handle.unknown);
    else if (rc != PDK_ECLOSED && rc == c->over)
        snprintf(buf, size, "%s", pdk__account_beyond(c->account.reason, rc));
}

/* --- the session ------------------------------------------------------------------------------------------------- */

static void came_up(struct pdk_client *c)
{
    note_server(c);
    c->account.n_links++;
    c->account.reached = true;
    c->account.renewal = ZOK;
    c->account.error[0] = '\0';
    pdk__log_forget_trouble(c);
    snprintf(c->account.reason, sizeof c->account.reason, "connected to %s", c->account.server);
    pdk__log(c, PDK_LOG_INFO, "session: connected to %s, session %016llx, timeout %lld ms", c->account.server,
             (long long)c->session.id, (long long)c->session.timeout_ms);
}

static void went_down(struct pdk_client *c)
{
    char trouble[216];
    describe_trouble(c, "", trouble, sizeof trouble);
    c->account.apart_ms = pdk__now_ms();
    snprintf(c->account.reason, sizeof c->account.reason, "the connection to %s was lost%.200s", c->account.server,
             trouble);
    pdk__log(c, PDK_LOG_WARNING, "session: %s", c->account.reason);
}

static void expired(struct pdk_client *c, const struct pdk__session_event *event)
{
    char connection[300];
    pdk__account_connection(c, connection, sizeof connection);
    if (event->kind == PDK__SEV_TIMER)
        snprintf(c->account.reason, sizeof c->account.reason, "it was given up: %s", connection);
    else if (event->kind == PDK__SEV_CONNECTED)
        snprintf(c->account.reason, sizeof c->account.reason, "the servers gave another session in its place");
    else
        snprintf(c->account.reason, sizeof c->account.reason, "the servers ended the session");
    pdk__log(c, PDK_LOG_WARNING, "session: expired: %s", c->account.reason);
}

static void over(struct pdk_client *c, int error)
{
    const struct pdk__session_limits *limits = &c->session.limits;
    int n = snprintf(c->account.reason, sizeof c->account.reason, "%s", pdk_strerror(error));
    if (error == PDK_ESHORT)
        snprintf(
            c->account.reason + n, sizeof c->account.reason - (size_t)n,
            ": the servers granted %lld ms, which must be more than %lld ms for half a tick of %lld ms, %lld ms of "
            "drift margin and %lld ms of least validity",
            (long long)limits->timeout_ms, (long long)limits->gap_ms, (long long)limits->tick_ms,
            (long long)limits->margin_ms, (long long)limits->min_valid_ms);
    else if (error == PDK_ESERVER)
        snprintf(c->account.reason + n, sizeof c->account.reason - (size_t)n,
                 ": it came without a password, as from ClickHouse Keeper");
    if (error != PDK_ECLOSED)
        snprintf(c->account.error, sizeof c->account.error, "session: %s", c->account.reason);
    pdk__log(c, error == PDK_ECLOSED ? PDK_LOG_INFO : PDK_LOG_ERROR, "session: over: %s", c->account.reason);
}

int64_t pdk__account_left_ms(const struct pdk_client *c, int64_t now_ms)
{
    int64_t deadline_ms = pdk__session_deadline_ms(&c->session);
    return deadline_ms > now_ms ? deadline_ms - now_ms : 0;
}

static void doubted(struct pdk_client *c, int64_t now_ms)
{
    int64_t left = pdk__account_left_ms(c, now_ms);
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
    case PDK__SACT_LEASE_EXPIRED:
        pdk__log(c, PDK_LOG_WARNING, "session: no server has confirmed in time that it lives");
        break;
    case PDK__SACT_LEASE_LOW:
        doubted(c, event->now_ms);
        break;
    case PDK__SACT_LEASE_OK:
        pdk__log(c, PDK_LOG_DEBUG, "session: proven to live for %lld ms",
                 (long long)pdk__account_left_ms(c, event->now_ms));
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

void pdk__account_renewal(struct pdk_client *c, const char *node, int zrc)
{
    char why[PDK__REASON_MAX];
    assert(pdk__client_locked(c));
    bool news = c->account.renewal != ZNOAUTH;
    c->account.renewal = zrc;
    if (zrc != ZNOAUTH || node == NULL)
        return;
    int length = (int)(strrchr(node, '/') - node);
    snprintf(why, sizeof why, "the session cannot be renewed: %.*s does not permit DELETE", length < 200 ? length : 200,
             node);
    if (news)
        pdk__log(c, PDK_LOG_WARNING, "session: cannot be renewed: %.*s does not permit DELETE", length, node);
    snprintf(c->account.error, sizeof c->account.error, "session: %s", why);
    pdk__members_hindered(c, PDK__NO_RENEWAL, why); /* every lock of the session depends on it */
}

/* --- incidents --------------------------------------------------------------------------------------------------- */

void pdk__client_incident(struct pdk_client *c, const char *verb, const char *subject, int rc)
{
    char why[PDK__REASON_MAX];
    assert(pdk__client_locked(c) && rc != 0);
    pdk__account_error(c, rc, why, sizeof why);
    pdk__incident_format(c->account.error, verb, subject, rc, why);
    pdk__log(c, PDK_LOG_WARNING, "%s", c->account.error);
}

int pdk__client_explain(struct pdk_client *c, const char *verb, const char *subject, int rc, const char *why)
{
    char text[PDK__INCIDENT_MAX];
    pdk__incident_format(text, verb, subject, rc, why);
    pdk__incident_note(c->account.number, text);
    return rc;
}

int pdk__client_end(struct pdk_client *c, const char *verb, const char *subject, int rc)
{
    char why[PDK__REASON_MAX];
    assert(pdk__client_locked(c));
    pdk__incident_clear(c->account.number);
    if (rc == 0)
        return rc;
    pdk__account_error(c, rc, why, sizeof why);
    return pdk__client_explain(c, verb, subject, rc, why);
}

bool pdk__client_unfit(const struct pdk_client *c, char *buf, size_t size)
{
    if (!pdk__session_unfit(&c->session))
        return false;
    snprintf(buf, size,
             "connected, but the session cannot be confirmed in time: round trip %.3g s, session timeout %.3g s",
             (double)pdk__session_lag_ms(&c->session) / 1000, (double)c->session.timeout_ms / 1000);
    return true;
}

size_t pdk_client_last_error(pdk_client *c, char *buf, size_t size)
{
    if (c == NULL)
        return pdk__incident_copy(buf, size, pdk__incident_text(0));
    if (pdk__client_enter(c) != 0)
        return pdk__incident_copy(buf, size, "");
    const char *own = pdk__incident_text(c->account.number);
    size_t length = pdk__incident_copy(buf, size, own[0] != '\0' ? own : c->account.error);
    pdk__client_leave(c);
    return length;
}
