/*
 * The index: which members of a client a fired path concerns. A client can hold thousands of locks, and each unlock
 * fires a watch.
 *
 * It is a hash table of entries that their members own, so that to note a path cannot fail. Without memory for a larger
 * table the chains are longer. A path that several members watch has an entry for each.
 *
 * All with the client's lock held.
 */
#ifndef PDK__INDEX_H
#define PDK__INDEX_H

#include "lib/list.h"
#include <stdint.h>

struct pdk__member;

enum { PDK__INDEX_FEW = 16 };

/* Zero: not in the index. */
struct pdk__index_entry {
    struct pdk__list link;
    struct pdk__member *member;
    const char *path; /* borrowed; NULL: not in the index */
    uint64_t hash;
    uint64_t turn; /* it was noted in */
};

struct pdk__index {
    struct pdk__list few[PDK__INDEX_FEW]; /* the table at first */
    struct pdk__list *chains;
    size_t n_chains; /* a power of two */
    size_t n;        /* entries */
    uint64_t seed;
    uint64_t turn; /* the number of walks so far */
    bool walking;
};

void pdk__index_init(struct pdk__index *x, uint64_t seed);
void pdk__index_end(struct pdk__index *x);

/* Note that MEMBER watches PATH, which is borrowed until ENTRY is dropped or noted again. PATH may be NULL: as drop.
 * MEMBER may be NULL in an index that is not walked. */
void pdk__index_note(struct pdk__index *x, struct pdk__index_entry *entry, struct pdk__member *member,
                     const char *path);
void pdk__index_drop(struct pdk__index *x, struct pdk__index_entry *entry);

/* The entry for PATH after BEFORE, NULL for the first; NULL at the end. No entry may change in between. */
const struct pdk__index_entry *pdk__index_find(const struct pdk__index *x, const char *path,
                                               const struct pdk__index_entry *before);

/* A walk over the members that have noted PATH before it began. Entries may be noted and dropped meanwhile. */
struct pdk__index_walk {
    struct pdk__index_entry mark; /* in the chain, after the last entry that was visited */
    const char *path;
    uint64_t hash;
};

void pdk__index_walk(struct pdk__index *x, struct pdk__index_walk *walk, const char *path);

/* The next member; NULL: the walk is over. It must go on until then. */
struct pdk__member *pdk__index_next(struct pdk__index *x, struct pdk__index_walk *walk);

#endif
