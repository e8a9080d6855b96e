#include "cli/message.h"
#include "lib/assert.h"

#include <paddock/error.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

static void vmessage(const char *format, va_list arguments)
{
    char *text = NULL, *line = NULL;
    int length = vasprintf(&text, format, arguments);
    size_t size = length >= 0 ? sizeof "paddock: \n" + (size_t)length : 0;
    line = size > 0 ? malloc(size) : NULL;
    if (line != NULL) {
        char *end = stpcpy(line, "paddock: ");
        pdk__cli_printable(end, (size_t)length + 1, length, text);
        end = stpcpy(end + strlen(end), "\n");
        /* An error is ignored: standard error is where it would be reported. */
        (void)!write(STDERR_FILENO, line, (size_t)(end - line));
    }
    free(line);
    free(length >= 0 ? text : NULL);
}

void pdk__cli_message(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vmessage(format, arguments);
    va_end(arguments);
}

int pdk__cli_usage(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vmessage(format, arguments);
    va_end(arguments);
    return STATUS_USAGE;
}

int pdk__cli_status_of(int rc, int busy)
{
    switch (rc) {
    case PDK_OK:
        return 0;
    case PDK_EBUSY:
    case PDK_ETIMEDOUT:
        return busy;
    case PDK_EINVAL:
    case PDK_EPATH:
    case PDK_EACL:
        return STATUS_USAGE;
    case PDK_EHOST:
    case PDK_ETLS:
    case PDK_EDISCONNECTED:
    case PDK_EEXPIRED:
    case PDK_ESERVER:
    case PDK_ENOENT:
        return STATUS_NO_ENSEMBLE;
    case PDK_ESTALE:
    case PDK_ERECORD:
        return STATUS_STALE;
    case PDK_EMIXED:
        return STATUS_MIXED;
    case PDK_EACCES:
    case PDK_EAUTH:
        return STATUS_NOT_PERMITTED;
    default:
        return STATUS_INTERNAL;
    }
}

/* Characters that no terminal shows, but that make it show others elsewhere: marks and embeddings of bidirectional
 * text, separators of lines, tags. */
static bool rearranges(wchar_t c)
{
    return c == 0x61c || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) ||
           c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe007f);
}

/* One character of TEXT: its length in bytes, and its width, or -1 when it cannot be shown. */
static size_t measure(const char *text, mbstate_t *state, int *width)
{
    wchar_t c;
    size_t n = mbrtowc(&c, text, strlen(text), state);
    *width = -1;
    if (n == (size_t)-1 || n == (size_t)-2 || n == 0) {
        memset(state, 0, sizeof *state);
        return 1;
    }
    if (iswprint((wint_t)c) && !rearranges(c))
        *width = wcwidth(c);
    return n;
}

int pdk__cli_printable(char *out, size_t size, int columns, const char *text)
{
    mbstate_t state = {0};
    int used = 0, width;
    assert(size > 0);
    while (*text != '\0') {
        size_t n = measure(text, &state, &width);
        size_t bytes = width < 0 ? 1 : n;
        if (used + (width < 0 ? 1 : width) > columns || bytes >= size)
            break;
        memcpy(out, width < 0 ? "?" : text, bytes);
        used += width < 0 ? 1 : width;
        out += bytes;
        size -= bytes;
        text += n;
    }
    *out = '\0';
    return used;
}
