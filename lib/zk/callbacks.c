/*
 * The user's callbacks, one at a time and with no lock held: on a thread that does nothing else, or where the program
 * dispatches them. So a callback that takes long delays neither a timer nor a new handle.
 */
#include "lib/core/contender.h"
#include "lib/zk/client.h"
#include <sys/eventfd.h>
#include <unistd.h>

void pdk__client_notify(struct pdk_client *c, struct pdk__notice *notice)
{
    if (!pdk__list_empty(&notice->link))
        return;
    pdk__list_append(&c->notices, &notice->link);
    if (c->options.dispatch_by_caller)
        eventfd_write(c->ready_fd, 1);
    else
        pthread_cond_signal(&c->noticed);
}

/* With the lock, which is released around each callback. A second caller leaves the callbacks to the first. */
int pdk__callbacks_run(struct pdk_client *c)
{
    int n = 0;
    if (c->calling)
        return 0;
    c->calling = true;
    c->calling_thread = pthread_self();
    for (; !pdk__list_empty(&c->notices); n++) {
        struct pdk__notice *notice = PDK__MEMBER(c->notices.next, struct pdk__notice, link);
        pdk__list_remove(&notice->link);
        pdk__client_leave(c);
        notice->run(notice);
        pdk__client_lock(c);
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
    while (!c->callbacks_stopping || !pdk__list_empty(&c->notices)) {
        if (pdk__list_empty(&c->notices))
            pdk__client_await(c, &c->noticed, PDK__NEVER, false);
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
    pthread_cond_broadcast(&c->noticed);
    pdk__client_leave(c);
    if (!c->options.dispatch_by_caller)
        pthread_join(c->callbacks_thread, NULL);
    pdk__client_lock(c);
    if (c->ready_fd >= 0)
        close(c->ready_fd);
    c->ready_fd = -1;
    pdk__client_leave(c);
}
