/*
 * The rule of a recipe: which contenders block which, and how many hold at once.
 *
 * A contender blocks another if it has the lower number, and the rule of the other does not let the other pass it.
 * A contender is admitted while fewer contenders block it than its rule admits. For a mutex each one ahead blocks, and
 * one is admitted. A reader of a read/write lock passes readers. A semaphore admits as many as it has permits: the
 * deletion of any contender ahead counts, so a waiter watches the children of the path instead of one node. To Curator
 * each child of that path is a permit, whatever its name.
 *
 * A writer that goes on as a reader leaves a node in the place of its own, before its own is deleted: under the number
 * of its own, which no server assigns twice. So the deletion of a writer does not admit a writer; it lists again.
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
    unsigned replaced; /* those whose contenders, when they go, may leave one that blocks ours in their place */
    unsigned under;    /* those under whose grant, while the same client holds it, ours is made with its number */
    size_t admits;     /* how many hold at once, at least 1 */
    bool by_children;  /* a waiter watches the children of the path. Needed where several are admitted */
    bool counts_junk;  /* a node without a number blocks, too, as if it had come first */
};

/* The rules of the recipes. */
extern const struct pdk__rule pdk__rule_mutex;
extern const struct pdk__rule pdk__rule_leader;
extern const struct pdk__rule pdk__rule_reader;
extern const struct pdk__rule pdk__rule_writer;

/* The rule of a semaphore with so many permits. */
struct pdk__rule pdk__rule_permit(size_t limit);

struct pdk__place {
    bool present;            /* the contender is in the listing */
    bool alone;              /* and no other, nor anything that counts as one */
    bool tied;               /* another has its sequence number, and could block it: there is no order */
    size_t blocking;         /* how many contenders block it */
    bool admitted;           /* fewer than the rule admits */
    bool next;               /* the deletion of the one that blocks it would admit it */
    bool leads;              /* and of all that it would admit, ours is the first */
    bool replaceable;        /* unless that one leaves another in its place */
    bool baseless;           /* the node under whose number it was made is not in the listing */
    const char *predecessor; /* the nearest that blocks it, borrowed from the listing; NULL when none does */
    const char *before;      /* the nearest but one; NULL when at most one blocks it */
};

/* The place of the node OWN among N children. OWN is an exact name: every client that may list the path can read
 * session and attempt, and could pass a node with a forged name off as ours. BASE is the exact name of the node under
 * whose number OWN was made, or NULL. */
struct pdk__place pdk__rule_place(const struct pdk__rule *rule, const char *const *children, size_t n, const char *own,
                                  const char *base);

/* The rule of a node in a listing, by its NAME. LIMIT: how many permits it knows its semaphore to have; 0: not known.
 * Junk among permits is one, and is admitted; elsewhere it never is. */
struct pdk__rule pdk__rule_of(const struct pdk__name *name, int64_t limit, bool among_permits);

/* Does the node AHEAD, whose position is not higher, block OWN, which has this rule? */
bool pdk__rule_blocks(const struct pdk__rule *rule, const struct pdk__name *own, const struct pdk__name *ahead);

/* Does a contender hold, or is it about to, if so many block it? */
static inline bool pdk__rule_admits(const struct pdk__rule *rule, size_t blocking) { return blocking < rule->admits; }

/* Can contenders with this rule hold beside each other? */
static inline bool pdk__rule_shares(const struct pdk__rule *rule) { return (rule->passes & 1U << rule->tag) != 0; }

/* Is a contender that was admitted by this rule the first of all? Then nothing is ahead of the one that waits for
 * it. */
bool pdk__rule_admits_first(const struct pdk__rule *rule);

/* Where a node stands for a contender with this rule: by its number, or ahead of all, INT64_MIN, or, when it is in
 * nobody's way, INT64_MAX. A listing, and the count of those ahead, go by it, too. */
int64_t pdk__rule_position(const struct pdk__rule *rule, const struct pdk__name *name);

/* Is a contender with that name in our way, or we in its? One that ours passes also passes ours. */
bool pdk__rule_rival(const struct pdk__rule *rule, const char *name);

/* The first of N children of a path that does not go with contenders of this rule, or NULL. A mutex and a read/write
 * lock go together; a latch does not go with them, nor any of them with a permit. */
const char *pdk__rule_misfit(const struct pdk__rule *rule, const char *const *children, size_t n);

/* Are the two parts of a semaphore among N children? A path with one of them alone is that of nested locks. */
bool pdk__rule_has_parts(const char *const *children, size_t n);

/* The numbers of the path were used up. Does it count from 0 again, or will it, once the next node is made? One of the
 * N children has such a number; or no contender is among them, nor anything that counts as one. */
bool pdk__rule_renewed(const struct pdk__rule *rule, const char *const *children, size_t n);

/* Would so many contenders after all N children, PLACES, be admitted? */
bool pdk__rule_free(const struct pdk__rule *rule, const char *const *children, size_t n, size_t places);

#endif
