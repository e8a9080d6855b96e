#include "lib/core/chain.h"
#include "lib/assert.h"
#include <string.h>

static const struct pdk__link nothing = {PDK__UNKNOWN_MS, PDK__UNKNOWN_MS};

static bool known(const struct pdk__link *link) { return link->base_ms != PDK__UNKNOWN_MS; }

/* Of two moments in one millisecond, it cannot be known which came first. */
enum { TELL_APART_MS = 1 };

/* Would its proof extend our belief? */
static bool gains(const struct pdk__chain *chain, const struct pdk__link *link)
{
    return known(link) && link->base_ms > chain->proven_ms;
}

/* Was it known DELAY_MS before a request that was sent at SENT_MS? */
static bool bears(const struct pdk__link *link, int64_t delay_ms, int64_t sent_ms)
{
    return known(link) && link->known_ms + delay_ms <= sent_ms;
}

static void forget(struct pdk__link *links)
{
    for (int i = 0; i < PDK__LINKS_KEPT; i++)
        links[i] = nothing;
}

static void keep(struct pdk__link *links, int64_t base_ms, int64_t known_ms)
{
    assert(base_ms <= known_ms);
    memmove(links + 1, links, (PDK__LINKS_KEPT - 1) * sizeof *links);
    links[0] = (struct pdk__link){base_ms, known_ms};
}

void pdk__chain_init(struct pdk__chain *chain)
{
    *chain = (struct pdk__chain){.latest_ms = PDK__UNKNOWN_MS, .proven_ms = PDK__UNKNOWN_MS};
    forget(chain->touched);
    forget(chain->carried);
}

void pdk__chain_begin(struct pdk__chain *chain, int64_t gap_ms, int64_t late_ms, int64_t since_ms)
{
    assert(gap_ms > 0 && late_ms > 0);
    pdk__chain_init(chain);
    chain->gap_ms = gap_ms;
    chain->late_ms = late_ms;
    chain->latest_ms = chain->proven_ms = since_ms;
}

void pdk__chain_resume(struct pdk__chain *chain, int64_t gap_ms, int64_t late_ms, int64_t now_ms)
{
    assert(gap_ms > 0 && late_ms > 0);
    chain->gap_ms = gap_ms;
    chain->late_ms = late_ms;
    forget(chain->touched);
    forget(chain->carried);
    /* Not the moment at which we were notified of the loss: the notice may be late, and the connection may have come
     * back long before. But each request answered on the old connection was sent before it broke. */
    keep(chain->carried, chain->latest_ms, now_ms);
}

static void prove(struct pdk__chain *chain, int64_t sent_ms)
{
    for (int i = 0; i < PDK__LINKS_KEPT; i++)
        if (gains(chain, &chain->carried[i]) && bears(&chain->carried[i], TELL_APART_MS, sent_ms))
            chain->proven_ms = chain->carried[i].base_ms;
}

/* The newest touched link that a request sent at SENT_MS carries; NULL: none. */
static const struct pdk__link *load(const struct pdk__chain *chain, int64_t sent_ms)
{
    for (int i = 0; i < PDK__LINKS_KEPT; i++)
        if (bears(&chain->touched[i], chain->gap_ms, sent_ms))
            return &chain->touched[i];
    return NULL;
}

/* Known at KNOWN_MS. Frequent writes must not push out the links that wait for their proof: then nothing would be
 * proven. */
static void carry(struct pdk__chain *chain, int64_t sent_ms, int64_t known_ms, int64_t apart_ms)
{
    const struct pdk__link *newest = &chain->carried[0], *oldest = &chain->carried[PDK__LINKS_KEPT - 1];
    if (gains(chain, oldest) || (gains(chain, newest) && known_ms - newest->known_ms < apart_ms))
        return;
    const struct pdk__link *touched = load(chain, sent_ms);
    if (touched != NULL && gains(chain, touched) && touched->base_ms > newest->base_ms)
        keep(chain->carried, touched->base_ms, known_ms);
}

static void touch(struct pdk__chain *chain, int64_t sent_ms, int64_t now_ms, int64_t apart_ms)
{
    const struct pdk__link *newest = &chain->touched[0];
    if (!known(newest) || now_ms - newest->known_ms >= apart_ms)
        keep(chain->touched, sent_ms, now_ms);
}

bool pdk__chain_answered(struct pdk__chain *chain, int64_t sent_ms, int64_t now_ms, enum pdk__reach reach)
{
    assert(sent_ms <= now_ms);
    int64_t before_ms = chain->proven_ms;
    int64_t apart_ms = (chain->gap_ms + now_ms - sent_ms) / (PDK__LINKS_KEPT - 2);
    if (reach == PDK__REACHED_QUORUM)
        prove(chain, sent_ms);
    if (reach != PDK__REACHED_SERVER)
        carry(chain, sent_ms, reach == PDK__REACHED_LEADER ? now_ms + chain->late_ms : now_ms, apart_ms);
    touch(chain, sent_ms, now_ms, apart_ms);
    if (sent_ms > chain->latest_ms)
        chain->latest_ms = sent_ms;
    assert(before_ms <= chain->proven_ms && chain->proven_ms <= chain->latest_ms);
    return chain->proven_ms > before_ms;
}

/* The earliest moment after SENT_MS that is DELAY_MS after one of LINKS was known, of those that gain more than
 * ABOVE_MS. After a sync a link may count later than a newer one. */
static int64_t earliest_ms(const struct pdk__link *links, int64_t above_ms, int64_t delay_ms, int64_t sent_ms)
{
    int64_t earliest = INT64_MAX;
    for (int i = 0; i < PDK__LINKS_KEPT && known(&links[i]) && links[i].base_ms > above_ms; i++) {
        int64_t due_ms = links[i].known_ms + delay_ms;
        if (due_ms > sent_ms && due_ms < earliest)
            earliest = due_ms;
    }
    return earliest;
}

static int64_t best_ms(const struct pdk__chain *chain)
{
    int64_t carried_ms = chain->carried[0].base_ms;
    return carried_ms > chain->proven_ms ? carried_ms : chain->proven_ms;
}

int64_t pdk__chain_prove_ms(const struct pdk__chain *chain, int64_t sent_ms)
{
    return earliest_ms(chain->carried, chain->proven_ms, TELL_APART_MS, sent_ms);
}

int64_t pdk__chain_base_ms(const struct pdk__chain *chain, int64_t sent_ms)
{
    const struct pdk__link *touched = load(chain, sent_ms);
    return touched != NULL && touched->base_ms > best_ms(chain) ? touched->base_ms : best_ms(chain);
}

int64_t pdk__chain_carry_ms(const struct pdk__chain *chain, int64_t sent_ms, int64_t by_ms)
{
    int64_t above_ms = pdk__chain_base_ms(chain, sent_ms);
    const struct pdk__link *touched = load(chain, by_ms);
    if (touched != NULL && touched->base_ms > above_ms)
        return touched->known_ms + chain->gap_ms;
    return earliest_ms(chain->touched, above_ms, chain->gap_ms, sent_ms);
}

int64_t pdk__chain_next_ms(const struct pdk__chain *chain, int64_t sent_ms)
{
    int64_t above_ms = best_ms(chain);
    int64_t proof_ms = pdk__chain_prove_ms(chain, sent_ms);
    if (proof_ms != INT64_MAX)
        return proof_ms;
    if (above_ms == chain->proven_ms && !gains(chain, &chain->touched[0]))
        return 0;
    return earliest_ms(chain->touched, above_ms, chain->gap_ms, sent_ms);
}
