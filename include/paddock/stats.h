/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics: the counters of a client since it was created, as numbers, and as text for a monitoring system.
 *
 * Caveats, first:
 *  - A copy is what one moment had. Counters of one copy belong together; those of two calls do not.
 *  - Counters begin at 0 with each client, and only grow. PDK_STAT_WAITING and PDK_STAT_HELD are levels.
 *  - Times have a resolution of 1 ms. A histogram has fixed bounds.
 *  - A lock that its owner locks again is not counted. Nor is a call that is refused for its arguments or its thread. A
 *    try that finds the lock with another thread of the object is counted. A request that the library makes again,
 *    after a grant that was lost before its caller woke, counts again.
 *  - A multi-lock, or an acquisition of several permits, is one request and one grant. Each term of a leader is one.
 *
 * At any moment PDK_STAT_ACQUIRES is PDK_STAT_GRANTS, PDK_STAT_FAILURES and PDK_STAT_WAITING together.
 */
#ifndef PADDOCK_STATS_H
#define PADDOCK_STATS_H

#include <paddock/client.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A copy of the counters of a client. */
typedef struct pdk_stats pdk_stats;

typedef enum pdk_stat {
    PDK_STAT_ACQUIRES = 0,       /* requests */
    PDK_STAT_GRANTS = 1,         /* that were granted, in each of three ways: */
    PDK_STAT_SERVER_GRANTS = 2,  /* by the servers, for a node of their own */
    PDK_STAT_HANDOVERS = 3,      /* by another owner in this process (pdk_lock_options_set_keep()) */
    PDK_STAT_REUSES = 4,         /* by a node that stayed (pdk_lock_options_set_keep()) */
    PDK_STAT_FAILURES = 5,       /* requests that were not granted; pdk_stats_failures() has them by error */
    PDK_STAT_LOSSES = 6,         /* grants that were LOST before they were released; pdk_stats_losses() by reason */
    PDK_STAT_WAITING = 7,        /* requests that wait now */
    PDK_STAT_HELD = 8,           /* locks that this client holds now; one that has no owner is held, too */
    PDK_STAT_SESSIONS = 9,       /* sessions that began */
    PDK_STAT_RECONNECTS = 10,    /* connections after the first of a session */
    PDK_STAT_DISCONNECTS = 11,   /* connections that were lost */
    PDK_STAT_EXPIRIES = 12,      /* sessions that ended against the client's will, or were given up */
    PDK_STAT_RENEWALS_SENT = 13, /* requests to renew a session in which a lock is held */
    PDK_STAT_RENEWALS = 14,      /* those that a quorum acknowledged */
    PDK_STAT_CONNECTED = 15      /* 1 while a server is connected, else 0 */
} pdk_stat;

/* Why a grant was lost. */
typedef enum pdk_loss {
    PDK_LOSS_SESSION = 0, /* the session expired, or was given up */
    PDK_LOSS_LEASE = 1,   /* no server confirmed in time that the session lives */
    PDK_LOSS_NODE = 2,    /* another client deleted the node */
    PDK_LOSS_CLOSED = 3   /* the client was closed, or its session is over for good */
} pdk_loss;

typedef enum pdk_histogram {
    PDK_HISTOGRAM_WAIT = 0,   /* milliseconds from a request to its grant; a node that stayed counts as 0 */
    PDK_HISTOGRAM_HOLD = 1,   /* milliseconds from the servers' grant to the release or the loss of the node: the turns
                               * of several owners, and the time without one, are one hold */
    PDK_HISTOGRAM_QUEUE = 2,  /* contenders ahead of a node of this client, when it joined a queue */
    PDK_HISTOGRAM_RENEWAL = 3 /* milliseconds that an acknowledged renewal took */
} pdk_histogram;

/*
 * Copy the counters of the client. No request; any thread.
 *
 * On success *STATS is the caller's, to be given to pdk_stats_free(). It has no connection to the client any more.
 *
 * PDK_ENOMEM, PDK_EINVAL, PDK_EFORKED.
 */
int pdk_client_stats(pdk_client *c, pdk_stats **stats);

/* NULL is allowed. */
void pdk_stats_free(pdk_stats *s);

/* One of the counters; 0 for a number that is none. */
uint64_t pdk_stats_count(const pdk_stats *s, pdk_stat what);

/* How many requests failed with ERROR, a negative PDK_E... of <paddock/error.h>. */
uint64_t pdk_stats_failures(const pdk_stats *s, int error);

/* How many grants were lost for REASON. */
uint64_t pdk_stats_losses(const pdk_stats *s, pdk_loss reason);

/*
 * Bucket I of the histogram, from 0. Returns false, and writes nothing, when it has no such bucket; a number that is no
 * histogram has none.
 *
 * *BOUND is the largest value that is counted in the bucket; INT64_MAX in the last one. *COUNT is how many values are
 * in buckets 0 to I together; in the last bucket it is the number of all values. Either pointer may be NULL.
 */
bool pdk_stats_bucket(const pdk_stats *s, pdk_histogram which, size_t i, int64_t *bound, uint64_t *count);

/* The sum of all values; 0 for a number that is no histogram. */
uint64_t pdk_stats_sum(const pdk_stats *s, pdk_histogram which);

typedef enum pdk_metrics {
    PDK_METRICS_OPENMETRICS = 0, /* OpenMetrics 1.0, application/openmetrics-text */
    PDK_METRICS_PROMETHEUS = 1   /* Prometheus' text format 0.0.4, for the textfile collector of its node exporter */
} pdk_metrics;

/*
 * The statistics as text for a monitoring system. The names of the metrics begin with "paddock_".
 *
 * LABELS, names and values by turns, are put to each sample: {"path", "/locks/a", NULL}; NULL for none. A label is
 * left out when its name is no label's: not of letters, digits and "_", or one that begins with a digit or "__". So is
 * one of the names "le", "source", "error" and "reason". Control characters and bytes that are no UTF-8 become "?".
 *
 * At most SIZE bytes with the terminating NUL are copied into BUF. Returns the length of the whole text; 0 when S is
 * NULL.
 *
 * The trap: the text of one client is a whole. The texts of two are no text together.
 */
size_t pdk_stats_format(const pdk_stats *s, pdk_metrics format, const char *const *labels, char *buf, size_t size);

#ifdef __cplusplus
}
#endif

#endif
