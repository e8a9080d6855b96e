/*
 * Servers for a test: one, or an ensemble, each with a proxy before its client port and, on request, on the links
 * between the servers. A failure fails the test.
 *
 * When PADDOCK_TEST_HOSTS names servers ("192.0.2.1:2181,192.0.2.2:2181"), those are used. They appear on ports of the
 * loopback interface, as if the test had started them. A test that needs servers of its own is skipped then.
 */
#ifndef PDK__TEST_ENSEMBLE_H
#define PDK__TEST_ENSEMBLE_H

#include "server/throwaway.h"
#include "test/lib/beat.h"
#include "test/lib/proxy.h"

struct pdk__ensemble_options {
    int n;                         /* 1, also for 0: standalone */
    int tick_ms;                   /* default 200 */
    int min_session_ms;            /* default: 2 ticks */
    int sync_limit;                /* default 10 ticks */
    bool links;                    /* proxies between the servers, too */
    const char *const *properties; /* as in struct pdk__server_options */
    bool own;                      /* the test stops, kills or pauses servers, or counts nodes, sessions or watches */
    bool quiet;                    /* without the session that an ensemble gets to keep it writing: test/lib/beat.h */
};

typedef struct pdk__ensemble {
    int n;
    bool secure; /* clients speak TLS, as secure.h has it: the proxies see bytes */
    pdk__beat *beat;
    pdk__proxy *relay[PDK__SERVER_MAX]; /* to servers that are not ours */
    pdk__server *server[PDK__SERVER_MAX];
    pdk__proxy *proxy[PDK__SERVER_MAX];                 /* before the client port of server [i] */
    pdk__proxy *door[PDK__SERVER_MAX];                  /* the same, for the handles of the test itself: no rules */
    pdk__proxy *link[PDK__SERVER_MAX][PDK__SERVER_MAX]; /* [i][j]: how i reaches j as its leader; NULL without links */
    char address[PDK__SERVER_MAX][32];                  /* of the proxy [i], "host:port" */
    char hosts[PDK__SERVER_MAX * 32];                   /* all of them */
    char behind[PDK__SERVER_MAX][32];                   /* of the door [i] */
    char behind_all[PDK__SERVER_MAX * 32];
} pdk__ensemble;

/* Start all servers and wait until they serve. The caller frees. */
pdk__ensemble *pdk__ensemble_new(const struct pdk__ensemble_options *o);
void pdk__ensemble_free(pdk__ensemble *e);

/*
 * Start server I again, after it was stopped or killed, and wait until it grants sessions. Its proxy and door refuse
 * connections until then: a server accepts connections before it serves, and ZooKeeper's client waits for the answer on
 * such a connection for up to two thirds of its session timeout.
 */
void pdk__ensemble_restart(pdk__ensemble *e, int i);

/* Wait until there is a leader, and return its index; all N_RUNNING servers must serve. */
int pdk__ensemble_leader(pdk__ensemble *e, int n_running);

/* Restore the ensemble between tests, or after an outage of several servers: no proxy has rules, all servers run. Each
 * server grants sessions before its proxy and its door accept connections. */
void pdk__ensemble_heal(pdk__ensemble *e);

/* --- what a server says about itself ----------------------------------------------------------------------------- */

/* A number of `mntr`, as "zk_znode_count", "zk_ephemerals_count", "zk_watch_count"; -1 when the answer lacks it. */
long pdk__ask_number(const pdk__server *s, const char *name);

/* How many sessions watch exactly PATH at this server. */
int pdk__ask_watchers(const pdk__server *s, const char *path);

/* Does SESSION watch exactly PATH at this server? */
bool pdk__ask_watches(const pdk__server *s, const char *path, long long session);

/* How many connections the server has, without the one that this query uses. */
int pdk__ask_connections(const pdk__server *s);

/* How many ephemeral nodes SESSION owns. */
int pdk__ask_ephemerals(const pdk__server *s, long long session);

#endif
