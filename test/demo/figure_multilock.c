/* A lock and unlock without contention, of one mutex and of a multi-lock of eight paths; one after the other. */
#include "test/demo/figures.h"
#include "test/lib/check.h"
#include "test/lib/history.h"

#include <stdio.h>
#include <stdlib.h>

enum { PATHS = 8, COUNTED_CYCLES = 50 };

static pdk_client *client;
static pdk_mutex *mutex;
static pdk_mutex *multi;

static void mutex_cycle(void)
{
    CHECK_RC(pdk_mutex_lock(mutex), PDK_OK);
    CHECK_RC(pdk_mutex_unlock(mutex), PDK_OK);
}

static void multi_cycle(void)
{
    CHECK_RC(pdk_mutex_lock(multi), PDK_OK);
    CHECK_RC(pdk_mutex_unlock(multi), PDK_OK);
}

static int64_t timed(void (*cycle)(void))
{
    int64_t begun = now_ns();
    cycle();
    return now_ns() - begun;
}

static int by_value(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* In ms. */
static double median(int64_t *ns, int n)
{
    qsort(ns, (size_t)n, sizeof *ns, by_value);
    return (double)ns[n / 2] / 1e6;
}

/* Pings are among them, and the queries for the count. */
static double requests_of(void (*cycle)(void))
{
    long before = figures_requests();
    for (int i = 0; i < COUNTED_CYCLES; i++)
        cycle();
    return (double)(figures_requests() - before) / COUNTED_CYCLES;
}

static void begin(void)
{
    char names[PATHS][32];
    const char *paths[PATHS];
    for (int i = 0; i < PATHS; i++) {
        snprintf(names[i], sizeof names[i], "/figures/multi-%d", i);
        paths[i] = names[i];
    }
    client = figures_client();
    CHECK_RC(pdk_mutex_new(&mutex, client, "/figures/one", NULL), PDK_OK);
    CHECK_RC(pdk_mutex_new_several(&multi, client, paths, PATHS, NULL), PDK_OK);
    mutex_cycle(); /* the paths exist from now on */
    multi_cycle();
}

static void end(void)
{
    CHECK_RC(pdk_lock_free(mutex), PDK_OK);
    CHECK_RC(pdk_lock_free(multi), PDK_OK);
    CHECK_RC(pdk_client_free(client), PDK_OK);
}

void figure_multilock(void)
{
    int64_t *one = calloc((size_t)size.cycles, sizeof *one), *eight = calloc((size_t)size.cycles, sizeof *eight);
    CHECK(one != NULL && eight != NULL);
    begin();
    for (int i = 0; i < size.cycles; i++) {
        one[i] = timed(mutex_cycle);
        eight[i] = timed(multi_cycle);
    }
    double one_ms = median(one, size.cycles), eight_ms = median(eight, size.cycles);
    figure("multilock.mutex", one_ms, 3, "ms", "", "lock and unlock of one mutex: median of %d", size.cycles);
    figure("multilock.eight", eight_ms, 3, "ms", "", "lock and unlock of a multi-lock of %d paths: the same", PATHS);
    figure("multilock.ratio", eight_ms / one_ms, 2, "times", "1.5 or less", "that, over the mutex's");
    figure("multilock.mutex_requests", requests_of(mutex_cycle), 1, "", "", "requests of a mutex's lock and unlock");
    figure("multilock.eight_requests", requests_of(multi_cycle), 1, "", "",
           "requests of the multi-lock's, pings among them");
    end();
    free(one);
    free(eight);
}
