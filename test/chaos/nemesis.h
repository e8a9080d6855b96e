/*
 * The nemesis: faults by chance, from a seed, against clients, servers, and the lock itself.
 *
 * One fault at a time per client, one against the servers, one by an administrator; these three sorts together. A fault
 * is undone when its time is over.
 */
#ifndef CHAOS_NEMESIS_H
#define CHAOS_NEMESIS_H

#include "test/chaos/faults.h"
#include "test/chaos/workers.h"
#include "test/lib/dice.h"
#include "test/lib/lanes.h"
#include <zookeeper/zookeeper.h>

enum { ACTIVE_MAX = WORKERS_MAX + 2 };

struct fault {
    enum fault_id id;
    int64_t serial;
    int64_t until_ns;
    int victim;     /* a place, or a server, or -1 */
    enum lane lane; /* of an administrator's fault */
    int detail;     /* an opcode, a number of milliseconds: what the fault's own functions agree on */
    int rule[PDK__SERVER_MAX];
    bool took; /* it had an effect */
    bool lingers;
    char node[128];
};

struct nemesis {
    struct workers *workers;
    pdk__ensemble *e;
    zhandle_t *zh; /* an administrator's, around all proxies */
    struct dice dice;
    struct history *log;
    int weight[N_FAULTS]; /* of this seed: swarm testing */
    int64_t serial;
    struct fault active[ACTIVE_MAX];
    int n_active;
    int64_t
        well_ns; /* when the servers were last seen to serve, all of them; 0: not since something was done to them */
    bool unsure; /* an administrator's call was given up */
    int64_t zxid, moved_ns, looked_ns; /* the last transaction seen, and when */
};

void nemesis_begin(struct nemesis *n, struct workers *workers, struct history *log, uint64_t seed);

/* Make faults for so long. */
void nemesis_run(struct nemesis *n, int64_t ms);

/* Undo all that is active, let all servers serve, and say so. */
void nemesis_heal(struct nemesis *n);
void nemesis_end(struct nemesis *n);

/* After all clients have ended: wait until the sessions of killed clients are over, and record the nodes and watches
 * that stay. */
void nemesis_count_leftovers(struct nemesis *n);

/* Stop the servers and copy their transaction logs into the place of the evidence: they are the ground truth. */
void nemesis_keep_logs(struct nemesis *n);

/* --- the administrator ------------------------------------------------------------------------------------------- */

void admin_open(struct nemesis *n);

/* As ZooKeeper's own, and ZOPERATIONTIMEOUT: it may happen yet. */
int admin_create(struct nemesis *n, const char *path, int mode, char made[256]);
int admin_delete(struct nemesis *n, const char *path);

/* After a call that was given up: a new session. */
void admin_renew(struct nemesis *n);

/* To be called again and again: kill the leader of an ensemble that commits nothing though IS_WELL, that is, though no
 * fault of ours is the reason. */
void admin_mend(struct nemesis *n, bool is_well);

/* --- the faults -------------------------------------------------------------------------------------------------- */

struct fault_kind {
    int weight;                                        /* 0: never */
    int low_pm, high_pm;                               /* how long, in thousandths of the session */
    bool lingers;                                      /* a holder that it meets does not unlock meanwhile */
    bool (*begin)(struct nemesis *n, struct fault *f); /* false: it cannot be had now */
    void (*again)(struct nemesis *n, struct fault *f); /* every tenth of a second or so; may be NULL */
    void (*end)(struct nemesis *n, struct fault *f);   /* may be NULL */
};

/* By their id; of the three sorts. */
const struct fault_kind *fault_kind(enum fault_id id);
extern const struct fault_kind client_faults[], server_faults[], admin_faults[];

#endif
