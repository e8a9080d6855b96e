/*
 * A process in the command's group that sees the keys typed there.
 *
 * While the command is in the foreground, a key is a signal to its group and no other, and how a command ends does not
 * tell: it may handle SIGINT, and exit with any status. The witness blocks every signal that can be blocked, and does
 * no work. A signal that kills the group kills it too: then no key was seen.
 */
#ifndef PDK_CLI_WITNESS_H
#define PDK_CLI_WITNESS_H

#include <stdbool.h>
#include <sys/types.h>

/* Fork it into process group GROUP; it is killed when the caller dies. Returns its process id, or 0: there is none. */
pid_t pdk__cli_witness_start(pid_t group);

/* End it, and reap it; 0: there is none. True if the interrupt or the quit key was typed, and was not ignored from the
 * start. The command must have ended: a key for it was sent to the whole group before it could end. */
bool pdk__cli_witness_end(pid_t witness);

#endif
