#include "recipes/held.h"

/* --- with the lock ----------------------------------------------------------------------------------------------- */

pdk_state pdk__held_state(const struct pdk__hold *hold) { return hold != NULL ? pdk__hold_state(hold) : PDK_FREE; }

int64_t pdk__held_valid_ms(const struct pdk__hold *hold) { return hold != NULL ? pdk__hold_valid_ms(hold) : 0; }

int pdk__held_token(const struct pdk__hold *hold, int64_t *token, uint64_t *turn)
{
    if (hold == NULL)
        return PDK_EPERM;
    if (token != NULL)
        *token = hold->token;
    if (turn != NULL)
        *turn = hold->turn;
    return 0;
}

size_t pdk__held_node(struct pdk__hold *hold, unsigned i, char *buf, size_t size)
{
    return pdk__incident_copy(buf, size, hold != NULL ? pdk__hold_part(hold, i)->node : "");
}

int pdk__held_guard(struct pdk__hold *hold, unsigned i, struct zoo_op *check)
{
    if (hold == NULL)
        return PDK_EPERM;
    return pdk__hold_lost(hold) ? pdk__hold_blame(hold, "guard", PDK_ELOST)
                                : pdk__part_guard(pdk__hold_part(hold, i), check);
}

/* --- whole verbs ------------------------------------------------------------------------------------------------- */

static struct pdk__hold *asked(struct pdk__object *o) { return o->kind->asked != NULL ? o->kind->asked(o) : NULL; }

pdk_state pdk__asked_state(struct pdk__object *o)
{
    int rc = pdk__object_ask(o);
    if (rc != 0)
        return rc == PDK_EFORKED ? PDK_LOST : PDK_FREE;
    pdk_state state = pdk__held_state(asked(o));
    pdk__object_leave(o);
    return state;
}

int64_t pdk__asked_valid_ms(struct pdk__object *o)
{
    if (pdk__object_ask(o) != 0)
        return 0;
    int64_t left_ms = pdk__held_valid_ms(asked(o));
    pdk__object_leave(o);
    return left_ms;
}

int pdk__asked_token(struct pdk__object *o, int64_t *token, uint64_t *turn)
{
    int rc = pdk__object_ask(o);
    if (rc != 0)
        return rc;
    rc = pdk__held_token(asked(o), token, turn);
    pdk__object_leave(o);
    return rc;
}

size_t pdk__asked_node(struct pdk__object *o, unsigned i, char *buf, size_t size)
{
    if (pdk__object_ask(o) != 0)
        return pdk__incident_copy(buf, size, "");
    size_t length = pdk__held_node(asked(o), i, buf, size);
    pdk__object_leave(o);
    return length;
}

int pdk__asked_ahead(struct pdk__object *o, int64_t *ahead)
{
    if (ahead == NULL)
        return PDK_EINVAL;
    int rc = pdk__object_ask(o);
    if (rc != 0)
        return rc;
    const struct pdk__hold *hold = o->kind->waiting(o);
    if (hold != NULL)
        *ahead = pdk__hold_ahead(hold);
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
