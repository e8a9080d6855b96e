#include "test/lib/beat.h"

#include "test/lib/check.h"
#include "test/lib/zk.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum { PERIOD_MS = 100, ANSWER_MS = 3000 };

struct pdk__beat {
    zhandle_t *zh;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t told;
    bool stop;
    atomic_int n_unanswered;
};

static void answered(int rc, const struct Stat *stat, const void *arg)
{
    (void)rc, (void)stat;
    atomic_fetch_sub((atomic_int *)arg, 1);
}

static void beat(struct pdk__beat *b)
{
    atomic_fetch_add(&b->n_unanswered, 1);
    if (zoo_aset(b->zh, "/beat", "", 0, -1, answered, &b->n_unanswered) != ZOK)
        atomic_fetch_sub(&b->n_unanswered, 1);
}

/* ZooKeeper's client may lose a request that is not answered when the handle is closed (ZOOKEEPER-2894). */
static void await_answers(struct pdk__beat *b)
{
    int64_t until_ms = pdk__test_now_ms() + ANSWER_MS;
    while (atomic_load(&b->n_unanswered) > 0 && pdk__test_now_ms() < until_ms)
        pdk__test_nap();
}

/* Sleep one period. True when the beat was stopped meanwhile. */
static bool rest(struct pdk__beat *b)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += PERIOD_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&b->lock);
    if (!b->stop)
        pthread_cond_timedwait(&b->told, &b->lock, &until);
    bool stop = b->stop;
    pthread_mutex_unlock(&b->lock);
    return stop;
}

/* Answers are ignored: a lost beat is followed by another. */
static void *write_on(void *arg)
{
    struct pdk__beat *b = arg;
    while (!rest(b))
        if (zoo_state(b->zh) == ZOO_CONNECTED_STATE)
            beat(b);
    return NULL;
}

pdk__beat *pdk__beat_new(const char *hosts)
{
    sigset_t all, before;
    struct pdk__beat *b = calloc(1, sizeof *b);
    CHECK(b != NULL);
    sigfillset(&all);
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->told, NULL);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    b->zh = pdk__zk_open(hosts, 60000);
    zoo_create(b->zh, "/beat", "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, NULL, 0);
    CHECK(pthread_create(&b->thread, NULL, write_on, b) == 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return b;
}

void pdk__beat_free(pdk__beat *b)
{
    if (b == NULL)
        return;
    pthread_mutex_lock(&b->lock);
    b->stop = true;
    pthread_cond_signal(&b->told);
    pthread_mutex_unlock(&b->lock);
    pthread_join(b->thread, NULL);
    await_answers(b);
    zookeeper_close(b->zh);
    pthread_mutex_destroy(&b->lock);
    pthread_cond_destroy(&b->told);
    free(b);
}
