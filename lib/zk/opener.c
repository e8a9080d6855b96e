#include "lib/zk/opener.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/zk/account.h"
#include "lib/zk/handle.h"
#include "lib/zk/thread.h"

/* With the lock. A client that is closed, or is just being created, needs no report of a failure. */
static void finish(struct pdk_client *c, int rc, zhandle_t *zh)
{
    assert(pdk__client_locked(c) && c->opener.opening);
    c->opener.opening = c->opener.wanted = false;
    c->opener.rc = rc;
    pthread_cond_broadcast(&c->changed);
    pdk__client_wake(c); /* which joins */
    if (rc == 0) {
        pdk__handle_take(c, zh);
    } else if (!c->closing && !c->opener.launching) {
        pdk__client_incident(c, "connect", c->hosts, rc);
        pdk__client_session(c, &(struct pdk__session_event){.kind = PDK__SEV_OPEN_FAILED, .now_ms = pdk__now_ms()});
    }
}

static void *run(void *arg)
{
    struct pdk_client *c = arg;
    zhandle_t *zh = NULL;
    pdk__handle_close(c);
    int rc = pdk__handle_wanted(c) ? pdk__handle_open(c, &zh) : PDK_ECLOSED;
    pdk__client_lock(c);
    if (c->closing && rc == 0)
        rc = PDK_ECLOSED;
    if (rc != 0 && zh != NULL) {
        pdk__client_leave(c);
        pdk__handle_end(c, zh);
        pdk__client_lock(c);
    }
    finish(c, rc, zh);
    pdk__client_leave(c);
    pdk__client_unref(c);
    return NULL;
}

/* The last steps of an opener need no lock. */
void pdk__opener_join(struct pdk_client *c)
{
    assert(pdk__client_locked(c));
    if (!c->opener.made || c->opener.opening)
        return;
    pthread_join(c->opener.thread, NULL);
    c->opener.made = false;
}

void pdk__opener_start(struct pdk_client *c)
{
    assert(pdk__client_locked(c) && !c->opener.opening && !c->adopted);
    pdk__opener_join(c);
    pdk__client_ref(c);
    c->opener.opening = true;
    c->opener.opening_ms = pdk__now_ms();
    int rc = pdk__thread_create(&c->opener.thread, run, c);
    c->opener.made = rc == 0;
    if (rc == 0)
        return;
    pdk__client_unref(c);
    finish(c, rc, NULL);
}

void pdk__opener_await(struct pdk_client *c, int64_t ms)
{
    int64_t deadline_ms = pdk__now_ms() + ms;
    while (c->opener.opening && pdk__now_ms() < deadline_ms)
        pdk__client_await(c, &c->changed, deadline_ms, false);
}

void pdk__opener_leave(struct pdk_client *c)
{
    pdk__client_lock(c);
    pdk__opener_join(c);
    if (c->opener.made)
        pthread_detach(c->opener.thread);
    c->opener.made = false;
    pdk__client_leave(c);
}
