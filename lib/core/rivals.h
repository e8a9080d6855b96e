/*
 * The rivals of a holder whose lock no caller uses: contenders of its path that its node blocks, or could (rule.h). A
 * holder that keeps its node in case a caller comes back must not keep it from them. A reader's rivals are writers.
 *
 * It lists and watches the children of the path, once, when it first has no user. While it holds alone, children only
 * come with a contender, and go with the own node. So the first change is reported as a rival, without another listing.
 * The report may be wrong, and never comes too late. With the connection the watch is forgotten. It needs no removal:
 * the deletion of the own node sets it off.
 *
 * Beside a reader other readers come and go. So after a change it lists again, if it has no user; otherwise when it
 * next has none. After PDK__RIVALS_LOOKS listings in vain since its last use it counts as contended for: keeping the
 * node has cost more than a lock would have.
 */
#ifndef PDK__RIVALS_H
#define PDK__RIVALS_H

#include "lib/core/event.h"
#include "lib/core/rule.h"

enum pdk__rivals_state {
    PDK__RIVALS_UNKNOWN, /* not asked for, or changed since */
    PDK__RIVALS_ASKED,
    PDK__RIVALS_NONE, /* and the watch is set */
    PDK__RIVALS_SEEN  /* or it cannot be known */
};

enum { PDK__RIVALS_LOOKS = 4 };

/* The meaning of a change for the holder. */
enum pdk__rivals_news { PDK__RIVALS_NOTHING, PDK__RIVALS_LOOK, PDK__RIVALS_CONTENDED };

struct pdk__rivals {
    enum pdk__rivals_state state;
    uint64_t op;      /* of the listing */
    bool idle;        /* no caller uses the lock. Kept where its rule shares it */
    unsigned n_looks; /* listings after a change, since the last use */
};

/* The answer to the listing. OWN is the name of our node. Is there a rival, of which we did not know? */
bool pdk__rivals_listed(struct pdk__rivals *rivals, const struct pdk__rule *rule, const struct pdk__event *ev,
                        const char *own);

/* The watch of the listing has fired. */
enum pdk__rivals_news pdk__rivals_fired(struct pdk__rivals *rivals, const struct pdk__rule *rule);

/* A caller uses the lock again. */
void pdk__rivals_used(struct pdk__rivals *rivals);

/* The connection is lost. */
void pdk__rivals_forget(struct pdk__rivals *rivals);

#endif
