/* The findings of the laws: breaches, and events that are counted rather than condemned. */
#ifndef CHAOS_FINDINGS_H
#define CHAOS_FINDINGS_H

#include "test/chaos/evidence.h"

enum { TEXTS_MAX = 40, SAMPLES_MAX = 1 << 16 };

/* Events that no client can know of. */
enum known {
    KNOWN_ORDERED, /* belief: its node was deleted, or its session ended, from outside, and the event was on its way */
    KNOWN_DEPOSED, /* no belief: a deposed leader told a client that its session was over, before it was */
    KNOWN_DISSENT, /* nodes, service: the servers' data differ in the end, for one of them has lost a transaction */
    N_KNOWN
};

struct samples {
    int64_t *ns;
    size_t n, cap;
};

/* How much was looked at. */
struct tally {
    double seconds;
    size_t processes, requests, grants, nodes;
    long txns, discarded;
    int faults[N_FAULTS]; /* that took effect */
    size_t granted[N_RECIPES];
    size_t jobs_begun, jobs_done, jobs_skipped;
};

struct findings {
    struct tally tally;
    int n_breaches;
    char breach[TEXTS_MAX][360];
    int n_known[N_KNOWN];
    int64_t longest_known_ns[N_KNOWN];
    int n_notes;
    char note[TEXTS_MAX][360];
    struct samples hand_over, calm_hand_over; /* from first in the queue to granted; without faults around */
    struct samples deadline;                  /* from the last deadline reported to the session's end */
    struct samples margin;                    /* from LOST reported to the session's end; of processes that ran */
    struct samples regrant;                   /* from LOST reported to the next grant; the same */
    struct samples lateness;                  /* of timed calls, beyond their time */
    int64_t served_ns;                        /* from healing until every client had the lock */
};

void breach(struct findings *f, const char *law, const char *format, ...) __attribute__((format(printf, 3, 4)));
void note(struct findings *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
void count_known(struct findings *f, enum known known, int64_t ns);
void sample(struct samples *s, int64_t ns);

/* The value that PER_MILLE of the samples do not exceed; 0 without samples. Sorts. */
int64_t quantile(struct samples *s, int per_mille);
void findings_free(struct findings *f);

const char *known_name(enum known known);

/* "place 3, process 2" and the like; static, four at a time. */
const char *who(const struct evidence *e, const struct request *r);

/* Seconds since the run began. */
double at(const struct evidence *e, int64_t ns);

#define LAW(name) void name(const struct evidence *e, struct findings *f)
LAW(law_belief);   /* no two believe at once */
LAW(law_tokens);   /* tokens increase */
LAW(law_origins);  /* a token is its node's czxid */
LAW(law_outcomes); /* every call has one outcome, an allowed one, in time */
LAW(law_order);    /* only the first in the queue is granted */
LAW(law_nodes);    /* no attempt has two nodes; none is left at the end */
LAW(law_turns);    /* who yields is a candidate again */
LAW(law_service);  /* every client is served */
LAW(law_deadline); /* the session outlives the deadline that was reported */
LAW(law_margins);  /* no client claims to hold after its session's end */
LAW(law_jobs);     /* a job is done once, and what was answered about it is recorded */

LAW(law_return); /* no holder claims after a later grant; for runs whose nodes are never deleted from outside */

/* Belief, return and tokens, which need no truth. Returns the first breach, or NULL; static until the next call. */
const char *judge_holders(const struct evidence *e);

/* All of them. */
void judge_evidence(const struct evidence *e, struct findings *f);

/* Add the findings of MORE to F. */
void findings_add(struct findings *f, const struct findings *more);

/* The summary as text, under TITLE; the page. */
void print_summary(const char *title, struct findings *f);
bool write_report(const struct evidence *e, struct findings *f, const char *file);

#endif
