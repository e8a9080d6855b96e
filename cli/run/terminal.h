/* The terminal of a waiting or running lock: its live line, and which process group may read from it. */
#ifndef PDK_CLI_TERMINAL_H
#define PDK_CLI_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

struct pdk__cli_terminal {
    int fd;     /* the controlling terminal; -1: none */
    bool drawn; /* a live line is drawn there */
    bool whole; /* standard input and output are both that terminal: this is no part of a pipeline */
    bool saved;
    struct termios modes;
};

void pdk__cli_terminal_open(struct pdk__cli_terminal *t);
void pdk__cli_terminal_close(struct pdk__cli_terminal *t);

/* Is this process's group the one in the foreground? */
bool pdk__cli_terminal_foreground(const struct pdk__cli_terminal *t);

/* Draw TEXT in place of the last live line, cut to the terminal's width; in the background nothing is drawn. */
void pdk__cli_terminal_show(struct pdk__cli_terminal *t, const char *text);
void pdk__cli_terminal_erase(struct pdk__cli_terminal *t);

/* Remember the modes before a command can change them, if this process's group is in the foreground. */
void pdk__cli_terminal_save(struct pdk__cli_terminal *t);

/* Set these modes again, if this process's group is in the foreground. */
void pdk__cli_terminal_restore(const struct pdk__cli_terminal *t);

/* Give the foreground to GROUP, if it is ours. */
bool pdk__cli_terminal_lend(const struct pdk__cli_terminal *t, pid_t group);

/* Take it back, if GROUP has it. The caller has SIGTTOU blocked. */
bool pdk__cli_terminal_return(const struct pdk__cli_terminal *t, pid_t group);

#endif
