#include "recipes/guarded.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/core/path.h"
#include "lib/zk/callbacks.h"
#include "lib/zk/code.h"
#include "paddock/guarded.h"
#include "recipes/grant.h"
#include <stdio.h>
#include <string.h>

enum { DATA_MAX = 256 * 1024 };

/* --- the nodes of a grant ---------------------------------------------------------------------------------------- */

void pdk__guards_clear(struct pdk__guards *guards)
{
    for (unsigned i = 0; i < guards->n; i++)
        pdk__free(guards->paths[i]);
    pdk__free(guards->paths);
    *guards = (struct pdk__guards){0};
}

int pdk__guards_init(struct pdk__guards *guards, struct pdk__hold *hold)
{
    *guards = (struct pdk__guards){0};
    if (hold == NULL)
        return PDK_EPERM;
    if (pdk__hold_lost(hold))
        return pdk__hold_blame(hold, "guard", PDK_ELOST);
    guards->paths = pdk__alloc(hold->sites.n * sizeof *guards->paths);
    bool all = guards->paths != NULL;
    for (; all && guards->n < hold->sites.n; guards->n += all)
        all = (guards->paths[guards->n] = pdk__hold_node_path(hold, guards->n)) != NULL;
    if (!all)
        pdk__guards_clear(guards);
    return all ? 0 : PDK_ENOMEM;
}

/* --- the outcome ------------------------------------------------------------------------------------------------- */

static bool conflicts(int zrc) { return zrc == ZBADVERSION || zrc == ZNODEEXISTS || zrc == ZNOTEMPTY; }

int pdk__guarded_outcome(const struct pdk__exchange *x)
{
    assert(x->answered);
    if (x->unguarded)
        return PDK_ELOST;
    if (conflicts(x->zrc))
        return PDK_ECONFLICT;
    return pdk__meaning_of(x->zrc) == PDK__NOT_DONE ? PDK_EDISCONNECTED : pdk__error_of(x->zrc);
}

void pdk__guarded_reason(const struct pdk__exchange *x, char *buf, size_t size)
{
    snprintf(buf, size, "%s",
             x->unguarded            ? "its node is gone"
             : x->zrc == ZBADVERSION ? "another version"
             : x->zrc == ZNODEEXISTS ? "it is there already"
             : x->zrc == ZNOTEMPTY   ? "nodes are below it"
                                     : "");
    if (*buf == '\0' && pdk__error_of(x->zrc) == PDK_EREFUSED)
        pdk__code_describe(x->zrc, buf, size);
}

/* --- a write ----------------------------------------------------------------------------------------------------- */

static int check(const pdk_write *w)
{
    if (w == NULL || w->path == NULL || (w->data == NULL && w->size > 0) || w->size > DATA_MAX || w->version < -1)
        return PDK_EINVAL;
    if (w->kind != PDK_WRITE_SET && w->kind != PDK_WRITE_CREATE && w->kind != PDK_WRITE_DELETE)
        return PDK_EINVAL;
    return pdk__path_valid(w->path) ? 0 : PDK_EPATH;
}

static struct pdk__inquiry inquiry_of(const pdk_write *w, const struct pdk__guards *guards)
{
    static const enum pdk__request_kind kinds[] = {[PDK_WRITE_SET] = PDK__REQUEST_SET,
                                                   [PDK_WRITE_CREATE] = PDK__REQUEST_CREATE,
                                                   [PDK_WRITE_DELETE] = PDK__REQUEST_DELETE};
    return (struct pdk__inquiry){.kind = kinds[w->kind],
                                 .path = w->path,
                                 .data = w->data != NULL ? w->data : "",
                                 .size = w->size,
                                 .version = w->version,
                                 .guards = (const char *const *)guards->paths,
                                 .n_guards = guards->n};
}

/* "PATH: WHY". */
static void describe(const char *path, const struct pdk__exchange *x, char why[PDK__INCIDENT_MAX])
{
    char reason[128];
    pdk__guarded_reason(x, reason, sizeof reason);
    snprintf(why, PDK__INCIDENT_MAX, "%.300s%s%s", path, *reason != '\0' ? ": " : "", reason);
}

static const char verb[] = "write under";

/* --- that is waited for ------------------------------------------------------------------------------------------ */

struct waiting {
    struct pdk__hold *hold;
    int64_t token; /* of its grant */
    const pdk_write *write;
    struct pdk__guards guards;
};

/* Another thread may have released it, or a leader may have another term. */
static bool over(const struct waiting *w) { return !pdk__hold_valid(w->hold) || w->hold->token != w->token; }

static int attempt(void *arg, int64_t deadline_ms)
{
    struct waiting *w = arg;
    struct pdk__inquiry inquiry = inquiry_of(w->write, &w->guards);
    struct pdk__object *o = w->hold->object;
    struct pdk__exchange *x;
    char why[PDK__INCIDENT_MAX];
    if (over(w))
        return PDK_ELOST;
    int rc = pdk__exchange_begin(o->client, &inquiry, NULL, NULL, &x);
    if (rc != 0)
        return rc;
    if (pdk__exchange_await(x, deadline_ms) == 0) {
        rc = pdk__guarded_outcome(x);
        describe(w->write->path, x, why);
    } else {
        rc = PDK_EUNKNOWN;
        snprintf(why, sizeof why, "%.300s: no answer in time", w->write->path);
    }
    pdk__exchange_unref(x);
    return rc != 0 ? pdk__object_explain(o, verb, rc, why) : 0;
}

static int write_and_wait(struct pdk__hold *hold, const pdk_write *write, int64_t timeout_ms)
{
    struct waiting w = {.hold = hold, .write = write};
    int rc = pdk__guards_init(&w.guards, hold);
    if (rc != 0)
        return rc;
    struct pdk_client *c = pdk__hold_client(hold);
    int64_t wait_ms = timeout_ms != 0 ? timeout_ms : c->session.timeout_ms;
    int64_t deadline_ms = pdk__deadline_ms(pdk__now_ms(), wait_ms);
    w.token = hold->token;
    pdk__hold_ref(hold);
    rc = timeout_ms != 0 ? pdk__exchange_until(c, deadline_ms, attempt, &w) : pdk__client_may_wait(c);
    if (timeout_ms == 0 && rc == 0)
        rc = attempt(&w, deadline_ms);
    pdk__hold_unref(hold);
    pdk__guards_clear(&w.guards);
    return rc;
}

int pdk_grant_write(pdk_grant *g, const pdk_write *write, int64_t timeout_ms)
{
    int rc = g != NULL ? check(write) : PDK_EINVAL;
    if (rc != 0 || (rc = pdk__object_begin(&g->lock->object)) != 0)
        return rc;
    struct pdk__object *o = &g->lock->object; /* the handle may end while we wait */
    return pdk__object_end(o, verb, write_and_wait(pdk__grant_held(g), write, timeout_ms));
}

static int write_of_thread(pdk_lock *l, const pdk_write *write, int64_t timeout_ms)
{
    int rc = check(write);
    if (rc != 0 || (rc = pdk__lock_begin(l)) != 0)
        return rc;
    return pdk__object_end(&l->object, verb, write_and_wait(pdk__lock_asked(l), write, timeout_ms));
}

int pdk_guarded_set(pdk_lock *l, const char *path, const void *data, size_t size, int32_t version, int64_t timeout_ms)
{
    pdk_write write = {.kind = PDK_WRITE_SET, .path = path, .data = data, .size = size, .version = version};
    return write_of_thread(l, &write, timeout_ms);
}

int pdk_guarded_create(pdk_lock *l, const char *path, const void *data, size_t size, int64_t timeout_ms)
{
    pdk_write write = {.kind = PDK_WRITE_CREATE, .path = path, .data = data, .size = size};
    return write_of_thread(l, &write, timeout_ms);
}

int pdk_guarded_delete(pdk_lock *l, const char *path, int32_t version, int64_t timeout_ms)
{
    pdk_write write = {.kind = PDK_WRITE_DELETE, .path = path, .version = version};
    return write_of_thread(l, &write, timeout_ms);
}

/* --- with a callback ---------------------------------------------------------------------------------------------- */

struct sent {
    struct pdk__callback callback;
    struct pdk__object *object; /* counted */
    char *path;
    pdk_lock_cb cb;
    void *arg;
    int rc;
};

static void end(struct sent *s)
{
    pdk__object_unref(s->object);
    pdk__free(s->path);
    pdk__free(s);
}

static void run(struct pdk__callback *callback)
{
    struct sent *s = PDK__MEMBER(callback, struct sent, callback);
    struct pdk_client *c = s->object->client;
    s->cb(s->rc, s->arg);
    pdk__client_ref(c);
    pdk__client_lock(c);
    end(s);
    pdk__client_leave(c);
    pdk__client_unref(c);
}

static void heard(struct pdk__exchange *x, void *arg)
{
    struct sent *s = arg;
    char why[PDK__INCIDENT_MAX];
    s->rc = pdk__guarded_outcome(x);
    describe(s->path, x, why);
    if (s->rc != 0)
        pdk__object_incident_for(s->object, verb, s->rc, why);
    pdk__client_queue_callback(x->client, &s->callback);
}

static struct sent *make(struct pdk__object *o, const char *path, pdk_lock_cb cb, void *arg)
{
    struct sent *s = pdk__alloc(sizeof *s);
    char *copy = s != NULL ? pdk__strdup(path) : NULL;
    if (copy == NULL) {
        pdk__free(s);
        return NULL;
    }
    pdk__object_ref(o);
    *s = (struct sent){.callback.run = run, .object = o, .path = copy, .cb = cb, .arg = arg};
    pdk__list_init(&s->callback.link);
    return s;
}

static int send_write(struct pdk__object *o, struct pdk__hold *hold, const pdk_write *write, pdk_lock_cb cb, void *arg)
{
    struct pdk__guards guards;
    struct pdk__exchange *x;
    int rc = pdk__guards_init(&guards, hold);
    struct sent *s = rc == 0 ? make(o, write->path, cb, arg) : NULL;
    if (rc == 0 && s == NULL)
        rc = PDK_ENOMEM;
    if (rc == 0) {
        struct pdk__inquiry inquiry = inquiry_of(write, &guards);
        rc = pdk__exchange_begin(o->client, &inquiry, heard, s, &x);
        if (rc == 0)
            pdk__exchange_unref(x);
        else
            end(s);
    }
    pdk__guards_clear(&guards);
    return pdk__object_end(o, verb, rc);
}

int pdk_guarded_write_async(pdk_lock *l, const pdk_write *write, pdk_lock_cb cb, void *arg)
{
    int rc = cb != NULL ? check(write) : PDK_EINVAL;
    if (rc != 0 || (rc = pdk__lock_begin(l)) != 0)
        return rc;
    return send_write(&l->object, pdk__lock_asked(l), write, cb, arg);
}

int pdk_grant_write_async(pdk_grant *g, const pdk_write *write, pdk_lock_cb cb, void *arg)
{
    int rc = g != NULL && cb != NULL ? check(write) : PDK_EINVAL;
    if (rc != 0 || (rc = pdk__object_begin(&g->lock->object)) != 0)
        return rc;
    return send_write(&g->lock->object, pdk__grant_held(g), write, cb, arg);
}
