/*
 * The protocol of lib/core/contender.c, for spin: contenders for one lock, an ensemble that lags, connections, sessions
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
#define Q (4 * (1 + N / C)) /* messages on their way, up or down */

#define CL(i)        ((i) % C)
#define BIT(k)       (1 << (k))
#define HAS(mask, k) (((mask) >> (k)) & 1)
#define NOBODY       15

/* What a run is asked to be comes from the environment, so that one verifier serves many. */
c_decl {
\#include <stdlib.h>
};
c_code {
    static int given(const char *name)
    {
        const char *value = getenv(name);
        return value != NULL ? atoi(value) : 0;
    }
}

byte rounds;     /* how often each contends */
byte losses;     /* connections lost */
byte expiries;   /* sessions that the leader ends, or handles that a client gives up */
byte crashes;    /* clients that are no more */
byte give_ups;   /* callers that give up before they hold; a deadline and a cancel are the same wish */
byte deposed;    /* connections to a leader that was replaced and has not noticed */
byte tries;      /* contenders, from the first, that only try */
byte overtaking; /* may an event overtake the reply of the read that set the watch? */
byte mutant;

#define SYNC             1 /* sync for the barrier: a deposed leader answers it alone */
#define NO_BARRIER       2 /* a lost create is looked for in a plain listing */
#define BLIND_RETRY      3 /* a lost create is not looked for */
#define NO_ATTEMPT       4 /* a node is known by its session alone */
#define HEAD             5 /* the holder's node is watched, not the predecessor's */
#define PREVIOUS_SESSION 6 /* a node is kept across sessions, whoever owns it */
#define EARLY_EVENT      7 /* an event before its reply is ignored */
#define STALE            8 /* any reply answers the question at hand */
#define HASTY            9 /* the predecessor is gone: granted, whoever else is ahead */
#define GONE_AT_ONCE     10 /* who gives up forgets a create that is under way */

/* Always 0: an assertion that is violated is known by its name. */
hidden byte one_holder, lowest_holds, one_node, one_wake_up, nobody_blocked, no_orphan, room;

#include "state.pml"
#include "ensemble.pml"
#include "client.pml"
#include "machine.pml"

/* --- one step of the machines ----------------------------------------------------------------------------------------
 */

#define ACQUIRE 16
#define RELEASE 17

#define TIRES(i)  (give_ups > 0 && wanted[i] && !HOLDS(i))
#define WISHES(i) (!dead[CL(i)] && (phase[i] == IDLE || HOLDS(i) || TIRES(i)))

/* What MSG does to contender i; then what each path of contender.c ends with. */
inline step(i)
{
    next = STAY;
    if
    :: msg == ACQUIRE ->
        wanted[i] = 1;
        next = ADVANCE
    :: msg == RELEASE -> give_up(i)
    :: msg == DOWN -> on_down(i)
    :: msg == UP -> on_up(i)
    :: msg == EXPIRED -> on_expired(i)
    :: msg == EVENT -> on_event(i, data)
    :: else -> on_reply(i, msg, number, data)
    fi;
    if
    :: next == GRANT -> grant(i)
    :: next == VANISH -> vanish(i)
    :: else
    fi;
    if
    :: next == ADVANCE -> advance(i)
    :: else
    fi
}

/* The caller, or the completion thread: who is 1 + the contender, or 0 for the next in the queue. */
inline work(c, caller)
{
    if
    :: caller == 0 ->
        inbox[c] ? msg, who, number, data, zxid;
        connected[c] = (msg == UP || (connected[c] && msg != DOWN && msg != EXPIRED));
        seen[c] = (msg < EVENT && zxid > seen[c] -> zxid : seen[c]);
        changes[c] = (msg >= DOWN -> changes[c] - 1 : changes[c])
    :: else ->
        who = caller - 1;
        give_ups = (TIRES(who) -> give_ups - 1 : give_ups);
        msg = (phase[who] == IDLE -> ACQUIRE : RELEASE)
    fi;
    for (turn : 0 .. N - 1) {
        if
        :: turn == who && (msg < EVENT || msg >= ACQUIRE) || CL(turn) == c && msg >= EVENT && msg < ACQUIRE -> step(turn)
        :: else
        fi
    }
    if
    :: msg == EXPIRED -> new_handle(c)
    :: else
    fi;
    forget()
}

/* --- the processes ---------------------------------------------------------------------------------------------------
 */

/* How many creates of those that were sent are under way after a loss. */
inline choose_creates(c, creates)
{
    do
    :: creates < (FIRST(c, CREATE) && writing[c] == 0) -> creates++
    :: break
    od
}

/* Choices are made in variables of the process, for spin to take them back; work is done in d_steps. */
proctype client(byte c)
{
    byte a, b, none;
end:
    do
    /* the caller, the completion thread */
    :: atomic {
        if
        :: WISHES(c) -> a = 1 + c
#if C < N
        :: BESIDE(c) != c && WISHES(BESIDE(c)) -> a = 1 + BESIDE(c)
#endif
        :: !dead[c] && nempty(inbox[c])
        fi;
        skip;
        d_step { work(c, a); a = 0 }
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
        :: deposed > 0 && !fresh[c] -> b = 2
        fi;
        skip;
        d_step { connect(c, a, b); forget() }
        }
    :: atomic {
        !RETIRED(c) && (io[c] == IO_DEPOSED || (io[c] == IO_REAL && (!ALIVE(c) || losses > 0)));
        if
        :: io[c] == IO_REAL && ALIVE(c) ->
            losses--;
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
    /* its server, and what the others make of its requests */
    :: d_step { WRITE_READY(c) -> write(c); forget() }
    :: d_step { WRITTEN(c) -> answer_write(c) }
    :: d_step { READ_READY(c) -> read(c); forget() }
    :: d_step { mutant == SYNC && io[c] == IO_DEPOSED && FIRST(c, BARRIER) -> answer_sync(c) }
    :: d_step { reading[c] -> answer_read(c) }
    :: d_step { io[c] == IO_REAL && at[c] < log_n -> catch_up(c); forget() }
    :: d_step { LATE(c) -> settle_late(c, session[c], 1); forget() }
    :: d_step { LATE(c) -> settle_late(c, session[c], 0); forget() }
    /* what goes wrong with its session, and with itself */
    :: atomic {
        crashes > 0 && !RETIRED(c);
        crashes--;
        choose_creates(c, a);
        skip;
        d_step { crash(c, a); forget() }
        }
    :: d_step { expiries > 0 && !RETIRED(c) && !fresh[c] && ALIVE(c) ->
        expiries--;
        close_session(c, session[c]);
        forget() }
    :: atomic {
        expiries > 0 && !RETIRED(c) && !fresh[c] && !connected[c] && io[c] != IO_IDLE;
        expiries--;
        choose_creates(c, a);
        skip;
        d_step { give_up_handle(c, a); forget() }
        }
    /* what nobody serves any more ends */
    :: d_step { dead[c] && ALIVE(c) -> close_session(c, session[c]); forget() }
    :: d_step { OLD(c, 1) -> close_session(c, session[c] - 1); forget() }
    :: d_step { OLD(c, 1) && LATE_OF(c, session[c] - 1) > 0 -> settle_late(c, session[c] - 1, 1); forget() }
    :: d_step { OLD(c, 2) -> close_session(c, session[c] - 2); forget() }
    od
}

/* When nothing is under way, faults apart, everybody must have finished, and nothing may be left. */
proctype end_of_it()
{
end:
    d_step {
        AT_REST(0) && AT_REST(1 % C) && AT_REST(2 % C) ->
        for (x : 0 .. N - 1) {
            assert(nobody_blocked || phase[x] == DONE || dead[CL(x)])
        }
        assert(no_orphan || live == 0)
    }
}

init
{
    d_step {
        c_code {
            now.rounds = given("ROUNDS");
            now.losses = given("LOSSES");
            now.expiries = given("EXPIRIES");
            now.crashes = given("CRASHES");
            now.give_ups = given("GIVE_UPS");
            now.deposed = given("DEPOSED");
            now.tries = given("TRIES");
            now.overtaking = given("OVERTAKING");
            now.mutant = given("MUTANT");
        };
        rounds = (rounds > 0 -> rounds : 1);
        for (x : 0 .. C - 1) {
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
