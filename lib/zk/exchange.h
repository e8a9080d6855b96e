/*
 * An exchange: one request for a call of the program, and its answer. The call waits for it, or a function hears it.
 * It is counted, because the answer may come when the caller has left.
 *
 * All with the client's lock held, which is released while a caller waits.
 */
#ifndef PDK__EXCHANGE_H
#define PDK__EXCHANGE_H

#include "lib/zk/client.h"

enum pdk__request_kind {
    PDK__REQUEST_EXISTS,
    PDK__REQUEST_READ,
    PDK__REQUEST_SET,
    PDK__REQUEST_CREATE, /* an ordinary node, with the client's ACL; only under guards */
    PDK__REQUEST_DELETE
};

/* The request; all is lent for the call. */
struct pdk__inquiry {
    enum pdk__request_kind kind;
    const char *path;
    const void *data; /* to be written */
    size_t size;
    int32_t version;           /* that a write needs; -1: any */
    const char *const *guards; /* of a write: paths. It happens only while all are there */
    unsigned n_guards;
};

struct pdk__exchange {
    struct pdk_client *client;
    unsigned refs; /* the caller's, and the request's */
    bool answered;
    int zrc;
    bool unguarded;   /* refused, because a guard's node is gone */
    struct Stat stat; /* with ZOK: of what exists, was read or was set */
    char *data;       /* as it was read */
    size_t size;
    pthread_cond_t news;
    void (*heard)(struct pdk__exchange *x, void *arg); /* it is answered; NULL: a thread waits */
    void *arg;
};

/*
 * Send it. The caller has a reference to *OUT, and HEARD is called once.
 *
 * PDK_EDISCONNECTED, PDK_ENOMEM, PDK_EREFUSED: it was not sent, and nothing happens.
 */
int pdk__exchange_begin(struct pdk_client *c, const struct pdk__inquiry *inquiry,
                        void (*heard)(struct pdk__exchange *x, void *arg), void *arg, struct pdk__exchange **out);
void pdk__exchange_unref(struct pdk__exchange *x);

/* The client is closing, or its session is over, and its handle stays, for it is the program's: those that are not
 * answered by now are answered as by a lost connection. */
void pdk__exchange_give_up_all(struct pdk_client *c);

/* Wait for the answer. 0: it has come. PDK_ETIMEDOUT, and as pdk__client_may_wait(). */
int pdk__exchange_await(struct pdk__exchange *x, int64_t deadline_ms);

/* It was not done, and can be tried again at once; beside the codes of errors. */
enum { PDK__TRY_AGAIN = 1 };

/* Try until ATTEMPT answers otherwise than with PDK__TRY_AGAIN, or with PDK_EDISCONNECTED, upon which the connection is
 * awaited. PDK_ETIMEDOUT: not by DEADLINE_MS. */
int pdk__exchange_until(struct pdk_client *c, int64_t deadline_ms, int (*attempt)(void *arg, int64_t deadline_ms),
                        void *arg);

#endif
