/* What there is beside the machines (machine.pml): their clients, the ensemble. */

/* --- the clients and the ensemble ------------------------------------------------------------------------------------
 */

#define IO_DOWN    0
#define IO_REAL    1
#define IO_DEPOSED 2
#define IO_IDLE    3 /* the session is over, and the handle knows */

/* Requests: kind, contender, op, node. Back come kind, contender, op, data (a node; a set of nodes; 1 + a node that is
 * there, or 0; FAILED), and how much of the log the server had applied; and events, and the session's changes. */
chan up[C] = [Q] of { byte, byte, byte, byte };
chan inbox[C] = [Q] of { byte, byte, byte, byte, byte };
byte changes[C]; /* of the session, in the inbox */

byte log[L]; /* node: made; 16 + node: deleted; 32 + client * S + session: closed */
byte log_n;
byte base;   /* the nodes there were before log[0] */
byte live;   /* the nodes there are */
byte tag[K]; /* the name of a node: contender, session, round */
byte made;
bit alive[C * S];
byte late[N * S]; /* 1 + attempt: a create of a connection that is no more, which may still be committed */

byte io[C];
byte session[C];
bit fresh[C]; /* the session is yet to be opened */
bit dead[C];
byte at[C];      /* how much of the log its server has applied */
byte view[C];    /* what nodes that server has */
byte seen[C];    /* how much of the log the client knows of */
byte watches[C]; /* at its server; while there is none, those that it will set again */
byte writing[C]; /* the write at the head of up: 0, or 1 + what its server has to apply before it answers */
byte written[C]; /* its node */
bit reading[C];  /* the watch at the head of up is set, and not answered */

/* Scratch: of no meaning between steps. */
hidden byte z, turn, zxid, rest, kept, least, entry, fired, idle, turns;
hidden byte fails; /* is the answer that its outcome is not known? */

#define ALIVE(c)       (alive[(c) * S + session[c]])

/* --- words -----------------------------------------------------------------------------------------------------------
 */

#define QUIET(c) (len(up[c]) == 0 && len(inbox[c]) == 0)

/* The name that contender i has asked for, and asks for. */
#define TAG_OF(i, s, a) ((i) | ((s) << 2) | ((a) << 4))
#define TAG(i)          TAG_OF(i, session[CL(i)], attempt[i])

#define MINE(k, i)                                                                                                     \
    (tag[k] == TAG(i) || (mutant == NO_ATTEMPT && (tag[k] & 12) == (TAG(i) & 12) && TAG_CLIENT(tag[k]) == CL(i)) ||    \
     (mutant == PREVIOUS_SESSION && node[i] == YES && name[i] == k))

/* The other contender of the same client, or the same. */
#if C < N
#define BESIDE(i) ((i) + C < N -> (i) + C : (i) % C)
#else
#define BESIDE(i) (i)
#endif

#define LATE_OF(c, s) (late[(c) * S + s] + late[BESIDE(c) * S + s] > 0)
#define LATE(c)       LATE_OF(c, session[c])

#define FINISHED(c) (phase[c] == DONE && phase[BESIDE(c)] == DONE)
#define RETIRED(c)  (dead[c] || (FINISHED(c) && QUIET(c)))

/* The session that the client had AGO sessions ago, where it lives on. */
#define OLD(c, ago) (session[c] >= ago && alive[(c) * S + session[c] - (ago)])

/* Its server applies what it has not: unless nobody would notice now, and it can do so later. */
#define BEHIND(c) (io[c] == IO_REAL && at[c] < log_n && (len(up[c]) > 0 || (watches[c] & ~live) != 0))

/* Nothing more can go wrong with it. What it can do then without anybody's notice, it does at once: to wait with it
 * would make more states, and no other outcome; which can be seen by UNHURRIED=1. */
#define CALM(c)                                                                                                        \
    (!unhurried && losses[c] + expiries[c] + crashes[c] + give_ups[c] + failures[c] + doubts[c] + agains[c] + low[c] == 0 && io[c] == IO_REAL && ALIVE(c) && !dead[c])

/* Faults apart, the client and its sessions have nothing more to do. */
#define NO_OLD(c) (!(session[c] >= 1 && alive[(c) * S]) && !(session[c] >= 2 && alive[(c) * S + 1]))
#define ABIDES(i) (phase[i] != IDLE && phase[i] != BACKOFF && !HOLDS(i))
#define WAITS(c)  (ABIDES(c) && ABIDES(BESIDE(c)))
#define AT_REST(c)                                                                                                     \
    (QUIET(c) && !LATE(c) && NO_OLD(c) &&                                                                              \
     (dead[c] -> !ALIVE(c) : RETIRED(c) || (io[c] == IO_REAL && ALIVE(c) && !BEHIND(c) && !low[c] && WAITS(c))))
