#include "lib/zk/callbacks.h"
#include "lib/assert.h"
#include "lib/core/contender.h"
#include "lib/zk/thread.h"
#include <sys/eventfd.h>
#include <unistd.h>

void pdk__client_queue_callback(struct pdk_client *c, struct pdk__callback *callback)
{
    assert(pdk__client_locked(c) && callback->run != NULL);
    if (!pdk__list_empty(&callback->link))
        return;
    pdk__list_append(&c->callbacks, &callback->link);
    if (c->options.dispatch_by_caller)
        eventfd_write(c->ready_fd, 1);
    else
        pthread_cond_signal(&c->callback_queued);
}

int pdk__callbacks_run(struct pdk_client *c)
{
    int n = 0;
    assert(pdk__client_locked(c));
    if (c->calling)
        return 0;
    c->calling = true;
    c->calling_thread = pthread_self();
    for (; !pdk__list_empty(&c->callbacks); n++) {
        struct pdk__callback *callback = PDK__MEMBER(c->callbacks.next, struct pdk__callback, link);
        pdk__list_remove(&callback->link);
        pdk__client_leave(c);
        callback->run(callback);
        pdk__client_lock(c);
        assert(c->calling && pthread_equal(c->calling_thread, pthread_self()));
    }
    c->calling = false;
    pthread_cond_broadcast(&c->changed);
    return n;
}

/* --- the thread -------------------------------------------------------------------------------------------------- */

static void *run(void *arg)
{
    struct pdk_client *c = arg;
    pdk__client_serve(c);
    pdk__client_lock(c);
    while (!c->callbacks_stopping || !pdk__list_empty(&c->callbacks)) {
        if (pdk__list_empty(&c->callbacks))
            pdk__client_await(c, &c->callback_queued, PDK__NEVER, false);
        else
            pdk__callbacks_run(c);
    }
    pdk__client_leave(c);
    return NULL;
}

int pdk__callbacks_start(struct pdk_client *c)
{
    c->ready_fd = -1;
    if (!c->options.dispatch_by_caller)
        return pdk__thread_create(&c->callbacks_thread, run, c);
    c->ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return c->ready_fd >= 0 ? 0 : PDK_ESYSTEM;
}

void pdk__callbacks_stop(struct pdk_client *c)
{
    pdk__client_lock(c);
    c->callbacks_stopping = true;
    pthread_cond_broadcast(&c->callback_queued);
    pdk__client_leave(c);
    if (!c->options.dispatch_by_caller)
        pthread_join(c->callbacks_thread, NULL);
    pdk__client_lock(c);
    if (c->ready_fd >= 0)
        close(c->ready_fd);
    c->ready_fd = -1;
    pdk__client_leave(c);
}
