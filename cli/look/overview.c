#include "cli/look/overview.h"

#include "cli/json.h"
#include "cli/look/listing.h"
#include "cli/message.h"
#include "cli/number.h"
#include "cli/owner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- rows -------------------------------------------------------------------------------------------------------- */

static void count(struct pdk__cli_lock_row *row)
{
    row->holder = row->waiter = PDK__CLI_NO_ROW;
    for (size_t i = 0; i < pdk_contender_list_size(row->list); i++) {
        bool holds = pdk_contender_holds(row->list, i);
        if (!holds && pdk_contender_dialect(row->list, i) == PDK_DIALECT_JUNK)
            continue;
        size_t *first = holds ? &row->holder : &row->waiter;
        row->n_hold += holds;
        row->n_wait += !holds;
        if (*first == PDK__CLI_NO_ROW)
            *first = i;
    }
}

/* How many contenders of all that the path ever had do not wait. */
static int64_t served(const pdk_contender_list *list)
{
    struct pdk__cli_lock_row row = {.list = list};
    count(&row);
    return pdk_contender_list_created(list) - (int64_t)row.n_wait;
}

static double rate(const struct pdk__cli_lock_row *row, const struct pdk__cli_tree *before, int64_t ms)
{
    for (size_t i = 0; before != NULL && ms > 0 && i < before->n; i++) {
        const pdk_contender_list *was = before->places[i].list;
        if (strcmp(before->places[i].path, row->path) != 0)
            continue;
        if (pdk_contender_list_since_ms(was) != pdk_contender_list_since_ms(row->list))
            break; /* it was deleted and created again meanwhile */
        int64_t n = served(row->list) - served(was);
        return n > 0 ? (double)n * 1000 / (double)ms : 0;
    }
    return -1;
}

static int compare(const void *a, const void *b)
{
    const struct pdk__cli_lock_row *x = a, *y = b;
    if (x->n_wait != y->n_wait)
        return x->n_wait < y->n_wait ? 1 : -1;
    return strcmp(x->path, y->path);
}

bool pdk__cli_overview_take(struct pdk__cli_overview *overview, const struct pdk__cli_tree *tree,
                            const struct pdk__cli_tree *before, int64_t ms)
{
    *overview = (struct pdk__cli_overview){.tree = tree, .rows = calloc(tree->n + 1, sizeof *overview->rows)};
    if (overview->rows == NULL)
        return false;
    for (size_t i = 0; i < tree->n; i++) {
        struct pdk__cli_lock_row *row = &overview->rows[overview->n++];
        *row = (struct pdk__cli_lock_row){.path = tree->places[i].path, .list = tree->places[i].list};
        count(row);
        row->rate = rate(row, before, ms);
        overview->n_hold += row->n_hold;
        overview->n_wait += row->n_wait;
    }
    qsort(overview->rows, overview->n, sizeof *overview->rows, compare);
    return true;
}

void pdk__cli_overview_free(struct pdk__cli_overview *overview) { free(overview->rows); }

/* --- for people -------------------------------------------------------------------------------------------------- */

enum { CELL = 512, PATH_MAX_WIDTH = 50, OWNER_WIDTH = 32, NUMBERS_WIDTH = 29 };

/* TEXT in WIDTH columns, and a space. */
static void put(FILE *out, const char *text, int width)
{
    char clean[CELL];
    int used = pdk__cli_printable(clean, sizeof clean, width, text);
    fprintf(out, "%s%*s", clean, width - used + 1, "");
}

static void put_owner(FILE *out, const struct pdk__cli_lock_row *row, size_t i, int width)
{
    char text[700] = "-";
    if (i != PDK__CLI_NO_ROW)
        pdk__cli_owner(row->list, i, text, sizeof text);
    put(out, text, width);
}

static void put_row(FILE *out, const struct pdk__cli_lock_row *row, int path, int owner)
{
    char text[64], age[32] = "-";
    size_t first = row->holder != PDK__CLI_NO_ROW ? row->holder : row->waiter;
    if (first != PDK__CLI_NO_ROW && pdk_contender_number(row->list, first, PDK_CONTENDER_SINCE_MS) > 0)
        pdk__cli_duration(pdk__cli_listing_age_ms(row->list, first), age);
    put(out, row->path, path);
    snprintf(text, sizeof text, "%5zu %5zu %7s", row->n_hold, row->n_wait, age);
    put(out, text, 19);
    snprintf(text, sizeof text, "%8.1f", row->rate);
    put(out, row->rate >= 0 ? text : "       -", 8);
    put_owner(out, row, row->holder, owner);
    put_owner(out, row, row->waiter, owner);
    putc('\n', out);
}

static int widest_path(const struct pdk__cli_overview *overview)
{
    char clean[CELL];
    int widest = 4;
    for (size_t i = 0; i < overview->n; i++) {
        int width = pdk__cli_printable(clean, sizeof clean, PATH_MAX_WIDTH, overview->rows[i].path);
        widest = width > widest ? width : widest;
    }
    return widest;
}

/* The owners share the room that the path and the numbers leave. */
void pdk__cli_overview_print(FILE *out, const struct pdk__cli_overview *overview, size_t lines, int columns)
{
    int path = widest_path(overview), most = columns / 3 > 4 ? columns / 3 : 4;
    path = path < most ? path : most;
    int owner = (columns - path - NUMBERS_WIDTH - 4) / 2;
    owner = owner > OWNER_WIDTH ? OWNER_WIDTH : owner < 4 ? 4 : owner;
    fprintf(out, "lock paths: %zu; contenders that hold: %zu, that wait: %zu%s", overview->n, overview->n_hold,
            overview->n_wait, overview->tree->truncated ? "; there is more" : "");
    if (overview->tree->n_refused > 0)
        fprintf(out, "; %zu may not be looked at", overview->tree->n_refused);
    putc('\n', out);
    if (overview->n == 0 || lines < 3)
        return;
    put(out, "PATH", path);
    put(out, " HOLD  WAIT     AGE", 19);
    put(out, "GRANTS/S", 8);
    put(out, "HOLDER", owner);
    put(out, "NEXT", owner);
    putc('\n', out);
    for (size_t i = 0; i < overview->n && i + 2 < lines; i++)
        put_row(out, &overview->rows[i], path, owner);
}

/* --- for programs ------------------------------------------------------------------------------------------------ */

static json_t *row_object(const struct pdk__cli_lock_row *row)
{
    json_t *object = json_object(), *contenders = json_array();
    pdk__cli_json_text(object, "path", row->path);
    json_object_set_new(object, "holders", json_integer((json_int_t)row->n_hold));
    json_object_set_new(object, "waiters", json_integer((json_int_t)row->n_wait));
    json_object_set_new(object, "created", json_integer(pdk_contender_list_created(row->list)));
    json_object_set_new(object, "grants_per_second", row->rate >= 0 ? json_real(row->rate) : json_null());
    for (size_t i = 0; i < pdk_contender_list_size(row->list); i++)
        json_array_append_new(contenders, pdk__cli_listing_object(row->list, i));
    json_object_set_new(object, "contenders", contenders);
    return object;
}

json_t *pdk__cli_overview_object(const struct pdk__cli_overview *overview)
{
    json_t *top = json_object(), *paths = json_array();
    for (size_t i = 0; i < overview->n; i++)
        json_array_append_new(paths, row_object(&overview->rows[i]));
    json_object_set_new(top, "paths", paths);
    json_object_set_new(top, "holders", json_integer((json_int_t)overview->n_hold));
    json_object_set_new(top, "waiters", json_integer((json_int_t)overview->n_wait));
    json_object_set_new(top, "looked_at", json_integer((json_int_t)overview->tree->n_paths));
    json_object_set_new(top, "refused", json_integer((json_int_t)overview->tree->n_refused));
    json_object_set_new(top, "truncated", json_boolean(overview->tree->truncated));
    return top;
}
