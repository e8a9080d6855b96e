/*
 * The machine: the contender of lib/core. Events in, requests out, no choice. Phases and moves have the names of
 * phase.h, contender.c, course.c and ask.c. What reply.c, queue.c and rule.c decide is decided where a reply or an event
 * is taken here. What a path there ends with (advance, node_deleted, grant) is done at the end of the step here: `next`
 * says which.
 */
#define STAY         0
#define ADVANCE      1
#define NODE_DELETED 2
#define GRANT        3

/* --- asking ----------------------------------------------------------------------------------------------------------
 */

/* Numbers of questions come round: so many of one contender are never in flight, and fewer numbers make less states. */
inline ask(i, ph)
{
    op[i] = (QUIET(CL(i)) -> 1 : op[i] % 7 + 1);
    asking[i] = 1;
    phase[i] = ph
}

/* A watch is asked for when a wait or a hold lasts. There is no clock: at each place it is asked for, or not yet. */
inline ask_own(i)
{
    own_op[i] = (QUIET(CL(i)) -> 1 : own_op[i] % 7 + 1);
    send(i, OWN, own_op[i], name[i]);
    own[i] = ASKED
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
    looked[i] = 0;
    round[i]++;
    attempt[i]++;
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

inline give_up(i)
{
    wanted[i] = 0;
    if
    :: node[i] == MAYBE && mutant == GONE_AT_ONCE -> forget_node(i)
    :: else
    fi;
    next = (node[i] != MAYBE || !(phase[i] == CREATING || phase[i] == RECOVERING) -> ADVANCE : STAY)
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

inline grant(i)
{
    phase[i] = HELD;
    asking[i] = 0;
    check_exclusion(i);
    if
    :: own[i] == UNWATCHED -> ask_own(i)
    :: own[i] == UNWATCHED
    :: else
    fi
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
        attempt[i]++;
        next = ADVANCE
    fi
}

inline check(i)
{
    phase[i] = VERIFYING_NODE;
    asking[i] = 0;
    if
    :: own[i] != ASKED -> ask_own(i)
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

/* --- replies ---------------------------------------------------------------------------------------------------------
 */

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
}

inline find_place(i)
{
    if
    :: ahead == 0 && verified[i] -> next = GRANT
    :: ahead == 0 && !verified[i] -> check(i)
    :: ahead > 0 && tries[CL(i)] -> give_up(i)
    :: else ->
        next_in_line[i] = (ahead == 1 || (ahead == 2 && mutant == NEXT_BUT_ONE));
        pred[i] = (looks[CL(i)] && before_k != NOBODY && TAG_CLIENT(tag[near_k]) != CL(i) -> before_k : near_k);
        ask(i, WATCHING);
        send(i, WATCH, op[i], pred[i]);
        if
        :: own[i] == UNWATCHED -> ask_own(i)
        :: own[i] == UNWATCHED
        :: else
        fi
    fi
}

inline listed(i, m)
{
    place(i, m);
    if
    :: own_k == NOBODY && phase[i] == RECOVERING ->
        forget_node(i);
        attempt[i]++;
        next = ADVANCE
    :: own_k == NOBODY && phase[i] != RECOVERING -> next = NODE_DELETED
    :: else ->
        node[i] = YES;
        name[i] = own_k;
        if
        :: wanted[i] -> find_place(i)
        :: else -> next = ADVANCE
        fi
    fi
}

inline on_listed(i, m)
{
    if
    :: phase[i] == LOOKING ->
        looked[i] = 1;
        if
        :: m != 0 -> give_up(i)
        :: else -> next = ADVANCE
        fi
    :: else -> listed(i, m)
    fi
}

inline on_created(i, k)
{
    node[i] = YES;
    name[i] = k;
    verified[i] = 1;
    next = (wanted[i] -> STAY : ADVANCE)
}

inline move_up(i)
{
    pred[i] = NOBODY;
    if
    :: !next_in_line[i] && mutant != HASTY -> next = ADVANCE
    :: else ->
        if /* watched, or shown a short time ago; or that is long ago */
        :: verified[i] && own[i] != KEPT -> next = GRANT
        :: own[i] != WATCHED || !verified[i] -> check(i)
        fi
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

inline on_watched(i, there)
{
    if
    :: there ->
        phase[i] = WAITING;
        check_herd(i)
    :: else -> move_up(i)
    fi
}

#define OURS(i) (TAG_SESSION(tag[name[i]]) == session[CL(i)] || mutant == PREVIOUS_SESSION)

inline on_own(i, there)
{
    own[i] = UNWATCHED;
    if
    :: there && OURS(i) ->
        own[i] = WATCHED;
        verified[i] = 1;
        if
        :: phase[i] == VERIFYING_NODE -> next = GRANT
        :: phase[i] == SUSPECT ->
            phase[i] = HELD;
            check_exclusion(i)
        :: else
        fi
    :: else -> next = NODE_DELETED
    fi
}

#define AWAITS(i) (phase[i] == WAITING || (phase[i] == WATCHING && mutant != EARLY_EVENT))

/* As the driver hands it out, by the path. */
inline on_event(i, k)
{
    if
    :: node[i] == YES && name[i] == k -> next = (own[i] != UNWATCHED -> NODE_DELETED : STAY)
    :: !(node[i] == YES && name[i] == k) && pred[i] == k && asking[i] && AWAITS(i) -> move_up(i)
    :: else
    fi
}

#define AWAITED(i, o) (asking[i] && (op[i] == (o) || mutant == STALE))

inline on_reply(i, kind, o, d)
{
    if
    :: kind == OWN && own[i] == ASKED && own_op[i] == o -> on_own(i, d)
    :: kind == CREATE && AWAITED(i, o) -> on_created(i, d)
    :: kind == LIST && AWAITED(i, o) -> on_listed(i, d)
    :: kind == WATCH && AWAITED(i, o) -> on_watched(i, d)
    :: kind == DELETE && AWAITED(i, o) ->
        forget_node(i);
        next = ADVANCE
    :: else
    fi
}
