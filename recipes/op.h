/*
 * An op: one request for a lock, from its call until nothing of it is left on the servers. Each has a contender of its
 * own, so the order among threads is the order among processes: the servers'.
 *
 * It is counted. The claim holds it until nothing is left on the servers. The caller holds it until the lock is
 * unlocked or the wait is over, the user's handle until pdk_op_free(), a queued callback until it has run.
 */
#ifndef PDK__OP_H
#define PDK__OP_H

#include "lib/zk/claim.h"
#include "paddock/mutex.h"

enum pdk__op_stage {
    PDK__OP_PENDING,  /* contends */
    PDK__OP_GRANTED,  /* held; the machine knows whether it is suspect */
    PDK__OP_LOST,     /* was held; its owner has not unlocked yet */
    PDK__OP_RELEASED, /* unlocked; its node may not be deleted yet */
    PDK__OP_FAILED    /* never held */
};

struct pdk_op {
    struct pdk__claim claim;
    struct pdk__list link; /* in the mutex, until it neither contends nor is owned */
    struct pdk_mutex *mutex;
    unsigned refs;
    enum pdk__op_stage stage;
    bool settled; /* granted or failed, by `result` */
    bool gone;    /* nothing is left on the servers; `release_result` is the outcome */
    int result;
    int release_result;
    int64_t token;
    char node[PDK__NAME_MAX];
    const char *guard; /* the path of that node, once a check op was filled with it; owned by the mutex */
    char *data;
    char *why; /* why it failed, or was lost; NULL: only the code is known */
    int64_t began_ms, waited_ms;
    pthread_cond_t news; /* settled, or gone */

    /* the owner */
    uint64_t thread; /* 0: belongs to no thread */
    unsigned count;

    /* the callbacks of the asynchronous verbs */
    struct pdk__notice settled_notice;
    pdk_lock_cb settled_cb;
    void *settled_arg;
    struct pdk__notice gone_notice;
    pdk_lock_cb gone_cb;
    void *gone_arg;
    bool gone_told;
};

#endif
