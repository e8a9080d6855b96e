/*
 * Traces: what each machine of the core was told, and what it did, for test/model/trace, which asks its models whether
 * they could have done the same. The machines' functions are wrapped by the linker: what ships knows nothing of it.
 */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include <stdint.h>
#include <stdio.h>

/* Where to; NULL: nowhere. And of which seed. */
extern FILE *trace_out;
extern uint64_t trace_seed;

#endif
