#include "lib/core/order.h"
#include "lib/core/name.h"
#include <string.h>

const char *pdk__order_candidate(const char *const *children, size_t n, int64_t session, uint32_t attempt,
                                 const char *after)
{
    const char *lowest = NULL;
    for (size_t i = 0; i < n; i++)
        if (pdk__name_is(children[i], session, attempt) &&
            (*after == '\0' || pdk__order_compare(children[i], after) > 0) &&
            (lowest == NULL || pdk__order_compare(children[i], lowest) < 0))
            lowest = children[i];
    return lowest;
}

static int compare(const char *a, const struct pdk__name *x, const char *b, const struct pdk__name *y)
{
    bool junk_x = x->kind == PDK__NAME_JUNK, junk_y = y->kind == PDK__NAME_JUNK;
    if (junk_x != junk_y)
        return junk_x ? 1 : -1;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return strcmp(a, b);
}

const char *pdk__order_first(const char *const *children, size_t n)
{
    const char *first = NULL;
    struct pdk__name lowest = {.kind = PDK__NAME_JUNK};
    for (size_t i = 0; i < n; i++) {
        struct pdk__name name = pdk__name_glance(children[i]);
        if (first != NULL && compare(children[i], &name, first, &lowest) >= 0)
            continue;
        first = children[i];
        lowest = name;
    }
    return lowest.kind != PDK__NAME_JUNK ? first : NULL;
}

int pdk__order_compare(const char *a, const char *b)
{
    struct pdk__name x = pdk__name_glance(a), y = pdk__name_glance(b);
    return compare(a, &x, b, &y);
}
