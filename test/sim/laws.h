/*
 * The laws. A law sees only what can be observed: the notifications of callers with their times, and the commits of the
 * ensemble. Each law has a file of its own, with its state.
 */
#ifndef SIM_LAWS_H
#define SIM_LAWS_H

#include "test/sim/world.h"

/* Any of the functions may be NULL. */
struct law {
    const char *name;
    void (*begin)(struct world *w);
    void (*granted)(struct world *w, const struct claim *claim);
    void (*told)(struct world *w, const struct claim *claim, enum pdk__action_kind what);  /* before `granted` */
    void (*committed)(struct world *w, const struct txn *txn);                             /* after it applied */
    void (*expiring)(struct world *w, const struct server *leader, session_index session); /* its end is decided */
    void (*deleting)(struct world *w, int path, const struct node *node);                  /* before the deletion */
    void (*hearing)(struct world *w, const struct client *c,
                    const struct answer *event);               /* a watch event, before it acts */
    void (*received)(struct world *w, const struct client *c); /* a reply or an event, after it acted */
    void (*rang)(struct world *w, const struct client *c);     /* its timer has fired, and it has acted */
    void (*finished)(struct world *w); /* all faults healed, all clients done, dead sessions expired */
};

extern const struct law law_exclusion, law_belief, law_tokens, law_order, law_completion, law_nodes, law_watches,
    law_herd, law_presence, law_service, law_steady, law_delay;

/* All of them, NULL-terminated. */
extern const struct law *const laws[];

#endif
