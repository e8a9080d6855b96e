#include "lib/zk/client.h"
#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/core/contender.h"
#include "lib/incident.h"
#include "lib/zk/account.h"
#include "lib/zk/claim.h"
#include "lib/zk/request.h"
#include "lib/zk/stray.h"
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/* How long a close waits for the replies to requests in flight; then for the handle to be closed, which takes
 * ZooKeeper's client up to 4500 ms; or for a handle that is being opened. How long the client's creator waits for
 * its first handle. Host names that take longer are resolved in the background. */
enum { SETTLE_MS = 2000, CLOSE_MS = 5000, CLOSE_OPENING_MS = 500, LAUNCH_MS = 2000 };

/* --- the lock and the count -------------------------------------------------------------------------------------- */

void pdk__client_ref(struct pdk_client *c) { atomic_fetch_add(&c->refs, 1); }

void pdk__client_unref(struct pdk_client *c)
{
    if (atomic_fetch_sub(&c->refs, 1) != 1)
        return;
    pthread_cond_destroy(&c->noticed);
    pdk__strays_free(c);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    pdk__log_end(c);
    pdk__options_clear(&c->options);
    pdk__free(c->hosts);
    pdk__free(c);
}

/* ZooKeeper's client writes to a pipe inside its asynchronous calls: a cancellation point, with our lock held. */
void pdk__client_lock(struct pdk_client *c)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    pthread_mutex_lock(&c->lock);
    c->cancel_state = before;
}

int pdk__client_enter(struct pdk_client *c)
{
    if (!pdk__process_is_self(c->process)) /* touch nothing: the lock may have been held in the parent */
        return PDK_EFORKED;
    pdk__client_lock(c);
    return 0;
}

/* Report to the session whether any claim wants proof, once the effects of a call are complete. */
static void pass_wish_on(struct pdk_client *c)
{
    if (c->session.wanted == (c->n_wanting > 0))
        return;
    struct pdk__session_event event = {.kind = PDK__SEV_UNWANTED, .now_ms = pdk__now_ms()};
    if (c->n_wanting > 0)
        event.kind = PDK__SEV_WANTED;
    pdk__client_session(c, &event);
}

void pdk__client_leave(struct pdk_client *c)
{
    pass_wish_on(c);
    int before = c->cancel_state;
    pthread_mutex_unlock(&c->lock);
    pthread_setcancelstate(before, NULL);
}

static int over(const struct pdk_client *c) { return c->closing ? PDK_ECLOSED : c->over; }

/* The client whose events the calling thread delivers. Each thread notes it itself: the system gives the id of an
 * ended thread to a new one, which may have nothing to do with us. */
static _Thread_local uintptr_t serves;

void pdk__client_serve(struct pdk_client *c) { serves = c->id; }

int pdk__client_may_wait(struct pdk_client *c)
{
    bool dispatches = c->calling && pthread_equal(pthread_self(), c->calling_thread);
    return serves == c->id || dispatches ? PDK_EDEADLK : over(c);
}

int pdk__cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    int rc = pthread_cond_init(cond, &attr);
    pthread_condattr_destroy(&attr);
    return rc == 0 ? 0 : PDK_ESYSTEM;
}

/* With the lock, also when the waiting thread is cancelled: the waiter is on its stack. */
static void stop_waiting(void *waiter) { pdk__list_remove(&((struct pdk__waiter *)waiter)->link); }

/* The timers' thread wakes it in time: the clock of a condition stands still while the machine is suspended. The
 * condition's own timeout is for when that thread has ended. */
static void wait_until(struct pdk_client *c, pthread_cond_t *cond, int64_t deadline_ms)
{
    int64_t left_ms = deadline_ms - pdk__now_ms();
    if (left_ms <= 0)
        return;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t now_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 + 1;
    struct timespec at = pdk__timespec(left_ms < INT64_MAX - now_ms ? now_ms + left_ms : INT64_MAX);
    struct pdk__waiter waiter = {.cond = cond, .deadline_ms = deadline_ms};
    pdk__list_append(&c->waiters, &waiter.link);
    pdk__client_arm(c, deadline_ms);
    pthread_cleanup_push(stop_waiting, &waiter);
    pthread_cond_timedwait(cond, &c->lock, &at);
    pthread_cleanup_pop(1);
}

void pdk__client_await(struct pdk_client *c, pthread_cond_t *cond, int64_t deadline_ms, bool cancellable)
{
    int state = c->cancel_state;
    pass_wish_on(c);
    if (cancellable)
        pthread_setcancelstate(state, NULL);
    if (deadline_ms == PDK__NEVER)
        pthread_cond_wait(cond, &c->lock);
    else
        wait_until(c, cond, deadline_ms);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    c->cancel_state = state; /* other threads have had the lock since */
}

/* --- the session ------------------------------------------------------------------------------------------------- */

static pdk_session_state state_of(const struct pdk_client *c)
{
    switch (c->session.phase) {
    case PDK__SESSION_CONNECTED:
        return PDK_SESSION_CONNECTED;
    case PDK__SESSION_SUSPENDED:
        return PDK_SESSION_SUSPENDED;
    case PDK__SESSION_OVER:
        return PDK_SESSION_OVER;
    default:
        return PDK_SESSION_CONNECTING;
    }
}

static void feed_all(struct pdk_client *c, struct pdk__event event)
{
    PDK__LIST_EACH (link, &c->claims)
        pdk__claim_feed(PDK__MEMBER(link, struct pdk__claim, link), event);
}

static void carry_out(struct pdk_client *c, const struct pdk__session_action *action)
{
    switch (action->kind) {
    case PDK__SACT_UP:
        feed_all(c, (struct pdk__event){.kind = PDK__EV_SESSION_UP, .session = action->session});
        break;
    case PDK__SACT_DOWN:
        feed_all(c, (struct pdk__event){.kind = PDK__EV_SESSION_DOWN});
        break;
    case PDK__SACT_PROVEN:
        feed_all(c, (struct pdk__event){.kind = PDK__EV_SESSION_PROVEN});
        break;
    case PDK__SACT_DOUBTED:
        feed_all(c, (struct pdk__event){.kind = PDK__EV_SESSION_DOUBTED});
        break;
    case PDK__SACT_PRESUMED:
        feed_all(c, (struct pdk__event){.kind = PDK__EV_SESSION_PRESUMED});
        break;
    case PDK__SACT_EXPIRED:
        feed_all(c, (struct pdk__event){.kind = PDK__EV_SESSION_EXPIRED});
        break;
    case PDK__SACT_OVER:
        c->over = action->error;
        feed_all(c, (struct pdk__event){.kind = PDK__EV_SESSION_OVER, .error = action->error});
        break;
    case PDK__SACT_OPEN:
        c->open_wanted = true;
        pdk__thread_wake(c);
        break;
    case PDK__SACT_PROBE:
        pdk__request_probe(c);
        break;
    case PDK__SACT_TOUCH:
        pdk__request_touch(c);
        break;
    case PDK__SACT_LEAVE:
        pdk__handle_leave(c);
        break;
    }
}

static void note_link(struct pdk_client *c)
{
    bool before = c->unfit;
    c->unfit = pdk__session_unfit(&c->session);
    if (before || !c->unfit)
        return;
    pdk__client_unfit(c, c->error, sizeof c->error);
    PDK__LIST_EACH (link, &c->claims)
        pdk__account_link(PDK__MEMBER(link, struct pdk__claim, link));
}

void pdk__client_session(struct pdk_client *c, const struct pdk__session_event *event)
{
    struct pdk__session_actions actions;
    enum pdk__session_phase before = c->session.phase;
    pdk__session_step(&c->session, event, &actions);
    pdk__account_session(c, before, event, &actions);
    pdk__client_arm(c, pdk__session_wake_ms(&c->session));
    note_link(c);
    for (size_t i = 0; i < actions.n; i++)
        carry_out(c, &actions.list[i]);
    if (actions.n == 0)
        return;
    PDK__LIST_EACH (link, &c->followers) {
        struct pdk__follower *f = PDK__MEMBER(link, struct pdk__follower, link);
        f->heed(f);
    }
    if (c->options.on_session != NULL)
        pdk__client_notify(c, &c->session_notice);
    pthread_cond_broadcast(&c->changed);
}

void pdk__client_heed(struct pdk_client *c)
{
    int64_t now_ms = pdk__now_ms();
    /* The handle knows of a lost connection before its other thread reports it, because an application may delay
     * that thread. A restored connection counts only when reported, after all earlier events. */
    bool connected = c->session.phase == PDK__SESSION_CONNECTED;
    if (connected && c->zh != NULL && zoo_state(c->zh) != ZOO_CONNECTED_STATE)
        pdk__client_session(c, &(struct pdk__session_event){.kind = PDK__SEV_DISCONNECTED, .now_ms = now_ms});
    if (now_ms >= pdk__session_wake_ms(&c->session))
        pdk__client_session(c, &(struct pdk__session_event){.kind = PDK__SEV_TIMER, .now_ms = now_ms});
}

/* The callback gets the session's state at the time it runs. It does not get states that came and went before. */
static void run_session_notice(struct pdk__notice *notice)
{
    struct pdk_client *c = PDK__MEMBER(notice, struct pdk_client, session_notice);
    pdk__client_lock(c);
    pdk_session_state state = state_of(c);
    bool news = state != c->told;
    c->told = state;
    memcpy(c->told_reason, c->reason, sizeof c->told_reason);
    c->telling = news;
    pdk__client_leave(c);
    if (!news)
        return;
    c->options.on_session(c, state, c->options.on_session_arg);
    pdk__client_lock(c);
    c->telling = false;
    pdk__client_leave(c);
}

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
    c->number = pdk__incident_object();
    c->apart_ms = pdk__now_ms();
    snprintf(c->reason, sizeof c->reason, "no server reached yet");
    c->refs = 1;
    c->process = pdk__process_self();
    c->adopted = hosts == NULL;
    pthread_mutex_init(&c->lock, NULL);
    pdk__cond_init(&c->changed);
    pdk__cond_init(&c->noticed);
    pdk__list_init(&c->link);
    pdk__list_init(&c->waiters);
    pdk__list_init(&c->requests);
    pdk__list_init(&c->claims);
    pdk__list_init(&c->followers);
    pdk__strays_init(c);
    pdk__list_init(&c->notices);
    pdk__list_init(&c->session_notice.link);
    c->session_notice.run = run_session_notice;
    if (getrandom(&c->seed, sizeof c->seed, GRND_NONBLOCK) != sizeof c->seed)
        c->seed = (uint64_t)pdk__now_ms() ^ (uint64_t)c->process.pid << 32;
    c->options.policy.movable = several(hosts);
    pdk__session_init(&c->session, !c->adopted, c->options.policy, c->seed, c->options.session_timeout_ms,
                      pdk__now_ms());
    return c;
}

/* The first handle: why it cannot be opened, or 0 if it was opened or is still being opened. The opener may end the
 * launch before it ends itself. From then on the session reports its result. */
static int open_first(struct pdk_client *c)
{
    int64_t deadline_ms = pdk__now_ms() + LAUNCH_MS;
    pdk__client_lock(c);
    c->launching = true;
    pdk__opener_start(c);
    while (c->launching && c->opening && pdk__now_ms() < deadline_ms)
        pdk__client_await(c, &c->changed, deadline_ms, false);
    int rc = c->launching && !c->opening ? c->open_rc : 0;
    c->launching = false;
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
        pdk__incident_format(text, "connect to", c->hosts, rc, trouble);
    pdk__incident_note(0, text);
}

/* The last steps of both ways to create a client. On failure nothing is left. */
static int launch(struct pdk_client *c, zhandle_t *adopted)
{
    int rc = pdk__registry_add(c);
    if (rc != 0)
        goto unregistered;
    rc = pdk__thread_start(c);
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
    pdk__thread_stop(c);
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
    feed_all(c, (struct pdk__event){.kind = PDK__EV_SESSION_LEFT, .error = PDK_ECLOSED});
    while (!pdk__list_empty(&c->claims) && c->session.phase == PDK__SESSION_CONNECTED && pdk__now_ms() < deadline_ms)
        pdk__client_await(c, &c->changed, deadline_ms, false);
    bool may_land = pdk__strays_leave(c);
    bool gone = pdk__list_empty(&c->claims) && !may_land;
    return gone || c->session.phase == PDK__SESSION_OVER ? 0 : PDK_EUNKNOWN;
}

/*
 * ZooKeeper's client waits for something to read once it has sent the end of the session, and takes that for the
 * answer. Once the replies to earlier requests have come, it is the answer: the nodes are deleted when the close
 * returns.
 */
static void settle(struct pdk_client *c)
{
    int64_t deadline_ms = pdk__now_ms() + SETTLE_MS;
    /* The session machine can lag when a watcher of the application is slow. */
    bool connected = c->zh != NULL && zoo_state(c->zh) == ZOO_CONNECTED_STATE;
    while (connected && !pdk__list_empty(&c->requests) && pdk__now_ms() < deadline_ms)
        pdk__client_await(c, &c->changed, deadline_ms, false);
}

static int shut(struct pdk_client *c)
{
    int rc = 0;
    c->closing = true;
    pthread_cond_broadcast(&c->changed);
    if (c->adopted)
        rc = vacate(c);
    pdk__client_session(c, &(struct pdk__session_event){.kind = PDK__SEV_CLOSE, .now_ms = pdk__now_ms()});
    if (c->adopted)
        pdk__handle_release(c);
    settle(c);
    int64_t patience_ms = c->opening ? CLOSE_OPENING_MS : CLOSE_MS;
    if (!c->adopted && !c->opening)
        pdk__opener_start(c);
    pdk__opener_await(c, patience_ms);
    bool opening = c->opening; /* then it disposes of its new handle, and of the requests in flight on the old one */
    pdk__client_leave(c);
    pdk__thread_stop(c);
    pdk__opener_leave(c);
    if (!c->adopted && !opening)
        pdk__handle_close(c);
    pdk__registry_remove(c);
    pdk__log_flush(c);
    pdk__callbacks_stop(c);
    pdk__client_lock(c);
    while (c->calling) /* a program that dispatches is still running one */
        pdk__client_await(c, &c->changed, PDK__NEVER, false);
    pdk__callbacks_run(c);
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

/* --- questions --------------------------------------------------------------------------------------------------- */

int pdk_client_wait(pdk_client *c, int64_t timeout_ms)
{
    if (c == NULL)
        return PDK_EINVAL;
    int rc = pdk__client_enter(c);
    if (rc != 0)
        return rc;
    int64_t deadline_ms = pdk__deadline_ms(pdk__now_ms(), timeout_ms);
    while ((rc = pdk__client_may_wait(c)) == 0 && c->session.phase != PDK__SESSION_CONNECTED) {
        if (pdk__now_ms() >= deadline_ms) {
            rc = PDK_ETIMEDOUT;
            break;
        }
        pdk__client_await(c, &c->changed, deadline_ms, false);
    }
    pdk__client_end(c, "wait", "for the session", rc);
    pdk__client_leave(c);
    return rc;
}

pdk_session_state pdk_client_state(pdk_client *c)
{
    if (c == NULL || pdk__client_enter(c) != 0)
        return PDK_SESSION_OVER;
    pdk_session_state state = state_of(c);
    pdk__client_leave(c);
    return state;
}

int64_t pdk_client_session_id(pdk_client *c)
{
    if (c == NULL || pdk__client_enter(c) != 0)
        return 0;
    int64_t id = c->session.id;
    pdk__client_leave(c);
    return id;
}

int pdk_client_session_timeout_ms(pdk_client *c)
{
    if (c == NULL || pdk__client_enter(c) != 0)
        return 0;
    int timeout_ms = c->session.id != 0 ? (int)c->session.timeout_ms : 0;
    pdk__client_leave(c);
    return timeout_ms;
}

int pdk_client_fd(pdk_client *c)
{
    if (c == NULL || pdk__client_enter(c) != 0)
        return -1;
    int fd = c->ready_fd;
    pdk__client_leave(c);
    return fd;
}

static int dispatch(struct pdk_client *c)
{
    int rc = pdk__client_enter(c);
    if (rc != 0)
        return rc;
    if (!c->options.dispatch_by_caller) {
        rc = PDK_EINVAL;
    } else if (c->calling && pthread_equal(c->calling_thread, pthread_self())) {
        rc = PDK_EDEADLK;
    } else {
        uint64_t count;
        if (c->ready_fd >= 0 && read(c->ready_fd, &count, sizeof count) < 0)
            rc = 0; /* nothing was due; a callback may be due by now */
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

/* --- incidents --------------------------------------------------------------------------------------------------- */

void pdk__client_incident(struct pdk_client *c, const char *verb, const char *subject, int rc)
{
    char why[PDK__REASON_MAX];
    pdk__account_error(c, rc, why, sizeof why);
    pdk__incident_format(c->error, verb, subject, rc, why);
    pdk__log(c, PDK_LOG_WARNING, "%s", c->error);
}

int pdk__client_end(struct pdk_client *c, const char *verb, const char *subject, int rc)
{
    char text[PDK__INCIDENT_MAX], why[PDK__REASON_MAX];
    pdk__incident_clear(c->number);
    if (rc == 0)
        return rc;
    pdk__account_error(c, rc, why, sizeof why);
    pdk__incident_format(text, verb, subject, rc, why);
    pdk__incident_note(c->number, text);
    return rc;
}

bool pdk__client_unfit(const struct pdk_client *c, char *buf, size_t size)
{
    if (!pdk__session_unfit(&c->session))
        return false;
    snprintf(buf, size,
             "connected, but the session cannot be confirmed in time: round trip %.3g s, session timeout %.3g s",
             (double)pdk__session_lag_ms(&c->session) / 1000, (double)c->session.timeout_ms / 1000);
    return true;
}

size_t pdk_client_last_error(pdk_client *c, char *buf, size_t size)
{
    if (c == NULL)
        return pdk__incident_copy(buf, size, pdk__incident_text(0));
    if (pdk__client_enter(c) != 0)
        return pdk__incident_copy(buf, size, "");
    const char *own = pdk__incident_text(c->number);
    size_t length = pdk__incident_copy(buf, size, own[0] != '\0' ? own : c->error);
    pdk__client_leave(c);
    return length;
}

size_t pdk_client_session_reason(pdk_client *c, char *buf, size_t size)
{
    if (c == NULL || pdk__client_enter(c) != 0)
        return pdk__incident_copy(buf, size, "");
    bool told = c->telling && pthread_equal(pthread_self(), c->calling_thread);
    size_t length = pdk__incident_copy(buf, size, told ? c->told_reason : c->reason);
    pdk__client_leave(c);
    return length;
}

/* --- the program's own ------------------------------------------------------------------------------------------- */

void pdk_client_set_user(pdk_client *c, void *user) { c->user = user; }

void *pdk_client_user(pdk_client *c) { return c->user; }

zhandle_t *pdk__client_zh(struct pdk_client *c) { return c->zh; }
