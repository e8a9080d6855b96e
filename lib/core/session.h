/*
 * The session: when the client may send, when it must stop believing, when it needs a new handle.
 *
 *               connected                disconnected
 *     OPENING ---------------> CONNECTED <-----------> SUSPENDED
 *        ^                         |      connected        |
 *        | time                    | expired               | expired, or away for too long
 *     BACKOFF <--------------------+-----------------------'
 *        '--- connected, its first session ---> CONNECTED
 *
 *     any phase --closed, authentication failed; expired, where the handle is not ours to renew--> OVER
 *     and --connected, where the timeout is too short for a lock, or the servers would not resume the session--> OVER
 *
 * ZooKeeper's client learns of an expiry only from a server it can reach. With dead servers, or servers that lost their
 * data, it stays connecting indefinitely. And a server that lost its leader keeps its clients connected while the
 * leader ends their sessions. So four things are decided here, on our own clock:
 *
 *  - LEASE_LOW: the time for which the session is known to live (chain.h) is too short for a grant. A holder should get
 *    ready to stop. LEASE_OK: there is enough time again.
 *  - LEASE_EXPIRED: the time is up, and no holder may believe any longer, connected or not.
 *  - AWAY: the handle is replaced by a new one, twice the timeout after the connection was lost, or after the search
 *    for one began. The servers may have lost their data, and refuse a client that has seen more. Or they may have
 *    moved, and only a new handle resolves their names again. A handle that never had a session is used, should it
 *    connect before the opening of the next one begins.
 *
 *  - LEAVE: the server has answered nothing for a fifth of the timeout, though it was asked, and there are others.
 *    ZooKeeper's client stays for two thirds, and the session would be lost with its server. Not twice within a
 *    timeout. The wait doubles each time, until a write is answered soon after it: where all servers are slow, leaving
 *    does not help. A server that is tried, and does not answer within a tenth of the timeout, is passed over: its
 *    machine may be down, or its process stopped, and the wait uses up the session's time. Three times at most, because
 *    the next wait would be longer than that of ZooKeeper's client.
 *
 * The requests for the chain are decided here, too. While a contender holds, or is about to, those are reads at an even
 * pace (KEEPALIVE), which notice a silent server, and a sync (SYNC) and a write (RENEW) so late that belief gets as old
 * as with writes alone, and no older. Writes alone are sent at that pace where a sync would not do: where too little
 * time is left, until the first write of a connection, on a slow link, and after a request of the connection that was
 * not answered as it should be. While no contender holds, it is a read in place of the pings of ZooKeeper's client,
 * which does not report their answers. A link is slow when proof would be too old at the pace of a fast one. The pace
 * is quicker there, and several requests are under way at a time. A slow link gets no grant before proofs have begun to
 * arrive at that pace.
 */
#ifndef PDK__SESSION_H
#define PDK__SESSION_H

#include "lib/core/chain.h"
#include "lib/core/limits.h"
#include "lib/core/pace.h"
#include "lib/core/retry.h"
#include "lib/core/silence.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pdk__session_phase {
    PDK__SESSION_OPENING,
    PDK__SESSION_CONNECTED,
    PDK__SESSION_SUSPENDED,
    PDK__SESSION_BACKOFF,
    PDK__SESSION_OVER,
    PDK__N_SESSION_PHASES
};

enum pdk__session_event_kind {
    PDK__SEV_CONNECTED, /* session, timeout_ms, unresumable */
    PDK__SEV_DISCONNECTED,
    PDK__SEV_EXPIRED,
    PDK__SEV_AUTH_FAILED,
    PDK__SEV_OPENED,      /* since_ms; the handle exists, in the place of any earlier one, and begins to seek a server:
                           * resolving names may have taken long */
    PDK__SEV_OPEN_FAILED, /* no handle could be created; the earlier one is closed, or not even that could be begun */
    PDK__SEV_CLOSE,
    PDK__SEV_TIMER,
    PDK__SEV_ANSWERED,     /* sent_ms, agreed, led, asked, wrote: a request of ours, on this connection */
    PDK__SEV_UNASKED,      /* a RENEW, SYNC or KEEPALIVE has no answer, and will have none */
    PDK__SEV_LEASE_NEEDED, /* a contender holds, or is about to; LEASE_UNNEEDED: none any more */
    PDK__SEV_LEASE_UNNEEDED,
    PDK__N_SESSION_EVENTS
};

struct pdk__session_event {
    enum pdk__session_event_kind kind;
    int64_t now_ms;
    int64_t session;
    int64_t timeout_ms;
    bool unresumable; /* the servers would give another session in its place at the next connection */
    int64_t since_ms; /* when it was begun to open the handle */
    int64_t sent_ms;
    bool agreed; /* it was a write, and a quorum took or refused it */
    bool led;    /* it was a sync, and the leader of our server has answered it */
    bool asked;  /* it was requested by a RENEW, a SYNC or a KEEPALIVE */
    bool wrote;  /* it was a write, whatever came of it */
};

enum pdk__session_action_kind {
    PDK__SACT_UP, /* session */
    PDK__SACT_DOWN,
    PDK__SACT_LEASE_OK,
    PDK__SACT_LEASE_LOW,
    PDK__SACT_LEASE_EXPIRED,
    PDK__SACT_EXPIRED, /* error: 0 by the servers' word, PDK_EUNKNOWN when it is given up */
    PDK__SACT_OVER,    /* error */
    PDK__SACT_OPEN,    /* open a new handle, in place of the present one */
    PDK__SACT_RENEW, /* make a write that changes nothing; ANSWERED or UNASKED follows, or the end of the connection */
    PDK__SACT_KEEPALIVE, /* read; the same follows */
    PDK__SACT_SYNC,      /* sync; the same follows */
    PDK__SACT_LEAVE      /* break the connection, in the same session: DISCONNECTED follows, if it could be done; or end
                      * the attempt to make one, and try the next server */
};

struct pdk__session_action {
    enum pdk__session_action_kind kind;
    int64_t session;
    int error;
};

enum { PDK__SESSION_ACTIONS_MAX = 8 };

struct pdk__session_actions {
    size_t n;
    struct pdk__session_action list[PDK__SESSION_ACTIONS_MAX];
};

/* An action of KIND comes after the others. Returns it, where it lies. */
struct pdk__session_action *pdk__session_push(struct pdk__session_actions *out, enum pdk__session_action_kind kind);

struct pdk__session {
    bool renewable; /* we may replace the handle */
    struct pdk__session_policy policy;
    enum pdk__session_phase phase;
    int64_t id; /* 0 when there is none */
    int64_t timeout_ms;
    struct pdk__session_limits limits; /* the parts of that timeout */
    struct pdk__chain chain;
    struct pdk__pace pace;
    struct pdk__silence silence;
    bool lease_low;     /* the last report said that little time, or none, is left */
    bool lease_expired; /* over by now, as far as this clock can tell */
    bool lease_needed;
    bool flowing;       /* wanted, and since then proofs come at the pace of the link, on this connection */
    int64_t proof_ms;   /* when the last of them came; PDK__UNKNOWN_MS when none has */
    bool plain;         /* writes alone: a request of this connection was not answered as it should be */
    int n_asked;        /* RENEWs, SYNCs and KEEPALIVEs under way */
    int64_t asked_ms;   /* when the last of them was sent; PDK__UNKNOWN_MS after one that could not be sent */
    int64_t renewed_ms; /* when the last RENEW was sent */
    int64_t synced_ms;  /* when the last SYNC was sent */
    int64_t wrote_ms;   /* when the last write that a quorum agreed on was sent */
    int64_t heard_ms;   /* when the last answer came */
    int64_t hush_ms;    /* no RENEW, SYNC or KEEPALIVE before then */
    int64_t since_ms;   /* the handle was opened then or later */
    bool spent;         /* the session of the handle at hand has ended, or was given up: until OPENED */
    int64_t away_ms;    /* while suspended or opening: when the handle is to be given up */
    int64_t rest_ms;
    struct pdk__retry retry;
};

/* A handle is opened, at NOW_MS, that asks for TIMEOUT_MS. */
void pdk__session_init(struct pdk__session *s, bool renewable, struct pdk__session_policy policy, uint64_t seed,
                       int64_t timeout_ms, int64_t now_ms);

void pdk__session_step(struct pdk__session *s, const struct pdk__session_event *event,
                       struct pdk__session_actions *actions);

/* May it be in this state? After every step it is asserted. */
bool pdk__session_allowed(const struct pdk__session *s);

/* When a TIMER event is next of use; PDK__NEVER (event.h) for never. */
int64_t pdk__session_wake_ms(const struct pdk__session *s);

/* Until when a holder may believe: its belief ends at this moment, even before the TIMER event reports it. INT64_MIN
 * when no holder may believe. */
int64_t pdk__session_deadline_ms(const struct pdk__session *s);

/* The round trip of the link, in milliseconds: the least of the latest answers; 0 before the first answer. */
int64_t pdk__session_lag_ms(const struct pdk__session *s);

/* Is this link too slow for the session: connected, but no proof can come in time for a grant? Never before
 * MEASURED_MIN answers. */
bool pdk__session_unfit(const struct pdk__session *s);

/* May a holder still believe, at this moment? */
bool pdk__session_lease_valid(const struct pdk__session *s, int64_t now_ms);

const char *pdk__session_phase_name(enum pdk__session_phase phase);

#endif
