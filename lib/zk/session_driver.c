#include "lib/zk/session_driver.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/core/contender.h"
#include "lib/incident.h"
#include "lib/zk/account.h"
#include "lib/zk/callbacks.h"
#include "lib/zk/exchange.h"
#include "lib/zk/leave.h"
#include "lib/zk/member.h"
#include "lib/zk/patrol.h"
#include "lib/zk/renewal.h"
#include <string.h>

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

/* --- a step ------------------------------------------------------------------------------------------------------ */

/* The handle can be ahead of what it has reported. A server that was sought may have been reached: it is not silent. Or
 * the silent one is lost, and another is tried already. */
static bool up_to_date(const struct pdk_client *c)
{
    bool connected = c->session.phase == PDK__SESSION_CONNECTED;
    return c->zh != NULL && connected == (zoo_state(c->zh) == ZOO_CONNECTED_STATE);
}

static void count_end(struct pdk_client *c)
{
    if (c->over == PDK_EEXPIRED)
        pdk__stats_expiry(&c->stats);
    c->stats.connected = false;
}

static void count_answer(struct pdk_client *c, const struct pdk__session_event *event)
{
    if (event->kind == PDK__SEV_ANSWERED && event->asked && event->agreed)
        pdk__stats_renewal(&c->stats, event->now_ms - event->sent_ms);
}

static void carry_out(struct pdk_client *c, const struct pdk__session_action *action)
{
    switch (action->kind) {
    case PDK__SACT_UP:
        assert(action->session != 0 && c->over == 0);
        pdk__stats_up(&c->stats, action->session);
        pdk__members_session(c, &(struct pdk__event){.kind = PDK__EV_SESSION_UP,
                                                     .session = action->session,
                                                     .timeout_ms = c->session.timeout_ms});
        break;
    case PDK__SACT_DOWN:
        pdk__stats_down(&c->stats);
        pdk__members_session(c, &(struct pdk__event){.kind = PDK__EV_SESSION_DOWN});
        break;
    case PDK__SACT_LEASE_OK:
        pdk__members_session(c, &(struct pdk__event){.kind = PDK__EV_LEASE_OK});
        break;
    case PDK__SACT_LEASE_LOW:
        pdk__members_session(c, &(struct pdk__event){.kind = PDK__EV_LEASE_LOW});
        break;
    case PDK__SACT_LEASE_EXPIRED:
        pdk__members_session(c, &(struct pdk__event){.kind = PDK__EV_LEASE_EXPIRED});
        break;
    case PDK__SACT_EXPIRED:
        assert(c->over == 0);
        pdk__stats_expiry(&c->stats);
        pdk__members_session(c, &(struct pdk__event){.kind = PDK__EV_SESSION_EXPIRED, .error = action->error});
        break;
    case PDK__SACT_OVER:
        assert(action->error != 0 && c->over == 0);
        c->over = action->error;
        count_end(c);
        pdk__members_session(c, &(struct pdk__event){.kind = PDK__EV_SESSION_OVER, .error = action->error});
        if (c->adopted && !c->closing)
            pdk__exchange_give_up_all(c);
        break;
    case PDK__SACT_OPEN:
        assert(!c->adopted);
        c->opener.wanted = true;
        pdk__client_wake(c);
        break;
    case PDK__SACT_RENEW:
        pdk__stats_renewal_sent(&c->stats);
        pdk__renewal_write(c);
        break;
    case PDK__SACT_KEEPALIVE:
        pdk__renewal_read(c);
        break;
    case PDK__SACT_SYNC:
        pdk__renewal_sync(c);
        break;
    case PDK__SACT_LEAVE:
        if (up_to_date(c))
            pdk__leave(c);
        break;
    }
}

/* It is sent first: the servers answer in the order of the requests, and thousands of members may have some. */
static bool proves(const struct pdk__session_action *action)
{
    return action->kind == PDK__SACT_RENEW || action->kind == PDK__SACT_KEEPALIVE || action->kind == PDK__SACT_SYNC;
}

static void note_link(struct pdk_client *c)
{
    bool before = c->told.unfit;
    c->told.unfit = pdk__session_unfit(&c->session);
    if (before || !c->told.unfit)
        return;
    pdk__client_unfit(c, c->account.error, sizeof c->account.error);
    pdk__members_hindered(c, PDK__LINK_SLOW, c->account.error);
}

void pdk__client_session_step(struct pdk_client *c, const struct pdk__session_event *event)
{
    struct pdk__session_actions actions;
    enum pdk__session_phase before = c->session.phase;
    assert(pdk__client_locked(c));
    pdk__session_step(&c->session, event, &actions);
    pdk__account_session(c, before, event, &actions);
    count_answer(c, event);
    c->step.wake_ms = pdk__session_wake_ms(&c->session);
    pdk__client_arm(c, c->step.wake_ms);
    note_link(c);
    for (size_t i = 0; i < actions.n; i++)
        if (proves(&actions.list[i]))
            carry_out(c, &actions.list[i]);
    for (size_t i = 0; i < actions.n; i++)
        if (!proves(&actions.list[i]))
            carry_out(c, &actions.list[i]);
    if (actions.n == 0)
        return;
    pdk__members_changed(c);
    pdk__patrol_arm(c);
    if (c->options.on_session != NULL)
        pdk__client_queue_callback(c, &c->told.callback);
    pthread_cond_broadcast(&c->changed);
}

void pdk__client_refresh(struct pdk_client *c)
{
    int64_t now_ms = pdk__now_ms();
    assert(pdk__client_locked(c));
    /* The handle knows of a lost connection before its other thread reports it, because an application may delay
     * that thread. A restored connection counts only when reported, after all earlier events. */
    bool connected = c->session.phase == PDK__SESSION_CONNECTED;
    if (connected && c->zh != NULL && zoo_state(c->zh) != ZOO_CONNECTED_STATE)
        pdk__client_session(c, &(struct pdk__session_event){.kind = PDK__SEV_DISCONNECTED, .now_ms = now_ms});
    if (now_ms >= c->step.wake_ms)
        pdk__client_session(c, &(struct pdk__session_event){.kind = PDK__SEV_TIMER, .now_ms = now_ms});
    c->step.refreshed_ms = now_ms;
    c->step.refreshed_turn = c->guard.turn;
}

int64_t pdk__client_refreshed_ms(const struct pdk_client *c)
{
    assert(pdk__client_locked(c) && c->step.refreshed_turn == c->guard.turn);
    return c->step.refreshed_ms;
}

/* --- telling the program ----------------------------------------------------------------------------------------- */

/* The callback gets the session's state at the time it runs. It does not get states that came and went before. */
static void run_session_callback(struct pdk__callback *callback)
{
    struct pdk_client *c = PDK__MEMBER(callback, struct pdk_client, told.callback);
    pdk__client_lock(c);
    pdk_session_state state = state_of(c);
    bool news = state != c->told.state;
    c->told.state = state;
    memcpy(c->told.reason, c->account.reason, sizeof c->told.reason);
    c->told.telling = news;
    pdk__client_leave(c);
    if (!news)
        return;
    c->options.on_session(c, state, c->options.on_session_arg);
    pdk__client_lock(c);
    assert(c->told.telling); /* callbacks run one at a time */
    c->told.telling = false;
    pdk__client_leave(c);
}

void pdk__client_session_init(struct pdk_client *c, bool movable)
{
    pdk__list_init(&c->told.callback.link);
    c->told.callback.run = run_session_callback;
    c->options.policy.movable = movable;
    pdk__session_init(&c->session, !c->adopted, c->options.policy, c->seed, c->options.session_timeout_ms,
                      pdk__now_ms());
    c->step.wake_ms = pdk__session_wake_ms(&c->session);
}

/* --- questions --------------------------------------------------------------------------------------------------- */

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

size_t pdk_client_session_reason(pdk_client *c, char *buf, size_t size)
{
    if (c == NULL || pdk__client_enter(c) != 0)
        return pdk__incident_copy(buf, size, "");
    bool told = c->told.telling && pthread_equal(pthread_self(), c->callbacks.calling_thread);
    size_t length = pdk__incident_copy(buf, size, told ? c->told.reason : c->account.reason);
    pdk__client_leave(c);
    return length;
}
