#include "lib/alloc.h"
#include "lib/assert.h"
#include "paddock/barrier.h"
#include "recipes/attendance.h"

struct pdk_double_barrier {
    struct pdk__object object;
    unsigned count;
    struct pdk__attendance *stay; /* from the begin of an enter until the end of its leave; or NULL */
    bool calling;                 /* a call is under way */
};

static struct pdk__object *object_of(pdk_double_barrier *b) { return b != NULL ? &b->object : NULL; }

static pdk_double_barrier *barrier_of(struct pdk__object *o)
{
    return PDK__MEMBER(o, struct pdk_double_barrier, object);
}

static int init(struct pdk__object *o, const void *options)
{
    barrier_of(o)->count = *(const unsigned *)options;
    return 0;
}

static void clear(struct pdk__object *o) { assert(barrier_of(o)->stay == NULL && !barrier_of(o)->calling); }

static const struct pdk__object_kind kind = {
    .making = "make a double barrier for", .size = sizeof(struct pdk_double_barrier), .init = init, .clear = clear};

int pdk_double_barrier_new(pdk_double_barrier **out, pdk_client *c, const char *path, unsigned count)
{
    struct pdk__object *o;
    if (out == NULL || count < 1 || count > PDK_DOUBLE_BARRIER_MAX)
        return PDK_EINVAL;
    int rc = pdk__object_new(&o, c, path, &kind, &count);
    if (rc == 0)
        *out = barrier_of(o);
    return rc;
}

static void end_stay(struct pdk_double_barrier *b)
{
    struct pdk__attendance *stay = b->stay;
    assert(stay != NULL);
    b->stay = NULL;
    pdk__attendance_unref(stay);
}

int pdk_double_barrier_free(pdk_double_barrier *b)
{
    if (b == NULL)
        return 0;
    int rc = pdk__object_begin(&b->object);
    if (rc != 0)
        return rc;
    if (b->calling || (b->stay != NULL && !b->object.client->closed)) {
        rc = PDK_EBUSY;
    } else {
        if (b->stay != NULL)
            end_stay(b);
        pdk__object_retire(&b->object);
    }
    return pdk__object_end(&b->object, "free", rc);
}

/* --- enter and leave --------------------------------------------------------------------------------------------- */

static void end_call(struct pdk_double_barrier *b)
{
    assert(b->calling);
    b->calling = false;
    if (!b->stay->inside)
        end_stay(b);
}

/* The member is outside, or is about to be. */
static void cancelled(struct pdk__attendance *a)
{
    a->inside = false;
    end_call(barrier_of(a->object));
}

static int await(struct pdk_double_barrier *b)
{
    int rc = pdk__attendance_await(b->stay, cancelled);
    end_call(b);
    return rc;
}

static int enter(struct pdk_double_barrier *b, int64_t timeout_ms)
{
    int rc = pdk__client_may_wait(b->object.client);
    if (rc != 0)
        return rc;
    if (b->stay != NULL)
        return pdk__object_explain(&b->object, "enter", PDK_EBUSY, "it has entered, or is about to");
    b->stay = pdk__attendance_new(&b->object);
    if (b->stay == NULL)
        return PDK_ENOMEM;
    b->calling = true;
    rc = pdk__attendance_enter(b->stay, b->count, timeout_ms);
    if (rc != 0) {
        end_call(b);
        return rc;
    }
    rc = await(b);
    if (rc == PDK_EINVAL)
        pdk__object_explain(&b->object, "enter", rc, "a lock's nodes are there: give the barrier a path of its own");
    else if (rc == PDK_EBUSY)
        pdk__object_explain(&b->object, "enter", rc, "as many members as it has came before");
    return rc;
}

int pdk_double_barrier_enter(pdk_double_barrier *b, int64_t timeout_ms)
{
    int rc = pdk__object_begin(object_of(b));
    return rc == 0 ? pdk__object_end(&b->object, "enter", enter(b, timeout_ms)) : rc;
}

/* A client that is closed, or over, has lost what was inside; there is nothing to wait for. */
static int leave(struct pdk_double_barrier *b, int64_t timeout_ms)
{
    int rc = pdk__client_may_wait(b->object.client);
    if (rc == PDK_EDEADLK)
        return rc;
    if (b->calling)
        return PDK_EBUSY;
    if (b->stay == NULL)
        return pdk__object_explain(&b->object, "leave", PDK_EPERM, "it has not entered");
    b->calling = true;
    pdk__attendance_leave(b->stay, timeout_ms);
    return await(b);
}

int pdk_double_barrier_leave(pdk_double_barrier *b, int64_t timeout_ms)
{
    int rc = pdk__object_begin(object_of(b));
    return rc == 0 ? pdk__object_end(&b->object, "leave", leave(b, timeout_ms)) : rc;
}

/* --- questions --------------------------------------------------------------------------------------------------- */

pdk_state pdk_double_barrier_state(pdk_double_barrier *b)
{
    int rc = pdk__object_ask(object_of(b));
    if (rc != 0)
        return rc == PDK_EFORKED ? PDK_LOST : PDK_FREE;
    bool inside = b->stay != NULL && b->stay->inside;
    pdk_state state = !inside ? PDK_FREE : b->stay->lost ? PDK_LOST : PDK_HELD;
    pdk__object_leave(&b->object);
    return state;
}

unsigned pdk_double_barrier_count(pdk_double_barrier *b) { return b != NULL ? b->count : 0; }

/* --- as of every object ------------------------------------------------------------------------------------------ */

const char *pdk_double_barrier_path(pdk_double_barrier *b) { return b != NULL ? b->object.path : NULL; }

size_t pdk_double_barrier_last_error(pdk_double_barrier *b, char *buf, size_t size)
{
    return pdk__object_last_error(object_of(b), buf, size);
}
