/*
 * The chain of acknowledged writes: until when the session is known to live, on our own clock.
 *
 * That a server answers proves little: one that was cut off from its leader goes on answering pings and reads, while the
 * leader expires the session and gives its locks away. What the leader has heard of us is proven in three links, each an
 * answer on one and the same connection:
 *
 *  - TOUCHED: any request was answered. The server we are attached to has noted us at some moment after it was sent.
 *  - CARRIED: a write, sent more than half a tick after that answer, was agreed on by a quorum. Meanwhile the leader has
 *    pinged our server; ping and commit came to it in order, so it had answered the ping, with the note of us in it,
 *    before it answered us.
 *  - PROVEN: a write, sent after that answer, was agreed on. It followed the note of us on the way to the leader; so the
 *    leader had the note when it took the write, and it was the leader, for a quorum agreed.
 *
 * Then the session lives for a whole timeout from the moment in which the request of the first link was SENT, whatever
 * happens to leaders: a later one gives every session a whole timeout anew. Of writes that are more than half a tick
 * apart each is the next link of the one before: belief rests on the third newest. Chains may overlap: each is a proof
 * by itself, whatever else is under way. doc/guarantees.md has the argument, with the places in ZooKeeper's source.
 *
 * All times are of one clock that counts suspended time, in milliseconds.
 */
#ifndef PDK__CHAIN_H
#define PDK__CHAIN_H

#include <stdbool.h>
#include <stdint.h>

/* Before any time: nothing of the kind is known. */
#define PDK__UNKNOWN_MS INT64_MIN

/* Noted at a moment not before BASE_MS; and we know it since KNOWN_MS. */
struct pdk__link {
    int64_t base_ms;
    int64_t known_ms;
};

/* Requests overlap on a slow link, so several chains are under way at a time. Of each level the newest links are kept,
 * newest first, so far apart that together they span the gap and a round trip. */
enum { PDK__LINKS_KEPT = 16 };

struct pdk__chain {
    int64_t gap_ms;    /* a little more than half a tick */
    int64_t latest_ms; /* when the newest request that was answered had been sent */
    struct pdk__link touched[PDK__LINKS_KEPT];
    struct pdk__link carried[PDK__LINKS_KEPT];
    int64_t proven_ms;
};

/* Nothing is known, of no session. */
void pdk__chain_init(struct pdk__chain *chain);

/* Connected, at NOW_MS, by a session that was made just now, with a request sent not before SINCE_MS. A quorum agreed to
 * that. SINCE_MS is PDK__UNKNOWN_MS for a session that is older. */
void pdk__chain_begin(struct pdk__chain *chain, int64_t gap_ms, int64_t since_ms);

/* Connected again: what was touched is of another server. The leader, as this one knows it, was asked about the session,
 * after the last answer had come on the connection before. */
void pdk__chain_resume(struct pdk__chain *chain, int64_t now_ms);

/* A request that had been sent at SENT_MS was answered, on this connection. AGREED: by a quorum. True when more is proven
 * now. */
bool pdk__chain_answered(struct pdk__chain *chain, int64_t sent_ms, int64_t now_ms, bool agreed);

/* From when on a write would be the next link of a chain that no request sent by SENT_MS continues: at once if that is
 * past. INT64_MAX when there is no such chain; 0 when nothing is touched. */
int64_t pdk__chain_next_ms(const struct pdk__chain *chain, int64_t sent_ms);

#endif
