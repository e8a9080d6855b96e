/* A client's life: created or adopted, waited for, dispatched, closed. It is the roof: no file of the driver calls
 * it. */

#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/incident.h"
#include "lib/zk/account.h"
#include "lib/zk/callbacks.h"
#include "lib/zk/exchange.h"
#include "lib/zk/handle.h"
#include "lib/zk/log.h"
#include "lib/zk/member.h"
#include "lib/zk/opener.h"
#include "lib/zk/registry.h"
#include "lib/zk/session_driver.h"
#include "lib/zk/stray.h"
#include "lib/zk/timers.h"
#include "lib/zk/window.h"
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* How long a close waits for the replies to requests in flight; then for the handle to be closed, which takes
 * ZooKeeper's client up to 4500 ms; or for a handle that is being opened. How long the client's creator waits for
 * its first handle. Host names that take longer are resolved in the background. */
enum { REPLIES_MS = 2000, CLOSE_MS = 5000, CLOSE_OPENING_MS = 500, LAUNCH_MS = 2000 };

/* --- birth ------------------------------------------------------------------------------------------------------- */

/* Creating, closing and dispatching are no cancellation points. A cancellation half-way would leave a client that no
 * thread can use or free. */
static int forbid_cancel(void)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

/* A name that stands for several servers counts once. */
static bool several(const char *hosts) { return hosts != NULL && strchr(hosts, ',') != NULL; }

static void destroy(struct pdk_client *c)
{
    assert(!pdk__client_locked(c) && c->refs == 0);
    assert(pdk__list_empty(&c->registered.by_id) && pdk__list_empty(&c->requests) &&
           pdk__list_empty(&c->timers.waiters));
    assert(pdk__list_empty(&c->releases.list) && c->releases.n_flushing == 0);
    assert(c->members.n_needing_lease == 0 && c->members.path_bytes == 0);
    pdk__strays_end(c);
    pdk__index_end(&c->index);
    pdk__index_end(&c->joinable.under_way);
    pthread_cond_destroy(&c->callbacks.queued);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    pdk__log_end(c);
    pdk__options_clear(&c->options);
    pdk__free(c->hosts);
    pdk__free(c->identity);
    pdk__free(c);
}

static const struct pdk__upper upper = {.session = pdk__client_session_step, .end = destroy};

static void init(struct pdk_client *c, bool adopted)
{
    c->refs = 1;
    c->process = pdk__process_self();
    c->upper = &upper;
    c->adopted = adopted;
    c->account.number = pdk__incident_object();
    c->account.apart_ms = pdk__now_ms();
    snprintf(c->account.reason, sizeof c->account.reason, "no server reached yet");
    pthread_mutex_init(&c->lock, NULL);
    pdk__cond_init(&c->changed);
    pdk__cond_init(&c->callbacks.queued);
    pdk__list_init(&c->registered.by_id);
    pdk__list_init(&c->registered.by_handle);
    pdk__list_init(&c->timers.waiters);
    pdk__list_init(&c->requests);
    pdk__list_init(&c->members.list);
    pdk__list_init(&c->releases.list);
    pdk__list_init(&c->guard.deferred);
    pdk__list_init(&c->cohorts);
    pdk__list_init(&c->callbacks.list);
    if (getrandom(&c->seed, sizeof c->seed, GRND_NONBLOCK) != sizeof c->seed)
        c->seed = (uint64_t)pdk__now_ms() ^ (uint64_t)c->process.pid << 32;
    pdk__index_init(&c->index, c->seed);
    pdk__index_init(&c->joinable.under_way, c->seed);
    pdk__window_init(c);
}

/* HOSTS is NULL for a handle that is adopted. */
static struct pdk_client *make(const pdk_client_options *opts, const char *hosts)
{
    struct pdk_client *c = pdk__alloc(sizeof *c);
    if (c == NULL)
        return NULL;
    struct pdk_client_options defaults;
    pdk__options_init(&defaults);
    if (pdk__options_copy(&c->options, opts != NULL ? opts : &defaults) != 0) {
        pdk__free(c);
        return NULL;
    }
    if (pdk__log_begin(c) != 0) {
        pdk__options_clear(&c->options);
        pdk__free(c);
        return NULL;
    }
    init(c, hosts == NULL);
    if (pdk__strays_begin(c) != 0) {
        pdk__client_unref(c);
        return NULL;
    }
    pdk__client_session_init(c, several(hosts));
    return c;
}

/* The first handle: why it cannot be opened, or 0 if it was opened or is still being opened. The opener may end the
 * launch before it ends itself. From then on the session reports its result. */
static int open_first(struct pdk_client *c)
{
    int64_t deadline_ms = pdk__now_ms() + LAUNCH_MS;
    pdk__client_lock(c);
    c->opener.launching = true;
    pdk__opener_start(c);
    while (c->opener.launching && c->opener.opening && pdk__now_ms() < deadline_ms)
        pdk__client_await(c, &c->changed, deadline_ms, false);
    int rc = c->opener.launching && !c->opener.opening ? c->opener.rc : 0;
    c->opener.launching = false;
    pdk__opener_join(c);
    c->closing = rc != 0;
    pdk__client_leave(c);
    if (rc != 0)
        pdk__opener_leave(c);
    return rc;
}

/* The caller gets no client, so the incident is kept for no object. */
static void note_birth(struct pdk_client *c, int rc)
{
    char text[PDK__INCIDENT_MAX], trouble[200];
    pdk__log_trouble(c, trouble, sizeof trouble);
    if (c->adopted)
        pdk__incident_format(text, "adopt", "the handle", rc, trouble);
    else
        pdk__incident_format(text, "connect to", c->hosts, rc,
                             c->handle.unknown[0] != '\0' ? c->handle.unknown : trouble);
    pdk__incident_note(0, text);
}

/* The last steps of both ways to create a client. On failure nothing is left. */
static int launch(struct pdk_client *c, zhandle_t *adopted)
{
    int rc = pdk__registry_add(c);
    if (rc != 0)
        goto unregistered;
    rc = pdk__timers_start(c);
    if (rc != 0)
        goto unstarted;
    rc = pdk__callbacks_start(c);
    if (rc != 0)
        goto no_callbacks;
    rc = adopted != NULL ? pdk__handle_adopt(c, adopted) : open_first(c);
    if (rc == 0)
        return 0;
    pdk__log_flush(c);
    pdk__callbacks_stop(c);
    pdk__client_lock(c);
    pdk__callbacks_run(c); /* no program has the client to dispatch them */
    pdk__client_leave(c);
no_callbacks:
    pdk__timers_stop(c);
unstarted:
    pdk__registry_remove(c);
unregistered:
    note_birth(c, rc);
    pdk__client_unref(c);
    return rc;
}

static int new_client(pdk_client **out, const char *hosts, const pdk_client_options *opts)
{
    struct pdk_client *c = make(opts, hosts);
    if (c == NULL)
        return PDK_ENOMEM;
    c->hosts = pdk__strdup(hosts);
    if (c->hosts == NULL) {
        pdk__client_unref(c);
        return PDK_ENOMEM;
    }
    c->members.chroot_bytes = strlen(c->hosts + strcspn(c->hosts, "/"));
    int rc = launch(c, NULL);
    if (rc == 0)
        *out = c;
    return rc;
}

int pdk_client_new(pdk_client **out, const char *hosts, const pdk_client_options *opts)
{
    if (out == NULL || hosts == NULL || *hosts == '\0')
        return PDK_EINVAL;
    int before = forbid_cancel();
    pdk__incident_clear(0);
    int rc = new_client(out, hosts, opts);
    pthread_setcancelstate(before, NULL);
    return rc;
}

static int adopt_client(pdk_client **out, zhandle_t *zh, const pdk_client_options *opts)
{
    struct pdk_client *c = make(opts, NULL);
    if (c == NULL)
        return PDK_ENOMEM;
    c->zh = zh;
    int rc = launch(c, zh);
    if (rc == 0)
        *out = c;
    return rc;
}

int pdk_client_adopt(pdk_client **out, zhandle_t *zh, const pdk_client_options *opts)
{
    if (out == NULL || zh == NULL)
        return PDK_EINVAL;
    int before = forbid_cancel();
    pdk__incident_clear(0);
    int rc = adopt_client(out, zh, opts);
    pthread_setcancelstate(before, NULL);
    return rc;
}

/* --- death ------------------------------------------------------------------------------------------------------- */

/* An adopted handle's session goes on, so the nodes must be deleted one by one, while a server is there to answer. */
static int vacate(struct pdk_client *c)
{
    int64_t deadline_ms = pdk__now_ms() + c->session.timeout_ms;
    assert(c->adopted && c->closing);
    pdk__members_session(c, &(struct pdk__event){.kind = PDK__EV_SESSION_LEFT, .error = PDK_ECLOSED});
    while (pdk__members_awaited(c) && c->session.phase == PDK__SESSION_CONNECTED && pdk__now_ms() < deadline_ms)
        pdk__client_await(c, &c->changed, deadline_ms, false);
    bool may_land = pdk__strays_leave(c);
    if (c->over != 0) /* after its end no node was asked for; only the session's end deletes them */
        return c->over == PDK_EEXPIRED ? 0 : PDK_EUNKNOWN;
    return pdk__members_awaited(c) || may_land ? PDK_EUNKNOWN : 0;
}

/*
 * ZooKeeper's client waits for something to read once it has sent the end of the session, and takes that for the
 * answer. Once the replies to earlier requests have come, it is the answer: the nodes are deleted when the close
 * returns.
 */
static void await_replies(struct pdk_client *c)
{
    int64_t deadline_ms = pdk__now_ms() + REPLIES_MS;
    /* The session machine can lag when a watcher of the application is slow. */
    bool connected = c->zh != NULL && zoo_state(c->zh) == ZOO_CONNECTED_STATE;
    while (connected && !pdk__list_empty(&c->requests) && pdk__now_ms() < deadline_ms)
        pdk__client_await(c, &c->changed, deadline_ms, false);
}

static int shut(struct pdk_client *c)
{
    int rc = 0;
    assert(pdk__client_locked(c) && !c->closing && !c->closed);
    c->closing = true;
    pthread_cond_broadcast(&c->changed);
    if (c->adopted)
        rc = vacate(c);
    pdk__client_session(c, &(struct pdk__session_event){.kind = PDK__SEV_CLOSE, .now_ms = pdk__now_ms()});
    if (c->adopted)
        pdk__handle_release(c);
    await_replies(c);
    if (c->adopted)
        pdk__exchange_give_up_all(c);
    int64_t patience_ms = c->opener.opening ? CLOSE_OPENING_MS : CLOSE_MS;
    if (!c->adopted && !c->opener.opening)
        pdk__opener_start(c);
    pdk__opener_await(c, patience_ms);
    bool opening =
        c->opener.opening; /* then it disposes of its new handle, and of the requests in flight on the old one */
    pdk__client_leave(c);
    pdk__timers_stop(c);
    pdk__opener_leave(c);
    if (!c->adopted && !opening)
        pdk__handle_close(c);
    pdk__registry_remove(c);
    pdk__log_flush(c);
    pdk__callbacks_stop(c);
    pdk__client_lock(c);
    while (c->callbacks.calling) /* a program that dispatches is still running one */
        pdk__client_await(c, &c->changed, PDK__NEVER, false);
    pdk__callbacks_run(c);
    assert(!c->callbacks.calling && c->session.phase == PDK__SESSION_OVER);
    c->closed = true;
    pthread_cond_broadcast(&c->changed);
    return rc;
}

static int close_client(struct pdk_client *c)
{
    int rc = pdk__client_enter(c);
    if (rc != 0)
        return rc;
    if (!c->closed && pdk__client_may_wait(c) == PDK_EDEADLK) {
        rc = PDK_EDEADLK;
    } else if (!c->closing) {
        rc = shut(c);
    } else {
        while (!c->closed)
            pdk__client_await(c, &c->changed, PDK__NEVER, false);
    }
    pdk__client_leave(c);
    return rc;
}

int pdk_client_close(pdk_client *c)
{
    if (c == NULL)
        return PDK_EINVAL;
    int before = forbid_cancel();
    int rc = close_client(c);
    pthread_setcancelstate(before, NULL);
    return rc;
}

int pdk_client_free(pdk_client *c)
{
    if (c == NULL)
        return 0;
    int rc = pdk_client_close(c);
    if (rc != PDK_EDEADLK && rc != PDK_EFORKED)
        pdk__client_unref(c);
    return rc;
}

/* --- waiting, and dispatching ------------------------------------------------------------------------------------ */

int pdk_client_wait(pdk_client *c, int64_t timeout_ms)
{
    if (c == NULL)
        return PDK_EINVAL;
    int64_t deadline_ms = pdk__deadline_ms(pdk__now_ms(), timeout_ms);
    int rc = pdk__client_enter(c);
    if (rc != 0)
        return rc;
    while ((rc = pdk__client_may_wait(c)) == 0 && c->session.phase != PDK__SESSION_CONNECTED) {
        if (pdk__now_ms() >= deadline_ms) {
            rc = pdk__log_trouble_secure(c) ? PDK_ETLS : PDK_ETIMEDOUT;
            break;
        }
        pdk__client_await(c, &c->changed, deadline_ms, false);
    }
    pdk__client_end(c, "wait", "for the session", rc);
    pdk__client_leave(c);
    return rc;
}

int pdk_client_fd(pdk_client *c)
{
    if (c == NULL || pdk__client_enter(c) != 0)
        return -1;
    int fd = c->callbacks.ready_fd;
    pdk__client_leave(c);
    return fd;
}

static int dispatch(struct pdk_client *c)
{
    int rc = pdk__client_enter(c);
    if (rc != 0)
        return rc;
    assert(!c->told.telling || c->callbacks.calling);
    if (!c->options.dispatch_by_caller) {
        rc = PDK_EINVAL;
    } else if (c->callbacks.calling && pthread_equal(c->callbacks.calling_thread, pthread_self())) {
        rc = PDK_EDEADLK;
    } else {
        uint64_t count;
        ssize_t size = c->callbacks.ready_fd >= 0 ? read(c->callbacks.ready_fd, &count, sizeof count) : 0;
        (void)size; /* if nothing was due, a callback may be due by now */
        rc = pdk__callbacks_run(c);
    }
    pdk__client_leave(c);
    return rc;
}

int pdk_client_dispatch(pdk_client *c)
{
    if (c == NULL)
        return PDK_EINVAL;
    int before = forbid_cancel();
    int rc = dispatch(c);
    pthread_setcancelstate(before, NULL);
    return rc;
}
