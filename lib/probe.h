/*
 * Static probes, for bpftrace(8) and the like: points of the library with a name and arguments, which cost one
 * instruction that does nothing until a tracer asks for them. Where configure finds no <sys/sdt.h> there are none.
 *
 * The names and the arguments are an interface, which paddock(1) has: a probe may be added, and an argument at the end.
 */
#ifndef PDK__PROBE_H
#define PDK__PROBE_H

#include "config.h"

#ifdef HAVE_SYS_SDT_H
#include <sys/sdt.h>
#define PDK__PROBE1(name, a) DTRACE_PROBE1(paddock, name, a)
#define PDK__PROBE2(name, a, b) DTRACE_PROBE2(paddock, name, a, b)
#define PDK__PROBE3(name, a, b, c) DTRACE_PROBE3(paddock, name, a, b, c)
#else
#define PDK__PROBE1(name, a) ((void)(a))
#define PDK__PROBE2(name, a, b) ((void)(a), (void)(b))
#define PDK__PROBE3(name, a, b, c) ((void)(a), (void)(b), (void)(c))
#endif

#endif
