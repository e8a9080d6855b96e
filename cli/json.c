#include "cli/json.h"

#include "cli/say.h"

#include <stdio.h>
#include <stdlib.h>

enum { DELETE = 0x7f }; /* the one control character that jansson leaves as it is */

int pdk__cli_json_print(json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII);
    for (const char *at = text; at != NULL && *at != '\0'; at++)
        if (*at != DELETE)
            putchar(*at);
        else
            fputs("\\u007f", stdout);
    putchar('\n');
    int status = text != NULL && !ferror(stdout) ? 0 : STATUS_INTERNAL;
    if (status != 0)
        pdk__cli_say("cannot write the answer");
    free(text);
    json_decref(object);
    return status;
}
