#include "cli/look/listing.h"

#include "cli/message.h"
#include "cli/number.h"
#include "cli/owner.h"
#include "lib/assert.h"
#include "lib/core/double_barrier.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { POS, STATE, MODE, SESSION, OWNER, AGE, TOKEN, GRANT, NODE, DATA, N_COLUMNS };
enum { CELL = 512 };

struct row {
    char cell[N_COLUMNS][CELL];
    int width[N_COLUMNS];
};

static const char *const heading[N_COLUMNS] = {"POS", "STATE", "MODE",  "SESSION", "OWNER",
                                               "AGE", "TOKEN", "GRANT", "NODE",    "DATA"};

const char *pdk__cli_listing_state(const pdk_contender_list *list, size_t i)
{
    if (!pdk_contender_holds(list, i))
        return pdk__cli_is_junk(list, i) ? "junk" : "waits";
    return pdk_contender_number(list, i, PDK_CONTENDER_REVOKED) ? "asked" : "holds";
}

const char *pdk__cli_row_state(const struct pdk__cli_rows *rows, size_t i)
{
    bool junk = pdk__cli_is_junk(rows->list, i);
    if (rows->site == SITE_DOUBLE_BARRIER)
        return strcmp(pdk_contender_text(rows->list, i, PDK_CONTENDER_NAME), PDK__READY) == 0 ? "ready" : "member";
    if (rows->site == SITE_DIRECTORY)
        return "path";
    if (rows->queues && !junk)
        return i == 0 ? "next" : "waits";
    return pdk__cli_listing_state(rows->list, i);
}

const char *pdk__cli_listing_mode(const pdk_contender_list *list, size_t i)
{
    pdk_mode mode = (pdk_mode)pdk_contender_number(list, i, PDK_CONTENDER_MODE);
    static const char *const words[] = {[PDK_MODE_EXCLUSIVE] = "",
                                        [PDK_MODE_READ] = "read",
                                        [PDK_MODE_WRITE] = "write",
                                        [PDK_MODE_NONE] = "",
                                        [PDK_MODE_PERMIT] = "permit"};
    return words[mode];
}

int64_t pdk__cli_age_ms(int64_t since_ms)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t age = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 - since_ms;
    return age > 0 ? age : 0;
}

int64_t pdk__cli_listing_age_ms(const pdk_contender_list *list, size_t i)
{
    return pdk__cli_age_ms(pdk_contender_number(list, i, PDK_CONTENDER_SINCE_MS));
}

static void put(struct row *r, int column, const char *text)
{
    assert(column >= 0 && column < N_COLUMNS);
    r->width[column] = pdk__cli_printable(r->cell[column], CELL, CELL, *text != '\0' ? text : "-");
}

static void put_owner(struct row *r, const pdk_contender_list *list, size_t i)
{
    char text[700];
    int64_t pid = pdk_contender_number(list, i, PDK_CONTENDER_PID),
            thread = pdk_contender_number(list, i, PDK_CONTENDER_THREAD);
    const char *label = pdk_contender_text(list, i, PDK_CONTENDER_LABEL);
    int n = snprintf(text, sizeof text, "%s", pdk_contender_text(list, i, PDK_CONTENDER_HOST));
    if (pid != 0)
        n += snprintf(text + n, sizeof text - (size_t)n, " pid %lld", (long long)pid);
    if (thread != 0 && thread != pid)
        n += snprintf(text + n, sizeof text - (size_t)n, " thread %lld", (long long)thread);
    if (*label != '\0')
        snprintf(text + n, sizeof text - (size_t)n, " (%s)", label);
    put(r, OWNER, text);
}

/* Data that is an identity has been shown as the owner. */
static void put_data(struct row *r, const pdk_contender_list *list, size_t i)
{
    char omitted[64];
    size_t size, left_out = pdk_contender_number(list, i, PDK_CONTENDER_DATA_OMITTED);
    const char *data = pdk_contender_data(list, i, &size);
    if (left_out > 0) {
        snprintf(omitted, sizeof omitted, "(%zu bytes)", left_out);
        put(r, DATA, omitted);
        return;
    }
    put(r, DATA,
        *pdk_contender_text(list, i, PDK_CONTENDER_HOST) == '\0' && data != NULL && size == strlen(data) ? data : "");
}

static void put_state(struct row *r, const struct pdk__cli_rows *rows, size_t i)
{
    char text[64];
    const pdk_contender_list *list = rows->list;
    pdk_dialect dialect = (pdk_dialect)pdk_contender_number(list, i, PDK_CONTENDER_DIALECT);
    bool permit = dialect == PDK_DIALECT_JUNK && pdk_contender_holds(list, i);
    bool strange = dialect == PDK_DIALECT_CURATOR || dialect == PDK_DIALECT_FOREIGN || permit;
    bool asked = !pdk_contender_holds(list, i) &&
                 pdk_contender_number(list, i, PDK_CONTENDER_REVOKED); /* before it holds */
    snprintf(text, sizeof text, "%s%s%s%s%s", pdk__cli_row_state(rows, i), asked ? ", asked" : "", strange ? " (" : "",
             strange ? pdk__cli_library(list, i) : "", strange ? ")" : "");
    put(r, STATE, text);
}

/* The options of its own by which it is granted the lock. */
static void put_grant(struct row *r, const pdk_contender_list *list, size_t i)
{
    char text[64], delay[32];
    int64_t delay_ms = pdk_contender_number(list, i, PDK_CONTENDER_LOCK_DELAY_MS);
    bool confirmed = pdk_contender_number(list, i, PDK_CONTENDER_CONFIRMED);
    snprintf(text, sizeof text, "%s%s%s%s", confirmed ? "confirmed" : "", confirmed && delay_ms > 0 ? ", " : "",
             delay_ms > 0 ? "delay " : "", delay_ms > 0 ? pdk__cli_duration(delay_ms, delay) : "");
    put(r, GRANT, text);
}

static void put_node(struct row *r, const struct pdk__cli_rows *rows, size_t i)
{
    char text[CELL];
    const char *name = pdk_contender_text(rows->list, i, PDK_CONTENDER_NAME);
    snprintf(text, sizeof text, "%s%s", rows->under, name);
    put(r, NODE, *rows->under != '\0' ? text : name);
}

static void fill(struct row *r, const struct pdk__cli_rows *rows, size_t i)
{
    char text[64], buf[32];
    const pdk_contender_list *list = rows->list;
    snprintf(text, sizeof text, "%zu", i + 1);
    put(r, POS, pdk__cli_is_junk(list, i) ? "" : text);
    put_state(r, rows, i);
    put(r, MODE, pdk__cli_listing_mode(list, i));
    snprintf(text, sizeof text, "%016llx", (unsigned long long)pdk_contender_number(list, i, PDK_CONTENDER_SESSION));
    put(r, SESSION, pdk_contender_number(list, i, PDK_CONTENDER_SESSION) != 0 ? text : "");
    put_owner(r, list, i);
    put(r, AGE,
        pdk_contender_number(list, i, PDK_CONTENDER_SINCE_MS) > 0
            ? pdk__cli_duration(pdk__cli_listing_age_ms(list, i), buf)
            : "");
    snprintf(text, sizeof text, "%lld", (long long)pdk_contender_number(list, i, PDK_CONTENDER_TOKEN));
    put(r, TOKEN, pdk_contender_number(list, i, PDK_CONTENDER_TOKEN) != 0 ? text : "");
    put_grant(r, list, i);
    put_node(r, rows, i);
    put_data(r, list, i);
}

static void print(FILE *out, const struct row *r, const int *widths)
{
    int last = N_COLUMNS - 1;
    while (last > 0 && widths[last] == 0)
        last--;
    for (int c = 0; c <= last; c++)
        if (widths[c] > 0)
            fprintf(out, "%s%*s", r->cell[c], c == last ? 0 : widths[c] - r->width[c] + 2, "");
    putc('\n', out);
}

/* Columns that are empty for all contenders are left out. */
static void widen(int *widths, const struct row *r)
{
    for (int c = 0; c < N_COLUMNS; c++)
        if (strcmp(r->cell[c], "-") != 0 && r->width[c] > widths[c])
            widths[c] = r->width[c];
}

struct pdk__cli_rows pdk__cli_rows(const pdk_contender_list *list)
{
    return (struct pdk__cli_rows){
        .list = list, .n = pdk_contender_list_size(list), .site = pdk__cli_site(list), .under = ""};
}

static void measure(int *widths, const struct pdk__cli_rows *rows, size_t n)
{
    static struct row row; /* large */
    for (size_t k = 0; k < n; k++) {
        for (size_t i = rows[k].first; i < rows[k].n; i++) {
            fill(&row, &rows[k], i);
            widen(widths, &row);
        }
    }
}

static void print_heading(FILE *out, int *widths)
{
    static struct row row;
    for (int c = 0; c < N_COLUMNS; c++) {
        put(&row, c, heading[c]);
        if (widths[c] > 0 && widths[c] < row.width[c])
            widths[c] = row.width[c];
    }
    print(out, &row, widths);
}

void pdk__cli_listing_tables(FILE *out, const struct pdk__cli_rows *rows, size_t n)
{
    static struct row row;
    int widths[N_COLUMNS] = {0};
    measure(widths, rows, n);
    if (widths[STATE] == 0) /* there is no row */
        return;
    print_heading(out, widths);
    for (size_t k = 0; k < n; k++) {
        for (size_t i = rows[k].first; i < rows[k].n; i++) {
            fill(&row, &rows[k], i);
            print(out, &row, widths);
        }
    }
}

void pdk__cli_listing_table(FILE *out, const pdk_contender_list *list, size_t n)
{
    struct pdk__cli_rows rows = pdk__cli_rows(list);
    assert(n <= rows.n);
    rows.n = n;
    pdk__cli_listing_tables(out, &rows, 1);
}
