#include "cli/blocking.h"

#include "cli/owner.h"
#include "lib/assert.h"

/* Made under the grant of a writer, with its number. */
static bool under(const pdk_contender_list *list, size_t k, size_t i)
{
    return pdk_contender_mode(list, i) == PDK_MODE_READ && pdk_contender_mode(list, k) == PDK_MODE_WRITE &&
           pdk_contender_number(list, k, PDK_CONTENDER_SEQUENCE) ==
               pdk_contender_number(list, i, PDK_CONTENDER_SEQUENCE);
}

static bool junk(const pdk_contender_list *list, size_t i)
{
    return pdk_contender_dialect(list, i) == PDK_DIALECT_JUNK;
}

/* The list has the contenders in their order. */
bool pdk__cli_blocks(const pdk_contender_list *list, size_t k, size_t i)
{
    assert(i < pdk_contender_list_size(list) && k < pdk_contender_list_size(list));
    if (k == i || junk(list, i))
        return false;
    if (pdk_contender_mode(list, i) == PDK_MODE_PERMIT)
        return k < i || pdk_contender_mode(list, k) != PDK_MODE_PERMIT;
    if (k > i || junk(list, k) || under(list, k, i))
        return false;
    if (pdk__cli_is_kazoo(list, i) && !pdk__cli_is_kazoo(list, k))
        return false;
    return pdk_contender_mode(list, i) != PDK_MODE_READ || pdk_contender_mode(list, k) != PDK_MODE_READ;
}

size_t pdk__cli_excess(const pdk_contender_list *list, size_t i)
{
    size_t n = 0, size = pdk_contender_list_size(list);
    for (size_t k = 0; k < size; k++)
        n += pdk__cli_blocks(list, k, i);
    if (pdk_contender_mode(list, i) != PDK_MODE_PERMIT)
        return n;
    int64_t limit = pdk_contender_number(list, i, PDK_CONTENDER_LIMIT);
    return limit > 0 && n >= (size_t)limit ? n - (size_t)limit + 1 : 0;
}

size_t pdk__cli_predecessor(const pdk_contender_list *list, size_t i)
{
    size_t nearest = i;
    for (size_t k = 0; k < pdk_contender_list_size(list); k++)
        if (pdk__cli_blocks(list, k, i) && (nearest == i || k < i))
            nearest = k;
    assert(nearest != i);
    return nearest;
}
