/* Contenders of one path with different recipes or rules, and the consequences for them. */
#ifndef PDK_CLI_CONFLICTS_H
#define PDK_CLI_CONFLICTS_H

#include <paddock/contenders.h>
#include <stdbool.h>

enum pdk__cli_conflict {
    CONFLICT_RECIPES, /* by the library's rule for those that go together */
    CONFLICT_CONFIRMED,
    CONFLICT_DELAY,
    CONFLICT_LIMITS,
    CONFLICT_KAZOO, /* a contender that sees its own kind only */
    N_CONFLICTS
};

/* A sentence for each. */
extern const char *const pdk__cli_conflict_texts[N_CONFLICTS];

struct pdk__cli_conflicts {
    bool confirmed, unconfirmed; /* there is one whose grants are confirmed, or are not */
    bool delayed, undelayed;     /* one with a lock delay, or without */
    bool kazoo;                  /* one of kazoo's */
    int64_t limit;               /* of a semaphore, of one contender; 0: none is known */
    bool limits;                 /* others have another */
    const char *recipe;          /* the name of one whose recipe it tells; borrowed of the list. NULL: there is none */
    bool recipes;                /* others do not go with it */
};

/* Add the contenders of LIST, as far as their names and, if they were read, their data are known. */
void pdk__cli_conflicts_add(struct pdk__cli_conflicts *m, const pdk_contender_list *list);

/* Add a contender with known rules: ourselves. */
void pdk__cli_conflicts_add_own(struct pdk__cli_conflicts *m, bool confirmed, bool delayed);

/* Bit CONFLICT_... of each that there is. */
unsigned pdk__cli_conflicts_found(const struct pdk__cli_conflicts *m);

/* Report for PATH those that are not in REPORTED, and note them there. */
void pdk__cli_conflicts_report(const struct pdk__cli_conflicts *m, unsigned *reported, const char *path);

#endif
