/*
 * A bundle: several holds that count as one, from the request until nothing of them is left on the servers. A permit
 * of a semaphore is one, and so is a grant of a multi-lock.
 *
 *     PENDING --all parts granted--> GRANTED --one is lost--> LOST
 *        |  ^                           |                       |
 *        |  `- gate or part lost        `-----------------------+-- released
 *        |     meanwhile: all again                             v
 *        `------------ no longer wanted, or refused --------> ENDED
 *
 * Two requests must never each wait for what the other has. There are three ways to that:
 *  - A gate, by the rule of a mutex: its holder alone makes parts and waits. It leaves the gate once its parts are
 *    granted.
 *  - One transaction makes the nodes of all parts (lib/zk/batch.h), so all queues have them in one order.
 *  - A try takes what is free, and never waits.
 *
 * It is counted: by its handle, by its caller, by each hold in use, and by a queued callback.
 */
#ifndef PDK__BUNDLE_H
#define PDK__BUNDLE_H

#include "lib/zk/batch.h"
#include "recipes/grant.h"
#include "recipes/hold.h"
#include "recipes/node_data.h"

enum pdk__bundle_stage {
    PDK__BUNDLE_PENDING,
    PDK__BUNDLE_GRANTED,
    PDK__BUNDLE_LOST,
    PDK__BUNDLE_ENDED, /* released, given up or refused */
    PDK__BUNDLE_N_STAGES
};

struct pdk__bundle;

/* One hold of it. */
struct pdk__part {
    struct pdk__hold hold;
    struct pdk__bundle *bundle;
    bool suspect;
    bool revoked; /* before the whole was granted */
};

/* How a recipe uses it. */
struct pdk__bundle_kind {
    size_t size;                          /* of the recipe's structure, which begins with the bundle */
    const char *acquire, *keep, *release; /* its verbs in incidents */
    bool names_path;                      /* an incident names the part's path, not the object's */
};

struct pdk__bundle_spec {
    const struct pdk__bundle_kind *kind;
    struct pdk__object *object;
    struct pdk__list *handles; /* of the recipe: the bundle joins it until it is dropped */
    const struct pdk__node_options *options;
    const struct pdk__rule *rule;
    const char *gate;         /* the path of the gate, NULL: none */
    const char *path;         /* of all parts */
    const char *const *paths; /* or one for each, in one transaction; the other is NULL */
    unsigned n;
    bool try_only;
    int64_t deadline_ms;
    pdk_lock_cb cb; /* NULL: a thread waits */
    void *arg;
};

struct pdk__bundle {
    struct pdk__list link;
    struct pdk__bundle_spec spec; /* what it names is borrowed, and lives as long as the object */
    unsigned refs;
    enum pdk__bundle_stage stage;
    struct pdk__deferred deferred; /* what follows from the reports of its holds */
    bool again;                    /* when its holds are at rest, it begins again */
    int result;                    /* why it has ended without a grant, or 0 */
    char why[PDK__REASON_MAX];     /* beyond the code, where it was refused; or "" */
    int64_t token;
    bool suspect;
    int64_t began_ms, granted_ms;
    char *data;
    size_t data_size;
    pthread_cond_t moved; /* to another stage */

    bool answered; /* the callback was told, or is about to be */
    struct pdk__callback completed;

    pdk_lock_cb released_cb;
    void *released_arg;
    int released_rc;
    unsigned n_releasing; /* parts whose release is still to be reported */

    struct pdk__hold_kind gate_kind, part_kind;
    struct pdk__batch batch;
    struct pdk__part *parts; /* spec.n, and the gate after them */
};

/* All with the client's lock held. */

/* A request. The caller and the handle have a reference each. PDK_ENOMEM, or as pdk__hold_start(). */
int pdk__bundle_request(struct pdk__bundle **out, const struct pdk__bundle_spec *spec);

void pdk__bundle_ref(struct pdk__bundle *b);
void pdk__bundle_unref(struct pdk__bundle *b);

/* Wait until it is granted or has ended, or until its deadline. A thread that is cancelled meanwhile drops it. Returns
 * the outcome; PDK_ELOST: the grant is over already. */
int pdk__bundle_await(struct pdk__bundle *b);

/* A request that waits fails with PDK_ECANCELED. */
void pdk__bundle_cancel(struct pdk__bundle *b);

/* It is no longer wanted. Its handle ends. */
void pdk__bundle_drop(struct pdk__bundle *b);

/* If it is pending, it ends with RC, for the reason WHY. It keeps its handle. */
void pdk__bundle_refuse(struct pdk__bundle *b, int rc, const char *why);

/* The limit has changed. */
void pdk__bundle_judge_again(struct pdk__bundle *b);

/* It is granted: release it, and drop it. Waits until nothing is left, for one session timeout at most, unless the
 * options say otherwise. Returns the outcome of the release. */
int pdk__bundle_give_away(struct pdk__bundle *b);

/* Before the drop of one that is granted: CB (may be NULL) is to be called with the outcome. */
void pdk__bundle_expect(struct pdk__bundle *b, pdk_lock_cb cb, void *arg);

/* The calling thread's call fails with RC, which is returned: by the hold that has the reason. */
int pdk__bundle_blame(const struct pdk__bundle *b, const char *verb, int rc);

/* Was it granted, and not released? */
static inline bool pdk__bundle_owned(const struct pdk__bundle *b)
{
    return b->stage == PDK__BUNDLE_GRANTED || b->stage == PDK__BUNDLE_LOST;
}

/* The user's handle of one, by recipe. */
extern const struct pdk__grant_kind pdk__bundle_permits, pdk__bundle_paths;

pdk_state pdk__bundle_state(const struct pdk__bundle *b);
int64_t pdk__bundle_valid_ms(const struct pdk__bundle *b);

#endif
