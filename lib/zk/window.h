/*
 * The window: how much contenders have asked for, and the servers have not answered. They answer a session in the order
 * of its requests, so what proves the session waits for all that was asked before it. A program that asks for five
 * thousand locks at once must not lose one that it holds. So creates and deletes, with which a contender begins and
 * ends, wait while the window is closed. The reads in between are few for each, and do not wait; nor do renewals.
 *
 * All with the client's lock held.
 */
#ifndef PDK__WINDOW_H
#define PDK__WINDOW_H

#include "lib/zk/client.h"

/* The weight of what may be under way: of a write 1, of a listing at least 1, and of a small read nothing. The window
 * is small at first, and grows with each answer that comes in time: within a LATE_PART of the session timeout beyond
 * the round trip, or twice that part. An answer that is late makes it smaller. */
enum { PDK__WINDOW_FIRST = 32, PDK__WINDOW_MIN = 16, PDK__WINDOW_MAX = 256, PDK__WINDOW_LATE_PART = 20 };

/* A request that waits: in its agent. */
struct pdk__window_entry {
    struct pdk__list link;
    void (*send)(struct pdk__window_entry *entry); /* its turn has come */
};

void pdk__window_init(struct pdk_client *c);

/* May a contender send, or must it wait behind others? */
bool pdk__window_open(const struct pdk_client *c);

/* Urgent ones are sent first. An entry that waits already gets a new place. */
void pdk__window_wait(struct pdk_client *c, struct pdk__window_entry *entry, bool urgent);

/* A question of this weight is under way; it is answered, or forgotten, MS later. */
void pdk__window_asked(struct pdk_client *c, unsigned weight);
void pdk__window_answered(struct pdk_client *c, unsigned weight, int64_t ms);

#endif
