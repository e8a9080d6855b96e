/* The command as its users meet it: its start, its output and its end; and the server that it speaks to. */
#ifndef PDK__TEST_CLI_H
#define PDK__TEST_CLI_H

#include "server/throwaway.h"
#include "test/lib/check.h"
#include "test/lib/program.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { GENEROUS = 60000 };

/* The server all tests of a program share; PADDOCK_HOSTS leads to it, through a door. For pdk__test_suite. */
void cli_setup(void);
void cli_teardown(void);
pdk__server *cli_server(void);

/* Stop it, and start it again. The door refuses connections from the one until the server grants sessions again. */
void cli_server_stop(void);
void cli_server_start(void);

/* "/NAME-N", new each time. */
const char *cli_path(const char *name);

/* At the start of a program: signals that it was started with ignored, as by nohup or in the background, are ignored no
 * more. */
void cli_as_by_hand(void);

/* Start the command with ARGUMENTS, its output captured; or with a pipe as standard input; or start it and wait. */
void cli_start(struct program *p, const char *const *arguments);
void cli_start_fed(struct program *p, const char *const *arguments);
int cli_run(struct program *p, const char *const *arguments);

/* What it said on standard error, is it one line that begins with "paddock: "? Is it nothing? Is "paddock" not in it? A
 * line that tells that a release waits for its answer does not count where the command ran for a second, after which it
 * is said: servers need more on a busy machine. */
bool cli_one_line(const struct program *p);
bool cli_quiet(const struct program *p);
bool cli_unnamed(const struct program *p);

#define CHECK_ONE_LINE(c)                                                                                              \
    do {                                                                                                               \
        if (!cli_one_line(c))                                                                                          \
            pdk__test_fail(__FILE__, __LINE__, "not one line: '%s'", (c)->err);                                        \
    } while (0)

#define CHECK_QUIET(c)                                                                                                 \
    do {                                                                                                               \
        if (!cli_quiet(c))                                                                                             \
            pdk__test_fail(__FILE__, __LINE__, "not quiet: '%s'", (c)->err);                                           \
    } while (0)

/* The process that keeps the session of a running `paddock lock`, and its guard. The test fails when there is none:
 * kill() takes 0 for the test's own group. */
pid_t cli_session_of(pid_t runner);
pid_t cli_guard_of(pid_t runner);
bool cli_has_session(pid_t runner);

/* The next one to be granted PATH, by VERB, finds processes A and B at their end, at the moment of its grant: gone, or
 * a zombie, or with SIGKILL pending, so that they execute nothing more. Otherwise a law is broken. */
void cli_next_finds_ended(const char *verb, const char *path, pid_t a, pid_t b);

/* Does process PID run (and is no zombie)? Is it stopped? */
bool cli_alive(pid_t pid);
bool cli_stopped(pid_t pid);

/* The commands that are started from here on find the functions of MODULE, which is built with the tests, before those
 * of libraries; NULL: no more. */
void cli_preload(const char *module);

/* --- the servers' side, through a session of the test's own --- */

/* Nodes on the server, those of ZooKeeper itself left out. */
int cli_nodes(void);

/* How many nodes there are under PATH; 0 when it does not exist. An error is no count: a lost answer is asked for
 * again, any other error fails the test. */
int cli_children(const char *path);

/* How many nodes were created or deleted under PATH since it was created. */
int cli_changes(const char *path);

/* Delete the first contender of PATH, as an administrator would. */
void cli_delete_holder(const char *path);

/* Delete the first child of PATH whose name contains PART. */
void cli_delete_child(const char *path, const char *part);

/* Does the first contender's node carry a revocation request? */
bool cli_asked(const char *path);

/* Write a revocation request into the last contender's node. */
void cli_ask_last(const char *path);

/* May the test, which has no credentials, change the holder's node? */
bool cli_may_write(const char *path);

/* Create PATH; permit LETTERS, of "rwcda", to everybody. */
void cli_make_path(const char *path);
void cli_permit(const char *path, const char *letters);

/* Create PATH, so that only a client with the password may access it (digest:keeper:secret). */
void cli_make_private(const char *path);

/* Are DATA those of PATH itself? */
bool cli_has_data(const char *path, const char *data);

/* Create PATH/NAME with DATA. */
void cli_make(const char *path, const char *name, const char *data);

/* The same, as a contender's node: it ends with the test's session. Or so that no client may read it. */
void cli_make_ephemeral(const char *path, const char *name, const char *data);
void cli_make_unreadable(const char *path, const char *name, const char *data);

/* A run of a job as its record has it, of HOST, process 7, labelled "nightly": it began AGO_MS ago. MORE members may
 * follow, as ",\"status\":0". The last four are kept. And the record beside PATH, of its last run and of the last one
 * that counts, NULL for none; an older record is deleted. */
const char *cli_run_of(const char *host, int64_t ago_ms, int64_t token, const char *more);
void cli_record(const char *path, const char *last, const char *done);

/* Create PATH as Curator's SharedCount, or change its number. */
void cli_make_count(const char *path, unsigned char number);

/* Delete PATH/NAME. */
void cli_delete(const char *path, const char *name);

/* Set the counter of PATH, under which a node was created since the server was started, and the version of its data, if
 * they were changed since. The server is restarted. */
void cli_set_counter(const char *path, int32_t created);

#endif
