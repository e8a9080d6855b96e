/*
 * A step towards this: belief rests on three links, by induction over the answers.
 *
 * Each touched link after an answer was touched before it, or is that answer. Each carried link was carried before, or
 * the answer carries a link that had been touched, as the definition in chain.h says. Each moment up to which the
 * session is proven was proven before, or the answer proves the link that had been carried.
 *
 * A part is a call. The answers to syncs and writes, LEADER and QUORUM, are not run: CBMC has no answer in a minute.
 * links.c tries them.
 */
#include "lib/core/chain.h"
#include "test/cbmc/prove.h"

/* A clock in milliseconds for longer than thirty million years. */
#define NOW_MAX (INT64_C(1) << 60)

enum call { CALL_BEGIN, CALL_RESUME, CALL_SERVER, CALL_LEADER, CALL_QUORUM, CALL_ASK, CALL = PART_OF(CALL_) };

static int64_t any_time_ms(void) { return any_between(0, NOW_MAX); }

static int64_t any_time_or_none_ms(void) { return nondet_bool() ? PDK__UNKNOWN_MS : any_time_ms(); }

static bool known(const struct pdk__link *l) { return l->base_ms != PDK__UNKNOWN_MS; }

static bool same(const struct pdk__link *a, const struct pdk__link *b)
{
    return a->base_ms == b->base_ms && a->known_ms == b->known_ms;
}

/* Links are moved by one, and as a whole. */
void *memmove(void *to, const void *from, size_t n)
{
    struct pdk__link *links = to;
    PROVE(to == (const struct pdk__link *)from + 1 && n == (PDK__LINKS_KEPT - 1) * sizeof *links,
          "links move on by one");
    for (int i = PDK__LINKS_KEPT - 2; i >= 0; i--)
        links[i] = links[i - 1];
    return to;
}

/* --- the invariant ------------------------------------------------------------------------------------------------ */

static bool link_allowed(const struct pdk__chain *c, const struct pdk__link *l, int64_t by_ms)
{
    return !known(l) ||
           (0 <= l->base_ms && l->base_ms <= l->known_ms && l->known_ms <= by_ms && l->base_ms <= c->latest_ms);
}

static bool times_allowed(const struct pdk__chain *c, int64_t now_ms)
{
    bool latest = c->latest_ms == PDK__UNKNOWN_MS || (0 <= c->latest_ms && c->latest_ms <= now_ms);
    bool proven = c->proven_ms == PDK__UNKNOWN_MS || (0 <= c->proven_ms && c->proven_ms <= c->latest_ms);
    return c->gap_ms > 0 && c->gap_ms <= INT_MAX && c->late_ms > 0 && c->late_ms <= c->gap_ms && latest && proven;
}

/* A law of any link is one of all. */
static int any_index(void) { return (int)any_between(0, PDK__LINKS_KEPT - 1); }

static bool allowed_at(const struct pdk__chain *c, int64_t now_ms, int i)
{
    return link_allowed(c, &c->touched[i], now_ms) && link_allowed(c, &c->carried[i], now_ms + INT_MAX);
}

static struct pdk__chain any_chain(int64_t now_ms)
{
    struct pdk__chain c = {
        .gap_ms = nondet_int64(), .late_ms = nondet_int64(), .latest_ms = nondet_int64(), .proven_ms = nondet_int64()};
    ASSUME(times_allowed(&c, now_ms));
    for (int i = 0; i < PDK__LINKS_KEPT; i++) {
        c.touched[i] = (struct pdk__link){nondet_int64(), nondet_int64()};
        c.carried[i] = (struct pdk__link){nondet_int64(), nondet_int64()};
        ASSUME(allowed_at(&c, now_ms, i));
    }
    return c;
}

static void prove_allowed(const struct pdk__chain *c, int64_t now_ms)
{
    PROVE(times_allowed(c, now_ms), "what is proven is not later than the latest request that was answered");
    PROVE(allowed_at(c, now_ms, any_index()), "a link was sent before it was known");
}

/* --- an answer ---------------------------------------------------------------------------------------------------- */

/* Links move on by one at most. */
static bool was_there(const struct pdk__link *before, const struct pdk__link *after, int i)
{
    return same(&after[i], &before[i]) || (i > 0 && same(&after[i], &before[i - 1]));
}

/* The newest moment that a request sent at SENT_MS carries, by the definition of CARRIED. */
static int64_t carried_ms(const struct pdk__chain *b, int64_t sent_ms)
{
    int64_t newest_ms = PDK__UNKNOWN_MS;
    for (int i = 0; i < PDK__LINKS_KEPT; i++)
        if (known(&b->touched[i]) && b->touched[i].known_ms + b->gap_ms <= sent_ms)
            newest_ms = pdk__later_ms(newest_ms, b->touched[i].base_ms);
    return newest_ms;
}

static bool carries(const struct pdk__chain *b, const struct pdk__link *link, int64_t sent_ms, int64_t now_ms)
{
    return CALL != CALL_SERVER && link->base_ms <= carried_ms(b, sent_ms) &&
           link->known_ms >= now_ms + (CALL == CALL_LEADER ? b->late_ms : 0);
}

/* The newest moment that a write sent at SENT_MS proves, by the definition of PROVEN. */
static int64_t newest_ms(const struct pdk__chain *b, int64_t sent_ms)
{
    int64_t newest_ms = b->proven_ms;
    for (int i = 0; i < PDK__LINKS_KEPT; i++)
        if (known(&b->carried[i]) && b->carried[i].known_ms < sent_ms)
            newest_ms = pdk__later_ms(newest_ms, b->carried[i].base_ms);
    return newest_ms;
}

static void prove_links(const struct pdk__chain *b, const struct pdk__chain *c, int64_t sent_ms, int64_t now_ms)
{
    const struct pdk__link answer = {sent_ms, now_ms};
    int i = any_index();
    PROVE(was_there(b->touched, c->touched, i) || same(&c->touched[i], &answer), "a touched link is an answer");
    PROVE(was_there(b->carried, c->carried, i) || (i == 0 && carries(b, &c->carried[0], sent_ms, now_ms)),
          "a carried link was touched more than the gap before the request that carries it");
}

static void answered(struct pdk__chain *c, int64_t now_ms)
{
    enum pdk__reach reach = CALL - CALL_SERVER;
    int64_t sent_ms = any_between(0, now_ms);
    const struct pdk__chain b = *c;
    bool more = pdk__chain_answered(c, sent_ms, now_ms, reach);
    prove_links(&b, c, sent_ms, now_ms);
    PROVE(c->proven_ms >= b.proven_ms && more == (c->proven_ms > b.proven_ms), "an answer never takes belief away");
    PROVE(!more || (CALL == CALL_QUORUM && c->proven_ms <= newest_ms(&b, sent_ms)),
          "a write of a quorum proves what had been carried before it");
    PROVE(c->gap_ms == b.gap_ms && c->late_ms == b.late_ms, "the gap is the session's");
    REACH(c->latest_ms > b.latest_ms && !same(&c->touched[0], &b.touched[0]) && reach == PDK__REACHED_SERVER);
}

/* --- a connection ------------------------------------------------------------------------------------------------- */

static void begin(struct pdk__chain *c, int64_t gap_ms, int64_t late_ms, int64_t since_ms)
{
    pdk__chain_begin(c, gap_ms, late_ms, since_ms);
    PROVE(c->proven_ms == since_ms && c->latest_ms == since_ms, "a session is proven since it was asked for");
    for (int i = 0; i < PDK__LINKS_KEPT; i++)
        PROVE(!known(&c->touched[i]) && !known(&c->carried[i]), "no link is of an earlier session");
    REACH(since_ms == PDK__UNKNOWN_MS);
}

static void resume(struct pdk__chain *c, int64_t gap_ms, int64_t late_ms, int64_t now_ms)
{
    const struct pdk__chain b = *c;
    pdk__chain_resume(c, gap_ms, late_ms, now_ms);
    PROVE(c->proven_ms == b.proven_ms && c->latest_ms == b.latest_ms, "a connection proves nothing");
    PROVE(c->carried[0].base_ms == b.latest_ms && c->carried[0].known_ms == now_ms,
          "a connection carries the last answer");
    for (int i = 0; i < PDK__LINKS_KEPT; i++)
        PROVE(!known(&c->touched[i]) && (i == 0 || !known(&c->carried[i])), "no link is of an earlier connection");
    REACH(known(&c->carried[0]) && c->gap_ms < b.gap_ms);
}

/* --- what is asked of it ------------------------------------------------------------------------------------------ */

static void ask(const struct pdk__chain *c)
{
    int64_t sent_ms = any_time_or_none_ms();
    int64_t prove_ms = pdk__chain_prove_ms(c, sent_ms), next_ms = pdk__chain_next_ms(c, sent_ms);
    int64_t base_ms = pdk__chain_base_ms(c, sent_ms);
    PROVE(prove_ms > sent_ms && prove_ms > 0, "the write that proves more is sent after the last");
    PROVE(next_ms == 0 || next_ms > sent_ms, "the next link is sent after the last");
    PROVE(prove_ms == INT64_MAX || prove_ms <= NOW_MAX + INT_MAX + 1, "a write need not wait for longer than the gap");
    PROVE(base_ms >= c->proven_ms && base_ms <= c->latest_ms, "a sync takes nothing away");
    REACH(prove_ms < INT64_MAX);
    REACH(next_ms == 0);
    REACH(next_ms > 0 && next_ms < INT64_MAX);
}

int main(void)
{
    int64_t now_ms = any_time_ms(), later_ms = any_between(now_ms, NOW_MAX);
    int64_t gap_ms = any_between(1, INT_MAX), late_ms = any_between(1, gap_ms);
    struct pdk__chain c = any_chain(now_ms);
    if (CALL == CALL_BEGIN)
        begin(&c, gap_ms, late_ms, nondet_bool() ? PDK__UNKNOWN_MS : any_between(0, later_ms));
    else if (CALL == CALL_RESUME)
        resume(&c, gap_ms, late_ms, later_ms);
    else if (CALL == CALL_ASK)
        ask(&c);
    else
        answered(&c, later_ms);
    prove_allowed(&c, later_ms);
}
