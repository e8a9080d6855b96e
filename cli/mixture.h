/* Contenders of one path with different rules, and the consequences for them. */
#ifndef PDK_CLI_MIXTURE_H
#define PDK_CLI_MIXTURE_H

#include <paddock/contenders.h>
#include <stdbool.h>

struct pdk__cli_mixture {
    bool confirmed, unconfirmed; /* there is one whose grants are confirmed, or are not */
    bool delayed, undelayed;     /* one with a lock delay, or without */
    bool kazoo;                  /* one that sees its own kind only */
};

/* Add contender I, as far as its name and, if they were read, its data are known. */
void pdk__cli_mixture_add(struct pdk__cli_mixture *m, const pdk_contender_list *list, size_t i);

/* Add a contender with known rules: ourselves. */
void pdk__cli_mixture_add_own(struct pdk__cli_mixture *m, bool confirmed, bool delayed);

/* Report for PATH the mixtures that are not in TOLD, and note them there. */
void pdk__cli_mixture_say(const struct pdk__cli_mixture *m, struct pdk__cli_mixture *told, const char *path);

#endif
