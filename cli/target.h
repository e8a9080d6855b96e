/* The target of a command line: a path, in an ensemble. */
#ifndef PDK_CLI_TARGET_H
#define PDK_CLI_TARGET_H

#include <stddef.h>

/* Long enough for a person to recognize a path or a host list; a longer one loses its middle. */
enum { PDK__CLI_SHORT = 160 };
const char *pdk__cli_short(const char *text, char buf[PDK__CLI_SHORT]);

/* Is PATH one of a lock, as far as the library sees that without servers? 0, or an exit status, explained in the name
 * of COMMAND. */
int pdk__cli_target_path(const char *command, const char *path);

/* Is HOSTS a list of HOST:PORT, with a chroot that can be one? Likewise. */
int pdk__cli_target_hosts(const char *command, const char *hosts);

/* The parent of the chroot in HOSTS: its length in BUF, 0 when the chroot has none but the root. */
size_t pdk__cli_target_chroot_parent(const char *hosts, char *buf, size_t size);

#endif
