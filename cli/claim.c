#include "cli/claim.h"

#include "cli/candidacy.h"
#include "cli/incident.h"
#include "cli/number.h"
#include "cli/say.h"
#include "cli/target.h"

#include <stdio.h>
#include <string.h>

void pdk__cli_claim_ended(struct pdk__cli_claim *c)
{
    c->phase = CLAIM_ENDED;
    c->deadline = -1;
}

void pdk__cli_claim_end(struct pdk__cli_claim *c, int rc)
{
    pdk__cli_claim_ended(c);
    c->rc = rc;
    if (c->mutex != NULL)
        pdk_mutex_last_error(c->mutex, c->why, sizeof c->why);
    if (c->leader != NULL)
        pdk_leader_last_error(c->leader, c->why, sizeof c->why);
    if (c->why[0] == '\0' && c->client != NULL)
        pdk_client_last_error(c->client, c->why, sizeof c->why);
    if (c->why[0] == '\0')
        snprintf(c->why, sizeof c->why, "%s", pdk_strerror(rc));
}

static void released(int rc, void *arg)
{
    struct pdk__cli_claim *c = arg;
    /* The loss may become known only now: for an unknown part of its time the command had no lock. */
    if (rc == PDK_ELOST)
        c->lost = true;
    pdk__cli_claim_ended(c);
}

/* If no server comes back, the release is not confirmed: the library reports that after a session timeout. */
static void release(struct pdk__cli_claim *c)
{
    c->phase = CLAIM_LEAVING;
    int rc = pdk_mutex_unlock_async(c->mutex, released, c);
    /* Closing the session deletes the node as well. */
    if (rc != 0)
        released(rc, c);
}

static void granted(int rc, void *arg)
{
    struct pdk__cli_claim *c = arg;
    /* If no server could be asked for the lock, the result is not "busy". */
    if (rc == PDK_ETIMEDOUT && pdk_client_state(c->client) != PDK_SESSION_CONNECTED)
        rc = PDK_EDISCONNECTED;
    if (rc != 0) {
        pdk__cli_claim_end(c, rc);
    } else if (c->phase == CLAIM_LEAVING) {
        release(c); /* the grant came before the cancellation */
    } else {
        c->phase = CLAIM_HELD;
        c->state = PDK_HELD;
    }
}

static void note_state(pdk_mutex *m, pdk_state state, int64_t token, void *arg)
{
    struct pdk__cli_claim *c = arg;
    (void)m;
    (void)token; /* one grant in a claim's life */
    c->state = state;
    c->lost |= state == PDK_LOST;
}

static void note_revoked(pdk_mutex *m, int64_t token, void *arg)
{
    struct pdk__cli_claim *c = arg;
    (void)m;
    (void)token;
    c->revoked = true;
}

static int make_mutex(struct pdk__cli_claim *c)
{
    const struct pdk__cli_options *o = c->options;
    pdk_mutex_options *m = pdk_mutex_options_new();
    int rc = m != NULL ? 0 : PDK_ENOMEM;
    if (rc == 0)
        rc = pdk_mutex_options_set_confirmed(m, o->confirmed);
    if (rc == 0)
        rc = pdk_mutex_options_set_lock_delay_ms(m, (int)o->lock_delay_ms);
    if (rc == 0)
        rc = pdk_mutex_options_set_min_token(m, o->min_token);
    if (rc == 0 && o->data != NULL)
        rc = pdk_mutex_options_set_data(m, o->data, strlen(o->data));
    if (rc == 0)
        rc = pdk_mutex_new(&c->mutex, c->client, o->path, m);
    pdk_mutex_options_free(m);
    return rc;
}

static void make_object(struct pdk__cli_claim *c)
{
    int rc = c->options->elect ? pdk__cli_candidacy_make(c) : make_mutex(c);
    if (rc != 0) {
        pdk__cli_claim_end(c, rc);
        return;
    }
    if (c->mutex != NULL) {
        pdk_mutex_on_state(c->mutex, note_state, c);
        pdk_mutex_on_revoke(c->mutex, note_revoked, c);
    }
}

/* The client has been created, or its creation has failed. */
static void take_client(struct pdk__cli_claim *c)
{
    int rc;
    if (c->opening == NULL || !pdk__cli_opening_take(c->opening, &rc, &c->client))
        return;
    c->opening = NULL;
    if (rc == 0) {
        make_object(c);
        return;
    }
    if (rc == PDK_EINVAL)
        snprintf(c->why, sizeof c->why, "'%s' is no list of HOST:PORT", c->options->hosts);
    pdk__cli_claim_end(c, rc);
}

void pdk__cli_claim_begin(struct pdk__cli_claim *c, const struct pdk__cli_options *o)
{
    *c = (struct pdk__cli_claim){.options = o, .began_ms = pdk__cli_now_ms(), .state = PDK_FREE};
    int64_t limit = o->wait_ms > 0 && o->wait_ms < o->connect_ms ? o->wait_ms : o->connect_ms;
    c->deadline = c->began_ms + limit;
    c->opening = pdk__cli_opening_begin(o);
    if (c->opening == NULL)
        pdk__cli_claim_end(c, PDK_ESYSTEM);
}

int pdk__cli_claim_fd(const struct pdk__cli_claim *c)
{
    if (c->opening != NULL)
        return pdk__cli_opening_fd(c->opening);
    return c->client != NULL ? pdk_client_fd(c->client) : -1;
}

static void ask(struct pdk__cli_claim *c)
{
    int64_t left = c->options->wait_ms;
    if (left > 0)
        left -= pdk__cli_now_ms() - c->began_ms;
    if (c->options->wait_ms > 0 && left <= 0)
        left = 0;
    c->phase = CLAIM_WAITING;
    c->deadline = -1;
    int rc = c->leader != NULL ? pdk_leader_start(c->leader) : pdk_mutex_lock_async(c->mutex, left, granted, c, &c->op);
    if (rc != 0)
        pdk__cli_claim_end(c, rc);
}

static void give_up_connecting(struct pdk__cli_claim *c)
{
    double seconds = (double)(c->deadline - c->began_ms) / 1000;
    pdk__cli_claim_end(c, PDK_EDISCONNECTED);
    snprintf(c->why, sizeof c->why, "no server answered within %.3g s", seconds);
}

static void reach(struct pdk__cli_claim *c)
{
    switch (c->client != NULL ? pdk_client_state(c->client) : PDK_SESSION_CONNECTING) {
    case PDK_SESSION_CONNECTED:
        ask(c);
        break;
    case PDK_SESSION_OVER:
        pdk__cli_claim_end(c, pdk_client_wait(c->client, 0)); /* over already: this returns the reason at once */
        break;
    default:
        if (pdk__cli_now_ms() >= c->deadline)
            give_up_connecting(c);
    }
}

void pdk__cli_claim_step(struct pdk__cli_claim *c)
{
    if (c->phase == CLAIM_CONNECTING)
        take_client(c);
    if (c->client != NULL)
        pdk_client_dispatch(c->client);
    if (c->phase == CLAIM_CONNECTING)
        reach(c);
    else if (c->leader != NULL)
        pdk__cli_candidacy_step(c);
}

void pdk__cli_claim_again(struct pdk__cli_claim *c, int64_t rest_ms)
{
    if (c->phase == CLAIM_HELD)
        pdk__cli_candidacy_again(c, rest_ms);
}

void pdk__cli_claim_grant(const struct pdk__cli_claim *c, int64_t *token, char *node, size_t size)
{
    if (c->leader != NULL) {
        *token = c->token;
        pdk_leader_node(c->leader, node, size);
    } else {
        pdk_mutex_token(c->mutex, token);
        pdk_mutex_node(c->mutex, node, size);
    }
}

int64_t pdk__cli_claim_valid_ms(const struct pdk__cli_claim *c)
{
    return c->leader != NULL ? pdk__cli_candidacy_valid_ms(c) : pdk_mutex_valid_ms(c->mutex);
}

static void give_up(struct pdk__cli_claim *c)
{
    c->phase = CLAIM_LEAVING;
    pdk_op_cancel(c->op);
}

void pdk__cli_claim_leave(struct pdk__cli_claim *c)
{
    switch (c->phase) {
    case CLAIM_CONNECTING:
        pdk__cli_claim_end(c, PDK_ECANCELED);
        break;
    case CLAIM_WAITING:
        (c->leader != NULL ? pdk__cli_candidacy_leave : give_up)(c);
        break;
    case CLAIM_HELD:
        (c->leader != NULL ? pdk__cli_candidacy_leave : release)(c);
        break;
    default:
        break;
    }
}

void pdk__cli_claim_close(struct pdk__cli_claim *c)
{
    pdk_op_free(c->op);
    pdk_client_close(c->client);
    pdk_mutex_free(c->mutex);
    pdk_leader_free(c->leader);
    pdk_client_free(c->client);
    c->op = NULL;
    c->mutex = NULL;
    c->leader = NULL;
    c->client = NULL;
}

int pdk__cli_claim_status(const struct pdk__cli_claim *c, char text[PDK__CLI_INCIDENT])
{
    const struct pdk__cli_options *o = c->options;
    int status = pdk__cli_status_of(c->rc, o->busy_status);
    *text = '\0';
    if (c->rc == 0 || c->rc == PDK_ECANCELED)
        return 0;
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
