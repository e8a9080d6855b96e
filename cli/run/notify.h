/*
 * The notes to a service manager, in the format of sd_notify(3): the service is ready, what it does, it ends, it is
 * alive. Each note is a datagram. Without a manager none is sent.
 */
#ifndef PDK_CLI_NOTIFY_H
#define PDK_CLI_NOTIFY_H

#include <stdint.h>

/* Take the address of the manager from the environment, and remove it there: our commands do not speak for us. Once,
 * before other processes are started. */
void pdk__cli_notify_begin(void);

/* Send lines such as "READY=1\nSTATUS=..."; a manager that cannot be reached is no error. */
__attribute__((format(printf, 1, 2))) void pdk__cli_notify(const char *format, ...);

/* Tell that we are alive if it is time for that, which is twice in the manager's limit; and when that is next, on the
 * clock of pdk__cli_now_ms(): -1 for never. */
void pdk__cli_notify_step(void);
int64_t pdk__cli_notify_due(void);

#endif
