#include "lib/core/verdict.h"
#include "lib/assert.h"
#include "paddock/error.h"

struct pdk__verdict pdk__verdict(enum pdk__move move) { return (struct pdk__verdict){.move = move}; }

struct pdk__verdict pdk__verdict_fail(int error)
{
    assert(error < 0);
    return (struct pdk__verdict){.move = PDK__MOVE_FAIL, .error = error};
}

static int error_of(const struct pdk__event *ev)
{
    if (ev->outcome == PDK__NO_AUTH)
        return PDK_EACCES;
    return ev->outcome == PDK__NO_NODE ? PDK_ENOENT : ev->error;
}

struct pdk__verdict pdk__verdict_refused(enum pdk__move move, const struct pdk__event *event)
{
    assert(event->outcome != PDK__OK && event->outcome != PDK__UNKNOWN);
    return (struct pdk__verdict){.move = move, .error = error_of(event)};
}
