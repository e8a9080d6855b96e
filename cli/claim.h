/*
 * A claim: one lock, requested, held and released from a poll() loop; or a leadership, term by term.
 *
 *                      ┌─ again ──┐
 *   CONNECTING ──► WAITING ──► HELD ──► LEAVING ──► ENDED
 *        └────────────┴── leave, or it failed ───────┘
 *
 * pdk__cli_claim_step() moves it on when its descriptor is readable or its deadline has come; the owner of the loop
 * compares the phase, and the state of the grant, with what it saw before. Only pdk__cli_claim_close() may block.
 */
#ifndef PDK_CLI_CLAIM_H
#define PDK_CLI_CLAIM_H

#include "cli/incident.h"
#include "cli/opening.h"
#include "cli/options.h"

#include <paddock/leader.h>
#include <paddock/mutex.h>

enum pdk__cli_phase { CLAIM_CONNECTING, CLAIM_WAITING, CLAIM_HELD, CLAIM_LEAVING, CLAIM_ENDED };

struct pdk__cli_claim {
    const struct pdk__cli_options *options;
    struct pdk__cli_opening *opening; /* of the client, until there is one */
    pdk_client *client;
    pdk_mutex *mutex;
    pdk_op *op;
    pdk_leader *leader;    /* instead of the two */
    int64_t token;         /* of its term */
    int64_t revoked_token; /* of the last term with a revocation request */
    bool resigning;
    enum pdk__cli_phase phase;
    pdk_state state; /* of the grant */
    bool lost;       /* it was lost, at some time */
    bool revoked;    /* a client asks for it */
    int64_t began_ms;
    int64_t deadline; /* of CONNECTING, or of a rest; -1 otherwise: the library enforces the other limits */
    int rc;           /* the reason when it was never held; 0 when it was held */
    char why[256];    /* the incident */
};

/* Start. A claim that failed at once is ENDED. */
void pdk__cli_claim_begin(struct pdk__cli_claim *c, const struct pdk__cli_options *o);

/* The descriptor to poll for reading; -1 when there is none. */
int pdk__cli_claim_fd(const struct pdk__cli_claim *c);

/* Run the callbacks that wait, and check the deadline. */
void pdk__cli_claim_step(struct pdk__cli_claim *c);

/* Give up, or release. The claim becomes ENDED, at once or later. */
void pdk__cli_claim_leave(struct pdk__cli_claim *c);

/* Of a leadership: the term is over for its owner, too. Give up the rest of it, and after REST_MS become a candidate
 * again. */
void pdk__cli_claim_again(struct pdk__cli_claim *c, int64_t rest_ms);

/* The token and the node's name of the grant that is HELD. */
void pdk__cli_claim_grant(const struct pdk__cli_claim *c, int64_t *token, char *node, size_t size);

/* For how long the grant may be believed in. */
int64_t pdk__cli_claim_valid_ms(const struct pdk__cli_claim *c);

/* End the session. Blocks while the servers are notified, at most some seconds when they do not answer. */
void pdk__cli_claim_close(struct pdk__cli_claim *c);

/* The exit status for a claim that ended. When it is not 0, TEXT is the reason, or empty when no message is needed. */
int pdk__cli_claim_status(const struct pdk__cli_claim *c, char text[PDK__CLI_INCIDENT]);

/* For candidacy.c: it has ended, without or with an incident. */
void pdk__cli_claim_ended(struct pdk__cli_claim *c);
void pdk__cli_claim_end(struct pdk__cli_claim *c, int rc);

#endif
