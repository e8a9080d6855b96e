/*
 * How long the lock may be believed in: written by the session, and used by all three processes.
 *
 * It is in memory that they share. After an hour's stop, a runner would read notes on the channel one by one, the
 * oldest first.
 *
 *     ... believed in .......... stop_at ....... kill_at .. deadline
 *                                |   grace       | reserve  |
 *                                polite signal   SIGKILL    another may hold it
 */
#ifndef PDK_CLI_PAGE_H
#define PDK_CLI_PAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The grace is this part of the session timeout at most. A lock in good order is confirmed for a third of the
 * timeout at any time; the remainder is for slow servers. */
enum { PDK__CLI_GRACE_PART = 5 };

struct pdk__cli_page {
    _Atomic int64_t deadline; /* on the clock of pdk__cli_now_ms(); 0: unknown, and nothing is due */
    _Atomic int64_t timeout_ms;
    _Atomic int64_t grace_ms;
    _Atomic int64_t reserve_ms;
    atomic_bool lost;     /* the session has seen the loss: no command may be started any more */
    atomic_bool stopping; /* one of the three has sent the polite signal: once is enough */
    _Atomic pid_t leader; /* of the group that the guard kills; 0: none */
};

/* To be created before the fork. NULL with errno. */
struct pdk__cli_page *pdk__cli_page_new(void);

/* Set the limits that a session timeout of TIMEOUT_MS allows, of the requested GRACE_MS. No deadline is known yet,
 * and no process stops. */
void pdk__cli_page_begin(struct pdk__cli_page *l, int64_t timeout_ms, int64_t grace_ms);

/* It may be believed in for VALID_MS from NOW; nothing happens when VALID_MS is 0. */
void pdk__cli_page_renew(struct pdk__cli_page *l, int64_t now, int64_t valid_ms);

/* How often the session is to renew the lease. */
int64_t pdk__cli_page_beat_ms(const struct pdk__cli_page *l);

/* May a command be started at NOW, under a lock that is not lost, and with time left before the polite SIGNAL is
 * due? Signal 0 is never due. */
bool pdk__cli_page_covers(const struct pdk__cli_page *l, int64_t now, int signal);

/* When the polite SIGNAL is due, and when SIGKILL is; -1: not known. */
int64_t pdk__cli_page_stop_at(const struct pdk__cli_page *l, int signal);
int64_t pdk__cli_page_kill_at(const struct pdk__cli_page *l);

#endif
