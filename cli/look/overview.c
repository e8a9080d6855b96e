#include "cli/look/overview.h"

#include "cli/json.h"
#include "cli/look/listing.h"
#include "cli/look/semaphore.h"
#include "cli/message.h"
#include "cli/number.h"
#include "cli/owner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- rows -------------------------------------------------------------------------------------------------------- */

static bool is_contender(const pdk_contender_list *list, size_t i) { return !pdk__cli_is_junk(list, i); }

static bool waits(const pdk_contender_list *list, size_t i)
{
    return is_contender(list, i) && !pdk_contender_holds(list, i);
}

/* How many of LIST are so. FIRST is the first of them. */
static size_t count(const pdk_contender_list *list, bool (*is)(const pdk_contender_list *list, size_t i), size_t *first)
{
    size_t n = 0;
    *first = PDK__CLI_NO_ROW;
    for (size_t i = 0; i < pdk_contender_list_size(list); i++)
        if (is(list, i) && n++ == 0)
            *first = i;
    return n;
}

/* How many contenders of all that the path ever had do not wait. */
static int64_t served(const pdk_contender_list *list)
{
    size_t first;
    return pdk_contender_list_number(list, PDK_LIST_CREATED) - (int64_t)count(list, waits, &first);
}

static double rate(const struct pdk__cli_place *place, const struct pdk__cli_tree *before, int64_t ms)
{
    for (size_t i = 0; before != NULL && ms > 0 && i < before->n; i++) {
        const pdk_contender_list *was = before->places[i].list;
        if (strcmp(before->places[i].path, place->path) != 0)
            continue;
        if (pdk_contender_list_number(was, PDK_LIST_SINCE_MS) !=
            pdk_contender_list_number(place->list, PDK_LIST_SINCE_MS))
            break; /* it was deleted and created again meanwhile */
        int64_t n = served(place->list) - served(was);
        return n > 0 ? (double)n * 1000 / (double)ms : 0;
    }
    return -1;
}

/* --- a semaphore ------------------------------------------------------------------------------------------------- */

static bool is_semaphore(const struct pdk__cli_lock_row *row) { return row->queue != row->place->list; }

static bool are_permits(const struct pdk__cli_place *place)
{
    return strcmp(strrchr(place->path, '/'), "/leases") == 0;
}

/* The other part of the semaphore of place I; NULL: there is none, or it was not looked at. */
static const struct pdk__cli_place *other_part(const struct pdk__cli_tree *tree, size_t i)
{
    const char *semaphore = tree->places[i].semaphore;
    for (size_t k = 0; semaphore != NULL && k < tree->n; k++)
        if (k != i && tree->places[k].semaphore != NULL && strcmp(tree->places[k].semaphore, semaphore) == 0)
            return &tree->places[k];
    return NULL;
}

/* --- all rows ---------------------------------------------------------------------------------------------------- */

static struct pdk__cli_lock_row row_of(const struct pdk__cli_tree *tree, size_t i)
{
    const struct pdk__cli_place *place = &tree->places[i], *queue = other_part(tree, i);
    struct pdk__cli_lock_row row = {.path = place->path, .place = place, .queue = place->list};
    if (queue != NULL) {
        row.path = place->semaphore;
        row.queue = queue->list;
    }
    row.n_hold = count(place->list, pdk_contender_holds, &row.holder);
    row.n_wait = count(row.queue, is_semaphore(&row) ? is_contender : waits, &row.waiter);
    return row;
}

static bool is_idle(const struct pdk__cli_lock_row *row) { return row->n_hold + row->n_wait == 0; }

static int compare(const void *a, const void *b)
{
    const struct pdk__cli_lock_row *x = a, *y = b;
    if (x->n_wait != y->n_wait)
        return x->n_wait < y->n_wait ? 1 : -1;
    if (is_idle(x) != is_idle(y))
        return is_idle(x) ? 1 : -1;
    return strcmp(x->path, y->path);
}

bool pdk__cli_overview_take(struct pdk__cli_overview *overview, const struct pdk__cli_tree *tree,
                            const struct pdk__cli_tree *before, int64_t ms)
{
    *overview = (struct pdk__cli_overview){.tree = tree, .rows = calloc(tree->n + 1, sizeof *overview->rows)};
    if (overview->rows == NULL)
        return false;
    for (size_t i = 0; i < tree->n; i++) {
        struct pdk__cli_lock_row row = row_of(tree, i);
        bool told = is_semaphore(&row) && !are_permits(row.place); /* by the row of the permits */
        bool ran = pdk__cli_run_exists(&row.place->last_run, PDK_RUN_LAST);
        if (told || (is_idle(&row) && !ran))
            continue;
        row.rate = rate(row.place, before, ms);
        overview->rows[overview->n++] = row;
        overview->n_hold += row.n_hold;
        overview->n_wait += row.n_wait;
    }
    qsort(overview->rows, overview->n, sizeof *overview->rows, compare);
    return true;
}

void pdk__cli_overview_free(struct pdk__cli_overview *overview) { free(overview->rows); }

/* --- for people -------------------------------------------------------------------------------------------------- */

enum { CELL = 512, PATH_MAX_WIDTH = 50, OWNER_WIDTH = 32, NUMBERS_WIDTH = 29, RUN_WIDTH = 19, RUN_COLUMNS = 79 };

/* Of the columns whose widths differ; that of the last run is 0 where no path has a record. */
struct widths {
    int path, run, owner;
};

/* TEXT in WIDTH columns, and a space. */
static void put(FILE *out, const char *text, int width)
{
    char clean[CELL];
    int used = pdk__cli_printable(clean, sizeof clean, width, text);
    fprintf(out, "%s%*s", clean, width - used + 1, "");
}

static void put_owner(FILE *out, const pdk_contender_list *list, size_t i, int width)
{
    char text[700] = "-";
    if (i != PDK__CLI_NO_ROW)
        pdk__cli_owner(list, i, text, sizeof text);
    put(out, text, width);
}

static void put_run(FILE *out, const struct pdk__cli_lock_row *row, int width)
{
    char text[80];
    pdk__cli_last_run_short(&row->place->last_run, row->place->list, text, sizeof text);
    if (width > 0)
        put(out, text, width);
}

static void put_row(FILE *out, const struct pdk__cli_lock_row *row, const struct widths *widths)
{
    char text[64], age[32] = "-";
    bool held = row->holder != PDK__CLI_NO_ROW;
    const pdk_contender_list *list = held ? row->place->list : row->queue;
    size_t first = held ? row->holder : row->waiter;
    if (first != PDK__CLI_NO_ROW && pdk_contender_number(list, first, PDK_CONTENDER_SINCE_MS) > 0)
        pdk__cli_duration(pdk__cli_listing_age_ms(list, first), age);
    put(out, row->path, widths->path);
    snprintf(text, sizeof text, "%5zu %5zu %7s", row->n_hold, row->n_wait, age);
    put(out, text, 19);
    snprintf(text, sizeof text, "%8.1f", row->rate);
    put(out, row->rate >= 0 ? text : "       -", 8);
    put_run(out, row, widths->run);
    put_owner(out, row->place->list, row->holder, widths->owner);
    put_owner(out, row->queue, row->waiter, widths->owner);
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

static bool has_record(const struct pdk__cli_overview *overview)
{
    for (size_t i = 0; i < overview->n; i++) {
        const struct pdk__cli_last_run *run = &overview->rows[i].place->last_run;
        if (pdk__cli_run_exists(run, PDK_RUN_LAST) || run->rc != 0)
            return true;
    }
    return false;
}

/* The owners share the room that the path, the numbers and the last run leave. */
static struct widths widths_of(const struct pdk__cli_overview *overview, int columns)
{
    struct widths w = {.path = widest_path(overview)};
    bool run = columns >= RUN_COLUMNS && has_record(overview);
    int share = columns / (run ? 4 : 3), most = share > 4 ? share : 4;
    w.path = w.path < most ? w.path : most;
    w.run = run ? RUN_WIDTH : 0;
    w.owner = (columns - w.path - NUMBERS_WIDTH - (run ? RUN_WIDTH + 1 : 0) - 4) / 2;
    w.owner = w.owner > OWNER_WIDTH ? OWNER_WIDTH : w.owner < 4 ? 4 : w.owner;
    return w;
}

static void put_heading(FILE *out, const struct widths *widths)
{
    put(out, "PATH", widths->path);
    put(out, " HOLD  WAIT     AGE", 19);
    put(out, "GRANTS/S", 8);
    if (widths->run > 0)
        put(out, "LAST RUN", widths->run);
    put(out, "HOLDER", widths->owner);
    put(out, "NEXT", widths->owner);
    putc('\n', out);
}

void pdk__cli_overview_print(FILE *out, const struct pdk__cli_overview *overview, size_t lines, int columns)
{
    struct widths widths = widths_of(overview, columns);
    fprintf(out, "lock paths: %zu; contenders that hold: %zu, that wait: %zu%s", overview->n, overview->n_hold,
            overview->n_wait, overview->tree->truncated ? "; there is more" : "");
    if (overview->tree->n_refused > 0)
        fprintf(out, "; %zu may not be looked at", overview->tree->n_refused);
    putc('\n', out);
    if (overview->n == 0 || lines < 3)
        return;
    put_heading(out, &widths);
    for (size_t i = 0; i < overview->n && i + 2 < lines; i++)
        put_row(out, &overview->rows[i], &widths);
}

/* --- for programs ------------------------------------------------------------------------------------------------ */

static json_t *report(const struct pdk__cli_lock_row *row)
{
    struct pdk__cli_semaphore s = {.permits = row->place->list, .queue = row->queue};
    if (!is_semaphore(row))
        return pdk__cli_listing_report(row->place->list, row->path);
    pdk__cli_semaphore_count(&s);
    return pdk__cli_semaphore_report(&s, row->path);
}

static json_t *row_object(const struct pdk__cli_lock_row *row)
{
    json_t *object = report(row);
    pdk__cli_last_run_report(&row->place->last_run, row->place->list, object);
    json_object_set_new(object, "holders", json_integer((json_int_t)row->n_hold));
    json_object_set_new(object, "waiters", json_integer((json_int_t)row->n_wait));
    json_object_set_new(object, "created", json_integer(pdk_contender_list_number(row->place->list, PDK_LIST_CREATED)));
    json_object_set_new(object, "grants_per_second", row->rate >= 0 ? json_real(row->rate) : json_null());
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
