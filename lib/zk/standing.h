/*
 * The standing of a contender, for people: its place in the queue, why it waits, why it was lost; and its lines of the
 * log. It decides nothing.
 *
 * All with the client's lock held.
 */
#ifndef PDK__STANDING_H
#define PDK__STANDING_H

#include "lib/core/contender.h"
#include "lib/core/name.h"
#include "lib/text.h"
#include "lib/zk/account.h"

/* The place of a claim in the queue, by its last listing, and what became of it. LIBRARY is that of the contender
 * directly ahead, by its name; NULL: none is ahead. */
struct pdk__standing {
    struct pdk_client *client;
    const char *path; /* of the lock */
    const struct pdk__contender *machine;
    bool known;              /* the place; only while it has a node */
    bool parts;              /* the path has those of a semaphore; only while it has a node */
    bool strangers;          /* a contender of another recipe was seen, and reported */
    size_t ahead;            /* contenders before it; of a claim that only looks, all of them */
    struct pdk__text holder; /* the name of the first one's node, and what it is if that is not plain */
    const struct pdk__library *library;
    struct pdk__text who;    /* the owner of the node directly ahead, by its data */
    struct pdk__text misfit; /* a contender of another recipe on the path, in words; "" */
    struct pdk__text why;    /* why it was lost, failed, or could not be released; "" */
    pdk_loss loss;           /* why it was lost, for programs */
    int parents_code;        /* the servers' last answer to the creation of the lock path */
    uint64_t slow_link;      /* the connection that was reported as too slow last; 0: none */
};

/* MACHINE, which contends for PATH, has taken EVENT, from BEFORE, and gave ACTIONS, which are still to be carried
 * out. */
void pdk__standing_step(struct pdk__standing *s, enum pdk__phase before, const struct pdk__event *event,
                        const struct pdk__actions *actions);

/* The link is too slow for the session (c->told.unfit): log it, once per connection, if the contender waits. True if it
 * was logged; WHY gets the reason. */
bool pdk__standing_slow(struct pdk__standing *s, char why[PDK__REASON_MAX]);

/* The node directly ahead was read; OWNER is its owner. */
void pdk__standing_predecessor(struct pdk__standing *s, const char *owner);

/* The owner of a contender's node by its DATA: "db7 pid 4711 (nightly)", or "". Needs no lock. */
void pdk__standing_owner(char *buf, size_t size, const char *data, int length);

/* In words: NODE is of another recipe than those beside it. */
void pdk__standing_describe_misfit(const char *node, char *buf, size_t size);

/* Free its texts. */
void pdk__standing_clear(struct pdk__standing *s);

/* How many contenders are ahead by the last listing of its node; -1 before there was one. */
int64_t pdk__standing_ahead(const struct pdk__standing *s);

/* The cause of its wait: the text of pdk__account_connection() when there is no connection, else its place in the
 * queue. */
void pdk__standing_situation(struct pdk__standing *s, char *buf, size_t size);

#endif
