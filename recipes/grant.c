#include "recipes/grant.h"
#include "lib/assert.h"
#include "recipes/hold.h"

/* The grant that the call is about, or NULL. */
static struct pdk__hold *asked(struct pdk__object *o)
{
    assert(o->kind->asked != NULL && o->kind->waiting != NULL);
    struct pdk__hold *hold = o->kind->asked(o);
    assert(hold == NULL || (hold->object == o && pdk__hold_owned(hold)));
    return hold;
}

static pdk_state state_of(const struct pdk__hold *hold)
{
    if (hold == NULL)
        return PDK_FREE;
    if (hold->stage == PDK__HOLD_LOST)
        return PDK_LOST;
    return hold->claim.machine.phase == PDK__HELD ? PDK_HELD : PDK_SUSPECT;
}

pdk_state pdk__grant_state(struct pdk__object *o)
{
    int rc = pdk__object_enter(o);
    if (rc != 0)
        return rc == PDK_EFORKED ? PDK_LOST : PDK_FREE;
    pdk_state state = state_of(asked(o));
    pdk__object_leave(o);
    return state;
}

int64_t pdk__grant_valid_ms(struct pdk__object *o)
{
    if (pdk__object_enter(o) != 0)
        return 0;
    const struct pdk__hold *hold = asked(o);
    int64_t left_ms = hold != NULL ? pdk__hold_valid_ms(hold) : 0;
    pdk__object_leave(o);
    return left_ms;
}

int pdk__grant_token(struct pdk__object *o, int64_t *token)
{
    if (token == NULL)
        return PDK_EINVAL;
    int rc = pdk__object_enter(o);
    if (rc != 0)
        return rc;
    const struct pdk__hold *hold = asked(o);
    if (hold != NULL)
        *token = hold->token;
    pdk__object_leave(o);
    return hold != NULL ? 0 : PDK_EPERM;
}

size_t pdk__grant_node(struct pdk__object *o, char *buf, size_t size)
{
    if (pdk__object_enter(o) != 0)
        return pdk__incident_copy(buf, size, "");
    const struct pdk__hold *hold = asked(o);
    size_t length = pdk__incident_copy(buf, size, hold != NULL ? hold->node : "");
    pdk__object_leave(o);
    return length;
}

int pdk__grant_ahead(struct pdk__object *o, int64_t *ahead)
{
    if (ahead == NULL)
        return PDK_EINVAL;
    int rc = pdk__object_enter(o);
    if (rc != 0)
        return rc;
    const struct pdk__hold *hold = o->kind->waiting(o);
    if (hold != NULL)
        *ahead = pdk__standing_ahead(&hold->claim.standing);
    pdk__object_leave(o);
    return hold != NULL ? 0 : PDK_EPERM;
}

int pdk__grant_fill(struct pdk__hold *hold, struct zoo_op *check)
{
    if (hold == NULL)
        return PDK_EPERM;
    if (hold->stage == PDK__HOLD_LOST)
        return pdk__hold_blame(hold, "guard", PDK_ELOST);
    if (hold->lent == NULL)
        hold->lent = pdk__object_lend(hold->object, hold->path, hold->node);
    if (hold->lent == NULL)
        return PDK_ENOMEM;
    zoo_check_op_init(check, hold->lent, -1);
    return 0;
}

int pdk__grant_guard(struct pdk__object *o, struct zoo_op *check)
{
    if (check == NULL)
        return PDK_EINVAL;
    int rc = pdk__object_begin(o);
    return rc != 0 ? rc : pdk__object_end(o, "guard", pdk__grant_fill(asked(o), check));
}
