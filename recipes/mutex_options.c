#include "lib/alloc.h"
#include "recipes/mutex.h"

enum { DATA_MAX = 65536, LOCK_DELAY_MAX_MS = 86400000 };

pdk_mutex_options *pdk_mutex_options_new(void) { return pdk__alloc(sizeof(pdk_mutex_options)); }

void pdk_mutex_options_free(pdk_mutex_options *o)
{
    if (o == NULL)
        return;
    pdk__free(o->data);
    pdk__free(o);
}

int pdk_mutex_options_set_data(pdk_mutex_options *o, const void *data, size_t size)
{
    if (o == NULL || (data == NULL && size > 0) || size > DATA_MAX)
        return PDK_EINVAL;
    void *copy = pdk__memdup(data, size);
    if (copy == NULL)
        return PDK_ENOMEM;
    pdk__free(o->data);
    o->data = copy;
    o->data_size = size;
    return 0;
}

int pdk_mutex_options_set_min_token(pdk_mutex_options *o, int64_t min_token)
{
    if (o == NULL || min_token < 0)
        return PDK_EINVAL;
    o->conditions.min_token = min_token;
    return 0;
}

int pdk_mutex_options_set_confirmed(pdk_mutex_options *o, bool confirmed)
{
    if (o == NULL)
        return PDK_EINVAL;
    o->conditions.confirmed = confirmed;
    return 0;
}

int pdk_mutex_options_set_lock_delay_ms(pdk_mutex_options *o, int delay_ms)
{
    if (o == NULL || delay_ms < 0 || delay_ms > LOCK_DELAY_MAX_MS)
        return PDK_EINVAL;
    o->conditions.lock_delay_ms = delay_ms;
    return 0;
}
