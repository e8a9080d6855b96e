/* Listings: any names in any order, and a contender's place among them. */
#include "lib/core/name.h"
#include "lib/core/order.h"
#include "lib/core/rule.h"
#include "test/fuzz/fuzz.h"
#include <stdbool.h>

const char pdk__fuzz_name[] = "children";

enum { CHILDREN_MAX = 24 };

struct listing {
    size_t n;
    const char *names[CHILDREN_MAX];
};

/* One name a line. */
static void split(struct listing *l, char *text)
{
    l->n = 0;
    for (char *line = strtok(text, "\n"); line != NULL && l->n < CHILDREN_MAX; line = strtok(NULL, "\n"))
        l->names[l->n++] = line;
}

static int sign(int value) { return (value > 0) - (value < 0); }

static void check_order(const struct listing *l)
{
    for (size_t i = 0; i < l->n; i++)
        for (size_t j = 0; j < l->n; j++) {
            int ij = sign(pdk__order_compare(l->names[i], l->names[j]));
            MUST(ij == -sign(pdk__order_compare(l->names[j], l->names[i])));
            MUST((ij == 0) == (strcmp(l->names[i], l->names[j]) == 0));
            for (size_t k = 0; k < l->n; k++)
                MUST(!(ij <= 0 && pdk__order_compare(l->names[j], l->names[k]) <= 0) ||
                     pdk__order_compare(l->names[i], l->names[k]) <= 0);
        }
}

static int compare(const void *a, const void *b)
{
    return pdk__order_compare(*(const char *const *)a, *(const char *const *)b);
}

static bool is_contender(const char *name) { return pdk__name_parse(name).kind != PDK__NAME_JUNK; }

static int64_t sequence_of(const char *name) { return pdk__name_parse(name).sequence; }

/* In a sorted listing: the node of that name, and as many with lower numbers as are before it. No node of ours is
 * kazoo's, for which only kazoo's count. */
static void check_place(const struct listing *sorted, const char *name)
{
    if (pdk__name_parse(name).kazoo)
        return;
    struct pdk__place place = pdk__rule_place(&pdk__rule_mutex, sorted->names, sorted->n, name, NULL);
    size_t own = 0, ahead = 0, same = 0;
    while (own < sorted->n && strcmp(sorted->names[own], name) != 0)
        own++;
    MUST(place.present == (own < sorted->n));
    if (!place.present) {
        MUST(place.predecessor == NULL && place.blocking == 0 && !place.tied);
        return;
    }
    int64_t sequence = sequence_of(name);
    for (size_t i = 0; i < sorted->n && is_contender(sorted->names[i]); i++) {
        ahead += sequence_of(sorted->names[i]) < sequence;
        same += sequence_of(sorted->names[i]) == sequence;
    }
    MUST(place.blocking == ahead && place.tied == (same > is_contender(name)));
    MUST((place.predecessor != NULL) == (ahead > 0) && (place.before != NULL) == (ahead > 1));
    if (ahead > 0)
        MUST(sequence_of(place.predecessor) == sequence_of(sorted->names[ahead - 1]));
    if (ahead > 1)
        MUST(sequence_of(place.before) == sequence_of(sorted->names[ahead - 2]));
}

static void check_contenders(const struct listing *sorted)
{
    size_t n = 0;
    while (n < sorted->n && is_contender(sorted->names[n]))
        n++;
    MUST(pdk__rule_free(&pdk__rule_mutex, sorted->names, sorted->n, 1) == (n == 0));
    for (size_t i = 0; i < sorted->n; i++)
        MUST(is_contender(sorted->names[i]) == (i < n));
    for (size_t i = 1; i < n; i++)
        MUST(sequence_of(sorted->names[i - 1]) <= sequence_of(sorted->names[i]));
}

/* One after another, all nodes of the session and attempt of NAME, in order. */
static void check_candidates(const struct listing *sorted, const char *name)
{
    struct pdk__name who = pdk__name_parse(name);
    const char *after = "";
    for (size_t i = 0; i < sorted->n; i++) {
        bool repeated = i > 0 && strcmp(sorted->names[i], sorted->names[i - 1]) == 0;
        if (repeated || !pdk__name_is(sorted->names[i], who.session, who.attempt))
            continue;
        after = pdk__order_candidate(sorted->names, sorted->n, who.session, who.attempt, after);
        MUST(after != NULL && strcmp(after, sorted->names[i]) == 0);
    }
    MUST(pdk__order_candidate(sorted->names, sorted->n, who.session, who.attempt, after) == NULL || *after == '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = text_of(data, size);
    struct listing l, sorted;
    split(&l, text);
    check_order(&l);
    sorted = l;
    if (l.n > 0)
        qsort(sorted.names, sorted.n, sizeof *sorted.names, compare);
    check_contenders(&sorted);
    for (size_t i = 0; i < l.n; i++) {
        check_place(&sorted, l.names[i]);
        check_candidates(&sorted, l.names[i]);
    }
    check_place(&sorted, "nobody");
    free(text);
    return 0;
}
