/*
 * The terms of one candidate, in a mapped file that survives its death: when each term began, and when it last led. The
 * candidate takes a stamp, then asks whether it leads, and only then records the stamp.
 */
#ifndef SHOW_TERMS_H
#define SHOW_TERMS_H

#include <stdatomic.h>
#include <stdint.h>

enum { TERMS_MAX = 4096 };

struct term {
    _Atomic int64_t token, first_ns, last_ns;
    _Atomic int64_t ended_ns; /* it had stopped; 0: it leads, or was killed while it led */
};

struct terms {
    _Atomic int64_t wish; /* not 0: come to an end */
    _Atomic int64_t n;    /* terms that have begun */
    struct term all[TERMS_MAX];
};

/* Create FILE and map it, or map an existing one. NULL with errno. */
struct terms *terms_create(const char *file);
struct terms *terms_open(const char *file);
void terms_close(struct terms *t);

/* The term that has not ended, or NULL. */
struct term *terms_now(struct terms *t);

#endif
