/*
 * Identity: what the data of a lock node tells people about who made it. A JSON object:
 *
 *     {"host":"db7","pid":4711,"thread":4715,"label":"nightly"}
 *
 * Curator puts the bare address of its host there; that is read as a host.
 */
#ifndef PDK__IDENTITY_H
#define PDK__IDENTITY_H

#include <stddef.h>
#include <stdint.h>

enum { PDK__HOST_MAX = 256, PDK__LABEL_MAX = 256 };

struct pdk__identity {
    char host[PDK__HOST_MAX];
    char label[PDK__LABEL_MAX];
    int64_t pid;
    int64_t thread;
};

/* The identity of the calling thread; LABEL is cut to fit. */
void pdk__identity_own(struct pdk__identity *identity, const char *label);

/* As the node's data; caller frees with pdk__free. NULL when memory is out. */
char *pdk__identity_format(const struct pdk__identity *identity);

/* What DATA, which anybody may have written, tells: empty text and 0 for what it does not. */
void pdk__identity_parse(struct pdk__identity *identity, const char *data, size_t size);

#endif
