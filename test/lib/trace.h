/*
 * Traces: what each machine of the core was told, and what it did, for test/model/trace, which asks its models whether
 * they could have done the same. The machines' functions are wrapped by the linker: what ships knows nothing of it.
 */
#ifndef PDK__TEST_TRACE_H
#define PDK__TEST_TRACE_H

#include <stdint.h>
#include <stdio.h>

/* Where to; NULL: nowhere. And of which seed. The machines of a process take their steps one after another. */
extern FILE *trace_out;
extern uint64_t trace_seed;

/* The tick of the servers, for the session that begins now. A program that writes a trace has it. */
int trace_tick_ms(void);

#endif
