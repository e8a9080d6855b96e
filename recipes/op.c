#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/incident.h"
#include "recipes/mutex.h"
#include <stdio.h>
#include <string.h>

static struct pdk_op *op_of(struct pdk__claim *claim) { return PDK__MEMBER(claim, struct pdk_op, claim); }

void pdk__op_unref(struct pdk_op *op)
{
    if (--op->refs > 0)
        return;
    struct pdk_mutex *m = op->mutex;
    pthread_cond_destroy(&op->news);
    pdk__free(op->data);
    pdk__free(op->why);
    pdk__free(op);
    pdk__mutex_unref(m);
}

/* --- callbacks --------------------------------------------------------------------------------------------------- */

/* A callback is called without the lock, and the op, or even its mutex and client, may be freed right after it. */
static void finish_notice(struct pdk_op *op)
{
    struct pdk_client *c = op->mutex->client;
    pdk__client_ref(c);
    pdk__client_lock(c);
    pdk__op_unref(op);
    pdk__client_leave(c);
    pdk__client_unref(c);
}

/* The callback may run long after the grant. A grant that is over by then is released here, because the caller
 * cannot know that it had one. */
static int final_result(struct pdk_op *op)
{
    if (op->result != 0)
        return op->result;
    pdk__client_heed(op->mutex->client);
    if (op->stage != PDK__OP_LOST)
        return 0;
    op->refs++; /* the reference that pdk__op_abandon() takes */
    pdk__op_abandon(op);
    return PDK_ELOST;
}

static void run_settled(struct pdk__notice *notice)
{
    struct pdk_op *op = PDK__MEMBER(notice, struct pdk_op, settled_notice);
    struct pdk_client *c = op->mutex->client;
    pdk__client_lock(c);
    int rc = final_result(op);
    pdk__client_leave(c);
    op->settled_cb(rc, op->settled_arg);
    finish_notice(op);
}

static void run_gone(struct pdk__notice *notice)
{
    struct pdk_op *op = PDK__MEMBER(notice, struct pdk_op, gone_notice);
    struct pdk_client *c = op->mutex->client;
    pdk__client_lock(c);
    int rc = op->release_result; /* it may have become known since the callback was queued */
    pdk__client_leave(c);
    op->gone_cb(rc, op->gone_arg);
    finish_notice(op);
}

static void notify(struct pdk_op *op, struct pdk__notice *notice)
{
    op->refs++;
    pdk__client_notify(op->mutex->client, notice);
}

static void settle(struct pdk_op *op, int rc)
{
    if (op->settled)
        return;
    op->settled = true;
    op->result = rc;
    if (op->settled_cb != NULL)
        notify(op, &op->settled_notice);
    pthread_cond_broadcast(&op->news);
}

/* --- incidents --------------------------------------------------------------------------------------------------- */

/* The claim's next request will soon overwrite its reason. */
static void keep_reason(struct pdk_op *op)
{
    pdk__free(op->why);
    op->why = pdk__strdup(op->claim.standing.why);
    op->waited_ms = pdk__now_ms() - op->began_ms;
}

static void describe(const struct pdk_op *op, const char *verb, int rc, char text[PDK__INCIDENT_MAX])
{
    const char *why = op->why != NULL ? op->why : "";
    if (rc == PDK_ETIMEDOUT)
        snprintf(text, PDK__INCIDENT_MAX, "%s %s: timed out after %lld ms%s%s", verb, op->mutex->path,
                 (long long)op->waited_ms, *why != '\0' ? ": " : "", why);
    else
        pdk__incident_format(text, verb, op->mutex->path, rc, why);
}

int pdk__op_blame(const struct pdk_op *op, const char *verb, int rc)
{
    char text[PDK__INCIDENT_MAX];
    describe(op, verb, rc, text);
    pdk__incident_note(op->mutex->number, text);
    return rc;
}

/* --- reports of the claim ---------------------------------------------------------------------------------------- */

static void granted(struct pdk__claim *claim, int64_t token)
{
    struct pdk_op *op = op_of(claim);
    op->stage = PDK__OP_GRANTED;
    op->token = token;
    op->count = 1;
    op->refs++; /* the owner's, until unlock */
    strcpy(op->node, claim->machine.name);
    op->mutex->error[0] = '\0';
    settle(op, 0);
}

static void fail(struct pdk_op *op, int rc)
{
    op->stage = PDK__OP_FAILED;
    pdk__list_remove(&op->link);
    settle(op, rc);
}

static void failed(struct pdk__claim *claim, int rc)
{
    struct pdk_op *op = op_of(claim);
    keep_reason(op);
    if (op->settled_cb != NULL)
        describe(op, "lock", rc, op->mutex->error);
    fail(op, rc);
}

static void lose(struct pdk_op *op)
{
    op->stage = PDK__OP_LOST;
    keep_reason(op);
    describe(op, "hold", PDK_ELOST, op->mutex->error);
    pdk__changes_tell(&op->mutex->changes, PDK_LOST, op->token);
}

static void changed(struct pdk__claim *claim, enum pdk__action_kind state)
{
    struct pdk_op *op = op_of(claim);
    if (op->stage != PDK__OP_GRANTED)
        return; /* unlocked meanwhile: no caller relies on it any more */
    if (state == PDK__ACT_LOST)
        lose(op);
    else
        pdk__changes_tell(&op->mutex->changes, state == PDK__ACT_SUSPECT ? PDK_SUSPECT : PDK_HELD, op->token);
}

/* The result of a release is reported once: that the node is deleted, or that no server could confirm it in time. */
static void tell_gone(struct pdk_op *op)
{
    if (op->gone_cb != NULL && !op->gone_told)
        notify(op, &op->gone_notice);
    op->gone_told = true;
}

static void due(struct pdk__claim *claim)
{
    struct pdk_op *op = op_of(claim);
    op->release_result = PDK_EUNKNOWN;
    pdk__mutex_incident(op->mutex, "unlock", PDK_EUNKNOWN);
    tell_gone(op);
}

/* The node of a failed request may stay on the servers: the incident of the failure includes that. */
static void note_leftover(struct pdk_op *op)
{
    char *text = op->mutex->error;
    const char *why = op->claim.standing.why;
    size_t n = strlen(text);
    if (strstr(text, why) == NULL)
        snprintf(text + n, PDK__INCIDENT_MAX - n, "%s%s", n > 0 ? "; " : "", why);
}

static void done(struct pdk__claim *claim, int rc)
{
    struct pdk_op *op = op_of(claim);
    op->gone = true;
    if (rc != 0 && op->stage == PDK__OP_FAILED)
        note_leftover(op);
    op->release_result = rc;
    if (rc != 0 && op->stage == PDK__OP_RELEASED)
        keep_reason(op);
    if (rc != 0 && op->gone_cb != NULL)
        describe(op, "unlock", rc, op->mutex->error);
    tell_gone(op);
    pthread_cond_broadcast(&op->news);
    pdk__op_unref(op);
}

static void revoked(struct pdk__claim *claim)
{
    struct pdk_op *op = op_of(claim);
    if (op->stage == PDK__OP_GRANTED)
        pdk__changes_tell(&op->mutex->revocations, 0, op->token);
}

static void hindered(struct pdk__claim *claim, const char *why)
{
    struct pdk_op *op = op_of(claim);
    struct pdk_mutex *m = op->mutex;
    if (op->stage == PDK__OP_PENDING)
        snprintf(m->error, sizeof m->error, "lock %s: not granted yet: %s", m->path, why);
    else if (op->stage == PDK__OP_GRANTED)
        snprintf(m->error, sizeof m->error, "hold %s: %s", m->path, why);
}

static const struct pdk__claim_listener listener = {granted, failed, changed, due, done, revoked, hindered};

/* --- start and abandon ------------------------------------------------------------------------------------------- */

static char *node_data(struct pdk_mutex *m, size_t *size)
{
    if (m->options.data != NULL) {
        *size = m->options.data_size;
        return pdk__memdup(m->options.data, m->options.data_size);
    }
    struct pdk__identity identity;
    pdk__identity_own(&identity, m->client->options.label);
    identity.confirmed = m->options.conditions.confirmed;
    identity.lock_delay_ms = m->options.conditions.lock_delay_ms;
    char *text = pdk__identity_format(&identity);
    *size = text != NULL ? strlen(text) : 0;
    return text;
}

static struct pdk_op *make(struct pdk_mutex *m, size_t *data_size)
{
    struct pdk_op *op = pdk__alloc(sizeof *op);
    if (op == NULL)
        return NULL;
    op->data = node_data(m, data_size);
    if (op->data == NULL || pdk__cond_init(&op->news) != 0) {
        pdk__free(op->data);
        pdk__free(op);
        return NULL;
    }
    op->mutex = m;
    op->refs = 2; /* the claim's and the caller's */
    m->refs++;
    pdk__list_init(&op->settled_notice.link);
    pdk__list_init(&op->gone_notice.link);
    op->settled_notice.run = run_settled;
    op->gone_notice.run = run_gone;
    pdk__list_append(&m->ops, &op->link);
    return op;
}

int pdk__op_start(struct pdk_op **out, struct pdk_mutex *m, bool try_only, int64_t deadline_ms, uint64_t thread,
                  pdk_lock_cb cb, void *arg)
{
    size_t data_size;
    struct pdk_op *op = make(m, &data_size);
    if (op == NULL)
        return PDK_ENOMEM;
    op->thread = thread;
    op->began_ms = pdk__now_ms();
    op->settled_cb = cb;
    op->settled_arg = arg;
    int rc = pdk__claim_start(&op->claim, m->client, &listener,
                              &(struct pdk__claim_spec){.path = m->path,
                                                        .word = PDK__WORD_LOCK,
                                                        .data = op->data,
                                                        .data_size = data_size,
                                                        .try_only = try_only,
                                                        .deadline_ms = deadline_ms,
                                                        .conditions = m->options.conditions});
    if (rc == 0) {
        *out = op;
        return 0;
    }
    pdk__list_remove(&op->link);
    op->refs = 1;
    pdk__op_unref(op);
    return rc;
}

void pdk__op_cancel(struct pdk_op *op)
{
    if (op->stage != PDK__OP_PENDING)
        return;
    fail(op, PDK_ECANCELED);
    pdk__claim_release(&op->claim);
}

void pdk__op_abandon(struct pdk_op *op)
{
    bool owned = op->stage == PDK__OP_GRANTED || op->stage == PDK__OP_LOST;
    bool contends = op->stage == PDK__OP_PENDING || op->stage == PDK__OP_GRANTED;
    if (op->stage != PDK__OP_FAILED) {
        op->stage = PDK__OP_RELEASED;
        pdk__list_remove(&op->link);
    }
    if (contends && !op->gone)
        pdk__claim_release(&op->claim);
    if (owned)
        pdk__op_unref(op); /* the owner's */
    pdk__op_unref(op);
}
