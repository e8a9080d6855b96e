#include "lib/zk/index.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include <string.h>

/* FNV-1a. Other clients choose some of the names: the seed is not known to them. */
static uint64_t hash(const struct pdk__index *x, const char *path)
{
    uint64_t state = UINT64_C(0xcbf29ce484222325) ^ x->seed;
    for (; *path != '\0'; path++)
        state = (state ^ (unsigned char)*path) * UINT64_C(0x100000001b3);
    return state ^ state >> 32;
}

static struct pdk__list *chain_of(const struct pdk__index *x, uint64_t h) { return &x->chains[h & (x->n_chains - 1)]; }

static struct pdk__index_entry *entry_at(struct pdk__list *link)
{
    return PDK__MEMBER(link, struct pdk__index_entry, link);
}

static void init_chains(struct pdk__index *x, struct pdk__list *chains, size_t n)
{
    for (size_t i = 0; i < n; i++)
        pdk__list_init(&chains[i]);
    x->chains = chains;
    x->n_chains = n;
}

void pdk__index_init(struct pdk__index *x, uint64_t seed)
{
    *x = (struct pdk__index){.seed = seed};
    init_chains(x, x->few, PDK__INDEX_FEW);
}

void pdk__index_end(struct pdk__index *x)
{
    assert(x->n == 0 && !x->walking);
    if (x->chains != x->few)
        pdk__free(x->chains);
}

/* --- entries ----------------------------------------------------------------------------------------------------- */

/* The order within a chain stays. */
static void grow(struct pdk__index *x)
{
    struct pdk__list *old = x->chains;
    size_t n_old = x->n_chains;
    struct pdk__list *chains = pdk__alloc(2 * n_old * sizeof *chains);
    if (chains == NULL)
        return;
    init_chains(x, chains, 2 * n_old);
    for (size_t i = 0; i < n_old; i++) {
        PDK__LIST_EACH (link, &old[i]) {
            pdk__list_remove(link);
            pdk__list_append(chain_of(x, entry_at(link)->hash), link);
        }
    }
    if (old != x->few)
        pdk__free(old);
}

void pdk__index_note(struct pdk__index *x, struct pdk__index_entry *entry, struct pdk__member *member, const char *path)
{
    pdk__index_drop(x, entry);
    if (path == NULL)
        return;
    if (x->n >= x->n_chains && !x->walking) /* a walk has its place in a chain */
        grow(x);
    *entry = (struct pdk__index_entry){.member = member, .path = path, .hash = hash(x, path), .turn = x->turn};
    pdk__list_append(chain_of(x, entry->hash), &entry->link);
    x->n++;
}

void pdk__index_drop(struct pdk__index *x, struct pdk__index_entry *entry)
{
    if (entry->path == NULL)
        return;
    assert(x->n > 0);
    pdk__list_remove(&entry->link);
    entry->path = NULL;
    x->n--;
}

/* --- finding ----------------------------------------------------------------------------------------------------- */

/* The mark of a walk has no path. */
static bool is(const struct pdk__index_entry *entry, uint64_t h, const char *path)
{
    return entry->path != NULL && entry->hash == h && strcmp(entry->path, path) == 0;
}

const struct pdk__index_entry *pdk__index_find(const struct pdk__index *x, const char *path,
                                               const struct pdk__index_entry *before)
{
    uint64_t h = before != NULL ? before->hash : hash(x, path);
    const struct pdk__list *chain = chain_of(x, h), *link = before != NULL ? before->link.next : chain->next;
    for (; link != chain; link = link->next) {
        const struct pdk__index_entry *entry = PDK__MEMBER(link, const struct pdk__index_entry, link);
        if (is(entry, h, path))
            return entry;
    }
    return NULL;
}

void pdk__index_walk(struct pdk__index *x, struct pdk__index_walk *walk, const char *path)
{
    assert(!x->walking);
    *walk = (struct pdk__index_walk){.path = path, .hash = hash(x, path)};
    struct pdk__list *chain = chain_of(x, walk->hash);
    pdk__list_append(chain->next, &walk->mark.link); /* before the first */
    x->walking = true;
    x->turn++;
}

struct pdk__member *pdk__index_next(struct pdk__index *x, struct pdk__index_walk *walk)
{
    struct pdk__list *chain = chain_of(x, walk->hash), *link = walk->mark.link.next;
    assert(x->walking);
    pdk__list_remove(&walk->mark.link);
    for (; link != chain; link = link->next) {
        struct pdk__index_entry *entry = entry_at(link);
        if (!is(entry, walk->hash, walk->path) || entry->turn == x->turn)
            continue;
        assert(entry->member != NULL);
        pdk__list_append(link->next, &walk->mark.link);
        return entry->member;
    }
    x->walking = false;
    return NULL;
}
