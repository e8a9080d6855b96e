/*
 * Three ZooKeeper servers on this machine that flush what they write, in a temporary directory of each. However the
 * program ends, they end with it and their directories are removed (server/keeper.h). For one thread.
 */
#ifndef BENCH_TRIO_H
#define BENCH_TRIO_H

#include <stdbool.h>

enum { TRIO = 3 };

/* Start them and wait until they grant sessions. False: no server is to be had, and pdk__server_error() tells why. */
bool trio_start(int tick_ms);
void trio_end(void);

const char *trio_hosts(void);

int trio_leader(void);

int trio_port(int i);

void trio_kill(int i);
void trio_restart(int i); /* it does not wait */
void trio_await(int i);   /* until it grants sessions */

#endif
