#include "cli/say.h"

#include <paddock/error.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

static void vsay(const char *format, va_list arguments)
{
    char text[2048], clean[2048], line[2080];
    vsnprintf(text, sizeof text, format, arguments);
    pdk__cli_printable(clean, sizeof clean, (int)sizeof clean, text);
    int n = snprintf(line, sizeof line, "paddock: %s\n", clean);
    /* Nobody is left to be told when standard error does not take it. */
    (void)!write(STDERR_FILENO, line, (size_t)n);
}

void pdk__cli_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsay(format, arguments);
    va_end(arguments);
}

int pdk__cli_usage(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsay(format, arguments);
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
        return STATUS_USAGE;
    case PDK_EHOST:
    case PDK_EDISCONNECTED:
    case PDK_EEXPIRED:
    case PDK_ENOENT:
        return STATUS_NO_ENSEMBLE;
    case PDK_EACCES:
    case PDK_EAUTH:
        return STATUS_NOT_PERMITTED;
    default:
        return STATUS_INTERNAL;
    }
}

/* One character of TEXT: its length in bytes, and its width, or -1 when it is none that can be shown. */
static size_t measure(const char *text, mbstate_t *state, int *width)
{
    wchar_t c;
    size_t n = mbrtowc(&c, text, strlen(text), state);
    *width = -1;
    if (n == (size_t)-1 || n == (size_t)-2 || n == 0) {
        memset(state, 0, sizeof *state);
        return 1;
    }
    if (iswprint((wint_t)c))
        *width = wcwidth(c);
    return n;
}

int pdk__cli_printable(char *out, size_t size, int columns, const char *text)
{
    mbstate_t state = {0};
    int used = 0, width;
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
