#include "lib/core/stray.h"
#include "lib/assert.h"
#include "lib/core/contract.h"
#include "lib/core/order.h"
#include <string.h>

/* The gaps between two looks: the age of the stray, within these bounds. Servers that have not heard of each other
 * for syncLimit ticks (10 s as shipped) disconnect, and then nothing is stuck between them any more. So most strays
 * that land do so early. */
enum { GAP_FLOOR_MS = 200, GAP_CEILING_MS = 3600 * 1000 };

static void ask(struct pdk__stray *s, struct pdk__actions *out, enum pdk__action_kind kind, enum pdk__stray_phase phase)
{
    s->op = ++*s->ops;
    pdk__actions_add(out, (struct pdk__action){.kind = kind, .op = s->op, .name = s->name});
    s->phase = phase;
}

/* The next look begins with the first candidate. */
static void await(struct pdk__stray *s, int64_t now_ms, int64_t gap_ms)
{
    if (gap_ms < GAP_FLOOR_MS)
        gap_ms = GAP_FLOOR_MS;
    if (gap_ms > GAP_CEILING_MS)
        gap_ms = GAP_CEILING_MS;
    s->phase = PDK__STRAY_WAITING;
    s->op = 0;
    s->name[0] = '\0';
    pdk__retry_reset(&s->retry);
    s->due_ms = now_ms + pdk__retry_delay_ms(&s->retry, gap_ms / 2, gap_ms / 2);
}

static void look_later(struct pdk__stray *s, int64_t now_ms) { await(s, now_ms, now_ms - s->since_ms); }

static void conclude(struct pdk__stray *s, struct pdk__actions *out)
{
    assert(s->phase != PDK__STRAY_OVER);
    s->phase = PDK__STRAY_OVER;
    s->op = 0;
    pdk__actions_add(out, (struct pdk__action){.kind = PDK__ACT_DONE});
}

static void on_timer(struct pdk__stray *s, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (s->phase == PDK__STRAY_WAITING && s->connected && ev->now_ms >= s->due_ms)
        ask(s, out, PDK__ACT_LIST, PDK__STRAY_LISTING);
}

static void on_session_up(struct pdk__stray *s, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->session != s->session) {
        conclude(s, out); /* and its nodes go with it */
        return;
    }
    s->connected = true;
    on_timer(s, ev, out);
}

static void on_session_down(struct pdk__stray *s)
{
    s->connected = false;
    s->phase = PDK__STRAY_WAITING;
    s->op = 0;
    s->name[0] = '\0';
}

static void on_listed(struct pdk__stray *s, const struct pdk__event *ev, struct pdk__actions *out)
{
    const char *candidate = NULL;
    if (ev->outcome == PDK__OK)
        candidate = pdk__order_candidate(ev->children, ev->n_children, s->session, s->attempt, s->name);
    if (candidate == NULL) {
        look_later(s, ev->now_ms);
        return;
    }
    strncpy(s->name, candidate, PDK__NAME_MAX - 1);
    ask(s, out, PDK__ACT_IDENTIFY, PDK__STRAY_IDENTIFYING);
}

static void on_identified(struct pdk__stray *s, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__OK && ev->owner == s->session)
        ask(s, out, PDK__ACT_DELETE, PDK__STRAY_DELETING);
    else if (ev->outcome == PDK__OK || ev->outcome == PDK__NO_NODE) /* another client's, or deleted: the next one */
        ask(s, out, PDK__ACT_LIST, PDK__STRAY_LISTING);
    else
        look_later(s, ev->now_ms);
}

/* A node that is known to exist is not left waiting for long. */
static void on_deleted(struct pdk__stray *s, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__OK || ev->outcome == PDK__NO_NODE)
        conclude(s, out);
    else if (ev->outcome == PDK__UNKNOWN)
        await(s, ev->now_ms, GAP_FLOOR_MS);
    else
        look_later(s, ev->now_ms);
}

static void on_reply(struct pdk__stray *s, const struct pdk__event *ev, struct pdk__actions *out)
{
    bool gift = ev->kind == PDK__EV_LISTED && ev->op == 0 && s->phase == PDK__STRAY_WAITING && s->connected;
    if (!gift && (ev->op == 0 || ev->op != s->op))
        return;
    if (ev->kind == PDK__EV_LISTED)
        on_listed(s, ev, out);
    else if (ev->kind == PDK__EV_IDENTIFIED)
        on_identified(s, ev, out);
    else
        on_deleted(s, ev, out);
}

static void dispatch(struct pdk__stray *s, const struct pdk__event *ev, struct pdk__actions *out)
{
    switch (ev->kind) {
    case PDK__EV_TIMER:
        on_timer(s, ev, out);
        break;
    case PDK__EV_SESSION_UP:
        on_session_up(s, ev, out);
        break;
    case PDK__EV_SESSION_DOWN:
        on_session_down(s);
        break;
    case PDK__EV_SESSION_EXPIRED:
    case PDK__EV_SESSION_OVER:
    case PDK__EV_SESSION_LEFT:
        conclude(s, out);
        break;
    case PDK__EV_LISTED:
    case PDK__EV_IDENTIFIED:
    case PDK__EV_DELETED:
        on_reply(s, ev, out);
        break;
    default:
        break; /* events of the contender alone */
    }
}

bool pdk__stray_allowed(const struct pdk__stray *s)
{
    bool asking = s->phase != PDK__STRAY_WAITING && s->phase != PDK__STRAY_OVER;
    bool named = s->phase == PDK__STRAY_IDENTIFYING || s->phase == PDK__STRAY_DELETING;
    return asking == (s->op != 0) && (!asking || s->connected) &&
           (!named || pdk__name_is(s->name, s->session, s->attempt));
}

void pdk__stray_init(struct pdk__stray *s, uint64_t *ops, int64_t session, uint32_t attempt, uint64_t seed,
                     int64_t now_ms)
{
    *s = (struct pdk__stray){.ops = ops, .session = session, .attempt = attempt, .connected = true, .since_ms = now_ms};
    assert(ops != NULL && session != 0 && attempt != 0);
    pdk__retry_init(&s->retry, seed);
    look_later(s, now_ms);
}

void pdk__stray_step(struct pdk__stray *s, const struct pdk__event *event, struct pdk__actions *actions)
{
    assert(s->phase != PDK__STRAY_OVER && pdk__contract_allows_stray(s, event));
    actions->n = 0;
    dispatch(s, event, actions);
    assert(pdk__stray_allowed(s));
}

bool pdk__stray_shares(const struct pdk__stray *s) { return s->phase == PDK__STRAY_LISTING && s->name[0] == '\0'; }

int64_t pdk__stray_wake_ms(const struct pdk__stray *s)
{
    return s->phase == PDK__STRAY_WAITING && s->connected ? s->due_ms : PDK__NEVER;
}
