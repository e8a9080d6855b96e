/*
 * A part of a hold: one node on the servers, from its request until nothing of it is left. The hold (hold.h) leads it
 * from stage to stage. Here is what is told of it.
 */
#ifndef PDK__PART_H
#define PDK__PART_H

#include "lib/zk/claim.h"
#include "recipes/object.h"

/* Of a part, and of the hold. */
enum pdk__hold_stage {
    PDK__HOLD_IDLE,     /* was never requested */
    PDK__HOLD_PENDING,  /* contends */
    PDK__HOLD_GRANTED,  /* held; the machine knows whether it is suspect */
    PDK__HOLD_LOST,     /* was held; its owner has not released it yet */
    PDK__HOLD_RELEASED, /* its node may not be deleted yet */
    PDK__HOLD_FAILED,   /* never held */
    PDK__HOLD_N_STAGES
};

/* A recipe's verbs in incidents. */
struct pdk__verbs {
    const char *acquire, *attempt, *keep, *release; /* "lock", "trylock", "hold", "unlock" */
    bool names_path;                                /* an incident names the part's path, not the object's */
};

struct pdk__part {
    struct pdk__claim claim;
    struct pdk__hold *hold;
    struct pdk__object *object;
    const struct pdk__verbs *verbs;
    const char *path; /* of the lock; borrowed */
    enum pdk__hold_stage stage;
    bool at_work; /* the claim: something may be left on the servers */
    bool spent;   /* the numbers of its path are used up: the next node is made when that is renewed */
    bool suspect;
    bool revoked;             /* before the hold was granted */
    int result;               /* why it failed, or 0 */
    int64_t token;            /* of the last grant */
    char node[PDK__NAME_MAX]; /* of the last grant */
    struct pdk__text why;     /* why it failed, was lost, or could not be released, beyond the code */
    const char *lent;         /* the path of that node, once it was lent; owned by the object */
    int64_t began_ms, waited_ms;
};

/* All with the client's lock held. */

/* It is not at work: free its texts. */
void pdk__part_clear(struct pdk__part *part);

/* It failed, was lost, or could not be released, with RC: keep the reason. The claim's next request will soon overwrite
 * its own. */
void pdk__part_keep_reason(struct pdk__part *part, int rc);

/* Note in the object a failure that came without a call, with that reason. */
void pdk__part_incident(struct pdk__part *part, const char *verb, int rc);

/* The calling thread's call fails with RC, which is returned. Notes that reason. */
int pdk__part_blame(const struct pdk__part *part, const char *verb, int rc);

/* It is granted beside contenders of another recipe: an incident, if so. */
void pdk__part_note_misfit(struct pdk__part *part);

/* The node of a failed request may stay on the servers: the incident of the failure includes that. */
void pdk__part_note_leftover(struct pdk__part *part);

/* It does not go on, for the reason WHY. */
void pdk__part_note_hindrance(struct pdk__part *part, const char *why);

/* Fill CHECK: the node of its grant exists. PDK_ENOMEM. */
int pdk__part_guard(struct pdk__part *part, struct zoo_op *check);

#endif
