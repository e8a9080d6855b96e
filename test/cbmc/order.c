/*
 * The order of names is total, and the first and the candidates are the lowest by it. A name is parsed as any that
 * begins alike: as its own proof leaves it, junk has the number 0.
 */
#include "lib/core/order.h"
#include "lib/core/name.h"
#include "test/cbmc/prove.h"
#include <string.h>

enum { N = 3, LENGTH = 3 };

static char texts[N][LENGTH + 1];
static const char *children[N];
static struct pdk__name names[N];
static bool ours[N]; /* of the session and the attempt that are asked for */

/* --- in place of what is proved elsewhere ------------------------------------------------------------------------- */

static size_t index_of(const char *text)
{
    size_t i = 0;
    while (i < N - 1 && text != texts[i])
        i++;
    return i;
}

struct pdk__name pdk__name_glance(const char *text) { return names[index_of(text)]; }

bool pdk__name_is(const char *text, int64_t session, uint32_t attempt) { return ours[index_of(text)]; }

/* --- any names ---------------------------------------------------------------------------------------------------- */

static void any_name(size_t i)
{
    for (int k = 0; k < LENGTH; k++)
        texts[i][k] = nondet_char();
    children[i] = texts[i];
    names[i] = (struct pdk__name){.kind = any_between(0, PDK__NAME_JUNK), .sequence = nondet_int64()};
    ours[i] = nondet_bool();
    ASSUME(names[i].kind != PDK__NAME_JUNK || names[i].sequence == 0);
    for (size_t k = 0; k < i; k++)
        ASSUME(strcmp(texts[k], texts[i]) != 0 ||
               (names[k].kind == names[i].kind && ours[k] == ours[i] && names[k].sequence == names[i].sequence));
}

/* --- the laws ----------------------------------------------------------------------------------------------------- */

static int sign(int x) { return (x > 0) - (x < 0); }

static int order(size_t i, size_t k) { return sign(pdk__order_compare(texts[i], texts[k])); }

static bool junk(size_t i) { return names[i].kind == PDK__NAME_JUNK; }

static void prove_order(void)
{
    PROVE(order(0, 1) == -order(1, 0), "the one comes after the other that comes before it");
    PROVE((order(0, 1) == 0) == (strcmp(texts[0], texts[1]) == 0), "only equal names have one place");
    PROVE(order(0, 1) > 0 || order(1, 2) > 0 || order(0, 2) <= 0, "what comes before one comes before all after that");
    PROVE(junk(0) || !junk(1) || order(0, 1) < 0, "junk comes last");
    PROVE(junk(0) || junk(1) || names[0].sequence >= names[1].sequence || order(0, 1) < 0,
          "the lower number comes first");
    REACH(order(0, 1) < 0 && order(1, 2) < 0 && junk(1));
    REACH(order(0, 1) == 0 && order(1, 2) < 0);
}

static void prove_first(void)
{
    const char *first = pdk__order_first(children, N);
    for (size_t i = 0; i < N; i++)
        PROVE(junk(i) || (first != NULL && pdk__order_compare(first, texts[i]) <= 0), "the first comes before all");
    PROVE(first == NULL || !junk(index_of(first)), "the first is no junk");
    REACH(first == texts[2]);
    REACH(first == NULL);
}

/* AFTER is any name. It is the last of the texts, and need not be in the listing. */
static void prove_candidate(void)
{
    const char *after = texts[2];
    const char *candidate = pdk__order_candidate(children, nondet_bool() ? 2 : 3, nondet_int64(), nondet_unsigned(),
                                                 after);
    size_t at = candidate != NULL ? index_of(candidate) : N;
    PROVE(at == N || (ours[at] && (after[0] == '\0' || pdk__order_compare(candidate, after) > 0)),
          "a candidate is of the request, and new");
    for (size_t i = 0; i < 2; i++)
        if (ours[i] && (after[0] == '\0' || pdk__order_compare(texts[i], after) > 0))
            PROVE(at < N && pdk__order_compare(candidate, texts[i]) <= 0, "the lowest candidate comes first");
    REACH(at == 1 && ours[0]);
    REACH(at == N);
}

int main(void)
{
    for (size_t i = 0; i < N; i++)
        any_name(i);
    prove_order();
    prove_first();
    prove_candidate();
}
