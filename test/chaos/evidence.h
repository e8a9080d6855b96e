/* The evidence of a run: histories put in order, faults, and the truth of the servers' logs. */
#ifndef CHAOS_EVIDENCE_H
#define CHAOS_EVIDENCE_H

#include "test/chaos/faults.h"
#include "test/chaos/truth.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NEVER INT64_MAX

/* A client process. */
struct process {
    int place, generation;
    int32_t pid;
    int64_t killed_ns; /* NEVER: it was not */
    int64_t ended_ns;  /* NEVER: it did not end in order */
    int n_strays;      /* outcomes without a request */
};

/* One report to a holder: its state and its remaining time, and when. */
struct told {
    int64_t ns;
    int state; /* pdk_state */
    int64_t valid_ms;
    bool is_question;
};

/* A node of a grant. */
struct part {
    enum lane lane;
    int64_t token; /* its own; 0: it has none */
    char node[64];
    const struct znode *znode; /* NULL: there is none */
};

/* A run of the job of the time, under a request's grant. A time that did not come is NEVER. */
struct job_run {
    int n_begins; /* 0: there is none; more than one is an error of the worker */
    char key[56]; /* "": it has a period */
    int64_t period_ms;
    int64_t begins_ns, begun_ns, ends_ns, ended_ns;
    int begun_rc, status, ended_rc;
};

/* One call to lock, and all that followed from it. A time that did not come is NEVER. */
struct request {
    int process, number, way;
    enum recipe recipe;
    int n_wanted;       /* how many nodes a grant has; 0: one */
    int64_t timeout_ms; /* -1: none */
    int64_t asked_ns, answered_ns;
    int n_answers, rc;
    int64_t token, session, valid_ms; /* when granted */
    char node[64];
    struct part parts[PARTS_MAX];
    int n_parts;
    const struct znode *znode; /* of its parts, the first that went; NULL: one of them has none */
    int64_t lost_ns;           /* when LOST was reported, or answered */
    int64_t unlocking_ns, unlocked_ns;
    int n_unlocked, unlock_rc;
    uint64_t turn; /* under its node; 0: the node has one owner */
    bool may_stay; /* its node, when its unlock has returned */
    bool is_yield; /* its unlock does not wait, and the client stays a candidate */
    struct job_run job;
    struct told *told; /* in the order of time */
    size_t n_told, cap_told;
};

struct stop {
    int32_t pid;
    int64_t from_ns, until_ns;
};

struct strike {
    enum fault_id id;
    int64_t serial;
    int victim;
    int32_t pid; /* of a client, when it began */
    int64_t from_ns, until_ns;
    bool took;
};

struct clock_pair {
    int64_t ns, wall_ns;
};

#define LIST(type)                                                                                                     \
    struct {                                                                                                           \
        type *list;                                                                                                    \
        size_t n, cap;                                                                                                 \
    }

struct evidence {
    LIST(struct process) processes;
    LIST(struct request) requests; /* by process, then time */
    LIST(struct stop) stops;
    LIST(struct strike) strikes;
    LIST(struct clock_pair) clocks;
    size_t *grants; /* indices of granted requests, in the order of their answers */
    size_t n_grants;
    struct truth truth;
    int64_t seed, n_clients, session_ms, tick_ms, sync_limit;
    int64_t begin_ns, healed_ns, end_ns;         /* NEVER: not healed */
    int64_t n_children, n_ephemerals, n_watches; /* after all clients have ended; -1: not recorded */
    int64_t n_dissenters;                        /* servers whose data differ from the first's then */
};

/* False, with a line on stderr, when it cannot be read. The caller gives it to evidence_free(), also then. */
bool evidence_read(struct evidence *e, const char *dir);
void evidence_free(struct evidence *e);

/* Add one process's history. evidence_read() does so with those of DIR. */
struct history;
void evidence_add(struct evidence *e, const struct history *h);

/* When everything is in its lists: bind grants to their nodes, put them in order. evidence_read() does so. */
void evidence_settle(struct evidence *e);

#define PUSH(l) (*(__typeof__((l)->list))evidence_grow((void **)&(l)->list, &(l)->n, &(l)->cap, sizeof *(l)->list))
void *evidence_grow(void **list, size_t *n, size_t *cap, size_t size);

/* The servers' clock, on that of the histories. NEVER stays so. */
int64_t evidence_ns(const struct evidence *e, int64_t wall_ms);

/* How much of the lane's room the grant takes; without the nodes that another client's order had deleted at NS. */
int held_in(const struct evidence *e, const struct request *r, enum lane lane, int64_t ns);

/* Are A and B one hold of one client: a write lock, and the read lock under it? */
bool is_one_hold(const struct request *a, const struct request *b);

/* A lane in which A and B do not fit beside each other; N_LANES: there is none. */
enum lane contested(const struct evidence *e, const struct request *a, const struct request *b);

/* The token of the grant in that lane; 0: it has none there. */
int64_t token_in(const struct request *r, enum lane lane);

/* When a grant ended for its holder: lost, unlock called, or killed. */
int64_t grant_end_ns(const struct evidence *e, const struct request *r);

/* The reports to the holder: number 0 is the grant itself, the last is number N_TOLD. A report claims if the holder
 * could believe then. A holder that was stopped before it looked at its grant had no time left when it did. */
struct told told(const struct request *r, size_t i);
bool claims(const struct told *t);

/* When the holder claimed for the last time; 0 when it never did. */
int64_t last_claim_ns(const struct request *r);

/* The latest deadline that was reported to it; 0: none. */
int64_t last_deadline_ns(const struct request *r);

/* Was the node deleted, or its session ended, from outside? */
bool was_ordered(const struct znode *z);

/* Was the process stopped, or not run by its machine, at any time between the two? */
bool was_stopped(const struct evidence *e, const struct request *r, int64_t from_ns, int64_t until_ns);

/* Faults that part a server from its leader, or freeze one, while its clients are connected. */
#define SET(id) (UINT64_C(1) << FAULT_##id)
#define CUTS (SET(FOLLOWER_CUT) | SET(LEADER_CUT) | SET(FOLLOWER_PAUSED) | SET(LEADER_PAUSED) | SET(LINK_DELAY))

/* The latest fault of one of the kinds in SET (bits by fault_id) in force at any time between the two; VICTIM -1: any.
 */
const struct strike *find_strike(const struct evidence *e, uint64_t set, int victim, int64_t from_ns, int64_t until_ns);

#endif
