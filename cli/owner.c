#include "cli/owner.h"

#include "lib/core/name.h"

#include <stdio.h>
#include <string.h>

void pdk__cli_owner(const pdk_contender_list *list, size_t i, char *text, size_t size)
{
    const char *host = pdk_contender_text(list, i, PDK_CONTENDER_HOST),
               *label = pdk_contender_text(list, i, PDK_CONTENDER_LABEL);
    if (*host == '\0')
        snprintf(text, size, "%s", pdk_contender_text(list, i, PDK_CONTENDER_NAME));
    else if (pdk_contender_number(list, i, PDK_CONTENDER_PID) == 0)
        snprintf(text, size, "%s", host); /* some libraries write only an address */
    else if (*label == '\0')
        snprintf(text, size, "%s pid %lld", host, (long long)pdk_contender_number(list, i, PDK_CONTENDER_PID));
    else
        snprintf(text, size, "%s pid %lld (%s)", host, (long long)pdk_contender_number(list, i, PDK_CONTENDER_PID),
                 label);
}

bool pdk__cli_is_junk(const pdk_contender_list *list, size_t i)
{
    return pdk_contender_number(list, i, PDK_CONTENDER_DIALECT) == PDK_DIALECT_JUNK;
}

bool pdk__cli_is_kazoo(const pdk_contender_list *list, size_t i)
{
    return strcmp(pdk__name_library(pdk_contender_text(list, i, PDK_CONTENDER_NAME))->name, "kazoo") == 0;
}

bool pdk__cli_is_go(const pdk_contender_list *list, size_t i)
{
    return strcmp(pdk__name_library(pdk_contender_text(list, i, PDK_CONTENDER_NAME))->name, "go-zookeeper") == 0;
}

const char *pdk__cli_library(const pdk_contender_list *list, size_t i)
{
    switch (pdk_contender_number(list, i, PDK_CONTENDER_DIALECT)) {
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
