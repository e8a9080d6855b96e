#include "cli/look/semaphore.h"

#include "cli/json.h"
#include "cli/look/counter.h"
#include "cli/look/listing.h"
#include "cli/owner.h"

#include <stdio.h>
#include <stdlib.h>

static int list_below(pdk_client *c, const char *path, const char *part, int64_t timeout_ms, pdk_contender_list **list)
{
    char *below = NULL;
    if (asprintf(&below, "%s/%s", path, part) < 0)
        return PDK_ENOMEM;
    int rc = pdk_contenders(c, below, PDK_CONTENDERS_ALL, timeout_ms, list);
    free(below);
    return rc;
}

static void count_permits(struct pdk__cli_semaphore *s)
{
    for (size_t i = 0; i < pdk_contender_list_size(s->permits); i++) {
        s->n_held += pdk_contender_holds(s->permits, i);
        if (s->limit == 0)
            s->limit = pdk_contender_number(s->permits, i, PDK_CONTENDER_LIMIT);
    }
}

static void count_queue(struct pdk__cli_semaphore *s)
{
    for (size_t i = 0; i < pdk_contender_list_size(s->queue); i++)
        s->n_queue += !pdk__cli_is_junk(s->queue, i);
}

void pdk__cli_semaphore_count(struct pdk__cli_semaphore *s)
{
    count_permits(s);
    count_queue(s);
}

int pdk__cli_semaphore_list(struct pdk__cli_semaphore *s, pdk_client *c, const char *path, int64_t timeout_ms)
{
    int rc = list_below(c, path, "leases", timeout_ms, &s->permits);
    if (rc == 0)
        rc = list_below(c, path, "locks", timeout_ms, &s->queue);
    if (rc == 0)
        pdk__cli_semaphore_count(s);
    return rc;
}

void pdk__cli_semaphore_free(struct pdk__cli_semaphore *s)
{
    pdk_contender_list_free(s->permits);
    pdk_contender_list_free(s->queue);
}

static struct pdk__cli_rows permit_rows(const struct pdk__cli_semaphore *s)
{
    struct pdk__cli_rows rows = pdk__cli_rows(s->permits);
    rows.under = "leases/";
    rows.site = SITE_LOCK;
    return rows;
}

static struct pdk__cli_rows queue_rows(const struct pdk__cli_semaphore *s)
{
    struct pdk__cli_rows rows = pdk__cli_rows(s->queue);
    rows.under = "locks/";
    rows.site = SITE_LOCK;
    rows.queues = true;
    return rows;
}

void pdk__cli_semaphore_table(FILE *out, const struct pdk__cli_semaphore *s)
{
    const struct pdk__cli_rows rows[] = {permit_rows(s), queue_rows(s)};
    pdk__cli_listing_tables(out, rows, 2);
}

json_t *pdk__cli_semaphore_report(const struct pdk__cli_semaphore *s, const char *path)
{
    json_t *top = json_object();
    struct pdk__cli_rows permits = permit_rows(s), queue = queue_rows(s);
    struct pdk__cli_counter counter = pdk__cli_counter(s->permits);
    pdk__cli_json_text(top, "path", path);
    pdk__cli_json_text(top, "kind", pdk__cli_site_word(SITE_SEMAPHORE));
    json_object_set_new(top, "limit", s->limit > 0 ? json_integer(s->limit) : json_null());
    json_object_set_new(top, "held", json_integer((json_int_t)s->n_held));
    json_object_set_new(top, "contenders", pdk__cli_listing_array(&permits));
    json_object_set_new(top, "queue", pdk__cli_listing_array(&queue));
    json_object_set_new(top, "counter", pdk__cli_counter_object(&counter));
    return top;
}
