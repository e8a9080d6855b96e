/*
 * The window: how much contenders have asked for, and the servers have not answered. They answer a session in the order
 * of its requests, so what proves the session waits for all that was asked before it. A program that asks for five
 * thousand locks at once must not lose one that it holds. So creates and deletes, with which a contender begins and
 * ends, wait while the window is closed. The questions in between are few for each, and do not wait; nor do renewals.
 *
 * All with the client's lock held.
 */
#ifndef PDK__WINDOW_H
#define PDK__WINDOW_H

#include "lib/zk/client.h"

/* A small question counts once. That is some tens of milliseconds of the servers' time, and 256 round trips' worth. */
enum { PDK__WINDOW_MAX = 256 };

/* A request that waits: in its claim. */
struct pdk__window_entry {
    struct pdk__list link;
    void (*send)(struct pdk__window_entry *entry); /* its turn has come */
};

void pdk__window_init(struct pdk_client *c);

/* May a contender send, or must it wait behind others? */
bool pdk__window_open(const struct pdk_client *c);

/* Deletes are sent first: others wait for them. An entry that waits already gets a new place. */
void pdk__window_wait(struct pdk_client *c, struct pdk__window_entry *entry, bool deletes);

/* A question of this weight is under way; it is answered, or is forgotten. */
void pdk__window_asked(struct pdk_client *c, unsigned weight);
void pdk__window_answered(struct pdk_client *c, unsigned weight);

#endif
