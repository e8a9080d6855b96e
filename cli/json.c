#include "cli/json.h"

#include "cli/message.h"

#include <paddock/error.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

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

int pdk__cli_json_print(json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII);
    for (const char *at = text; at != NULL && *at != '\0'; at++)
        if (*at != DELETE)
            putchar(*at);
        else
            fputs("\\u007f", stdout);
    putchar('\n');
    bool written = text != NULL && fflush(stdout) == 0 && !ferror(stdout);
    if (!written)
        pdk__cli_message("%s", text != NULL ? "cannot write to standard output" : pdk_strerror(PDK_ENOMEM));
    free(text);
    json_decref(object);
    return written ? 0 : STATUS_INTERNAL;
}
