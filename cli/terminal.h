/* The terminal of a waiting or running lock: its live line, and which process group may read from it. */
#ifndef PDK_CLI_TERMINAL_H
#define PDK_CLI_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>

struct pdk__cli_terminal {
    int fd;     /* the controlling terminal; -1: none */
    bool drawn; /* a live line stands there */
};

void pdk__cli_terminal_open(struct pdk__cli_terminal *t);
void pdk__cli_terminal_close(struct pdk__cli_terminal *t);

/* Is this process's group the one in the foreground? */
bool pdk__cli_terminal_foreground(const struct pdk__cli_terminal *t);

/* Draw TEXT in place of the last live line, cut to the terminal's width; in the background nothing is drawn. */
void pdk__cli_terminal_show(struct pdk__cli_terminal *t, const char *text);
void pdk__cli_terminal_erase(struct pdk__cli_terminal *t);

/* Give the foreground to GROUP, if it is ours to give. */
bool pdk__cli_terminal_lend(const struct pdk__cli_terminal *t, pid_t group);

/* Take it back, if GROUP has it. The caller has SIGTTOU blocked. */
bool pdk__cli_terminal_return(const struct pdk__cli_terminal *t, pid_t group);

#endif
