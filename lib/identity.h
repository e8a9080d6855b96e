/*
 * Identity: the data of a lock node, which tell people which program created it. A JSON object:
 *
 *     {"host":"db7","pid":4711,"thread":4715,"label":"nightly","confirmed":true,"lock_delay_ms":5000}
 *
 * The last two are there when they are set, and so is "limit", the permits of a semaphore: contenders of one path
 * should agree in them.
 *
 * Curator puts the bare address of its host there; that is read as a host.
 */
#ifndef PDK__IDENTITY_H
#define PDK__IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PDK__HOST_MAX = 256, PDK__LABEL_MAX = 256 };

struct pdk__identity {
    char host[PDK__HOST_MAX];
    char label[PDK__LABEL_MAX];
    int64_t pid;
    int64_t thread;
    bool confirmed;        /* its grants are confirmed */
    int64_t lock_delay_ms; /* 0: none */
    int64_t limit;         /* the permits of the semaphore; 0: it is none */
};

/* The identity of the calling thread; LABEL is cut to fit. */
void pdk__identity_own(struct pdk__identity *identity, const char *label);

/* As the node's data; caller frees with pdk__free. NULL when memory is out. */
char *pdk__identity_format(const struct pdk__identity *identity);

/* Read the identity from DATA, which any client may have written. Missing members become empty text and 0. */
void pdk__identity_parse(struct pdk__identity *identity, const char *data, size_t size);

#endif
