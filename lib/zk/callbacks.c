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
    pdk__list_append(&c->callbacks.list, &callback->link);
    if (c->options.dispatch_by_caller)
        eventfd_write(c->callbacks.ready_fd, 1);
    else
        pthread_cond_signal(&c->callbacks.queued);
}

int pdk__callbacks_run(struct pdk_client *c)
{
    int n = 0;
    assert(pdk__client_locked(c));
    if (c->callbacks.calling)
        return 0;
    c->callbacks.calling = true;
    c->callbacks.calling_thread = pthread_self();
    for (; !pdk__list_empty(&c->callbacks.list); n++) {
        struct pdk__callback *callback = PDK__MEMBER(c->callbacks.list.next, struct pdk__callback, link);
        pdk__list_remove(&callback->link);
        pdk__client_leave(c);
        callback->run(callback);
        pdk__client_lock(c);
        assert(c->callbacks.calling && pthread_equal(c->callbacks.calling_thread, pthread_self()));
    }
    c->callbacks.calling = false;
    pthread_cond_broadcast(&c->changed);
    return n;
}

/* --- the thread -------------------------------------------------------------------------------------------------- */

static void *run(void *arg)
{
    struct pdk_client *c = arg;
    pdk__client_serve(c);
    pdk__client_lock(c);
    while (!c->callbacks.stopping || !pdk__list_empty(&c->callbacks.list)) {
        if (pdk__list_empty(&c->callbacks.list))
            pdk__client_await(c, &c->callbacks.queued, PDK__NEVER, false);
        else
            pdk__callbacks_run(c);
    }
    pdk__client_leave(c);
    return NULL;
}

int pdk__callbacks_start(struct pdk_client *c)
{
    c->callbacks.ready_fd = -1;
    if (!c->options.dispatch_by_caller)
        return pdk__thread_create(&c->callbacks.thread, run, c);
    c->callbacks.ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return c->callbacks.ready_fd >= 0 ? 0 : PDK_ESYSTEM;
}

void pdk__callbacks_stop(struct pdk_client *c)
{
    pdk__client_lock(c);
    c->callbacks.stopping = true;
    pthread_cond_broadcast(&c->callbacks.queued);
    pdk__client_leave(c);
    if (!c->options.dispatch_by_caller)
        pthread_join(c->callbacks.thread, NULL);
    pdk__client_lock(c);
    if (c->callbacks.ready_fd >= 0)
        close(c->callbacks.ready_fd);
    c->callbacks.ready_fd = -1;
    pdk__client_leave(c);
}
