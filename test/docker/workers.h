/*
 * The clients of a fault test: processes of test/lib/worker.c, each in a place of its own on the clients' network
 * (see docker/fault), that obey orders and write down what happens to them.
 *
 * Used by one thread. A call that cannot do its work fails the test. MS is a limit, as in CHECK_WITHIN.
 */
#ifndef PDK__TEST_WORKERS_H
#define PDK__TEST_WORKERS_H

#include "test/lib/history.h"

enum { WORKERS_MAX = 64, WORKERS_PLACES = 8 };

/* Begin without workers; they will contend for PATH. Workers that a failed test has left are ended. */
void workers_begin(const char *path);

/* Start a process with a session of SESSION_MS. Returns its number, from 0. Waits until it is connected. */
int workers_hire(int session_ms);
int workers_hire_to(const char *hosts, int session_ms); /* that knows no servers but HOSTS */

/* The number of its place, for docker/fault. */
int workers_place(int who);

/* End it, in peace: its session is closed. Its place is free again, its number is not used again. */
void workers_dismiss(int who);

/* End all of them, by SIGKILL; they are forgotten. */
void workers_end(void);

/* The same after a failure: prints what happened to each at last. */
void workers_abandon(void);

/* Give an order; see test/lib/worker.c. Has it carried out all of its orders? */
void workers_order(int who, const char *order);
bool workers_rests(int who);

/* How often WHAT has happened to the worker so far; and the last such event, or NULL. Borrowed until its end. WHAT is
 * "connected", "suspended", "waiting", "granted", "failed", "held", "suspect", "lost", "state" or "released". */
size_t workers_count(int who, const char *what);
const struct record *workers_last(int who, const char *what);

/* Wait until WHAT has happened N times in all; returns the last. */
struct record workers_await(int who, const char *what, size_t n, int ms);

/* Give an order, wait until WHAT has happened once more than before. */
struct record workers_do(int who, const char *order, const char *what, int ms);

/* Did the grants of all of them obey the laws of test/chaos/findings.h? */
void workers_judge(void);

#endif
