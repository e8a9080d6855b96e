/*
 * The chain of acknowledged requests: until when the session is known to live, on our own clock.
 *
 * An answer from a server proves little. A server that was cut off from its leader still answers pings and reads, while
 * the leader expires the session and gives its locks away. Three links prove what the leader has heard of us. Each is
 * an answer on one and the same connection:
 *
 *  - TOUCHED: any request was answered. The server we are connected to has noted us at some moment after it was sent.
 *  - CARRIED: a write or a sync, sent more than half a tick after that answer, came back through the leader. Meanwhile
 *    the leader has pinged our server. Ping and commit, or ping and sync, came to that server in order. So it had
 *    answered the ping, with the note of us in it, before it answered us.
 *  - PROVEN: a write, sent after that answer, was agreed on. It followed the note of us on the way to the leader. So
 *    the leader had the note when it took the write. And it was the leader, because a quorum agreed. No sync can say
 *    that: a deposed leader answers one alone.
 * Then the session lives for a whole timeout from the moment at which the request of the first link was SENT, whatever
 * happens to leaders: a new leader gives every session a whole timeout again. Among writes that are more than half a
 * tick apart, each is the next link of the one before, so belief rests on the third newest. A read, a sync and a write
 * are a chain as well, and only the write is logged. A leader that was stopped as a whole may answer a sync before the
 * ping that it owes, which no write can overtake, because it needs a round of the quorum. So a write after a sync waits
 * for as long as a ping may be late. Chains may overlap: each is
 * a proof on its own, whatever else is under way. doc/guarantees.md has the argument, with the places in ZooKeeper's
 * source.
 *
 * All times are of one clock that counts suspended time, in milliseconds.
 */
#ifndef PDK__CHAIN_H
#define PDK__CHAIN_H

#include <stdbool.h>
#include <stdint.h>

/* Before any time: no such moment is known. */
#define PDK__UNKNOWN_MS INT64_MIN

static inline int64_t pdk__sooner_ms(int64_t a_ms, int64_t b_ms) { return a_ms < b_ms ? a_ms : b_ms; }
static inline int64_t pdk__later_ms(int64_t a_ms, int64_t b_ms) { return a_ms > b_ms ? a_ms : b_ms; }

/* The session was noted at BASE_MS or later. The next link may be sent after KNOWN_MS: when we knew, and after a sync
 * the time for which a ping may be late besides. */
struct pdk__link {
    int64_t base_ms;
    int64_t known_ms;
};

/* Requests overlap on a slow link, so several chains are under way at a time. The newest links of each level are
 * kept, newest first. They are so far apart that together they span the gap and a round trip. */
enum { PDK__LINKS_KEPT = 16 };

struct pdk__chain {
    int64_t gap_ms;    /* half a tick and an allowance for late pings (limits.c) */
    int64_t late_ms;   /* that allowance */
    int64_t latest_ms; /* when the newest request that was answered had been sent */
    struct pdk__link touched[PDK__LINKS_KEPT];
    struct pdk__link carried[PDK__LINKS_KEPT];
    int64_t proven_ms;
};

/* Nothing is known, of any session. */
void pdk__chain_init(struct pdk__chain *chain);

/* Connected, at NOW_MS, by a session that was just created, with a request sent at SINCE_MS or later. A quorum
 * agreed to that. SINCE_MS is PDK__UNKNOWN_MS for a session that is older. */
void pdk__chain_begin(struct pdk__chain *chain, int64_t gap_ms, int64_t late_ms, int64_t since_ms);

/* Connected again: the touched links are of another server. The leader, as this server knows it, was asked about the
 * session after the last answer on the previous connection. The gap of a session that has become shorter is shorter,
 * too. */
void pdk__chain_resume(struct pdk__chain *chain, int64_t gap_ms, int64_t late_ms, int64_t now_ms);

/* How far a request came. */
enum pdk__reach {
    PDK__REACHED_SERVER, /* ours answered it, and asked no other, for all that is known */
    PDK__REACHED_LEADER, /* a sync: the answer came through the leader of our server, which may be deposed */
    PDK__REACHED_QUORUM  /* a write that was agreed on, done or refused */
};

/* A request that was sent at SENT_MS was answered, on this connection. True when more is proven now. */
bool pdk__chain_answered(struct pdk__chain *chain, int64_t sent_ms, int64_t now_ms, enum pdk__reach reach);

/* From when on a write would be the next link of a chain that no request sent by SENT_MS continues: at once if that
 * moment is past. INT64_MAX when there is no such chain; 0 when nothing is touched. */
int64_t pdk__chain_next_ms(const struct pdk__chain *chain, int64_t sent_ms);

/* From when on a write would prove more than any that was sent by SENT_MS. INT64_MAX: no link waits for it. */
int64_t pdk__chain_prove_ms(const struct pdk__chain *chain, int64_t sent_ms);

/* The moment that a sync sent at SENT_MS would carry, or that is carried or proven already, if that is later.
 * PDK__UNKNOWN_MS when there is none. */
int64_t pdk__chain_base_ms(const struct pdk__chain *chain, int64_t sent_ms);

/* From when on a sync would carry more than one that was sent at SENT_MS: the newest moment that can be carried by
 * BY_MS, or else the first that can. INT64_MAX: nothing else is touched. */
int64_t pdk__chain_carry_ms(const struct pdk__chain *chain, int64_t sent_ms, int64_t by_ms);

#endif
