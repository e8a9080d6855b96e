#include "lib/core/chain.h"
#include <string.h>

static const struct pdk__link nothing = {PDK__UNKNOWN_MS, PDK__UNKNOWN_MS};

static bool known(const struct pdk__link *link) { return link->base_ms != PDK__UNKNOWN_MS; }

/* Two moments in one millisecond: which came first cannot be told. */
enum { TELL_APART_MS = 1 };

/* Would its proof let us believe for longer? */
static bool gains(const struct pdk__chain *chain, const struct pdk__link *link)
{
    return known(link) && link->base_ms > chain->proven_ms;
}

/* Was it known DELAY_MS before a request that was sent at SENT_MS? */
static bool bears(const struct pdk__link *link, int64_t delay_ms, int64_t sent_ms)
{
    return known(link) && link->known_ms + delay_ms <= sent_ms;
}

static void forget_touches(struct pdk__chain *chain)
{
    for (int i = 0; i < PDK__TOUCHES_KEPT; i++)
        chain->touched[i] = nothing;
}

void pdk__chain_init(struct pdk__chain *chain)
{
    *chain = (struct pdk__chain){.carried = nothing};
    chain->latest_ms = chain->proven_ms = PDK__UNKNOWN_MS;
    forget_touches(chain);
}

void pdk__chain_begin(struct pdk__chain *chain, int64_t gap_ms, int64_t since_ms)
{
    pdk__chain_init(chain);
    chain->gap_ms = gap_ms;
    chain->latest_ms = chain->proven_ms = since_ms;
}

void pdk__chain_resume(struct pdk__chain *chain, int64_t now_ms)
{
    forget_touches(chain);
    /* Not the moment at which we heard of the loss: whoever tells us may be late, and the connection have come back long
     * before. But what was answered on the old one was sent before it broke. */
    chain->carried = (struct pdk__link){chain->latest_ms, now_ms};
}

/* What waits for its proof is not replaced by newer news, or a client that writes all the time would prove nothing. */
static void carry(struct pdk__chain *chain, int64_t sent_ms, int64_t now_ms)
{
    if (gains(chain, &chain->carried))
        return;
    for (int i = 0; i < PDK__TOUCHES_KEPT; i++) {
        if (bears(&chain->touched[i], chain->gap_ms, sent_ms)) {
            chain->carried = (struct pdk__link){chain->touched[i].base_ms, now_ms};
            return;
        }
    }
}

static void touch(struct pdk__chain *chain, int64_t sent_ms, int64_t now_ms)
{
    struct pdk__link *newest = &chain->touched[0];
    if (known(newest) && now_ms - newest->known_ms < chain->gap_ms / (PDK__TOUCHES_KEPT - 2))
        return;
    memmove(newest + 1, newest, (PDK__TOUCHES_KEPT - 1) * sizeof *newest);
    *newest = (struct pdk__link){sent_ms, now_ms};
}

bool pdk__chain_answered(struct pdk__chain *chain, int64_t sent_ms, int64_t now_ms, bool agreed)
{
    bool more = agreed && gains(chain, &chain->carried) && bears(&chain->carried, TELL_APART_MS, sent_ms);
    if (more)
        chain->proven_ms = chain->carried.base_ms;
    if (agreed)
        carry(chain, sent_ms, now_ms);
    touch(chain, sent_ms, now_ms);
    if (sent_ms > chain->latest_ms)
        chain->latest_ms = sent_ms;
    return more;
}

int64_t pdk__chain_next_ms(const struct pdk__chain *chain)
{
    if (gains(chain, &chain->carried))
        return chain->carried.known_ms + TELL_APART_MS;
    for (int i = PDK__TOUCHES_KEPT - 1; i >= 0; i--)
        if (gains(chain, &chain->touched[i]))
            return chain->touched[i].known_ms + chain->gap_ms;
    return 0;
}
