/* Faults against one client: its network, its process, its session. */
#include "test/chaos/nemesis.h"

#include "test/lib/zk.h"
#include <string.h>

static struct place *place(struct nemesis *n, const struct fault *f) { return &n->workers->places[f->victim]; }

#define EACH_PROXY(n, f, p, call)                                                                                      \
    for (int i_ = 0; i_ < (n)->e->n; i_++) {                                                                           \
        pdk__proxy *p = place(n, f)->proxy[i_];                                                                        \
        call;                                                                                                          \
    }

static void clear(struct nemesis *n, struct fault *f) { EACH_PROXY(n, f, p, pdk__proxy_clear(p)) }

/* --- connections ------------------------------------------------------------------------------------------------- */

static bool cut(struct nemesis *n, struct fault *f)
{
    EACH_PROXY(n, f, p, pdk__proxy_cut(p))
    return f->took = true;
}

static void cut_again(struct nemesis *n, struct fault *f) { cut(n, f); }

static bool hold_both(struct nemesis *n, struct fault *f)
{
    EACH_PROXY(n, f, p, (pdk__proxy_hold(p, PDK__TO_SERVER, true), pdk__proxy_hold(p, PDK__TO_CLIENT, true)))
    return f->took = true;
}

static bool deafen(struct nemesis *n, struct fault *f)
{
    EACH_PROXY(n, f, p, pdk__proxy_hold(p, PDK__TO_CLIENT, true))
    return f->took = true;
}

static bool mute(struct nemesis *n, struct fault *f)
{
    EACH_PROXY(n, f, p, pdk__proxy_hold(p, PDK__TO_SERVER, true))
    return f->took = true;
}

static bool refuse(struct nemesis *n, struct fault *f)
{
    EACH_PROXY(n, f, p, (pdk__proxy_refuse(p, true), pdk__proxy_cut(p)))
    return f->took = true;
}

static bool delay(struct nemesis *n, struct fault *f)
{
    f->detail = dice_between(&n->dice, 5, n->workers->session_ms / 6);
    EACH_PROXY(n, f, p,
               (pdk__proxy_delay(p, PDK__TO_SERVER, f->detail), pdk__proxy_delay(p, PDK__TO_CLIENT, f->detail)))
    return f->took = true;
}

/* Packets of a line that was down are lost when the peers give up. Here the held packets are lost in half of the cases,
 * and arrive after all in the other half. */
static void restore(struct nemesis *n, struct fault *f)
{
    if (dice_chance(&n->dice, 50))
        EACH_PROXY(n, f, p, pdk__proxy_cut(p))
    clear(n, f);
}

static void flap(struct nemesis *n, struct fault *f)
{
    bool down = ++f->detail / 4 % 2 == 1;
    EACH_PROXY(n, f, p, (pdk__proxy_hold(p, PDK__TO_SERVER, down), pdk__proxy_hold(p, PDK__TO_CLIENT, down)))
}

/* --- messages ---------------------------------------------------------------------------------------------------- */

static bool rule(struct nemesis *n, struct fault *f, pdk__act act)
{
    static const int ops[] = {PDK__OP_CREATE2,
                              PDK__OP_CREATE2,
                              PDK__OP_DELETE,
                              PDK__OP_DELETE,
                              PDK__OP_LIST,
                              PDK__OP_LIST2,
                              PDK__OP_GET,
                              PDK__OP_EXISTS,
                              PDK__OP_CONNECT,
                              PDK__OP_SET_WATCHES,
                              PDK__OP_PING,
                              PDK__OP_PROOF,
                              0};
    f->detail = ops[dice_below(&n->dice, sizeof ops / sizeof *ops)];
    if (f->detail == PDK__OP_CONNECT || f->detail == PDK__OP_SET_WATCHES)
        EACH_PROXY(n, f, p, pdk__proxy_cut(p))
    atomic_store(&place(n, f)->history->hasty, f->detail == PDK__OP_CREATE2);
    struct pdk__proxy_rule r = {.op = f->detail, .nth = dice_between(&n->dice, 1, 2), .act = act};
    for (int i = 0; i < n->e->n; i++)
        f->rule[i] = pdk__proxy_rule(place(n, f)->proxy[i], &r);
    return true;
}

static bool lose_request(struct nemesis *n, struct fault *f) { return rule(n, f, PDK__CUT_BEFORE); }
static bool lose_after_request(struct nemesis *n, struct fault *f) { return rule(n, f, PDK__CUT_AFTER_FORWARD); }
static bool lose_reply(struct nemesis *n, struct fault *f) { return rule(n, f, PDK__CUT_BEFORE_REPLY); }
static bool lose_after_reply(struct nemesis *n, struct fault *f) { return rule(n, f, PDK__CUT_AFTER_REPLY); }
static bool hold_request(struct nemesis *n, struct fault *f) { return rule(n, f, PDK__HOLD_REQUEST); }
static bool hold_reply(struct nemesis *n, struct fault *f) { return rule(n, f, PDK__HOLD_REPLY); }

static bool has_hit(struct nemesis *n, const struct fault *f)
{
    for (int i = 0; i < n->e->n; i++)
        if (pdk__proxy_hits(place(n, f)->proxy[i], f->rule[i]) > 0)
            return true;
    return false;
}

/* The rule has acted. In 60 of 100 cases the fault then ends, to make room for the next. Otherwise it refuses all
 * connections for the rest of its time, so that a client gives up a request whose outcome it does not know. */
static void rest(struct nemesis *n, struct fault *f)
{
    if (f->took || !has_hit(n, f))
        return;
    f->took = true;
    if (dice_chance(&n->dice, 60))
        f->until_ns = 0;
    else
        EACH_PROXY(n, f, p, pdk__proxy_refuse(p, true))
}

static void unrule(struct nemesis *n, struct fault *f)
{
    f->took |= has_hit(n, f);
    atomic_store(&place(n, f)->history->hasty, 0);
    clear(n, f);
}

/* --- process and session ----------------------------------------------------------------------------------------- */

static bool stop(struct nemesis *n, struct fault *f)
{
    workers_stop(n->workers, f->victim);
    return f->took = true;
}

static void resume(struct nemesis *n, struct fault *f) { workers_continue(n->workers, f->victim); }

static bool die(struct nemesis *n, struct fault *f)
{
    workers_kill(n->workers, f->victim);
    return f->took = true;
}

static void replace(struct nemesis *n, struct fault *f) { workers_hire(n->workers, f->victim); }

static bool who_is(const struct history *h, clientid_t *id)
{
    uint32_t turn = atomic_load(&h->turn);
    id->client_id = h->session;
    memcpy(id->passwd, h->password, sizeof id->passwd);
    atomic_thread_fence(memory_order_seq_cst);
    return turn % 2 == 0 && turn > 0 && atomic_load(&h->turn) == turn;
}

/* The servers must be well: the request is not repeated. */
static bool kill_session(struct nemesis *n, struct fault *f)
{
    clientid_t id;
    int i = dice_below(&n->dice, n->e->n);
    for (int j = 0; j < n->n_active; j++)
        if (fault_sort(n->active[j].id) == SORT_SERVER)
            return false;
    if (n->well_ns == 0 || !who_is(place(n, f)->history, &id))
        return false;
    f->took = pdk__zk_kill_session(pdk__server_port(n->e->server[i]), &id) == 0;
    return true;
}

const struct fault_kind client_faults[N_FAULTS] = {
    [FAULT_CUT] = {20, 0, 10, false, cut, NULL, NULL},
    [FAULT_CUT_STORM] = {4, 200, 600, true, cut, cut_again, NULL},
    [FAULT_REQUEST_LOST] = {12, 300, 2000, false, lose_request, rest, unrule},
    [FAULT_REQUEST_UNKNOWN] = {12, 300, 2000, false, lose_after_request, rest, unrule},
    [FAULT_REPLY_LOST] = {16, 300, 2000, false, lose_reply, rest, unrule},
    [FAULT_REPLY_LAST] = {6, 300, 2000, false, lose_after_reply, rest, unrule},
    [FAULT_REQUEST_HELD] = {6, 200, 1000, false, hold_request, NULL, unrule},
    [FAULT_REPLY_HELD] = {6, 200, 1000, false, hold_reply, NULL, unrule},
    [FAULT_DELAY] = {5, 200, 1000, false, delay, NULL, clear},
    [FAULT_BLACKHOLE_SHORT] = {6, 100, 900, true, hold_both, NULL, restore},
    [FAULT_BLACKHOLE_LONG] = {10, 1050, 2500, true, hold_both, NULL, restore},
    [FAULT_DEAF] = {5, 300, 2000, true, deafen, NULL, restore},
    [FAULT_MUTE] = {8, 600, 2000, true, mute, NULL, restore},
    [FAULT_REFUSED_SHORT] = {4, 100, 900, true, refuse, NULL, clear},
    [FAULT_REFUSED_LONG] = {8, 1050, 2500, true, refuse, NULL, clear},
    [FAULT_FLAP] = {3, 500, 2500, true, cut, flap, restore},
    [FAULT_STOP_SHORT] = {5, 50, 800, true, stop, NULL, resume},
    [FAULT_STOP_LONG] = {7, 1200, 2000, true, stop, NULL, resume},
    [FAULT_KILL] = {8, 0, 300, false, die, NULL, replace},
    [FAULT_SESSION_KILLED] = {6, 0, 10, true, kill_session, NULL, NULL},
};
