/* ZooKeeper's error codes: the meaning of a reply with one for the request. */
#ifndef PDK__CODE_H
#define PDK__CODE_H

#include "lib/core/contender.h"
#include <stddef.h>

enum pdk__meaning {
    PDK__FINAL,   /* a server executed the request, or refused it; it would answer a repetition likewise */
    PDK__UNSURE,  /* the request may have been executed, or may yet be */
    PDK__NOT_DONE /* the request was not executed and will not be; the same may be asked again */
};

enum pdk__meaning pdk__meaning_of(int zrc);

/* The outcome of a request for the core, by ZooKeeper's code. For a request that was not executed it is unknown: the
 * core looks, and asks again. */
enum pdk__outcome pdk__outcome_of(int zrc);

/* The error that stands for a code: 0 for none, PDK_EUNKNOWN for a code that is not final. */
int pdk__error_of(int zrc);

/* A code in words: "a quota is exceeded (-125)". */
void pdk__code_describe(int zrc, char *buf, size_t size);

#endif
