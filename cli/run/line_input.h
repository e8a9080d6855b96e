/* Standard input as lines, of which each has a limit. */
#ifndef PDK_CLI_LINE_INPUT_H
#define PDK_CLI_LINE_INPUT_H

#include <stdbool.h>
#include <stddef.h>

enum { PDK__CLI_LINE_MAX = 1 << 20 }; /* bytes, without the newline */

struct pdk__cli_line_input {
    bool ended;    /* there is no more; a last line without a newline was dropped */
    bool skipping; /* the rest of a line that is too long */
    size_t taken;  /* bytes of the lines that were returned */
    size_t n;
    char text[PDK__CLI_LINE_MAX + 1];
};

/* Read once what is there; blocks when nothing is. */
void pdk__cli_line_input_read(struct pdk__cli_line_input *in);

/* The next line, of *SIZE bytes; borrowed until the next call of either function. NULL: there is no whole line now.
 * *TOO_LONG: instead of a line that is longer than the limit. That is returned once for each such line. */
const char *pdk__cli_line_input_next(struct pdk__cli_line_input *in, size_t *size, bool *too_long);

#endif
