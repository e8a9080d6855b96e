/*
 * A model of a ZooKeeper ensemble, as far as a lock can observe it: writes proposed, logged, committed and applied at
 * different moments on different servers; sessions that only the leader expires, by touches that followers send in
 * their answers to its pings; a follower cut off from its leader that keeps answering pings and reads; a deposed leader
 * that has not noticed. Its sources are ZooKeeper 3.8's: Leader, LearnerHandler, Learner, CommitProcessor,
 * PrepRequestProcessor, SessionTrackerImpl, LearnerSessionTracker, ExpiryQueue, DataTree.
 *
 * A session lives for the shortest time that the sources allow: in half of the runs a leader does not round up to its
 * tick, and the model omits the touch that every learner gives a session whose creation it applies.
 */
#ifndef SIM_ENSEMBLE_H
#define SIM_ENSEMBLE_H

#include "test/sim/pipe.h"
#include "test/sim/random.h"
#include "test/sim/tree.h"

enum {
    SERVERS_MAX = 5,
    CLIENTS_MAX = 5,
    LOG_MAX = 65536,
    REQUESTS_MAX = 131072,
    WATCHES_MAX = 2048,
    PENDING_MAX = 1024
};

enum request_kind {
    REQ_CREATE,
    REQ_CREATE_AT,  /* not sequential */
    REQ_LEAVE_WORD, /* nor of a session */
    REQ_PLANT,      /* by a client that is hostile, under a name of its choice */
    REQ_MAKE_DIR,
    REQ_DELETE,
    REQ_SET,
    REQ_REVOKE, /* a set of node data that requests revocation */
    REQ_REVOKE_BARE,
    REQ_RECORD,      /* the data of a lock path, for a version */
    REQ_GUARDED_SET, /* of a path's data, while the nodes in `also` are there; likewise the next two */
    REQ_GUARDED_CREATE,
    REQ_GUARDED_DELETE,
    REQ_REMOVE_DIR,
    REQ_REMAKE_DIR, /* removed and made in one transaction */
    REQ_CLOSE,
    REQ_OPEN, /* writes end here */
    REQ_SYNC,
    REQ_LIST,
    REQ_GET_ACL, /* of a path */
    REQ_GET,
    REQ_READ_RECORD,
    REQ_EXISTS,
    REQ_UNWATCH,
    REQ_FORSAKE, /* all watches, also the one on the children */
    REQ_SET_WATCHES,
    REQ_PING
};

static inline bool is_write(enum request_kind kind) { return kind <= REQ_OPEN; }

/* An exists-watch on a node that is there is one of its data. */
enum watch_kind { WATCH_DATA, WATCH_EXISTS, WATCH_CHILDREN };

struct watched {
    enum watch_kind kind;
    int path;
    char name[PDK__NAME_MAX];
};

struct request {
    uint64_t number; /* its index plus 1; 0 for none */
    enum request_kind kind;
    session_index session;
    int server;
    int path;
    bool watch;
    bool secret; /* of a create: only its client may read the node */
    bool large;  /* it is over jute.maxbuffer */
    char name[PDK__NAME_MAX];
    int64_t since_zxid; /* of set watches */
    int64_t timeout_ms; /* of a session to open */
    int n_watched;
    const struct watched *watched;
    int n_also; /* of a create, a delete, or a write under guard */
    const struct also *also;
    const char *text; /* to be written */
    int size;
    /* the client's own */
    int32_t version; /* that a write is for; -1: any */
    uint64_t ticket;
};

enum event_kind { EVENT_CREATED, EVENT_DELETED, EVENT_CHANGED, EVENT_CHILDREN };

/* The messages from a server to a client. */
enum answer_kind { ANSWER_CONNECTED, ANSWER_EXPIRED, ANSWER_REPLY, ANSWER_EVENT, ANSWER_CLOSED, ANSWER_PONG };

struct answer {
    const struct request *request;
    enum zerror error;
    int64_t zxid;
    char name[PDK__NAME_MAX];
    session_index owner;
    int64_t czxid;
    int64_t mzxid;      /* of a node that was written */
    int64_t timeout_ms; /* of a session */
    int32_t version;    /* of a lock path's data */
    int path;
    enum event_kind event;
    enum node_data data;
    int n_children;
    const char *const *children;
    int64_t changed; /* the children, last */
    int n_also;      /* of a create */
    const struct also *also;
    int refused;   /* the create or delete that is to blame */
    bool has_data; /* it is of a path */
    const char *text;
    int size;
    int64_t mtime_ms; /* of a node, or of a path's data */
};

/* A connection, as its server knows it. */
struct connection {
    bool open;
    bool established;
    session_index session;
    int64_t timeout_ms;
    int client;
    int n_pending;
    const struct request *pending[PENDING_MAX];
};

struct watch {
    session_index session;
    bool children;
    bool again; /* set on an earlier connection, and by the client again on this one */
    int path;
    char name[PDK__NAME_MAX];
};

enum server_state { SERVER_DOWN, SERVER_LOOKING, SERVER_FOLLOWING, SERVER_LEADING };

struct server {
    struct ensemble *e;
    int id;
    enum server_state state;
    bool paused;
    instant resumed;       /* after its last pause */
    uint32_t log[LOG_MAX]; /* indices of transactions */
    int n_log, n_logged, n_committed;
    int logged_paused; /* logged by its disk while it was paused; acknowledged when it resumes */
    instant log_free;  /* when its disk has finished its queue */
    int rate_ppm;      /* by which its clock is fast */
    instant phase;     /* its clock's time at the beginning */
    int64_t date_ms;   /* the time of day at that */
    struct tree tree;
    int64_t grants_ms; /* the longest session timeout that it grants */
    uint64_t touched;  /* a bit per session, since the last ping */
    instant heard;     /* from the leader */
    bool mute_at_pong; /* its messages to its leader are held, from its next answer to a ping on */
    struct connection connections[CLIENTS_MAX];
    int n_watches;
    struct watch watches[WATCHES_MAX];
    int following;  /* the leader it is a follower of */
    int64_t epoch;  /* the newest it was part of */
    unsigned reign; /* counts its states: an agenda entry of an earlier state is void */

    /* as leader */
    struct tree prep; /* with proposed transactions */
    int64_t next_zxid;
    int acked[SERVERS_MAX];    /* by each server that it considers its learner; -1 no learner */
    int half_ticks;            /* of its reign */
    int heard_at[SERVERS_MAX]; /* half tick */
    instant expires[SESSIONS_MAX];
    uint64_t closing;        /* a bit per session: found expired, and touched no more */
    unsigned expiries;       /* counts the alarms of its session tracker: only the newest counts */
    int owner[SESSIONS_MAX]; /* the server a session is attached to; -1 not known */
    int n_waiting_syncs;
    struct {
        const struct request *request;
        int after; /* the number of log entries that must be committed */
    } waiting_syncs[PENDING_MAX];
};

struct ensemble {
    struct agenda *agenda;
    struct random *random;
    int n, n_voters; /* the servers after these do not vote: observers of ZooKeeper's */
    int tick_ms, sync_limit;
    bool silent;     /* an expired session is silently replaced by a new one, as some servers do */
    int32_t counter; /* of a new path: 0, or near the end */
    int64_t epoch;
    int leader; /* the leader of the newest epoch; -1 none */
    struct server servers[SERVERS_MAX];
    struct pipe links[SERVERS_MAX][SERVERS_MAX]; /* [from][to] */
    int n_txns;
    struct txn txns[LOG_MAX];
    int n_requests;
    struct request requests[REQUESTS_MAX];
    int n_committed; /* by a quorum: the truth */
    uint32_t agreed[LOG_MAX];
    struct tree truth;
    int64_t timeout_ms[SESSIONS_MAX];
    bool rounds; /* expiry up to a whole tick, as ZooKeeper does */

    /* delays, in microseconds; drawn per run */
    int link_delay, disk_delay, lag_permille, lag_delay, ping_delay;
    int hiccup_permille, hiccup_delay; /* of any message, and of all after it */

    /* upward: answers to client C, and events for the laws */
    void *world;
    void (*answer)(void *world, int client, int server, enum answer_kind kind, const struct answer *a);
    void (*committed)(void *world, const struct txn *txn);
    void (*expiring)(void *world, const struct server *s, session_index session); /* S leads, and ends it */
    void (*deleting)(void *world, int path,
                     const struct node *node); /* by a committed transaction, before it applies */
    void *(*scratch)(void *world, size_t size);
};

/* With N servers, of which N_VOTERS vote; ticks, clocks and delays are set before. */
void ensemble_begin(struct ensemble *e, int n, int n_voters);

/* A request of a client's arrives at a server. */
void server_receive(struct server *s, int client, const struct request *r);

/* A client connects, with a session or (-1) for a new one, which is then NEW_SESSION. */
void server_connect(struct server *s, int client, session_index session, session_index new_session, int64_t seen_zxid,
                    int64_t timeout_ms);

/* A client's connection has ended. */
void server_disconnect(struct server *s, int client);

/* An administrator's request at the leader; no client sent it. False when there is no leader. */
bool ensemble_administrate(struct ensemble *e, enum request_kind kind, int path, const char *name);

/* Likewise: TEXT, which is lent, becomes the data of the path, which is made if need be. */
void ensemble_write(struct ensemble *e, int path, const char *text, int size);

struct request *ensemble_request(struct ensemble *e);

/* The watches on nodes, which end with these; those on lock paths stay. */
int server_node_watches(const struct server *s);

/* The leader finds the session expired now, whatever touched it. */
void leader_expire(struct server *s, session_index session);

/* Faults. */
void server_crash(struct server *s);
void server_start(struct server *s);
void server_pause(struct server *s, bool paused);

/* Cut one direction. Messages in transit wait; or they pass, and the messages after them wait. */
void ensemble_cut(struct ensemble *e, int from, int to, bool what_is_on_its_way_passes);
void ensemble_mend(struct ensemble *e, int from, int to);

/* The follower's side of its connection to the leader breaks. */
void server_leave(struct server *s);

static inline bool server_serves(const struct server *s)
{
    return s->state == SERVER_FOLLOWING || s->state == SERVER_LEADING;
}

/* --- between the files of the model ------------------------------------------------------------------------------ */

enum link_kind {
    LINK_PROPOSE,
    LINK_ACK,
    LINK_COMMIT,
    LINK_PING,
    LINK_PONG,
    LINK_REQUEST,
    LINK_SYNCED,
    LINK_REVALIDATE,
    LINK_REVALIDATED,
    LINK_CLOSED
};

void link_send(struct ensemble *e, int from, int to, enum link_kind kind, uint64_t a, uint64_t b, const void *body);
void leader_prepare(struct server *s, const struct request *r, int origin);
/* The client has asked for its session by ATTEMPT, the number of its connection. */
bool leader_revalidate(struct server *s, session_index session, int origin, unsigned attempt, int64_t timeout_ms);
void leader_touch(struct server *s, session_index session);
void server_apply(struct server *s, const struct txn *txn);
void server_synced(struct server *s, const struct request *r);
void server_established(struct server *s, session_index session, bool alive);
void server_close_all(struct server *s);
bool server_permits(const struct server *s, session_index session, const struct node *node);

#endif
