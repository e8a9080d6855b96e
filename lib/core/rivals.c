#include "lib/core/rivals.h"
#include "lib/assert.h"
#include <string.h>

static bool without_rival(const struct pdk__rule *rule, const struct pdk__event *ev, const char *own)
{
    for (size_t i = 0; i < ev->n_children; i++)
        if (strcmp(ev->children[i], own) != 0 && pdk__rule_rival(rule, ev->children[i]))
            return false;
    return true;
}

bool pdk__rivals_listed(struct pdk__rivals *rivals, const struct pdk__rule *rule, const struct pdk__event *ev,
                        const char *own)
{
    if (rivals->state != PDK__RIVALS_ASKED)
        return false; /* its watch has fired already */
    bool none = ev->outcome == PDK__OK && without_rival(rule, ev, own);
    rivals->state = none ? PDK__RIVALS_NONE : PDK__RIVALS_SEEN;
    return !none;
}

enum pdk__rivals_news pdk__rivals_fired(struct pdk__rivals *rivals, const struct pdk__rule *rule)
{
    if (rivals->state != PDK__RIVALS_ASKED && rivals->state != PDK__RIVALS_NONE)
        return PDK__RIVALS_NOTHING;
    if (!pdk__rule_shares(rule) || rivals->n_looks == PDK__RIVALS_LOOKS) {
        rivals->state = PDK__RIVALS_SEEN;
        return PDK__RIVALS_CONTENDED;
    }
    rivals->state = PDK__RIVALS_UNKNOWN;
    if (!rivals->idle)
        return PDK__RIVALS_NOTHING;
    rivals->n_looks++;
    return PDK__RIVALS_LOOK;
}

void pdk__rivals_used(struct pdk__rivals *rivals)
{
    rivals->idle = false;
    rivals->n_looks = 0;
}

void pdk__rivals_forget(struct pdk__rivals *rivals) { *rivals = (struct pdk__rivals){.state = PDK__RIVALS_UNKNOWN}; }
