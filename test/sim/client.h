/*
 * A client process. It has a model of ZooKeeper's C client (zookeeper.c: pings after a third of the timeout, a
 * connection given up after two thirds without a packet, watches set again on reconnect, requests failed with their
 * outcome unknown), a driver that translates for the real core as lib/zk does, and users that lock and unlock.
 */
#ifndef SIM_CLIENT_H
#define SIM_CLIENT_H

#include "lib/core/contender.h"
#include "lib/core/session.h"
#include "lib/core/stray.h"
#include "test/sim/ensemble.h"

enum { USERS_MAX = 2, CLAIMS_MAX = 8, OUTSTANDING_MAX = 64, CLIENT_WATCHES_MAX = 32, STRAYS_MAX = 64 };

struct world;
struct client;

/* One contender at work. */
struct claim {
    struct client *client;
    bool used;
    int index;
    int user;
    int path;
    uint64_t number; /* of all claims of the run */
    struct pdk__contender machine;
    bool has_predecessor;
    struct watched predecessor;
    bool unwatched; /* its watch is being removed */
    int settled;    /* how often it was notified of a grant or a failure */
    int done;
    bool granted;
    bool released; /* the user released, or never held */
    bool revoked;  /* it was notified of a revocation request */
    int64_t token;
    bool armed; /* the watch on the predecessor was requested, and has neither fired nor been removed */
    instant asked, granted_at;
};

/* A create that left no node yet, and may still be committed. */
struct stray {
    bool used;
    int path;
    struct pdk__stray machine;
};

struct user {
    struct client *client;
    int index;
    int rounds;   /* still to do */
    bool sprints; /* it requests the lock again and again, and holds it briefly */
    int claim;    /* the claim at work for it; -1 none */
};

enum io_state { IO_IDLE, IO_CONNECTING, IO_CONNECTED };

struct client {
    struct world *world;
    int id;
    bool paused, dead;
    int64_t clock_ms; /* its clock's time at the beginning */
    int drift_ppm;
    unsigned hosts; /* a bit for each server it knows */

    /* ZooKeeper's client */
    enum io_state io;
    int server;        /* that it is connected to, or tries */
    unsigned attempts; /* connections tried: the number of the present one */
    session_index session;
    session_index offered; /* the id that a server gives it, if it has none */
    int64_t seen_zxid;
    instant sent, received;
    bool wound; /* the io clock runs */
    int n_outstanding, n_queued;
    const struct request *outstanding[OUTSTANDING_MAX];
    const struct request *queued[OUTSTANDING_MAX];
    int n_watches;
    struct watched watches[CLIENT_WATCHES_MAX];

    /* the driver */
    int64_t heard_zxid;  /* the newest state in any message */
    int64_t joined_zxid; /* the state of its server when it was connected */
    unsigned handle;     /* handles opened: the number of the present one */
    struct pdk__session driver;
    uint64_t ops;
    uint32_t last_attempt;
    struct claim claims[CLAIMS_MAX];
    struct stray strays[STRAYS_MAX];
    uint64_t n_strays; /* so far */
    struct pdk__delay delays[PATHS];
    int64_t wake_ms;
    unsigned alarms;
    bool late; /* an alarm went off while it was paused */

    struct user users[USERS_MAX];
    int n_users;

    /* last, because they are large and need no clearing */
    struct pipe up[SERVERS_MAX], down[SERVERS_MAX];
    struct pipe inbox; /* from the thread that reads to the thread that completes */
};

void client_begin(struct client *c, struct world *w, int id);
void client_pause(struct client *c, bool paused);
void client_crash(struct client *c);

/* The connection breaks. The server learns of it if TOLD. Messages in transit up or down are lost if LOSE_UP,
 * LOSE_DOWN. */
void client_cut(struct client *c, bool told, bool lose_up, bool lose_down);

/* A server's answer is sent down. */
void client_answer(struct client *c, int server, unsigned attempt, enum answer_kind kind, const struct answer *a);

int64_t client_now_ms(const struct client *c);

/* Does the client believe now that the claim holds? The answer of pdk_mutex_state(). */
bool claim_believes(const struct claim *claim);

/* --- between the files of the client ----------------------------------------------------------------------------- */

/* io.c */
void io_open(struct client *c);
bool io_send(struct client *c, enum request_kind kind, int path, const char *name, bool watch, uint64_t ticket);
bool io_mark(struct client *c, int path, const char *name, int32_t version, uint64_t ticket);
bool io_ask(struct client *c, enum request_kind kind, int path, const char *name); /* for the chain's sake */

/* client.c: the inputs of the completion thread. */
enum in_kind { IN_CONNECTED, IN_DISCONNECTED, IN_EXPIRED, IN_REPLY, IN_UNKNOWN, IN_EVENT };
void client_receive(void *receiver, const struct message *m);
void client_arm(struct client *c, int64_t wake_ms);
void client_feed(struct claim *claim, struct pdk__event event);

/* Every call of the library does this first: step the session machine with the handle's state and the time. */
void client_heed(struct client *c);

/* users.c */
void user_begin(struct user *u);
void user_granted(struct claim *claim);
void user_failed(struct claim *claim);
void user_lost(struct claim *claim);
struct claim *client_claim(struct client *c, int user, int path);

#endif
