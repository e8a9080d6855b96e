/*
 * The phases of a contender: which may follow which, and the invariants of each. The diagram is in contender.h.
 */
#ifndef PDK__PHASE_H
#define PDK__PHASE_H

#include <stdbool.h>

struct pdk__contender;

enum pdk__phase {
    PDK__IDLE,
    PDK__DISCONNECTED,
    PDK__BACKOFF,
    PDK__LOOKING,
    PDK__CREATING,
    PDK__RECOVERING,
    PDK__IDENTIFYING,
    PDK__LISTING,
    PDK__WATCHING,
    PDK__WAITING,
    PDK__VERIFYING_NODE,
    PDK__READING_HOLDER,
    PDK__DELAYED,
    PDK__WRITING_HOLDER,
    PDK__CONFIRMING,
    PDK__AWAITING_LEASE,
    PDK__HELD,
    PDK__SUSPECT,
    PDK__DELETING,
    PDK__DONE,
    PDK__N_PHASES
};

/* The phase's name, for traces and logs. */
const char *pdk__phase_name(enum pdk__phase phase);

/* Has it been granted, and neither lost nor released? */
bool pdk__phase_grants(enum pdk__phase phase);

/* Is no contender ahead, and is it not granted yet? */
bool pdk__phase_first(enum pdk__phase phase);

/* Does it go on waiting without a connection? It watches a node: ZooKeeper's client sets that watch again on the next
 * one, and the server sends the event of a node that is not there. By exists it may not come; nor does the event of a
 * change in the children, where the client has seen a later transaction. */
bool pdk__phase_keeps_watch(const struct pdk__contender *c);

/* After every step: abort if C is in a state that cannot exist, or came from the state BEFORE by a move that does
 * not exist. */
void pdk__phase_check(const struct pdk__contender *c, const struct pdk__contender *before);

#endif
