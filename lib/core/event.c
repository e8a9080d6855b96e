#include "lib/core/event.h"
#include "lib/assert.h"
#include "paddock/error.h"

bool pdk__event_refused(const struct pdk__event *event)
{
    return event->outcome != PDK__OK && event->outcome != PDK__NO_NODE && event->outcome != PDK__UNKNOWN;
}

int pdk__event_error(const struct pdk__event *event)
{
    assert(event->outcome != PDK__OK && event->outcome != PDK__UNKNOWN);
    if (event->outcome == PDK__NO_AUTH)
        return PDK_EACCES;
    return event->outcome == PDK__NO_NODE ? PDK_ENOENT : event->error;
}

struct pdk__action *pdk__actions_add(struct pdk__actions *out, struct pdk__action action)
{
    assert(out->n < PDK__ACTIONS_MAX);
    out->list[out->n] = action;
    return &out->list[out->n++];
}
