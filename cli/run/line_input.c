#include "cli/run/line_input.h"

#include "lib/assert.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void pdk__cli_line_input_read(struct pdk__cli_line_input *in)
{
    assert(in->taken == 0 && in->n < sizeof in->text);
    ssize_t n = read(STDIN_FILENO, in->text + in->n, sizeof in->text - in->n);
    if (n > 0)
        in->n += (size_t)n;
    else if (n == 0 || (errno != EINTR && errno != EAGAIN))
        in->ended = true;
}

/* The lines that were returned make room. */
static void compact(struct pdk__cli_line_input *in)
{
    in->n -= in->taken;
    memmove(in->text, in->text + in->taken, in->n);
    in->taken = 0;
}

const char *pdk__cli_line_input_next(struct pdk__cli_line_input *in, size_t *size, bool *too_long)
{
    for (;;) {
        char *line = in->text + in->taken;
        char *end = memchr(line, '\n', in->n - in->taken);
        if (end == NULL)
            break;
        bool is_rest = in->skipping;
        in->skipping = false;
        in->taken += (size_t)(end - line) + 1;
        *size = (size_t)(end - line);
        *too_long = false;
        if (!is_rest)
            return line;
    }
    compact(in);
    *too_long = in->n == sizeof in->text && !in->skipping;
    if (*too_long)
        in->skipping = true;
    if (in->skipping)
        in->n = 0;
    *size = 0;
    return *too_long ? in->text : NULL;
}
