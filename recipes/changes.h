/*
 * Unrequested changes on their way to the program: to its callback, and to a descriptor that it polls. Each of the two
 * gets all of them, in order. A program that lets more than 16 wait loses those in the middle, never the last.
 *
 * Each has a queue of its own, allocated when the program asks for it and not when a change comes: a report cannot fail.
 * Most objects have neither.
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

struct pdk__object;

/* A callback of the program, of any type. */
typedef void pdk__change_cb(void);

/* Functions of the object that changes. It is held, with the lock, from the moment at which a change waits for the
 * callback until the callback has run. */
struct pdk__changes_owner {
    void (*call)(struct pdk__object *o, pdk__change_cb *cb, void *arg, const struct pdk__change *change);
    void (*ref)(struct pdk__object *o);
    void (*unref)(struct pdk__object *o);
};

struct pdk__changes {
    struct pdk_client *client;
    struct pdk__object *object;
    const struct pdk__changes_owner *owner;
    struct pdk__callback callback;
    pdk__change_cb *cb;
    void *arg;
    struct pdk__change_queue *to_call; /* NULL until the first callback */
    int fd;                            /* readable while TO_READ is not empty; -1 until the first request for it */
    struct pdk__change_queue *to_read; /* NULL until then */
};

/* CLIENT is borrowed for as long as OBJECT lives. */
void pdk__changes_init(struct pdk__changes *changes, struct pdk_client *client, struct pdk__object *object,
                       const struct pdk__changes_owner *owner);

/* All below with the client's lock held. */

/* Report the change WHAT, with its token. */
void pdk__changes_tell(struct pdk__changes *changes, int what, int64_t token);

/* Set the callback from now on. With NULL there is none, and changes that still wait for it are forgotten. PDK_ENOMEM:
 * all is as before. */
int pdk__changes_call(struct pdk__changes *changes, pdk__change_cb *cb, void *arg);

/* The descriptor, opened at the first request for it, or PDK_ESYSTEM, PDK_ENOMEM. */
int pdk__changes_fd(struct pdk__changes *changes);

/* Take the oldest change that waits to be read. False when there is none. */
bool pdk__changes_read(struct pdk__changes *changes, struct pdk__change *change);

/* From now on no change is reported, and the descriptor is closed. */
void pdk__changes_end(struct pdk__changes *changes);

/* Free what is left, without the lock or with it. */
void pdk__changes_clear(struct pdk__changes *changes);

#endif
