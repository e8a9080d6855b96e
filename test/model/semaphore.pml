/*
 * The requests of a semaphore (recipes/hold.h), for spin: the gate, the leases, and what is released when one of them
 * is lost. A request here is its own client and session. What is and what is not in it: doc/proof.md. What is run:
 * test/model/check.
 */
#ifndef N
#define N 3 /* requests */
#endif
#define M        12 /* leases that may be there */
#define MOST     3  /* permits of one request */
#define STRANGER N  /* a client of another library, whose lease's name has no number */
#define NOBODY   15

#include "given.pml"

byte mutant;
#define NO_GATE       1  /* leases are created without the gate */
#define EARLY         2  /* the gate is released after the first lease is created */
#define KEEPS         3  /* after a loss the other leases are kept */
#define JUNK_IGNORED  4  /* a lease whose name has no number does not count */
#define NEAREST       5  /* a lease watches the nearest ahead, not all */
#define ONE_MORE      6  /* admitted with as many ahead as there are permits */
#define BLIND         7  /* a create without a reply is sent again, and not looked for */
#define PARTIAL       8  /* granted when the first lease is */
#define TRY_KEEPS     9  /* a try that fails keeps what it was granted */
#define GATE_KEPT     10 /* the gate is released with the permits */
#define GATE_IGNORED  11 /* a gate that is lost meanwhile is no loss */
#define BACKS_OFF     12 /* no gate: a request that does not get all gives back all, and begins again */
#define WHEN_FREE     13 /* no gate: a request creates its leases when as many permits are free */

byte limit_of;  /* the permits that there are */
byte losses;    /* of a reply to a create, and of the connection with it */
byte expiries;  /* sessions that the servers end */
byte deletions; /* of nodes, by an administrator */
byte give_ups;  /* callers that give up before they hold */
byte least;     /* permits of the smallest request */
byte step;      /* from one size of a request to the next */
bit trying;     /* may requests try? */
bit endless;    /* each request comes again until it comes no more */
byte rivals;    /* so many comings of others while request 0 waits are to be found */

/* 0: an assertion that is violated is known by its name. But a mutant of endless rounds may break all but `room`. */
hidden byte limit, all_or_none, woken, nobody_blocked, no_orphan, room, passed;

/* --- the state -------------------------------------------------------------------------------------------------------
 */

#define BEGINS      0
#define GATE_MAYBE  1 /* its create has no reply */
#define GATE_LOOKS  2
#define GATE_WAITS  3
#define GATHERS     4 /* creates its leases */
#define LEASE_MAYBE 5
#define LOOKS       6
#define WAITS       7
#define GRANTED     8
#define LEAVES      9
#define DONE        10

byte want[N];
bit tries[N];
byte phase[N];
bit gated[N];  /* the gate is granted */
byte made[N];  /* leases that it knows to be there */
byte got[N];   /* those of them that are granted, the first */
bit lost[N];   /* a node that was granted is deleted, and the client will hear of it */
bit gone[N];   /* the gate's node, before it was granted */
byte missed[N]; /* leases, before they were granted */
bit over[N];   /* the session is over, and the client was not notified */
bit again[N];  /* when all is released, it begins again */
bit fired[N];  /* the watch of its listing */

/* The nodes in their order, by owner. */
byte gate[N];
byte gate_n;
byte lease[M];
byte lease_n;

byte came; /* others while request 0 waits, if they are counted */
byte turn;

/* Of one step. */
hidden byte x, y, z, ahead, found, gone_at;

inline forget()
{
    x = 0; y = 0; z = 0; ahead = 0; found = 0; gone_at = 0
}

/* --- the servers -----------------------------------------------------------------------------------------------------
 */

inline add_gate(c)
{
    assert(room || gate_n < N);
    gate[gate_n] = c;
    gate_n++
}

/* Where is the node of request c? NOBODY: there is none. */
inline find_gate(c)
{
    found = NOBODY;
    for (x : 0 .. N - 1) {
        found = (x < gate_n && gate[x] == c -> x : found)
    }
}

inline remove_gate(c)
{
    find_gate(c);
    if
    :: found != NOBODY ->
        for (x : 0 .. N - 2) {
            gate[x] = (x >= found -> gate[x + 1] : gate[x])
        }
        gate[N - 1] = 0;
        gate_n--;
        /* The nearest ahead of the next one is gone. */
        if
        :: found < gate_n -> z = gate[found]; phase[z] = (phase[z] == GATE_WAITS -> GATE_LOOKS : phase[z])
        :: else
        fi
    :: else
    fi
}

/* The watch of the children fires. */
inline change_leases(at, is_new)
{
    for (x : 0 .. N - 1) {
        if
        :: phase[x] == GATHERS && got[x] < made[x] -> fired[x] = 1
        :: phase[x] == WAITS && mutant != NEAREST -> fired[x] = 1
        :: phase[x] == WAITS && mutant == NEAREST && !is_new ->
            ahead = NOBODY;
            for (y : 0 .. M - 1) {
                ahead = (y < lease_n && lease[y] == x -> y : ahead)
            }
            fired[x] = (ahead == at + 1 -> 1 : fired[x])
        :: else
        fi
    }
}

inline add_lease(c)
{
    assert(room || lease_n < M);
    change_leases(lease_n, 1);
    lease[lease_n] = c;
    lease_n++
}

/* How many leases has request c on the servers? */
inline count_own(c)
{
    found = 0;
    for (x : 0 .. M - 1) {
        found = (x < lease_n && lease[x] == c -> found + 1 : found)
    }
}

inline remove_lease(at)
{
    gone_at = at;
    change_leases(gone_at, 0);
    for (x : 0 .. M - 2) {
        lease[x] = (x >= gone_at -> lease[x + 1] : lease[x])
    }
    lease[M - 1] = 0;
    lease_n--
}

/* The first of them. */
inline remove_own(c)
{
    found = NOBODY;
    for (x : 0 .. M - 1) {
        found = (x < lease_n && lease[x] == c && found == NOBODY -> x : found)
    }
    if
    :: found != NOBODY -> remove_lease(found)
    :: else
    fi
}

/* --- the rule --------------------------------------------------------------------------------------------------------
 */

/* How many leases of request c does a listing admit? */
inline admit(c)
{
    found = 0;
    ahead = 0;
    for (x : 0 .. M - 1) {
        if
        :: x < lease_n ->
            found = (lease[x] == c && ahead < limit_of + (mutant == ONE_MORE) -> found + 1 : found);
            ahead = (mutant == JUNK_IGNORED && lease[x] == STRANGER -> ahead : ahead + 1)
        :: else
        fi
    }
}

/* --- the laws --------------------------------------------------------------------------------------------------------
 */

/* No more leases are granted than there are permits, those of requests that are still gathering included. */
inline check_limit()
{
    ahead = 0;
    for (x : 0 .. N - 1) {
        ahead = ahead + got[x]
    }
    for (x : 0 .. M - 1) {
        ahead = (x < lease_n && lease[x] == STRANGER -> ahead + 1 : ahead)
    }
    assert(limit || ahead <= limit_of)
}

/* A request that begins has no lease, and one that is granted has all. */
inline check_none(c)
{
    count_own(c);
    assert(all_or_none || found == 0)
}

inline check_all(c)
{
    count_own(c);
    assert(all_or_none || lost[c] || missed[c] > 0 || over[c] || (found == want[c] && got[c] == want[c]))
}

#define TOLD(c)   (!over[c] && !lost[c] && !gone[c] && missed[c] == 0)
#define ASLEEP(c) (TOLD(c) && (phase[c] == GATE_WAITS || (phase[c] == WAITS && !fired[c])))
#define STILL(c)  (ASLEEP(c) || phase[c] == DONE || (phase[c] == BEGINS && !again[c]) || \
                   (phase[c] == GRANTED && TOLD(c) && (!gated[c] || mutant == GATE_KEPT)))

/* When only holders, and those who have not begun, can go on: the leases of a waiter are not all admitted, and the
 * gate is held by a request that waits for its leases. */
inline check_woken()
{
    if
    :: STILL(0) && STILL(1 % N) && STILL(2 % N) ->
        for (y : 0 .. N - 1) {
            if
            :: phase[y] == WAITS ->
                admit(y);
                assert(woken || found < want[y])
            :: phase[y] == GATE_WAITS -> assert(woken || phase[gate[0]] == WAITS)
            :: else
            fi
        }
    :: else
    fi
}

/* --- a request -------------------------------------------------------------------------------------------------------
 */

#define TAKES_GATE(c) (!tries[c] && mutant != NO_GATE && mutant != BACKS_OFF && mutant != WHEN_FREE)

/* "Everybody who keeps asking is served", of request 0, whose rivals come again without end: it does not ask for ever.
 * Asking ends with the grant, when a try fails, or when the caller gives up. It goes on when a node or the session is
 * lost. */
#define ASKS (again[0] || (phase[0] >= GATE_MAYBE && phase[0] <= WAITS))
#define IN_LINE (phase[0] >= GATE_LOOKS && phase[0] <= WAITS)

inline count_coming(c)
{
    if
    :: rivals > 0 && c != 0 && IN_LINE ->
        came++;
        assert(passed || came < rivals)
    :: else
    fi;
    came = (IN_LINE -> came : 0)
}

inline begin(c)
{
    count_coming(c);
    check_none(c);
    again[c] = 0
}

inline look_at_gate(c)
{
    find_gate(c);
    gated[c] = (found == 0);
    phase[c] = (found == 0 -> GATHERS : GATE_WAITS)
}

/* Its node was deleted before it was granted: another follows. */
inline gate_again(c)
{
    gone[c] = 0;
    phase[c] = BEGINS;
    again[c] = 1
}

inline made_lease(c)
{
    made[c]++;
    if
    :: mutant == EARLY -> remove_gate(c); gated[c] = 0
    :: else
    fi;
    fired[c] = (made[c] < want[c]);
    phase[c] = (made[c] == want[c] -> LOOKS : GATHERS)
}

inline leave(c, and_again)
{
    phase[c] = LEAVES;
    again[c] = and_again;
    fired[c] = 0;
    gone[c] = 0
}

inline look(c)
{
    admit(c);
    found = (found < made[c] - missed[c] -> found : made[c] - missed[c]);
    got[c] = (found > got[c] -> found : got[c]);
    fired[c] = 0;
    if
    :: got[c] == want[c] || (mutant == PARTIAL && got[c] > 0) -> phase[c] = GRANTED; check_all(c)
    :: got[c] < want[c] && !(mutant == PARTIAL && got[c] > 0) && tries[c] -> leave(c, 0)
    :: else ->
        if
        :: mutant == BACKS_OFF -> leave(c, 1)
        :: else -> phase[c] = WAITS
        fi
    fi;
    check_limit()
}

inline reset(c)
{
    gated[c] = 0;
    made[c] = 0;
    got[c] = 0;
    lost[c] = 0;
    gone[c] = 0;
    missed[c] = 0;
    fired[c] = 0
}

/* All is released. */
inline finish(c)
{
    if
    :: mutant != KEEPS && mutant != TRY_KEEPS -> check_none(c)
    :: else
    fi;
    reset(c);
    phase[c] = (again[c] || endless -> BEGINS : DONE)
}

/* A node that was granted is lost. */
inline start_over(c)
{
    lost[c] = 0;
    if
    :: mutant == KEEPS && !tries[c] ->
        count_own(c);
        made[c] = found;
        got[c] = 0;
        missed[c] = 0;
        phase[c] = (gated[c] -> GATHERS : BEGINS);
        again[c] = 1
    :: else -> leave(c, !tries[c])
    fi
}

inline expired(c)
{
    over[c] = 0;
    again[c] = (phase[c] == LEAVES -> again[c] : phase[c] != GRANTED && !tries[c]);
    reset(c);
    phase[c] = (again[c] || endless -> BEGINS : DONE)
}

/* --- faults ----------------------------------------------------------------------------------------------------------
 */

inline strike_gate(c)
{
    remove_gate(c);
    if
    :: gated[c] ->
        gated[c] = 0;
        lost[c] = (phase[c] != GRANTED && phase[c] != LEAVES && mutant != GATE_IGNORED -> 1 : lost[c])
    :: else -> gone[c] = (phase[c] == GATE_LOOKS || phase[c] == GATE_WAITS)
    fi
}

/* Those of request c that were created first were granted first. */
inline strike_lease(at)
{
    z = lease[at];
    found = 0;
    for (x : 0 .. M - 1) {
        found = (x < at && lease[x] == z -> found + 1 : found)
    }
    if
    :: z != STRANGER && phase[z] == LEAVES -> got[z] = (found < got[z] -> got[z] - 1 : got[z])
    :: z != STRANGER && phase[z] != LEAVES && found < got[z] ->
        got[z]--;
        made[z]--;
        lost[z] = 1
    :: z != STRANGER && phase[z] != LEAVES && found >= got[z] && found < made[z] - missed[z] -> missed[z]++
    :: else
    fi;
    remove_lease(at)
}

inline strike_all(c)
{
    remove_gate(c);
    for (turn : 1 .. MOST + 1) {
        remove_own(c)
    }
    turn = 0;
    got[c] = 0;
    over[c] = 1
}

/* --- the processes ---------------------------------------------------------------------------------------------------
 */

#define RUNS(c)     (!over[c])
#define PENDING(c)  (phase[c] == GATHERS || phase[c] == LOOKS || phase[c] == WAITS)
#define HAS_NODE(c) (phase[c] != BEGINS && phase[c] != DONE)
#define IS_AT(c, i) (gate_n > i && gate[i % N] == c)

/* Not asked but by a mutant. */
#define IS_FREE(c) (mutant != WHEN_FREE || made[c] > 0 || lease_n + want[c] <= limit_of)

/* Each lease is granted when its turn has come, whether the others are there or not. */
#define COUNTS(c) (RUNS(c) && phase[c] == GATHERS && !lost[c] && fired[c])

inline count_granted(c)
{
    fired[c] = 0;
    admit(c);
    got[c] = (found < made[c] - missed[c] -> found : made[c] - missed[c]);
    check_limit()
}

/* Fairness is that of processes. In endless rounds others change the leases without end, and a request that takes note
 * of that must not be kept from its next create. So this has a process of its own. */
proctype watcher(byte c)
{
end:
    do
    :: d_step { COUNTS(c) -> count_granted(c); forget() }
    od
}

proctype request(byte c)
{
end:
    do
    :: d_step { over[c] -> expired(c); forget() }
    /* the gate */
    :: d_step { RUNS(c) && phase[c] == BEGINS && TAKES_GATE(c) ->
        check_woken();
        begin(c);
        add_gate(c);
        phase[c] = GATE_LOOKS;
        forget() }
    :: d_step { RUNS(c) && phase[c] == BEGINS && TAKES_GATE(c) && losses > 0 ->
        losses--;
        begin(c);
        add_gate(c);
        phase[c] = GATE_MAYBE;
        forget() }
    :: d_step { RUNS(c) && phase[c] == BEGINS && TAKES_GATE(c) && losses > 0 ->
        losses--;
        begin(c);
        phase[c] = GATE_MAYBE;
        forget() }
    :: d_step { RUNS(c) && phase[c] == BEGINS && !TAKES_GATE(c) ->
        check_woken();
        begin(c);
        phase[c] = GATHERS;
        forget() }
    :: d_step { RUNS(c) && phase[c] == BEGINS && tries[c] && lease_n >= limit_of ->
        phase[c] = (endless -> BEGINS : DONE);
        forget() }
    :: d_step { RUNS(c) && phase[c] == BEGINS && endless && !again[c] -> check_woken(); phase[c] = DONE; forget() }
    :: d_step { RUNS(c) && phase[c] == GATE_MAYBE ->
        find_gate(c);
        again[c] = (found == NOBODY);
        phase[c] = (found == NOBODY -> BEGINS : GATE_LOOKS);
        forget() }
    :: d_step { RUNS(c) && phase[c] == GATE_LOOKS && !gone[c] -> look_at_gate(c); forget() }
    :: d_step { RUNS(c) && gone[c] && (phase[c] == GATE_LOOKS || phase[c] == GATE_WAITS) -> gate_again(c); forget() }
    /* the leases */
    :: d_step { RUNS(c) && phase[c] == GATHERS && !lost[c] && made[c] < want[c] && IS_FREE(c) ->
        add_lease(c);
        made_lease(c);
        forget() }
    :: d_step { RUNS(c) && phase[c] == GATHERS && !lost[c] && made[c] < want[c] && IS_FREE(c) && losses > 0 ->
        losses--;
        add_lease(c);
        phase[c] = LEASE_MAYBE;
        forget() }
    :: d_step { RUNS(c) && phase[c] == GATHERS && !lost[c] && made[c] < want[c] && IS_FREE(c) && losses > 0 ->
        losses--;
        phase[c] = LEASE_MAYBE;
        forget() }
    :: d_step { RUNS(c) && phase[c] == LEASE_MAYBE ->
        count_own(c);
        if
        :: found > made[c] - missed[c] && mutant != BLIND -> made_lease(c)
        :: else -> phase[c] = GATHERS
        fi;
        forget() }
    :: d_step { !endless && COUNTS(c) -> count_granted(c); forget() }
    :: d_step { RUNS(c) && phase[c] == LOOKS && !lost[c] && missed[c] == 0 -> look(c); forget() }
    :: d_step { RUNS(c) && phase[c] == WAITS && fired[c] && !lost[c] && missed[c] == 0 -> look(c); forget() }
    :: d_step { RUNS(c) && PENDING(c) && missed[c] > 0 && !lost[c] ->
        made[c] = made[c] - missed[c];
        missed[c] = 0;
        fired[c] = 0;
        phase[c] = GATHERS;
        forget() }
    :: d_step { RUNS(c) && PENDING(c) && lost[c] -> start_over(c); forget() }
    :: d_step { RUNS(c) && give_ups > 0 && (PENDING(c) || phase[c] == GATE_LOOKS || phase[c] == GATE_WAITS) ->
        give_ups--;
        check_woken();
        leave(c, 0);
        forget() }
    /* the grant, and its end */
    :: d_step { RUNS(c) && phase[c] == GRANTED && gated[c] && mutant != GATE_KEPT ->
        remove_gate(c);
        gated[c] = 0;
        forget() }
    :: d_step { RUNS(c) && phase[c] == GRANTED && (!gated[c] || mutant == GATE_KEPT) ->
        check_woken();
        leave(c, 0);
        forget() }
    :: d_step { RUNS(c) && phase[c] == LEAVES ->
        count_own(c);
        lost[c] = 0;
        missed[c] = 0;
        if
        :: found > 0 && !(mutant == TRY_KEEPS && tries[c] && got[c] > 0) ->
            got[c] = (got[c] > 0 -> got[c] - 1 : 0);
            remove_own(c)
        :: else ->
            remove_gate(c);
            finish(c)
        fi;
        forget() }
    /* what goes wrong */
    :: d_step { expiries > 0 && !over[c] && HAS_NODE(c) ->
        check_woken();
        expiries--;
        strike_all(c);
        forget() }
    :: d_step { deletions > 0 && (IS_AT(c, 0) || IS_AT(c, 1) || IS_AT(c, 2)) ->
        check_woken();
        deletions--;
        strike_gate(c);
        forget() }
    od
}

/* An administrator, and the client of another library, which releases its permit. */
proctype others()
{
    byte at;
end:
    do
    :: atomic {
        deletions > 0 && lease_n > 0;
        at = 0;
        do
        :: at + 1 < lease_n -> at++
        :: break
        od;
        skip;
        d_step {
            check_woken();
            deletions--;
            strike_lease(at);
            forget()
        };
        at = 0
        }
    :: d_step { lease_n > 0 && lease[0] == STRANGER -> check_woken(); remove_lease(0); forget() }
    od
}

#define RESTS(c) (phase[c] == DONE || ASLEEP(c))

/* When no request can go on, but by a fault, each has finished, and nothing is left. That it has come to this, spin
 * checks too: to wait here for ever is an invalid end. */
proctype end_of_it()
{
    d_step {
        RESTS(0) && RESTS(1 % N) && RESTS(2 % N) && !(lease_n > 0 && lease[0] == STRANGER) ->
        assert(nobody_blocked || (phase[0] == DONE && phase[1 % N] == DONE && phase[2 % N] == DONE));
        assert(no_orphan || lease_n + gate_n == 0)
    }
}

init
{
    d_step {
        c_code {
            now.limit_of = given("LIMIT", 4);
            now.losses = given("LOSSES", 0);
            now.expiries = given("EXPIRIES", 0);
            now.deletions = given("DELETIONS", 0);
            now.give_ups = given("GIVE_UPS", 0);
            now.least = given("LEAST", 1);
            now.step = given("STEP", 2);
            now.trying = given("TRIES", 1);
            now.mutant = given("MUTANT", 0);
            now.endless = given("ENDLESS", 0);
            now.rivals = given("SOUGHT", 0);
            limit = all_or_none = woken = nobody_blocked = no_orphan = given("UNCHECKED", 0);
            now.turn = given("STRANGER", 0);
        };
        if
        :: turn > 0 -> add_lease(STRANGER)
        :: else
        fi;
        forget()
    }
    /* Requests are alike: their order does not matter. In endless rounds request 0 is not like the others,
     * and does not try. */
    atomic {
        for (turn : 0 .. N - 1) {
            want[turn] = (turn > endless -> want[turn - 1] : least);
            tries[turn] = (turn > endless -> tries[turn - 1] : 0);
            do
            :: want[turn] + step <= MOST -> want[turn] = want[turn] + step; tries[turn] = 0
            :: trying && !tries[turn] && turn >= endless -> tries[turn] = 1
            :: break
            od
        }
        turn = 0
    }
    atomic {
        for (turn : 0 .. N - 1) {
            run request(turn);
            if
            :: endless -> run watcher(turn)
            :: else
            fi
        }
        run others();
        run end_of_it();
        turn = 0
    }
}

#define HELD_BY_1 (phase[1] == GRANTED)
#ifdef LTL
ltl served { [] <> !ASKS }
/* What a mutant that starves breaks: request 0 asks for ever, while request 1 holds and releases without end. */
ltl overtaken { [] <> !ASKS || <> [] HELD_BY_1 || <> [] !HELD_BY_1 }
#endif
