#include "cli/run/candidacy.h"

#include "cli/number.h"
#include "lib/assert.h"

#include <string.h>

/* The acquisition checks the pause on every turn of its loop: it is enough that pdk_client_fd() was readable. */
static void happened(pdk_leader *l, const pdk_event *event, void *arg)
{
    struct pdk__cli_acquisition *c = arg;
    (void)l;
    if (event->kind == PDK_EVENT_REVOKED)
        c->revoked_token = event->token;
    if (event->kind == PDK_EVENT_DEPOSED && event->state == PDK_LOST)
        c->lost_token = event->token;
}

int pdk__cli_candidacy_make(struct pdk__cli_acquisition *c)
{
    const char *id = c->options->id;
    pdk_lock_options *o = pdk_lock_options_new();
    int rc = o != NULL ? pdk_lock_options_set_refuse_mixed(o, !c->options->mixed_ok) : PDK_ENOMEM;
    if (rc == 0 && id != NULL)
        rc = pdk_lock_options_set_data(o, id, strlen(id));
    if (rc == 0)
        rc = pdk_leader_new(&c->leader, c->client, c->options->path, c->options->turns ? PDK_IN_TURNS : PDK_LATCH, o);
    pdk_lock_options_free(o);
    return rc == 0 ? pdk_lock_on_event(c->leader, happened, c) : rc;
}

/* --- the term ---------------------------------------------------------------------------------------------------- */

static bool in_this_term(const struct pdk__cli_acquisition *c)
{
    int64_t token;
    return pdk_lock_token(c->leader, &token, NULL) == 0 && token == c->token;
}

/* The library is a candidate again unasked, and may lead again, before the last term's work has ended. */
int64_t pdk__cli_candidacy_valid_ms(const struct pdk__cli_acquisition *c)
{
    int64_t valid_ms = pdk_lock_valid_ms(c->leader);
    return in_this_term(c) ? valid_ms : 0; /* checked last: a term does not come back */
}

static void await_term(struct pdk__cli_acquisition *c)
{
    int rc = pdk_leader_wait(c->leader, 0); /* it does not wait */
    if (rc != 0 && rc != PDK_ETIMEDOUT) {
        pdk__cli_phase_end(c, rc);
    } else if (rc == 0 && pdk_lock_token(c->leader, &c->token, NULL) == 0) {
        pdk__cli_phase_move(c, PHASE_HELD);
        c->state = PDK_HELD;
    }
}

static void check_term(struct pdk__cli_acquisition *c)
{
    bool suspended = pdk_lock_state(c->leader) == PDK_SUSPECT;
    c->lost = c->lost || !in_this_term(c);
    c->revoked = c->revoked_token == c->token;
    if (c->lost)
        c->state = PDK_LOST;
    else
        c->state = suspended ? PDK_SUSPECT : PDK_HELD;
}

static void start_candidacy(struct pdk__cli_acquisition *c)
{
    c->deadline = -1;
    int rc = pdk_leader_start(c->leader);
    if (rc != 0)
        pdk__cli_phase_end(c, rc);
}

static bool pauses(const struct pdk__cli_acquisition *c) { return c->deadline >= 0; }

void pdk__cli_candidacy_step(struct pdk__cli_acquisition *c)
{
    if (c->resigning)
        return;
    if (pauses(c) && pdk__cli_now_ms() < c->deadline)
        return;
    if (pauses(c))
        start_candidacy(c);
    if (c->phase == PHASE_WAITING)
        await_term(c);
    else if (c->phase == PHASE_HELD)
        check_term(c);
}

/* --- its end ----------------------------------------------------------------------------------------------------- */

static void resigned(int rc, void *arg)
{
    struct pdk__cli_acquisition *c = arg;
    assert(c->resigning && c->phase != PHASE_ENDED);
    c->resigning = false;
    /* As with a lock, the loss may become known only now, or have become so right before the resignation: then that
     * was of the next candidacy. */
    if (c->phase == PHASE_LEAVING)
        c->lost = c->lost || rc == PDK_ELOST || (c->left_token != 0 && c->left_token == c->lost_token);
    if (c->phase == PHASE_LEAVING)
        pdk__cli_phase_move(c, PHASE_ENDED);
    else if (!pauses(c))
        start_candidacy(c);
}

static int resign(struct pdk__cli_acquisition *c)
{
    int rc = c->resigning ? 0 : pdk_leader_resign_async(c->leader, resigned, c);
    c->resigning = rc == 0;
    return rc;
}

/* After a lost term the library is a candidate again unasked; a pause prevents that. */
void pdk__cli_candidacy_again(struct pdk__cli_acquisition *c, int64_t pause_ms)
{
    bool is_candidate = c->lost && pause_ms == 0;
    assert(pause_ms >= 0);
    pdk__cli_phase_move(c, PHASE_WAITING);
    c->state = PDK_FREE;
    c->lost = c->revoked = false;
    c->deadline = pause_ms > 0 ? pdk__cli_now_ms() + pause_ms : -1;
    int rc = is_candidate ? 0 : resign(c);
    if (rc != 0)
        pdk__cli_phase_end(c, rc);
}

void pdk__cli_candidacy_leave(struct pdk__cli_acquisition *c)
{
    /* The library may know of a loss already, and be a candidate again: resigning then reports nothing about the
     * term. */
    if (c->phase == PHASE_HELD)
        check_term(c);
    c->left_token = c->phase == PHASE_HELD ? c->token : 0;
    pdk__cli_phase_move(c, PHASE_LEAVING);
    c->deadline = -1;
    if (resign(c) != 0)
        pdk__cli_phase_move(c, PHASE_ENDED); /* closing the session deletes the node as well */
}
