/*
 * A job that runs once. Each call is a row of requests, one after another: the answer to each is heard with the
 * client's lock, and asks for the next, or ends the call. A thread that waits makes a call again whose answer was lost:
 * it reads first, and finds what the lost request has done.
 *
 *     ask      read
 *     begin    [see our node] -> read -> [tell the time] -> write -> [read the record that it made]
 *                                read -> [see our node, where a later holder has written]
 *     end      write, or read -> write
 */
#include "paddock/once.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/core/once.h"
#include "lib/core/path.h"
#include "lib/zk/callbacks.h"
#include "lib/zk/code.h"
#include "recipes/grant.h"
#include "recipes/guarded.h"
#include "recipes/runs.h"
#include <stdio.h>
#include <string.h>

/* The holder alone writes, unless a client is hostile. */
enum { CONFLICTS_MAX = 16 };

enum call { CALL_NONE, CALL_ASK, CALL_BEGIN, CALL_END };

typedef void step(struct pdk_once *o, const struct pdk__exchange *x);

struct pdk_once {
    pdk_lock *lock; /* its object is counted */
    unsigned refs;  /* the user's, that of each request under way, and of a queued callback */
    char *path;     /* of the record */
    char key[PDK__RUN_KEY_MAX + 1];
    int64_t period_ms;
    bool any;

    /* the record, as it was read or written last */
    pdk_runs *runs;
    bool asked, there;
    int32_t version;

    /* the run */
    struct pdk__guards guards;
    struct pdk__run run; /* token 0: none has begun */
    uint64_t turn;       /* of its owner, where several follow each other under one node */
    bool began;
    bool unsure;             /* a write of it may have happened */
    int32_t written_version; /* that the record has by our last write */
    int status;
    unsigned n_conflicts; /* in this call: another has written between our read and our write */

    /* the call under way */
    enum call call;
    struct pdk__exchange *exchange; /* whose answer is awaited */
    step *next;
    int64_t token, now_ms, passed_ms, age_ms;
    struct pdk__runs *draft; /* to be written */
    int rc;
    char why[256];
    pthread_cond_t news;
    struct pdk__callback callback;
    pdk_lock_cb cb;
    void *arg;
};

static struct pdk__object *object_of(const struct pdk_once *o) { return &o->lock->object; }

static void unref(struct pdk_once *o)
{
    if (--o->refs > 0)
        return;
    pdk__object_unref(object_of(o));
    pdk__guards_clear(&o->guards);
    pthread_cond_destroy(&o->news);
    pdk__free(o->draft);
    pdk__free(o->runs);
    pdk__free(o->path);
    pdk__free(o);
}

/* --- the end of a call ------------------------------------------------------------------------------------------- */

static const char *verb_of(enum call call)
{
    static const char *const verbs[] = {[CALL_NONE] = "run",
                                        [CALL_ASK] = "ask for runs of",
                                        [CALL_BEGIN] = "begin a run of",
                                        [CALL_END] = "end a run of"};
    return verbs[call];
}

static void run_callback(struct pdk__callback *callback)
{
    struct pdk_once *o = PDK__MEMBER(callback, struct pdk_once, callback);
    struct pdk_client *c = object_of(o)->client;
    pdk__client_ref(c);
    pdk__client_lock(c);
    pdk_lock_cb cb = o->cb;
    void *arg = o->arg;
    int rc = o->rc;
    o->cb = NULL; /* it may make the next call */
    pdk__client_leave(c);
    cb(rc, arg);
    pdk__client_lock(c);
    unref(o);
    pdk__client_leave(c);
    pdk__client_unref(c);
}

static void finish(struct pdk_once *o, int rc, const char *why)
{
    assert(o->call != CALL_NONE && o->exchange == NULL);
    snprintf(o->why, sizeof o->why, "%s", why);
    o->rc = rc;
    pthread_cond_broadcast(&o->news);
    if (o->cb != NULL) {
        if (rc != 0 && rc != PDK_EDONE)
            pdk__object_incident_for(object_of(o), verb_of(o->call), rc, why);
        o->refs++;
        pdk__client_queue_callback(object_of(o)->client, &o->callback);
    }
    o->call = CALL_NONE;
}

/* --- requests ---------------------------------------------------------------------------------------------------- */

/* The answer to a request that a thread no longer waits for is not heard. */
static void heard(struct pdk__exchange *x, void *arg)
{
    struct pdk_once *o = arg;
    if (o->exchange == x) {
        o->exchange = NULL;
        o->next(o, x);
        pdk__exchange_unref(x);
    }
    unref(o);
}

static void ask(struct pdk_once *o, const struct pdk__inquiry *inquiry, step *next)
{
    assert(o->exchange == NULL);
    o->next = next;
    o->refs++;
    int rc = pdk__exchange_begin(object_of(o)->client, inquiry, heard, o, &o->exchange);
    if (rc == 0)
        return;
    o->exchange = NULL;
    o->refs--;
    finish(o, rc, "");
}

/* 0, or the call ends with why not. */
static int outcome(struct pdk_once *o, const struct pdk__exchange *x)
{
    char why[128];
    int rc = pdk__guarded_outcome(x);
    if (rc == 0)
        return 0;
    pdk__guarded_reason(x, why, sizeof why);
    finish(o, rc, why);
    return rc;
}

static void read_record(struct pdk_once *o, step *next)
{
    ask(o, &(struct pdk__inquiry){.kind = PDK__REQUEST_READ, .path = o->path}, next);
}

/* Take the record from X. 0; PDK_ERECORD: it cannot be read, and the call has ended, as by another failure. */
static int take_record(struct pdk_once *o, const struct pdk__exchange *x)
{
    o->there = x->zrc != ZNONODE;
    if (o->there && outcome(o, x) != 0)
        return o->rc;
    const char *why = pdk__runs_parse(&o->runs->record, x->data, o->there ? x->size : 0, x->stat.mtime);
    o->version = x->stat.version;
    o->asked = true;
    if (why != NULL)
        finish(o, PDK_ERECORD, why);
    return why != NULL ? PDK_ERECORD : 0;
}

/* Write DRAFT where the record is as it was read. */
static void write_record(struct pdk_once *o, step *next)
{
    o->written_version = o->there ? o->version + 1 : 0;
    char *text = pdk__runs_format(o->draft);
    if (text == NULL) {
        finish(o, PDK_ENOMEM, "");
        return;
    }
    struct pdk__inquiry inquiry = {.kind = o->there ? PDK__REQUEST_SET : PDK__REQUEST_CREATE,
                                   .path = o->path,
                                   .data = text,
                                   .size = strlen(text),
                                   .version = o->version,
                                   .guards = (const char *const *)o->guards.paths,
                                   .n_guards = o->guards.n};
    ask(o, &inquiry, next);
    pdk__free(text);
}

/* Another has written. 0: go on from what it wrote; PDK_ERECORD: the call has ended. */
static int meet_conflict(struct pdk_once *o)
{
    if (o->n_conflicts++ < CONFLICTS_MAX)
        return 0;
    finish(o, PDK_ERECORD, "other clients keep writing it");
    return PDK_ERECORD;
}

/* The outcome of a write: 0; 1: another has written, and the record is to be read again; else the call has ended. */
static int written(struct pdk_once *o, const struct pdk__exchange *x)
{
    int rc = pdk__guarded_outcome(x);
    bool conflicts = rc == PDK_ECONFLICT || (rc == PDK_ENOENT && o->there);
    if (conflicts)
        return meet_conflict(o) == 0 ? 1 : PDK_ERECORD;
    o->unsure = o->unsure || rc == PDK_EUNKNOWN;
    if (rc != 0)
        return outcome(o, x);
    o->runs->record = *o->draft;
    o->version = o->there ? x->stat.version : 0;
    o->there = true;
    return 0;
}

/* --- ask --------------------------------------------------------------------------------------------------------- */

static bool has_key(const struct pdk_once *o) { return o->key[0] != '\0'; }

static void asked(struct pdk_once *o, const struct pdk__exchange *x)
{
    if (take_record(o, x) != 0)
        return;
    finish(o, has_key(o) && pdk__runs_have(&o->runs->record, o->key) ? PDK_EDONE : 0, "");
}

/* --- begin ------------------------------------------------------------------------------------------------------- */

static void record_read(struct pdk_once *o, const struct pdk__exchange *x);

static void fill_time(struct pdk__run *run, int64_t time_ms)
{
    if (run->token > 0 && run->begun_ms == 0)
        run->begun_ms = time_ms;
}

/* The write was at TIME_MS. */
static void begun(struct pdk_once *o, int64_t time_ms)
{
    fill_time(&o->runs->record.last, time_ms);
    fill_time(&o->runs->record.done, time_ms);
    o->run = o->runs->record.last;
    o->began = true;
    o->unsure = false;
    finish(o, 0, "");
}

/* Is the last run in the record ours, whose write was not answered? */
static bool is_ours(const struct pdk_once *o)
{
    const struct pdk__run *last = &o->runs->record.last;
    return o->unsure && o->there && o->version == o->written_version && last->token == o->token && last->status < 0 &&
           strcmp(last->key, o->key) == 0;
}

static void judge(struct pdk_once *o);

/* The record that our write has made, unless another has written or deleted it since. */
static void made_read(struct pdk_once *o, const struct pdk__exchange *x)
{
    if (take_record(o, x) == 0 && (is_ours(o) || meet_conflict(o) == 0))
        judge(o);
}

static void begin_written(struct pdk_once *o, const struct pdk__exchange *x)
{
    bool makes = !o->there;
    int rc = written(o, x);
    o->unsure |= rc == 0; /* until its time is known */
    if (rc == 1)
        read_record(o, record_read);
    else if (rc == 0 && makes)
        read_record(o, made_read);
    else if (rc == 0)
        begun(o, x->stat.mtime);
}

static void write_beginning(struct pdk_once *o)
{
    struct pdk__identity identity;
    const struct pdk_client *c = object_of(o)->client;
    struct pdk__run run = {.period_ms = o->period_ms, .token = o->token};
    pdk__identity_own(&identity, c->options.label);
    strcpy(run.key, o->key);
    strcpy(run.host, identity.host);
    strcpy(run.label, identity.label);
    run.pid = identity.pid;
    *o->draft = o->runs->record;
    pdk__runs_begin(o->draft, &run, o->any);
    write_record(o, begin_written);
}

static void judge_age(struct pdk_once *o);

static void time_told(struct pdk_once *o, const struct pdk__exchange *x)
{
    int rc = written(o, x);
    if (rc == 1)
        read_record(o, record_read);
    if (rc != 0)
        return;
    o->now_ms = x->stat.mtime;
    o->passed_ms = 0;
    judge_age(o);
}

static void judge_age(struct pdk_once *o)
{
    const struct pdk__run *done = &o->runs->record.done;
    if (done->token == 0) {
        write_beginning(o);
        return;
    }
    o->age_ms = o->now_ms > done->begun_ms ? o->now_ms - done->begun_ms : 0;
    switch (pdk__once_judge(done->begun_ms, o->now_ms, o->passed_ms, o->period_ms)) {
    case PDK__ONCE_DUE:
        write_beginning(o);
        break;
    case PDK__ONCE_DONE:
        finish(o, PDK_EDONE, "");
        break;
    case PDK__ONCE_LATER: /* the same record, written again: its times are in it */
        *o->draft = o->runs->record;
        write_record(o, time_told);
        break;
    default:
        finish(o, PDK_ERECORD, "its last run begins in the future");
    }
}

/* A larger token is a later holder's, if ours is gone. Our server has seen what it has shown in the record. */
static void node_checked(struct pdk_once *o, const struct pdk__exchange *x)
{
    if (x->zrc == ZNONODE)
        finish(o, PDK_ELOST, "its node is gone");
    else if (outcome(o, x) == 0)
        finish(o, PDK_ERECORD, "it has a token larger than the lock's");
}

static void judge(struct pdk_once *o)
{
    const struct pdk__runs *record = &o->runs->record;
    if (is_ours(o))
        begun(o, record->last.begun_ms);
    else if (record->last.token > o->token || record->done.token > o->token)
        ask(o, &(struct pdk__inquiry){.kind = PDK__REQUEST_EXISTS, .path = o->guards.paths[0]}, node_checked);
    else if (!has_key(o))
        judge_age(o);
    else if (pdk__runs_have(record, o->key))
        finish(o, PDK_EDONE, "");
    else
        write_beginning(o);
}

static void record_read(struct pdk_once *o, const struct pdk__exchange *x)
{
    if (take_record(o, x) == 0)
        judge(o);
}

/* The leader's time at our node's last write, be it its creation. */
static void own_seen(struct pdk_once *o, const struct pdk__exchange *x)
{
    if (x->zrc == ZNONODE) {
        finish(o, PDK_ELOST, "");
        return;
    }
    if (outcome(o, x) != 0)
        return;
    o->now_ms = x->stat.mtime;
    read_record(o, record_read);
}

/* Under the grant, which must exclude every other. */
static int prepare(struct pdk_once *o, struct pdk__hold *hold)
{
    if (hold != NULL && (pdk__rule_shares(hold->wish->rule) || hold->wish->rule->admits > 1))
        return PDK_ENOTSUP;
    if (hold != NULL && (o->token != hold->token || o->turn != hold->turn))
        o->unsure = false;
    pdk__guards_clear(&o->guards);
    int rc = pdk__guards_init(&o->guards, hold);
    if (rc != 0)
        return rc;
    o->token = hold->token;
    o->turn = hold->turn;
    int64_t passed_ms = pdk__now_ms() - hold->began_ms;
    o->passed_ms = passed_ms > 0 ? passed_ms : 1;
    o->age_ms = -1;
    o->began = false;
    return 0;
}

static int start_begin(struct pdk_once *o, struct pdk__hold *hold)
{
    int rc = prepare(o, hold);
    if (rc != 0)
        return rc;
    o->call = CALL_BEGIN;
    if (has_key(o))
        read_record(o, record_read);
    else
        ask(o, &(struct pdk__inquiry){.kind = PDK__REQUEST_EXISTS, .path = o->guards.paths[0]}, own_seen);
    return 0;
}

/* --- end --------------------------------------------------------------------------------------------------------- */

static void end_read(struct pdk_once *o, const struct pdk__exchange *x);

static void ended(struct pdk_once *o)
{
    o->began = o->unsure = false;
    finish(o, 0, "");
}

/* The write was at TIME_MS; 0: it is not told. */
static void note_end(struct pdk_once *o, int64_t time_ms)
{
    struct pdk__runs *record = &o->runs->record;
    record->last.ended_ms = time_ms;
    if (record->done.token == record->last.token)
        record->done.ended_ms = time_ms;
}

static bool has_ended(const struct pdk_once *o)
{
    const struct pdk__run *last = &o->runs->record.last, *done = &o->runs->record.done;
    bool counts = done->token == o->run.token && done->begun_ms == o->run.begun_ms && !o->any;
    return o->unsure && (counts || (last->token == o->run.token && last->status == o->status));
}

/* Our node is gone, so no write of ours can come after this. */
static void last_read(struct pdk_once *o, const struct pdk__exchange *x)
{
    if (take_record(o, x) != 0)
        return;
    if (has_ended(o))
        ended(o);
    else
        finish(o, PDK_ELOST, "its node is gone");
}

static void end_written(struct pdk_once *o, const struct pdk__exchange *x)
{
    if (o->unsure && pdk__guarded_outcome(x) == PDK_ELOST) {
        read_record(o, last_read);
        return;
    }
    int rc = written(o, x);
    if (rc == 1)
        read_record(o, end_read);
    if (rc != 0)
        return;
    note_end(o, x->stat.mtime);
    ended(o);
}

/* Whatever another has made of the record meanwhile: the run is ours, while we hold. */
static void write_end(struct pdk_once *o)
{
    *o->draft = o->runs->record;
    o->draft->last = o->run;
    pdk__runs_end(o->draft, o->status, o->any || o->status == 0);
    write_record(o, end_written);
}

static void end_read(struct pdk_once *o, const struct pdk__exchange *x)
{
    struct pdk__runs *record = &o->runs->record;
    if (x->zrc != ZOK && x->zrc != ZNONODE) {
        outcome(o, x);
        return;
    }
    o->there = x->zrc == ZOK;
    o->version = x->stat.version;
    pdk__runs_parse(record, x->data, x->size, x->stat.mtime);
    write_end(o);
}

/* Has the grant passed to another owner, under the same node? */
static bool passed_on(const struct pdk_once *o)
{
    const struct pdk__object *object = object_of(o);
    if (object->kind->asked != pdk__lockable_asked)
        return false;
    uint64_t turn = pdk__lockable_turn(PDK__MEMBER(object, struct pdk__lockable, lock.object), o->run.token);
    return turn != 0 && turn != o->turn;
}

static int start_end(struct pdk_once *o)
{
    if (!o->began)
        return PDK_EPERM;
    if (passed_on(o))
        return PDK_ELOST;
    o->call = CALL_END;
    if (o->unsure)
        read_record(o, end_read);
    else
        write_end(o);
    return 0;
}

/* --- a call ------------------------------------------------------------------------------------------------------ */

static bool is_busy(const struct pdk_once *o) { return o->call != CALL_NONE || o->cb != NULL; }

static int start(struct pdk_once *o, enum call call, struct pdk__hold *hold)
{
    if (is_busy(o))
        return PDK_EBUSY;
    o->n_conflicts = 0;
    if (call == CALL_BEGIN)
        return start_begin(o, hold);
    if (call == CALL_END)
        return start_end(o);
    o->call = CALL_ASK;
    read_record(o, asked);
    return 0;
}

/* A thread no longer waits. */
static void abandon(struct pdk_once *o)
{
    o->unsure = o->unsure || o->call != CALL_ASK;
    if (o->exchange != NULL)
        pdk__exchange_unref(o->exchange);
    o->exchange = NULL;
    o->call = CALL_NONE;
}

/* The thread's wait for the end of the call. */
static int await_end(struct pdk_once *o, int64_t deadline_ms)
{
    int rc = 0;
    while (o->call != CALL_NONE && rc == 0)
        rc = pdk__client_await_answer(object_of(o)->client, &o->news, deadline_ms);
    if (rc == 0)
        return o->rc;
    abandon(o);
    snprintf(o->why, sizeof o->why, "no answer in time");
    return rc;
}

struct waiting {
    struct pdk_once *once;
    enum call call;
    struct pdk__hold *hold;
    int64_t token;
};

/* An outcome that is not known is asked for once more: that does no harm. */
static int attempt(void *arg, int64_t deadline_ms)
{
    const struct waiting *w = arg;
    struct pdk_once *o = w->once;
    if (w->hold != NULL && (!pdk__hold_valid(w->hold) || w->hold->token != w->token))
        return PDK_ELOST;
    int rc = start(o, w->call, w->hold);
    if (rc == 0)
        rc = await_end(o, deadline_ms);
    else
        o->why[0] = '\0';
    return rc == PDK_EUNKNOWN ? PDK_EDISCONNECTED : rc;
}

static int call_and_wait(struct pdk_once *o, enum call call, struct pdk__hold *hold, int64_t timeout_ms)
{
    struct waiting w = {o, call, hold, hold != NULL ? hold->token : 0};
    struct pdk_client *c = object_of(o)->client;
    int64_t wait_ms = timeout_ms != 0 ? timeout_ms : c->session.timeout_ms;
    int64_t deadline_ms = pdk__deadline_ms(pdk__now_ms(), wait_ms);
    o->refs++;
    if (hold != NULL)
        pdk__hold_ref(hold);
    int rc = timeout_ms != 0 ? pdk__exchange_until(c, deadline_ms, attempt, &w) : pdk__client_may_wait(c);
    if (timeout_ms == 0 && rc == 0)
        rc = attempt(&w, deadline_ms);
    if (hold != NULL)
        pdk__hold_unref(hold);
    if ((rc == PDK_ETIMEDOUT || rc == PDK_EDISCONNECTED) && o->unsure && call != CALL_ASK)
        rc = PDK_EUNKNOWN;
    if (rc != 0 && rc != PDK_EDONE && o->why[0] != '\0')
        pdk__object_explain(object_of(o), verb_of(call), rc, o->why);
    unref(o);
    return rc;
}

static int call_async(struct pdk_once *o, enum call call, struct pdk__hold *hold, pdk_lock_cb cb, void *arg)
{
    int rc = start(o, call, hold);
    if (rc != 0)
        return rc;
    if (o->call == CALL_NONE) /* it was not sent */
        return o->rc;
    o->cb = cb;
    o->arg = arg;
    return 0;
}

/* A call that is done is no failure, and has no incident. */
static int leave(struct pdk_once *o, enum call call, int rc)
{
    struct pdk__object *object = object_of(o);
    if (rc != PDK_EDONE)
        return pdk__object_end(object, verb_of(call), rc);
    pdk__object_end(object, verb_of(call), 0);
    return rc;
}

/* The grant G, or the thread's. */
static int enter_grant(struct pdk_once *o, pdk_grant *g, struct pdk__hold **hold)
{
    if (o == NULL || (g != NULL && g->lock != o->lock))
        return PDK_EINVAL;
    int rc = g != NULL ? pdk__object_begin(object_of(o)) : pdk__lock_begin(o->lock);
    if (rc == 0)
        *hold = g != NULL ? pdk__grant_held(g) : pdk__lock_asked(o->lock);
    return rc;
}

static int enter(struct pdk_once *o) { return o != NULL ? pdk__object_begin(object_of(o)) : PDK_EINVAL; }

static bool is_status(int status) { return status >= 0 && status <= 255; }

/* A call that is under way keeps its own: this one is refused. */
static void take_status(struct pdk_once *o, int status)
{
    if (!is_busy(o))
        o->status = status;
}

int pdk_once_ask(pdk_once *o, int64_t timeout_ms)
{
    int rc = enter(o);
    return rc == 0 ? leave(o, CALL_ASK, call_and_wait(o, CALL_ASK, NULL, timeout_ms)) : rc;
}

int pdk_once_begin(pdk_once *o, pdk_grant *g, int64_t timeout_ms)
{
    struct pdk__hold *hold;
    int rc = enter_grant(o, g, &hold);
    return rc == 0 ? leave(o, CALL_BEGIN, call_and_wait(o, CALL_BEGIN, hold, timeout_ms)) : rc;
}

int pdk_once_end(pdk_once *o, int status, int64_t timeout_ms)
{
    int rc = is_status(status) ? enter(o) : PDK_EINVAL;
    if (rc != 0)
        return rc;
    take_status(o, status);
    return leave(o, CALL_END, call_and_wait(o, CALL_END, NULL, timeout_ms));
}

int pdk_once_ask_async(pdk_once *o, pdk_lock_cb cb, void *arg)
{
    int rc = cb != NULL ? enter(o) : PDK_EINVAL;
    return rc == 0 ? leave(o, CALL_ASK, call_async(o, CALL_ASK, NULL, cb, arg)) : rc;
}

int pdk_once_begin_async(pdk_once *o, pdk_grant *g, pdk_lock_cb cb, void *arg)
{
    struct pdk__hold *hold;
    int rc = cb != NULL ? enter_grant(o, g, &hold) : PDK_EINVAL;
    return rc == 0 ? leave(o, CALL_BEGIN, call_async(o, CALL_BEGIN, hold, cb, arg)) : rc;
}

int pdk_once_end_async(pdk_once *o, int status, pdk_lock_cb cb, void *arg)
{
    int rc = cb != NULL && is_status(status) ? enter(o) : PDK_EINVAL;
    if (rc != 0)
        return rc;
    take_status(o, status);
    return leave(o, CALL_END, call_async(o, CALL_END, NULL, cb, arg));
}

/* --- the object -------------------------------------------------------------------------------------------------- */

static int make(pdk_once **out, pdk_lock *l, const char *key, int64_t period_ms)
{
    pdk_once *o = pdk__alloc(sizeof *o);
    if (o == NULL)
        return PDK_ENOMEM;
    o->path = pdk__runs_path(pdk_lock_path(l, 0));
    o->runs = pdk__alloc(sizeof *o->runs);
    o->draft = pdk__alloc(sizeof *o->draft);
    bool whole = o->path != NULL && o->runs != NULL && o->draft != NULL;
    int rc = whole && pdk__cond_init(&o->news) == 0 ? 0 : PDK_ENOMEM;
    if (rc == 0 && !pdk__path_valid(o->path)) {
        pthread_cond_destroy(&o->news);
        rc = PDK_EPATH;
    }
    if (rc != 0) {
        pdk__free(o->draft);
        pdk__free(o->runs);
        pdk__free(o->path);
        pdk__free(o);
        return rc;
    }
    snprintf(o->key, sizeof o->key, "%s", key != NULL ? key : "");
    o->lock = l;
    o->refs = 1;
    o->period_ms = period_ms;
    o->age_ms = -1;
    o->callback.run = run_callback;
    pdk__list_init(&o->callback.link);
    pdk__object_ref(&l->object);
    *out = o;
    return 0;
}

int pdk_once_new(pdk_once **out, pdk_lock *l, const char *key, int64_t period_ms)
{
    bool keyed = key != NULL && period_ms == 0 && pdk__run_key_valid(key);
    bool timed = key == NULL && period_ms > 0 && period_ms <= PDK_ONCE_PERIOD_MAX_MS;
    int rc = out != NULL && l != NULL && (keyed || timed) ? pdk__object_begin(&l->object) : PDK_EINVAL;
    return rc == 0 ? pdk__object_end(&l->object, "make a job of", make(out, l, key, period_ms)) : rc;
}

int pdk_once_free(pdk_once *o)
{
    if (o == NULL)
        return 0;
    struct pdk__object *object = object_of(o);
    int rc = pdk__object_begin(object);
    if (rc != 0)
        return rc;
    if (is_busy(o))
        rc = pdk__object_explain(object, "free a job of", PDK_EBUSY, "a call is under way");
    else
        unref(o);
    return pdk__object_end(object, "free a job of", rc);
}

int pdk_once_set_any(pdk_once *o, bool any)
{
    int rc = enter(o);
    if (rc != 0)
        return rc;
    o->any = any;
    return pdk__object_end(object_of(o), "set a job of", 0);
}

/* --- questions --------------------------------------------------------------------------------------------------- */

const pdk_runs *pdk_once_runs(pdk_once *o) { return o != NULL && o->asked ? o->runs : NULL; }

int64_t pdk_once_age_ms(pdk_once *o) { return o != NULL ? o->age_ms : -1; }
