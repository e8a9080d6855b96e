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

const char *pdk__order_first(const char *const *children, size_t n)
{
    const char *first = NULL;
    for (size_t i = 0; i < n; i++)
        if (first == NULL || pdk__order_compare(children[i], first) < 0)
            first = children[i];
    return first != NULL && pdk__name_parse(first).kind != PDK__NAME_JUNK ? first : NULL;
}

int pdk__order_compare(const char *a, const char *b)
{
    struct pdk__name x = pdk__name_parse(a), y = pdk__name_parse(b);
    bool junk_x = x.kind == PDK__NAME_JUNK, junk_y = y.kind == PDK__NAME_JUNK;
    if (junk_x != junk_y)
        return junk_x ? 1 : -1;
    if (x.sequence != y.sequence)
        return x.sequence < y.sequence ? -1 : 1;
    return strcmp(a, b);
}
