/*
 * The library's allocations (lib/alloc.h), from an arena of the run: a process that dies frees nothing, and at the end
 * of the run all of it goes. An allocation fails where the world has no memory for its clients.
 */
#include "lib/alloc.h"
#include "lib/list.h"
#include "test/sim/world.h"
#include <stdlib.h>
#include <string.h>

enum { ARENA = 64 << 20, CLASSES = 24, STEP = 64 };

/* Before each piece: its size, whose it is, and its place among the free ones. */
struct piece {
    size_t size;
    int owner;          /* a client */
    const void *caller; /* NULL: free */
    struct piece *next;
};

static struct world *world;
static char *arena;
static size_t used;
static struct piece *free_pieces[CLASSES];
static int n_live[CLIENTS_MAX];

static size_t rounded(size_t size) { return (size + sizeof(struct piece) + STEP - 1) / STEP * STEP; }

static struct piece **class_of(size_t size)
{
    size_t class = size / STEP;
    return class < CLASSES ? &free_pieces[class] : NULL;
}

static struct piece *take(size_t size)
{
    struct piece **class = class_of(size);
    if (class != NULL && *class != NULL) {
        struct piece *piece = *class;
        *class = piece->next;
        return piece;
    }
    if (used + size > ARENA) {
        fputs("sim: the arena is full\n", stderr);
        abort();
    }
    struct piece *piece = (struct piece *)(void *)(arena + used);
    used += size;
    return piece;
}

void *pdk__alloc(size_t size)
{
    if (world_starves(world))
        return NULL;
    struct piece *piece = take(rounded(size));
    piece->size = rounded(size);
    piece->owner = fiber_now->owner->id;
    piece->caller = __builtin_return_address(0);
    n_live[piece->owner]++;
    return memset(piece + 1, 0, size);
}

/* Memory that is used after it was freed shall not look right. */
void pdk__free(void *memory)
{
    if (memory == NULL)
        return;
    struct piece *piece = (struct piece *)memory - 1;
    struct piece **class = class_of(piece->size);
    size_t size = piece->size;
    memset(memory, 0x5a, size - sizeof *piece);
    piece->caller = NULL;
    n_live[piece->owner]--;
    if (class == NULL)
        return;
    piece->next = *class;
    *class = piece;
}

void *pdk__memdup(const void *data, size_t size)
{
    char *copy = pdk__alloc(size + 1);
    if (copy != NULL && size > 0)
        memcpy(copy, data, size);
    return copy;
}

char *pdk__strdup(const char *text) { return pdk__memdup(text, strlen(text)); }

char *pdk__join(const char *path, const char *name)
{
    size_t length = strlen(path), rest = strlen(name);
    char *joined = pdk__alloc(length + rest + 2);
    if (joined == NULL)
        return NULL;
    memcpy(joined, path, length);
    joined[length] = '/';
    memcpy(joined + length + 1, name, rest);
    return joined;
}

int memory_live(const struct client *c) { return n_live[c->id]; }

void memory_tell(const struct client *c)
{
    for (size_t at = 0; at < used; at += ((struct piece *)(void *)(arena + at))->size) {
        const struct piece *piece = (struct piece *)(void *)(arena + at);
        if (piece->caller != NULL && piece->owner == c->id)
            STORY(world, "%zu bytes are left, asked for at %p", piece->size, piece->caller);
    }
}

void memory_begin(struct world *w)
{
    world = w;
    if (arena == NULL && (arena = malloc(ARENA)) == NULL)
        abort();
    used = 0;
    memset(n_live, 0, sizeof n_live);
    memset(free_pieces, 0, sizeof free_pieces);
}
