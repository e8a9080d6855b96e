#include "recipes/mutex.h"
#include "lib/alloc.h"
#include "lib/core/path.h"
#include <stdio.h>
#include <string.h>

/* --- the object -------------------------------------------------------------------------------------------------- */

static struct pdk_mutex *mutex_of(struct pdk__changes *changes)
{
    return PDK__MEMBER(changes, struct pdk_mutex, changes);
}

static void call(struct pdk__changes *changes, pdk__change_cb *cb, void *arg, const struct pdk__change *change)
{
    ((pdk_state_cb)cb)(mutex_of(changes), (pdk_state)change->what, change->token, arg);
}

static void hold(struct pdk__changes *changes) { mutex_of(changes)->refs++; }

static void let_go(struct pdk__changes *changes) { pdk__mutex_unref(mutex_of(changes)); }

static const struct pdk__changes_owner owner = {call, hold, let_go};

static struct pdk_mutex *revoked_mutex(struct pdk__changes *revocations)
{
    return PDK__MEMBER(revocations, struct pdk_mutex, revocations);
}

static void call_revoke(struct pdk__changes *changes, pdk__change_cb *cb, void *arg, const struct pdk__change *change)
{
    ((pdk_revoke_cb)cb)(revoked_mutex(changes), change->token, arg);
}

static void hold_revoked(struct pdk__changes *changes) { revoked_mutex(changes)->refs++; }

static void let_revoked_go(struct pdk__changes *changes) { pdk__mutex_unref(revoked_mutex(changes)); }

static const struct pdk__changes_owner revocations_owner = {call_revoke, hold_revoked, let_revoked_go};

static struct pdk_mutex *make(pdk_client *c, const char *path, const pdk_mutex_options *opts)
{
    struct pdk_mutex *m = pdk__alloc(sizeof *m);
    if (m == NULL)
        return NULL;
    m->path = pdk__strdup(path);
    bool copied = true;
    if (m->path != NULL && opts != NULL && opts->data != NULL)
        copied = pdk_mutex_options_set_data(&m->options, opts->data, opts->data_size) == 0;
    if (m->path == NULL || !copied) {
        pdk__free(m->path);
        pdk__free(m);
        return NULL;
    }
    if (opts != NULL)
        m->options.conditions = opts->conditions;
    m->options.conditions.delay = &m->delay;
    m->client = c;
    m->number = pdk__incident_object();
    m->refs = 1;
    pdk__list_init(&m->ops);
    pdk__changes_init(&m->changes, c, &owner);
    pdk__changes_init(&m->revocations, c, &revocations_owner);
    pdk__client_ref(c);
    return m;
}

int pdk_mutex_new(pdk_mutex **out, pdk_client *c, const char *path, const pdk_mutex_options *opts)
{
    if (out == NULL || c == NULL || path == NULL)
        return PDK_EINVAL;
    if (!pdk__path_valid(path))
        return PDK_EPATH;
    int rc = pdk__client_enter(c);
    if (rc != 0)
        return rc;
    struct pdk_mutex *m = NULL;
    if (c->closing)
        rc = PDK_ECLOSED;
    else if ((m = make(c, path, opts)) == NULL)
        rc = PDK_ENOMEM;
    pdk__client_end(c, "make a mutex for", path, rc);
    pdk__client_leave(c);
    if (rc == 0)
        *out = m;
    return rc;
}

const char *pdk__mutex_guard_path(struct pdk_op *op)
{
    struct pdk_mutex *m = op->mutex;
    if (op->guard != NULL)
        return op->guard;
    struct pdk__guard *guard = pdk__alloc(sizeof *guard);
    if (guard == NULL || (guard->path = pdk__join(m->path, op->node)) == NULL) {
        pdk__free(guard);
        return NULL;
    }
    guard->next = m->guards;
    m->guards = guard;
    return op->guard = guard->path;
}

static void free_guards(struct pdk_mutex *m)
{
    while (m->guards != NULL) {
        struct pdk__guard *guard = m->guards;
        m->guards = guard->next;
        pdk__free(guard->path);
        pdk__free(guard);
    }
}

/* With the lock of a client that the caller, too, holds by a reference. */
void pdk__mutex_unref(struct pdk_mutex *m)
{
    if (--m->refs > 0)
        return;
    pdk__client_unref(m->client);
    free_guards(m);
    pdk__free(m->options.data);
    pdk__free(m->path);
    pdk__free(m);
}

/* A closed client's locks are over: their owners' references end with the object. */
static void disown_all(struct pdk_mutex *m)
{
    PDK__LIST_EACH (link, &m->ops) {
        struct pdk_op *op = PDK__MEMBER(link, struct pdk_op, link);
        op->refs++; /* the reference that pdk__op_abandon() takes */
        pdk__op_abandon(op);
    }
}

int pdk_mutex_free(pdk_mutex *m)
{
    if (m == NULL)
        return 0;
    struct pdk_client *c = m->client;
    int rc = pdk__client_enter(c);
    if (rc != 0)
        return rc;
    pdk__client_ref(c);
    if (!c->closed && !pdk__list_empty(&m->ops)) {
        rc = PDK_EBUSY;
        pdk__mutex_blame(m, "free", rc);
    } else {
        disown_all(m);
        pdk__changes_end(&m->changes);
        pdk__changes_end(&m->revocations);
        pdk__mutex_unref(m);
    }
    pdk__client_leave(c);
    pdk__client_unref(c);
    return rc;
}

/* --- incidents --------------------------------------------------------------------------------------------------- */

static void describe(struct pdk_mutex *m, const char *verb, int rc, char text[PDK__INCIDENT_MAX])
{
    char why[PDK__REASON_MAX];
    pdk__account_error(m->client, rc, why, sizeof why);
    pdk__incident_format(text, verb, m->path, rc, why);
}

void pdk__mutex_incident(struct pdk_mutex *m, const char *verb, int rc) { describe(m, verb, rc, m->error); }

int pdk__mutex_blame(struct pdk_mutex *m, const char *verb, int rc)
{
    char text[PDK__INCIDENT_MAX];
    describe(m, verb, rc, text);
    pdk__incident_note(m->number, text);
    return rc;
}

/* --- every verb -------------------------------------------------------------------------------------------------- */

int pdk__mutex_enter(pdk_mutex *m)
{
    int rc = m != NULL ? pdk__client_enter(m->client) : PDK_EINVAL;
    if (rc != 0)
        return rc;
    m->refs++;
    pdk__client_heed(m->client);
    return 0;
}

void pdk__mutex_leave(pdk_mutex *m)
{
    struct pdk_client *c = m->client;
    pdk__client_ref(c);
    pdk__mutex_unref(m);
    pdk__client_leave(c);
    pdk__client_unref(c);
}

int pdk__mutex_begin(pdk_mutex *m)
{
    int rc = pdk__mutex_enter(m);
    if (rc == 0)
        pdk__incident_clear(m->number);
    return rc;
}

int pdk__mutex_end(pdk_mutex *m, const char *verb, int rc)
{
    if (rc == 0)
        pdk__incident_clear(m->number); /* the incident of a grant that was over before it could be reported */
    else if (pdk__incident_text(m->number)[0] == '\0')
        pdk__mutex_blame(m, verb, rc);
    pdk__mutex_leave(m);
    return rc;
}

/* --- whose ------------------------------------------------------------------------------------------------------- */

/* The system can give a thread's id to a new one after its end, while a lock is still in its name. */
uint64_t pdk__thread_number(void)
{
    static atomic_uint_least64_t last;
    static _Thread_local uint64_t number;
    if (number == 0)
        number = atomic_fetch_add(&last, 1) + 1;
    return number;
}

static bool owned(const struct pdk_op *op) { return op->stage == PDK__OP_GRANTED || op->stage == PDK__OP_LOST; }

struct pdk_op *pdk__mutex_find_owned(struct pdk_mutex *m, uint64_t thread)
{
    PDK__LIST_EACH (link, &m->ops) {
        struct pdk_op *op = PDK__MEMBER(link, struct pdk_op, link);
        if (owned(op) && op->thread == thread)
            return op;
    }
    return NULL;
}

struct pdk_op *pdk__mutex_find_asked(struct pdk_mutex *m)
{
    struct pdk_op *found = pdk__mutex_find_owned(m, pdk__thread_number());
    if (found != NULL)
        return found;
    PDK__LIST_EACH (link, &m->ops) {
        struct pdk_op *op = PDK__MEMBER(link, struct pdk_op, link);
        if (owned(op) && (found == NULL || op->stage == PDK__OP_GRANTED))
            found = op;
    }
    return found;
}

bool pdk__mutex_held_here(struct pdk_mutex *m)
{
    struct pdk_op *op = pdk__mutex_find_asked(m);
    return op != NULL && op->stage == PDK__OP_GRANTED;
}
