/*
 * Which contenders of a path block which, by the rules of their recipes.
 *
 * A contender waits for those ahead of it that block it: a reader for all but readers, a contender of kazoo for those
 * of kazoo only, each other for all. A permit of a semaphore counts the nodes ahead instead: it waits until as many of
 * them are deleted as are in excess of the limit, whichever they are.
 */
#ifndef PDK_CLI_BLOCKING_H
#define PDK_CLI_BLOCKING_H

#include <paddock/contenders.h>
#include <stdbool.h>

/* Does contender K of LIST block contender I? */
bool pdk__cli_blocks(const pdk_contender_list *list, size_t k, size_t i);

/* How many of the contenders that block I must be deleted before I holds; 0: it holds, or is junk. */
size_t pdk__cli_excess(const pdk_contender_list *list, size_t i);

/* The nearest contender that blocks I, which must have one. */
size_t pdk__cli_predecessor(const pdk_contender_list *list, size_t i);

#endif
