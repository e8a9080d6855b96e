#include "test/demo/figures.h"
#include "test/lib/check.h"
#include "test/lib/history.h"

#include <pthread.h>

struct worker {
    pthread_t thread;
    struct crew *crew;
    int index;
};

static void *work(void *arg)
{
    const struct worker *w = arg;
    struct crew *c = w->crew;
    int none = 0;
    for (int64_t round; (round = atomic_fetch_add(&c->next, 1)) < c->rounds && atomic_load(&c->error) == 0;) {
        int rc = c->round(w->index, round);
        if (rc != 0)
            atomic_compare_exchange_strong(&c->error, &none, rc);
    }
    return NULL;
}

double crew_run(struct crew *c)
{
    struct worker workers[WORKERS];
    int64_t begun = now_ns();
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){.crew = c, .index = i};
        CHECK_EQ(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++)
        CHECK_EQ(pthread_join(workers[i].thread, NULL), 0);
    CHECK_RC(atomic_load(&c->error), PDK_OK);
    return (double)(now_ns() - begun) / 1e9;
}
