/*
 * One worker of the bench: a process that takes orders as lines, and works on one system of locks.
 *
 * An order is "VERB KEY=VALUE...". The worker connects, makes its lock objects, takes each lock once, and answers
 * "prepared". On the next line, "go", it works, and answers "result KEY=VALUE...", or "error TEXT". The workers in
 * other languages speak the same, so that each system is measured by the same order.
 *
 *   cycle    THREADS threads lock and unlock for MS milliseconds, after WARM milliseconds that do not count. OWN=1: a
 *            path each. SHARE=1: one lock object for all threads. The threads are dealt out to CLIENTS sessions.
 *            HOLD=N: each works N milliseconds under the lock; a worker in C alone knows it.
 *   waiters  N requests queue on one path while the lock is held; it is released, and each waiter unlocks at once.
 *   held     one thread locks and unlocks for MS milliseconds while its client holds N other locks.
 *   idle     one lock is held for MS milliseconds, and nothing else is done.
 *   look     calls that send no request; nanoseconds each.
 *
 * The worker ends with its input.
 */
#ifndef BENCH_WORKER_H
#define BENCH_WORKER_H

#include <stdbool.h>

struct worker_system {
    /* A session at WHERE; it is connected. NULL: each lock has a connection of its own. */
    void *(*connect)(const char *where);
    void (*disconnect)(void *client);

    /* CONTENDED: other locks have the same path. */
    void *(*lock_new)(void *client, const char *path, bool contended);
    void (*lock_free)(void *lock);
    void (*lock)(void *lock);
    void (*unlock)(void *lock);

    /* Queue without a thread: GRANTED(ARG) is called once, on any thread, and the lock unlocked by the system without
     * waiting; DONE(ARG) is called when it is. NULL: each waiter is a thread. */
    void (*queue)(void *lock, void (*granted)(void *arg), void (*done)(void *arg), void *arg);
    bool (*is_queued)(void *lock); /* NULL: it is given time instead */

    /* Nanoseconds of a call that sends no request, N of them; 0: there is no such call by that NAME. NULL: none. */
    double (*look)(void *lock, const char *name, int n);
};

/* A system that fails ends the worker, with "error TEXT" as its last line. */
void worker_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Where the system is: the first argument. Options follow, as KEY=VALUE: a text, or NULL; a number, or ABSENT. */
const char *worker_text(const char *name);
long worker_option(const char *name, long absent);

double worker_now(void); /* seconds */

int worker_main(int argc, char **argv, const struct worker_system *system);

#endif
