#include "cli/look/view.h"

#include "cli/look/listing.h"
#include "cli/owner.h"

#include <string.h>

int pdk__cli_view_list(struct pdk__cli_view *v, pdk_client *c, const char *path, int64_t timeout_ms)
{
    int rc = pdk_contenders(c, path, PDK_CONTENDERS_ALL, timeout_ms, &v->list);
    if (rc == 0 && pdk__cli_site(v->list) == SITE_SEMAPHORE)
        rc = pdk__cli_semaphore_list(&v->semaphore, c, path, timeout_ms);
    return rc;
}

void pdk__cli_view_free(struct pdk__cli_view *v)
{
    pdk_contender_list_free(v->list);
    pdk__cli_semaphore_free(&v->semaphore);
}

bool pdk__cli_view_is_semaphore(const struct pdk__cli_view *v) { return v->semaphore.permits != NULL; }

static bool is_directory(const struct pdk__cli_view *v) { return pdk__cli_site(v->list) == SITE_DIRECTORY; }

const pdk_contender_list *pdk__cli_view_contenders(const struct pdk__cli_view *v)
{
    return pdk__cli_view_is_semaphore(v) ? v->semaphore.permits : v->list;
}

/* --- has it changed? --------------------------------------------------------------------------------------------- */

/* All that a listing shows but the ages. */
static bool same_contender(const pdk_contender_list *a, const pdk_contender_list *b, size_t i)
{
    size_t of_a, of_b;
    const char *in_a = pdk_contender_data(a, i, &of_a), *in_b = pdk_contender_data(b, i, &of_b);
    return strcmp(pdk_contender_text(a, i, PDK_CONTENDER_NAME), pdk_contender_text(b, i, PDK_CONTENDER_NAME)) == 0 &&
           pdk_contender_number(a, i, PDK_CONTENDER_TOKEN) == pdk_contender_number(b, i, PDK_CONTENDER_TOKEN) &&
           pdk_contender_number(a, i, PDK_CONTENDER_REVOKED) == pdk_contender_number(b, i, PDK_CONTENDER_REVOKED) &&
           pdk_contender_number(a, i, PDK_CONTENDER_DATA_OMITTED) ==
               pdk_contender_number(b, i, PDK_CONTENDER_DATA_OMITTED) &&
           of_a == of_b && memcmp(in_a, in_b, of_a) == 0;
}

static bool same(const pdk_contender_list *a, const pdk_contender_list *b)
{
    size_t n = pdk_contender_list_size(a);
    bool same = n == pdk_contender_list_size(b);
    for (size_t i = 0; same && i < n; i++)
        same = same_contender(a, b, i);
    return same;
}

/* The children of a semaphore's own path are not shown. */
bool pdk__cli_view_same(const struct pdk__cli_view *a, const struct pdk__cli_view *b)
{
    bool semaphore = pdk__cli_view_is_semaphore(a);
    return semaphore == pdk__cli_view_is_semaphore(b) &&
           same(pdk__cli_view_contenders(a), pdk__cli_view_contenders(b)) &&
           (!semaphore || same(a->semaphore.queue, b->semaphore.queue));
}

/* --- what is shown ----------------------------------------------------------------------------------------------- */

static void count_contenders(const pdk_contender_list *list, char *text, size_t size)
{
    size_t holders = 0, waiters = 0;
    for (size_t i = 0; i < pdk_contender_list_size(list); i++) {
        holders += pdk_contender_holds(list, i);
        waiters += !pdk_contender_holds(list, i) && !pdk__cli_is_junk(list, i);
    }
    snprintf(text, size, "holders %zu, waiters %zu", holders, waiters);
}

static void count_below(const pdk_contender_list *list, char *text, size_t size)
{
    snprintf(text, size, "no lock, %zu below: see 'paddock top'", pdk_contender_list_size(list));
}

/* Short, for a heading that a narrow screen cuts. */
static void count_permits(const struct pdk__cli_semaphore *s, char *text, size_t size)
{
    char of[32] = "";
    if (s->limit > 0)
        snprintf(of, sizeof of, " of %lld", (long long)s->limit);
    snprintf(text, size, "held %zu%s, queue %zu", s->n_held, of, s->n_queue);
}

void pdk__cli_view_counts(const struct pdk__cli_view *v, char *text, size_t size)
{
    if (pdk__cli_view_is_semaphore(v))
        count_permits(&v->semaphore, text, size);
    else if (is_directory(v))
        count_below(v->list, text, size);
    else
        count_contenders(v->list, text, size);
}

void pdk__cli_view_table(FILE *out, const struct pdk__cli_view *v)
{
    if (pdk__cli_view_is_semaphore(v))
        pdk__cli_semaphore_table(out, &v->semaphore);
    else if (!is_directory(v))
        pdk__cli_listing_table(out, v->list, pdk_contender_list_size(v->list));
}

struct json_t *pdk__cli_view_report(const struct pdk__cli_view *v, const char *path)
{
    if (pdk__cli_view_is_semaphore(v))
        return pdk__cli_semaphore_report(&v->semaphore, path);
    return pdk__cli_listing_report(v->list, path);
}
