/* ZooKeeper's C client: one connection at a time, a queue of callbacks behind which the machines may lag. */
inline send(i, kind, o, k)
{
    if
    :: io[CL(i)] == IO_IDLE
    :: else ->
        printf("asked: client %d contender %d kind %d\n", CL(i), i, kind);
        assert(room || nfull(up[CL(i)]));
        up[CL(i)] ! kind, i, o, k
    fi
}

inline tell(c, change)
{
    assert(room || nfull(inbox[c]));
    inbox[c] ! change, 0, 0, 0, 0;
    changes[c]++
}

/* --- losing ----------------------------------------------------------------------------------------------------------
 */

/* What was sent and not dealt with is lost; but so many CREATES of it, as may still be committed, are under way. */
inline drop_requests(c, creates)
{
    do
    :: len(up[c]) > 0 ->
        up[c] ? msg, who, number, data;
        printf("lost: client %d request, written %d\n", c, writing[c] > 0);
        if
        :: msg == CREATE && writing[c] == 0 && creates > 0 ->
            late[who * S + session[c]] = 1 + attempt[who];
            creates--
        :: else
        fi;
        writing[c] = 0
    :: len(up[c]) == 0 -> break
    od;
    creates = 0;
    written[c] = 0;
    reading[c] = 0
}

/* A watch is the client's once it has heard the answer. Contenders share it. */
#define WATCHES(i, c, k) \
    (CL(i) == c && (pred[i] == k && phase[i] == WAITING || node[i] == YES && name[i] == k && own[i] >= WATCHED))
#define NOT_HEARD(c, k) (!HAS(fired, k) && !WATCHES(c, c, k) && !WATCHES(BESIDE(c), c, k))

/* Of what was on its way down so many are received, and wait for the completion thread; the rest never is. */
inline drop_replies(c, received)
{
    rest = len(inbox[c]);
    fired = 0;
    do
    :: rest > 0 ->
        inbox[c] ? msg, who, number, data, zxid;
        if
        :: received > 0 ->
            inbox[c] ! msg, who, number, data, zxid;
            seen[c] = (msg < EVENT && zxid > seen[c] -> zxid : seen[c]);
            fired = ((msg == WATCH || msg == OWN) && data > 0 && data != FAILED -> fired | BIT(data - 1) : fired);
            received--
        :: received == 0 && msg < EVENT ->
            printf("lost: client %d answer\n", c);
            if
            :: (msg == WATCH || msg == OWN) && data > 0 && data != FAILED && NOT_HEARD(c, (data - 1)) ->
                watches[c] = watches[c] & ~BIT(data - 1)
            :: else
            fi
        :: received == 0 && msg == EVENT -> watches[c] = watches[c] | BIT(data)
        :: else
        fi;
        rest--
    :: rest == 0 -> break
    od
}

/* What is before a change of the session in the queue must have been received. */
inline least_received(c, received)
{
    received = 0;
    others = changes[c];
    rest = len(inbox[c]);
    kept = 0;
    do
    :: rest > 0 ->
        inbox[c] ? msg, who, number, data, zxid;
        inbox[c] ! msg, who, number, data, zxid;
        kept++;
        received = (msg >= DOWN -> kept : received);
        rest--
    :: rest == 0 -> break
    od;
    kept = 0
}

inline cut(c, creates, received)
{
    drop_requests(c, creates);
    drop_replies(c, received);
    printf("cut: client %d\n", c);
    io[c] = IO_DOWN;
    at[c] = 0;
    view[c] = 0;
    tell(c, DOWN)
}

inline empty_inbox(c)
{
    do
    :: len(inbox[c]) > 0 -> inbox[c] ? msg, who, number, data, zxid
    :: len(inbox[c]) == 0 -> break
    od;
    changes[c] = 0
}

/* The session machine finds that it is away for too long. What the servers keep of the old session lives on. */
inline give_up_handle(c, creates)
{
    printf("given up: the handle of client %d\n", c);
    drop_requests(c, creates);
    empty_inbox(c);
    io[c] = IO_IDLE;
    tell(c, EXPIRED)
}

inline new_handle(c)
{
    assert(room || session[c] < S - 1);
    session[c]++;
    fresh[c] = 1;
    io[c] = IO_DOWN;
    at[c] = 0;
    view[c] = 0;
    seen[c] = 0;
    watches[c] = 0
}

inline crash(c, creates)
{
    printf("crash: client %d\n", c);
    drop_requests(c, creates);
    empty_inbox(c);
    dead[c] = 1
}

/* --- connecting ------------------------------------------------------------------------------------------------------
 */

/* A server that knows so much of the log; the watches are set again there. */
inline attach(c, kind, known)
{
    at[c] = known;
    view[c] = base;
    rest = 0;
    do
    :: rest < known ->
        apply(view[c], log[rest]);
        rest++
    :: rest == known -> break
    od;
    known = 0;
    io[c] = kind;
    tell(c, UP);
    watches[c] = (mutant == NOT_SET_AGAIN -> 0 : watches[c]);
    fire(c)
}

#define HOW_REQUESTS_FAIL 1 /* what waited for a connection fails with an attempt at one, or goes with it */
#define HOW_TO_DEPOSED    2

/* KNOWN is at least what the client has seen. */
inline connect(c, known, how)
{
    if
    :: how == HOW_REQUESTS_FAIL || (!fresh[c] && !ALIVE(c) && how != HOW_TO_DEPOSED) -> drop_requests(c, none)
    :: else
    fi;
    if
    :: how == HOW_TO_DEPOSED ->
        printf("deposed: client %d\n", c);
        deposed[c]--;
        attach(c, IO_DEPOSED, known)
    :: how != HOW_TO_DEPOSED && fresh[c] ->
        fresh[c] = 0;
        alive[c * S + session[c]] = 1;
        seen[c] = log_n;
        known = log_n;
        attach(c, IO_REAL, known)
    :: how != HOW_TO_DEPOSED && !fresh[c] && ALIVE(c) -> attach(c, IO_REAL, known)
    :: else ->
        known = 0;
        io[c] = IO_IDLE;
        tell(c, EXPIRED)
    fi;
    how = 0
}
