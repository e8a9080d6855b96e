#include "cli/owner.h"

#include <stdio.h>
#include <string.h>

void pdk__cli_owner(const pdk_contender_list *list, size_t i, char *text, size_t size)
{
    const char *host = pdk_contender_host(list, i), *label = pdk_contender_label(list, i);
    if (*host == '\0')
        snprintf(text, size, "%s", pdk_contender_name(list, i));
    else if (pdk_contender_pid(list, i) == 0)
        snprintf(text, size, "%s", host); /* some libraries write only an address */
    else if (*label == '\0')
        snprintf(text, size, "%s pid %lld", host, (long long)pdk_contender_pid(list, i));
    else
        snprintf(text, size, "%s pid %lld (%s)", host, (long long)pdk_contender_pid(list, i), label);
}

/* kazoo's Lock, and Election on it: a random number in hex, then one of these. */
bool pdk__cli_is_kazoo(const pdk_contender_list *list, size_t i)
{
    const char *name = pdk_contender_name(list, i);
    return pdk_contender_dialect(list, i) == PDK_DIALECT_FOREIGN &&
           (strstr(name, "__lock__") != NULL || strstr(name, "__rlock__") != NULL);
}

const char *pdk__cli_library(const pdk_contender_list *list, size_t i)
{
    switch (pdk_contender_dialect(list, i)) {
    case PDK_DIALECT_PADDOCK:
        return "paddock";
    case PDK_DIALECT_CURATOR:
        return "curator";
    case PDK_DIALECT_FOREIGN:
        return pdk__cli_is_kazoo(list, i) ? "kazoo" : "foreign";
    default:
        return "junk";
    }
}
