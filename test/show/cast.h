/*
 * The processes of a show: programs that are given orders, and commands; each with the work it writes down.
 *
 * Used by one thread. What cannot be done fails the test. All of them end with this process.
 */
#ifndef SHOW_CAST_H
#define SHOW_CAST_H

#include "test/show/work.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/* Who works: a program of ours, one of Curator's, or a command that runs a child. A bare client works at nothing. */
enum kind { PROGRAM, CURATOR, COMMAND, BARE };

struct actor {
    pid_t pid;  /* 0: none */
    int orders; /* of a program */
    struct work *work;
    char file[PATH_MAX];
};

/* Where they are put, and whom they ask: PLACE 0 is this machine, others as in docker/fault. */
struct seat {
    int place, session_ms;
    const char *hosts;
    bool by_sync; /* a program of ours renews its belief so, and not by writes */
};

/* The number that the environment gives as NAME. */
int cast_number(const char *name, int otherwise);

/* Once, before the rest. */
void cast_begin(void);

/* A file's name in the directory that is gone with them. */
void cast_file(const char *name, char *file, size_t size);

/* Curator may be missing. The first call takes a moment. */
bool cast_has_curator(void);
bool cast_can(const char *verb); /* the command knows it */

/* All of them are gone, and so are their files. */
void cast_end(void);

/* Start a program, which then waits for orders; KIND is not COMMAND. */
void cast_start(struct actor *a, enum kind kind, const struct seat *seat);

/* Start a fenced store; SOCKET is where it is to be asked. */
void cast_store(struct actor *a, char *socket, size_t size);

/* New work under the lock PATH: by a running program, or by a command ("lock", "elect"). STORE: its socket, or NULL. */
void cast_order(struct actor *a, const char *path, const char *store);
void cast_command(struct actor *a, const char *verb, const struct seat *seat, const char *path);

/* It has begun to work; it works no more. */
bool cast_works(const struct actor *a);
bool cast_ended(struct actor *a);

/* Let it end its work, and forget that work. A command is waited for. */
void cast_dismiss(struct actor *a);

/* End it, by SIGKILL. */
void cast_kill(struct actor *a);

/* SIGSTOP or SIGCONT, to the process that keeps the lock. */
void cast_signal(const struct actor *a, enum kind kind, int signal);

#endif
