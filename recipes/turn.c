#include "recipes/turn.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "paddock/error.h"
#include <stdio.h>

static struct pdk__turn *turn_at(struct pdk__list *link) { return PDK__MEMBER(link, struct pdk__turn, link); }

void pdk__turns_init(struct pdk__turns *turns)
{
    pdk__list_init(&turns->queue);
    turns->due_ms = PDK__NEVER;
}

void pdk__turn_begin(struct pdk__turn *turn)
{
    turn->counted = true;
    pdk__stats_request(&turn->object->client->stats, turn->object->path);
}

void pdk__turn_join(struct pdk__turns *turns, struct pdk__turn *turn)
{
    assert(!turn->finished && turn->tell != NULL);
    pdk__list_append(&turns->queue, &turn->link);
    if (turn->deadline_ms < turns->due_ms)
        turns->due_ms = turn->deadline_ms;
}

struct pdk__turn *pdk__turns_first(const struct pdk__turns *turns)
{
    return pdk__list_empty(&turns->queue) ? NULL : turn_at(turns->queue.next);
}

bool pdk__turns_ask_for(const struct pdk__turns *turns, const struct pdk__object *object)
{
    PDK__LIST_EACH (link, &turns->queue)
        if (turn_at(link)->object == object)
            return true;
    return false;
}

void pdk__turn_finish(struct pdk__turn *turn, int rc, struct pdk__hold *hold)
{
    assert(!turn->finished && turn->hold == NULL);
    pdk__list_remove(&turn->link);
    turn->finished = true;
    turn->rc = rc;
    if (rc != 0 && turn->counted)
        pdk__stats_failure(&turn->object->client->stats, turn->object->path, rc);
    if (hold != NULL)
        pdk__hold_ref(turn->hold = hold);
    turn->tell(turn);
}

void pdk__turns_fail(struct pdk__turns *turns, int rc, struct pdk__hold *hold)
{
    assert(rc != 0);
    PDK__LIST_EACH (link, &turns->queue)
        pdk__turn_finish(turn_at(link), rc, hold);
    turns->due_ms = PDK__NEVER;
}

void pdk__turns_expire(struct pdk__turns *turns, int64_t now_ms, struct pdk__hold *hold)
{
    turns->due_ms = PDK__NEVER;
    PDK__LIST_EACH (link, &turns->queue) {
        struct pdk__turn *turn = turn_at(link);
        if (turn->deadline_ms <= now_ms)
            pdk__turn_finish(turn, PDK_ETIMEDOUT, hold);
        else if (turn->deadline_ms < turns->due_ms)
            turns->due_ms = turn->deadline_ms;
    }
}

static const char *reason(const struct pdk__turn *turn)
{
    const struct pdk__hold *hold = turn->hold;
    if (hold == NULL)
        return "";
    if (turn->rc != PDK_ETIMEDOUT)
        return hold->blamed != NULL ? pdk__text(&hold->blamed->why) : "";
    return hold->stage == PDK__HOLD_GRANTED ? "another thread of this process holds it"
                                            : pdk__text(&hold->parts->claim.standing.why);
}

void pdk__turn_describe(const struct pdk__turn *turn, char text[PDK__INCIDENT_MAX])
{
    const char *path = turn->object->path;
    const char *why = reason(turn);
    if (turn->rc != PDK_ETIMEDOUT) {
        pdk__incident_format(text, "lock", path, turn->rc, why);
        return;
    }
    long long waited_ms = pdk__now_ms() - turn->began_ms;
    snprintf(text, PDK__INCIDENT_MAX, "lock %s: timed out after %lld ms%s%s", path, waited_ms,
             why[0] != '\0' ? ": " : "", why);
}

void pdk__turn_clear(struct pdk__turn *turn)
{
    struct pdk__hold *hold = turn->hold;
    turn->hold = NULL;
    if (hold != NULL)
        pdk__hold_unref(hold);
}
