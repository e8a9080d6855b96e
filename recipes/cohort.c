#include "recipes/cohort.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "recipes/lockable.h"
#include <string.h>

static void init(struct pdk__cohort *cohort, struct pdk_client *c, const char *path)
{
    *cohort = (struct pdk__cohort){.client = c, .path = path};
    pdk__list_init(&cohort->link);
    pdk__list_init(&cohort->objects);
    pdk__list_init(&cohort->acquisitions);
    pdk__list_init(&cohort->deferred.link);
    pdk__turns_init(&cohort->turns);
}

static void add(struct pdk__cohort *cohort, struct pdk__lockable *k)
{
    k->cohort = cohort;
    cohort->refs++;
    pdk__list_append(&cohort->objects, &k->companion);
}

void pdk__cohort_init(struct pdk__lockable *k)
{
    init(&k->alone, k->lock.object.client, k->lock.object.path);
    pdk__list_init(&k->companion);
    add(&k->alone, k);
}

static bool fits(const struct pdk__cohort *cohort, const struct pdk__lockable *k)
{
    if (strcmp(cohort->path, k->lock.object.path) != 0 || pdk__list_empty(&cohort->objects))
        return false;
    const struct pdk__lockable *other = PDK__MEMBER(cohort->objects.next, struct pdk__lockable, companion);
    return pdk__lock_options_alike(&other->lock.options, &k->lock.options);
}

static struct pdk__cohort *find(const struct pdk__lockable *k)
{
    PDK__LIST_EACH (link, &k->lock.object.client->cohorts) {
        struct pdk__cohort *cohort = PDK__MEMBER(link, struct pdk__cohort, link);
        if (fits(cohort, k))
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

int pdk__cohort_join(struct pdk__lockable *k, void (*run)(struct pdk__deferred *deferred))
{
    struct pdk__cohort *cohort = find(k);
    assert(k->cohort == &k->alone && pdk__list_empty(&k->alone.acquisitions));
    if (cohort == NULL)
        cohort = make(k->lock.object.client, k->lock.object.path);
    if (cohort == NULL)
        return PDK_ENOMEM;
    pdk__list_remove(&k->companion);
    add(cohort, k);
    cohort->deferred.run = run;
    return 0;
}

struct pdk__lockable *pdk__cohort_retire(struct pdk__lockable *k)
{
    struct pdk__list *objects = &k->cohort->objects;
    pdk__list_remove(&k->companion);
    return pdk__list_empty(objects) ? NULL : PDK__MEMBER(objects->next, struct pdk__lockable, companion);
}

void pdk__cohort_leave(struct pdk__lockable *k)
{
    struct pdk__cohort *cohort = k->cohort;
    pdk__list_remove(&k->companion);
    if (--cohort->refs > 0)
        return;
    assert(pdk__list_empty(&cohort->acquisitions) && pdk__list_empty(&cohort->turns.queue) && cohort->failed == NULL);
    pdk__list_remove(&cohort->deferred.link);
    pdk__list_remove(&cohort->link);
    if (cohort == &k->alone)
        return;
    pdk__free(cohort->copy);
    pdk__free(cohort);
}
