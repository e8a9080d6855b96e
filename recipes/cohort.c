#include "recipes/cohort.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "recipes/holds.h"
#include <string.h>

static void init(struct pdk__cohort *cohort, struct pdk_client *c, const char *path)
{
    *cohort = (struct pdk__cohort){.client = c, .path = path};
    pdk__list_init(&cohort->link);
    pdk__list_init(&cohort->objects);
    pdk__list_init(&cohort->holdings);
    pdk__list_init(&cohort->settle.link);
    pdk__turns_init(&cohort->turns);
}

static void add(struct pdk__cohort *cohort, struct pdk__holds *h)
{
    h->cohort = cohort;
    cohort->refs++;
    pdk__list_append(&cohort->objects, &h->companion);
}

void pdk__cohort_init(struct pdk__holds *h)
{
    init(&h->alone, h->lock.object.client, h->lock.object.path);
    pdk__list_init(&h->companion);
    add(&h->alone, h);
}

static bool fits(const struct pdk__cohort *cohort, const struct pdk__holds *h)
{
    if (strcmp(cohort->path, h->lock.object.path) != 0 || pdk__list_empty(&cohort->objects))
        return false;
    const struct pdk__holds *other = PDK__MEMBER(cohort->objects.next, struct pdk__holds, companion);
    return pdk__lock_options_alike(&other->lock.options, &h->lock.options);
}

static struct pdk__cohort *find(const struct pdk__holds *h)
{
    PDK__LIST_EACH (link, &h->lock.object.client->cohorts) {
        struct pdk__cohort *cohort = PDK__MEMBER(link, struct pdk__cohort, link);
        if (fits(cohort, h))
            return cohort;
    }
    return NULL;
}

static struct pdk__cohort *make(struct pdk_client *c, const char *path)
{
    struct pdk__cohort *cohort = pdk__alloc(sizeof *cohort);
    if (cohort == NULL)
        return NULL;
    init(cohort, c, NULL);
    cohort->path = cohort->copy = pdk__strdup(path);
    if (cohort->copy == NULL) {
        pdk__free(cohort);
        return NULL;
    }
    pdk__list_append(&c->cohorts, &cohort->link);
    return cohort;
}

int pdk__cohort_join(struct pdk__holds *h, void (*settle)(struct pdk__deferred *settle))
{
    struct pdk__cohort *cohort = find(h);
    assert(h->cohort == &h->alone && pdk__list_empty(&h->alone.holdings));
    if (cohort == NULL)
        cohort = make(h->lock.object.client, h->lock.object.path);
    if (cohort == NULL)
        return PDK_ENOMEM;
    pdk__list_remove(&h->companion);
    add(cohort, h);
    cohort->settle.run = settle;
    return 0;
}

struct pdk__holds *pdk__cohort_retire(struct pdk__holds *h)
{
    struct pdk__list *objects = &h->cohort->objects;
    pdk__list_remove(&h->companion);
    return pdk__list_empty(objects) ? NULL : PDK__MEMBER(objects->next, struct pdk__holds, companion);
}

void pdk__cohort_leave(struct pdk__holds *h)
{
    struct pdk__cohort *cohort = h->cohort;
    pdk__list_remove(&h->companion);
    if (--cohort->refs > 0)
        return;
    assert(pdk__list_empty(&cohort->holdings) && pdk__list_empty(&cohort->turns.queue) && cohort->failed == NULL);
    pdk__list_remove(&cohort->settle.link);
    pdk__list_remove(&cohort->link);
    if (cohort == &h->alone)
        return;
    pdk__free(cohort->copy);
    pdk__free(cohort);
}
