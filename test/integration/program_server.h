/* The server that the examples speak to. */
#ifndef PDK__INTEGRATION_PROGRAM_SERVER_H
#define PDK__INTEGRATION_PROGRAM_SERVER_H

#include "lib/server/throwaway.h"

extern pdk__server *server;
extern char hosts[32]; /* where it is */

/* Start it, and end it after the example that still runs. For pdk__test_suite. */
void program_server_start(void);
void program_server_end(void);

#endif
