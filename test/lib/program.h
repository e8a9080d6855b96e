/*
 * A child process of a test: it is started, given input, read, waited for and ended.
 *
 * It gets SIGKILL when the thread of the test that started it ends, however that ends. A failure fails the test.
 */
#ifndef PDK__TEST_PROGRAM_H
#define PDK__TEST_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct program {
    pid_t pid;
    bool runs;             /* it was started, and has not been waited for */
    int64_t began_ms;      /* when it was started, by pdk__test_now_ms() */
    int status;            /* after its end: the exit status, or -N when signal N ended it */
    int in;                /* its standard input; 0: /dev/null */
    bool leads;            /* it leads a process group */
    const char *out, *err; /* what it has printed, NUL-terminated; NULL unless captured. Grows while it runs */
    size_t read;           /* how much of OUT program_await() and program_hear() have returned */
};

/* Options of program_start(), added. Output that is not captured goes where the test's own goes. */
enum {
    PROGRAM_INPUT = 1,  /* a pipe is its standard input */
    PROGRAM_OUTPUT = 2, /* its standard output is captured */
    PROGRAM_ERRORS = 4, /* so is its standard error */
    PROGRAM_GROUP = 8   /* it leads a process group of its own, whose rest program_end() and program_kill() end, too */
};

/* NAME in the build tree, or in the source tree. Static, until the fourth call from now. */
const char *program_built(const char *name);
const char *program_source(const char *name);

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Start ARGV[0], found as a shell finds it. Status 127: there is no such program. */
void program_start(struct program *p, const char *const *argv, int options);

/* Write a line to its input. */
void program_say(struct program *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Close its input. */
void program_close_input(struct program *p);

/* Has TEXT been printed, on standard output or error, by now? */
bool program_said(const struct program *p, const char *text);
bool program_complained(const struct program *p, const char *text);

/* Wait until it has printed WORDS, after what was read before. Returns what follows them; borrowed. */
const char *program_await(struct program *p, const char *words);

/* The same, and the number that follows. */
int64_t program_await_number(struct program *p, const char *words);

/* The next line that it prints; borrowed until the next call. Has it printed nothing more by now? */
const char *program_hear(struct program *p);
bool program_silent(const struct program *p);

/* Has it ended? STATUS is known then. */
bool program_ended(struct program *p);

/* Wait for its end. Returns STATUS. */
int program_wait(struct program *p);

/* Start it and wait. */
int program_run(struct program *p, const char *const *argv, int options);

/* End it: close its input, or send SIGTERM when it has none; SIGKILL when that was in vain. Nothing when it does not
 * run. */
void program_end(struct program *p);

/* End it by SIGKILL. Nothing when it does not run. */
void program_kill(struct program *p);

#endif
