#include "recipes/events.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/zk/callbacks.h"
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static struct pdk_client *client_of(const struct pdk__events *events) { return events->object->client; }

/* --- a queue ----------------------------------------------------------------------------------------------------- */

/* With memory, from now on. */
static bool provide(struct pdk__event_queue **queue)
{
    if (*queue == NULL)
        *queue = pdk__alloc(sizeof **queue);
    return *queue != NULL;
}

static void forget(struct pdk__event_queue *queue)
{
    if (queue != NULL)
        queue->n = 0;
}

static void drop(struct pdk__event_queue *queue, size_t i)
{
    assert(i < queue->n);
    memmove(&queue->list[i], &queue->list[i + 1], (--queue->n - i) * sizeof *queue->list);
}

/* All that is about the grant itself is of one sort. */
static pdk_event_kind sort_of(pdk_event_kind kind)
{
    return kind == PDK_EVENT_QUEUED || kind == PDK_EVENT_REVOKED ? kind : PDK_EVENT_STATE;
}

/* Room for one more of KIND: the latest goes after which another of its sort comes. */
static void make_room(struct pdk__event_queue *queue, pdk_event_kind kind)
{
    unsigned later = 1U << sort_of(kind);
    size_t i = queue->n;
    while ((later & 1U << sort_of(queue->list[--i].kind)) == 0)
        later |= 1U << sort_of(queue->list[i].kind);
    drop(queue, i);
}

static void put(struct pdk__event_queue *queue, const pdk_event *event)
{
    assert(queue->n <= PDK__EVENTS_MAX);
    if (queue->n == PDK__EVENTS_MAX)
        make_room(queue, event->kind);
    queue->list[queue->n++] = *event;
}

static bool take(struct pdk__event_queue *queue, pdk_event *event)
{
    if (queue == NULL || queue->n == 0)
        return false;
    *event = queue->list[0];
    drop(queue, 0);
    return true;
}

/* --- the callback ------------------------------------------------------------------------------------------------ */

/* With no lock; the object, or even its client, may be freed in the callback. */
static void run(struct pdk__callback *callback)
{
    struct pdk__events *events = PDK__MEMBER(callback, struct pdk__events, callback);
    struct pdk_client *c = client_of(events);
    pdk_event event;
    pdk__client_ref(c);
    pdk__client_lock(c);
    while (take(events->to_call, &event)) {
        pdk_event_cb cb = events->cb;
        void *arg = events->arg;
        pdk__client_leave(c);
        cb(events->lock, &event, arg);
        pdk__client_lock(c);
    }
    pdk__object_unref(events->object);
    pdk__client_leave(c);
    pdk__client_unref(c);
}

void pdk__events_init(struct pdk__events *events, struct pdk__object *object, pdk_lock *lock)
{
    *events = (struct pdk__events){.object = object, .lock = lock, .callback.run = run, .fd = -1};
    pdk__list_init(&events->callback.link);
}

static void queue_call(struct pdk__events *events, const pdk_event *event)
{
    put(events->to_call, event);
    if (pdk__list_empty(&events->callback.link))
        pdk__object_ref(events->object);
    pdk__client_queue_callback(client_of(events), &events->callback);
}

static void queue_read(struct pdk__events *events, const pdk_event *event)
{
    put(events->to_read, event);
    eventfd_write(events->fd, 1);
}

void pdk__events_tell(struct pdk__events *events, pdk_event event)
{
    assert(pdk__client_locked(client_of(events)));
    if (events->cb != NULL)
        queue_call(events, &event);
    if (events->fd >= 0)
        queue_read(events, &event);
}

int pdk__events_call(struct pdk__events *events, pdk_event_cb cb, void *arg)
{
    assert(pdk__client_locked(client_of(events)));
    if (cb != NULL && !provide(&events->to_call))
        return PDK_ENOMEM;
    events->cb = cb;
    events->arg = arg;
    if (cb == NULL)
        forget(events->to_call);
    return 0;
}

/* --- the descriptor ---------------------------------------------------------------------------------------------- */

int pdk__events_fd(struct pdk__events *events)
{
    assert(pdk__client_locked(client_of(events)));
    if (!provide(&events->to_read))
        return PDK_ENOMEM;
    if (events->fd < 0)
        events->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return events->fd >= 0 ? events->fd : PDK_ESYSTEM;
}

bool pdk__events_read(struct pdk__events *events, pdk_event *event)
{
    eventfd_t count;
    assert(pdk__client_locked(client_of(events)));
    if (!take(events->to_read, event))
        return false;
    if (events->to_read->n == 0)
        eventfd_read(events->fd, &count);
    return true;
}

void pdk__events_end(struct pdk__events *events)
{
    pdk__events_call(events, NULL, NULL);
    if (events->fd >= 0)
        close(events->fd);
    events->fd = -1;
    forget(events->to_read);
}

void pdk__events_clear(struct pdk__events *events)
{
    assert(pdk__list_empty(&events->callback.link));
    pdk__free(events->to_call);
    pdk__free(events->to_read);
}
