/*
 * Signals on their way to the command: each goes there once.
 *
 * A service manager that ends a unit signals every process in it: the runner, the session and the command. The first
 * two pass on their signals, so the command would get it three times. So the runner holds a signal for HOLD_MS, and
 * then asks the session for its signals. If the session got the same signal of the same sender, there are two cases:
 * every process was signalled, or every process of one name, as by pidof(1), without the command. The sender tells
 * which.
 *
 *    HELD ── HOLD_MS ──► ASKED ── answer, or ANSWER_MS ──► due ──► PASSED
 *      └──────────────────┴── the session has it, too ──────┘
 */
#ifndef PDK_CLI_RELAY_H
#define PDK_CLI_RELAY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum pdk__cli_way { WAY_RUNNER = 1, WAY_SESSION = 2 };
enum pdk__cli_held_stage { STAGE_NONE, STAGE_HELD, STAGE_ASKED, STAGE_PASSED };

struct pdk__cli_relay {
    struct pdk__cli_held {
        enum pdk__cli_held_stage stage;
        int ways; /* by which it came */
        pid_t sender;
        int64_t due; /* for the next stage */
    } of[32];        /* by number */
};

/* SIGNAL of SENDER came at NOW, by WAY. */
void pdk__cli_relay_take(struct pdk__cli_relay *r, int signal, pid_t sender, enum pdk__cli_way way, int64_t now);

/* Is the session to be asked, at NOW, for its signals? True once for each request. */
bool pdk__cli_relay_asks(struct pdk__cli_relay *r, int64_t now);

/* The session has answered, or cannot. */
void pdk__cli_relay_answered(struct pdk__cli_relay *r, int64_t now);

/* A signal that is due at NOW; 0: none. *EVERYWHERE: it came by both ways, from *SENDER. Each is returned once. */
int pdk__cli_relay_next(struct pdk__cli_relay *r, int64_t now, bool *everywhere, pid_t *sender);

/* Did SIGNAL come by one of the ways? */
bool pdk__cli_relay_took(const struct pdk__cli_relay *r, int signal);

/* When a request or a signal is due; -1: never. */
int64_t pdk__cli_relay_due(const struct pdk__cli_relay *r);

#endif
