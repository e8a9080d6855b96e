/*
 * The rules of a read/write lock (lib/core/rule.h), for spin: readers, writers, and writers that go on as readers, on
 * servers that lag. A contender here is its own client and session. What is and what is not in it: doc/proof.md. What
 * is run: test/model/check.
 */
#ifndef N
#define N 3 /* contenders */
#endif
#define K 6  /* numbers that the servers may assign */
#define Q 16 /* changes that a server has not applied */

#define BIT(k)       (1 << (k))
#define HAS(mask, k) (((mask) >> (k)) & 1)
#define NOBODY       31

/* The nodes: two of each number. */
#define WRITER(number) (2 * (number))
#define READER(number) (2 * (number) + 1)
#define NUMBER(node)   ((node) / 2)
#define IS_READER(node) ((node) % 2)
#define NODES          (2 * K)

#include "given.pml"

byte mutant;
#define NO_LIST     1  /* the predecessor is deleted, and was the only one ahead: granted, whatever it was */
#define NEAREST     2  /* a reader watches the nearest contender, not the nearest writer */
#define WRITER_LAST 3  /* the writer's node is deleted before the reader's under its number is created */
#define PAST_READER 4  /* a writer passes readers */
#define BASELESS    5  /* the writer's node need not be there for the reader's under its number */
#define SEQUENTIAL  6  /* the reader's node gets a number of its own */
#define PREFERENCE  7  /* readers that hold let all readers in, past writers that wait */
#define BLIND       8  /* a create under the writer's number, without a reply, is taken for done */
#define OWN_BASE    9  /* the writer's node blocks the reader's under its number */
#define HASTY       10 /* the predecessor is deleted: granted, whoever else is ahead */
#define NO_LOOK     11 /* a watch on a node that is gone is waited for */
#define POLLS       12 /* a waiter lists again without an event */
#define READERS_IN  13 /* readers pass a writer that waits, and it waits for all of them */
#define LAST_AGAIN  14 /* the predecessor is deleted: the node is deleted, and another created at the end */
#define NO_ORDER    15 /* any waiter is granted when no other holds */

byte losses;    /* of a reply to a create, and of the connection with it */
byte expiries;  /* sessions that the servers end */
byte deletions; /* of nodes, by an administrator */
byte give_ups;  /* callers that give up before they hold */
bit endless;    /* each contender comes again until it comes no more */
byte lag;       /* then a node is created when each server has fewer changes to apply */
byte least;     /* the first wish that a contender may have, and the last */
byte most;
byte rivals;    /* so many comings of others while contender 0 waits are to be found */

/* 0: an assertion that is violated is known by its name. But a mutant of endless rounds may break all but `room`. */
hidden byte exclusion, order, token, woken, nobody_blocked, no_orphan, room, passed;

/* --- the state -------------------------------------------------------------------------------------------------------
 */

#define READS    0
#define WRITES   1
#define GOES_ON  2 /* writes, then reads */

#define CREATING 0
#define MAYBE    1 /* a create without a reply */
#define LISTING  2
#define WATCHING 3
#define WAITING  4
#define HOLDING  5
#define LEAVING  6
#define DONE     7
#define RESTING  8 /* in endless rounds: it comes again, or never */

byte wish[N];
byte rounds[N];
byte phase[N];
bit under[N];   /* the reader's node under the writer's number is requested, or there */
byte own[N];    /* the node of the request, or NOBODY */
byte reader[N]; /* the reader's under its number, or NOBODY */
bit held[N];    /* is it granted? */
bit read[N];    /* and the reader's? */
byte pred[N];
bit next[N];    /* no other is ahead */
bit over[N];    /* the session is, and the client was not notified */

/* The log: what all servers will have applied, and what each client's has. */
byte numbers;
int live;
int view[N];
chan behind[N] = [Q] of { byte };

int struck;  /* the nodes that were deleted by others, whose owners may still believe */
int late;    /* the readers' nodes that were created when the writer's was gone: none may be granted */
byte oldest; /* one more than the largest number that was granted */
byte newest; /* that of writers alone */
byte came;   /* others while contender 0 waits, if they are counted */

/* Of one step. */
hidden byte x, y, blocking, nearest, tie;
hidden int used;
byte turn;

#define CURRENT(c) (under[c] -> reader[c] : own[c])
#define LOOKS(c)   (phase[c] >= LISTING && phase[c] <= HOLDING && !over[c])
#define SEES(c, node) ((node) != NOBODY && HAS(view[c], node))

inline forget()
{
    x = 0; y = 0; blocking = 0; nearest = 0; tie = 0; used = 0
}

/* --- the servers -----------------------------------------------------------------------------------------------------
 */

/* What nobody reads need not lag. */
inline catch_up(c)
{
    do
    :: len(behind[c]) > 0 -> behind[c] ? y
    :: else -> break
    od;
    view[c] = live
}

inline refresh()
{
    for (x : 0 .. N - 1) {
        if
        :: !LOOKS(x) -> catch_up(x)
        :: else
        fi
    }
}

/* The node is created, or deleted. */
inline commit(what)
{
    live = live ^ BIT(what);
    for (x : 0 .. N - 1) {
        assert(room || nfull(behind[x]));
        behind[x] ! what
    }
}

inline apply(c)
{
    behind[c] ? y;
    view[c] = view[c] ^ BIT(y)
}

/* --- endless rounds --------------------------------------------------------------------------------------------------
 */

/* The numbers that some node, server, queue or contender still has, as the bits of their writers' nodes. */
inline find_used()
{
    used = live | struck | late;
    for (x : 0 .. N - 1) {
        used = used | view[x];
        used = (own[x] != NOBODY -> used | BIT(own[x]) : used);
        used = (reader[x] != NOBODY -> used | BIT(reader[x]) : used);
        used = (pred[x] != NOBODY -> used | BIT(pred[x]) : used);
        for (nearest : 1 .. len(behind[x])) {
            behind[x] ? y;
            used = used | BIT(y);
            behind[x] ! y
        }
    }
    used = (used | (used >> 1)) & 1365
}

/* Without the number: what is above it moves down by one. */
#define NODE_WITHOUT(number, node)  (node - ((node) != NOBODY && NUMBER(node) > (number) -> 2 : 0))
#define NODES_WITHOUT(number, mask) (((mask) & (BIT(2 * (number)) - 1)) | \
                                     (((mask) >> (2 * (number) + 2)) << (2 * (number))))

inline drop(number)
{
    live = NODES_WITHOUT(number, live);
    struck = NODES_WITHOUT(number, struck);
    late = NODES_WITHOUT(number, late);
    for (x : 0 .. N - 1) {
        view[x] = NODES_WITHOUT(number, view[x]);
        own[x] = NODE_WITHOUT(number, own[x]);
        reader[x] = NODE_WITHOUT(number, reader[x]);
        pred[x] = NODE_WITHOUT(number, pred[x]);
        for (nearest : 1 .. len(behind[x])) {
            behind[x] ? y;
            behind[x] ! NODE_WITHOUT(number, y)
        }
    }
    oldest = (oldest > number -> oldest - 1 : oldest);
    newest = (newest > number -> newest - 1 : newest);
    numbers--
}

/* Rounds without end have numbers without end. Only their order matters, so those that nothing has are forgotten. */
inline renumber()
{
    find_used();
    tie = numbers;
    do
    :: tie > 0 ->
        tie--;
        if
        :: !HAS(used, 2 * tie) -> drop(tie)
        :: else
        fi
    :: else -> break
    od
}

/* In endless rounds a create waits while a server lags too far. So the model bounds the lag, not the rounds. Contender
 * 0 has room that the others leave: they could take each place before it. All nodes that are there may be deleted yet.
 */
#define NEAR(c, of) (len(behind[of]) < ((c) == 0 -> Q - 2 * N : lag))
#define ROOM(c) \
    (!endless || (numbers + ((c) == 0 -> 0 : 1) < K && NEAR(c, 0) && NEAR(c, 1 % N) && NEAR(c, 2 % N)))

inline count_coming(c)
{
    if
    :: rivals > 0 && c != 0 && !under[c] && phase[0] >= LISTING && phase[0] <= WAITING ->
        came++;
        assert(passed || came < rivals)
    :: else
    fi
}

inline settle()
{
    if
    :: endless ->
        renumber();
        came = (phase[0] >= LISTING && phase[0] <= WAITING -> came : 0)
    :: else
    fi
}

/* --- the rule --------------------------------------------------------------------------------------------------------
 */

#define BASE(c) (under[c] && own[c] != NOBODY -> own[c] : NOBODY)

/* Is a node ahead of contender c's, and in its way? */
#define AHEAD(c, node)  (NUMBER(node) < NUMBER(CURRENT(c)))
#define BLOCKS(c, node) (AHEAD(c, node) && !(IS_READER(CURRENT(c)) && IS_READER(node)))

/* Is it the node of another contender that holds? */
#define HELD_BY(c, node) (((node) == own[c] && held[c]) || ((node) == reader[c] && read[c]))
#define HELD(c, node) \
    ((node) != own[c] && (HELD_BY(0, node) || HELD_BY(1 % N, node) || HELD_BY(2 % N, node)))

/* As the model's contenders judge it. */
#define JUDGED(c, node) ( \
    mutant == NO_ORDER -> HELD(c, node) : \
    (mutant == READERS_IN -> (IS_READER(CURRENT(c)) -> !IS_READER(node) && HELD(c, node) : \
                              IS_READER(node) || AHEAD(c, node)) : \
    (mutant == PAST_READER -> AHEAD(c, node) && !IS_READER(node) : \
    (mutant == OWN_BASE && (node) == BASE(c)) || BLOCKS(c, node))))
#define WATCHED(c, node) (mutant == NEAREST -> AHEAD(c, node) : JUDGED(c, node))

/* The nearest in the way. Where two have its number, the listing's order decides: the writer's, or (tie) the
 * reader's. */
inline place(c)
{
    blocking = 0;
    nearest = NOBODY;
    for (x : 0 .. NODES - 1) {
        if
        :: HAS(view[c], x) && x != CURRENT(c) ->
            blocking = blocking + (JUDGED(c, x) -> 1 : 0);
            nearest = (WATCHED(c, x) && (nearest == NOBODY || NUMBER(x) > NUMBER(nearest) || tie) -> x : nearest)
        :: else
        fi
    }
    if
    :: mutant == PREFERENCE && IS_READER(CURRENT(c)) && blocking > 0 ->
        for (x : 0 .. NODES - 1) {
            if
            :: HAS(view[c], x) -> break
            :: else
            fi
        }
        blocking = (IS_READER(x) -> 0 : blocking)
    :: else
    fi
}

/* How many of the nodes block contender c, as the servers know? */
inline count(c, nodes)
{
    blocking = 0;
    for (x : 0 .. NODES - 1) {
        blocking = blocking + (HAS(nodes, x) && x != CURRENT(c) && BLOCKS(c, x) -> 1 : 0)
    }
}

/* --- the laws --------------------------------------------------------------------------------------------------------
 */

#define INTACT(node)   ((node) != NOBODY && !HAS(struck, node))
#define HOLDS_WRITE(c) (held[c] && INTACT(own[c]) && !IS_READER(own[c]))
#define HOLDS_READ(c)  (held[c] && INTACT(own[c]) && IS_READER(own[c]) || read[c] && INTACT(reader[c]))

inline check_exclusion()
{
    for (x : 0 .. N - 1) {
        for (y : 0 .. N - 1) {
            assert(exclusion || x == y || !HOLDS_WRITE(x) || !(HOLDS_WRITE(y) || HOLDS_READ(y)))
        }
    }
}

/* The oldest first, readers past readers. A later writer's token is larger than all; a reader's than all other
 * writers'; a writer that goes on as a reader keeps its own. */
inline check_grant(c)
{
    check_exclusion();
    if
    :: INTACT(CURRENT(c)) ->
        count(c, (live & ~late));
        assert(order || blocking == 0);
        assert(token || !under[c] || NUMBER(reader[c]) + 1 == newest);
        assert(token || under[c] || NUMBER(own[c]) + 1 > newest);
        assert(token || IS_READER(CURRENT(c)) || NUMBER(own[c]) + 1 > oldest);
        oldest = (NUMBER(CURRENT(c)) + 1 > oldest -> NUMBER(CURRENT(c)) + 1 : oldest);
        newest = (!IS_READER(CURRENT(c)) -> NUMBER(CURRENT(c)) + 1 : newest)
    :: else
    fi
}

/* Waits contender c for an event that is still to come? */
#define ASLEEP(c) (phase[c] == WAITING && !over[c] && len(behind[c]) == 0 && SEES(c, CURRENT(c)) && \
                   (HAS(view[c], pred[c]) || mutant == NO_LOOK))
#define STILL(c) (ASLEEP(c) || phase[c] == DONE || phase[c] == RESTING || \
                  (phase[c] == CREATING && !under[c] && own[c] == NOBODY) || \
                  (phase[c] == HOLDING && len(behind[c]) == 0 && !over[c]))

/* When only holders, and those who have not begun, can go on, each waiter has somebody in its way. */
inline check_woken()
{
    if
    :: STILL(0) && STILL(1 % N) && STILL(2 % N) ->
        for (y : 0 .. N - 1) {
            if
            :: phase[y] == WAITING ->
                count(y, live);
                assert(woken || blocking > 0)
            :: else
            fi
        }
    :: else
    fi
}

/* --- a contender -----------------------------------------------------------------------------------------------------
 */

inline create(c)
{
    count_coming(c);
    if
    :: under[c] && mutant != SEQUENTIAL -> reader[c] = READER(NUMBER(own[c]))
    :: else ->
        assert(room || numbers < K);
        if
        :: under[c] -> reader[c] = READER(numbers)
        :: else -> own[c] = (wish[c] == READS -> READER(numbers) : WRITER(numbers))
        fi;
        numbers++
    fi;
    nearest = CURRENT(c);
    late = (under[c] && !HAS(live, own[c]) -> late | BIT(nearest) : late);
    commit(nearest);
    catch_up(c)
}

/* A node under another name may follow. */
inline lose_node(c)
{
    if
    :: under[c] ->
        struck = struck & ~BIT(reader[c]);
        late = late & ~BIT(reader[c]);
        reader[c] = NOBODY
    :: else ->
        struck = struck & ~BIT(own[c]);
        own[c] = NOBODY
    fi;
    phase[c] = CREATING
}

inline grant(c)
{
    if
    :: under[c] -> read[c] = 1
    :: else -> held[c] = 1
    fi;
    phase[c] = HOLDING;
    pred[c] = NOBODY;
    next[c] = 0;
    check_grant(c)
}

inline listed(c)
{
    if
    :: !SEES(c, CURRENT(c)) -> lose_node(c)
    :: under[c] && mutant != WRITER_LAST && mutant != BASELESS && !SEES(c, own[c]) -> phase[c] = LEAVING
    :: else ->
        place(c);
        if
        :: blocking == 0 -> grant(c)
        :: else ->
            pred[c] = nearest;
            next[c] = (blocking == 1 && (mutant != NEAREST || !IS_READER(own[c])) && mutant < READERS_IN);
            phase[c] = WATCHING
        fi
    fi
}

/* A node of the contender is deleted by the contender itself. */
inline remove(node)
{
    if
    :: node != NOBODY && HAS(live, node) -> commit(node)
    :: else
    fi;
    struck = (node != NOBODY -> struck & ~BIT(node) : struck)
}

/* The predecessor is gone. What a writer leaves may block a writer, not a reader. */
#define REPLACEABLE(c) (!IS_READER(pred[c]) && !IS_READER(CURRENT(c)) && mutant != NO_LIST)
inline move_up(c)
{
    if
    :: !SEES(c, CURRENT(c)) -> lose_node(c)
    :: SEES(c, CURRENT(c)) && mutant == LAST_AGAIN && !under[c] -> remove(own[c]); lose_node(c)
    :: else ->
        if
        :: (next[c] && !REPLACEABLE(c)) || mutant == HASTY -> grant(c)
        :: else -> phase[c] = LISTING
        fi
    fi;
    pred[c] = NOBODY;
    next[c] = 0
}

inline reset(c)
{
    late = (reader[c] != NOBODY -> late & ~BIT(reader[c]) : late);
    under[c] = 0;
    own[c] = NOBODY;
    reader[c] = NOBODY;
    held[c] = 0;
    read[c] = 0;
    pred[c] = NOBODY;
    next[c] = 0
}

inline finish(c)
{
    reset(c);
    rounds[c] = (endless -> rounds[c] : rounds[c] - 1);
    phase[c] = (endless -> RESTING : (rounds[c] > 0 -> CREATING : DONE))
}

inline strike(node)
{
    if
    :: node != NOBODY && HAS(live, node) ->
        commit(node);
        struck = struck | BIT(node)
    :: else
    fi
}

/* The client hears that its session is over. */
inline expired(c)
{
    struck = (own[c] != NOBODY -> struck & ~BIT(own[c]) : struck);
    struck = (reader[c] != NOBODY -> struck & ~BIT(reader[c]) : struck);
    over[c] = 0;
    if
    :: held[c] || read[c] || phase[c] == LEAVING -> finish(c)
    :: else ->
        reset(c);
        phase[c] = CREATING
    fi
}

/* --- the processes ---------------------------------------------------------------------------------------------------
 */

#define WAITS(c)  (phase[c] == LISTING || phase[c] == WATCHING || phase[c] == WAITING)
#define EXISTS(node) ((node) != NOBODY && HAS(live, node))
#define LOST(c)   (held[c] && own[c] != NOBODY && !SEES(c, own[c]))
#define TIED(c)   (view[c] & (view[c] >> 1) & 1365)
#define END       refresh(); settle(); forget()

/* May contender c's create be sent? */
#define CREATES(c) (!over[c] && (phase[c] == CREATING || phase[c] == RESTING) && ROOM(c))

/* Fairness is that of processes. A contender that could do something else must not be kept from it by changes that its
 * server applies, where these have no end. So contender 0, of which the property is, has its server in a process of its
 * own. The others need none: the changes that they apply while contender 0 waits have an end. */
#define SHARES_PROCESS(c) (!endless || (c) != 0)

proctype server(byte c)
{
end:
    do
    :: d_step { len(behind[c]) > 0 && LOOKS(c) -> apply(c); END }
    od
}

proctype contender(byte c)
{
end:
    do
    :: d_step { SHARES_PROCESS(c) && len(behind[c]) > 0 && LOOKS(c) -> apply(c); END }
    :: d_step { over[c] -> expired(c); END }
    /* the request */
    :: d_step { endless && phase[c] == RESTING -> check_woken(); phase[c] = DONE; END }
    :: d_step { CREATES(c) -> check_woken(); create(c); phase[c] = LISTING; END }
    :: d_step { CREATES(c) && losses > 0 ->
        losses--;
        create(c);
        phase[c] = MAYBE;
        END }
    :: d_step { CREATES(c) && losses > 0 ->
        losses--;
        reader[c] = (under[c] -> READER(NUMBER(own[c])) : NOBODY);
        phase[c] = MAYBE;
        END }
    /* A write that a quorum commits comes before the look. */
    :: d_step { !over[c] && phase[c] == MAYBE ->
        catch_up(c);
        if
        :: EXISTS(CURRENT(c)) -> phase[c] = LISTING
        :: mutant == BLIND && under[c] -> grant(c)
        :: CURRENT(c) != NOBODY -> lose_node(c)
        :: else -> phase[c] = CREATING
        fi;
        END }
    :: d_step { !over[c] && phase[c] == LISTING -> tie = 0; listed(c); END }
    :: d_step { !over[c] && phase[c] == LISTING && TIED(c) -> tie = 1; listed(c); END }
    :: d_step { !over[c] && phase[c] == WATCHING && (HAS(view[c], pred[c]) || mutant == NO_LOOK) ->
        phase[c] = WAITING;
        END }
    :: d_step { !over[c] && phase[c] == WATCHING && !HAS(view[c], pred[c]) && mutant != NO_LOOK -> move_up(c); END }
    :: d_step { !over[c] && phase[c] == WAITING &&
        (!HAS(view[c], pred[c]) && mutant != NO_LOOK || !SEES(c, CURRENT(c))) ->
        move_up(c);
        END }
    :: d_step { !over[c] && give_ups > 0 && WAITS(c) && !under[c] ->
        give_ups--;
        check_woken();
        pred[c] = NOBODY;
        next[c] = 0;
        phase[c] = LEAVING;
        END }
    :: d_step { mutant == POLLS && !over[c] && phase[c] == WAITING -> phase[c] = LISTING; END }
    /* the grant, and what follows */
    :: d_step { !over[c] && LOST(c) && phase[c] != MAYBE && phase[c] != LEAVING ->
        struck = struck & ~BIT(own[c]);
        held[c] = 0;
        own[c] = NOBODY;
        phase[c] = (read[c] -> HOLDING : LEAVING);
        END }
    :: d_step { !over[c] && phase[c] == HOLDING && wish[c] == GOES_ON && held[c] && !under[c] ->
        check_woken();
        under[c] = 1;
        if
        :: mutant == WRITER_LAST -> remove(own[c])
        :: else
        fi;
        phase[c] = CREATING;
        END }
    :: d_step { !over[c] && phase[c] == HOLDING && read[c] && held[c] ->
        check_woken();
        held[c] = 0;
        remove(own[c]);
        own[c] = NOBODY;
        END }
    :: d_step { !over[c] && phase[c] == HOLDING && (read[c] || wish[c] != GOES_ON) ->
        check_woken();
        read[c] = 0;
        held[c] = (reader[c] != NOBODY && held[c]);
        phase[c] = LEAVING;
        END }
    :: d_step { !over[c] && phase[c] == LEAVING && EXISTS(reader[c]) -> remove(reader[c]); END }
    :: d_step { !over[c] && phase[c] == LEAVING && !EXISTS(reader[c]) -> held[c] = 0; remove(own[c]); finish(c); END }
    /* what goes wrong */
    :: d_step { expiries > 0 && !over[c] && (EXISTS(own[c]) || EXISTS(reader[c])) ->
        check_woken();
        expiries--;
        strike(own[c]);
        strike(reader[c]);
        over[c] = 1;
        END }
    :: d_step { deletions > 0 && EXISTS(own[c]) -> check_woken(); deletions--; strike(own[c]); END }
    :: d_step { deletions > 0 && EXISTS(reader[c]) -> check_woken(); deletions--; strike(reader[c]); END }
    od
}

#define RESTS(c)    (phase[c] == DONE || ASLEEP(c))
#define FINISHED(c) (phase[c] == DONE)

/* When nobody can go on, but by a fault, everybody has finished, and nothing is left. That it has come to this, spin
 * checks too: to wait here for ever is an invalid end. */
proctype end_of_it()
{
    d_step {
        RESTS(0) && RESTS(1 % N) && RESTS(2 % N) ->
        assert(nobody_blocked || (FINISHED(0) && FINISHED(1 % N) && FINISHED(2 % N)));
        assert(no_orphan || live == 0)
    }
}

init
{
    d_step {
        c_code {
            now.losses = given("LOSSES", 0);
            now.expiries = given("EXPIRIES", 0);
            now.deletions = given("DELETIONS", 0);
            now.give_ups = given("GIVE_UPS", 0);
            now.mutant = given("MUTANT", 0);
            now.turn = given("ROUNDS", 1);
            now.endless = given("ENDLESS", 0);
            now.lag = given("LAG", 3);
            now.least = given("LEAST", 0);
            now.most = given("MOST", 2);
            now.rivals = given("SOUGHT", 0);
            exclusion = order = token = woken = nobody_blocked = no_orphan = given("UNCHECKED", 0);
        };
        for (x : 0 .. N - 1) {
            rounds[x] = turn;
            reader[x] = NOBODY;
            reset(x);
            phase[x] = (endless -> RESTING : CREATING)
        }
        forget()
    }
    /* Contenders are alike: their order does not matter. In endless rounds contender 0 is not like the others. */
    atomic {
        for (turn : 0 .. N - 1) {
            wish[turn] = (turn > endless -> wish[turn - 1] : least);
            do
            :: wish[turn] < most -> wish[turn]++
            :: break
            od
        }
    }
    atomic {
        for (turn : 0 .. N - 1) {
            run contender(turn)
        }
        if
        :: endless -> run server(0)
        :: else
        fi;
        run end_of_it()
    }
}

/* "Everybody who keeps asking is served", of contender 0, whose rivals come again without end: it does not ask for
 * ever. Asking ends with the grant, or when its caller gives up. It goes on when its node or its session is lost. */
#define ASKS (phase[0] <= WAITING)
#define HELD_BY_1 (phase[1] == HOLDING)
#ifdef LTL
ltl served { [] <> !ASKS }
/* What a mutant that starves breaks: contender 0 asks for ever, while contender 1 holds and releases without end. */
ltl overtaken { [] <> !ASKS || <> [] HELD_BY_1 || <> [] !HELD_BY_1 }
#endif
