/*
 * The phases of an acquisition (acquisition.h): of a lock, or of a leadership (candidacy.h), term by term.
 */
#ifndef PDK_CLI_PHASE_H
#define PDK_CLI_PHASE_H

#include "cli/opener.h"
#include "cli/options.h"
#include "cli/run/once.h"
#include "cli/run/recipe.h"

#include <paddock/leader.h>

enum pdk__cli_phase { PHASE_CONNECTING, PHASE_WAITING, PHASE_HELD, PHASE_LEAVING, PHASE_ENDED };

struct pdk__cli_acquisition {
    const struct pdk__cli_options *options;
    struct pdk__cli_opener *opener; /* of the client, until there is one */
    pdk_client *client;
    const struct pdk__cli_recipe *recipe;
    struct pdk__cli_object lock;
    struct pdk__cli_once once;
    pdk_leader *leader;    /* instead of the lock */
    int64_t token;         /* of its term */
    int64_t revoked_token; /* of the last term with a revocation request */
    int64_t lost_token;    /* of the term that was last lost */
    int64_t left_token;    /* of the term that was left; 0: none */
    bool resigning;
    enum pdk__cli_phase phase;
    pdk_state state; /* of the grant */
    bool lost;       /* it was lost, at some time */
    bool revoked;    /* a client asks for it */
    bool granted;    /* the lock of a job, which may not be begun */
    int64_t began_ms;
    int64_t deadline; /* of CONNECTING, of a pause, or of the next try of a call; -1 otherwise: the library enforces the
                         other limits */
    int rc;           /* the reason when it was never held; 0 when it was held */
    char why[256];    /* the incident */
};

/* It moves, as the diagram allows. */
void pdk__cli_phase_move(struct pdk__cli_acquisition *c, enum pdk__cli_phase phase);

/* It becomes ENDED, for the reason RC, with an incident. */
void pdk__cli_phase_end(struct pdk__cli_acquisition *c, int rc);

#endif
