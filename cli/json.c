#include "cli/json.h"

#include "cli/message.h"

#include <paddock/error.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DELETE = 0x7f }; /* the one control character that jansson leaves as it is */

static json_t *string(const char *text)
{
    json_t *value = json_string(text);
    return value != NULL ? value : json_null();
}

void pdk__cli_json_text(json_t *object, const char *key, const char *text)
{
    json_object_set_new(object, key, string(text));
}

void pdk__cli_json_append(json_t *array, const char *text) { json_array_append_new(array, string(text)); }

/* TEXT without its control characters, and a newline. */
static char *escape(const char *text, size_t *size)
{
    static const char escaped[] = "\\u007f";
    size_t length = strlen(text), n = 0;
    for (const char *at = text; *at != '\0'; at++)
        n += *at == DELETE;
    char *line = malloc(length + n * (sizeof escaped - 2) + 1), *to = line;
    for (const char *at = text; line != NULL && *at != '\0'; at++)
        if (*at != DELETE)
            *to++ = *at;
        else
            to = (char *)memcpy(to, escaped, sizeof escaped - 1) + sizeof escaped - 1;
    if (line == NULL)
        return NULL;
    *to++ = '\n';
    *size = (size_t)(to - line);
    return line;
}

char *pdk__cli_json_line(json_t *object, size_t *size)
{
    char *text = json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII);
    char *line = text != NULL ? escape(text, size) : NULL;
    free(text);
    json_decref(object);
    return line;
}

int pdk__cli_json_print(json_t *object)
{
    size_t size = 0;
    char *line = pdk__cli_json_line(object, &size);
    bool written = line != NULL && fwrite(line, 1, size, stdout) == size && fflush(stdout) == 0 && !ferror(stdout);
    if (!written)
        pdk__cli_message("%s", line != NULL ? "cannot write to standard output" : pdk_strerror(PDK_ENOMEM));
    free(line);
    return written ? 0 : STATUS_INTERNAL;
}
