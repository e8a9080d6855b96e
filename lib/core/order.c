#include "lib/core/order.h"
#include "lib/core/name.h"
#include <string.h>

static const char *find_own(const char *const *children, size_t n, int64_t session, uint32_t attempt)
{
    const char *own = NULL;
    for (size_t i = 0; i < n; i++)
        if (pdk__name_is(children[i], session, attempt) && (own == NULL || pdk__order_compare(children[i], own) < 0))
            own = children[i];
    return own;
}

struct pdk__place pdk__order_place(const char *const *children, size_t n, int64_t session, uint32_t attempt)
{
    struct pdk__place place = {.own = find_own(children, n, session, attempt)};
    if (place.own == NULL)
        return place;
    place.present = true;
    int64_t own = pdk__name_parse(place.own).sequence, nearest = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        struct pdk__name name = pdk__name_parse(children[i]);
        if (name.kind == PDK__NAME_JUNK || children[i] == place.own)
            continue;
        place.tied |= name.sequence == own;
        if (name.sequence >= own)
            continue;
        place.ahead++;
        if (name.sequence >= nearest) {
            nearest = name.sequence;
            place.predecessor = children[i];
        }
    }
    return place;
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
