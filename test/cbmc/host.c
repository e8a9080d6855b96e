/*
 * Any list of servers is read in its bounds, to its end. A part is the most bytes that it has.
 */
#include "lib/core/host.h"
#include "test/cbmc/prove.h"
#include <string.h>

static char list[PART + 1];

static bool inside(const char *at, int n, const struct pdk__host *h)
{
    return n >= 0 && at >= h->entry && at + n <= h->entry + h->n_entry;
}

static void prove_entry(const struct pdk__host *h)
{
    PROVE(h->n_entry > 0 && h->entry >= list && h->entry + h->n_entry <= list + strlen(list),
          "an entry is of the list");
    PROVE(inside(h->name, h->n_name, h) && inside(h->port, h->n_port, h), "a name and a port are of the entry");
    PROVE(h->n_port == 0 || h->port[-1] == ':', "a port is after a colon");
    PROVE(h->name + h->n_name <= h->port, "a name is before the port");
    PROVE(h->name == h->entry || (h->name[-1] == '[' && h->name[h->n_name] == ']'), "a name is without its brackets");
    for (int i = 0; i < h->n_entry; i++)
        PROVE(h->entry[i] != ',' && h->entry[i] != '/', "an entry is one");
    for (int i = 0; i < h->n_port; i++)
        PROVE(h->port[i] != ':', "a port is after the last colon");
    REACH(h->n_port == 2 && h->name == h->entry + 1);
    REACH(h->n_port == 0);
}

int main(void)
{
    for (int i = 0; i < PART; i++)
        list[i] = nondet_char();
    const char *at = list;
    struct pdk__host host;
    for (int n = 0; pdk__host_next(&at, &host); n++) {
        PROVE(at == host.entry + host.n_entry, "the list goes on after the entry");
        prove_entry(&host);
        REACH(n == 2);
    }
    PROVE(*at == '\0' || *at == '/', "the list is read to its end, or to a chroot");
}
