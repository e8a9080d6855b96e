#include "recipes/held.h"
#include "lib/assert.h"
#include "recipes/bundle.h"
#include "recipes/hold.h"

/* --- with the lock ----------------------------------------------------------------------------------------------- */

static bool none(struct pdk__held g) { return g.hold == NULL && g.bundle == NULL; }

static pdk_state state_of(const struct pdk__hold *hold)
{
    if (hold->stage == PDK__HOLD_LOST)
        return PDK_LOST;
    return hold->claim.machine.phase == PDK__HELD ? PDK_HELD : PDK_SUSPECT;
}

pdk_state pdk__held_state(struct pdk__held g)
{
    if (g.bundle != NULL)
        return pdk__bundle_state(g.bundle);
    return g.hold != NULL ? state_of(g.hold) : PDK_FREE;
}

int64_t pdk__held_valid_ms(struct pdk__held g)
{
    if (g.bundle != NULL)
        return pdk__bundle_valid_ms(g.bundle);
    return g.hold != NULL ? pdk__hold_valid_ms(g.hold) : 0;
}

int pdk__held_token(struct pdk__held g, int64_t *token)
{
    if (none(g))
        return PDK_EPERM;
    *token = g.bundle != NULL ? g.bundle->token : g.hold->token;
    return 0;
}

struct pdk__hold *pdk__held_part(struct pdk__held g, unsigned i)
{
    if (g.bundle != NULL)
        return &g.bundle->parts[i].hold;
    assert(i == 0);
    return g.hold;
}

int pdk__held_blame(struct pdk__held g, const char *verb, int rc)
{
    return g.bundle != NULL ? pdk__bundle_blame(g.bundle, verb, rc) : pdk__hold_blame(g.hold, verb, rc);
}

static int fill(struct pdk__hold *hold, struct zoo_op *check)
{
    if (hold->lent == NULL)
        hold->lent = pdk__object_lend(hold->object, hold->path, hold->node);
    if (hold->lent == NULL)
        return PDK_ENOMEM;
    zoo_check_op_init(check, hold->lent, -1);
    return 0;
}

int pdk__held_guard(struct pdk__held g, unsigned i, struct zoo_op *check)
{
    if (none(g))
        return PDK_EPERM;
    return pdk__held_state(g) == PDK_LOST ? pdk__held_blame(g, "guard", PDK_ELOST) : fill(pdk__held_part(g, i), check);
}

/* --- whole verbs ------------------------------------------------------------------------------------------------- */

static struct pdk__held asked(struct pdk__object *o)
{
    struct pdk__held none = {NULL, NULL};
    return o->kind->asked != NULL ? o->kind->asked(o) : none;
}

pdk_state pdk__asked_state(struct pdk__object *o)
{
    int rc = pdk__object_enter(o);
    if (rc != 0)
        return rc == PDK_EFORKED ? PDK_LOST : PDK_FREE;
    pdk_state state = pdk__held_state(asked(o));
    pdk__object_leave(o);
    return state;
}

int64_t pdk__asked_valid_ms(struct pdk__object *o)
{
    if (pdk__object_enter(o) != 0)
        return 0;
    int64_t left_ms = pdk__held_valid_ms(asked(o));
    pdk__object_leave(o);
    return left_ms;
}

int pdk__asked_token(struct pdk__object *o, int64_t *token)
{
    if (token == NULL)
        return PDK_EINVAL;
    int rc = pdk__object_enter(o);
    if (rc != 0)
        return rc;
    rc = pdk__held_token(asked(o), token);
    pdk__object_leave(o);
    return rc;
}

size_t pdk__asked_node(struct pdk__object *o, unsigned i, char *buf, size_t size)
{
    if (pdk__object_enter(o) != 0)
        return pdk__incident_copy(buf, size, "");
    const struct pdk__hold *hold = pdk__held_part(asked(o), i);
    size_t length = pdk__incident_copy(buf, size, hold != NULL ? hold->node : "");
    pdk__object_leave(o);
    return length;
}

int pdk__asked_ahead(struct pdk__object *o, int64_t *ahead)
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

int pdk__asked_guard(struct pdk__object *o, unsigned i, struct zoo_op *check)
{
    if (check == NULL)
        return PDK_EINVAL;
    int rc = pdk__object_begin(o);
    return rc != 0 ? rc : pdk__object_end(o, "guard", pdk__held_guard(asked(o), i, check));
}
