/* A copy of a client's statistics, for the program. */
#include "lib/alloc.h"
#include "lib/zk/client.h"

int pdk_client_stats(pdk_client *c, pdk_stats **stats)
{
    if (c == NULL || stats == NULL)
        return PDK_EINVAL;
    pdk_stats *copy = pdk__alloc(sizeof *copy);
    if (copy == NULL)
        return PDK_ENOMEM;
    int rc = pdk__client_enter(c);
    if (rc != 0) {
        pdk__free(copy);
        return rc;
    }
    *copy = c->stats;
    pdk__client_leave(c);
    *stats = copy;
    return 0;
}
