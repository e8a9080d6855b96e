/* A contender in words. */
#ifndef PDK_CLI_OWNER_H
#define PDK_CLI_OWNER_H

#include <paddock/contenders.h>
#include <stdbool.h>

/* "host pid 123 (label)", or the node's name when its data do not contain them. */
void pdk__cli_owner(const pdk_contender_list *list, size_t i, char *text, size_t size);

/* "paddock", "curator", "kazoo", "foreign", "junk". */
const char *pdk__cli_library(const pdk_contender_list *list, size_t i);

/* Could no lock library have created it? */
bool pdk__cli_is_junk(const pdk_contender_list *list, size_t i);

/* Is it one of go-zookeeper's? Its names are Curator's with a number of its own form. */
bool pdk__cli_is_go(const pdk_contender_list *list, size_t i);

/* Is it one of kazoo's default Lock or Election? Those see only each other, and are granted the lock beside a holder
 * of any other kind; others wait for them. */
bool pdk__cli_is_kazoo(const pdk_contender_list *list, size_t i);

#endif
