#include "lib/core/record.h"
#include "lib/assert.h"
#include "lib/core/ask.h"
#include "lib/core/course.h"
#include "paddock/error.h"
#include <string.h>

/* The delay runs from the moment at which a contender that shares `delay` first saw the record, on our clock. */
static int64_t delay_end_ms(const struct pdk__event *ev, const struct pdk__conditions *conditions)
{
    struct pdk__delay *delay = conditions->delay;
    assert(conditions->lock_delay_ms > 0);
    if (delay->token != ev->token)
        *delay = (struct pdk__delay){ev->token, ev->now_ms};
    return delay->since_ms + conditions->lock_delay_ms;
}

/* The path's own node does not exist, so neither does ours. Otherwise the unknown part is requested again. */
static void not_recorded(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__NO_NODE) {
        pdk__course_node_deleted(c, out);
        return;
    }
    if (ev->outcome != PDK__UNKNOWN)
        c->record.ours = PDK__RECORD_NO;
    if (ev->outcome == PDK__UNKNOWN || ev->outcome == PDK__CHANGED)
        pdk__course_back_off(c);
    else
        pdk__course_fail(c, out, pdk__event_error(ev));
}

static void note_ours(struct pdk__record *r, const struct pdk__event *ev)
{
    r->ours = PDK__RECORD_YES;
    r->version = ev->version;
}

/* Another holder did not clear the record. */
static void delay(struct pdk__contender *c, struct pdk__actions *out)
{
    if (c->wish->try_only) {
        pdk__course_fail(c, out, PDK_EBUSY);
        return;
    }
    c->phase = PDK__DELAYED;
    c->op = 0;
}

void pdk__record_read(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    struct pdk__record *r = &c->record;
    assert(r->ours != PDK__RECORD_YES && c->node.name[0] != '\0');
    if (ev->outcome != PDK__OK) {
        not_recorded(c, ev, out);
        return;
    }
    bool is_ours = ev->name != NULL && strcmp(ev->name, c->node.name) == 0;
    if (is_ours) { /* written by us, and the reply was lost */
        note_ours(r, ev);
        pdk__course_check(c, out);
        return;
    }
    r->delayed_ms = ev->name != NULL ? delay_end_ms(ev, c->wish->conditions) : 0;
    if (ev->now_ms < r->delayed_ms)
        delay(c, out);
    else
        pdk__ask_record(c, out, ev->version);
}

/* Since the listing there was time for our node to be deleted. */
void pdk__record_written(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    assert(c->record.ours == PDK__RECORD_MAYBE);
    c->op = 0; /* no longer awaited, whatever follows */
    if (ev->outcome != PDK__OK) {
        not_recorded(c, ev, out);
        return;
    }
    note_ours(&c->record, ev);
    if (c->requested)
        pdk__course_check(c, out);
    else
        pdk__course_advance(c, out);
}

/* The delete was sent right after, and is answered after it. If both outcomes are unknown, both are sent again. */
void pdk__record_cleared(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__UNKNOWN && c->phase == PDK__DELETING)
        pdk__ask_clear(c, out);
}
