/* Messages of the command for people: one line at a time, on standard error. */
#ifndef PDK_CLI_MESSAGE_H
#define PDK_CLI_MESSAGE_H

#include <stddef.h>

/* Exit statuses: those of <sysexits.h> and of the shell. The manual's section EXIT STATUS is the contract. */
enum pdk__cli_status {
    STATUS_BUSY = 1,
    STATUS_USAGE = 64,
    STATUS_STALE = 65,
    STATUS_NOBODY = 66,
    STATUS_NO_ENSEMBLE = 69,
    STATUS_INTERNAL = 70,
    STATUS_LOST = 76, /* not 75: mail programs and others use that for their own temporary failures */
    STATUS_NOT_PERMITTED = 77,
    STATUS_MIXED = 78,
    STATUS_UNRECORDED = 79,
    STATUS_CANNOT_RUN = 126,
    STATUS_NOT_FOUND = 127,
    STATUS_SIGNAL = 128
};

/* "paddock: …" and a newline, in one write. Control characters become '?': names and labels come from strangers. */
void pdk__cli_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, and the status of bad usage, so that a parser can return it. */
int pdk__cli_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The exit status for a code of the library. BUSY is the status for a lock that another contender holds. */
int pdk__cli_status_of(int rc, int busy);

/* Copy TEXT into OUT, at most SIZE bytes with the NUL and COLUMNS wide. Characters that a terminal would not show as
 * themselves become '?'. Returns the width. */
int pdk__cli_printable(char *out, size_t size, int columns, const char *text);

#endif
