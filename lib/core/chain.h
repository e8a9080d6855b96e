/*
 * The chain of acknowledged writes: until when the session is known to live, on our own clock.
 *
 * An answer from a server proves little. A server that was cut off from its leader still answers pings and reads, while
 * the leader expires the session and gives its locks away. Three links prove what the leader has heard of us. Each is
 * an answer on one and the same connection:
 *
 *  - TOUCHED: any request was answered. The server we are connected to has noted us at some moment after it was sent.
 *  - CARRIED: a write, sent more than half a tick after that answer, was agreed on by a quorum. Meanwhile the leader
 *    has pinged our server. Ping and commit came to that server in order. So it had answered the ping, with the note of
 *    us in it, before it answered us.
 *  - PROVEN: a write, sent after that answer, was agreed on. It followed the note of us on the way to the leader. So
 *    the leader had the note when it took the write. And it was the leader, because a quorum agreed.
 * Then the session lives for a whole timeout from the moment at which the request of the first link was SENT, whatever
 * happens to leaders: a new leader gives every session a whole timeout again. Among writes that are more than half a
 * tick apart, each is the next link of the one before, so belief rests on the third newest. Chains may overlap: each is
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

/* The session was noted at BASE_MS or later; we have known it since KNOWN_MS. */
struct pdk__link {
    int64_t base_ms;
    int64_t known_ms;
};

/* Requests overlap on a slow link, so several chains are under way at a time. The newest links of each level are
 * kept, newest first. They are so far apart that together they span the gap and a round trip. */
enum { PDK__LINKS_KEPT = 16 };

struct pdk__chain {
    int64_t gap_ms;    /* half a tick and an allowance for late pings (limits.c) */
    int64_t latest_ms; /* when the newest request that was answered had been sent */
    struct pdk__link touched[PDK__LINKS_KEPT];
    struct pdk__link carried[PDK__LINKS_KEPT];
    int64_t proven_ms;
};

/* Nothing is known, of any session. */
void pdk__chain_init(struct pdk__chain *chain);

/* Connected, at NOW_MS, by a session that was just created, with a request sent at SINCE_MS or later. A quorum
 * agreed to that. SINCE_MS is PDK__UNKNOWN_MS for a session that is older. */
void pdk__chain_begin(struct pdk__chain *chain, int64_t gap_ms, int64_t since_ms);

/* Connected again: the touched links are of another server. The leader, as this server knows it, was asked about the
 * session after the last answer on the previous connection. The gap of a session that has become shorter is shorter,
 * too. */
void pdk__chain_resume(struct pdk__chain *chain, int64_t gap_ms, int64_t now_ms);

/* A request that was sent at SENT_MS was answered, on this connection. AGREED: by a quorum. True when more is proven
 * now. */
bool pdk__chain_answered(struct pdk__chain *chain, int64_t sent_ms, int64_t now_ms, bool agreed);

/* From when on a write would be the next link of a chain that no request sent by SENT_MS continues: at once if that
 * moment is past. INT64_MAX when there is no such chain; 0 when nothing is touched. */
int64_t pdk__chain_next_ms(const struct pdk__chain *chain, int64_t sent_ms);

#endif
