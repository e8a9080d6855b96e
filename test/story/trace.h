/*
 * A trace: one contender, or one session, and the trace of its events and actions. A story test feeds events and
 * compares the whole trace; the trace is the oracle.
 *
 *     up: -
 *     acquire: create
 *     created: -
 *     listed: granted own
 */
#ifndef PDK__TALE_H
#define PDK__TALE_H

#include "lib/core/contender.h"
#include "lib/core/session.h"

/* The session and attempt of the contender of every trace. */
#define TRACE_SESSION INT64_C(0x1000)
#define TRACE_ATTEMPT 0x2au

/* Names: ours with sequence number 5, and others before and after it. */
#define OURS "0000000000001000-0000002a-lock-0000000005"
#define OURS_AGAIN "0000000000001000-0000002b-lock-0000000007" /* made anew */
#define OTHER_2 "0000000000002000-00000003-lock-0000000002"
#define OTHER_3 "0000000000002000-00000001-lock-0000000003"
#define OTHER_4 "_c_8612d63e-bf96-4b12-a950-74da4d73b8ee-lock-0000000004"
#define OUR_OTHER_3 "0000000000001000-00000021-lock-0000000003" /* of this client */
#define OUR_OTHER_4 "0000000000001000-00000022-lock-0000000004"
#define OTHER_6 "0000000000002000-00000002-lock-0000000006"

struct trace {
    struct pdk__contender c;
    struct pdk__wish wish;
    struct pdk__conditions conditions;
    struct pdk__session s;
    uint64_t ops;
    uint32_t attempts;
    int64_t now_ms;
    int64_t timeout_ms;        /* of the session that the next connection brings; 0: the own node is watched at once */
    int64_t opening_ms;        /* when the last handle was asked for */
    int64_t token;             /* of our node, in the servers' replies */
    int32_t version;           /* of its data, likewise */
    int32_t record_version;    /* of the lock path's data, as last read */
    int64_t granted;           /* the token of the grant */
    uint64_t op;               /* of the last main request */
    uint64_t own_op, clear_op; /* of the last request about our own node */
    char last_name[128];
    bool last_by_exists;
    size_t length;
    char text[4096];
};

/* A contender in a connected session (or in none yet) that has no request. */
void trace_begin(struct trace *t, bool connected);

/* The same, of another recipe. */
void trace_begin_as(struct trace *t, const struct pdk__rule *rule, bool connected);

/* The caller's requests. DEADLINE_MS from now; negative: never. */
void acquire(struct trace *t, int64_t deadline_ms);
void try_acquire(struct trace *t);
void release(struct trace *t);

/* The holder has no user. Its answer, and its watch. */
void idle(struct trace *t);
void used(struct trace *t);
void rivals(struct trace *t, const char *const *children);
void rivals_fired(struct trace *t);

/* The limit in the rule is another from now on. */
void limit_changed(struct trace *t);

/* Let MS milliseconds pass, then feed a timer event. */
void later(struct trace *t, int64_t ms);

/* The driver's turn to look at what is watched. */
void look_again(struct trace *t);

/* The session. */
void up(struct trace *t, int64_t session);
void down(struct trace *t);
void proven(struct trace *t);
void doubted(struct trace *t);
void presumed(struct trace *t);
void expired(struct trace *t);
void given_up(struct trace *t); /* by the client, not by the servers */
void over(struct trace *t, int error);
void left(struct trace *t, int error);

/* Replies to the last request, with an outcome other than OK or with a result. */
void created(struct trace *t, const char *name);
void created_by(struct trace *t, const char *name, int64_t owner);
void listed(struct trace *t, const char *const *children); /* NULL-terminated */
void watched_children(struct trace *t, const char *const *children);
void identified(struct trace *t, int64_t owner);
void own(struct trace *t);
void own_by(struct trace *t, int64_t owner);
void confirmed(struct trace *t, int64_t token);
void confirmed_by(struct trace *t, int64_t owner, int64_t token);
void read_record(struct trace *t, const char *name, int64_t token, int32_t version);
void recorded(struct trace *t);
void own_revoked(struct trace *t); /* another client has written a revocation request there */
void reply(struct trace *t, enum pdk__event_kind kind, enum pdk__outcome outcome, int error);
void ok(struct trace *t, enum pdk__event_kind kind);

/* A reply to request OP, whether it is the last one or not. */
void reply_to(struct trace *t, uint64_t op, enum pdk__event_kind kind, enum pdk__outcome outcome);

/* Watches. */
void fired(struct trace *t, bool deleted);
void first_fired(struct trace *t); /* it is deleted, and was the first */
void own_fired(struct trace *t, bool deleted);

/* The session machine, with a timeout of 3000 and a tick of 1000. The gap is then 560, the margin 150, and the least
 * time left 300. */
void session_begin(struct trace *t, bool renewable);
void session_event(struct trace *t, enum pdk__session_event_kind kind);
void session_connected(struct trace *t, int64_t id, int64_t timeout_ms);
void session_later(struct trace *t, int64_t ms);

/* The requested read or write, or else any request, sent AGO_MS ago, is answered; AGREED: by a quorum. */
void session_answered(struct trace *t, int64_t ago_ms, bool agreed);

/* A sync, sent AGO_MS ago, is answered. */
void session_synced(struct trace *t, int64_t ago_ms);

/* Forget the trace so far. */
void trace_reset(struct trace *t);

/* The children of a listing. */
#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NOBODY ((const char *const[]){NULL})

#endif
