/*
 * The deadline of belief (doc/guarantees.md), for spin: a client with a session, the server it is attached to, the
 * leader that this one follows and that may have been replaced, and time. What is run: test/model/check. The client is in
 * belief.pml.
 *
 * Of time only ages are kept, up to where they cease to matter; so nothing bounds how long a history is, nor how many
 * connections and leaders there are in it. What happens within one unit of time happens in any order.
 *
 * With BEACON, the last link is not a write of ours but the event of another client's write, which a whole fleet may
 * watch: a read, a sync, another sync behind it, and then the event. What is proposed and not yet committed is followed
 * for that. An event needs no watch here, and one is under way at a time.
 *
 * Of all requests only those of one chain are modelled: more would only touch the session more often. Of all servers
 * only the one that the client is attached to: what others still have of the session's touches can only come late, and
 * help.
 */
c_decl {
\#include <stdlib.h>
};
c_code {
    static int setting(const char *name)
    {
        const char *value = getenv(name);
        return value != NULL ? atoi(value) : 0;
    }
}

byte interval; /* between the leader's pings */
bit learners;   /* our server is a learner, always */
byte sought;   /* that something can happen is to be shown */

#define RENEWAL 1 /* belief can go on for ever */
#define RETURN  2 /* belief that had ended can come again, after a reconnect */

/* Always 0: an assertion that is violated is known by its name. */
hidden byte belief, renewal, comeback, room;

/* --- the session, where it is decided --------------------------------------------------------------------------------
 */

byte left;     /* until the leader may end it */
bit over;      /* it has */
bit replaced;  /* there was a leader before this one, which may not have noticed */

/* --- the connection --------------------------------------------------------------------------------------------------
 */

#define OFF     0
#define SHAKING 1
#define ON      2

byte line;
bit learner; /* of a learner; of the leader itself otherwise */
bit legit;   /* that leader is the one which a quorum follows */
bit table;   /* the learner was touched since it last told */
byte due;    /* until the leader's next ping */
bit newest_is_ping;  /* of what is on its way down */
bit newest_is_touch; /* up */

#define PING     1
#define COMMIT   2 /* or the end of a sync */
#define VALID    3
#define TOUCH    4 /* the answer to a ping; one without a touch does nothing */
#define VALIDATE 7 /* 5, 6 and 8 are requests of the client (belief.pml) */
#define CHANGE   9 /* the beacon's write is committed */

/* With a beacon: the oldest write that the leader of this line has proposed and not committed. */

#define PROPOSED 1
#define AGREED   2 /* a quorum has acknowledged it. The leader does not know yet */

byte outstanding;

chan down = [5] of {byte}; /* from the leader to its learner */
chan up = [5] of {byte};

/* --- the client ------------------------------------------------------------------------------------------------------
 */

#define UP     1
#define DOWN   2
#define ANSWER 3
#define EVENT  4

chan told = [6] of {byte}; /* what the client's thread has not taken in yet */

/* A request that is put in while there is no connection, unknown to us, waits for the next. */
#define TIME    byte
#define AGE_MAX lifetime
#define PUT_IN  (line == ON -> UNDERWAY : WAITING)

#include "belief.pml"

byte unbroken; /* how long it has believed without a break, where that is sought */
bit lapsed;    /* belief ended, and then there was a new connection; where that is sought */

#define CAN_TOUCH   (legit && !over)

inline put(channel, what)
{
    assert(room || nfull(channel));
    channel!what
}

inline lawful() { assert(belief || !(over && BELIEVES)) }

inline judge()
{
    assert(comeback || !(lapsed && BELIEVES));
    lawful()
}

/* --- time ------------------------------------------------------------------------------------------------------------
 */

inline pass()
{
    grow_older(1);
    left = (left > 0 -> left - 1 : 0);
    due = (due > 0 -> due - 1 : 0);
    if
    :: sought == RENEWAL ->
        unbroken = (BELIEVES -> unbroken + 1 : 0);
        assert(renewal || unbroken < 2 * lifetime)
    :: else
    fi
}

/* --- the leader ------------------------------------------------------------------------------------------------------
 */

inline send_up(packet)
{
    put(up, packet);
    newest_is_touch = packet == TOUCH
}

inline send_down(packet)
{
    put(down, packet);
    newest_is_ping = packet == PING
}

/* Of two pings of which neither was read the second is left out: what it would fetch, the first does. And of two
 * touches: the leader may take them at once. */
inline ping()
{
    due = interval;
    if
    :: newest_is_ping
    :: else -> send_down(PING)
    fi
}

inline touch()
{
    if
    :: CAN_TOUCH -> left = lifetime
    :: else
    fi
}

/* A quorum agrees on what the leader that it follows proposes, and on nothing else. A later leader has it then. */
inline lead(packet)
{
    up?packet;
    newest_is_touch = newest_is_touch && len(up) > 0;
    if
    :: packet == TOUCH -> touch()
    :: packet == WRITE && CAN_TOUCH -> send_down(COMMIT)
    :: packet == SYNC && (CAN_TOUCH || !legit) -> send_down(COMMIT)
    :: packet == VALIDATE && (CAN_TOUCH || !legit) ->
        touch();
        send_down(VALID)
    :: else /* refused, or never agreed on; what comes of it is not heard */
    fi
}

/* The next leader takes over the sessions, and gives each its whole timeout. The old one, and who follows it, go on. No
 * quorum will acknowledge what the old one has proposed. What a quorum has acknowledged it still commits. */
inline replace()
{
    left = lifetime;
    legit = 0;
    replaced = 1;
    outstanding = (outstanding == PROPOSED -> 0 : outstanding)
}

/* Whose server it is hears of it behind all that was sent to it before. */
inline commit()
{
    outstanding = 0;
    if
    :: learner -> send_down(CHANGE)
    :: else -> put(told, EVENT)
    fi
}

/* A learner's sync is answered behind what was outstanding. The leader's own client is answered at once. */
#define KEPT_BACK (beacon && up?[SYNC] && outstanding != 0)

/* --- the server ------------------------------------------------------------------------------------------------------
 */

inline answer()
{
    put(told, ANSWER);
    where = ANSWERED
}

inline connected()
{
    line = ON;
    put(told, UP);
    where = (where == WAITING -> UNDERWAY : where)
}

inline serve_as_learner()
{
    table = 1;
    if
    :: kind == READ -> answer()
    :: else ->
        send_up(kind);
        where = TAKEN
    fi
}

inline serve_as_leader()
{
    touch();
    if
    :: CAN_TOUCH || (!legit && kind != WRITE) -> answer()
    :: else -> where = TAKEN
    fi
}

inline tell_touch()
{
    if
    :: newest_is_touch
    :: else -> send_up(TOUCH)
    fi
}

inline follow(packet)
{
    down?packet;
    newest_is_ping = newest_is_ping && len(down) > 0;
    if
    :: packet == PING && table ->
        table = 0;
        tell_touch()
    :: packet == COMMIT -> answer()
    :: packet == CHANGE -> put(told, EVENT)
    :: packet == VALID -> connected()
    :: else
    fi
}

/* --- the connection comes and goes, before the client's thread hears of it ------------------------------------------
 */

inline drain(channel)
{
    do
    :: len(channel) > 0 -> channel?packet
    :: else -> break
    od
}

inline disconnect()
{
    if
    :: line == ON ->
        put(told, DOWN);
        where = (where == UNDERWAY || where == TAKEN -> LOST : where)
    :: else
    fi;
    line = OFF;
    drain(up);
    drain(down);
    newest_is_ping = 0;
    newest_is_touch = 0;
    table = 0;
    learner = 0;
    legit = 0;
    due = 0;
    outstanding = 0
}

/* What that leader has under way. */
inline propose_before()
{
    if
    :: beacon && legit -> outstanding = PROPOSED
    :: beacon -> outstanding = AGREED
    :: true
    fi
}

inline connect()
{
    if
    :: legit = 1
    :: replaced -> legit = 0
    fi;
    propose_before();
    if
    :: learner = 1;
        select(due : 0 .. interval - 1);
        line = SHAKING;
        send_up(VALIDATE)
    :: !learners ->
        learner = 0;
        touch();
        connected()
    fi
}

inline hear(packet)
{
    told?packet;
    if
    :: packet == ANSWER -> on_answer()
    :: packet == EVENT && READY ->
        prove(base);
        forget_chain()
    :: packet == DOWN -> on_down()
    :: packet == UP ->
        lapsed = sought == RETURN && !BELIEVES;
        on_up()
    :: else
    fi
}

/* --- all of it -------------------------------------------------------------------------------------------------------
 */

inline set_up()
{
    c_code {
        now.lifetime = setting("LIFETIME");
        now.interval = setting("INTERVAL");
        now.carrier = setting("SYNC_CARRIES") ? 6 : 5;
        now.chain_kept = setting("CHAIN_KEPT");
        now.beacon = setting("BEACON");
        now.learners = setting("LEARNERS");
        now.mutant = setting("MUTANT");
        now.sought = setting("SOUGHT");
    };
    gap = (mutant == SHORT_GAP -> interval : interval + 1);
    left = lifetime;
    line = ON;
    seen = 1;
    legit = 1;
    if
    :: learner = 1;
        select(due : 0 .. interval - 1)
    :: !learners -> learner = 0
    fi;
    propose_before()
}

/* Another one would say no more than this one. */
#define BEACON_ON_ITS_WAY (outstanding != 0 || down??[CHANGE] || told??[EVENT])
#define SERVING (line == ON && where == UNDERWAY)

active proctype world()
{
    byte packet;
    atomic { set_up() };
    do
    :: atomic { !(learner && due == 0) -> pass() }
    :: atomic { learner && due == 0 -> ping() }
    :: atomic { left == 0 && !over -> over = 1; lawful() }
    :: atomic { !over -> replace() }
    :: atomic { len(up) > 0 && !KEPT_BACK -> lead(packet); packet = 0 }
    :: atomic { beacon && legit && line != OFF && !BEACON_ON_ITS_WAY -> outstanding = PROPOSED }
    :: atomic { legit && outstanding == PROPOSED -> outstanding = AGREED }
    :: atomic { outstanding == AGREED -> commit() }
    :: atomic { len(down) > 0 -> follow(packet); packet = 0 }
    :: atomic { SERVING && learner -> serve_as_learner() }
    :: atomic { SERVING && !learner -> serve_as_leader() }
    :: atomic { line != OFF && len(told) < 3 -> disconnect(); packet = 0 }
    :: atomic { line == OFF && !over -> connect() }
    :: atomic { len(told) > 0 -> hear(packet); packet = 0 }
    :: atomic { seen && where == NOWHERE -> speak() }
    od
}
