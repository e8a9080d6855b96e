/* Contenders of one path that do not go by the same rules, and what that does to them. */
#ifndef PDK_CLI_MIXTURE_H
#define PDK_CLI_MIXTURE_H

#include <paddock/contenders.h>
#include <stdbool.h>

struct pdk__cli_mixture {
    bool confirmed, unconfirmed; /* there is one whose grants are, or are not */
    bool delayed, undelayed;     /* one with a lock delay, or without */
    bool kazoo;                  /* one that sees its own kind only */
};

/* Add contender I, as far as its data, if they were read, and its name tell. */
void pdk__cli_mixture_add(struct pdk__cli_mixture *m, const pdk_contender_list *list, size_t i);

/* Add one that is known: ourselves. */
void pdk__cli_mixture_add_own(struct pdk__cli_mixture *m, bool confirmed, bool delayed);

/* Say of PATH what is mixed and was not in TOLD, and note it there. */
void pdk__cli_mixture_say(const struct pdk__cli_mixture *m, struct pdk__cli_mixture *told, const char *path);

#endif
