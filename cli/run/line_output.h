/* Lines on standard output for a program that reads them when it likes: they wait here, up to a limit, and nothing
 * blocks. */
#ifndef PDK_CLI_LINE_OUTPUT_H
#define PDK_CLI_LINE_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* So many bytes may wait before one more line. */
enum { PDK__CLI_UNREAD_MAX = 1 << 20 };

struct pdk__cli_line_output {
    char *text;
    size_t n, size;
    char why[96]; /* no more is written, for this reason; "": all is well */
};

/* Add OBJECT as a line, and release it. A failure is noted in `why`. */
void pdk__cli_line_output_add(struct pdk__cli_line_output *out, json_t *object);

/* Write as much as the reader takes now. */
void pdk__cli_line_output_flush(struct pdk__cli_line_output *out);

/* No more is written, for the reason WHY, and nothing waits. The first reason stays. */
void pdk__cli_line_output_fail(struct pdk__cli_line_output *out, const char *why);

void pdk__cli_line_output_clear(struct pdk__cli_line_output *out);

#endif
