/* A list of contenders: for people, or for programs. */
#ifndef PDK_CLI_LISTING_H
#define PDK_CLI_LISTING_H

#include "cli/look/site.h"

#include <stdio.h>

/* Contenders of LIST, from the FIRST on and before N, as they stand at SITE. */
struct pdk__cli_rows {
    const pdk_contender_list *list;
    size_t first, n;
    enum pdk__cli_site site;
    const char *under; /* is put before the nodes' names: "leases/"; "" for none */
    bool queues;       /* for the permits of a semaphore: the first takes them as they come free */
};

/* All of LIST. */
struct pdk__cli_rows pdk__cli_rows(const pdk_contender_list *list);

/* One table of the rows of N lists. */
void pdk__cli_listing_tables(FILE *out, const struct pdk__cli_rows *rows, size_t n);

/* A table of the first N on OUT, with a heading; nothing at all when there are none. */
void pdk__cli_listing_table(FILE *out, const pdk_contender_list *list, size_t n);

/* An object with the path, what stands there, its contenders and its counter; the caller's. */
struct json_t *pdk__cli_listing_report(const pdk_contender_list *list, const char *path);

/* One contender in the form of such an object; the caller's. And an array of those of ROWS. */
struct json_t *pdk__cli_listing_object(const pdk_contender_list *list, size_t i);
struct json_t *pdk__cli_listing_array(const struct pdk__cli_rows *rows);

/* "holds", "asked" for a holder that was asked to release the lock, "waits", or "junk" for a node that is no
 * contender's, and takes no permit. */
const char *pdk__cli_listing_state(const pdk_contender_list *list, size_t i);

/* Row I: the same; "next" for the first of a queue, and "waits" for the others; "member" and "ready" of a double
 * barrier; "path" of a directory, where it may be that of a lock which is not in use. */
const char *pdk__cli_row_state(const struct pdk__cli_rows *rows, size_t i);

/* "read" or "write" for a contender of a read/write lock, "permit" for one of a semaphore, else "". */
const char *pdk__cli_listing_mode(const pdk_contender_list *list, size_t i);

/* Milliseconds since SINCE_MS, or since the node was created; the clocks of the servers and of this machine may differ,
 * so never negative. */
int64_t pdk__cli_age_ms(int64_t since_ms);
int64_t pdk__cli_listing_age_ms(const pdk_contender_list *list, size_t i);

#endif
