/* A contender in words. */
#ifndef PDK_CLI_OWNER_H
#define PDK_CLI_OWNER_H

#include <paddock/contenders.h>

/* "host pid 123 (label)", or the node's name when its data does not say. */
void pdk__cli_owner(const pdk_contender_list *list, size_t i, char *text, size_t size);

/* "paddock", "curator", "foreign", "junk". */
const char *pdk__cli_dialect(pdk_dialect dialect);

#endif
