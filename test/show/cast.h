/*
 * The processes of a show: programs that take orders, and commands. Each has a record of its work.
 *
 * Used by one thread. An error fails the test. All of the processes end with this process.
 */
#ifndef SHOW_CAST_H
#define SHOW_CAST_H

#include "test/show/work.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/* A program on the library, a program on Curator, or a command that runs a child. A bare client does no work. */
enum kind { PROGRAM, CURATOR, COMMAND, BARE };

struct actor {
    pid_t pid;  /* 0: none */
    int orders; /* of a program */
    struct work *work;
    char file[PATH_MAX];
};

/* The machine and the servers of a process. PLACE 0 is this machine, others are as in docker/fault. */
struct seat {
    int place, session_ms;
    const char *hosts;
    bool by_sync; /* a program on the library renews by sync, not by writes */
};

/* The number in the environment variable NAME; OTHERWISE when it is not set. */
int cast_number(const char *name, int otherwise);

/* Once, before the rest. */
void cast_begin(void);

/* The path of the file NAME in a directory that cast_end() deletes. */
void cast_file(const char *name, char *file, size_t size);

/* False when Curator is not installed. The first call compiles CuratorHolder.java. */
bool cast_has_curator(void);
bool cast_can(const char *verb); /* the command knows it */

/* All processes have ended and their files are deleted when this returns. */
void cast_end(void);

/* Start a program, which then waits for orders; KIND is not COMMAND. */
void cast_start(struct actor *a, enum kind kind, const struct seat *seat);

/* Start a fenced store; SOCKET receives the path of its socket. */
void cast_store(struct actor *a, char *socket, size_t size);

/* New work under the lock PATH: by a running program, or by a command ("lock", "elect"). STORE: its socket, or NULL. */
void cast_order(struct actor *a, const char *path, const char *store);
void cast_command(struct actor *a, const char *verb, const struct seat *seat, const char *path);

/* It has begun to work; it has stopped working. */
bool cast_works(const struct actor *a);
bool cast_ended(struct actor *a);

/* Ask it to end its work, and delete the record. A command has ended when this returns. */
void cast_dismiss(struct actor *a);

/* End it, by SIGKILL. */
void cast_kill(struct actor *a);

/* SIGSTOP or SIGCONT, to the process that keeps the lock. */
void cast_signal(const struct actor *a, enum kind kind, int signal);

#endif
