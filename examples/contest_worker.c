/* One contender: a process of its own, with a client and a session of its own. */
#include "contest.h"

#include <errno.h>
#include <paddock.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CONNECT_MS = 20000 };

struct worker {
    const struct plan *plan;
    int index, diary;
    pdk_client *client;
    pdk_mutex *mutex;
    _Atomic int64_t lost_at_ns;
};

int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void tell(const struct worker *w, struct record r)
{
    r.worker = w->index;
    r.pid = (int32_t)getpid();
    if (write(w->diary, &r, sizeof r) != sizeof r)
        _exit(2); /* the parent has ended, or the pipe is broken: no reader is left */
}

static int fail(const struct worker *w, const char *doing, int rc)
{
    struct record r = {.at_ns = now_ns(), .what = WHAT_FAILED};
    snprintf(r.text, sizeof r.text, "%s: %s", doing, pdk_strerror(rc));
    tell(w, r);
    return rc;
}

static void notice(pdk_mutex *m, const pdk_event *event, void *arg)
{
    struct worker *w = arg;
    (void)m;
    if (event->state == PDK_LOST)
        atomic_store(&w->lost_at_ns, now_ns());
}

static int connect_client(struct worker *w)
{
    char label[32];
    pdk_client_options *o = pdk_client_options_new();
    if (!o)
        return fail(w, "options", PDK_ENOMEM);
    snprintf(label, sizeof label, "contest #%d", w->index + 1);
    int rc = pdk_client_options_set_session_timeout_ms(o, CONTEST_SESSION_MS);
    if (rc == 0)
        rc = pdk_client_options_set_label(o, label);
    if (rc == 0)
        rc = pdk_client_new(&w->client, w->plan->hosts, o);
    pdk_client_options_free(o);
    if (rc == 0)
        rc = pdk_client_wait(w->client, CONNECT_MS);
    return rc ? fail(w, w->plan->hosts, rc) : 0;
}

static int prepare(struct worker *w)
{
    int rc = connect_client(w);
    if (rc)
        return rc;
    rc = pdk_mutex_new(&w->mutex, w->client, w->plan->path, NULL);
    if (rc == 0)
        rc = pdk_lock_on_event(w->mutex, notice, w);
    return rc ? fail(w, w->plan->path, rc) : 0;
}

static void sleep_ms(int ms)
{
    struct timespec t = {.tv_nsec = (long)ms * NS_PER_MS};
    while (nanosleep(&t, &t) && errno == EINTR)
        ;
}

/* The work under the lock. No other worker is in here, or the laws of the contest are broken. */
static void work(const struct worker *w, int round)
{
    if (w->index == w->plan->victim && round == w->plan->fatal_round)
        for (;;)
            pause(); /* until the parent kills us in the middle of it */
    sleep_ms(2 + (w->index + round) % 4);
}

static int release(struct worker *w, int64_t since, int64_t token)
{
    /* Recorded before it is done: from here on we no longer believe that the lock is ours, and the parent reads of
     * the release before it reads of the next grant. */
    int64_t lost_at = atomic_load(&w->lost_at_ns), until = lost_at ? lost_at : now_ns();
    tell(w, (struct record){
                .at_ns = until, .token = token, .span_ns = until - since, .what = lost_at ? WHAT_LOST : WHAT_RELEASED});
    int rc = pdk_mutex_unlock(w->mutex);
    if (rc && rc != PDK_ELOST && rc != PDK_EUNKNOWN)
        return fail(w, "unlock", rc);
    return 0; /* lost: the servers gave it away; unknown: the library goes on deleting. We do not hold it now. */
}

static int take_turn(struct worker *w, int round)
{
    int64_t token = 0, asked = now_ns();
    int rc = pdk_mutex_lock(w->mutex);
    int64_t since = now_ns();
    if (rc)
        return fail(w, "lock", rc);
    atomic_store(&w->lost_at_ns, 0);
    rc = pdk_lock_token(w->mutex, &token, NULL);
    if (rc)
        return fail(w, "token", rc);
    tell(w, (struct record){.at_ns = since,
                            .token = token,
                            .span_ns = since - asked,
                            .what = WHAT_GRANTED,
                            .stays = w->index == w->plan->victim && round == w->plan->fatal_round});
    work(w, round);
    return release(w, since, token);
}

static void await_end_of_file(int pipe)
{
    char nothing;
    while (read(pipe, &nothing, 1) < 0 && errno == EINTR)
        ;
}

int worker_run(const struct plan *plan, int worker, int diary, int go, int victim)
{
    struct worker w = {.plan = plan, .index = worker, .diary = diary};
    int rc = prepare(&w);
    if (rc == 0) {
        tell(&w, (struct record){.at_ns = now_ns(), .what = WHAT_READY});
        await_end_of_file(go);
    }
    for (int round = 0; rc == 0 && round < plan->rounds; round++) {
        if (round == plan->rounds - 1 && worker != plan->victim)
            await_end_of_file(victim); /* so that the victim has a successor */
        rc = take_turn(&w, round);
    }
    if (w.client)
        pdk_client_close(w.client);
    pdk_lock_free(w.mutex);
    pdk_client_free(w.client);
    return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}
