/*
 * Identity: the data of a lock node, which tell people which program created it. A JSON object:
 *
 *     {"host":"db7","pid":4711,"thread":4715,"label":"nightly","confirmed":true,"lock_delay_ms":5000}
 *
 * The last two are there when they are set, and so is "limit", the permits of a semaphore: contenders of one path
 * should agree in them. "machine" tells where the number of the process counts, "under" is the node that is held while
 * this process runs, by the command that runs it.
 *
 * Curator puts the bare address of its host there; that is read as a host.
 */
#ifndef PDK__IDENTITY_H
#define PDK__IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ours have at most so many bytes: what is longer is a program's own data. */
enum { PDK__IDENTITY_MAX = 4096 };

enum { PDK__HOST_MAX = 256, PDK__LABEL_MAX = 256, PDK__MACHINE_MAX = 17, PDK__UNDER_MAX = 64 };

struct pdk__identity {
    char host[PDK__HOST_MAX];
    char label[PDK__LABEL_MAX];
    int64_t pid;
    int64_t thread;
    bool confirmed;                 /* its grants are confirmed */
    int64_t lock_delay_ms;          /* 0: none */
    int64_t limit;                  /* the permits of the semaphore; 0: it is none */
    char machine[PDK__MACHINE_MAX]; /* 16 hexadecimal digits; "": not known */
    char under[PDK__UNDER_MAX];     /* the name of a node; "": none */
};

/* The identity of the calling thread; LABEL is cut to fit. */
void pdk__identity_own(struct pdk__identity *identity, const char *label);

/* The calling thread's number, as the identity has it. */
int64_t pdk__identity_thread(void);

/* A number of a process counts in one PID namespace, and until the machine starts again: a digest of both, which other
 * machines do not have. "" where /proc does not tell. */
void pdk__identity_machine(char machine[PDK__MACHINE_MAX]);

/* The node that paddock(1) holds while it runs this process, by the environment; "": none. */
void pdk__identity_under(char under[PDK__UNDER_MAX]);

/* Did the process of IDENTITY run on this machine, and has it ended? false when that is not proven. */
bool pdk__identity_dead(const struct pdk__identity *identity);

/* As the node's data; caller frees with pdk__free. NULL when memory is out. */
char *pdk__identity_format(const struct pdk__identity *identity);

/* VALUE, which may be cut, as JSON. */
struct json_t *pdk__identity_text(const char *value);

/* Read the identity from DATA, which any client may have written. Missing members become empty text and 0. */
void pdk__identity_parse(struct pdk__identity *identity, const char *data, size_t size);

#endif
