/* An example at work, in a process group of its own, and the server that it speaks to. */
#ifndef PDK__INTEGRATION_EXAMPLE_H
#define PDK__INTEGRATION_EXAMPLE_H

#include "server/throwaway.h"
#include "test/lib/program.h"

extern pdk__server *server;
extern char hosts[32]; /* the server's address */
extern struct program example;

/* Start examples/ARGV[0], its output captured. Ends the one before. */
void example_start(const char *const *argv);

/* Start the server; end it after the example that still runs. For pdk__test_suite. */
void example_set_up(void);
void example_tear_down(void);

#endif
