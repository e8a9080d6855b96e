/*
 * The laws. Each knows only what can be observed: what callers were told and when, and what the ensemble committed. A
 * law has a file of its own, and keeps its books there.
 */
#ifndef SIM_LAWS_H
#define SIM_LAWS_H

#include "test/sim/world.h"

/* Any may be NULL. */
struct law {
    const char *name;
    void (*begin)(struct world *w);
    void (*granted)(struct world *w, const struct claim *claim);
    void (*told)(struct world *w, const struct claim *claim, enum pdk__action_kind what);  /* before `granted` */
    void (*committed)(struct world *w, const struct txn *txn);                             /* after it applied */
    void (*expiring)(struct world *w, const struct server *leader, session_index session); /* its end is decided */
    void (*deleting)(struct world *w, int path, const struct node *node);                  /* before it is */
    void (*hearing)(struct world *w, const struct client *c,
                    const struct answer *event);               /* a watch event, before it acts */
    void (*received)(struct world *w, const struct client *c); /* a reply or an event, after it acted */
    void (*rang)(struct world *w, const struct client *c);     /* its clock has woken it, and it has acted */
    void (*finished)(struct world *w); /* all is healed, everybody done, dead sessions expired */
};

extern const struct law law_exclusion, law_belief, law_tokens, law_order, law_completion, law_nodes, law_watches,
    law_herd, law_presence, law_service, law_steady, law_delay;

/* All of them, NULL-terminated. */
extern const struct law *const laws[];

#endif
