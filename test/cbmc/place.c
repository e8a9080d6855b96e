/*
 * A contender's place in any listing, by any rule, whatever the numbers: it says what the step of the contender relies
 * on (contender.c). A name is parsed as any; junk has the number 0.
 */
#include "lib/core/rule.h"
#include "test/cbmc/prove.h"
#include <string.h>

enum { CHILDREN_ONE = 1, CHILDREN_TWO, CHILDREN_THREE, CHILDREN_FOUR, N = PART_OF(CHILDREN_) };

static char texts[N + 1][2]; /* one more: a name that is not in the listing */
static const char *children[N];
static struct pdk__name names[N + 1];

/* --- in place of what is proved elsewhere ------------------------------------------------------------------------- */

static size_t index_of(const char *text)
{
    size_t i = 0;
    while (i < N && text != texts[i])
        i++;
    return i;
}

struct pdk__name pdk__name_glance(const char *text)
{
    struct pdk__name name = names[index_of(text)];
    if (name.kind == PDK__NAME_OURS)
        name.kind = PDK__NAME_CURATOR;
    return name;
}

struct pdk__name pdk__name_parse(const char *text) { return names[index_of(text)]; }

int strcmp(const char *a, const char *b) { return a[0] - b[0]; }

/* --- any listing -------------------------------------------------------------------------------------------------- */

static bool has_tag(const struct pdk__name *name)
{
    return name->kind == PDK__NAME_OURS || name->kind == PDK__NAME_CURATOR;
}

static struct pdk__name any_name(void)
{
    struct pdk__name name = {.kind = any_between(0, PDK__NAME_JUNK),
                             .sequence = nondet_int64(),
                             .tag = any_between(0, PDK__N_TAGS - 1),
                             .kazoo = nondet_bool()};
    ASSUME(name.kind != PDK__NAME_JUNK || name.sequence == 0);
    ASSUME(name.sequence > INT64_MIN && name.sequence < INT64_MAX);
    ASSUME(has_tag(&name) ? !name.kazoo : name.tag == 0);
    ASSUME(name.kind == PDK__NAME_FOREIGN || !name.kazoo);
    return name;
}

static struct pdk__rule any_rule(void)
{
    struct pdk__rule rule = {.tag = any_between(0, PDK__N_TAGS - 1),
                             .passes = nondet_unsigned(),
                             .replaced = nondet_unsigned(),
                             .under = nondet_unsigned(),
                             .admits = nondet_size(),
                             .by_children = nondet_bool(),
                             .counts_junk = nondet_bool()};
    ASSUME(rule.admits >= 1);
    return rule;
}

static void any_listing(void)
{
    for (int i = 0; i <= N; i++) {
        texts[i][0] = (char)('a' + i);
        names[i] = any_name();
    }
    for (int i = 0; i < N; i++)
        children[i] = texts[i];
}

/* --- the laws ----------------------------------------------------------------------------------------------------- */

static bool in_the_way(const struct pdk__rule *rule, size_t own, size_t other, size_t base)
{
    struct pdk__name ours = pdk__name_glance(texts[own]), theirs = pdk__name_glance(texts[other]);
    return other != own && other != base && pdk__rule_position(rule, &theirs) < ours.sequence &&
           pdk__rule_blocks(rule, &ours, &theirs);
}

static int64_t position(const struct pdk__rule *rule, size_t i)
{
    struct pdk__name name = pdk__name_glance(texts[i]);
    return pdk__rule_position(rule, &name);
}

static void prove_flags(const struct pdk__rule *rule, const struct pdk__place *p, bool has_base)
{
    PROVE(p->admitted == (p->blocking < rule->admits) && p->next == (p->blocking == rule->admits),
          "fewer than the rule admits do not block");
    PROVE(p->blocking < N, "each but itself may block it");
    PROVE(!p->alone || p->blocking == 0, "nothing blocks what is alone");
    PROVE(!p->alone || !p->tied, "no tie is alone");
    PROVE(!p->leads || p->next, "what leads is next");
    PROVE(!p->replaceable || p->blocking > 0, "what is replaced blocks");
    PROVE(!p->baseless || has_base, "only a base is missing");
    PROVE((p->predecessor != NULL) == (p->blocking > 0) && (p->before != NULL) == (p->blocking > 1),
          "what blocks it is known");
}

static void prove_nearest(const struct pdk__rule *rule, const struct pdk__place *p, size_t own, size_t base)
{
    size_t blocking = 0, nearest = index_of(p->predecessor), second = index_of(p->before);
    PROVE(p->predecessor == NULL || in_the_way(rule, own, nearest, base), "the predecessor blocks");
    PROVE(p->before == NULL || (second != nearest && in_the_way(rule, own, second, base)), "the one before it blocks");
    for (size_t i = 0; i < N; i++) {
        if (!in_the_way(rule, own, i, base))
            continue;
        blocking++;
        PROVE(position(rule, i) <= position(rule, nearest), "no nearer one blocks");
        PROVE(i == nearest || position(rule, i) <= position(rule, second), "no nearer one is before it");
    }
    PROVE(p->blocking == blocking, "all that block are counted");
}

static bool nothing(const struct pdk__place *p)
{
    return !p->alone && !p->tied && p->blocking == 0 && !p->admitted && !p->next && !p->leads && !p->replaceable &&
           !p->baseless && p->predecessor == NULL && p->before == NULL;
}

int main(void)
{
    any_listing();
    struct pdk__rule rule = any_rule();
    size_t own = any_between(0, N), base = any_between(0, N);
    bool has_base = rule.under != 0 && own != base && nondet_bool();
    struct pdk__place p = pdk__rule_place(&rule, children, N, texts[own], has_base ? texts[base] : NULL);
    PROVE(p.present == (own < N), "a node of the listing has a place");
    PROVE(p.present || nothing(&p), "another has none");
    REACH(!p.present);
    if (!p.present)
        return 0;
    prove_flags(&rule, &p, has_base);
    prove_nearest(&rule, &p, own, has_base ? base : N);
    REACH(p.next && !p.leads);
    REACH(p.leads && p.replaceable);
    REACH(p.baseless);
    REACH(p.alone);
    REACH(p.tied && p.before != NULL);
}
