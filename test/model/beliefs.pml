/*
 * Are the code's steps the model's? For spin: the client of the deadline (belief.pml) in a world in which what happens
 * is what a trace of the simulator says ($TRACE, test/lib/trace_session.c). What is run: test/model/trace.
 *
 * Each time the code claims more (it rises), the model's client must be able to prove that moment, or a later one, from
 * the requests that were answered: it chooses which of them are its links. It has one chain at a time, as always, and
 * the code has many, so each rise has a search of its own, a window: from a request that can be the first link to the
 * answer with which the code claims. At each step the code's deadline may not be later than the model's, the lease must
 * be reported over by then, and may be reported OK only before.
 *
 * Time is in milliseconds. The gap is the least that is more than half a tick of the simulator's servers, and the
 * lifetime the least timeout that the session was granted: neither is what the code takes for it.
 */
#define TIME    int
#define AGE_MAX 536870911
#define PUT_IN  UNDERWAY

#include "belief.pml"

c_decl {
    enum { ASKED_READ = READ, ASKED_SYNC = SYNC, ASKED_WRITE = WRITE };
};
c_code {
\#include "beliefs.h"
};

/* What is sought: a violation shows that the model has made all the steps. */
hidden byte all_steps;

int at;       /* the moment, of those of the trace */
int rise;     /* at which the code claims what is to be proven; -1: none is */
int clock;    /* in the window */
int elapsed;  /* since the moment before */
int ours;     /* the request that is the client's */
int believed; /* the session is known to live for LIFETIME from this moment on */
byte told;    /* the last report of the lease */
bit stuck;

#define NEVER (-536870912)

#define MOMENT(field)  c_expr { moments[now.at].field }
#define IS(event)      c_expr { moments[now.at].what == event }
#define AT_END         c_expr { now.at == n_moments }
#define UNTIL          (believed + lifetime)

#define cannot(why)    c_code { hinder(now.at, why); }; stuck = 1

inline judge() { skip }

/* --- what the code claims --------------------------------------------------------------------------------------------
 */

inline check_claims()
{
    lifetime = MOMENT(timeout_ms);
    told = (MOMENT(told) != 0 -> MOMENT(told) : told);
    if
    :: MOMENT(proven_ms) > believed -> cannot("more is claimed than is proven")
    :: MOMENT(proven_ms) <= believed && MOMENT(deadline_ms) > UNTIL -> cannot("the deadline is later than the model's")
    :: else ->
        if
        :: told == 'O' && MOMENT(ms) >= UNTIL -> cannot("the lease is OK after the model's deadline")
        :: told == 'L' && MOMENT(ms) >= UNTIL && believed != NEVER -> cannot("the lease is not reported over")
        :: else
        fi
    fi
}

/* A session begins with the moment at which its handle was opened, if the handle is ours. */
inline begin()
{
    believed = MOMENT(since);
    told = 'L'
}

/* Up to the next rise, but for that of a beginning. */
inline go_on()
{
    do
    :: stuck || AT_END -> break
    :: !stuck && !AT_END && MOMENT(rises) && !IS(BEGUN) -> break
    :: else ->
        if
        :: IS(BEGUN) -> begin()
        :: else
        fi;
        if
        :: IS(SENT)
        :: else -> check_claims()
        fi;
        at = at + 1
    od
}

/* --- a window --------------------------------------------------------------------------------------------------------
 */

/* At MOMENT(ms). A request may be put in while there is no connection, too: it waits, as one that was put in unaware. */
inline put_in()
{
    carrier = (MOMENT(kind) == SYNC -> SYNC : WRITE);
    speak();
    if
    :: where == NOWHERE /* the chain is given up */
    :: where != NOWHERE && (role == FIRST || kind == MOMENT(kind)) ->
        kind = MOMENT(kind);
        ours = MOMENT(request)
    fi
}

inline open_window()
{
    rise = at;
    lifetime = MOMENT(timeout_ms);
    gap = MOMENT(half_tick_ms) + 1;
    c_code { hinder(now.rise, "no chain proves what is claimed"); };
    c_code { now.at = first_first(now.rise); };
    do
    :: at >= 0 -> break
    :: at >= 0 -> c_code { now.at = next_first(now.at + 1, now.rise); }
    :: at < 0 -> stuck = 1; break
    od
}

inline begin_window()
{
    seen = 1;
    proven = AGE_MAX;
    newest = AGE_MAX;
    clock = MOMENT(ms);
    put_in();
    at = at + 1
}

#define OF_US   (IS(ANSWERED_AT) && MOMENT(request) == ours)
#define DUE     (stage == TOUCHED && SECOND_DUE || THIRD_DUE)
#define LINKS   (IS(SENT) && where == NOWHERE && MOMENT(kind) != READ && DUE)
#define MATTERS (OF_US || LINKS || IS(CONNECTED) || IS(DISCONNECTED))

inline pass()
{
    do
    :: elapsed = MOMENT(ms) - clock;
        grow_older(elapsed);
        clock = MOMENT(ms);
        elapsed = 0;
        if
        :: at == rise || MATTERS -> break
        :: else -> at = at + 1
        fi
    od
}

/* A first link is put in at the beginning of a window, and not again: that is another window. */
inline happen()
{
    if
    :: LINKS -> put_in()
    :: LINKS
    :: d_step { OF_US -> on_answer(); ours = 0 }
    :: IS(CONNECTED) -> on_up()
    :: d_step { IS(DISCONNECTED) -> on_down() }
    :: !MATTERS
    fi;
    at = at + 1
}

/* What the window has shown is kept; its chain is not. */
inline close_window()
{
    at = rise;
    rise = -1;
    believed = (clock - proven > believed -> clock - proven : believed);
    forget_chain();
    forget_request();
    seen = 0;
    proven = 0;
    newest = 0;
    clock = 0;
    ours = 0;
    carrier = 0;
    check_claims();
    at = at + 1
}

#define PROVEN c_expr { now.clock - now.proven >= moments[now.rise].proven_ms }

active proctype world()
{
    atomic {
        c_code { read_trace(); };
        rise = -1;
        believed = NEVER
    };
    do
    :: d_step { !stuck && rise < 0 && !AT_END -> go_on() };
        if
        :: stuck || AT_END
        :: atomic { !stuck && !AT_END -> open_window(); if :: stuck :: !stuck -> begin_window() fi }
        fi
    :: atomic { !stuck && rise >= 0 && at <= rise -> d_step { pass() }; happen() }
    :: d_step { !stuck && rise >= 0 && at > rise && PROVEN -> close_window() }
    :: !stuck && rise < 0 && AT_END -> c_code { furthest = -1; }; assert(all_steps); break
    od
}
