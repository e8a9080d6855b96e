#include "lib/core/order.h"
#include "lib/core/name.h"
#include <string.h>

static const char *find(const char *const *children, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(children[i], name) == 0)
            return children[i];
    return NULL;
}

struct pdk__place pdk__order_place(const char *const *children, size_t n, const char *own)
{
    struct pdk__place place = {0};
    own = find(children, n, own);
    if (own == NULL)
        return place;
    place.present = true;
    int64_t sequence = pdk__name_parse(own).sequence, nearest = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        struct pdk__name name = pdk__name_parse(children[i]);
        if (name.kind == PDK__NAME_JUNK || children[i] == own)
            continue;
        place.tied |= name.sequence == sequence;
        if (name.sequence >= sequence)
            continue;
        place.ahead++;
        if (name.sequence >= nearest) {
            nearest = name.sequence;
            place.predecessor = children[i];
        }
    }
    return place;
}

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

size_t pdk__order_contenders(const char *const *children, size_t n)
{
    size_t contenders = 0;
    for (size_t i = 0; i < n; i++)
        contenders += pdk__name_parse(children[i]).kind != PDK__NAME_JUNK;
    return contenders;
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
