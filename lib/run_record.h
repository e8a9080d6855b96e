/*
 * The record of a job's runs, as JSON, which any client may have written:
 *
 * {"paddock": 1, "last": RUN, "done": RUN, "keys": ["the newest", ...]}
 *
 * A RUN has "key", "period_ms", "host", "pid", "label", "token", "begun_ms", "ended_ms" and "status". One without
 * begun_ms began at the node's mtime; one with a status and without ended_ms ended then. So the servers tell both
 * times: each is left out by the write that is it, and filled in by the next write.
 */
#ifndef PDK__RUN_RECORD_H
#define PDK__RUN_RECORD_H

#include "lib/core/once.h"
#include "lib/identity.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PDK__RUN_KEYS = 128, PDK__RUNS_BYTES_MAX = 65536 };

struct pdk__run {
    char key[PDK__RUN_KEY_MAX + 1]; /* "": it has a period */
    int64_t period_ms;
    char host[PDK__HOST_MAX];
    char label[PDK__LABEL_MAX];
    int64_t pid;
    int64_t token; /* 0: there is no such run */
    int64_t begun_ms, ended_ms;
    int status; /* -1: no end is recorded */
};

struct pdk__runs {
    struct pdk__run last, done;
    unsigned n_keys;
    char keys[PDK__RUN_KEYS][PDK__RUN_KEY_MAX + 1]; /* of the runs that count; the newest first */
};

/* Of a new record. */
void pdk__runs_init(struct pdk__runs *runs);

/* Read DATA of a node that was written last at MTIME_MS; no data are a new record. NULL, or why it is none. */
const char *pdk__runs_parse(struct pdk__runs *runs, const char *data, size_t size, int64_t mtime_ms);

/* As the node's data; the caller frees them with pdk__free(). NULL when memory is out. */
char *pdk__runs_format(const struct pdk__runs *runs);

/* RUN begins, with this write. COUNTS: from its beginning on. */
void pdk__runs_begin(struct pdk__runs *runs, const struct pdk__run *run, bool counts);

/* The last run ends with STATUS, with this write. COUNTS: it is done. */
void pdk__runs_end(struct pdk__runs *runs, int status, bool counts);

bool pdk__runs_have(const struct pdk__runs *runs, const char *key);

#endif
