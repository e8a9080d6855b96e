/*
 * The protocol of lib/core/contender.h, for spin: contenders for one lock, an ensemble that lags, connections, sessions
 * and processes that are lost at any point. What is and what is not in it: doc/proof.md. What is run: test/model/check.
 */
#ifndef N
#define N 2 /* contenders */
#endif
#ifndef C
#define C N /* clients; contender i is of client i % C */
#endif

#define S 3  /* sessions that a client may need */
#define K 8  /* nodes that may be made */
#define L 10 /* writes that somebody has not seen */
#if C < N
#define Q 20 /* messages on their way, up or down */
#else
#define Q 12
#endif

#define CL(i)        ((i) % C)
#define BIT(k)       (1 << (k))
#define HAS(mask, k) (((mask) >> (k)) & 1)
#define NOBODY       15

/* What a run is asked to be comes from the environment, so that one verifier serves many: a digit for each client. */
c_decl {
\#include <stdlib.h>
\#include <string.h>
};
c_code {
    static int given(const char *name, unsigned client)
    {
        const char *value = getenv(name);
        return value != NULL && strlen(value) > client ? value[client] - '0' : 0;
    }
}

byte rounds[C];   /* how often its contenders contend */
byte losses[C];   /* of its connection */
byte deposed[C];  /* how often it may come to a leader that was replaced and has not noticed */
byte expiries[C]; /* sessions that the leader ends, or handles that the client gives up */
byte crashes[C];  /* 1: it may be no more */
byte give_ups[C]; /* callers that give up before they hold; a deadline and a cancel are the same request */
byte tries[C];    /* 1: its contenders only try */
byte looks[C];    /* 1: its contenders look ahead */
byte failures[C]; /* answers that the outcome is not known */
byte doubts[C];   /* times that its lease is low */
byte agains[C];   /* times that it reads and watches once more what it watches */
byte overtaking;  /* may an event overtake the reply of the read that set the watch? */
byte unhurried;
byte mutant;
byte trail;       /* an end at which all that may go wrong has gone wrong is to be found */

/* 0: an assertion that is violated is known by its name. But a mutant may be searched for what follows. */
hidden byte one_holder, lowest_holds, one_node, one_wake_up, nobody_blocked, no_orphan, room, found;

/* Does it matter that a node's end tells another contender of its client that nobody is ahead? */
#define NOTES_RELEASES (C < N)

/* Of a node's name; and is the machine's node of its session? */
#define TAG_CLIENT(t)  CL((t) & 3)
#define TAG_SESSION(t) (((t) >> 2) & 3)
#define OURS(i) (TAG_SESSION(tag[name[i]]) == session[CL(i)] || mutant == PREVIOUS_SESSION)

#include "machine.pml"
#include "state.pml"
#include "ensemble.pml"
#include "client.pml"

/* --- the world of the machines ---------------------------------------------------------------------------------------
 */

/* Numbers of questions come round: so many of one contender are never in flight, and fewer numbers make less states. */
inline next_op(i, o)
{
    o = (QUIET(CL(i)) -> 1 : o % 7 + 1)
}

inline renew(i)
{
    attempt[i]++
}

/* rule.c: where the node is in a listing, how many are ahead, and the last two of them. */
inline place(i, m)
{
    own_k = NOBODY;
    near_k = NOBODY;
    before_k = NOBODY;
    ahead = 0;
    for (x : 0 .. K - 1) {
        if
        :: own_k == NOBODY && HAS(m, x) && MINE(x, i) -> own_k = x
        :: own_k == NOBODY && HAS(m, x) && !MINE(x, i) ->
            ahead++;
            before_k = near_k;
            near_k = (mutant == HEAD && near_k != NOBODY -> near_k : x)
        :: else
        fi
    }
    near_replaced = 0;
    near_ours = near_k != NOBODY && TAG_CLIENT(tag[near_k]) == CL(i)
}

/* At most one live holder, and its node the lowest of those there are. What one still believes whose session is over is
 * another matter: that is for the validity deadline. */
inline check_exclusion(i)
{
    printf("granted: contender %d\n", i);
    if
    :: ALIVE(CL(i)) ->
        assert(lowest_holds || (HAS(live, name[i]) && (live & (BIT(name[i]) - 1)) == 0));
        for (x : 0 .. N - 1) {
            assert(one_holder || x == i || !HOLDS(x) || !ALIVE(CL(x)))
        }
    :: else
    fi
}

#define WAITS_BESIDE(i, x) \
    (x != i && pred[x] == pred[i] && phase[x] == WAITING && HAS(live, name[i]) && HAS(live, name[x]))

/* One wake-up for a release: no two contenders whose nodes are there wait for the same node; or two, if one of them looks
 * ahead. */
inline check_herd(i)
{
    others = 0;
    for (x : 0 .. N - 1) {
        if
        :: WAITS_BESIDE(i, x) ->
            others++;
            assert(one_wake_up || (others == 1 && (looks[CL(i)] || looks[CL(x)])))
        :: else
        fi
    }
}

#define TIRES(i)  (give_ups[CL(i)] > 0 && wanted[i] && !HOLDS(i))
#define RESTS(i)  (!dead[CL(i)] && phase[i] == BACKOFF)
#define COMES_DUE(i) (!dead[CL(i)] && OWN_MISSING(i))
#define REQUESTS(i) (!dead[CL(i)] && (phase[i] == IDLE || HOLDS(i) || TIRES(i)))

#define OF_ALL(msg) (msg >= EVENT && msg <= EXPIRED || msg == AGAIN || msg == LEASE_LOW || msg == LEASE_OK)

/* One of the client's own contenders was granted, and has released the node that is gone. */
#define WAS_FIRST(i, k) (node[i] == YES && name[i] == k && released[i])

#define BEGINS   1
#define RESTS_ENOUGH 2
#define IS_DUE   3
#define DOUBTS   4
#define LOOKS_AGAIN 5
#define RECEIVES 6
#define WRITES   7
#define READS    8
#define ANSWERS  9
#define FOLLOWS  10
#define SYNCS    11

/* A step of the caller (who), of the clock, or of the completion thread. */
inline work(c, what)
{
    number = 0;
    if
    :: what == BEGINS ->
        give_ups[c] = (TIRES(who) -> give_ups[c] - 1 : give_ups[c]);
        msg = (phase[who] == IDLE -> ACQUIRE : RELEASE)
    :: what == RESTS_ENOUGH -> msg = RESTED
    :: what == IS_DUE -> msg = DUE
    :: what == DOUBTS ->
        doubts[c] = (low[c] -> doubts[c] : doubts[c] - 1);
        low[c] = !low[c];
        msg = (low[c] -> LEASE_LOW : LEASE_OK)
    :: what == LOOKS_AGAIN ->
        agains[c]--;
        msg = AGAIN
    :: else ->
        inbox[c] ? msg, who, number, data, zxid;
        connected[c] = (msg == UP || (connected[c] && msg != DOWN && msg != EXPIRED));
        seen[c] = (msg < EVENT && zxid > seen[c] -> zxid : seen[c]);
        changes[c] = (msg >= DOWN && msg <= EXPIRED -> changes[c] - 1 : changes[c]);
        number = (msg == EVENT && NOTES_RELEASES -> (WAS_FIRST(c, data) || WAS_FIRST(BESIDE(c), data)) : number)
    fi;
    for (turn : 0 .. N - 1) {
        if
        :: turn == who && !OF_ALL(msg) || CL(turn) == c && OF_ALL(msg) -> step(turn)
        :: else
        fi
    }
    if
    :: msg == EXPIRED -> new_handle(c)
    :: else
    fi
}

/* What is done (by the other contender of the client, BESIDE), and then what follows from it at once. */
inline act(c, what, other, failing, late_by)
{
    who = (other -> BESIDE(c) : c);
    fails = failing;
    long_ago = late_by;
    failures[c] = failures[c] - failing;
    if
    :: what == WRITES -> write(c)
    :: what == READS -> read(c)
    :: what == ANSWERS -> answer_read(c)
    :: what == FOLLOWS -> catch_up(c)
    :: what == SYNCS -> answer_sync(c)
    :: else
    fi;
    turns = (what <= RECEIVES);
    do
    :: turns > 0 || (CALM(c) && len(inbox[c]) > 0) ->
        what = (turns > 0 -> what : RECEIVES);
        turns = 0;
        work(c, what)
    :: else -> break
    od;
    what = 0;
    other = 0;
    failing = 0;
    late_by = 0;
    forget()
}

/* --- the processes ---------------------------------------------------------------------------------------------------
 */

/* How many creates of those that were sent are under way after a loss. */
inline choose_creates(c, creates)
{
    do
    :: creates < (FIRST(c, CREATE) && writing[c] == 0 && io[c] == IO_REAL && ALIVE(c)) -> creates++
    :: break
    od
}

/* Fairness is that of processes. A timer that is not due changes nothing: without end, that would keep its process
 * from all else. So where fairness matters it is due. */
#ifdef LTL
#define MAY_BE_EARLY(what) ((what) != IS_DUE)
#else
#define MAY_BE_EARLY(what) true
#endif

/* Choices are made in variables of the process, for spin to take them back; work is done in d_steps. */
proctype client(byte c)
{
    byte a, b, none;
    bit other, failing, late_by;
end:
    do
    /* the caller, the completion thread, the server */
    :: atomic {
        if
        :: REQUESTS(c) -> a = BEGINS
        :: BESIDE(c) != c && REQUESTS(BESIDE(c)) -> a = BEGINS; other = 1
        :: RESTS(c) -> a = RESTS_ENOUGH
        :: BESIDE(c) != c && RESTS(BESIDE(c)) -> a = RESTS_ENOUGH; other = 1
        :: COMES_DUE(c) -> a = IS_DUE
        :: BESIDE(c) != c && COMES_DUE(BESIDE(c)) -> a = IS_DUE; other = 1
        :: !dead[c] && (low[c] || doubts[c] > 0) -> a = DOUBTS
        :: !dead[c] && agains[c] > 0 -> a = LOOKS_AGAIN
        :: !dead[c] && nempty(inbox[c]) -> a = RECEIVES
        :: WRITE_READY(c) -> a = WRITES
        :: READ_READY(c) -> a = READS
        :: reading[c] -> a = ANSWERS
        :: BEHIND(c) -> a = FOLLOWS
        :: mutant == SYNC && io[c] == IO_DEPOSED && FIRST(c, BARRIER) -> a = SYNCS
        fi;
        if
        :: failures[c] > 0 && (a == WRITES || a == READS) -> failing = 1
        :: skip
        fi;
        if
        :: a <= RECEIVES || CALM(c) -> late_by = 1
        :: MAY_BE_EARLY(a)
        fi;
        skip;
        d_step { act(c, a, other, failing, late_by) }
        }
    /* the connection */
    :: atomic {
        !RETIRED(c) && io[c] == IO_DOWN;
        a = seen[c];
        do
        :: a < log_n && !fresh[c] && ALIVE(c) -> a++
        :: break
        od;
        if
        :: skip
        :: nempty(up[c]) -> b = 1
        :: deposed[c] > 0 && !fresh[c] -> b = 2
        fi;
        skip;
        d_step { connect(c, a, b); forget() }
        }
    :: atomic {
        !RETIRED(c) && (io[c] == IO_DEPOSED || (io[c] == IO_REAL && (!ALIVE(c) || losses[c] > 0)));
        if
        :: io[c] == IO_REAL && ALIVE(c) ->
            losses[c]--;
            choose_creates(c, a)
        :: else
        fi;
        skip;
        d_step { least_received(c, b) };
        do
        :: b < len(inbox[c]) -> b++
        :: break
        od;
        skip;
        d_step { cut(c, a, b); forget() }
        }
    /* what the others make of its requests */
    :: d_step { LATE(c) -> settle_late(c, session[c], 1); forget() }
    :: d_step { LATE(c) -> settle_late(c, session[c], 0); forget() }
    /* what goes wrong with its session, and with itself */
    :: atomic {
        crashes[c] > 0 && !RETIRED(c);
        crashes[c]--;
        choose_creates(c, a);
        skip;
        d_step { crash(c, a); forget() }
        }
    :: d_step { expiries[c] > 0 && !RETIRED(c) && !fresh[c] && ALIVE(c) ->
        expiries[c]--;
        close_session(c, session[c]);
        forget() }
    :: atomic {
        expiries[c] > 0 && !RETIRED(c) && !fresh[c] && !connected[c] && io[c] != IO_IDLE;
        expiries[c]--;
        choose_creates(c, a);
        skip;
        d_step { give_up_handle(c, a); forget() }
        }
    /* what nobody serves any more ends */
    :: d_step { dead[c] && ALIVE(c) -> close_session(c, session[c]); forget() }
    :: d_step { OLD(c, 1) -> close_session(c, session[c] - 1); forget() }
    :: d_step { OLD(c, 1) && LATE_OF(c, session[c] - 1) -> settle_late(c, session[c] - 1, 1); forget() }
    :: d_step { OLD(c, 2) -> close_session(c, session[c] - 2); forget() }
    od
}

/* When nothing is under way, faults apart, everybody must have finished, and nothing may be left. That it has come to
 * this, spin checks too: to wait here for ever is an invalid end. */
proctype end_of_it()
{
    d_step {
        AT_REST(0) && AT_REST(1 % C) && AT_REST(2 % C) ->
        for (x : 0 .. N - 1) {
            assert(nobody_blocked || phase[x] == DONE || dead[CL(x)])
        }
        assert(no_orphan || live == 0);
        /* A trace of every fault that was allowed is asked for. */
        for (x : 0 .. C - 1) {
            trail = (losses[x] + expiries[x] + crashes[x] + give_ups[x] + failures[x] + doubts[x] + agains[x] > 0 -> 0 : trail)
        }
        assert(found || !trail)
    }
}

init
{
    d_step {
        c_code {
            unsigned client;
            for (client = 0; client < C; client++) {
                now.rounds[client] = given("ROUNDS", client);
                now.losses[client] = given("LOSSES", client);
                now.deposed[client] = given("DEPOSED", client);
                now.expiries[client] = given("EXPIRIES", client);
                now.crashes[client] = given("CRASHES", client);
                now.give_ups[client] = given("GIVE_UPS", client);
                now.tries[client] = given("TRIES", client);
                now.looks[client] = given("LOOKS", client);
                now.failures[client] = given("FAILURES", client);
                now.doubts[client] = given("DOUBTS", client);
                now.agains[client] = given("AGAINS", client);
            }
            now.overtaking = getenv("OVERTAKING") != NULL;
            now.unhurried = getenv("UNHURRIED") != NULL;
            now.trail = getenv("TRACE") != NULL;
            now.mutant = getenv("MUTANT") != NULL ? atoi(getenv("MUTANT")) : 0;
            nobody_blocked = no_orphan = getenv("UNCHECKED") != NULL;
        };
        for (x : 0 .. C - 1) {
            rounds[x] = (rounds[x] > 0 -> rounds[x] : 1);
            connected[x] = 1;
            io[x] = IO_REAL;
            alive[x * S] = 1
        }
        for (x : 0 .. N - 1) {
            pred[x] = NOBODY
        }
    }
    atomic {
        for (turn : 0 .. C - 1) {
            run client(turn)
        }
        run end_of_it()
    }
}

/* "Everybody who keeps asking is served", of contender 0: it does not ask for ever. Asking ends with the grant, when
 * the caller gives up, or when the process dies. It goes on when the connection or the session is lost. */
#define ASKS (wanted[0] && !HOLDS(0) && !dead[0])
#ifdef LTL
ltl served { [] <> !ASKS }
#endif
