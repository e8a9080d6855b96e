/*
 * The processes of a demo: programs that take orders, and commands. Each has a record of its work.
 *
 * Used by one thread. An error fails the test. All of the processes end with this process.
 */
#ifndef DEMO_DEMO_H
#define DEMO_DEMO_H

#include "test/demo/work.h"
#include "test/lib/program.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/* A program on the library, a program on Curator, or a command that runs a child. A bare client does no work. */
enum kind { PROGRAM, CURATOR, COMMAND, BARE };

struct demo_process {
    struct program program; /* with input, unless it is a command */
    struct work *work;
    char file[PATH_MAX];
};

/* The machine and the servers of a process. PLACE 0 is this machine, others are as in docker/fault. */
struct seat {
    int place, session_ms;
    const char *hosts;
};

/* The number in the environment variable NAME; OTHERWISE when it is not set. */
int demo_number(const char *name, int otherwise);

/* Once, before the rest. */
void demo_begin(void);

/* The path of the file NAME in a directory that demo_end() deletes. */
void demo_file(const char *name, char *file, size_t size);

/* False when Curator is not installed. The first call compiles CuratorHolder.java. */
bool demo_has_curator(void);
bool demo_can(const char *verb); /* the command knows it */

/* All processes have ended and their files are deleted when this returns. */
void demo_end(void);

/* Start a program, which then waits for orders; KIND is not COMMAND. */
void demo_start(struct demo_process *a, enum kind kind, const struct seat *seat);

/* Start a fenced store; SOCKET receives the path of its socket. */
void demo_store(struct demo_process *a, char *socket, size_t size);

/* New work under the lock PATH: by a running program, or by a command ("lock", "elect"). STORE: its socket, or NULL. */
void demo_order(struct demo_process *a, const char *path, const char *store);
void demo_command(struct demo_process *a, const char *verb, const struct seat *seat, const char *path);

/* It has begun to work; it has stopped working. */
bool demo_works(const struct demo_process *a);
bool demo_ended(struct demo_process *a);

/* Ask it to end its work, and delete the record. A command has ended when this returns. */
void demo_dismiss(struct demo_process *a);

/* End it, by SIGKILL. */
void demo_kill(struct demo_process *a);

/* SIGSTOP or SIGCONT, to the process that keeps the lock. */
void demo_signal(const struct demo_process *a, enum kind kind, int signal);

#endif
