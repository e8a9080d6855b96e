/*
 * The ensemble: the writes that a quorum committed, in their order, of which the server of each client has applied a
 * prefix. A client that reconnects finds any prefix that holds what it has seen.
 */

/* --- the log ---------------------------------------------------------------------------------------------------------
 */

inline apply(m, e)
{
    if
    :: e < 16 -> m = m | BIT(e)
    :: e >= 16 && e < 32 -> m = m & ~BIT(e - 16)
    :: else ->
        for (z : 0 .. K - 1) {
            if
            :: HAS(m, z) && TAG_CLIENT(tag[z]) == (e - 32) / S && TAG_SESSION(tag[z]) == (e - 32) % S ->
                m = m & ~BIT(z)
            :: else
            fi
        }
    fi
}

inline commit(e)
{
    assert(room || log_n < L);
    entry = e;
    log[log_n] = entry;
    log_n++;
    apply(live, entry)
}

/* Never a second node of one contender, in one session. */
inline commit_create(t)
{
    assert(room || made < K);
    for (x : 0 .. K - 1) {
        assert(one_node || !HAS(live, x) || (tag[x] & 15) != ((t) & 15))
    }
    tag[made] = t;
    commit(made);
    made++
}

inline close_session(c, s)
{
    printf("closed: client %d session %d\n", c, s);
    entry = s;
    alive[c * S + entry] = 0;
    for (y : 0 .. N - 1) {
        if
        :: CL(y) == c -> late[y * S + entry] = 0
        :: else
        fi
    }
    commit(32 + S * c + entry)
}

#define SUB(a) (a > least -> a - least : 0)

inline shift()
{
    for (x : 0 .. L - 1) {
        if
        :: x < least -> apply(base, log[x])
        :: else
        fi
    }
    for (x : 0 .. L - 1) {
        log[x] = (x + least < log_n -> log[(x + least) % L] : 0)
    }
    log_n = log_n - least;
    for (x : 0 .. C - 1) {
        seen[x] = SUB(seen[x]);
        at[x] = SUB(at[x]);
        writing[x] = (writing[x] > 0 -> 1 + SUB((writing[x] - 1)) : 0);
        rest = len(inbox[x]);
        do
        :: rest > 0 ->
            inbox[x] ? msg, who, number, data, zxid;
            zxid = SUB(zxid);
            inbox[x] ! msg, who, number, data, zxid;
            rest--
        :: else -> break
        od
    }
}

/* What makes no difference any more is forgotten, so that histories meet again: what everybody knows of the log; what a
 * retired client knew; the numbers of questions when nothing is in flight; and where nothing is left, all numbers. */
inline forget()
{
    least = log_n;
    idle = 1;
    for (x : 0 .. C - 1) {
        if
        :: RETIRED(x) ->
            io[x] = IO_DOWN;
            connected[x] = 0;
            at[x] = 0;
            view[x] = 0;
            seen[x] = 0;
            watches[x] = 0
        :: !RETIRED(x) && !fresh[x] ->
            seen[x] = (losses[x] + expiries[x] == 0 && io[x] == IO_REAL && ALIVE(x) -> at[x] : seen[x]);
            least = (seen[x] < least -> seen[x] : least)
        :: else
        fi;
        idle = idle && QUIET(x)
    }
    if
    :: least > 0 -> shift()
    :: else
    fi;
    idle = idle && log_n == 0;
    kept = (idle && live == 0 -> 0 : made);
    for (x : 0 .. N - 1) {
        if
        :: QUIET(CL(x)) ->
            op[x] = 0;
            own_op[x] = 0
        :: else
        fi;
        if
        :: phase[x] != WATCHING && phase[x] != WAITING ->
            next_in_line[x] = 0;
            skips[x] = 0
        :: else
        fi;
        kept = (node[x] == YES || pred[x] != NOBODY -> made : kept)
    }
    for (x : 0 .. K - 1) {
        tag[x] = (idle && !HAS(live, x) -> 0 : tag[x])
    }
    made = kept
}

/* --- the server of a client ------------------------------------------------------------------------------------------
 */

#define FIRST(c, kind) (up[c] ? [kind, who, number, data])

/* A write waits for those of the same session that went another way, and are not refused yet as moved. */
#define WRITE_READY(c)                                                                                                 \
    (io[c] == IO_REAL && writing[c] == 0 && ALIVE(c) && !LATE(c) &&                                                    \
     (FIRST(c, CREATE) || FIRST(c, BARRIER) || FIRST(c, DELETE)))
#define READ_READY(c)                                                                                                  \
    ((io[c] == IO_REAL || io[c] == IO_DEPOSED) && !reading[c] &&                                                       \
     (FIRST(c, LIST) || FIRST(c, IDENTIFY) || FIRST(c, WATCH) || FIRST(c, OWN) || FIRST(c, UNWATCH)))

inline reply(c, kind, i, o, d)
{
    assert(room || nfull(inbox[c]));
    inbox[c] ! kind, i, o, (fails && kind < EVENT -> FAILED : d), at[c]
}

/* A server answers a write as soon as it has applied it. */
inline answer_write(c)
{
    if
    :: writing[c] > 0 && at[c] >= writing[c] - 1 ->
        up[c] ? msg, who, number, data;
        reply(c, msg, who, number, written[c]);
        writing[c] = 0;
        written[c] = 0
    :: else
    fi
}

inline write(c)
{
    up[c] ? <msg, who, number, data>;
    written[c] = 0;
    if
    :: msg == CREATE ->
        written[c] = made;
        commit_create(TAG(who))
    :: msg == DELETE && HAS(live, data) -> commit(16 + data)
    :: else
    fi;
    writing[c] = 1 + log_n;
    answer_write(c)
}

inline answer_sync(c)
{
    up[c] ? msg, who, number, data;
    reply(c, msg, who, number, 0)
}

inline read(c)
{
    up[c] ? <msg, who, number, data>;
    if
    :: msg == LIST -> reply(c, LIST, who, number, view[c])
    :: msg == UNWATCH -> watches[c] = watches[c] & ~BIT(data)
    :: msg == IDENTIFY -> reply(c, msg, who, number, (HAS(view[c], data) -> 1 + data : 0))
    :: (msg == WATCH || msg == OWN) && HAS(view[c], data) && !fails ->
        watches[c] = watches[c] | BIT(data);
        if
        :: overtaking -> reading[c] = 1
        :: else -> reply(c, msg, who, number, 1 + data)
        fi
    :: else -> reply(c, msg, who, number, 0)
    fi;
    if
    :: !reading[c] -> up[c] ? msg, who, number, data
    :: else
    fi
}

inline answer_read(c)
{
    up[c] ? msg, who, number, data;
    reply(c, msg, who, number, 1 + data);
    reading[c] = 0
}

inline fire(c)
{
    fired = watches[c] & ~view[c];
    watches[c] = watches[c] & view[c];
    for (x : 0 .. K - 1) {
        if
        :: HAS(fired, x) -> reply(c, EVENT, 0, 0, x)
        :: else
        fi
    }
}

inline catch_up(c)
{
    apply(view[c], log[at[c]]);
    at[c]++;
    fire(c);
    answer_write(c)
}

/* --- what the others make of its requests ----------------------------------------------------------------------------
 */

/* A create that was under way is committed, or refused: as moved, or with the leader that had it. */
inline settle_late(c, s, committed)
{
    turn = (late[c * S + s] > 0 -> c : BESIDE(c));
    least = late[turn * S + s] - 1;
    late[turn * S + s] = 0;
    if
    :: committed ->
        printf("late: the create of contender %d is committed\n", turn);
        commit_create(TAG_OF(turn, s, least))
    :: else
    fi
}
