#include "recipes/object.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/core/path.h"
#include "lib/zk/account.h"
#include "lib/zk/session_driver.h"

/* --- the object -------------------------------------------------------------------------------------------------- */

static void destroy(struct pdk__object *o)
{
    while (o->lent != NULL) {
        struct pdk__lent *lent = o->lent;
        o->lent = lent->next;
        pdk__free(lent->path);
        pdk__free(lent);
    }
    pdk__text_set(&o->error, "");
    pdk__free(o->path);
    pdk__free(o);
}

static int make(struct pdk__object **out, struct pdk_client *c, const char *path, const struct pdk__object_kind *kind,
                const void *options)
{
    struct pdk__object *o = pdk__alloc(kind->size);
    if (o == NULL)
        return PDK_ENOMEM;
    o->kind = kind;
    o->client = c;
    o->path = pdk__strdup(path);
    int rc = o->path != NULL ? kind->init(o, options) : PDK_ENOMEM;
    if (rc != 0) {
        destroy(o);
        return rc;
    }
    o->refs = 1;
    o->number = pdk__incident_object();
    pdk__client_ref(c);
    *out = o;
    return 0;
}

int pdk__path_enter(struct pdk_client *c, const char *path)
{
    if (c == NULL || path == NULL)
        return PDK_EINVAL;
    return pdk__path_valid(path) ? pdk__client_enter(c) : PDK_EPATH;
}

int pdk__object_new(struct pdk__object **out, struct pdk_client *c, const char *path,
                    const struct pdk__object_kind *kind, const void *options)
{
    int rc = pdk__path_enter(c, path);
    if (rc != 0)
        return rc;
    rc = c->closing ? PDK_ECLOSED : make(out, c, path, kind, options);
    pdk__client_end(c, kind->making, path, rc);
    pdk__client_leave(c);
    return rc;
}

void pdk__object_ref(struct pdk__object *o)
{
    assert(pdk__client_locked(o->client) && o->refs > 0);
    o->refs++;
}

void pdk__object_unref(struct pdk__object *o)
{
    assert(pdk__client_locked(o->client) && o->refs > 0);
    if (--o->refs > 0)
        return;
    pdk__client_unref(o->client);
    o->kind->clear(o);
    destroy(o);
}

void pdk__object_retire(struct pdk__object *o)
{
    assert(o->refs > 1); /* the user's, and the call's */
    pdk__object_unref(o);
}

const char *pdk__object_lend(struct pdk__object *o, const char *path, const char *name)
{
    assert(pdk__client_locked(o->client));
    struct pdk__lent *lent = pdk__alloc(sizeof *lent);
    if (lent == NULL || (lent->path = pdk__join(path, name)) == NULL) {
        pdk__free(lent);
        return NULL;
    }
    lent->next = o->lent;
    return (o->lent = lent)->path;
}

/* --- incidents --------------------------------------------------------------------------------------------------- */

static int describe(struct pdk__object *o, const char *verb, int rc, char text[PDK__INCIDENT_MAX])
{
    char why[PDK__REASON_MAX];
    assert(pdk__client_locked(o->client));
    pdk__account_error(o->client, rc, why, sizeof why);
    pdk__incident_format(text, verb, o->path, rc, why);
    return rc;
}

int pdk__object_incident(struct pdk__object *o, const char *verb, int rc)
{
    char text[PDK__INCIDENT_MAX];
    describe(o, verb, rc, text);
    pdk__text_set(&o->error, text);
    return rc;
}

int pdk__object_incident_for(struct pdk__object *o, const char *verb, int rc, const char *why)
{
    char text[PDK__INCIDENT_MAX];
    pdk__incident_format(text, verb, o->path, rc, why);
    pdk__text_set(&o->error, text);
    return rc;
}

int pdk__object_blame(struct pdk__object *o, const char *verb, int rc)
{
    char text[PDK__INCIDENT_MAX];
    describe(o, verb, rc, text);
    pdk__incident_note(o->number, text);
    return rc;
}

int pdk__object_explain(struct pdk__object *o, const char *verb, int rc, const char *why)
{
    char text[PDK__INCIDENT_MAX];
    pdk__incident_format(text, verb, o->path, rc, why);
    pdk__incident_note(o->number, text);
    return rc;
}

/* --- every verb -------------------------------------------------------------------------------------------------- */

static int entered(struct pdk__object *o, int rc)
{
    if (rc != 0)
        return rc;
    pdk__object_ref(o);
    pdk__client_refresh(o->client);
    return 0;
}

int pdk__object_enter_that(struct pdk__object *o) { return entered(o, pdk__client_enter(o->client)); }
int pdk__object_ask_that(struct pdk__object *o) { return entered(o, pdk__client_ask(o->client)); }

void pdk__object_leave(struct pdk__object *o)
{
    struct pdk_client *c = o->client;
    assert(pdk__client_locked(c));
    if (o->refs > 1 && pdk__client_quiet(c)) { /* the object, and so the client, outlasts this call */
        o->refs--;
        pdk__client_leave(c);
        return;
    }
    pdk__client_ref(c);
    pdk__client_shield(c);
    pdk__object_unref(o);
    pdk__client_leave(c);
    pdk__client_unref(c);
}

int pdk__object_begin_that(struct pdk__object *o)
{
    int rc = pdk__object_enter_that(o);
    if (rc == 0)
        pdk__incident_clear(o->number);
    return rc;
}

int pdk__object_end(struct pdk__object *o, const char *verb, int rc)
{
    if (rc == 0)
        pdk__incident_clear(o->number); /* the incident of a grant that was over before it could be reported */
    else if (pdk__incident_text(o->number)[0] == '\0')
        pdk__object_blame(o, verb, rc);
    pdk__object_leave(o);
    return rc;
}

/* --- verbs ------------------------------------------------------------------------------------------------------- */

size_t pdk__object_last_error(struct pdk__object *o, char *buf, size_t size)
{
    if (pdk__object_enter(o) != 0)
        return pdk__incident_copy(buf, size, "");
    const char *own = pdk__incident_text(o->number);
    size_t length = pdk__incident_copy(buf, size, own[0] != '\0' ? own : pdk__text(&o->error));
    pdk__object_leave(o);
    return length;
}
