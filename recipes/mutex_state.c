/* Queries of a mutex, and its unrequested reports. */
#include "lib/alloc.h"
#include "lib/clock.h"
#include "recipes/mutex.h"

/* --- questions --------------------------------------------------------------------------------------------------- */

static pdk_state state_of(const struct pdk_op *op)
{
    if (op == NULL)
        return PDK_FREE;
    if (op->stage == PDK__OP_LOST)
        return PDK_LOST;
    return op->claim.machine.phase == PDK__HELD ? PDK_HELD : PDK_SUSPECT;
}

pdk_state pdk_mutex_state(pdk_mutex *m)
{
    int rc = pdk__mutex_enter(m);
    if (rc != 0)
        return rc == PDK_EFORKED ? PDK_LOST : PDK_FREE;
    pdk_state state = state_of(pdk__mutex_find_asked(m));
    pdk__mutex_leave(m);
    return state;
}

int64_t pdk_mutex_valid_ms(pdk_mutex *m)
{
    if (pdk__mutex_enter(m) != 0)
        return 0;
    int64_t left_ms = 0;
    if (pdk__mutex_held_here(m))
        left_ms = pdk__session_deadline_ms(&m->client->session) - pdk__now_ms();
    pdk__mutex_leave(m);
    return left_ms > 0 ? left_ms : 0;
}

int pdk_mutex_token(pdk_mutex *m, int64_t *token)
{
    if (token == NULL)
        return PDK_EINVAL;
    int rc = pdk__mutex_enter(m);
    if (rc != 0)
        return rc;
    struct pdk_op *op = pdk__mutex_find_asked(m);
    if (op != NULL)
        *token = op->token;
    pdk__mutex_leave(m);
    return op != NULL ? 0 : PDK_EPERM;
}

size_t pdk_mutex_node(pdk_mutex *m, char *buf, size_t size)
{
    if (pdk__mutex_enter(m) != 0)
        return pdk__incident_copy(buf, size, "");
    struct pdk_op *op = pdk__mutex_find_asked(m);
    size_t length = pdk__incident_copy(buf, size, op != NULL ? op->node : "");
    pdk__mutex_leave(m);
    return length;
}

size_t pdk_mutex_last_error(pdk_mutex *m, char *buf, size_t size)
{
    if (pdk__mutex_enter(m) != 0)
        return pdk__incident_copy(buf, size, "");
    const char *own = pdk__incident_text(m->number);
    size_t length = pdk__incident_copy(buf, size, own[0] != '\0' ? own : m->error);
    pdk__mutex_leave(m);
    return length;
}

int pdk_mutex_ahead(pdk_mutex *m, int64_t *ahead)
{
    if (ahead == NULL)
        return PDK_EINVAL;
    int rc = pdk__mutex_enter(m);
    if (rc != 0)
        return rc;
    rc = PDK_EPERM;
    PDK__LIST_EACH (link, &m->ops) {
        struct pdk_op *op = PDK__MEMBER(link, struct pdk_op, link);
        if (op->stage != PDK__OP_PENDING)
            continue;
        *ahead = pdk__account_ahead(&op->claim);
        rc = 0;
        break;
    }
    pdk__mutex_leave(m);
    return rc;
}

const char *pdk_mutex_path(pdk_mutex *m) { return m->path; }

pdk_client *pdk_mutex_client(pdk_mutex *m) { return m->client; }

void pdk_mutex_set_user(pdk_mutex *m, void *user) { m->user = user; }

void *pdk_mutex_user(pdk_mutex *m) { return m->user; }

/* --- the guard of a transaction ---------------------------------------------------------------------------------- */

static int fill_guard(struct pdk_op *op, struct zoo_op *check)
{
    if (op == NULL)
        return PDK_EPERM;
    if (op->stage == PDK__OP_LOST)
        return pdk__op_blame(op, "guard", PDK_ELOST);
    const char *path = pdk__mutex_guard_path(op);
    if (path == NULL)
        return PDK_ENOMEM;
    zoo_check_op_init(check, path, -1);
    return 0;
}

int pdk_mutex_guard(pdk_mutex *m, struct zoo_op *check)
{
    if (check == NULL)
        return PDK_EINVAL;
    int rc = pdk__mutex_begin(m);
    if (rc != 0)
        return rc;
    rc = fill_guard(pdk__mutex_find_asked(m), check);
    return pdk__mutex_end(m, "guard", rc);
}

/* --- changes of state -------------------------------------------------------------------------------------------- */

int pdk_mutex_on_state(pdk_mutex *m, pdk_state_cb cb, void *arg)
{
    int rc = pdk__mutex_enter(m);
    if (rc != 0)
        return rc;
    pdk__changes_call(&m->changes, (pdk__change_cb *)cb, arg);
    pdk__mutex_leave(m);
    return 0;
}

int pdk_mutex_fd(pdk_mutex *m)
{
    int rc = pdk__mutex_enter(m);
    if (rc != 0)
        return rc;
    rc = pdk__changes_fd(&m->changes);
    pdk__mutex_leave(m);
    return rc;
}

int pdk_mutex_next_change(pdk_mutex *m, pdk_state *state, int64_t *token)
{
    struct pdk__change change;
    if (state == NULL)
        return PDK_EINVAL;
    int rc = pdk__mutex_enter(m);
    if (rc != 0)
        return rc;
    bool taken = pdk__changes_read(&m->changes, &change);
    pdk__mutex_leave(m);
    if (!taken)
        return 0;
    *state = (pdk_state)change.what;
    if (token != NULL)
        *token = change.token;
    return 1;
}

int pdk_mutex_on_revoke(pdk_mutex *m, pdk_revoke_cb cb, void *arg)
{
    int rc = pdk__mutex_enter(m);
    if (rc != 0)
        return rc;
    pdk__changes_call(&m->revocations, (pdk__change_cb *)cb, arg);
    pdk__mutex_leave(m);
    return 0;
}
