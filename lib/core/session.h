/*
 * The session: when the client may speak, when it must stop believing, when it needs a new handle.
 *
 *               connected                disconnected
 *     OPENING ---------------> CONNECTED <-----------> SUSPENDED
 *        ^                         |      connected        |
 *        | time                    | expired               | expired, or away for too long
 *     RESTING <--------------------+-----------------------'
 *
 *     any phase --closed, authentication failed; expired, where the handle is not ours to renew--> OVER
 *
 * ZooKeeper's client learns of an expiry only from a server it can reach, and with dead servers, or servers that lost
 * their data, stays connecting for ever. So two things are decided here, on our own clock:
 *
 *  - PRESUMED: nobody may believe to hold any more. The client declares a connection dead two thirds of the timeout
 *    after the last whole packet it received (zookeeper.c, zookeeper_interest), and the server's answer in that packet
 *    came after it had been touched by us; so the session lives for at least another third after the disconnection is
 *    known, less what clocks may drift. Where that packet was a notification, no answer, the touch is older: but not by
 *    more than a third of the timeout, which is how often the client pings. This covers a client that lost its server.
 *    It does not cover a server that lost its leader while it went on answering pings; nor a server that does not hear
 *    the client while the client hears notifications.
 *  - AWAY: the handle is given up for a new one, twice the timeout after the connection was lost, or was begun to be
 *    sought: the servers may have lost their data, and refuse a client that has seen more; or have moved, and only a
 *    new handle resolves their names anew.
 */
#ifndef PDK__SESSION_H
#define PDK__SESSION_H

#include "lib/core/retry.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pdk__session_phase {
    PDK__SESSION_OPENING,
    PDK__SESSION_CONNECTED,
    PDK__SESSION_SUSPENDED,
    PDK__SESSION_RESTING,
    PDK__SESSION_OVER,
    PDK__N_SESSION_PHASES
};

enum pdk__session_event_kind {
    PDK__SEV_CONNECTED, /* session, timeout_ms */
    PDK__SEV_DISCONNECTED,
    PDK__SEV_EXPIRED,
    PDK__SEV_AUTH_FAILED,
    PDK__SEV_OPENED,      /* the handle is made, and begins to seek a server: names may have taken long to resolve */
    PDK__SEV_OPEN_FAILED, /* no handle could be made */
    PDK__SEV_CLOSE,
    PDK__SEV_TIMER
};

struct pdk__session_event {
    enum pdk__session_event_kind kind;
    int64_t now_ms;
    int64_t session;
    int64_t timeout_ms;
};

enum pdk__session_action_kind {
    PDK__SACT_UP, /* session */
    PDK__SACT_DOWN,
    PDK__SACT_PRESUMED,
    PDK__SACT_EXPIRED,
    PDK__SACT_OVER, /* error */
    PDK__SACT_OPEN  /* make a new handle, in place of the one there is */
};

struct pdk__session_action {
    enum pdk__session_action_kind kind;
    int64_t session;
    int error;
};

enum { PDK__SESSION_ACTIONS_MAX = 3 };

struct pdk__session_actions {
    size_t n;
    struct pdk__session_action list[PDK__SESSION_ACTIONS_MAX];
};

struct pdk__session {
    bool renewable; /* the handle is ours to replace */
    enum pdk__session_phase phase;
    int64_t id; /* 0 when there is none */
    int64_t timeout_ms;
    bool presumed;      /* over by now, for all that this clock can tell */
    int64_t presume_ms; /* while suspended: when that is to be said */
    int64_t away_ms;    /* while suspended or opening: when the handle is to be given up */
    int64_t rest_ms;
    bool notified; /* since the last answer; NOTIFIED_MS tells when */
    int64_t notified_ms;
    struct pdk__retry retry;
};

/* A handle is opened, at NOW_MS, that asks for TIMEOUT_MS. */
void pdk__session_init(struct pdk__session *s, bool renewable, uint64_t seed, int64_t timeout_ms, int64_t now_ms);

void pdk__session_step(struct pdk__session *s, const struct pdk__session_event *event,
                       struct pdk__session_actions *actions);

/* A notification of a watch has come, at NOW_MS; or an answer to a request of ours. */
void pdk__session_notified(struct pdk__session *s, int64_t now_ms);
void pdk__session_answered(struct pdk__session *s);

/* When a TIMER event is next of use; PDK__NEVER (contender.h) for never. */
int64_t pdk__session_wake_ms(const struct pdk__session *s);

/* May a holder still believe, at this moment? Answers before the TIMER event has come round. */
bool pdk__session_credible(const struct pdk__session *s, int64_t now_ms);

const char *pdk__session_phase_name(enum pdk__session_phase phase);

#endif
