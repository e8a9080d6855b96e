#include "cli/run/acquisition.h"

#include "cli/connect.h"
#include "cli/incident.h"
#include "cli/message.h"
#include "cli/number.h"
#include "cli/run/candidacy.h"
#include "cli/target.h"
#include "lib/assert.h"

#include <paddock/semaphore.h>
#include <stdio.h>
#include <string.h>

static void released(int rc, void *arg)
{
    struct pdk__cli_acquisition *c = arg;
    /* The loss may become known only now: for an unknown part of its time the command had no lock. */
    if (rc == PDK_ELOST)
        c->lost = true;
    pdk__cli_phase_move(c, PHASE_ENDED);
}

/* If no server comes back, the release is not confirmed: the library reports that after a session timeout. */
static void release(struct pdk__cli_acquisition *c)
{
    pdk__cli_phase_move(c, PHASE_LEAVING);
    int rc = pdk__cli_object_release(&c->lock, released, c);
    /* Closing the session deletes the node as well. */
    if (rc != 0)
        released(rc, c);
}

static void keep_reason(struct pdk__cli_acquisition *c, int rc)
{
    c->rc = rc;
    pdk_lock_last_error(c->lock.lock, c->why, sizeof c->why);
}

static void hold(struct pdk__cli_acquisition *c)
{
    pdk__cli_phase_move(c, PHASE_HELD);
    c->state = PDK_HELD;
}

/* The run of the job has begun, or it is not to be done. The caller may have left meanwhile. */
static void begun(struct pdk__cli_acquisition *c, int rc)
{
    if (c->phase != PHASE_WAITING)
        return;
    c->once.begun = rc == 0;
    if (rc == 0) {
        hold(c);
        return;
    }
    c->lost |= rc == PDK_ELOST;
    keep_reason(c, rc);
    release(c);
}

/* The end of the run is recorded, or cannot be. */
static void ended(struct pdk__cli_acquisition *c, int rc)
{
    c->once.unrecorded = rc;
    c->lost |= rc == PDK_ELOST;
    if (rc != 0)
        pdk_lock_last_error(c->lock.lock, c->why, sizeof c->why);
    release(c);
}

static void granted(int rc, void *arg)
{
    struct pdk__cli_acquisition *c = arg;
    /* If no server could be asked for the lock, the result is not "busy". */
    if (rc == PDK_ETIMEDOUT && pdk_client_state(c->client) != PDK_SESSION_CONNECTED)
        rc = PDK_EDISCONNECTED;
    if (rc != 0) {
        pdk__cli_phase_end(c, rc);
    } else if (c->phase == PHASE_LEAVING) {
        release(c); /* the grant came before the cancellation */
    } else if (c->once.job != NULL) {
        c->granted = true;
        pdk__cli_once_begin(c, begun);
    } else {
        hold(c);
    }
}

/* There is one grant in an acquisition's life. */
static void happened(pdk_lock *l, const pdk_event *event, void *arg)
{
    struct pdk__cli_acquisition *c = arg;
    (void)l;
    c->revoked |= event->kind == PDK_EVENT_REVOKED;
    if (event->kind != PDK_EVENT_STATE)
        return;
    c->state = event->state;
    c->lost |= event->state == PDK_LOST;
}

static void make_object(struct pdk__cli_acquisition *c)
{
    assert(c->client != NULL && c->lock.lock == NULL && c->leader == NULL);
    int rc = c->options->elect ? pdk__cli_candidacy_make(c)
                               : pdk__cli_object_make(&c->lock, c->client, c->options, happened, c);
    if (rc == 0)
        rc = pdk__cli_once_make(c);
    if (rc != 0)
        pdk__cli_phase_end(c, rc);
}

/* The client has been created, or its creation has failed. */
static void take_client(struct pdk__cli_acquisition *c)
{
    int rc;
    if (c->opener == NULL || !pdk__cli_opener_take(c->opener, &rc, &c->client, c->why))
        return;
    c->opener = NULL;
    if (rc == 0) {
        make_object(c);
        return;
    }
    if (rc == PDK_EINVAL)
        snprintf(c->why, sizeof c->why, "'%s' is no list of HOST:PORT", c->options->hosts);
    pdk__cli_phase_end(c, rc);
}

void pdk__cli_acquisition_begin(struct pdk__cli_acquisition *c, const struct pdk__cli_options *o)
{
    *c = (struct pdk__cli_acquisition){
        .options = o, .recipe = pdk__cli_recipe(o), .began_ms = pdk__cli_now_ms(), .state = PDK_FREE};
    int64_t limit = o->wait_ms > 0 && o->wait_ms < o->connect_ms ? o->wait_ms : o->connect_ms;
    c->deadline = c->began_ms + limit;
    c->opener = pdk__cli_opener_begin(o);
    if (c->opener == NULL)
        pdk__cli_phase_end(c, PDK_ESYSTEM);
}

int pdk__cli_acquisition_fd(const struct pdk__cli_acquisition *c)
{
    if (c->opener != NULL)
        return pdk__cli_opener_fd(c->opener);
    return c->client != NULL ? pdk_client_fd(c->client) : -1;
}

/* The job is not known to be done. The caller may have left meanwhile. */
static void request(struct pdk__cli_acquisition *c, int rc)
{
    int64_t left = c->options->wait_ms;
    if (c->phase != PHASE_WAITING)
        return;
    if (rc != 0) {
        pdk__cli_phase_end(c, rc);
        return;
    }
    if (left > 0)
        left -= pdk__cli_now_ms() - c->began_ms;
    if (c->options->wait_ms > 0 && left <= 0)
        left = 0;
    rc = c->leader != NULL ? pdk_leader_start(c->leader) : c->recipe->request(&c->lock, left, granted, c);
    if (rc != 0)
        pdk__cli_phase_end(c, rc);
}

static void ask(struct pdk__cli_acquisition *c)
{
    pdk__cli_phase_move(c, PHASE_WAITING);
    c->deadline = -1;
    if (c->once.job != NULL)
        pdk__cli_once_ask(c, request);
    else
        request(c, 0);
}

static void give_up_connecting(struct pdk__cli_acquisition *c)
{
    int64_t ms = c->deadline - c->began_ms;
    bool secure = c->client != NULL && pdk_client_wait(c->client, 0) == PDK_ETLS; /* its incident has the reason */
    pdk__cli_phase_end(c, secure ? PDK_ETLS : PDK_EDISCONNECTED);
    if (!secure)
        pdk__cli_unanswered(c->client, ms, c->why, sizeof c->why);
}

static void check_connection(struct pdk__cli_acquisition *c)
{
    switch (c->client != NULL ? pdk_client_state(c->client) : PDK_SESSION_CONNECTING) {
    case PDK_SESSION_CONNECTED:
        ask(c);
        break;
    case PDK_SESSION_OVER:
        pdk__cli_phase_end(c, pdk_client_wait(c->client, 0)); /* over already: this returns the reason at once */
        break;
    default:
        if (pdk__cli_now_ms() >= c->deadline)
            give_up_connecting(c);
    }
}

void pdk__cli_acquisition_step(struct pdk__cli_acquisition *c)
{
    if (c->phase == PHASE_CONNECTING)
        take_client(c);
    if (c->client != NULL)
        pdk_client_dispatch(c->client);
    if (c->phase == PHASE_CONNECTING)
        check_connection(c);
    else if (c->leader != NULL)
        pdk__cli_candidacy_step(c);
    pdk__cli_once_step(c);
}

void pdk__cli_acquisition_again(struct pdk__cli_acquisition *c, int64_t pause_ms)
{
    if (c->phase == PHASE_HELD)
        pdk__cli_candidacy_again(c, pause_ms);
}

void pdk__cli_acquisition_grant(const struct pdk__cli_acquisition *c, int64_t *token, char *node, size_t size)
{
    assert(c->phase == PHASE_HELD);
    if (c->leader != NULL) {
        *token = c->token;
        pdk_lock_node(c->leader, 0, node, size);
    } else {
        pdk_grant_token(c->lock.grant, token, NULL);
        pdk_grant_node(c->lock.grant, 0, node, size);
    }
}

int64_t pdk__cli_acquisition_valid_ms(const struct pdk__cli_acquisition *c)
{
    return c->leader != NULL ? pdk__cli_candidacy_valid_ms(c) : pdk_grant_valid_ms(c->lock.grant);
}

/* Of a job the lock may not be requested yet, or may be granted already. */
static void give_up(struct pdk__cli_acquisition *c)
{
    if (c->granted) {
        release(c);
    } else if (c->lock.grant == NULL) {
        pdk__cli_phase_end(c, PDK_ECANCELED);
    } else {
        pdk__cli_phase_move(c, PHASE_LEAVING);
        pdk_grant_cancel(c->lock.grant);
    }
}

/* A run whose lock was lost has not succeeded, whatever the command has made of it. */
static void end_run(struct pdk__cli_acquisition *c)
{
    if (!c->once.begun || c->once.status < 0 || c->lost) {
        release(c);
        return;
    }
    pdk__cli_phase_move(c, PHASE_LEAVING);
    pdk__cli_once_end(c, ended);
}

void pdk__cli_acquisition_leave(struct pdk__cli_acquisition *c)
{
    switch (c->phase) {
    case PHASE_CONNECTING:
        pdk__cli_phase_end(c, PDK_ECANCELED);
        break;
    case PHASE_WAITING:
        (c->leader != NULL ? pdk__cli_candidacy_leave : give_up)(c);
        break;
    case PHASE_HELD:
        (c->leader != NULL ? pdk__cli_candidacy_leave : end_run)(c);
        break;
    default:
        break;
    }
}

void pdk__cli_acquisition_close(struct pdk__cli_acquisition *c)
{
    pdk_client_close(c->client);
    pdk__cli_once_free(c);
    pdk__cli_object_free(&c->lock);
    pdk_lock_free(c->leader);
    pdk_client_free(c->client);
    c->leader = NULL;
    c->client = NULL;
}

static int unrecorded(const struct pdk__cli_acquisition *c, char text[PDK__CLI_INCIDENT])
{
    char path[PDK__CLI_SHORT];
    snprintf(text, PDK__CLI_INCIDENT, "%s: the command succeeded, and its run could not be recorded: %.200s",
             pdk__cli_short(c->options->path, path), c->why);
    return STATUS_UNRECORDED;
}

int pdk__cli_acquisition_status(const struct pdk__cli_acquisition *c, char text[PDK__CLI_INCIDENT])
{
    const struct pdk__cli_options *o = c->options;
    int status = pdk__cli_status_of(c->rc, o->busy_status);
    *text = '\0';
    if (c->once.unrecorded != 0 && c->once.status == 0 && !c->lost)
        return unrecorded(c, text);
    if (c->rc == 0 || c->rc == PDK_ECANCELED)
        return 0;
    if (c->rc == PDK_EDONE && o->verbose)
        pdk__cli_once_describe(c, text, PDK__CLI_INCIDENT);
    if (c->rc == PDK_EDONE)
        return o->done_status;
    bool busy = c->rc == PDK_EBUSY || c->rc == PDK_ETIMEDOUT;
    char path[PDK__CLI_SHORT];
    const char *slow = strstr(c->why, "connected, but");
    if (busy && slow != NULL)
        snprintf(text, PDK__CLI_INCIDENT, "%s: %.200s", pdk__cli_short(o->path, path), slow);
    else if (busy && o->verbose)
        snprintf(text, PDK__CLI_INCIDENT, "%s: %s", pdk__cli_short(o->path, path),
                 o->wait_ms == 0 ? "held by another" : "still held by another: gave up");
    else if (!busy)
        pdk__cli_incident(o, c->rc, c->why, text);
    return status;
}
