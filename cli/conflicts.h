/* Contenders of one path with different rules, and the consequences for them. */
#ifndef PDK_CLI_CONFLICTS_H
#define PDK_CLI_CONFLICTS_H

#include <paddock/contenders.h>
#include <stdbool.h>

struct pdk__cli_conflicts {
    bool confirmed, unconfirmed; /* there is one whose grants are confirmed, or are not */
    bool delayed, undelayed;     /* one with a lock delay, or without */
    bool kazoo;                  /* one that sees its own kind only */
    int64_t limit;               /* of a semaphore, of one contender; 0: none is known */
    bool limits;                 /* others have another */
};

/* Add contender I, as far as its name and, if they were read, its data are known. */
void pdk__cli_conflicts_add(struct pdk__cli_conflicts *m, const pdk_contender_list *list, size_t i);

/* Add a contender with known rules: ourselves. */
void pdk__cli_conflicts_add_own(struct pdk__cli_conflicts *m, bool confirmed, bool delayed);

/* Report for PATH the conflicts that are not in REPORTED, and note them there. */
void pdk__cli_conflicts_report(const struct pdk__cli_conflicts *m, struct pdk__cli_conflicts *reported,
                               const char *path);

#endif
