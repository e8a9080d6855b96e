/*
 * The machine: the contender of lib/core. Events in, requests out. Phases and moves have the names of phase.h,
 * contender.c, course.c and ask.c. What reply.c, queue.c and rule.c decide is decided where a reply or an event is taken
 * here. What a path there ends with (advance, node_deleted, grant) is done at the end of the step here: `next` says
 * which. The one choice is `long_ago`: there is no clock here.
 *
 * It stands in two worlds. In lock.pml requests go to an ensemble; in steps.pml they are compared with those of the
 * code. A world has these: send(), next_op(), renew(), place(), OURS(), NOTES_RELEASES, and the checks of a grant and of
 * a wait.
 */
#ifndef NUMBER
#define NUMBER byte
#endif

/* The mutants of the lock's model. */
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

/* --- what there is ---------------------------------------------------------------------------------------------------
 */

#define IDLE       0
#define DISCONNECTED     1
#define LOOKING    2
#define CREATING   3
#define RECOVERING 4
#define LISTING    5
#define WATCHING   6
#define WAITING    7
#define VERIFYING_NODE   8
#define HELD       9
#define SUSPECT    10
#define DELETING   11
#define DONE       12
#define IDENTIFYING    13
#define BACKOFF    14
#define AWAITING_LEASE 15

#define NO    0
#define MAYBE 1
#define YES   2

#define UNWATCHED 0
#define UNSURE    1 /* asked for, and not answered: an event may come */
#define ASKED     2
#define WATCHED   3
#define KEPT      4 /* set before the connection was lost, and again by the client on the next */

byte phase[N];
byte node[N];    /* NO, MAYBE, YES */
NUMBER name[N];  /* which, when YES; the candidate, when MAYBE */
byte own[N];     /* the watch on it */
NUMBER pred[N];  /* whose end is awaited, or NOBODY */
NUMBER op[N];    /* of the last question */
NUMBER own_op[N];
byte round[N];
NUMBER attempt[N]; /* unique within the contender */
bit asking[N]; /* contender.c: op != 0 */
bit wanted[N];
bit verified[N];
bit next_in_line[N];
bit replaced[N]; /* what it waits for may leave another in its place: a writer; lock.pml has none */
bit skips[N];  /* it watches the one before its predecessor */
bit looked[N];
bit missed[N];   /* a create was looked for, and was not there; none was found since */
bit released[N]; /* when it held */

/* What the machines have been told of their clients. */
bit connected[C];
bit low[C]; /* the lease of the session */

/* Requests and their answers; what comes from the session, the caller, the clock. */
#define CREATE   1
#define LIST     2
#define BARRIER  3
#define WATCH    4
#define OWN      5
#define DELETE   6
#define UNWATCH  7
#define IDENTIFY 8
#define EVENT    9 /* a node is deleted; NUMBER 1: one of this client that was the first */
#define DOWN    10
#define UP      11
#define EXPIRED 12
#define ACQUIRE 16
#define RELEASE 17 /* and what ends a request: a cancel, a deadline */
#define RESTED  18 /* the rest is over */
#define DUE     19 /* the watch on the own node may be due */
#define AGAIN   20 /* what is watched is read and watched once more */
#define LEASE_LOW     21
#define LEASE_OK      22
#define LEASE_EXPIRED 23
#define OVER    24 /* the session, and no other follows */
#define LEFT    25 /* the session goes on without us */
#define CHANGED 26 /* the data of a node; lock.pml has no such writes */

#define FAILED  255 /* the outcome is not known, and the connection was not lost */
#define NO_PATH 254 /* a create found no path; lock.pml always has one */

/* Scratch: of no meaning between steps. */
hidden byte x, y, msg, who, others, next, ahead;
hidden NUMBER number, data, own_k, near_k, before_k;
hidden byte near_ours; /* it is of the same client */
hidden byte near_replaced;
hidden byte long_ago;  /* our node was shown so long ago that it is to be looked at and watched */

#define HOLDS(i) (phase[i] == HELD || phase[i] == SUSPECT)

#define STAY         0
#define ADVANCE      1
#define NODE_DELETED 2
#define GRANT        3
#define BACK_OFF     4

/* --- asking ----------------------------------------------------------------------------------------------------------
 */

inline ask(i, ph)
{
    next_op(i, op[i]);
    asking[i] = 1;
    phase[i] = ph
}

inline ask_own(i)
{
    next_op(i, own_op[i]);
    send(i, OWN, own_op[i], name[i]);
    own[i] = ASKED
}

inline ask_own_if_due(i)
{
    if
    :: own[i] <= UNSURE && long_ago -> ask_own(i)
    :: else
    fi
}

/* The servers keep one watch for all of a session: it goes with the last who wants it. */
inline unwatch(i)
{
    if
    :: pred[i] != NOBODY && connected[CL(i)] ->
        others = 0;
        for (y : 0 .. N - 1) {
            if
            :: y != i && CL(y) == CL(i) && (pred[y] == pred[i] || (node[y] == YES && name[y] == pred[i])) -> others++
            :: else
            fi
        }
        if
        :: others == 0 -> send(i, UNWATCH, 0, pred[i])
        :: else
        fi
    :: else
    fi;
    pred[i] = NOBODY
}

inline forget_own(i)
{
    own[i] = UNWATCHED
}

inline forget_node(i)
{
    node[i] = NO;
    name[i] = 0;
    verified[i] = 0;
    forget_own(i)
}

/* --- what next -------------------------------------------------------------------------------------------------------
 */

inline finish(i)
{
    unwatch(i);
    next_in_line[i] = 0;
    skips[i] = 0;
    missed[i] = 0;
    looked[i] = 0;
    released[i] = 0;
    round[i]++;
    renew(i);
    phase[i] = (round[i] < rounds[CL(i)] -> IDLE : DONE)
}

inline ask_create(i)
{
    ask(i, CREATING);
    send(i, CREATE, op[i], 0);
    send(i, LIST, op[i], 0);
    node[i] = MAYBE;
    verified[i] = 0
}

inline ask_barrier(i)
{
    ask(i, RECOVERING);
    name[i] = 0;
    if
    :: mutant != NO_BARRIER -> send(i, BARRIER, op[i], 0)
    :: else
    fi;
    send(i, LIST, op[i], 0)
}

inline continue_acquire(i)
{
    if
    :: node[i] == MAYBE && mutant != BLIND_RETRY -> ask_barrier(i)
    :: node[i] == YES ->
        ask(i, LISTING);
        send(i, LIST, op[i], 0)
    :: node[i] == NO && tries[CL(i)] && !looked[i] ->
        unwatch(i);
        ask(i, LOOKING);
        send(i, LIST, op[i], 0)
    :: else -> ask_create(i)
    fi
}

inline clean_up(i)
{
    if
    :: node[i] == MAYBE -> ask_barrier(i)
    :: else ->
        unwatch(i);
        forget_own(i);
        ask(i, DELETING);
        send(i, DELETE, op[i], name[i])
    fi
}

inline advance(i)
{
    asking[i] = 0;
    if
    :: !wanted[i] && node[i] == NO -> finish(i)
    :: else ->
        if
        :: !connected[CL(i)] -> phase[i] = DISCONNECTED
        :: connected[CL(i)] && wanted[i] -> continue_acquire(i)
        :: connected[CL(i)] && !wanted[i] -> clean_up(i)
        fi
    fi
}

inline back_off(i)
{
    asking[i] = 0;
    phase[i] = BACKOFF
}

/* A create that may be on its way is awaited, and a delete is not sent twice. */
#define AWAITS_ANSWER(i) \
    (phase[i] == DELETING || \
     node[i] == MAYBE && (phase[i] == CREATING || phase[i] == RECOVERING || phase[i] == IDENTIFYING))

inline give_up(i)
{
    wanted[i] = 0;
    released[i] = NOTES_RELEASES && (released[i] || HOLDS(i));
    if
    :: node[i] == MAYBE && mutant == GONE_AT_ONCE -> forget_node(i)
    :: else
    fi;
    next = (AWAITS_ANSWER(i) -> STAY : ADVANCE)
}

inline hold(i)
{
    asking[i] = 0;
    phase[i] = (low[CL(i)] -> AWAITING_LEASE : HELD);
    if
    :: phase[i] == HELD -> check_exclusion(i)
    :: else
    fi
}

inline grant(i)
{
    hold(i);
    ask_own_if_due(i)
}

inline node_deleted(i)
{
    if
    :: HOLDS(i) ->
        forget_node(i);
        give_up(i)
    :: else ->
        forget_node(i);
        unwatch(i);
        renew(i);
        next = ADVANCE
    fi
}

/* The own node is there: it is watched, or was shown a short time ago. */
#define IS_THERE(i) (verified[i] && (own[i] == WATCHED || (own[i] <= UNSURE && !long_ago)))

inline check(i)
{
    if
    :: IS_THERE(i) -> next = GRANT
    :: else ->
        phase[i] = VERIFYING_NODE;
        asking[i] = 0;
        if
        :: own[i] != ASKED -> ask_own(i)
        :: else
        fi
    fi
}

inline recover(i)
{
    if
    :: phase[i] == SUSPECT && connected[CL(i)] && !low[CL(i)] && own[i] == WATCHED ->
        phase[i] = HELD;
        check_exclusion(i)
    :: else
    fi
}

/* --- the session -----------------------------------------------------------------------------------------------------
 */

inline on_down(i)
{
    if
    :: phase[i] == WAITING && (own[i] == WATCHED || own[i] == KEPT) -> own[i] = KEPT
    :: else -> forget_own(i)
    fi;
    wanted[i] = wanted[i] && !(tries[CL(i)] && !HOLDS(i));
    if
    :: phase[i] == HELD -> phase[i] = SUSPECT
    :: phase[i] == WAITING
    :: phase[i] == WATCHING && mutant == WAITS_UNSET -> phase[i] = WAITING
    :: phase[i] == IDLE || phase[i] == DONE || phase[i] == SUSPECT
    :: phase[i] == DELETING && mutant == LOST_DELETE ->
        forget_node(i);
        next = ADVANCE
    :: else -> next = ADVANCE
    fi
}

inline on_up(i)
{
    if
    :: phase[i] == DISCONNECTED -> next = ADVANCE
    :: phase[i] == SUSPECT -> ask_own(i)
    :: else
    fi
}

inline on_expired(i)
{
    pred[i] = NOBODY;
    if
    :: HOLDS(i) && mutant == HOLDS_ON
    :: HOLDS(i) && mutant != HOLDS_ON ->
        forget_node(i);
        give_up(i)
    :: phase[i] == IDLE || phase[i] == DONE
    :: else ->
        forget_own(i);
        if
        :: mutant != PREVIOUS_SESSION -> forget_node(i)
        :: else
        fi;
        next = ADVANCE
    fi
}

inline on_lease_low(i)
{
    if
    :: phase[i] == HELD ->
        phase[i] = SUSPECT;
        if
        :: connected[CL(i)] -> ask_own_if_due(i)
        :: else
        fi
    :: else
    fi
}

inline on_lease_ok(i)
{
    if
    :: phase[i] == AWAITING_LEASE -> check(i)
    :: else -> recover(i)
    fi
}

inline on_lease_expired(i)
{
    if
    :: HOLDS(i) -> give_up(i)
    :: else
    fi
}

inline on_over(i)
{
    wanted[i] = wanted[i] && HOLDS(i);
    on_expired(i)
}

inline on_left(i)
{
    if
    :: HOLDS(i) || wanted[i] -> give_up(i)
    :: else
    fi
}

/* --- the caller and the clock -------------------------------------------------------------------------------------------------------
 */

#define OWN_MISSING(i) \
    (connected[CL(i)] && own[i] <= UNSURE && \
     (HOLDS(i) || phase[i] == AWAITING_LEASE || phase[i] == WATCHING || phase[i] == WAITING))

inline on_due(i)
{
    if
    :: OWN_MISSING(i) -> ask_own_if_due(i)
    :: else
    fi
}

/* A watch that is set again may be on its way: asked for once more, it is another question. */
inline on_again(i)
{
    if
    :: connected[CL(i)] ->
        if
        :: own[i] >= WATCHED -> ask_own(i)
        :: else
        fi;
        if
        :: phase[i] == WAITING ->
            ask(i, WATCHING);
            send(i, WATCH, op[i], pred[i])
        :: else
        fi
    :: else
    fi
}

inline on_release(i)
{
    if
    :: wanted[i] || phase[i] == IDLE -> give_up(i)
    :: else
    fi
}

inline on_rested(i)
{
    if
    :: phase[i] == BACKOFF -> next = ADVANCE
    :: else
    fi
}

/* --- replies ---------------------------------------------------------------------------------------------------------
 */

inline find_place(i)
{
    if
    :: ahead == 0 && phase[i] == CREATING -> next = GRANT
    :: ahead == 0 && phase[i] != CREATING -> check(i)
    :: ahead > 0 && tries[CL(i)] -> give_up(i)
    :: else ->
        next_in_line[i] = (ahead == 1 || (ahead == 2 && mutant == NEXT_BUT_ONE));
        replaced[i] = near_replaced;
        skips[i] = (looks[CL(i)] && before_k != NOBODY && !near_ours);
        pred[i] = (skips[i] -> before_k : near_k);
        ask(i, WATCHING);
        send(i, WATCH, op[i], pred[i]);
        ask_own_if_due(i)
    fi
}

/* A create that was looked for behind a barrier, and is not there. */
inline absent(i)
{
    forget_node(i);
    renew(i);
    next = (wanted[i] && missed[i] -> BACK_OFF : ADVANCE);
    missed[i] = 1
}

/* Its name tells session and attempt: whose it is, the servers tell. */
inline search(i)
{
    if
    :: own_k == NOBODY -> absent(i)
    :: else ->
        name[i] = own_k;
        ask(i, IDENTIFYING);
        send(i, IDENTIFY, op[i], name[i])
    fi
}

inline on_listed(i, m)
{
    if
    :: m == FAILED -> back_off(i)
    :: else ->
        place(i, m);
        if
        :: phase[i] == LOOKING ->
            looked[i] = 1;
            if
            :: ahead > 0 || own_k != NOBODY -> give_up(i)
            :: else -> next = ADVANCE
            fi
        :: phase[i] == RECOVERING -> search(i)
        :: else ->
            if
            :: own_k == NOBODY -> next = NODE_DELETED
            :: else -> find_place(i)
            fi
        fi
    fi
}

inline on_identified(i, d)
{
    if
    :: d == FAILED -> back_off(i)
    :: d != FAILED && d > 0 && OURS(i) ->
        node[i] = YES;
        verified[i] = 1;
        missed[i] = 0;
        next = ADVANCE
    :: else ->
        ask(i, RECOVERING);
        send(i, LIST, op[i], 0)
    fi
}

inline on_created(i, k)
{
    if
    :: k == FAILED -> back_off(i)
    :: k == NO_PATH ->
        forget_node(i);
        next = ADVANCE
    :: else ->
        missed[i] = 0;
        node[i] = YES;
        name[i] = k;
        verified[i] = 1;
        next = (wanted[i] -> STAY : ADVANCE)
    fi
}

inline move_up(i)
{
    pred[i] = NOBODY;
    if
    :: connected[CL(i)] && (next_in_line[i] && !replaced[i] || mutant == HASTY) -> check(i)
    :: else -> next = ADVANCE
    fi
}

inline on_watched(i, there)
{
    if
    :: there == FAILED -> back_off(i)
    :: there != FAILED && there > 0 ->
        phase[i] = WAITING;
        check_herd(i)
    :: there == 0 -> move_up(i)
    fi
}

inline on_own(i, there)
{
    own[i] = UNSURE;
    if
    :: there == FAILED ->
        if
        :: phase[i] == VERIFYING_NODE -> back_off(i)
        :: else
        fi
    :: there != FAILED && there > 0 && OURS(i) ->
        own[i] = WATCHED;
        verified[i] = 1;
        recover(i);
        if
        :: phase[i] == VERIFYING_NODE -> next = GRANT
        :: else
        fi
    :: else -> next = NODE_DELETED
    fi
}

#define AWAITS(i) (phase[i] == WAITING || (phase[i] == WATCHING && mutant != EARLY_EVENT))

/* As the driver hands it out, by the path. */
inline on_event(i, first, k)
{
    if
    :: node[i] == YES && name[i] == k -> next = (own[i] != UNWATCHED -> NODE_DELETED : STAY)
    :: !(node[i] == YES && name[i] == k) && pred[i] == k && asking[i] && AWAITS(i) ->
        next_in_line[i] = next_in_line[i] || (first && !skips[i]);
        move_up(i)
    :: else
    fi
}

inline on_changed(i, k)
{
    if
    :: node[i] == YES && name[i] == k ->
        if
        :: own[i] != UNWATCHED && connected[CL(i)] -> ask_own(i)
        :: else -> forget_own(i)
        fi
    :: !(node[i] == YES && name[i] == k) && pred[i] == k && asking[i] && AWAITS(i) -> next = ADVANCE
    :: else
    fi
}

inline on_deleted(i, d)
{
    if
    :: d == FAILED -> back_off(i)
    :: else ->
        forget_node(i);
        next = ADVANCE
    fi
}

#define AWAITED(i, o) (asking[i] && (op[i] == (o) || mutant == STALE))

inline on_reply(i, kind, o, d)
{
    if
    :: kind == OWN && own[i] == ASKED && own_op[i] == o -> on_own(i, d)
    :: kind == CREATE && AWAITED(i, o) -> on_created(i, d)
    :: kind == BARRIER && AWAITED(i, o) && d == FAILED -> back_off(i)
    :: kind == LIST && AWAITED(i, o) -> on_listed(i, d)
    :: kind == IDENTIFY && AWAITED(i, o) -> on_identified(i, d)
    :: kind == WATCH && AWAITED(i, o) -> on_watched(i, d)
    :: kind == DELETE && AWAITED(i, o) -> on_deleted(i, d)
    :: else
    fi
}

/* --- one step --------------------------------------------------------------------------------------------------------
 */

/* What MSG does to contender i; then what each path of contender.c ends with. */
inline step(i)
{
    next = STAY;
    if
    :: msg == ACQUIRE ->
        wanted[i] = 1;
        next = ADVANCE
    :: msg == RELEASE -> on_release(i)
    :: msg == RESTED -> on_rested(i)
    :: msg == DUE -> on_due(i)
    :: msg == AGAIN -> on_again(i)
    :: msg == DOWN -> on_down(i)
    :: msg == UP -> on_up(i)
    :: msg == EXPIRED -> on_expired(i)
    :: msg == LEASE_LOW -> on_lease_low(i)
    :: msg == LEASE_OK -> on_lease_ok(i)
    :: msg == LEASE_EXPIRED -> on_lease_expired(i)
    :: msg == OVER -> on_over(i)
    :: msg == LEFT -> on_left(i)
    :: msg == EVENT -> on_event(i, number, data)
    :: msg == CHANGED -> on_changed(i, data)
    :: else -> on_reply(i, msg, number, data)
    fi;
    if
    :: next == GRANT -> grant(i)
    :: next == NODE_DELETED -> node_deleted(i)
    :: else
    fi;
    if
    :: next == ADVANCE -> advance(i)
    :: next == BACK_OFF -> back_off(i)
    :: else
    fi
}
