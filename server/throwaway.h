/*
 * Throwaway ZooKeeper servers from Debian's jar, for trying and for testing: standalone, or members of an ensemble, on
 * the loopback interface.
 *
 * However this process ends, the server ends too and its directory is removed (server/keeper.h). One object is used
 * by one thread at a time; different objects are independent. Functions that return int answer 0, or -1 with a line of
 * text in pdk__server_error().
 */
#ifndef PDK__SERVER_THROWAWAY_H
#define PDK__SERVER_THROWAWAY_H

#include "server/words.h"
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { PDK__SERVER_MAX = 7 };

typedef struct pdk__server pdk__server;

/* The address at which a member finds another one (or a proxy in front of it); for itself, where it listens. */
struct pdk__server_peer {
    int quorum_port;
    int election_port;
};

/* 0 or NULL anywhere: the default. Strings are borrowed until pdk__server_new() returns. */
struct pdk__server_options {
    int client_port;                    /* default: a free one, another one if it was taken before the server could */
    int tick_ms;                        /* default 500 */
    int min_session_ms, max_session_ms; /* defaults: 2 ticks, 10 minutes or the minimum */
    int init_limit, sync_limit;         /* in ticks; defaults 40, 10 */
    int heap_mb;                        /* default 128 */
    bool durable;                       /* fsync what is written; default: only into a DATA_DIR of yours */
    const char *data_dir;               /* created if missing, never removed; default: inside the temporary directory */
    const char *log_file;               /* the server's log is added here; default: no log */
    const char *jar;                    /* default /usr/share/java/zookeeper.jar */
    const char *const *properties;      /* "name=value", as java's -D takes them, NULL-terminated */
    int id, n_peers;                    /* a member of an ensemble: its id, 1 to N_PEERS; default: standalone */
    struct pdk__server_peer peers[PDK__SERVER_MAX]; /* of member ID at [ID - 1]; may be set later */
};

/* Create a server, not yet running: a temporary directory under $TMPDIR or /tmp, and its keeper. *S is the caller's,
 * to be passed to pdk__server_free(). Reports which Debian packages are missing, if they are. */
int pdk__server_new(pdk__server **s, const struct pdk__server_options *o);

/* A server on the loopback interface that is run by another program: it can be queried, but neither started nor
 * stopped. *S is the caller's. */
int pdk__server_attach(pdk__server **s, int client_port);

/* End the server without grace, remove its temporary directory. Returns when both are done. NULL is allowed. */
void pdk__server_free(pdk__server *s);

/* Start the process, again after stop or kill: same port, same data. It does not wait. */
int pdk__server_start(pdk__server *s);

/* Wait until the server grants sessions, which for a member needs a quorum; one session is opened, and closed. A
 * server that died because its client port was taken is started again on another, unless the port was requested.
 * That holds for standalone servers and members. */
int pdk__server_wait_ready(pdk__server *s, int timeout_ms);

/* The same; gives up as soon as UNWANTED answers true. */
int pdk__server_wait_ready_unless(pdk__server *s, int timeout_ms, bool (*unwanted)(void *arg), void *arg);

/* End the process: SIGTERM, SIGKILL after GRACE_MS. Returns when it has ended. A server that does not run is fine. */
void pdk__server_stop(pdk__server *s, int grace_ms);

/* SIGKILL. Returns when the process has ended. */
void pdk__server_kill(pdk__server *s);

/* SIGSTOP, which returns when all its threads have stopped; and SIGCONT. */
void pdk__server_pause(pdk__server *s);
void pdk__server_resume(pdk__server *s);

/* From the next start on, the member looks for member ID at PEER (or listens there, if it is its own). */
void pdk__server_set_peer(pdk__server *s, int id, struct pdk__server_peer peer);

bool pdk__server_running(const pdk__server *s);

typedef enum pdk__server_role {
    PDK__SERVER_NONE = 0, /* down, or without a quorum */
    PDK__SERVER_STANDALONE,
    PDK__SERVER_FOLLOWER,
    PDK__SERVER_LEADER
} pdk__server_role;

/* Queries the server. */
pdk__server_role pdk__server_ask_role(const pdk__server *s);

int pdk__server_port(const pdk__server *s);  /* the client port, on 127.0.0.1 */
pid_t pdk__server_pid(const pdk__server *s); /* of java; 0 when it does not run */

/* Its temporary directory, borrowed until pdk__server_free(). */
const char *pdk__server_dir(const pdk__server *s);

/* The last failure in this thread, in one line. */
const char *pdk__server_error(void);

#endif
