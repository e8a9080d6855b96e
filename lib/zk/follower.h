/*
 * A follower of a path: a member that looks at the path, or at one of its children, and looks again at each event of
 * its watches, at each new connection and, after a request that failed, after a rest.
 *
 * A look is one request after another, which its owner chooses; it ends when the owner asks for no more. One request is
 * under way at a time, so a watch is set again before the owner is told, and what a program reads then is what the
 * watch guards. While the path is missing the follower waits for its creation. The watches are removed at the end,
 * after the answer that is under way, which may set one.
 */
#ifndef PDK__FOLLOWER_H
#define PDK__FOLLOWER_H

#include "lib/zk/member.h"

struct pdk__follower;

/* All with the client's lock held, outside of every step. */
struct pdk__follower_calls {
    const char *verb; /* for incidents, as "observe" */

    /* A look begins: by pdk__follower_list() or pdk__follower_read(). */
    void (*look)(struct pdk__follower *f);

    /* The answers. NAMES and DATA are borrowed for the call. CHANGED: the transaction that created or deleted a child
     * last. */
    void (*names)(struct pdk__follower *f, const char *const *names, size_t n, int64_t changed);
    void (*node)(struct pdk__follower *f, const char *data, size_t size, int64_t token);
    void (*absent)(struct pdk__follower *f); /* there is no path; its creation will be told */

    /* The last reference has gone: free the struct that F is part of. */
    void (*free)(struct pdk__follower *f);
};

struct pdk__follower {
    struct pdk__member member;
    struct pdk_client *client;
    const struct pdk__follower_calls *calls;
    unsigned refs; /* the owner's, one for the request under way, and those that the owner adds */
    bool freed;    /* by its owner */
    char *path;
    char *child; /* of it, watched; NULL: none */
    struct pdk__index_entry path_entry, child_entry;
    bool connected; /* by the last report */
    bool looking;   /* a look is under way */
    bool asking;    /* a request of it is */
    bool again;     /* its result will be out of date */
    bool answered;  /* an answer has come, whatever it was; the client's `changed` is signalled then */
    int64_t rest_ms;
};

/* All with the client's lock held. */

/* Prepare *F, which is zero. PDK_ENOMEM, and as pdk__member_may_join(); then nothing is kept. */
int pdk__follower_init(struct pdk__follower *f, struct pdk_client *c, const char *path,
                       const struct pdk__follower_calls *calls);

/* Take part in the session, and look. */
void pdk__follower_begin(struct pdk__follower *f);

/* No call but `free` comes any more. The caller has a reference to the client. */
void pdk__follower_free(struct pdk__follower *f);

/* The same without the lock: the verb of a program. Returns 0, or why its client cannot be entered. */
int pdk__follower_close(struct pdk__follower *f);

void pdk__follower_ref(struct pdk__follower *f);
void pdk__follower_unref(struct pdk__follower *f); /* the caller has a reference to the client */

/* List the children of the path, and watch them if WATCHING: `names`, or `absent`. */
void pdk__follower_list(struct pdk__follower *f, bool watching);

/* Read and watch the child NAME, or (NULL) the path itself: `node`, or `absent`. A child that is missing causes another
 * look. */
void pdk__follower_read(struct pdk__follower *f, const char *name);

/* The answer could not be taken, for want of memory: another look comes after a rest. */
void pdk__follower_rest(struct pdk__follower *f);

#endif
