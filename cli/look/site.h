/* The recipe of a path, as the names of its children and the kinds of their nodes show it. */
#ifndef PDK_CLI_SITE_H
#define PDK_CLI_SITE_H

#include <paddock/contenders.h>
#include <stdbool.h>

enum pdk__cli_site {
    SITE_EMPTY,          /* no child, or no such path */
    SITE_LOCK,           /* contenders; nodes that are none may stand beside them */
    SITE_SEMAPHORE,      /* a semaphore's path: its queue and its permits stand under "locks" and "leases" */
    SITE_DOUBLE_BARRIER, /* members, and "ready" when they may go in; permits of kazoo's semaphore look the same */
    SITE_DIRECTORY,      /* nodes that stay without a session, as far as this client may see: paths of their own */
    SITE_UNKNOWN         /* none of these */
};

/* Is NAME that of a child of a semaphore's path? */
bool pdk__cli_is_part(const char *name);

/* Is there a child "leases"? */
bool pdk__cli_has_leases(const pdk_contender_list *list);

/* Is there the child "ready", which lets the members of a double barrier in? */
bool pdk__cli_is_ready(const pdk_contender_list *list);

/* Is NAME that of a member of Curator's? */
bool pdk__cli_is_curators_member(const char *name);

enum pdk__cli_site pdk__cli_site(const pdk_contender_list *list);

/* For programs: "empty", "lock", "semaphore", "double_barrier", "directory", "unknown". */
const char *pdk__cli_site_word(enum pdk__cli_site site);

#endif
