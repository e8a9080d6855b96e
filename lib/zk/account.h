/*
 * The account: reports about the session for people, as reasons, incidents and lines of the log. It decides nothing.
 * standing.h has those about a contender.
 *
 * All with the client's lock held.
 */
#ifndef PDK__ACCOUNT_H
#define PDK__ACCOUNT_H

#include "lib/zk/client.h"

enum { PDK__REASON_MAX = 320 };

/* The session machine has taken EVENT, from BEFORE, and gave ACTIONS. */
void pdk__account_session(struct pdk_client *c, enum pdk__session_phase before, const struct pdk__session_event *event,
                          const struct pdk__session_actions *actions);

/* A write for the chain was answered: the delete of NODE; with NODE NULL, another write. */
void pdk__account_renewal(struct pdk_client *c, const char *node, int zrc);

/* REASON without the leading words for RC, which an incident has before it. */
const char *pdk__account_beyond(const char *reason, int rc);

/* The client's knowledge of a failure with RC beyond its code; "" when there is none. */
void pdk__account_error(struct pdk_client *c, int rc, char *buf, size_t size);

/* The state of the connection: "connected to 127.0.0.1:2181", "no server reached for 2000 ms (last: connection
 * refused by 127.0.0.1:2181)". */
void pdk__account_connection(struct pdk_client *c, char *buf, size_t size);

/* The time that is left until no holder may believe any more; 0, too, before the session is proven to live. */
int64_t pdk__account_left_ms(const struct pdk_client *c, int64_t now_ms);

/* A call on the client ends, with RC: note for the calling thread why it failed, or that it did not. Returns RC. */
int pdk__client_end(struct pdk_client *c, const char *verb, const char *subject, int rc);

/* It fails, for the reason WHY. */
int pdk__client_explain(struct pdk_client *c, const char *verb, const char *subject, int rc, const char *why);

/* Note a failure that came without a call. */
void pdk__client_incident(struct pdk_client *c, const char *verb, const char *subject, int rc);

/* Connected, and no grant is possible: the link is too slow for the session. BUF gets the message, with the numbers. */
bool pdk__client_unfit(const struct pdk_client *c, char *buf, size_t size);

#endif
