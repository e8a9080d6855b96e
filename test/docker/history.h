/*
 * The laws of a mutex, judged from the records of its holders.
 *
 * A span is a time during which a process believed that it held: from the grant, or from HELD reported again, until it
 * began to release, or SUSPECT or LOST was reported. One grant may have several.
 */
#ifndef PDK__TEST_HISTORY_H
#define PDK__TEST_HISTORY_H

#include <stddef.h>
#include <stdint.h>

struct pdk__span {
    const char *who;
    int64_t token;
    int64_t from_ns, until_ns; /* INT64_MAX: it never ended */
};

/*
 * NULL when the spans are lawful: no two of different grants overlap, and tokens never fall from one to the next in
 * time, nor has one token two holders. Otherwise the first breach, in words, static until the next call. Sorts
 * the spans.
 */
const char *pdk__history_flaw(struct pdk__span *spans, size_t n);

#endif
