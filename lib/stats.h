/*
 * The statistics of a client, as they are counted. The client has one such structure, and the program gets copies of
 * it. So each event costs a few additions, and nothing is shared that is not shared already.
 *
 * A *request* of the program ends by a grant or a failure. A *hold* lasts from the servers' grant to the release or the
 * loss of the node; hand-overs inside the process and times without an owner are within one hold.
 *
 * All with the client's lock held.
 */
#ifndef PDK__STATS_H
#define PDK__STATS_H

#include "paddock/stats.h"

enum { PDK__STATS_ERRORS = 64, PDK__STATS_LOSSES = 4, PDK__STATS_BUCKETS = 20, PDK__STATS_HISTOGRAMS = 4 };

enum pdk__grant_source { PDK__BY_SERVERS, PDK__BY_HANDOVER, PDK__BY_IDLE_HOLD, PDK__N_GRANT_SOURCES };

struct pdk__histogram {
    uint64_t n[PDK__STATS_BUCKETS]; /* by bucket, not cumulative */
    uint64_t sum;
};

struct pdk_stats {
    uint64_t requests; /* but for those that an idle hold served */
    uint64_t grants[PDK__N_GRANT_SOURCES];
    uint64_t failures[PDK__STATS_ERRORS]; /* by -code */
    uint64_t losses[PDK__STATS_LOSSES];
    uint64_t holds; /* that began */
    uint64_t sessions, reconnects, disconnects, expiries;
    uint64_t renewals_sent, renewals;
    int64_t session; /* the last that began */
    bool connected;
    struct pdk__histogram histograms[PDK__STATS_HISTOGRAMS];
};

/* A request for PATH begins; it is granted, or fails with RC. An idle hold is taken up again in one step. */
void pdk__stats_request(struct pdk_stats *s, const char *path);
void pdk__stats_grant(struct pdk_stats *s, const char *path, enum pdk__grant_source source, int64_t waited_ms);
void pdk__stats_failure(struct pdk_stats *s, const char *path, int rc);
void pdk__stats_reuse(struct pdk_stats *s, const char *path);

/* A hold of PATH begins, is over, is lost while a program relied on it. */
void pdk__stats_hold(struct pdk_stats *s, const char *path, int64_t token);
void pdk__stats_held(struct pdk_stats *s, const char *path, int64_t token, int64_t held_ms);
void pdk__stats_loss(struct pdk_stats *s, const char *path, int64_t token, pdk_loss reason);

/* A node of this client has joined a queue. */
void pdk__stats_queue(struct pdk_stats *s, size_t ahead);

/* The session: SESSION is connected, the connection is lost, it expired, a renewal was sent or acknowledged. */
void pdk__stats_up(struct pdk_stats *s, int64_t session);
void pdk__stats_down(struct pdk_stats *s);
void pdk__stats_expiry(struct pdk_stats *s);
void pdk__stats_renewal_sent(struct pdk_stats *s);
void pdk__stats_renewal(struct pdk_stats *s, int64_t took_ms);

#endif
