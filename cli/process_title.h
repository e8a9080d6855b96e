/* The name by which this process is found: in ps(1), by pkill(1), with and without its -f. */
#ifndef PDK_CLI_PROCESS_TITLE_H
#define PDK_CLI_PROCESS_TITLE_H

#include <sys/types.h>

/* Put copies in place of the strings of ARGV; pdk__cli_process_title_set() overwrites the originals. Call it first in
 * main(), while ARGV is unchanged. -1 without memory. */
int pdk__cli_process_title_begin(char **argv);

/* Show NAME and the number of process OF in place of the command line. NAME has at most 15 bytes. */
void pdk__cli_process_title_set(const char *name, pid_t of);

/* Overwrite VALUE, a string of ARGV or the end of one, there and in the command line that other users can read. */
void pdk__cli_process_title_hide(char *value);

#endif
