/*
 * The link to the servers, as its answers show it, and the pace of writes that it needs.
 *
 * A link is slow when proof would be too old at the pace of a fast one.
 */
#ifndef PDK__PACE_H
#define PDK__PACE_H

#include "lib/core/limits.h"

/* At most so many requests of ours are under way. */
enum { PDK__ASKED_MAX = 16 };

struct pdk__pace {
    int64_t lag_ms;   /* the least round trip of MEASURED_MAX answers; INT64_MAX before there were that many */
    int64_t least_ms; /* the same of the answers after them */
    int64_t mean_ms;  /* the smoothed round trip */
    int n_measured;   /* how many answers least_ms covers */
    bool eased;       /* the pace of a slow link has brought no proof: that of a fast one is tried */
    int64_t turn_ms;  /* since when the present pace has brought no proof, while proof is wanted */
};

void pdk__pace_init(struct pdk__pace *p);

/* A request was answered after TOOK_MS. */
void pdk__pace_measure(struct pdk__pace *p, int64_t took_ms);

/* The round trip of the link: the least of the latest answers; 0 before the first answer. */
int64_t pdk__pace_lag_ms(const struct pdk__pace *p);

/* Is the link slow, and is the pace of a slow link the one that is tried? */
bool pdk__pace_slow(const struct pdk__pace *p, const struct pdk__session_limits *l);

/* Do chains of a read, a sync and a write bring proof in time on this link? */
bool pdk__pace_lean(const struct pdk__pace *p, const struct pdk__session_limits *l);

/* The age of belief at which the write of the next such chain is sent; and what a sync may wait beyond that, for a
 * request that was answered later. */
int64_t pdk__pace_ripe_ms(const struct pdk__pace *p, const struct pdk__session_limits *l);
int64_t pdk__pace_slack_ms(const struct pdk__session_limits *l);

/* The smoothed round trip; 0 before the first answer. */
int64_t pdk__pace_mean_ms(const struct pdk__pace *p);

/* The interval of writes, or of all requests where writes are few. */
int64_t pdk__pace_ms(const struct pdk__pace *p, const struct pdk__session_limits *l);

/* Can no pace bring a proof in time for a grant? Never before MEASURED_MIN answers. */
bool pdk__pace_unfit(const struct pdk__pace *p, const struct pdk__session_limits *l);

/* Time passes. LACKING: proof is wanted, and there is too little. */
void pdk__pace_reconsider(struct pdk__pace *p, const struct pdk__session_limits *l, bool lacking, int64_t now_ms);

#endif
