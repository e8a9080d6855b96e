#include "cli/run/relay.h"

#include "cli/number.h"
#include "lib/assert.h"

enum { HOLD_MS = 100, ANSWER_MS = 1000, N = 32, BOTH = WAY_RUNNER | WAY_SESSION };

static bool waits(const struct pdk__cli_held *h) { return h->stage == STAGE_HELD || h->stage == STAGE_ASKED; }

/* A signal that was passed on is no first of a pair: the next one may be another signal. Twice is better than never. */
static bool is_second(const struct pdk__cli_held *h, pid_t sender, enum pdk__cli_way way)
{
    return waits(h) && h->sender == sender && (h->ways & (int)way) == 0;
}

void pdk__cli_relay_take(struct pdk__cli_relay *r, int signal, pid_t sender, enum pdk__cli_way way, int64_t now)
{
    if (signal <= 0 || signal >= N)
        return;
    struct pdk__cli_held *h = &r->of[signal];
    assert(way == WAY_RUNNER || way == WAY_SESSION);
    if (is_second(h, sender, way)) {
        h->ways |= (int)way;
        h->due = now;
    } else if (waits(h) && h->sender != sender) {
        h->ways = 0; /* the command gets it, and one is enough, as when the system merges signals */
    } else if (!waits(h)) {
        *h = (struct pdk__cli_held){STAGE_HELD, (int)way, sender, now + HOLD_MS};
    }
}

bool pdk__cli_relay_asks(struct pdk__cli_relay *r, int64_t now)
{
    bool asks = false;
    for (int i = 1; i < N; i++) {
        struct pdk__cli_held *h = &r->of[i];
        if (h->stage != STAGE_HELD || h->ways == BOTH || now < h->due)
            continue;
        h->stage = STAGE_ASKED;
        h->due = now + ANSWER_MS;
        asks = true;
    }
    return asks;
}

void pdk__cli_relay_answered(struct pdk__cli_relay *r, int64_t now)
{
    for (int i = 1; i < N; i++)
        if (r->of[i].stage == STAGE_ASKED)
            r->of[i].due = now;
}

int pdk__cli_relay_next(struct pdk__cli_relay *r, int64_t now, bool *everywhere, pid_t *sender)
{
    for (int i = 1; i < N; i++) {
        struct pdk__cli_held *h = &r->of[i];
        if (!waits(h) || now < h->due || (h->stage == STAGE_HELD && h->ways != BOTH))
            continue;
        assert(h->ways == BOTH || h->stage == STAGE_ASKED);
        h->stage = STAGE_PASSED;
        *everywhere = h->ways == BOTH;
        *sender = h->sender;
        return i;
    }
    return 0;
}

bool pdk__cli_relay_took(const struct pdk__cli_relay *r, int signal)
{
    return signal > 0 && signal < N && r->of[signal].stage != STAGE_NONE;
}

int64_t pdk__cli_relay_due(const struct pdk__cli_relay *r)
{
    int64_t first = -1;
    for (int i = 1; i < N; i++)
        if (waits(&r->of[i]))
            first = pdk__cli_earlier(first, r->of[i].due);
    return first;
}
