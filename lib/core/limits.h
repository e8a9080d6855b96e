/*
 * The parts of a session timeout: what the program has said of its servers and of its clocks, or the defaults.
 */
#ifndef PDK__LIMITS_H
#define PDK__LIMITS_H

#include <stdbool.h>
#include <stdint.h>

/* The program's statements about its servers and clocks. 0 is the default of each. */
struct pdk__session_policy {
    int64_t tick_ms;   /* the servers' tickTime; default half the timeout, which is the most it can be */
    int64_t margin_ms; /* how long before the session's possible end belief ends; default a twentieth of the timeout */
    bool movable;      /* there are several servers, and we may move the handle between them */
};

/* The parts that a timeout must have room for: it is too short unless it is longer than gap, margin and least
 * validity together. */
struct pdk__session_limits {
    int64_t timeout_ms, tick_ms, gap_ms, margin_ms;
    int64_t late_ms;      /* how late the leader's pings may be; a part of the gap */
    int64_t min_valid_ms; /* least time left to hold without doubt: a tenth of the timeout */
};

struct pdk__session_limits pdk__limits(const struct pdk__session_policy *policy, int64_t timeout_ms);

/* No grant could be proven in time. */
bool pdk__limits_too_short(const struct pdk__session_limits *l);

#endif
