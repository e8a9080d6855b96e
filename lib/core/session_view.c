#include "lib/core/session_view.h"
#include "lib/assert.h"

void pdk__session_view_end(struct pdk__session_view *v) { v->connected = v->lease_ok = false; }

static enum pdk__move up(struct pdk__session_view *v, const struct pdk__event *ev, enum pdk__phase phase, bool has_node)
{
    /* Some servers that speak ZooKeeper's protocol grant a new session without a word about the old one. */
    if (v->id != ev->session && has_node)
        return PDK__MOVE_REPLACE;
    assert(ev->session != 0 && ev->timeout_ms >= 0);
    v->id = ev->session;
    v->timeout_ms = ev->timeout_ms;
    v->connected = true;
    if (phase == PDK__DISCONNECTED)
        return PDK__MOVE_ADVANCE;
    return phase == PDK__SUSPECT ? PDK__MOVE_LOOK : PDK__MOVE_NONE;
}

static enum pdk__move down(struct pdk__session_view *v, enum pdk__phase phase)
{
    v->connected = false;
    if (phase == PDK__HELD)
        return PDK__MOVE_SUSPECT;
    return phase == PDK__IDLE || phase == PDK__DONE || phase == PDK__SUSPECT ? PDK__MOVE_NONE : PDK__MOVE_ADVANCE;
}

static enum pdk__move lease_ok(struct pdk__session_view *v, enum pdk__phase phase)
{
    v->lease_ok = true;
    if (phase == PDK__AWAITING_LEASE)
        return PDK__MOVE_CHECK;
    return phase == PDK__SUSPECT ? PDK__MOVE_RECOVER : PDK__MOVE_NONE;
}

static enum pdk__move lease_low(struct pdk__session_view *v, enum pdk__phase phase)
{
    v->lease_ok = false;
    return phase == PDK__HELD ? PDK__MOVE_SUSPECT : PDK__MOVE_NONE;
}

struct pdk__verdict pdk__session_view_judge(struct pdk__session_view *v, const struct pdk__event *ev,
                                            enum pdk__phase phase, bool has_node)
{
    assert(phase < PDK__N_PHASES && (!v->connected || v->id != 0));
    bool granted = pdk__phase_grants(phase);
    switch (ev->kind) {
    case PDK__EV_SESSION_UP:
        return pdk__verdict(up(v, ev, phase, has_node));
    case PDK__EV_SESSION_DOWN:
        return pdk__verdict(down(v, phase));
    case PDK__EV_LEASE_OK:
        return pdk__verdict(lease_ok(v, phase));
    case PDK__EV_LEASE_LOW:
        return pdk__verdict(lease_low(v, phase));
    case PDK__EV_LEASE_EXPIRED:
        return pdk__verdict(granted ? PDK__MOVE_LOSE : PDK__MOVE_NONE);
    case PDK__EV_SESSION_EXPIRED:
        return (struct pdk__verdict){.move = PDK__MOVE_EXPIRE, .confirmed = ev->error == 0};
    case PDK__EV_SESSION_OVER:
        return (struct pdk__verdict){.move = PDK__MOVE_END, .error = ev->error};
    default:
        assert(ev->kind == PDK__EV_SESSION_LEFT);
        return granted ? pdk__verdict(PDK__MOVE_LOSE)
                       : (struct pdk__verdict){.move = PDK__MOVE_LEAVE, .error = ev->error};
    }
}
