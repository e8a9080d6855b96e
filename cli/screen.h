/* A terminal that a sub-command fills again and again, until q is pressed or a signal comes. */
#ifndef PDK_CLI_SCREEN_H
#define PDK_CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

struct pdk__cli_screen {
    bool open;
    struct termios modes; /* as they were */
};

/* Take the terminal, if standard input and output are one and this process is in its foreground; else the screen stays
 * closed. Close gives it back as it was. */
void pdk__cli_screen_open(struct pdk__cli_screen *s);
void pdk__cli_screen_close(struct pdk__cli_screen *s);

/* The rows and columns that can be written without a scroll. */
void pdk__cli_screen_size(size_t *lines, int *columns);

/* Draw TEXT, lines that each end with a newline, in place of what was drawn last, and cut to that size. TEXT is changed. */
void pdk__cli_screen_draw(char *text);

/* Put TEXT into the first line. */
void pdk__cli_screen_note(const char *text);

/* The signals that end a screen, and that of a changed size: blocked from here on, and read from the descriptor. */
int pdk__cli_screen_signals(void);

/* Read one signal: its number, or 0. */
int pdk__cli_screen_signal(int fd);

/* Has the user pressed q, or has the input ended? To be asked when standard input is readable. */
bool pdk__cli_screen_quits(void);

#endif
