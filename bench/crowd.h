/* Shared by the parts of bench/crowd. */
#ifndef BENCH_CROWD_H
#define BENCH_CROWD_H

#include <stdbool.h>
#include <stddef.h>

/* Prints {"error": TEXT} and ends the program; the servers end with it. */
void crowd_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* RC is 0, or the program fails. */
void crowd_check(int rc, const char *what);

double crowd_now(void); /* seconds */
void crowd_nap(double seconds);

/* The number that was given as NAME=NUMBER, or its default. */
long crowd_key(const char *name);

/* Memory that is all 0. */
void *crowd_allocate(size_t n, size_t size);

#endif
