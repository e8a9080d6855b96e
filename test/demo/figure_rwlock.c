/*
 * Eight clients that work 5 ms under a lock, nine times in ten as readers: by a read/write lock, and by a mutex.
 * Batches of both alternate, so that the load of the machine meets both.
 *
 * Two workloads. By chance: each round writes with a probability of a tenth. In order: each client reads nine times,
 * then writes once; the writes of all come close together.
 */
#include "test/demo/figures.h"
#include "test/lib/check.h"
#include "test/lib/dice.h"

#include <stdio.h>
#include <time.h>

enum { WORK_MS = 5, WRITES_IN = 10, IDEAL_ROUNDS = 100000 };

static struct worker {
    pdk_client *client;
    pdk_mutex *mutex;
    pdk_rwlock *lock;
    struct dice dice;
    int n;
} workers[WORKERS];

static _Atomic int n_readers, n_writers, n_overlaps;

/* Each worker enters first and looks then: of two that overlap, at least one sees the other. */
static void work(bool writes)
{
    int writers = writes ? atomic_fetch_add(&n_writers, 1) : 0;
    if (!writes) {
        atomic_fetch_add(&n_readers, 1);
        writers = atomic_load(&n_writers);
    }
    if (writers > 0 || (writes && atomic_load(&n_readers) > 0))
        atomic_fetch_add(&n_overlaps, 1);
    nanosleep(&(struct timespec){.tv_nsec = WORK_MS * 1000000L}, NULL);
    atomic_fetch_sub(writes ? &n_writers : &n_readers, 1);
}

static int by_mutex(int i, int64_t round)
{
    (void)round;
    int rc = pdk_mutex_lock(workers[i].mutex);
    if (rc != 0)
        return rc;
    work(true);
    return pdk_mutex_unlock(workers[i].mutex);
}

static int by_rwlock(struct worker *w, bool writes)
{
    int rc = writes ? pdk_rwlock_wrlock(w->lock) : pdk_rwlock_rdlock(w->lock);
    if (rc != 0)
        return rc;
    work(writes);
    return pdk_rwlock_unlock(w->lock);
}

static int by_chance(int i, int64_t round)
{
    (void)round;
    return by_rwlock(&workers[i], dice_below(&workers[i].dice, WRITES_IN) == 0);
}

static int in_order(int i, int64_t round)
{
    (void)round;
    return by_rwlock(&workers[i], ++workers[i].n % WRITES_IN == 0);
}

static void begin(void)
{
    for (int i = 0; i < WORKERS; i++) {
        struct worker *w = &workers[i];
        w->client = figures_client();
        CHECK_RC(pdk_mutex_new(&w->mutex, w->client, "/figures/mutex", NULL), PDK_OK);
        CHECK_RC(pdk_rwlock_new(&w->lock, w->client, "/figures/rwlock", NULL), PDK_OK);
        dice_seed(&w->dice, (uint64_t)i + 1);
    }
}

static void end(void)
{
    for (int i = 0; i < WORKERS; i++) {
        CHECK_RC(pdk_lock_free(workers[i].mutex), PDK_OK);
        CHECK_RC(pdk_lock_free(workers[i].lock), PDK_OK);
        CHECK_RC(pdk_client_free(workers[i].client), PDK_OK);
    }
}

static double later(double a, double b) { return a > b ? a : b; }

/* The ratio in a queue that costs no time and serves in the order of arrival, where a round takes a unit: as the mutex
 * needs a unit for each. A larger one is not to be had without overtaking. */
static double ideal(bool by_chance)
{
    double ready[WORKERS] = {0}, writer_ends = 0, reader_ends = 0;
    int n[WORKERS] = {0};
    struct dice dice;
    dice_seed(&dice, 1);
    for (int round = 0; round < IDEAL_ROUNDS; round++) {
        int i = 0;
        for (int j = 1; j < WORKERS; j++)
            i = ready[j] < ready[i] ? j : i;
        bool writes = by_chance ? dice_below(&dice, WRITES_IN) == 0 : ++n[i] % WRITES_IN == 0;
        double first = later(ready[i], writes ? later(writer_ends, reader_ends) : writer_ends);
        ready[i] = first + 1;
        *(writes ? &writer_ends : &reader_ends) = first + 1;
    }
    return IDEAL_ROUNDS / later(writer_ends, reader_ends);
}

static void batch(int (*round)(int, int64_t), double *seconds)
{
    struct crew crew = {.round = round, .rounds = size.batch_rounds};
    *seconds += crew_run(&crew);
}

void figure_rwlock(void)
{
    double mutex = 0, chance = 0, order = 0, rounds = (double)size.batches * size.batch_rounds;
    begin();
    for (int i = 0; i < size.batches; i++) {
        batch(by_mutex, &mutex);
        batch(by_chance, &chance);
        batch(in_order, &order);
    }
    end();
    CHECK_EQ(atomic_load(&n_overlaps), 0);
    figure("rwlock.overlaps", 0, 0, "", "0", "rounds in which a writer was not alone, of %.0f", 3 * rounds);
    figure("rwlock.mutex", rounds / mutex, 1, "/s", "", "mutex, %d clients, %d ms of work a round", WORKERS, WORK_MS);
    figure("rwlock.chance", rounds / chance, 1, "/s", "",
           "read/write lock, a round writes with a probability of a tenth");
    figure("rwlock.chance_ratio", mutex / chance, 2, "times", "4 or more", "that, over the mutex's");
    figure("rwlock.chance_ideal", ideal(true), 2, "times", "", "the same ratio in a queue that costs no time");
    figure("rwlock.order", rounds / order, 1, "/s", "", "read/write lock, each client reads nine times, then writes");
    figure("rwlock.order_ratio", mutex / order, 2, "times", "4 or more", "that, over the mutex's");
    figure("rwlock.order_ideal", ideal(false), 2, "times", "", "the same ratio in a queue that costs no time");
}
