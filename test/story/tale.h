/*
 * A tale: one contender, or one session, and the trace of its events and actions. A story test feeds events and
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

/* The session and attempt of the contender of every tale. */
#define TALE_SESSION INT64_C(0x1000)
#define TALE_ATTEMPT 0x2au

/* Names: ours with sequence number 5, and others before and after it. */
#define OURS "0000000000001000-0000002a-lock-0000000005"
#define OTHER_3 "0000000000002000-00000001-lock-0000000003"
#define OTHER_4 "_c_8612d63e-bf96-4b12-a950-74da4d73b8ee-lock-0000000004"
#define OTHER_6 "0000000000002000-00000002-lock-0000000006"

struct tale {
    struct pdk__contender c;
    struct pdk__session s;
    uint64_t ops;
    uint32_t attempts;
    int64_t now_ms;
    int64_t token;              /* of our node, in the servers' replies */
    int32_t version;            /* of its data, likewise */
    int32_t mark_version;       /* of the lock path's data, as last read */
    int64_t granted;            /* the token of the grant */
    uint64_t op;                /* of the last main request */
    uint64_t own_op, unmark_op; /* of the last request about our own node */
    char last_name[128];
    bool last_by_exists;
    size_t length;
    char trace[4096];
};

/* A contender in a connected session (or in none yet) that has no request. */
void tale_begin(struct tale *t, bool connected);

/* The caller's requests. DEADLINE_MS from now; negative: never. */
void acquire(struct tale *t, int64_t deadline_ms);
void try_acquire(struct tale *t);
void release(struct tale *t);

/* Let MS milliseconds pass, then feed a timer event. */
void later(struct tale *t, int64_t ms);

/* The session. */
void up(struct tale *t, int64_t session);
void down(struct tale *t);
void proven(struct tale *t);
void doubted(struct tale *t);
void presumed(struct tale *t);
void expired(struct tale *t);
void over(struct tale *t, int error);
void left(struct tale *t, int error);

/* Replies to the last request, with an outcome other than OK or with a result. */
void created(struct tale *t, const char *name);
void created_by(struct tale *t, const char *name, int64_t owner);
void listed(struct tale *t, const char *const *children); /* NULL-terminated */
void identified(struct tale *t, int64_t owner);
void own(struct tale *t);
void own_by(struct tale *t, int64_t owner);
void confirmed(struct tale *t, int64_t token);
void confirmed_by(struct tale *t, int64_t owner, int64_t token);
void read_mark(struct tale *t, const char *name, int64_t token, int32_t version);
void marked(struct tale *t);
void own_revoked(struct tale *t); /* another client has written a revocation request there */
void reply(struct tale *t, enum pdk__event_kind kind, enum pdk__outcome outcome, int error);
void ok(struct tale *t, enum pdk__event_kind kind);

/* A reply to request OP, whether it is the last one or not. */
void reply_to(struct tale *t, uint64_t op, enum pdk__event_kind kind, enum pdk__outcome outcome);

/* Watches. */
void fired(struct tale *t, bool deleted);
void own_fired(struct tale *t, bool deleted);

/* The session machine, with a timeout of 3000 and a tick of 1000. The gap is then 560, the margin 150, and the least
 * time left 300. */
void session_begin(struct tale *t, bool renewable);
void session_event(struct tale *t, enum pdk__session_event_kind kind);
void session_connected(struct tale *t, int64_t id, int64_t timeout_ms);
void session_later(struct tale *t, int64_t ms);

/* The requested read or write, or else any request, sent AGO_MS ago, is answered; AGREED: by a quorum. */
void session_answered(struct tale *t, int64_t ago_ms, bool agreed);

/* Forget the trace so far. */
void tale_reset(struct tale *t);

/* The children of a listing. */
#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NOBODY ((const char *const[]){NULL})

#endif
