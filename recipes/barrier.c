#include "paddock/barrier.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "recipes/attendance.h"

struct pdk_barrier {
    struct pdk__object object;
    unsigned n_calls; /* under way */

    /* of a double barrier */
    unsigned count;               /* of its members; 0: it is none */
    struct pdk__attendance *stay; /* from the begin of an enter until the end of its leave; or NULL */
};

static struct pdk__object *object_of(pdk_barrier *b) { return b != NULL ? &b->object : NULL; }

static pdk_barrier *barrier_of(struct pdk__object *o) { return PDK__MEMBER(o, struct pdk_barrier, object); }

static bool is_double(const pdk_barrier *b) { return b->count > 0; }

/* --- the object -------------------------------------------------------------------------------------------------- */

static int init(struct pdk__object *o, const void *count)
{
    barrier_of(o)->count = *(const unsigned *)count;
    return 0;
}

static void clear(struct pdk__object *o) { assert(barrier_of(o)->n_calls == 0 && barrier_of(o)->stay == NULL); }

static const struct pdk__object_kind kind = {
    .making = "make a barrier for", .size = sizeof(struct pdk_barrier), .init = init, .clear = clear};

static int make(pdk_barrier **out, pdk_client *c, const char *path, unsigned count)
{
    struct pdk__object *o;
    int rc = out != NULL ? pdk__object_new(&o, c, path, &kind, &count) : PDK_EINVAL;
    if (rc == 0)
        *out = barrier_of(o);
    return rc;
}

int pdk_barrier_new(pdk_barrier **out, pdk_client *c, const char *path) { return make(out, c, path, 0); }

int pdk_barrier_new_double(pdk_barrier **out, pdk_client *c, const char *path, unsigned count)
{
    return count >= 1 && count <= PDK_BARRIER_MEMBERS_MAX ? make(out, c, path, count) : PDK_EINVAL;
}

static void end_stay(pdk_barrier *b)
{
    struct pdk__attendance *stay = b->stay;
    assert(stay != NULL);
    b->stay = NULL;
    pdk__attendance_unref(stay);
}

int pdk_barrier_free(pdk_barrier *b)
{
    if (b == NULL)
        return 0;
    int rc = pdk__object_begin(&b->object);
    if (rc != 0)
        return rc;
    if (b->n_calls > 0 || (b->stay != NULL && !b->object.client->closed)) {
        rc = PDK_EBUSY;
    } else {
        if (b->stay != NULL)
            end_stay(b);
        pdk__object_retire(&b->object);
    }
    return pdk__object_end(&b->object, "free", rc);
}

const char *pdk_barrier_path(pdk_barrier *b) { return b != NULL ? b->object.path : NULL; }

size_t pdk_barrier_last_error(pdk_barrier *b, char *buf, size_t size)
{
    return pdk__object_last_error(object_of(b), buf, size);
}

/* Begin VERB, of a double barrier or of one that is none. */
static int begin_call(pdk_barrier *b, const char *verb, bool of_double)
{
    int rc = pdk__object_begin(object_of(b));
    if (rc != 0 || is_double(b) == of_double)
        return rc;
    rc = pdk__object_explain(&b->object, verb, PDK_EINVAL,
                             of_double ? "it is no double barrier" : "it is a double one");
    return pdk__object_end(&b->object, verb, rc);
}

/* --- set, remove and wait ---------------------------------------------------------------------------------------- */

static void end_call(struct pdk__attendance *a)
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
        rc = pdk__attendance_await(a, end_call);
    end_call(a);
    return rc;
}

static int call(pdk_barrier *b, const char *verb, enum pdk__barrier_task task, int64_t timeout_ms)
{
    int rc = begin_call(b, verb, false);
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

/* --- enter and leave --------------------------------------------------------------------------------------------- */

static void end_visit(pdk_barrier *b)
{
    assert(b->n_calls == 1);
    b->n_calls = 0;
    if (!b->stay->inside)
        end_stay(b);
}

/* The member is outside, or is about to be. */
static void cancelled(struct pdk__attendance *a)
{
    a->inside = false;
    end_visit(barrier_of(a->object));
}

static int await(pdk_barrier *b)
{
    int rc = pdk__attendance_await(b->stay, cancelled);
    end_visit(b);
    return rc;
}

static int enter(pdk_barrier *b, int64_t timeout_ms)
{
    int rc = pdk__client_may_wait(b->object.client);
    if (rc != 0)
        return rc;
    if (b->stay != NULL)
        return pdk__object_explain(&b->object, "enter", PDK_EBUSY, "it has entered, or is about to");
    b->stay = pdk__attendance_new(&b->object);
    if (b->stay == NULL)
        return PDK_ENOMEM;
    b->n_calls = 1;
    rc = pdk__attendance_enter(b->stay, b->count, timeout_ms);
    if (rc != 0) {
        end_visit(b);
        return rc;
    }
    rc = await(b);
    if (rc == PDK_EINVAL)
        pdk__object_explain(&b->object, "enter", rc, "a lock's nodes are there: give the barrier a path of its own");
    else if (rc == PDK_EBUSY)
        pdk__object_explain(&b->object, "enter", rc, "as many members as it has came before");
    return rc;
}

int pdk_barrier_enter(pdk_barrier *b, int64_t timeout_ms)
{
    int rc = begin_call(b, "enter", true);
    return rc == 0 ? pdk__object_end(&b->object, "enter", enter(b, timeout_ms)) : rc;
}

/* A client that is closed, or over, has lost what was inside; there is nothing to wait for. */
static int leave(pdk_barrier *b, int64_t timeout_ms)
{
    int rc = pdk__client_may_wait(b->object.client);
    if (rc == PDK_EDEADLK)
        return rc;
    if (b->n_calls > 0)
        return PDK_EBUSY;
    if (b->stay == NULL)
        return pdk__object_explain(&b->object, "leave", PDK_EPERM, "it has not entered");
    b->n_calls = 1;
    pdk__attendance_leave(b->stay, timeout_ms);
    return await(b);
}

int pdk_barrier_leave(pdk_barrier *b, int64_t timeout_ms)
{
    int rc = begin_call(b, "leave", true);
    return rc == 0 ? pdk__object_end(&b->object, "leave", leave(b, timeout_ms)) : rc;
}

pdk_state pdk_barrier_state(pdk_barrier *b)
{
    int rc = pdk__object_ask(object_of(b));
    if (rc != 0)
        return rc == PDK_EFORKED ? PDK_LOST : PDK_FREE;
    bool inside = b->stay != NULL && b->stay->inside;
    pdk_state state = !inside ? PDK_FREE : b->stay->lost ? PDK_LOST : PDK_HELD;
    pdk__object_leave(&b->object);
    return state;
}
