/*
 * A client process: ZooKeeper's C client as far as it matters (zookeeper.c: pings after a third of the timeout, a
 * connection given up after two thirds without a packet, watches set again on reconnect, requests failed with their
 * outcome unknown), a driver that translates for the real core as lib/zk does, and users who lock and unlock.
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
    int settled;    /* how often it was told granted or failed */
    int done;
    bool granted;
    bool released; /* the user let go, or never held */
    bool revoked;  /* it was told that the lock is wanted back */
    int64_t token;
    bool armed; /* the watch on the predecessor was asked for, and has neither fired nor been taken back */
    instant asked, granted_at;
};

/* A create that left no node, and may land. */
struct stray {
    bool used;
    int path;
    struct pdk__stray machine;
};

struct user {
    struct client *client;
    int index;
    int rounds;   /* still to do */
    bool sprints; /* it asks again and again, and holds for a moment */
    int claim;    /* at work for it; -1 none */
};

enum io_state { IO_IDLE, IO_CONNECTING, IO_CONNECTED };

struct client {
    struct world *world;
    int id;
    bool paused, dead;
    int64_t clock_ms; /* what its clock said at the beginning */
    int drift_ppm;
    unsigned hosts; /* a bit for each server it knows */

    /* ZooKeeper's client */
    enum io_state io;
    int server;        /* it is, or tries to be, connected to */
    unsigned attempts; /* connections tried: the number of the one at hand */
    session_index session;
    session_index offered; /* for the servers to give, if it has none */
    int64_t seen_zxid;
    instant sent, received;
    bool wound; /* the io clock runs */
    int n_outstanding, n_queued;
    const struct request *outstanding[OUTSTANDING_MAX];
    const struct request *queued[OUTSTANDING_MAX];
    int n_watches;
    struct watched watches[CLIENT_WATCHES_MAX];

    /* the driver */
    int64_t heard_zxid;  /* the newest state that a message told of */
    int64_t joined_zxid; /* the state of its server when it was connected */
    unsigned handle;     /* handles had: the number of the one at hand */
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

    /* last, for they are large, and need no clearing */
    struct pipe up[SERVERS_MAX], down[SERVERS_MAX];
    struct pipe inbox; /* from the thread that reads to the thread that completes */
};

void client_begin(struct client *c, struct world *w, int id);
void client_pause(struct client *c, bool paused);
void client_crash(struct client *c);

/* The connection breaks: the server learns of it if TOLD; what was on its way up or down is lost, or not. */
void client_cut(struct client *c, bool told, bool lose_up, bool lose_down);

/* What a server sends down. */
void client_answer(struct client *c, int server, unsigned attempt, enum answer_kind kind, const struct answer *a);

int64_t client_now_ms(const struct client *c);

/* Does it believe, at this moment, that the claim holds? What pdk_mutex_state would say. */
bool claim_believes(const struct claim *claim);

/* --- between the files of the client ----------------------------------------------------------------------------- */

/* io.c */
void io_open(struct client *c);
bool io_send(struct client *c, enum request_kind kind, int path, const char *name, bool watch, uint64_t ticket);
bool io_mark(struct client *c, int path, const char *name, int32_t version, uint64_t ticket);
bool io_ask(struct client *c, enum request_kind kind, int path, const char *name); /* for the chain's sake */

/* client.c: what the completion thread is handed. */
enum in_kind { IN_CONNECTED, IN_DISCONNECTED, IN_EXPIRED, IN_REPLY, IN_UNKNOWN, IN_EVENT };
void client_receive(void *receiver, const struct message *m);
void client_arm(struct client *c, int64_t wake_ms);
void client_feed(struct claim *claim, struct pdk__event event);

/* What the library does first in every call: what the handle and the clock know is known. */
void client_heed(struct client *c);

/* users.c */
void user_begin(struct user *u);
void user_granted(struct claim *claim);
void user_failed(struct claim *claim);
void user_lost(struct claim *claim);
struct claim *client_claim(struct client *c, int user, int path);

#endif
