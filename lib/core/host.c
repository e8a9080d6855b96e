#include "lib/core/host.h"
#include <string.h>

/* The colon before the port: the last one, but none inside brackets. */
static const char *find_colon(const char *entry, int n)
{
    while (n > 0 && entry[n - 1] != ':' && entry[n - 1] != ']')
        n--;
    bool found = n > 0 && entry[n - 1] == ':' && (entry[0] != '[' || (n > 2 && entry[n - 2] == ']'));
    return found ? entry + n - 1 : NULL;
}

bool pdk__host_next(const char **at, struct pdk__host *host)
{
    const char *entry = *at + strspn(*at, ", ");
    int n = (int)strcspn(entry, ",/");
    *at = entry + n;
    if (n == 0)
        return false;
    const char *colon = find_colon(entry, n);
    *host = (struct pdk__host){.entry = entry, .n_entry = n, .name = entry, .n_name = n, .port = entry + n};
    if (colon == NULL)
        return true;
    host->port = colon + 1;
    host->n_port = (int)(entry + n - host->port);
    host->n_name = (int)(colon - entry);
    if (entry[0] == '[') {
        host->name++;
        host->n_name -= 2;
    }
    return true;
}
