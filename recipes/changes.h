/*
 * Changes that nobody asked for, on their way to the program: to its callback, and to a descriptor that it polls. Either
 * gets all of them, in order; a program that lets more than 16 wait loses those in the middle, never the last.
 */
#ifndef PDK__CHANGES_H
#define PDK__CHANGES_H

#include "lib/zk/client.h"

enum { PDK__CHANGES_MAX = 16 };

struct pdk__change {
    int what;
    int64_t token;
};

struct pdk__change_queue {
    size_t n;
    struct pdk__change list[PDK__CHANGES_MAX];
};

struct pdk__changes;

/* A callback of the program's, whatever its type. */
typedef void pdk__change_cb(void);

/* The object that changes. It is held, with the lock, from the moment a change waits for the callback until that has
 * run. */
struct pdk__changes_owner {
    void (*call)(struct pdk__changes *changes, pdk__change_cb *cb, void *arg, const struct pdk__change *change);
    void (*ref)(struct pdk__changes *changes);
    void (*unref)(struct pdk__changes *changes);
};

struct pdk__changes {
    struct pdk_client *client;
    const struct pdk__changes_owner *owner;
    struct pdk__notice notice;
    pdk__change_cb *cb;
    void *arg;
    struct pdk__change_queue to_call;
    int fd; /* readable while TO_READ has something; -1 until it is asked for */
    struct pdk__change_queue to_read;
};

/* CLIENT is borrowed for as long as the owner lives. */
void pdk__changes_init(struct pdk__changes *changes, struct pdk_client *client, const struct pdk__changes_owner *owner);

/* All below with the client's lock held. */

/* What changed, with its token. */
void pdk__changes_tell(struct pdk__changes *changes, int what, int64_t token);

/* Who is told from now on; NULL for nobody, and what still waits is forgotten. */
void pdk__changes_call(struct pdk__changes *changes, pdk__change_cb *cb, void *arg);

/* The descriptor, made when it is first asked for, or PDK_ESYSTEM. */
int pdk__changes_fd(struct pdk__changes *changes);

/* Take the oldest change that waits to be read. False when there is none. */
bool pdk__changes_read(struct pdk__changes *changes, struct pdk__change *change);

/* Nobody is told any more, and the descriptor is closed. */
void pdk__changes_end(struct pdk__changes *changes);

#endif
