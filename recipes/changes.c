#include "recipes/changes.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/zk/callbacks.h"
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* --- a queue ----------------------------------------------------------------------------------------------------- */

/* With memory, from now on. */
static bool provide(struct pdk__change_queue **queue)
{
    if (*queue == NULL)
        *queue = pdk__alloc(sizeof **queue);
    return *queue != NULL;
}

static void forget(struct pdk__change_queue *queue)
{
    if (queue != NULL)
        queue->n = 0;
}

static void put(struct pdk__change_queue *queue, const struct pdk__change *change)
{
    assert(queue->n <= PDK__CHANGES_MAX);
    if (queue->n == PDK__CHANGES_MAX)
        queue->n--; /* the last one is replaced: the present state must be reported */
    queue->list[queue->n++] = *change;
}

static bool take(struct pdk__change_queue *queue, struct pdk__change *change)
{
    if (queue == NULL || queue->n == 0)
        return false;
    *change = queue->list[0];
    memmove(queue->list, queue->list + 1, --queue->n * sizeof *queue->list);
    return true;
}

/* --- the callback ------------------------------------------------------------------------------------------------ */

/* With no lock; the owner, or even its client, may be freed in the callback. */
static void run(struct pdk__callback *callback)
{
    struct pdk__changes *changes = PDK__MEMBER(callback, struct pdk__changes, callback);
    struct pdk_client *c = changes->client;
    struct pdk__change change;
    pdk__client_ref(c);
    pdk__client_lock(c);
    while (take(changes->to_call, &change)) {
        pdk__change_cb *cb = changes->cb;
        void *arg = changes->arg;
        pdk__client_leave(c);
        changes->owner->call(changes->object, cb, arg, &change);
        pdk__client_lock(c);
    }
    changes->owner->unref(changes->object);
    pdk__client_leave(c);
    pdk__client_unref(c);
}

void pdk__changes_init(struct pdk__changes *changes, struct pdk_client *client, struct pdk__object *object,
                       const struct pdk__changes_owner *owner)
{
    *changes = (struct pdk__changes){.client = client, .object = object, .owner = owner, .callback.run = run, .fd = -1};
    pdk__list_init(&changes->callback.link);
}

static void queue_call(struct pdk__changes *changes, const struct pdk__change *change)
{
    put(changes->to_call, change);
    if (pdk__list_empty(&changes->callback.link))
        changes->owner->ref(changes->object);
    pdk__client_queue_callback(changes->client, &changes->callback);
}

static void queue_read(struct pdk__changes *changes, const struct pdk__change *change)
{
    put(changes->to_read, change);
    eventfd_write(changes->fd, 1);
}

void pdk__changes_tell(struct pdk__changes *changes, int what, int64_t token)
{
    struct pdk__change change = {what, token};
    assert(pdk__client_locked(changes->client));
    if (changes->cb != NULL)
        queue_call(changes, &change);
    if (changes->fd >= 0)
        queue_read(changes, &change);
}

int pdk__changes_call(struct pdk__changes *changes, pdk__change_cb *cb, void *arg)
{
    assert(pdk__client_locked(changes->client));
    if (cb != NULL && !provide(&changes->to_call))
        return PDK_ENOMEM;
    changes->cb = cb;
    changes->arg = arg;
    if (cb == NULL)
        forget(changes->to_call);
    return 0;
}

/* --- the descriptor ---------------------------------------------------------------------------------------------- */

int pdk__changes_fd(struct pdk__changes *changes)
{
    assert(pdk__client_locked(changes->client));
    if (!provide(&changes->to_read))
        return PDK_ENOMEM;
    if (changes->fd < 0)
        changes->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return changes->fd >= 0 ? changes->fd : PDK_ESYSTEM;
}

bool pdk__changes_read(struct pdk__changes *changes, struct pdk__change *change)
{
    eventfd_t count;
    assert(pdk__client_locked(changes->client));
    if (!take(changes->to_read, change))
        return false;
    if (changes->to_read->n == 0)
        eventfd_read(changes->fd, &count);
    return true;
}

void pdk__changes_end(struct pdk__changes *changes)
{
    pdk__changes_call(changes, NULL, NULL);
    if (changes->fd >= 0)
        close(changes->fd);
    changes->fd = -1;
    forget(changes->to_read);
}

void pdk__changes_clear(struct pdk__changes *changes)
{
    assert(pdk__list_empty(&changes->callback.link));
    pdk__free(changes->to_call);
    pdk__free(changes->to_read);
}
