#include "lib/stats.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/probe.h"

/* --- histograms -------------------------------------------------------------------------------------------------- */

static const int64_t times_ms[PDK__STATS_BUCKETS] = {1,     2,      5,      10,     20,      50,       100,
                                                     200,   500,    1000,   2000,   5000,    10000,    20000,
                                                     50000, 100000, 200000, 500000, 1000000, INT64_MAX};
static const int64_t lengths[] = {0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, INT64_MAX};

enum { N_LENGTHS = sizeof lengths / sizeof *lengths };

static void observe(struct pdk__histogram *h, const int64_t *bounds, int64_t value)
{
    size_t i = 0;
    while (value > bounds[i])
        i++;
    h->n[i]++;
    h->sum += (uint64_t)value;
}

static void observe_ms(struct pdk_stats *s, pdk_histogram which, int64_t ms)
{
    observe(&s->histograms[which], times_ms, ms > 0 ? ms : 0);
}

/* --- requests and holds ------------------------------------------------------------------------------------------ */

void pdk__stats_request(struct pdk_stats *s, const char *path)
{
    s->requests++;
    PDK__PROBE1(acquire_begin, path);
}

void pdk__stats_grant(struct pdk_stats *s, const char *path, enum pdk__grant_source source, int64_t waited_ms)
{
    assert(source != PDK__BY_IDLE_HOLD);
    s->grants[source]++;
    PDK__PROBE3(granted, path, waited_ms, source);
    observe_ms(s, PDK_HISTOGRAM_WAIT, waited_ms);
}

void pdk__stats_reuse(struct pdk_stats *s, const char *path)
{
    s->grants[PDK__BY_IDLE_HOLD]++;
    PDK__PROBE1(reused, path);
}

void pdk__stats_failure(struct pdk_stats *s, const char *path, int rc)
{
    assert(rc < 0 && rc > -PDK__STATS_ERRORS);
    s->failures[-rc]++;
    PDK__PROBE2(failed, path, rc);
}

void pdk__stats_hold(struct pdk_stats *s, const char *path, int64_t token)
{
    s->holds++;
    PDK__PROBE2(held, path, token);
}

void pdk__stats_held(struct pdk_stats *s, const char *path, int64_t token, int64_t held_ms)
{
    observe_ms(s, PDK_HISTOGRAM_HOLD, held_ms);
    PDK__PROBE3(released, path, token, held_ms);
}

void pdk__stats_loss(struct pdk_stats *s, const char *path, int64_t token, pdk_loss reason)
{
    s->losses[reason]++;
    PDK__PROBE3(lost, path, token, reason);
}

void pdk__stats_queue(struct pdk_stats *s, size_t ahead)
{
    observe(&s->histograms[PDK_HISTOGRAM_QUEUE], lengths, (int64_t)ahead);
}

/* --- the session ------------------------------------------------------------------------------------------------- */

void pdk__stats_up(struct pdk_stats *s, int64_t session)
{
    if (session == s->session)
        s->reconnects++;
    else
        s->sessions++;
    s->session = session;
    s->connected = true;
    PDK__PROBE2(session_state, session, PDK_SESSION_CONNECTED);
}

void pdk__stats_down(struct pdk_stats *s)
{
    s->disconnects += s->connected;
    s->connected = false;
    PDK__PROBE2(session_state, s->session, PDK_SESSION_SUSPENDED);
}

void pdk__stats_expiry(struct pdk_stats *s)
{
    s->expiries++;
    s->connected = false;
    PDK__PROBE2(session_state, s->session, PDK_SESSION_CONNECTING);
}

void pdk__stats_renewal_sent(struct pdk_stats *s) { s->renewals_sent++; }

void pdk__stats_renewal(struct pdk_stats *s, int64_t took_ms)
{
    s->renewals++;
    observe_ms(s, PDK_HISTOGRAM_RENEWAL, took_ms);
    PDK__PROBE2(renewed, s->session, took_ms);
}

/* --- of a copy --------------------------------------------------------------------------------------------------- */

static uint64_t sum(const uint64_t *list, size_t n)
{
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += list[i];
    return total;
}

static uint64_t grants(const struct pdk_stats *s) { return sum(s->grants, PDK__N_GRANT_SOURCES); }

static uint64_t acquires(const struct pdk_stats *s) { return s->requests + s->grants[PDK__BY_IDLE_HOLD]; }

static uint64_t failures(const struct pdk_stats *s) { return sum(s->failures, PDK__STATS_ERRORS); }

static uint64_t holds_over(const struct pdk_stats *s)
{
    return sum(s->histograms[PDK_HISTOGRAM_HOLD].n, PDK__STATS_BUCKETS);
}

uint64_t pdk_stats_count(const pdk_stats *s, pdk_stat what)
{
    switch (s != NULL ? (int)what : -1) {
    case PDK_STAT_ACQUIRES:
        return acquires(s);
    case PDK_STAT_GRANTS:
        return grants(s);
    case PDK_STAT_SERVER_GRANTS:
        return s->grants[PDK__BY_SERVERS];
    case PDK_STAT_HANDOVERS:
        return s->grants[PDK__BY_HANDOVER];
    case PDK_STAT_REUSES:
        return s->grants[PDK__BY_IDLE_HOLD];
    case PDK_STAT_FAILURES:
        return failures(s);
    case PDK_STAT_LOSSES:
        return sum(s->losses, PDK__STATS_LOSSES);
    case PDK_STAT_WAITING:
        return acquires(s) - grants(s) - failures(s);
    case PDK_STAT_HELD:
        return s->holds - holds_over(s);
    case PDK_STAT_SESSIONS:
        return s->sessions;
    case PDK_STAT_RECONNECTS:
        return s->reconnects;
    case PDK_STAT_DISCONNECTS:
        return s->disconnects;
    case PDK_STAT_EXPIRIES:
        return s->expiries;
    case PDK_STAT_RENEWALS_SENT:
        return s->renewals_sent;
    case PDK_STAT_RENEWALS:
        return s->renewals;
    case PDK_STAT_CONNECTED:
        return s->connected;
    default:
        return 0;
    }
}

uint64_t pdk_stats_failures(const pdk_stats *s, int error)
{
    return s != NULL && error < 0 && error > -PDK__STATS_ERRORS ? s->failures[-error] : 0;
}

uint64_t pdk_stats_losses(const pdk_stats *s, pdk_loss reason)
{
    return s != NULL && (unsigned)reason < PDK__STATS_LOSSES ? s->losses[reason] : 0;
}

static size_t buckets_of(const pdk_stats *s, pdk_histogram which)
{
    if (s == NULL || (unsigned)which >= PDK__STATS_HISTOGRAMS)
        return 0;
    return which == PDK_HISTOGRAM_QUEUE ? N_LENGTHS : PDK__STATS_BUCKETS;
}

/* A hold that stayed is taken up in no time. */
static uint64_t count_to(const pdk_stats *s, pdk_histogram which, size_t i)
{
    uint64_t instant = which == PDK_HISTOGRAM_WAIT ? s->grants[PDK__BY_IDLE_HOLD] : 0;
    return instant + sum(s->histograms[which].n, i + 1);
}

bool pdk_stats_bucket(const pdk_stats *s, pdk_histogram which, size_t i, int64_t *bound, uint64_t *count)
{
    if (i >= buckets_of(s, which))
        return false;
    if (bound != NULL)
        *bound = which == PDK_HISTOGRAM_QUEUE ? lengths[i] : times_ms[i];
    if (count != NULL)
        *count = count_to(s, which, i);
    return true;
}

uint64_t pdk_stats_sum(const pdk_stats *s, pdk_histogram which)
{
    return buckets_of(s, which) > 0 ? s->histograms[which].sum : 0;
}

void pdk_stats_free(pdk_stats *s) { pdk__free(s); }
