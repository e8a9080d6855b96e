#include "recipes/attendance.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "recipes/node_data.h"

static struct pdk__attendance *attendance_of(struct pdk__participant *p)
{
    return PDK__MEMBER(p, struct pdk__attendance, participant);
}

/* --- count ------------------------------------------------------------------------------------------------------- */

struct pdk__attendance *pdk__attendance_new(struct pdk__object *o)
{
    static const pdk_lock_options identity;
    struct pdk__attendance *a = pdk__alloc(sizeof *a);
    if (a == NULL)
        return NULL;
    a->data = pdk__node_data_make(&identity, 0, o->client, &a->data_size);
    if (a->data == NULL || pdk__cond_init(&a->moved) != 0) {
        pdk__free(a->data);
        pdk__free(a);
        return NULL;
    }
    a->object = o;
    a->refs = 1;
    pdk__object_ref(o);
    return a;
}

void pdk__attendance_unref(struct pdk__attendance *a)
{
    assert(a->refs > 0);
    if (--a->refs > 0)
        return;
    struct pdk__object *o = a->object;
    assert(!a->at_work);
    pthread_cond_destroy(&a->moved);
    pdk__free(a->data);
    pdk__free(a);
    pdk__object_unref(o);
}

/* --- as a listener ----------------------------------------------------------------------------------------------- */

static void answer(struct pdk__attendance *a, int rc)
{
    if (a->answered)
        return;
    a->answered = true;
    a->result = rc;
    pthread_cond_broadcast(&a->moved);
}

static void entered(struct pdk__participant *p)
{
    attendance_of(p)->inside = true;
    answer(attendance_of(p), 0);
}

static void failed(struct pdk__participant *p, int rc) { answer(attendance_of(p), rc); }

static void lost(struct pdk__participant *p)
{
    struct pdk__attendance *a = attendance_of(p);
    a->lost = true;
    pdk__object_incident(a->object, "stay inside", PDK_ELOST);
}

/* A node that may be left is reported, though its caller may be gone. */
static void done(struct pdk__participant *p, int rc)
{
    struct pdk__attendance *a = attendance_of(p);
    assert(a->at_work);
    if (rc != 0 && a->answered)
        pdk__object_incident(a->object, "clean up", rc);
    a->at_work = false;
    answer(a, a->lost ? PDK_ELOST : rc);
    pdk__attendance_unref(a);
}

static const struct pdk__participant_listener listener = {entered, failed, lost, done};

/* --- requests ---------------------------------------------------------------------------------------------------- */

/* One look lasts until its answer has come. */
static struct pdk__participant_wish wish_of(const struct pdk__attendance *a, int64_t timeout_ms)
{
    const struct pdk_client *c = a->object->client;
    int64_t patience_ms = c->session.id != 0 ? c->session.timeout_ms : c->options.session_timeout_ms;
    return (struct pdk__participant_wish){
        .once = timeout_ms == 0,
        .deadline_ms = pdk__deadline_ms(pdk__now_ms(), timeout_ms == 0 ? patience_ms : timeout_ms)};
}

static struct pdk__node_data data_of(const struct pdk__attendance *a)
{
    return (struct pdk__node_data){a->data, a->data_size};
}

static void start(struct pdk__attendance *a)
{
    assert(!a->at_work && !a->answered);
    a->at_work = true;
    a->refs++;
}

/* It did not begin after all. */
static int begun(struct pdk__attendance *a, int rc)
{
    if (rc == 0)
        return 0;
    a->at_work = false;
    a->refs--;
    return rc;
}

int pdk__attendance_call(struct pdk__attendance *a, enum pdk__barrier_task task, int64_t timeout_ms)
{
    struct pdk__participant_wish wish = wish_of(a, timeout_ms);
    struct pdk__object *o = a->object;
    start(a);
    return begun(a, pdk__participant_call(&a->participant, o->client, &listener, o->path, data_of(a), task, &wish));
}

int pdk__attendance_enter(struct pdk__attendance *a, size_t count, int64_t timeout_ms)
{
    struct pdk__participant_wish wish = wish_of(a, timeout_ms);
    struct pdk__object *o = a->object;
    start(a);
    return begun(a, pdk__participant_enter(&a->participant, o->client, &listener, o->path, data_of(a), count, &wish));
}

void pdk__attendance_leave(struct pdk__attendance *a, int64_t timeout_ms)
{
    struct pdk__participant_wish wish = wish_of(a, timeout_ms);
    assert(a->inside && a->answered);
    a->inside = a->answered = false;
    if (a->at_work)
        pdk__participant_release(&a->participant, &wish);
    else
        answer(a, PDK_ELOST); /* with its session, or its client */
}

void pdk__attendance_drop(struct pdk__attendance *a)
{
    if (a->inside)
        pdk__attendance_leave(a, 0); /* it has entered since */
    else if (a->at_work && !a->answered)
        pdk__participant_release(&a->participant, NULL);
}

/* --- waiting ----------------------------------------------------------------------------------------------------- */

struct waiting {
    struct pdk__attendance *attendance;
    void (*cancelled)(struct pdk__attendance *a);
};

static void on_cancelled(void *arg)
{
    const struct waiting *w = arg;
    struct pdk__attendance *a = w->attendance;
    struct pdk__object *o = a->object;
    pdk__attendance_drop(a);
    w->cancelled(a);
    pdk__object_leave(o);
}

/* The timers' thread may be late: the machine tells a caller whose time is over at once. */
int pdk__attendance_await(struct pdk__attendance *a, void (*cancelled)(struct pdk__attendance *a))
{
    struct pdk_client *c = a->object->client;
    struct waiting w = {a, cancelled};
    pthread_cleanup_push(on_cancelled, &w);
    while (!a->answered) {
        pdk__participant_tick(&a->participant);
        if (!a->answered)
            pdk__client_await(c, &a->moved, pdk__participant_wake_ms(&a->participant), true);
    }
    pthread_cleanup_pop(0);
    return a->result;
}
