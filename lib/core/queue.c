#include "lib/core/queue.h"
#include "lib/assert.h"
#include "lib/core/name.h"
#include "lib/core/rule.h"
#include "paddock/error.h"

struct pdk__verdict pdk__queue_looked(struct pdk__queue *q, const struct pdk__rule *rule, const struct pdk__event *ev)
{
    assert(!q->looked);
    q->looked = true;
    if (ev->outcome == PDK__OK && !pdk__rule_free(rule, ev->children, ev->n_children))
        return pdk__verdict_fail(PDK_EBUSY);
    return pdk__verdict(PDK__MOVE_ADVANCE);
}

static struct pdk__verdict judge_place(struct pdk__queue *q, const struct pdk__place *place, const char *own,
                                       bool try_only)
{
    assert(place->present && (place->admitted || place->predecessor != NULL));
    int64_t sequence = pdk__name_parse(own).sequence;
    if (place->baseless)
        return pdk__verdict_fail(PDK_ELOST);
    if (place->tied || sequence >= PDK__SEQUENCE_LAST || sequence < 0)
        return pdk__verdict_fail(PDK_EEXHAUSTED);
    if (place->admitted)
        return pdk__verdict(PDK__MOVE_FIRST);
    if (try_only)
        return pdk__verdict_fail(PDK_EBUSY);
    q->next_in_line = place->next;
    q->replaceable = place->replaceable;
    return (struct pdk__verdict){.move = PDK__MOVE_WATCH, .name = place->predecessor};
}

struct pdk__verdict pdk__queue_listed(struct pdk__queue *q, const struct pdk__rule *rule, const struct pdk__event *ev,
                                      const char *own, const char *base, bool try_only)
{
    assert(own[0] != '\0');
    struct pdk__place place = {0};
    if (ev->outcome == PDK__OK)
        place = pdk__rule_place(rule, ev->children, ev->n_children, own, base);
    return place.present ? judge_place(q, &place, own, try_only) : pdk__verdict(PDK__MOVE_NODE_DELETED);
}

struct pdk__verdict pdk__queue_watched(const struct pdk__queue *q, const struct pdk__event *ev)
{
    assert(q->watching);
    if (ev->outcome == PDK__OK)
        return pdk__verdict(PDK__MOVE_WAIT);
    if (ev->outcome == PDK__NO_NODE)
        return pdk__verdict(PDK__MOVE_MOVE_UP);
    if (ev->outcome == PDK__NO_AUTH && !q->by_exists)
        return (struct pdk__verdict){.move = PDK__MOVE_WATCH, .name = ev->name, .by_exists = true};
    if (ev->outcome == PDK__REFUSED)
        return pdk__verdict_fail(ev->error);
    return pdk__verdict(PDK__MOVE_RETRY); /* nor by exists (servers from 3.8.4 on): list at intervals */
}

struct pdk__verdict pdk__queue_watched_children(struct pdk__queue *q, const struct pdk__rule *rule,
                                                const struct pdk__event *ev, const char *own)
{
    assert(q->watching && rule->by_children);
    if (ev->outcome == PDK__UNKNOWN)
        return pdk__verdict(PDK__MOVE_RETRY);
    if (ev->outcome == PDK__NO_AUTH || ev->outcome == PDK__REFUSED)
        return pdk__verdict_refused(PDK__MOVE_FAIL, ev);
    struct pdk__verdict v = pdk__queue_listed(q, rule, ev, own, "", false);
    return v.move == PDK__MOVE_WATCH ? pdk__verdict(PDK__MOVE_WAIT) : v;
}

/* An event before the reply can be of an older watch, set again with the connection. The one that was asked for can be
 * set after it: by exists in any case, by getData unless the node is deleted. */
struct pdk__verdict pdk__queue_fired(struct pdk__queue *q, const struct pdk__event *ev, bool early)
{
    assert(q->watching);
    q->watching = early && (!ev->deleted || q->by_exists);
    return pdk__verdict(ev->deleted ? PDK__MOVE_MOVE_UP : PDK__MOVE_ADVANCE);
}
