#include "test/docker/history.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_start(const void *a, const void *b)
{
    const struct pdk__span *x = a, *y = b;
    return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

static const char *flaw(const char *what, const struct pdk__span *a, const struct pdk__span *b)
{
    static char text[400];
    snprintf(text, sizeof text,
             "%s: %s, token %" PRId64 ", from %" PRId64 " us to %" PRId64 " us; %s, token %" PRId64 ", from %" PRId64
             " us",
             what, a->who, a->token, a->from_ns / 1000, a->until_ns / 1000, b->who, b->token, b->from_ns / 1000);
    return text;
}

/* A is the span that ends last of those that began before B: it may outlast several that follow it. */
const char *pdk__history_flaw(struct pdk__span *spans, size_t n)
{
    if (n > 0) /* qsort may not be given NULL, not even for nothing */
        qsort(spans, n, sizeof *spans, by_start);
    const struct pdk__span *last = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct pdk__span *now = &spans[i], *before = i > 0 ? &spans[i - 1] : NULL;
        if (now->token <= 0)
            return flaw("no token", now, now);
        if (before != NULL && before->token > now->token)
            return flaw("the token fell", before, now);
        if (before != NULL && before->token == now->token && strcmp(before->who, now->who) != 0)
            return flaw("one token, two holders", before, now);
        if (last != NULL && last->token != now->token && last->until_ns > now->from_ns)
            return flaw("two holders", last, now);
        if (last == NULL || now->until_ns > last->until_ns)
            last = now;
    }
    return NULL;
}
