/*
 * The code's steps, asked of the machine of the lock's model: could it have taken them, too? test/sim/sim --trace writes
 * what each contender was told, the requests that it sent, and the phase in which it came to rest; steps.h reads that.
 * What the servers answered is taken from the trace. What to do then is the machine's.
 *
 * The machine chooses whether it is `long_ago` that the node was shown. A contender's steps are the model's if some
 * choices lead to their end.
 */
#define N 1
#define C 1
#define CL(i) 0
#define NUMBER int
#define NOBODY (-1)
#define mutant 0
#define NOTES_RELEASES 0
#define OURS(i) 1

c_decl {
\#include "steps.h"
};

int which; /* contender */
int at;    /* the step to come; -1: none does */
int done;  /* steps */
byte rounds[C];
byte tries[C];
byte looks[C];

hidden int sent_kind, sent_op, sent_node;
hidden int n_sent;
hidden byte differs, held;

#include "machine.pml"

#define STEP(field) c_expr { steps[now.at].field }

/* A watch that is removed is not compared: the driver removes others, too. */
inline send(i, kind, o, k)
{
    sent_kind = kind;
    sent_op = o;
    sent_node = k;
    if
    :: kind == UNWATCH
    :: else ->
        differs = differs || c_expr {
            n_sent >= steps[now.at].n_requests || steps[now.at].requests[n_sent].kind != sent_kind ||
            steps[now.at].requests[n_sent].op != sent_op || steps[now.at].requests[n_sent].node != sent_node
        };
        n_sent++
    fi
}

/* As the code numbers its questions. */
inline next_op(i, o)
{
    o = c_expr { n_sent < steps[now.at].n_requests ? steps[now.at].requests[n_sent].op : 0 }
}

inline renew(i)
{
    skip
}

inline place(i, m)
{
    own_k = STEP(own);
    near_k = STEP(near);
    before_k = STEP(before);
    ahead = c_expr { steps[now.at].ahead > 2 ? 3 : steps[now.at].ahead };
    near_ours = STEP(ours);
    near_replaced = STEP(replaced)
}

inline check_exclusion(i)
{
    skip
}

inline check_herd(i)
{
    skip
}

/* One step. It is the code's if its end and its requests are. */
inline take(late_by)
{
    long_ago = late_by;
    msg = STEP(msg);
    number = STEP(number);
    data = STEP(data);
    connected[0] = (msg == UP || (connected[0] && msg != DOWN && msg != EXPIRED && msg != OVER));
    low[0] = (msg == LEASE_LOW || (low[0] && msg != LEASE_OK) || msg == EXPIRED || msg == OVER);
    held = HOLDS(0);
    n_sent = 0;
    differs = 0;
    step(0);
    differs = differs || n_sent != STEP(n_requests) || phase[0] != STEP(phase) || wanted[0] != STEP(wanted) ||
              node[0] != STEP(node) || (phase[0] == HELD && !held) != STEP(granted) ||
              (held && !HOLDS(0) && msg != RELEASE) != STEP(lost);
    if
    :: differs -> at = -2
    :: else ->
        done++;
        c_code { steps_note(now.which, now.done); };
        at = STEP(next)
    fi
}

inline begin()
{
    at = c_expr { contenders[now.which].first };
    connected[0] = c_expr { contenders[now.which].connected };
    low[0] = c_expr { contenders[now.which].low };
    tries[0] = c_expr { contenders[now.which].tries };
    looks[0] = c_expr { contenders[now.which].looks };
    rounds[0] = 1;
    pred[0] = NOBODY
}

active proctype code()
{
    bit late_by;
    c_code { steps_read(); };
    do
    :: c_expr { now.which + 1 < n_contenders } -> which++
    :: break
    od;
    skip;
    d_step { begin() };
    do
    :: at >= 0 ->
        atomic {
            if
            :: late_by = 0
            :: late_by = 1
            fi;
            skip;
            d_step { take(late_by); late_by = 0 }
        }
    :: at == -1 ->
        c_code { steps_finish(now.which); };
        break
    :: at == -2 -> break
    od
}
