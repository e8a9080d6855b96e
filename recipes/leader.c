/*
 * The leader latch. There is one hold, used again for each term. So no two nodes of one candidate are ever in the
 * queue, and a new candidacy after a loss can neither fail nor need memory.
 */

#include "paddock/leader.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/identity.h"
#include "lib/zk/session_driver.h"
#include "recipes/any_lock.h"
#include "recipes/hold.h"
#include <stdio.h>
#include <string.h>

/* A candidate, as pdk_leader_wait() finds it. */
enum standing { IDLE, STANDING, LEADING, SUSPENDED };

struct pdk__leader {
    struct pdk_lock lock;
    struct pdk__hold hold;
    struct pdk__wish wish;
    enum standing state;
    int result; /* why it is no candidate, or 0: it never was one */
};

/* --- states ------------------------------------------------------------------------------------------------------ */

#define TO(state) (UINT32_C(1) << (state))

static const uint32_t moves[] = {
    [IDLE] = TO(STANDING),
    [STANDING] = TO(LEADING) | TO(IDLE),
    [LEADING] = TO(SUSPENDED) | TO(STANDING) | TO(IDLE),
    [SUSPENDED] = TO(LEADING) | TO(STANDING) | TO(IDLE),
};

static void move(struct pdk__leader *l, enum standing state)
{
    assert(pdk__client_locked(l->lock.object.client));
    assert((moves[l->state] & UINT32_C(1) << state) != 0);
    l->state = state;
    pthread_cond_broadcast(&l->hold.moved);
}

static bool in_term(const struct pdk__leader *l) { return l->state == LEADING || l->state == SUSPENDED; }

static void tell(struct pdk__leader *l, pdk_event_kind kind, pdk_state state, int64_t token)
{
    pdk__events_tell(&l->lock.events, (pdk_event){.kind = kind, .state = state, .token = token});
}

/* It is no longer a candidate: because of RESULT. */
static void stand_down(struct pdk__leader *l, int result)
{
    assert(result != 0);
    if (in_term(l))
        tell(l, PDK_EVENT_DEPOSED, PDK_FREE, l->hold.token);
    l->result = result;
    move(l, IDLE);
}

static void withdraw(struct pdk__leader *l, int rc)
{
    stand_down(l, rc);
    tell(l, PDK_EVENT_WITHDRAWN, PDK_FREE, 0);
}

/* --- the candidacy ----------------------------------------------------------------------------------------------- */

/* Become a candidate with a new node. */
static int stand(struct pdk__leader *l)
{
    assert(l->state == STANDING);
    int rc = pdk__hold_start(&l->hold, &l->wish);
    return rc == 0 ? 0 : pdk__object_incident(&l->lock.object, "stand", rc);
}

static void end_candidacy(struct pdk__leader *l)
{
    if (l->state == IDLE)
        return;
    stand_down(l, PDK_ECANCELED);
    pdk__hold_release(&l->hold);
    assert(!in_term(l) && !pdk__hold_owned(&l->hold));
}

/* --- reports of the hold ----------------------------------------------------------------------------------------- */

static struct pdk__leader *leader_of(struct pdk__hold *hold) { return PDK__MEMBER(hold, struct pdk__leader, hold); }

static void granted(struct pdk__hold *hold)
{
    move(leader_of(hold), LEADING);
    tell(leader_of(hold), PDK_EVENT_ELECTED, PDK_HELD, hold->token);
}

static void failed(struct pdk__hold *hold, int rc)
{
    pdk__hold_incident(hold, "stand", rc);
    withdraw(leader_of(hold), rc);
}

/* After a loss it is a candidate again when nothing of the term is left on the servers. */
static void changed(struct pdk__hold *hold, enum pdk__report_kind state)
{
    struct pdk__leader *l = leader_of(hold);
    assert(in_term(l));
    if (state == PDK__REPORT_LOST) {
        pdk__hold_count_loss(hold);
        tell(l, PDK_EVENT_DEPOSED, PDK_LOST, hold->token);
        move(l, STANDING);
    } else {
        bool suspect = state == PDK__REPORT_SUSPECT;
        move(l, suspect ? SUSPENDED : LEADING);
        tell(l, PDK_EVENT_STATE, suspect ? PDK_SUSPECT : PDK_HELD, hold->token);
    }
}

static void done(struct pdk__hold *hold)
{
    struct pdk__leader *l = leader_of(hold);
    assert(!in_term(l));
    int rc = l->state == STANDING ? stand(l) : 0;
    if (rc != 0)
        withdraw(l, rc);
}

static const struct pdk__verbs verbs = {.acquire = "stand", .keep = "lead", .release = "resign"};

static void reported(struct pdk__hold *hold, const struct pdk__report *report)
{
    switch (report->kind) {
    case PDK__REPORT_GRANTED:
        granted(hold);
        break;
    case PDK__REPORT_FAILED:
        failed(hold, report->rc);
        break;
    case PDK__REPORT_SUSPECT:
    case PDK__REPORT_HELD:
    case PDK__REPORT_LOST:
        changed(hold, report->kind);
        break;
    case PDK__REPORT_REVOKED:
        tell(leader_of(hold), PDK_EVENT_REVOKED, pdk__hold_state(hold), hold->token);
        break;
    case PDK__REPORT_QUEUED:
        pdk__events_tell(&leader_of(hold)->lock.events, (pdk_event){.kind = PDK_EVENT_QUEUED, .ahead = report->ahead});
        break;
    case PDK__REPORT_DONE:
        done(hold);
        break;
    default:
        break;
    }
}

/* --- the object -------------------------------------------------------------------------------------------------- */

static struct pdk__leader *at(const struct pdk_lock *l) { return PDK__MEMBER(l, struct pdk__leader, lock); }

static struct pdk__object *object_of(struct pdk__leader *l) { return l != NULL ? &l->lock.object : NULL; }

/* The id without the option: the host and the process. */
static int set_default_id(pdk_lock_options *options)
{
    struct pdk__identity identity;
    char id[PDK__HOST_MAX + 32];
    pdk__identity_own(&identity, "");
    snprintf(id, sizeof id, "%s:%lld", identity.host, (long long)identity.pid);
    return pdk_lock_options_set_data(options, id, strlen(id));
}

static int init(struct pdk_lock *lock, const void *mode)
{
    struct pdk__leader *l = at(lock);
    pdk_lock_options *options = &lock->options;
    int rc = pdk__hold_init(&l->hold, &lock->object, reported, &verbs, NULL);
    if (rc == 0 && options->data == NULL)
        rc = set_default_id(options);
    if (rc != 0)
        return rc;
    options->conditions.long_held = true;
    l->hold.unmixed = options->unmixed;
    /* Curator's LeaderSelector is a mutex whose nodes carry an id. */
    l->wish = (struct pdk__wish){.rule = *(const pdk_leader_mode *)mode == PDK_IN_TURNS ? &pdk__rule_mutex
                                                                                        : &pdk__rule_leader,
                                 .conditions = &options->conditions,
                                 .data = options->data,
                                 .data_size = options->data_size,
                                 .deadline_ms = PDK__NEVER};
    return 0;
}

static void clear(struct pdk_lock *lock)
{
    struct pdk__leader *l = at(lock);
    assert(l->state == IDLE);
    pdk__hold_clear(&l->hold);
}

/* A candidate is freed, too: no thread relies on its term after that. */
static bool in_use(const struct pdk_lock *lock)
{
    (void)lock;
    return false;
}

static void drop(struct pdk_lock *lock) { end_candidacy(at(lock)); }

static struct pdk__hold *asked(struct pdk__object *o)
{
    struct pdk__leader *l = PDK__MEMBER(o, struct pdk__leader, lock.object);
    assert(in_term(l) == (l->hold.stage == PDK__HOLD_GRANTED));
    return in_term(l) ? &l->hold : NULL;
}

static struct pdk__hold *waiting(struct pdk__object *o)
{
    struct pdk__leader *l = PDK__MEMBER(o, struct pdk__leader, lock.object);
    return l->state == STANDING && l->hold.n_at_work > 0 ? &l->hold : NULL;
}

static const struct pdk__lock_kind kind = {
    .object = {PDK__LOCK_OBJECT(struct pdk__leader, "make a leader for"), .asked = asked, .waiting = waiting},
    .name = "a leader",
    .kind = PDK__LEADER,
    .init = init,
    .clear = clear,
    .in_use = in_use,
    .drop = drop};

static struct pdk__leader *leader_at(pdk_leader *l)
{
    l = pdk__lock_as(l, &kind);
    return l != NULL ? at(l) : NULL;
}

int pdk_leader_new(pdk_leader **out, pdk_client *c, const char *path, pdk_leader_mode mode,
                   const pdk_lock_options *opts)
{
    return mode == PDK_LATCH || mode == PDK_IN_TURNS ? pdk__lock_new(out, c, path, &kind, opts, &mode) : PDK_EINVAL;
}

/* --- stand and resign -------------------------------------------------------------------------------------------- */

/* A call ends, with RC. The end of the candidacy was reported without a call, and is the reason why this one fails. */
static int end(struct pdk__leader *l, const char *verb, int rc)
{
    struct pdk__object *o = &l->lock.object;
    if (rc == 0 || rc != l->result || pdk__text(&o->error)[0] == '\0')
        return pdk__object_end(o, verb, rc);
    pdk__object_leave(o);
    return rc;
}

int pdk_leader_start(pdk_leader *leader)
{
    struct pdk__leader *l = leader_at(leader);
    int rc = pdk__object_begin(object_of(l));
    if (rc != 0)
        return rc;
    if (l->state == IDLE) {
        move(l, STANDING);
        rc = l->hold.n_at_work > 0 ? 0 : stand(l); /* else when it is done */
    }
    if (rc != 0)
        stand_down(l, rc);
    return end(l, "stand", rc);
}

int pdk_leader_resign(pdk_leader *leader)
{
    struct pdk__leader *l = leader_at(leader);
    int rc = pdk__object_begin(object_of(l));
    if (rc != 0)
        return rc;
    if (l->hold.n_at_work > 0 || l->state != IDLE)
        rc = pdk__client_may_wait(l->lock.object.client);
    if (rc == 0 && l->hold.n_at_work > 0) {
        end_candidacy(l);
        rc = pdk__hold_await_done(&l->hold);
    }
    return end(l, "resign", rc);
}

int pdk_leader_resign_async(pdk_leader *leader, pdk_resign_cb cb, void *arg)
{
    struct pdk__leader *l = leader_at(leader);
    int rc = pdk__object_begin(object_of(l));
    if (rc != 0)
        return rc;
    if (l->hold.released_pending) {
        rc = PDK_EBUSY;
    } else if (l->lock.object.client->closing && l->hold.n_at_work == 0) {
        rc = PDK_ECLOSED;
    } else {
        if (cb != NULL)
            pdk__hold_expect(&l->hold, cb, arg);
        end_candidacy(l);
    }
    return end(l, "resign", rc);
}

/* The hold is used again when nothing of the term is left on the servers. */
int pdk_leader_yield(pdk_leader *leader)
{
    struct pdk__leader *l = leader_at(leader);
    int rc = pdk__object_begin(object_of(l));
    if (rc != 0)
        return rc;
    if (in_term(l)) {
        tell(l, PDK_EVENT_DEPOSED, PDK_FREE, l->hold.token);
        move(l, STANDING);
        pdk__hold_release(&l->hold);
    } else {
        rc = pdk__object_explain(&l->lock.object, "yield", PDK_EPERM, "it does not lead");
    }
    return end(l, "yield", rc);
}

/* --- wait -------------------------------------------------------------------------------------------------------- */

static void cancelled(void *object) { pdk__object_leave(object); }

/* 0 when it leads, 1 when it may yet, or the error for which it never will. The caller may be woken long after an
 * election, so the passing of time is processed first. */
static int outlook(struct pdk__leader *l)
{
    pdk__client_refresh(l->lock.object.client);
    if (l->state == LEADING)
        return 0;
    if (l->state != IDLE)
        return 1;
    if (l->result != 0)
        return l->result;
    return pdk__object_explain(&l->lock.object, "wait", PDK_EPERM, "it is no candidate");
}

static int timed_out(struct pdk__leader *l)
{
    char text[PDK__INCIDENT_MAX], why[PDK__REASON_MAX];
    if (l->hold.n_at_work > 0)
        pdk__standing_situation(&l->hold.parts->claim.standing, why, sizeof why);
    else
        pdk__account_connection(l->lock.object.client, why, sizeof why);
    pdk__incident_format(text, "wait", l->lock.object.path, PDK_ETIMEDOUT, why);
    pdk__incident_note(l->lock.object.number, text);
    return PDK_ETIMEDOUT;
}

static int await(struct pdk__leader *l, int64_t deadline_ms)
{
    int rc;
    pthread_cleanup_push(cancelled, &l->lock.object);
    while ((rc = outlook(l)) == 1 && pdk__now_ms() < deadline_ms)
        pdk__client_await(l->lock.object.client, &l->hold.moved, deadline_ms, true);
    pthread_cleanup_pop(0);
    return rc == 1 ? timed_out(l) : rc;
}

int pdk_leader_wait(pdk_leader *leader, int64_t timeout_ms)
{
    struct pdk__leader *l = leader_at(leader);
    int64_t deadline_ms = pdk__deadline_ms(pdk__now_ms(), timeout_ms);
    int rc = pdk__object_begin(object_of(l));
    if (rc != 0)
        return rc;
    rc = timeout_ms != 0 && outlook(l) == 1 ? pdk__client_may_wait(l->lock.object.client) : 0;
    if (rc == 0)
        rc = await(l, deadline_ms);
    return end(l, "wait", rc);
}
