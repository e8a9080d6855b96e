/*
 * The client of the deadline of belief: its thread, and the chain of requests that proves its session (doc/guarantees.md,
 * lib/core/chain.h). Two worlds have it: lease.pml, where anything may happen to it, and beliefs.pml, where what happens
 * is what happened to the code.
 *
 * A world gives TIME, the type of times and ages; AGE_MAX, the age from which a moment is as good as none; PUT_IN, how
 * far a request is that was just put in; and judge(), after more is proven.
 */

TIME lifetime; /* of the session */
TIME gap;      /* from an answer to the next request of the chain */
byte carrier;  /* the second request of a chain: WRITE or SYNC */
byte chain_kept; /* it goes on across a reconnect: which says more anyway */
bit beacon;     /* another client's write is the last link */
byte mutant;

#define HEARD        1  /* any answered request proves the session, as of when it was sent */
#define ONE_WRITE    2  /* an answered write does */
#define TWO_WRITES   3  /* two, the second sent behind the answer of the first, prove the first */
#define TWO_SPACED   4  /* the same, with the gap between them */
#define NO_GAP       5  /* three, none of them waiting */
#define LATE_GAP     6  /* three, with the gap before the third, not before the second */
#define SHORT_GAP    7  /* a gap that is no longer than the interval of the pings */
#define FROM_REPLY   8  /* proven as of the first answer, not of the first request */
#define BY_SYNC      9  /* sync for the last write: a deposed leader answers it alone */
#define BY_REFUSAL   10 /* a refusal that the server makes by itself for the last write */
#define RECONNECTED  11 /* a reconnect is a proof */
#define FROM_NOTICE  12 /* a reconnect tells of the session as of when the loss was noticed */
#define ONE_SYNC     13 /* with a beacon: no second sync */
#define NO_SYNC      14 /* with a beacon: the event follows the read */
#define BEACON_GAP   15 /* with a beacon: no gap before the first sync */

/* Of requests. */

#define WRITE 5
#define SYNC  6
#define READ  8

#define NOWHERE  0
#define UNDERWAY 1
#define TAKEN    2 /* by the server */
#define ANSWERED 3
#define LOST     4
#define WAITING  5 /* for the next connection: the client did not know that there was none */

#define NONE    0
#define TOUCHED 1
#define CARRIED 2
#define SYNCED  3

#define FIRST  1
#define SECOND 2
#define THIRD  3

bit seen;     /* connected, for all that it knows */
byte where;   /* is the request, if there is one */
byte kind;
byte role;    /* in the chain; 0: none any more */
TIME age;     /* since it was sent */
byte stage;   /* of the chain */
TIME base;    /* age of what the chain would prove */
TIME since;   /* the answer of its first request, or of its second; up to GAP */
TIME newest;  /* since the newest request that was answered was sent */
TIME proven;  /* since the moment from which the session is known to live for LIFETIME */

#define BELIEVES    (proven < lifetime)
#define LESSER(a, b) (a < b -> a : b)

inline prove(since_when)
{
    proven = LESSER(since_when, proven);
    judge()
}

inline grow(counter, elapsed, limit)
{
    counter = (counter + elapsed < limit -> counter + elapsed : limit)
}

/* Time passes. */
inline grow_older(elapsed)
{
    grow(proven, elapsed, AGE_MAX);
    grow(newest, elapsed, AGE_MAX);
    if
    :: where != NOWHERE -> grow(age, elapsed, AGE_MAX)
    :: else
    fi;
    if
    :: stage != NONE ->
        grow(base, elapsed, AGE_MAX);
        grow(since, elapsed, gap)
    :: else
    fi
}

/* --- the chain -------------------------------------------------------------------------------------------------------
 */

inline forget_chain()
{
    stage = NONE;
    base = 0;
    since = 0
}

inline forget_request()
{
    where = NOWHERE;
    kind = 0;
    role = 0;
    age = 0
}

inline link(which, what)
{
    role = which;
    kind = what;
    age = 0;
    where = PUT_IN
}

#define WAITED       (since >= gap)
#define SECOND_DUE   (WAITED || mutant == NO_GAP || mutant == LATE_GAP || mutant == BEACON_GAP)
#define TWO_DO       (mutant == TWO_WRITES || (mutant == TWO_SPACED && WAITED))
#define THIRD_DUE    (stage == CARRIED && (mutant != LATE_GAP || WAITED) || stage == TOUCHED && TWO_DO)

#define CLOSING      (mutant == BY_SYNC || beacon -> SYNC : (mutant == BY_REFUSAL -> READ : WRITE))
#define READY        (stage == SYNCED || stage == CARRIED && mutant == ONE_SYNC || stage == TOUCHED && mutant == NO_SYNC)

inline speak()
{
    if
    :: stage == NONE -> link(FIRST, (mutant == ONE_WRITE -> WRITE : READ))
    :: stage == TOUCHED && SECOND_DUE -> link(SECOND, carrier)
    :: THIRD_DUE -> link(THIRD, CLOSING)
    :: stage != NONE -> forget_chain()
    fi
}

inline on_first()
{
    stage = TOUCHED;
    base = (mutant == FROM_REPLY -> 0 : age);
    since = 0;
    if
    :: mutant == HEARD || mutant == ONE_WRITE -> prove(age)
    :: else
    fi
}

inline on_answer()
{
    newest = age;
    if
    :: role == FIRST -> on_first()
    :: role == SECOND ->
        stage = CARRIED;
        since = 0
    :: role == THIRD && beacon -> stage = SYNCED
    :: role == THIRD && !beacon ->
        prove(base);
        forget_chain()
    :: else
    fi;
    forget_request()
}

/* A request that was put in after the connection had gone, unknown to us, is on the next one: there it is a first. */
inline on_down()
{
    seen = 0;
    newest = (mutant == FROM_NOTICE -> 0 : newest);
    if
    :: chain_kept
    :: else ->
        forget_chain();
        role = FIRST
    fi;
    if
    :: where == LOST || where == NOWHERE -> forget_request()
    :: else
    fi
}

/* The leader that this server follows was asked for the session, after all that was answered before was sent. A write
 * that is on this connection already was put behind that question. */
inline on_up()
{
    seen = 1;
    if
    :: mutant == RECONNECTED -> prove(newest)
    :: else
    fi;
    if
    :: true
    :: stage = CARRIED;
        base = newest;
        since = gap;
        role = (where != NOWHERE && kind == WRITE -> THIRD : 0)
    fi
}
