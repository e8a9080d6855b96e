/*
 * The account: reports about sessions and claims for people, as reasons, incidents and lines of the log. It decides
 * nothing.
 *
 * All with the client's lock held.
 */
#ifndef PDK__ACCOUNT_H
#define PDK__ACCOUNT_H

#include "lib/core/contender.h"
#include "lib/zk/client.h"

struct pdk__claim;

enum { PDK__REASON_MAX = 320 };

/* The place of a claim in the queue, by its last listing. */
struct pdk__standing {
    bool known;                /* the place; only while it has a node */
    bool strangers;            /* a contender of another recipe was seen, and reported */
    size_t ahead;              /* contenders before it; of a claim that only looks, all of them */
    char holder[128];          /* the name of the first one's node */
    char who[192];             /* the owner of the node directly ahead, by its data */
    char why[PDK__REASON_MAX]; /* why it was lost, failed, or could not be released; "" */
    uint64_t slow_link;        /* the connection that was reported as too slow last; 0: none */
};

/* The session machine has taken EVENT, from BEFORE, and gave ACTIONS. */
void pdk__account_session(struct pdk_client *c, enum pdk__session_phase before, const struct pdk__session_event *event,
                          const struct pdk__session_actions *actions);

/* The contender of CLAIM has taken EVENT, from BEFORE, and gave ACTIONS, which are still to be carried out. */
void pdk__account_claim(struct pdk__claim *claim, enum pdk__phase before, const struct pdk__event *event,
                        const struct pdk__actions *actions);

/* The link is too slow for the session (c->unfit): warn of it, once per connection, if CLAIM waits. */
void pdk__account_link(struct pdk__claim *claim);

/* The node directly ahead of CLAIM was read. */
void pdk__account_predecessor(struct pdk__claim *claim, const char *who);

/* The owner of a contender's node by its DATA: "db7 pid 4711 (nightly)", or "". Needs no lock. */
void pdk__account_owner(char *buf, size_t size, const char *data, int length);

/* A write for the chain was answered: the delete of NODE; with NODE NULL, another write. */
void pdk__account_renewal(struct pdk_client *c, const char *node, int zrc);

/* The client's knowledge of a failure with RC beyond its code; "" when there is none. */
void pdk__account_error(struct pdk_client *c, int rc, char *buf, size_t size);

/* The state of the connection: "connected to 127.0.0.1:2181", "no server reached for 2000 ms (last: connection
 * refused by 127.0.0.1:2181)". */
void pdk__account_connection(struct pdk_client *c, char *buf, size_t size);

/* How many contenders are ahead of CLAIM by the last listing of its node; -1 before there was one. */
int64_t pdk__account_ahead(const struct pdk__claim *claim);

/* The cause of CLAIM's wait: the text of pdk__account_connection() when there is no connection, else its place in
 * the queue. */
void pdk__account_situation(struct pdk__claim *claim, char *buf, size_t size);

#endif
