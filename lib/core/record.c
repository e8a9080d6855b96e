#include "lib/core/record.h"
#include "lib/assert.h"
#include <string.h>

/* The delay runs from the moment at which a contender that shares `delay` first saw the record, on our clock. */
static int64_t delay_end_ms(const struct pdk__event *ev, struct pdk__delay *delay, int lock_delay_ms)
{
    assert(lock_delay_ms > 0);
    if (delay->token != ev->token)
        *delay = (struct pdk__delay){ev->token, ev->now_ms};
    return delay->since_ms + lock_delay_ms;
}

/* The path's own node does not exist, so neither does ours. Otherwise the unknown part is requested again. */
static struct pdk__verdict not_recorded(struct pdk__record *r, const struct pdk__event *ev)
{
    if (ev->outcome == PDK__NO_NODE)
        return pdk__verdict(PDK__MOVE_NODE_DELETED);
    if (ev->outcome == PDK__UNKNOWN)
        return pdk__verdict(PDK__MOVE_RETRY);
    r->ours = PDK__RECORD_NO;
    return ev->outcome == PDK__CHANGED ? pdk__verdict(PDK__MOVE_RETRY) : pdk__verdict_refused(PDK__MOVE_FAIL, ev);
}

static struct pdk__verdict ours(struct pdk__record *r, const struct pdk__event *ev, enum pdk__move move)
{
    r->ours = PDK__RECORD_YES;
    r->version = ev->version;
    return pdk__verdict(move);
}

struct pdk__verdict pdk__record_read(struct pdk__record *r, const struct pdk__event *ev, const char *own,
                                     struct pdk__delay *delay, int lock_delay_ms)
{
    assert(r->ours != PDK__RECORD_YES && own[0] != '\0');
    if (ev->outcome != PDK__OK)
        return not_recorded(r, ev);
    bool is_ours = ev->name != NULL && strcmp(ev->name, own) == 0;
    if (is_ours)
        return ours(r, ev, PDK__MOVE_CHECK); /* written by us, and the reply was lost */
    r->delayed_ms = ev->name != NULL ? delay_end_ms(ev, delay, lock_delay_ms) : 0;
    return pdk__verdict(ev->now_ms < r->delayed_ms ? PDK__MOVE_DELAY : PDK__MOVE_RECORD);
}

struct pdk__verdict pdk__record_written(struct pdk__record *r, const struct pdk__event *ev)
{
    assert(r->ours == PDK__RECORD_MAYBE);
    return ev->outcome == PDK__OK ? ours(r, ev, PDK__MOVE_RECORDED) : not_recorded(r, ev);
}
