#include "cli/look/findings.h"

#include "cli/json.h"
#include "cli/message.h"
#include "lib/assert.h"

#include <stdarg.h>
#include <stdio.h>

enum { TEXT = 1024 };

json_t *pdk__cli_finding(json_t *all, const char *code, const char *advice, const char *format, ...)
{
    char text[TEXT], clean[TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pdk__cli_printable(clean, sizeof clean, TEXT, text);
    json_t *finding = json_object();
    pdk__cli_json_text(finding, "code", code);
    pdk__cli_json_text(finding, "text", clean);
    pdk__cli_json_text(finding, "advice", advice);
    json_object_set_new(finding, "nodes", json_array());
    json_array_append_new(all, finding);
    return finding;
}

void pdk__cli_finding_node(json_t *finding, const char *name)
{
    pdk__cli_json_append(json_object_get(finding, "nodes"), name);
}

static void print_nodes(const json_t *nodes)
{
    enum { SHOWN = 4, WIDTH = 80 };
    char clean[4 * WIDTH];
    size_t n = json_array_size(nodes);
    for (size_t i = 0; i < n && i < SHOWN; i++) {
        const char *name = json_string_value(json_array_get(nodes, i));
        pdk__cli_printable(clean, sizeof clean, WIDTH, name != NULL ? name : "(not UTF-8)");
        printf("%s%s", i > 0 ? ", " : ": ", clean);
    }
    if (n > SHOWN)
        printf(" and %zu more", n - SHOWN);
}

void pdk__cli_findings_print(const json_t *all)
{
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *finding = json_array_get(all, i);
        assert(json_object_get(finding, "code") != NULL);
        printf("  [%s] %s", json_string_value(json_object_get(finding, "code")),
               json_string_value(json_object_get(finding, "text")));
        print_nodes(json_object_get(finding, "nodes"));
        printf("\n    To do: %s.\n", json_string_value(json_object_get(finding, "advice")));
    }
}
