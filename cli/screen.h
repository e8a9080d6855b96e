/* An output that a sub-command writes again and again, until q is pressed or a signal comes; a terminal it fills. */
#ifndef PDK_CLI_SCREEN_H
#define PDK_CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

struct pdk__cli_screen {
    bool open;
    struct termios modes; /* as they were */
    int signals;          /* reads them */
};

/* Take the terminal, if standard input and output are one and this process is in its foreground; else the screen stays
 * closed. Close gives it back as it was. */
void pdk__cli_screen_open(struct pdk__cli_screen *s);
void pdk__cli_screen_close(struct pdk__cli_screen *s);

/* The rows and columns that can be written without a scroll, above the line of the keys. */
void pdk__cli_screen_size(size_t *lines, int *columns);

/* Draw TEXT, lines that each end with a newline, in place of what was drawn last, and cut to that size, and what the
 * keys do below it. TEXT is changed. */
void pdk__cli_screen_draw(char *text);

/* Put TEXT into the first line. */
void pdk__cli_screen_note(const char *text);

/* From here on a signal that ends a screen, and is not ignored, ends this process at once, with STATUS or, where that
 * is below 0, with 128 and its number, and gives the terminal back: the servers may not answer, and standard output may
 * not be read. But while pdk__cli_screen_wait() waits, it is returned. */
void pdk__cli_screen_begin(struct pdk__cli_screen *s, int status);

/* Wait until a signal comes, NEWS (or -1) can be read, the user presses a key, or MS have passed. Returns the number of
 * the signal, which may be SIGWINCH, or 0; SIGPIPE: the reader of standard output has gone. *QUITS: the key was q, or
 * the input has ended. */
int pdk__cli_screen_wait(const struct pdk__cli_screen *s, int news, int ms, bool *quits);

/* Standard output, where it can have a reader that goes, else -1: poll() reports it then, without any event asked
 * for. */
int pdk__cli_screen_reader(void);

/* End as by a write for a reader that has gone: by SIGPIPE. Where that is ignored, returns the exit status, already
 * explained. */
int pdk__cli_screen_unread(void);

#endif
