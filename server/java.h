/* Java, the server's jar, and the command line to run the one on the other. */
#ifndef PDK__SERVER_JAVA_H
#define PDK__SERVER_JAVA_H

#include "server/keeper.h"
#include "server/throwaway.h"

/* Open a keeper that can run a server with these options (defaults filled in), whose configuration is "zoo.cfg" in
 * the keeper's directory. 0, or -1 with pdk__server_error(). */
int pdk__java_open(struct pdk__keeper *k, const struct pdk__server_options *o);

/* Set pdk__server_error(); returns -1. */
int pdk__server_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
