/*
 * The rule of a multi-lock, for spin: one transaction creates a node in each path, and what follows when one of them is
 * deleted. A request here is its own client and session. What is and what is not in it: doc/proof.md. What is run:
 * test/model/check.
 */
#ifndef N
#define N 3 /* requests */
#endif
#ifndef P
#define P 3 /* paths */
#endif
#define M      5 /* nodes that a path may have */
#define ORPHAN N /* the owner of a node that its client does not know */
#define NONE   15

#define BIT(k)       (1 << (k))
#define HAS(mask, k) (((mask) >> (k)) & 1)

#include "given.pml"

byte mutant;
#define ONE_BY_ONE 1 /* each node has a transaction of its own */
#define ALONE      2 /* a node that was deleted is created again, alone */
#define TRY_KEEPS  3 /* a try that fails keeps its nodes */
#define SOME       4 /* granted when it is first in one of the paths */
#define REST       5 /* after a look that found some of the nodes, the others are created */
#define BLIND      6 /* a transaction without a reply is sent again, and not looked for */
#define HOLDS_ON   7 /* a holder whose node was deleted in one path goes on */
#define ONE_LOOK   8 /* a transaction without a reply is looked for in one path */
#define BACKS_OFF  9 /* a request that has to wait gives back all, and begins again */
#define LAST_AGAIN 10 /* a request whose predecessor is deleted gives back all, and begins again */

byte losses;    /* of a reply to a transaction, and of the connection with it */
byte expiries;  /* sessions that the servers end */
byte deletions; /* of nodes, by an administrator */
byte give_ups;  /* callers that give up before they hold */
bit trying;     /* may requests try? */
bit unordered;  /* one_order is no law: a mutant is to show what follows */
bit endless;    /* each request comes again until it comes no more */
byte rivals;    /* so many comings of others while request 0 waits are to be found */

/* 0: an assertion that is violated is known by its name. But a mutant of endless rounds may break all but `room`. */
hidden byte exclusion, one_order, all_or_none, woken, nobody_blocked, no_orphan, room, passed;

/* --- the state -------------------------------------------------------------------------------------------------------
 */

#define BEGINS 0
#define MAYBE  1 /* the transaction has no reply */
#define SEEKS  2 /* the nodes, path by path, after a barrier */
#define QUEUES 3
#define HOLDS  4
#define LEAVES 5
#define DONE   6

/* Sets of paths. */
byte want[N];
byte there[N];  /* where its node is */
byte struck[N]; /* where others deleted it, and the client will hear of it */
byte lists[N];  /* where it has to look for its place */
byte first[N];  /* where it is the first */
byte sought[N]; /* where it has looked for a node of unknown outcome */
byte seen[N];   /* where it has found one */

byte phase[N];
bit tries[N];
bit over[N];  /* the session is over, and the client was not notified */
bit again[N]; /* when all is released, it begins again */

/* The nodes of each path in their order, by owner. */
byte node[P * M];
byte nodes[P];
#define AT(p, i) node[(p) * M + (i)]

byte came; /* others while request 0 waits, if they are counted */
byte turn;

/* Of one step. */
hidden byte x, y, z, v, place, other;

inline forget()
{
    x = 0; y = 0; z = 0; v = 0; place = 0; other = 0
}

/* --- the servers -----------------------------------------------------------------------------------------------------
 */

inline add(c, p)
{
    assert(room || nodes[p] < M);
    AT(p, nodes[p]) = c;
    nodes[p]++;
    there[c] = there[c] | BIT(p);
    lists[c] = lists[c] | BIT(p);
    first[c] = first[c] & ~BIT(p)
}

/* Where is the node of C in path P? NONE: there is none. */
inline find(c, p)
{
    place = NONE;
    for (x : 0 .. M - 1) {
        place = (x < nodes[p] && AT(p, x) == c -> x : place)
    }
}

inline leave(c, and_again)
{
    phase[c] = LEAVES;
    again[c] = and_again;
    struck[c] = 0;
    lists[c] = 0;
    first[c] = 0
}

/* The next in the path watched it. */
inline remove(c, p)
{
    find(c, p);
    if
    :: place != NONE ->
        for (x : 0 .. M - 2) {
            AT(p, x) = (x >= place -> AT(p, x + 1) : AT(p, x))
        }
        AT(p, M - 1) = 0;
        nodes[p]--;
        if
        :: place < nodes[p] && AT(p, place) != ORPHAN ->
            other = AT(p, place);
            lists[other] = (phase[other] == QUEUES -> lists[other] | BIT(p) : lists[other]);
            if
            :: mutant == LAST_AGAIN && phase[other] == QUEUES -> leave(other, 1)
            :: else
            fi
        :: else
        fi
    :: else
    fi;
    there[c] = there[c] & ~BIT(p)
}

/* --- the laws --------------------------------------------------------------------------------------------------------
 */

#define INTACT(c, p) (phase[c] == HOLDS && HAS(want[c], p) && !HAS(struck[c], p) && !over[c])

inline check_exclusion(c)
{
    for (x : 0 .. N - 1) {
        for (y : 0 .. P - 1) {
            assert(exclusion || x == c || !INTACT(c, y) || !INTACT(x, y))
        }
    }
}

/* A request that begins, or has ended, has no node; one that is granted has all. */
#define CHECK_NONE(c) assert(all_or_none || there[c] == 0)
#define CHECK_ALL(c)  assert(all_or_none || over[c] || (there[c] | struck[c]) == want[c])

/* Requests that meet in several paths have the same order in each. */
inline check_order(c)
{
    for (turn : 0 .. N - 1) {
        z = 0; /* in which it is ahead of c, and in which behind */
        v = 0;
        for (y : 0 .. P - 1) {
            find(c, y);
            other = place;
            find(turn, y);
            z = (place != NONE && other != NONE && place < other -> z + 1 : z);
            v = (place != NONE && other != NONE && place > other -> v + 1 : v)
        }
        assert(one_order || unordered || z == 0 || v == 0)
    }
    turn = 0
}

#define TOLD(c)   (!over[c] && struck[c] == 0)
#define ASLEEP(c) (phase[c] == QUEUES && TOLD(c) && lists[c] == 0 && first[c] != want[c])
#define STILL(c)  (ASLEEP(c) || phase[c] == DONE || (phase[c] == BEGINS && !again[c]) || (phase[c] == HOLDS && TOLD(c)))

/* When only holders, and those who have not begun, can go on, each waiter has another ahead of it in some path. */
inline check_woken()
{
    if
    :: STILL(0) && STILL(1 % N) && STILL(2 % N) ->
        for (turn : 0 .. N - 1) {
            z = 0;
            for (y : 0 .. P - 1) {
                find(turn, y);
                z = (place != NONE && place > 0 -> z + 1 : z)
            }
            assert(woken || phase[turn] != QUEUES || z > 0)
        }
        turn = 0
    :: else
    fi
}

/* --- a request -------------------------------------------------------------------------------------------------------
 */

/* "Everybody who keeps asking is served", of request 0, whose rivals come again without end: it does not ask for ever.
 * Asking ends with the grant, when a try fails, or when the caller gives up. It goes on when a node or the session is
 * lost. */
#define ASKS (again[0] || (phase[0] >= MAYBE && phase[0] <= QUEUES))

inline count_coming(c)
{
    if
    :: rivals > 0 && c != 0 && phase[0] == QUEUES ->
        came++;
        assert(passed || came < rivals)
    :: else
    fi;
    came = (phase[0] == QUEUES -> came : 0)
}

/* The nodes of these paths, in one transaction. */
inline create(c, paths)
{
    v = paths;
    for (y : 0 .. P - 1) {
        if
        :: HAS(v, y) -> add(c, y)
        :: else
        fi
    }
    check_order(c)
}

/* Its node in P is deleted: all the others are released. */
inline start_over(c)
{
    if
    :: mutant == ALONE ->
        v = want[c] & ~there[c];
        struck[c] = 0;
        create(c, v)
    :: else -> leave(c, !tries[c])
    fi
}

inline look(c, p)
{
    lists[c] = lists[c] & ~BIT(p);
    find(c, p);
    if
    :: place == NONE -> start_over(c)
    :: place == 0 -> first[c] = first[c] | BIT(p)
    :: else ->
        if
        :: tries[c] -> leave(c, 0)
        :: mutant == BACKS_OFF -> leave(c, 1)
        :: else
        fi
    fi
}

/* All paths have been looked at. */
inline judge(c)
{
    v = want[c] & ~there[c];
    if
    :: seen[c] == want[c] || (mutant == ONE_LOOK && seen[c] != 0) ->
        phase[c] = QUEUES;
        lists[c] = want[c]
    :: seen[c] == 0 ->
        phase[c] = BEGINS;
        again[c] = 1
    :: else ->
        if
        :: mutant == REST ->
            phase[c] = QUEUES;
            lists[c] = want[c];
            create(c, v)
        :: else -> leave(c, 1)
        fi
    fi;
    sought[c] = 0;
    seen[c] = 0
}

inline disown(c)
{
    for (x : 0 .. P * M - 1) {
        node[x] = ((x % M) < nodes[x / M] && node[x] == c -> ORPHAN : node[x])
    }
    there[c] = 0
}

inline expired(c)
{
    over[c] = 0;
    again[c] = (phase[c] == LEAVES -> again[c] : phase[c] != HOLDS);
    phase[c] = (again[c] || endless -> BEGINS : DONE);
    struck[c] = 0;
    lists[c] = 0;
    first[c] = 0;
    sought[c] = 0;
    seen[c] = 0
}

inline strike(c, p)
{
    remove(c, p);
    first[c] = first[c] & ~BIT(p);
    struck[c] = (phase[c] == QUEUES || phase[c] == HOLDS -> struck[c] | BIT(p) : struck[c])
}

/* --- the processes ---------------------------------------------------------------------------------------------------
 */

#define RUNS(c)      (!over[c])
#define ONE(c)       (mutant == ONE_BY_ONE)
#define TO_SEEK(c)   (mutant == ONE_LOOK -> (want[c] & (0 - want[c])) & ~sought[c] : want[c] & ~sought[c])

/* The paths in which something is to be done, each by itself. */
#define WORK(c) ( \
    phase[c] == SEEKS -> TO_SEEK(c) : (phase[c] == QUEUES -> (struck[c] == 0 -> lists[c] : 0) : \
    (phase[c] == LEAVES -> (mutant == TRY_KEEPS && tries[c] -> 0 : there[c]) : \
    (phase[c] == BEGINS && ONE(c) -> want[c] & ~there[c] : 0))))

inline choose(path, paths)
{
    if
    :: HAS(paths, 0) -> path = 0
    :: HAS(paths, 1) -> path = 1
    :: HAS(paths, 2) -> path = 2
    fi;
    paths = 0
}

proctype request(byte c)
{
    byte at, work;
end:
    do
    :: d_step { over[c] -> expired(c); forget() }
    :: d_step { RUNS(c) && phase[c] == BEGINS && !ONE(c) ->
        check_woken();
        CHECK_NONE(c);
        count_coming(c);
        again[c] = 0;
        phase[c] = QUEUES;
        create(c, want[c]);
        forget() }
    :: d_step { RUNS(c) && phase[c] == BEGINS && losses > 0 && !ONE(c) ->
        CHECK_NONE(c);
        losses--;
        again[c] = 0;
        phase[c] = MAYBE;
        create(c, want[c]);
        lists[c] = 0;
        forget() }
    :: d_step { RUNS(c) && phase[c] == BEGINS && losses > 0 && !ONE(c) ->
        losses--;
        again[c] = 0;
        phase[c] = MAYBE;
        forget() }
    :: d_step { RUNS(c) && phase[c] == BEGINS && endless && !again[c] -> check_woken(); phase[c] = DONE; forget() }
    :: d_step { RUNS(c) && phase[c] == MAYBE ->
        if
        :: mutant == BLIND -> disown(c); phase[c] = BEGINS; again[c] = 1
        :: else -> phase[c] = SEEKS
        fi;
        forget() }
    /* Paths in any order. */
    :: atomic {
        RUNS(c) && WORK(c) != 0;
        work = WORK(c);
        choose(at, work);
        skip;
        d_step {
            if
            :: phase[c] == SEEKS ->
                sought[c] = sought[c] | BIT(at);
                seen[c] = seen[c] | (there[c] & BIT(at))
            :: phase[c] == QUEUES -> look(c, at)
            :: phase[c] == LEAVES -> remove(c, at)
            :: else ->
                add(c, at);
                check_order(c);
                phase[c] = (there[c] == want[c] -> QUEUES : BEGINS)
            fi;
            at = 0;
            forget() }
        }
    :: d_step { RUNS(c) && phase[c] == SEEKS && !TO_SEEK(c) -> judge(c); forget() }
    :: d_step { RUNS(c) && phase[c] == QUEUES && struck[c] != 0 -> start_over(c); forget() }
    :: d_step { RUNS(c) && phase[c] == QUEUES && struck[c] == 0 &&
        (first[c] == want[c] || mutant == SOME && first[c] != 0 && lists[c] == 0) ->
        phase[c] = HOLDS;
        lists[c] = 0;
        first[c] = 0;
        CHECK_ALL(c);
        check_exclusion(c);
        forget() }
    :: d_step { RUNS(c) && phase[c] == QUEUES && give_ups > 0 -> check_woken(); give_ups--; leave(c, 0); forget() }
    :: d_step { RUNS(c) && phase[c] == HOLDS && struck[c] == 0 -> check_woken(); leave(c, 0); forget() }
    :: d_step { RUNS(c) && phase[c] == HOLDS && struck[c] != 0 ->
        struck[c] = 0;
        if
        :: mutant != HOLDS_ON -> leave(c, 0)
        :: else
        fi;
        forget() }
    :: d_step { RUNS(c) && phase[c] == LEAVES && (there[c] == 0 || mutant == TRY_KEEPS && tries[c]) ->
        CHECK_NONE(c);
        phase[c] = (again[c] || endless -> BEGINS : DONE);
        forget() }
    /* what goes wrong */
    :: d_step { expiries > 0 && there[c] != 0 ->
        check_woken();
        expiries--;
        for (turn : 0 .. P - 1) {
            remove(c, turn)
        }
        turn = 0;
        over[c] = 1;
        forget() }
    :: atomic {
        deletions > 0 && there[c] != 0;
        work = there[c];
        choose(at, work);
        skip;
        d_step { check_woken(); deletions--; strike(c, at); at = 0; forget() }
        }
    od
}

#define RESTS(c) (phase[c] == DONE || ASLEEP(c))

/* When no request can go on, but by a fault, each has finished, and nothing is left. That it has come to this, spin
 * checks too: to wait here for ever is an invalid end. */
proctype end_of_it()
{
    d_step {
        RESTS(0) && RESTS(1 % N) && RESTS(2 % N) ->
        assert(nobody_blocked || (phase[0] == DONE && phase[1 % N] == DONE && phase[2 % N] == DONE));
        for (x : 0 .. P - 1) {
            assert(no_orphan || nodes[x] == 0)
        }
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
            now.trying = given("TRIES", 1);
            now.unordered = given("UNORDERED", 0);
            now.mutant = given("MUTANT", 0);
            now.endless = given("ENDLESS", 0);
            now.rivals = given("SOUGHT", 0);
            exclusion = one_order = all_or_none = woken = nobody_blocked = no_orphan = given("UNCHECKED", 0);
        };
        forget()
    }
    /* Requests are alike: their order does not matter. In endless rounds request 0 is not like the others,
     * and does not try. Each wants two paths at least. */
    atomic {
        for (turn : 0 .. N - 1) {
            want[turn] = (turn > endless -> want[turn - 1] : 3);
            tries[turn] = (turn > endless -> tries[turn - 1] : 0);
            do
            :: want[turn] < BIT(P) - 1 -> want[turn] = (want[turn] == 3 -> 5 : want[turn] + 1); tries[turn] = 0
            :: trying && !tries[turn] && turn >= endless -> tries[turn] = 1
            :: break
            od
        }
        turn = 0
    }
    atomic {
        for (turn : 0 .. N - 1) {
            run request(turn)
        }
        run end_of_it();
        turn = 0
    }
}

#define HELD_BY_1 (phase[1] == HOLDS)
#ifdef LTL
ltl served { [] <> !ASKS }
/* What a mutant that starves breaks: request 0 asks for ever, while request 1 holds and releases without end. */
ltl overtaken { [] <> !ASKS || <> [] HELD_BY_1 || <> [] !HELD_BY_1 }
#endif
