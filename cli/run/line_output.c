#include "cli/run/line_output.h"

#include "cli/json.h"

#include <errno.h>
#include <limits.h>
#include <paddock/error.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_SIZE = 4096 };

void pdk__cli_line_output_fail(struct pdk__cli_line_output *out, const char *why)
{
    out->n = 0;
    if (out->why[0] == '\0')
        snprintf(out->why, sizeof out->why, "%s", why);
}

void pdk__cli_line_output_clear(struct pdk__cli_line_output *out)
{
    free(out->text);
    *out = (struct pdk__cli_line_output){0};
}

static bool reserve(struct pdk__cli_line_output *out, size_t more)
{
    size_t size = out->size > 0 ? out->size : FIRST_SIZE;
    while (size < out->n + more)
        size *= 2;
    char *text = size > out->size ? realloc(out->text, size) : out->text;
    if (text == NULL)
        return false;
    out->text = text;
    out->size = size;
    return true;
}

void pdk__cli_line_output_add(struct pdk__cli_line_output *out, json_t *object)
{
    size_t size = 0;
    char *line = pdk__cli_json_line(object, &size);
    if (out->why[0] == '\0' && out->n > PDK__CLI_UNREAD_MAX) {
        pdk__cli_line_output_fail(out, "standard output is not read: more than 1 MiB waits");
    } else if (line == NULL || !reserve(out, size)) {
        pdk__cli_line_output_fail(out, pdk_strerror(PDK_ENOMEM));
    } else if (out->why[0] == '\0') {
        memcpy(out->text + out->n, line, size);
        out->n += size;
    }
    free(line);
}

/* A pipe that can be written to takes PIPE_BUF bytes without blocking. */
static ssize_t write_some(const char *text, size_t size)
{
    struct pollfd fd = {.fd = STDOUT_FILENO, .events = POLLOUT};
    if (poll(&fd, 1, 0) != 1)
        return 0;
    return write(STDOUT_FILENO, text, size < PIPE_BUF ? size : PIPE_BUF);
}

void pdk__cli_line_output_flush(struct pdk__cli_line_output *out)
{
    char why[sizeof out->why];
    size_t at = 0;
    ssize_t n = 0;
    while (at < out->n && (n = write_some(out->text + at, out->n - at)) > 0)
        at += (size_t)n;
    if (n < 0 && errno != EINTR && errno != EAGAIN) {
        snprintf(why, sizeof why, "cannot write to standard output: %s", strerror(errno));
        pdk__cli_line_output_fail(out, why);
        return;
    }
    out->n -= at;
    if (at > 0)
        memmove(out->text, out->text + at, out->n);
}
