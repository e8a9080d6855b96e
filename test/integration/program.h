/* An example at work: in a process group of its own, one at a time, its output read as it comes. */
#ifndef PDK__INTEGRATION_PROGRAM_H
#define PDK__INTEGRATION_PROGRAM_H

#include <stdint.h>
#include <sys/types.h>

/* Start examples/ARGV[0], with TMPDIR as its temporary directory unless NULL. Ends the one before. Returns its process
 * id, which is its group's too. */
pid_t program_start(const char *tmpdir, char *const argv[]);

/* Wait until it says WORDS, after what was awaited before. Returns what follows them, borrowed. */
const char *program_await(const char *words);

/* The same, and the number that follows. */
int64_t program_await_number(const char *words);

/* Wait for its end. Returns its exit status, or -N when signal N ended it. */
int program_ended(void);

/* All it said so far. */
const char *program_said(void);

/* End it, should it still be there. */
void program_end(void);

#endif
