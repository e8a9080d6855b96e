/*
 * The clients of a fault test: processes of test/docker/worker.c, each in a place of its own on the clients' network
 * (see docker/fault), that obey orders and write down what happens to them.
 *
 * Used by one thread. A call that cannot do its work fails the test. MS is a limit, as in CHECK_WITHIN.
 */
#ifndef PDK__TEST_CREW_H
#define PDK__TEST_CREW_H

#include <stddef.h>
#include <stdint.h>

enum { PDK__CREW_MAX = 64, PDK__CREW_PLACES = 8 };

struct pdk__event {
    int64_t ns; /* CLOCK_MONOTONIC */
    char what[16];
    int64_t token, session;
    int rc;
};

/* A crew on lock PATH, with no worker in it yet. A crew that a failed test has left is ended. */
void pdk__crew_begin(const char *path);

/* Start a process with a session of SESSION_MS. Returns its number, from 0. Waits until it is connected. */
int pdk__crew_hire(int session_ms);
int pdk__crew_hire_to(const char *hosts, int session_ms); /* that knows no servers but HOSTS */

/* The number of its place, for docker/fault. */
int pdk__crew_place(int who);

/* End it, in peace: its session is closed. Its place is free again, its number is not used again. */
void pdk__crew_dismiss(int who);

/* End all of them, by SIGKILL; they are forgotten. */
void pdk__crew_end(void);

/* The same after a failure: prints what happened to each at last. */
void pdk__crew_abandon(void);

/* Give an order: "lock", "unlock", "state" or "run"; any ends a run. */
void pdk__crew_order(int who, const char *order);

/* How often WHAT has happened to the worker so far; and the last such event, or NULL. Borrowed until the next call. */
size_t pdk__crew_count(int who, const char *what);
const struct pdk__event *pdk__crew_last(int who, const char *what);

/* Wait until WHAT has happened N times in all; returns the last. */
struct pdk__event pdk__crew_await(int who, const char *what, size_t n, int ms);

/* Give an order, wait until WHAT has happened once more than before. */
struct pdk__event pdk__crew_do(int who, const char *order, const char *what, int ms);

/* Did the grants of all of them obey the laws of test/docker/history.h? */
void pdk__crew_judge(void);

#endif
