/* The session machine: any sequence of what a client can hear, on any clock that does not run backwards. */
#include "lib/core/session.h"
#include "lib/core/contender.h"
#include "test/fuzz/fuzz.h"

const char pdk__fuzz_name[] = "session";

struct life {
    struct pdk__session s;
    int64_t now_ms;
    int64_t session; /* of the last UP; 0 after it was reported over */
    bool connected;
    bool presumed, proven, wanted;
    int asked;
    bool over;
    int opens; /* handles asked for */
};

static void hear(struct life *l, const struct pdk__session_action *a)
{
    MUST(!l->over);
    switch (a->kind) {
    case PDK__SACT_UP:
        MUST(a->session != 0 && (l->session == 0 || l->session == a->session));
        l->session = a->session;
        l->connected = true;
        l->asked = 0;
        break;
    case PDK__SACT_DOWN:
        MUST(l->connected);
        l->connected = false;
        l->asked = 0;
        break;
    case PDK__SACT_LEASE_OK:
        MUST(l->connected && !l->proven && pdk__session_lease_valid(&l->s, l->now_ms));
        l->proven = true;
        l->presumed = false;
        break;
    case PDK__SACT_LEASE_LOW:
        MUST(l->session != 0 && l->proven);
        l->proven = false;
        break;
    case PDK__SACT_LEASE_EXPIRED:
        MUST(l->session != 0 && !l->proven && !l->presumed);
        l->presumed = true;
        break;
    case PDK__SACT_RENEW:
    case PDK__SACT_SYNC:
        MUST(l->wanted);
        /* fall through */
    case PDK__SACT_KEEPALIVE:
        MUST(l->connected && l->asked < 16);
        l->asked++;
        break;
    case PDK__SACT_EXPIRED:
        l->session = 0;
        l->connected = l->presumed = l->proven = false;
        l->asked = 0;
        break;
    case PDK__SACT_OVER:
        MUST(a->error != 0);
        l->over = true;
        l->connected = l->proven = false;
        break;
    case PDK__SACT_LEAVE:
        MUST(l->connected && l->asked > 0);
        break;
    case PDK__SACT_OPEN:
        MUST(l->session == 0 && l->s.renewable);
        l->opens++;
        break;
    }
}

static void step(struct life *l, struct pdk__session_event event)
{
    struct pdk__session_actions actions;
    event.now_ms = event.since_ms = l->now_ms;
    pdk__session_step(&l->s, &event, &actions);
    for (size_t i = 0; i < actions.n; i++)
        hear(l, &actions.list[i]);
    MUST((l->s.phase == PDK__SESSION_CONNECTED) == l->connected);
    MUST((l->s.phase == PDK__SESSION_OVER) == l->over);
    /* A client that may believe has a session, and no report that it is over. */
    if (pdk__session_lease_valid(&l->s, l->now_ms))
        MUST(l->session != 0 && !l->presumed && !l->over);
    if (l->proven)
        MUST(pdk__session_lease_valid(&l->s, l->now_ms));
}

/* The time that it waits for comes, and is then no more waited for. */
static void pass_time(struct life *l, int64_t ms)
{
    int64_t wake = pdk__session_wake_ms(&l->s);
    if (ms == 0 && wake != PDK__NEVER && wake > l->now_ms)
        l->now_ms = wake;
    l->now_ms += ms;
    step(l, (struct pdk__session_event){.kind = PDK__SEV_TIMER});
    if (wake <= l->now_ms)
        MUST(pdk__session_wake_ms(&l->s) != wake);
}

/* An answer: to a request of AGO_MS ago, or to one that the machine asked for. */
static void answer(struct life *l, uint8_t what, int64_t ago_ms)
{
    struct pdk__session_event event = {.kind = PDK__SEV_ANSWERED, .sent_ms = l->now_ms - ago_ms};
    if ((what & 0x38) == 0) {
        l->wanted = !l->wanted;
        event.kind = l->wanted ? PDK__SEV_LEASE_NEEDED : PDK__SEV_LEASE_UNNEEDED;
    } else if (l->asked > 0 && (what & 8) != 0) {
        event.kind = what >= 0xf0 ? PDK__SEV_UNASKED : PDK__SEV_ANSWERED;
        event.asked = true;
        l->asked--;
    }
    event.agreed = (what & 0x10) != 0;
    event.wrote = event.agreed || (what & 0x40) != 0;
    event.led = !event.wrote && (what & 0x20) != 0;
    step(l, event);
}

static void tell(struct life *l, struct bytes *b)
{
    uint8_t what = take(b);
    switch (what & 7) {
    case 0:
    case 1:
        step(l, (struct pdk__session_event){.kind = PDK__SEV_CONNECTED,
                                            .session = (what >> 3 & 3) + 1,
                                            .timeout_ms = 1 + take(b) * 100,
                                            .unresumable = what >= 0xf0});
        break;
    case 2:
        step(l, (struct pdk__session_event){.kind = PDK__SEV_DISCONNECTED});
        break;
    case 3:
        step(l, (struct pdk__session_event){.kind = PDK__SEV_EXPIRED});
        break;
    case 4:
        step(l, (struct pdk__session_event){.kind = what < 0xf0 ? PDK__SEV_DISCONNECTED : PDK__SEV_AUTH_FAILED});
        break;
    case 5:
        if (what >= 0xf0)
            step(l, (struct pdk__session_event){.kind = PDK__SEV_CLOSE});
        else if (l->opens > 0 && (l->s.phase == PDK__SESSION_OPENING || l->s.phase == PDK__SESSION_BACKOFF))
            step(l, (struct pdk__session_event){.kind = what >= 0x80 ? PDK__SEV_OPEN_FAILED : PDK__SEV_OPENED});
        break;
    case 6:
        if (what >= 0x40)
            answer(l, what, take(b));
        else
            pass_time(l, 0);
        break;
    default:
        pass_time(l, take(b) * 50);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes b = {data, size};
    struct life l = {.now_ms = 1000};
    uint8_t seed = take(&b);
    pdk__session_init(&l.s, (seed & 1) != 0, (struct pdk__session_policy){0}, seed >> 1, 3000, l.now_ms);
    while (b.left > 0)
        tell(&l, &b);
    step(&l, (struct pdk__session_event){.kind = PDK__SEV_CLOSE});
    MUST(l.over && pdk__session_wake_ms(&l.s) == PDK__NEVER);
    return 0;
}
