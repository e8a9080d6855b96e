#include "cli/help.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 80, COLUMN = 30 };

/* Of a value that is not named in its row. */
static const char *value_of(const struct pdk__cli_option *row)
{
    static const char *const values[] = {[KIND_TEXT] = "TEXT", [KIND_NUMBER] = "N",      [KIND_SECONDS] = "SEC",
                                         [KIND_TOKEN] = "N",   [KIND_SIGNAL] = "ACTION", [KIND_OTHER] = "VALUE"};
    if (!pdk__cli_option_has_value(row))
        return NULL;
    return row->value != NULL ? row->value : values[row->kind];
}

/* "-w, --wait SEC" */
static size_t format_name(char *buf, size_t size, const struct pdk__cli_option *row)
{
    const char *value = value_of(row);
    char letter[] = {'-', row->letter, ',', ' ', '\0'};
    return (size_t)snprintf(buf, size, "%s--%s%s%s", row->letter != 0 ? letter : "", row->name,
                            value != NULL ? " " : "", value != NULL ? value : "");
}

static double default_of(const struct pdk__cli_option *row, const struct pdk__cli_options *o)
{
    const char *at = (const char *)o + row->at;
    return row->kind == KIND_SECONDS ? (double)*(const int64_t *)(const void *)at / 1000
                                     : *(const int *)(const void *)at;
}

/* "%" in the text of a row is its default. */
static void put_text(const struct pdk__cli_option *row, const struct pdk__cli_options *o)
{
    const char *mark = strchr(row->help, '%');
    if (mark == NULL)
        fputs(row->help, stdout);
    else
        printf("%.*s%g%s", (int)(mark - row->help), row->help, default_of(row, o), mark + 1);
}

static void put_row(const struct pdk__cli_option *row, const struct pdk__cli_options *o)
{
    char name[WIDTH];
    int used = row->letter != 0 ? 2 : 6;
    format_name(name, sizeof name, row);
    printf("%*s%-*s  ", used, "", COLUMN - 2 - used, name);
    put_text(row, o);
    putchar('\n');
}

/* One after another, as many as there is room for in a line. */
static void put_name(const struct pdk__cli_option *row, size_t *column)
{
    char name[WIDTH];
    size_t length = format_name(name, sizeof name, row);
    if (*column > 0 && *column + 2 + length > WIDTH) {
        putchar('\n');
        *column = 0;
    }
    printf("  %s", name);
    *column += 2 + length;
}

static void put_rows(const struct pdk__cli_option *table, const struct pdk__cli_options *o)
{
    for (const struct pdk__cli_option *row = table; row->name != NULL; row++)
        if (row->help != NULL && *row->help != '\0')
            put_row(row, o);
}

static void put_names(const struct pdk__cli_option *table, size_t *column)
{
    for (const struct pdk__cli_option *row = table; row->name != NULL; row++)
        if (row->help == NULL)
            put_name(row, column);
}

void pdk__cli_help(const struct pdk__cli_verb *verb, const struct pdk__cli_option *general,
                   const struct pdk__cli_options *o)
{
    size_t column = 0;
    fputs(verb->usage, stdout);
    for (int i = 0; verb->tables[i] != NULL; i++)
        put_rows(verb->tables[i], o);
    for (int i = 0; verb->tables[i] != NULL; i++)
        put_names(verb->tables[i], &column);
    put_names(general, &column);
    putchar('\n');
    fputs(verb->notes, stdout);
}
