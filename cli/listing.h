/* A list of contenders: for people, or for programs. */
#ifndef PDK_CLI_LISTING_H
#define PDK_CLI_LISTING_H

#include <paddock/contenders.h>
#include <stdio.h>

/* A table of the first N on OUT, with a heading; nothing at all when there are none. */
void pdk__cli_listing_table(FILE *out, const pdk_contender_list *list, size_t n);

/* One object in one line on standard output, as the manual says. Returns 0 or an exit status, already explained. */
int pdk__cli_listing_json(const pdk_contender_list *list, const char *path);

/* One contender in the form of such an object; the caller's. */
struct json_t *pdk__cli_listing_object(const pdk_contender_list *list, size_t i);

/* "holds", "asked" for a holder that was asked to release the lock, "waits", or "junk" for a node that is no
 * contender's, and takes no permit. */
const char *pdk__cli_listing_state(const pdk_contender_list *list, size_t i);

/* "read" or "write" for a contender of a read/write lock, "permit" for one of a semaphore, else "". */
const char *pdk__cli_listing_mode(const pdk_contender_list *list, size_t i);

/* Milliseconds since SINCE_MS, or since the node was created; the clocks of the servers and of this machine may differ,
 * so never negative. */
int64_t pdk__cli_age_ms(int64_t since_ms);
int64_t pdk__cli_listing_age_ms(const pdk_contender_list *list, size_t i);

#endif
