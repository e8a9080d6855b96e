/* The list of servers: "h1:2181,[fd00::1]:2181/chroot". */
#ifndef PDK__HOST_H
#define PDK__HOST_H

#include <stdbool.h>

/* Parts of the list. The name has no brackets. The port is the text after the last colon; an entry without a port is
 * all name. */
struct pdk__host {
    const char *entry, *name, *port;
    int n_entry, n_name, n_port;
};

/* The next entry of the list at *AT, which moves on; false at the list's end, which is a chroot or the text's end.
 * ZooKeeper's client passes over empty entries, and spaces before a name, so they count for nothing here. */
bool pdk__host_next(const char **at, struct pdk__host *host);

#endif
