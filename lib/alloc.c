#include "lib/alloc.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic(pdk__alloc_gate *) gate;

void pdk__alloc_set_gate(pdk__alloc_gate *asked) { atomic_store(&gate, asked); }

void *pdk__alloc(size_t size)
{
    pdk__alloc_gate *ask = atomic_load(&gate);
    return ask == NULL || ask(size) ? calloc(1, size) : NULL;
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

void pdk__free(void *memory) { free(memory); }
