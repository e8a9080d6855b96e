/*
 * The terms of one candidate, in a mapped file that survives its death: of each, when it began to lead, and when it did
 * so for the last time. It asks whether it leads, and only then says that it did at the moment before.
 */
#ifndef SHOW_TERMS_H
#define SHOW_TERMS_H

#include <stdatomic.h>
#include <stdint.h>

enum { TERMS_MAX = 4096 };

struct term {
    _Atomic int64_t token, first_ns, last_ns;
    _Atomic int64_t ended_ns; /* it had stopped; 0: it leads, or was killed when it did */
};

struct terms {
    _Atomic int64_t wish; /* not 0: come to an end */
    _Atomic int64_t n;    /* terms that have begun */
    struct term all[TERMS_MAX];
};

/* Make FILE and map it; or map one that exists. NULL with errno. */
struct terms *terms_create(const char *file);
struct terms *terms_open(const char *file);
void terms_close(struct terms *t);

/* The term that has not ended, or NULL. */
struct term *terms_now(struct terms *t);

#endif
