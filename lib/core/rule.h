/*
 * The rule of a recipe: which contenders block which, and how many hold at once.
 *
 * A contender blocks another if it has the lower number, and the rule of the other does not let the other pass it.
 * A contender is admitted while fewer contenders block it than its rule admits. For a mutex each one ahead blocks, and
 * one is admitted. A reader of a read/write lock would pass readers. A semaphore would admit several: then the deletion
 * of any contender ahead counts, and the watch on the nearest is not enough.
 *
 * The listing comes in the server's hash order; one pass answers, without sorting.
 */
#ifndef PDK__RULE_H
#define PDK__RULE_H

#include "lib/core/name.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The end of the counter. From 3.6 on it sticks there and every later contender gets the same number
 * (ZOOKEEPER-3249); older servers go on with negative ones. Neither kind of number orders contenders any more. */
#define PDK__SEQUENCE_LAST INT64_C(2147483647)

struct pdk__rule {
    enum pdk__tag tag; /* of our own node's name */
    unsigned passes;   /* the set of tags, 1U << tag each, whose contenders ahead do not block ours */
    size_t admits;     /* how many hold at once, at least 1 */
};

struct pdk__place {
    bool present;            /* the contender is in the listing */
    bool tied;               /* another has its sequence number: there is no order */
    size_t blocking;         /* how many contenders block it */
    bool admitted;           /* fewer than the rule admits */
    bool next;               /* the deletion of one that blocks it would admit it */
    const char *predecessor; /* the nearest that blocks it, borrowed from the listing; NULL when none does */
};

/* The place of the node OWN among N children. OWN is an exact name: every client that may list the path can read
 * session and attempt, and could pass a node with a forged name off as ours. */
struct pdk__place pdk__rule_place(const struct pdk__rule *rule, const char *const *children, size_t n, const char *own);

/* Would a contender after all N children be admitted? */
bool pdk__rule_free(const struct pdk__rule *rule, const char *const *children, size_t n);

#endif
