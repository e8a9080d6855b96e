#include "recipes/node_data.h"
#include "lib/alloc.h"
#include "lib/identity.h"
#include "paddock/error.h"
#include <string.h>

enum { DATA_MAX = 65536 };

int pdk__node_data_set(struct pdk__node_options *options, const void *data, size_t size)
{
    if ((data == NULL && size > 0) || size > DATA_MAX)
        return PDK_EINVAL;
    void *copy = pdk__memdup(data, size);
    if (copy == NULL)
        return PDK_ENOMEM;
    pdk__free(options->data);
    options->data = copy;
    options->data_size = size;
    return 0;
}

char *pdk__node_data_make(const struct pdk__node_options *options, const struct pdk_client *c, size_t *size)
{
    if (options->data != NULL) {
        *size = options->data_size;
        return pdk__memdup(options->data, options->data_size);
    }
    struct pdk__identity identity;
    pdk__identity_own(&identity, c->options.label);
    identity.confirmed = options->conditions.confirmed;
    identity.lock_delay_ms = options->conditions.lock_delay_ms;
    identity.limit = options->limit;
    char *text = pdk__identity_format(&identity);
    *size = text != NULL ? strlen(text) : 0;
    return text;
}
