#include "recipes/node_data.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/identity.h"
#include <stdio.h>
#include <string.h>

static char *format(const pdk_lock_options *options, unsigned limit, const struct pdk_client *c)
{
    struct pdk__identity identity;
    pdk__identity_own(&identity, c->options.label);
    identity.confirmed = options->conditions.confirmed;
    identity.lock_delay_ms = options->conditions.lock_delay_ms;
    identity.limit = limit;
    memcpy(identity.machine, c->options.machine, sizeof identity.machine);
    memcpy(identity.under, c->options.under, sizeof identity.under);
    return pdk__identity_format(&identity);
}

/* --- the usual identity ------------------------------------------------------------------------------------------ */

/* It says nothing of the object: only the thread's number differs from one request of a client to the next. */
static bool usual(const pdk_lock_options *options, unsigned limit)
{
    return !options->conditions.confirmed && options->conditions.lock_delay_ms == 0 && limit == 0;
}

/* A quote inside a text is escaped, so that the first one of these is the member. */
static const char THREAD[] = "\"thread\":";

/* Keep TEXT, of any thread, in two halves, without the number. */
static void split(struct pdk_client *c, char *text)
{
    char *number = strstr(text, THREAD);
    assert(number != NULL);
    number += strlen(THREAD);
    c->identity = text;
    c->identity_rest = number + strspn(number, "0123456789");
    *number = '\0';
}

static char *join(const struct pdk_client *c)
{
    enum { NUMBER_MAX = 20 };
    size_t size = strlen(c->identity) + NUMBER_MAX + strlen(c->identity_rest) + 1;
    char *text = pdk__alloc(size);
    if (text != NULL)
        snprintf(text, size, "%s%lld%s", c->identity, (long long)pdk__identity_thread(), c->identity_rest);
    return text;
}

static char *format_usual(const pdk_lock_options *options, struct pdk_client *c)
{
    char *text = c->identity == NULL ? format(options, 0, c) : NULL;
    if (text != NULL)
        split(c, text);
    return c->identity != NULL ? join(c) : NULL;
}

char *pdk__node_data_make(const pdk_lock_options *options, unsigned limit, struct pdk_client *c, size_t *size)
{
    assert(pdk__client_locked(c));
    if (options->data != NULL) {
        *size = options->data_size;
        return pdk__memdup(options->data, options->data_size);
    }
    char *text = usual(options, limit) ? format_usual(options, c) : format(options, limit, c);
    *size = text != NULL ? strlen(text) : 0;
    return text;
}
