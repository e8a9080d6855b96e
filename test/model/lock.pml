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
byte overtaking;  /* may an event overtake the reply of the read that set the watch? */
byte unhurried;
byte mutant;
byte trail;       /* an end at which all that may go wrong has gone wrong is to be found */

#define SYNC             1 /* sync for the barrier: a deposed leader answers it alone */
#define NO_BARRIER       2 /* a lost create is looked for in a plain listing */
#define BLIND_RETRY      3 /* a lost create is not looked for */
#define NO_ATTEMPT       4 /* a node is known by its session alone */
#define HEAD             5 /* the holder's node is watched, not the predecessor's */
#define PREVIOUS_SESSION 6 /* a node is kept across sessions, whoever owns it */
#define EARLY_EVENT      7 /* an event before its reply is ignored */
#define STALE            8 /* any reply answers the question at hand */
#define HASTY            9 /* the predecessor is gone: granted, whoever else is ahead */
#define GONE_AT_ONCE     10 /* a caller that gives up forgets a create that is under way */
#define LOST_DELETE      11 /* a delete without an answer is taken for done */
#define HOLDS_ON         12 /* a holder stays one when its session is over */
#define NEXT_BUT_ONE     13 /* the one before the predecessor is gone: granted */
#define WAITS_UNSET      14 /* a waiter whose watch was not set yet goes on waiting with the next connection */
#define NOT_SET_AGAIN    15 /* so does one whose client does not set its watches again */

/* Always 0: an assertion that is violated is known by its name. */
hidden byte one_holder, lowest_holds, one_node, one_wake_up, nobody_blocked, no_orphan, room, found;

#include "state.pml"
#include "ensemble.pml"
#include "client.pml"
#include "machine.pml"

/* --- one step of the machines ----------------------------------------------------------------------------------------
 */

#define ACQUIRE 16
#define RELEASE 17

#define TIRES(i)  (give_ups[CL(i)] > 0 && wanted[i] && !HOLDS(i))
#define REQUESTS(i) (!dead[CL(i)] && (phase[i] == IDLE || HOLDS(i) || TIRES(i)))

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
    :: next == NODE_DELETED -> node_deleted(i)
    :: else
    fi;
    if
    :: next == ADVANCE -> advance(i)
    :: else
    fi
}

#define OF_ALL(msg) (msg >= EVENT && msg <= EXPIRED)

/* A step of the caller (who), or of the completion thread. */
inline work(c, of_caller)
{
    if
    :: of_caller ->
        give_ups[c] = (TIRES(who) -> give_ups[c] - 1 : give_ups[c]);
        msg = (phase[who] == IDLE -> ACQUIRE : RELEASE)
    :: else ->
        inbox[c] ? msg, who, number, data, zxid;
        connected[c] = (msg == UP || (connected[c] && msg != DOWN && msg != EXPIRED));
        seen[c] = (msg < EVENT && zxid > seen[c] -> zxid : seen[c]);
        changes[c] = (msg >= DOWN && msg <= EXPIRED -> changes[c] - 1 : changes[c])
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

#define BEGINS   1
#define BEGINS_2 2
#define RECEIVES 3
#define WRITES   4
#define READS    5
#define ANSWERS  6
#define FOLLOWS  7
#define SYNCS    8

/* What is done, and then what follows from it at once. */
inline act(c, what)
{
    who = (what == BEGINS_2 -> BESIDE(c) : c);
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
        others = (turns > 0 && what < RECEIVES);
        turns = 0;
        work(c, others)
    :: else -> break
    od;
    what = 0;
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

/* Choices are made in variables of the process, for spin to take them back; work is done in d_steps. */
proctype client(byte c)
{
    byte a, b, none;
end:
    do
    /* the caller, the completion thread, the server */
    :: atomic {
        if
        :: REQUESTS(c) -> a = BEGINS
        :: C < N && BESIDE(c) != c && REQUESTS(BESIDE(c)) -> a = BEGINS_2
        :: !dead[c] && nempty(inbox[c]) -> a = RECEIVES
        :: WRITE_READY(c) -> a = WRITES
        :: READ_READY(c) -> a = READS
        :: reading[c] -> a = ANSWERS
        :: BEHIND(c) -> a = FOLLOWS
        :: mutant == SYNC && io[c] == IO_DEPOSED && FIRST(c, BARRIER) -> a = SYNCS
        fi;
        skip;
        d_step { act(c, a) }
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
            trail = (losses[x] + expiries[x] + crashes[x] + give_ups[x] > 0 -> 0 : trail)
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
            }
            now.overtaking = getenv("OVERTAKING") != NULL;
            now.unhurried = getenv("UNHURRIED") != NULL;
            now.trail = getenv("TRACE") != NULL;
            now.mutant = getenv("MUTANT") != NULL ? atoi(getenv("MUTANT")) : 0;
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
