/*
 * The clients of a test or a show: processes that contend for locks, each with a history of its acts
 * (test/lib/history.h) that the laws of test/chaos/findings.h judge.
 *
 * Used by one thread. A call that cannot do its work fails the test. MS is a limit, as in CHECK_WITHIN.
 */
#ifndef PDK__TEST_WORKERS_H
#define PDK__TEST_WORKERS_H

#include "test/chaos/evidence.h"
#include "test/lib/history.h"

enum { WORKERS_PLACES = 8, FREE_PLACE = -1 };

/* A program on the library (test/lib/worker.c), a program on Curator, or a command that runs a child. A bare client of
 * ZooKeeper's has no history, and does nothing. */
enum kind { PROGRAM, CURATOR, COMMAND, BARE };

struct job {
    enum kind kind;
    int place; /* a place of docker/fault; FREE_PLACE: one that no worker is in; 0: this machine */
    const char *hosts, *path;
    int session_ms;
    int question_ms;   /* how often it asks, or works; 0: as the worker does */
    const char *craft; /* of a program; NULL: a mutex */
    uint64_t seed;     /* of a program that acts by dice; 0: it takes orders */
    const char *verb;  /* of a command: "lock" or "elect" */
};

/* The number in the environment variable NAME; OTHERWISE when it is not set. */
int workers_number(const char *name, int otherwise);

/* False when Curator is not installed, which is printed once; when the command does not know VERB. */
bool workers_can(enum kind kind, const char *verb);

/* Begin without workers; those that workers_hire() starts will contend for PATH. Those that a failed test has left are
 * ended. */
void workers_begin(const char *path);

/* The path of the file NAME in a directory that workers_leave() deletes. */
void workers_file(const char *name, char *file, size_t size);

/* Start a process. Returns its number, from 0. */
int workers_start(const struct job *job);

/* The same in a free place, with a session of SESSION_MS; it takes orders. Waits until it is connected. */
int workers_hire(int session_ms);
int workers_hire_to(const char *hosts, int session_ms); /* that knows no servers but HOSTS */

/* How many there are. */
int workers_size(void);

/* The number of its place, for docker/fault; its history, NULL without; does it run; when it was killed, 0: never. */
int workers_place(int who);
struct history *workers_history(int who);
bool workers_run(int who);
int64_t workers_killed_ns(int who);

/* End it, in peace: its lock is released, and its session is closed. Its place is free again, its number is not used
 * again. */
void workers_dismiss(int who);

/* End it by SIGKILL. SIGSTOP or SIGCONT, to the process that keeps the lock. */
void workers_kill(int who);
void workers_signal(int who, int signal);

/* End all of them, by SIGKILL; they are forgotten. And delete the directory, for the teardown. */
void workers_end(void);
void workers_leave(void);

/* workers_leave() after a failure: prints what happened to each at last. */
void workers_abandon(void);

/* Give an order; see test/lib/worker.c. Has it carried out all of its orders? */
void workers_order(int who, const char *order);
bool workers_rests(int who);

/* It has held a lock, and has lost it: it was notified, has ended, or waits again. */
bool workers_stopped(int who);

/* How often WHAT has happened to the worker so far; and the last such event, or NULL. Borrowed until its end. WHAT is
 * "connected", "suspended", "waiting", "granted", "failed", "held", "suspect", "lost", "state", "released" or
 * "wrote". */
size_t workers_count(int who, const char *what);
const struct record *workers_last(int who, const char *what);

/* Wait until WHAT has happened N times in all; returns the last. */
struct record workers_await(int who, const char *what, size_t n, int ms);

/* Give an order, wait until WHAT has happened once more than before. */
struct record workers_do(int who, const char *order, const char *what, int ms);

/* Add the histories of N workers from FIRST on to the evidence, and settle it. */
void workers_testify(struct evidence *e, int first, int n);

/* Did the grants of those that were hired obey the laws that need no truth? */
void workers_judge(void);

#endif
