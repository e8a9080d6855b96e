#include "lib/assert.h"
#include "lib/core/session.h"

struct pdk__session_action *pdk__session_push(struct pdk__session_actions *out, enum pdk__session_action_kind kind)
{
    assert(out->n < PDK__SESSION_ACTIONS_MAX);
    struct pdk__session_action *action = &out->list[out->n++];
    *action = (struct pdk__session_action){.kind = kind};
    return action;
}
