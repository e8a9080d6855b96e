#include "paddock/barrier.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "recipes/attendance.h"

struct pdk_barrier {
    struct pdk__object object;
    unsigned n_calls; /* under way */
};

static struct pdk__object *object_of(pdk_barrier *b) { return b != NULL ? &b->object : NULL; }

static pdk_barrier *barrier_of(struct pdk__object *o) { return PDK__MEMBER(o, struct pdk_barrier, object); }

static int init(struct pdk__object *o, const void *options)
{
    (void)o, (void)options;
    return 0;
}

static void clear(struct pdk__object *o) { assert(barrier_of(o)->n_calls == 0); }

static const struct pdk__object_kind kind = {
    .making = "make a barrier for", .size = sizeof(struct pdk_barrier), .init = init, .clear = clear};

int pdk_barrier_new(pdk_barrier **out, pdk_client *c, const char *path)
{
    struct pdk__object *o;
    int rc = out != NULL ? pdk__object_new(&o, c, path, &kind, NULL) : PDK_EINVAL;
    if (rc == 0)
        *out = barrier_of(o);
    return rc;
}

int pdk_barrier_free(pdk_barrier *b)
{
    if (b == NULL)
        return 0;
    int rc = pdk__object_begin(&b->object);
    if (rc != 0)
        return rc;
    if (b->n_calls > 0)
        rc = PDK_EBUSY;
    else
        pdk__object_retire(&b->object);
    return pdk__object_end(&b->object, "free", rc);
}

/* --- calls ------------------------------------------------------------------------------------------------------- */

static void end(struct pdk__attendance *a)
{
    assert(barrier_of(a->object)->n_calls > 0);
    barrier_of(a->object)->n_calls--;
    pdk__attendance_unref(a);
}

static int attend(pdk_barrier *b, enum pdk__barrier_task task, int64_t timeout_ms)
{
    int rc = pdk__client_may_wait(b->object.client);
    if (rc != 0)
        return rc;
    struct pdk__attendance *a = pdk__attendance_new(&b->object);
    if (a == NULL)
        return PDK_ENOMEM;
    b->n_calls++;
    rc = pdk__attendance_call(a, task, timeout_ms);
    if (rc == 0)
        rc = pdk__attendance_await(a, end);
    end(a);
    return rc;
}

static int call(pdk_barrier *b, const char *verb, enum pdk__barrier_task task, int64_t timeout_ms)
{
    int rc = pdk__object_begin(object_of(b));
    if (rc != 0)
        return rc;
    rc = attend(b, task, timeout_ms);
    if (rc == PDK_EREFUSED && task == PDK__BARRIER_REMOVE)
        rc = PDK_EINVAL; /* a delete that may be done is refused for nodes below only */
    if (rc == PDK_EINVAL)
        pdk__object_explain(&b->object, verb, rc, "nodes are below it: give the barrier a path of its own");
    return pdk__object_end(&b->object, verb, rc);
}

int pdk_barrier_set(pdk_barrier *b, int64_t timeout_ms) { return call(b, "set", PDK__BARRIER_SET, timeout_ms); }

int pdk_barrier_remove(pdk_barrier *b, int64_t timeout_ms)
{
    return call(b, "remove", PDK__BARRIER_REMOVE, timeout_ms);
}

int pdk_barrier_wait(pdk_barrier *b, int64_t timeout_ms) { return call(b, "wait at", PDK__BARRIER_WAIT, timeout_ms); }

/* --- as of every object ------------------------------------------------------------------------------------------ */

const char *pdk_barrier_path(pdk_barrier *b) { return b != NULL ? b->object.path : NULL; }

size_t pdk_barrier_last_error(pdk_barrier *b, char *buf, size_t size)
{
    return pdk__object_last_error(object_of(b), buf, size);
}
