/* One holder at a time, in the order of the queue: among sessions, among threads, among processes. */
#include "test/lib/fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

enum { N_WAITERS = 6 };

static void in_order(void)
{
    struct peer peers[N_WAITERS];
    struct request wants[N_WAITERS];
    fixture_begin();
    for (int i = 0; i < N_WAITERS; i++) {
        peers[i] = peer_new(0);
        request_queued(&wants[i], &peers[i], PDK_FOREVER, i + 1);
    }
    for (int i = 0; i < N_WAITERS; i++) {
        request_told(&wants[i], 0);
        for (int later = i + 1; later < N_WAITERS; later++)
            CHECK_EQ(wants[later].n_told, 0);
        request_end(&wants[i], 0);
    }
    for (int i = 0; i < N_WAITERS; i++)
        peer_free(&peers[i]);
}

/* --- many, with a witness ---------------------------------------------------------------------------------------- */

/* The data that the lock protects. INSIDE names the contender inside; the rest is only right when no other is. */
struct witness {
    atomic_int inside;
    atomic_int overlaps;
    atomic_int disorders; /* a token that did not rise */
    int rounds;           /* plain on purpose: two inside at once lose some */
    int64_t token;
};

static void enter(struct witness *w, int who, int64_t token)
{
    if (atomic_exchange(&w->inside, who) != 0)
        atomic_fetch_add(&w->overlaps, 1);
    if (token <= w->token)
        atomic_fetch_add(&w->disorders, 1);
    w->token = token;
    int rounds = w->rounds;
    sched_yield(); /* let an intruder in, if there is one */
    w->rounds = rounds + 1;
    if (atomic_exchange(&w->inside, 0) != who)
        atomic_fetch_add(&w->overlaps, 1);
}

static void check_witness(const struct witness *w, int rounds)
{
    CHECK_LAW(w->overlaps == 0);
    CHECK_LAW(w->disorders == 0);
    CHECK_LAW(w->rounds == rounds);
    CHECK_EQ(fixture_nodes(), 0);
}

enum { N_THREADS = 10, THREAD_ROUNDS = 30, N_PROCESSES = 10, PROCESS_ROUNDS = 100 };

struct worker {
    pthread_t thread;
    struct peer *peer;
    struct witness *witness;
    int who;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    for (int i = 0; i < THREAD_ROUNDS; i++) {
        CHECK_RC(pdk_mutex_lock(w->peer->mutex), 0);
        enter(w->witness, w->who, peer_token(w->peer));
        CHECK_RC(pdk_mutex_unlock(w->peer->mutex), 0);
    }
    return NULL;
}

static void ten_threads(void)
{
    struct worker workers[N_THREADS];
    struct witness witness = {0};
    fixture_begin();
    struct peer peer = peer_new(0);
    for (int i = 0; i < N_THREADS; i++) {
        workers[i] = (struct worker){.peer = &peer, .witness = &witness, .who = i + 1};
        CHECK_EQ(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    check_witness(&witness, N_THREADS * THREAD_ROUNDS);
    peer_free(&peer);
}

static void rounds_of_a_process(struct witness *witness)
{
    struct peer peer = peer_new(0);
    for (int i = 0; i < PROCESS_ROUNDS; i++) {
        CHECK_RC(pdk_mutex_lock(peer.mutex), 0);
        enter(witness, getpid(), peer_token(&peer));
        CHECK_RC(pdk_mutex_unlock(peer.mutex), 0);
    }
    peer_free(&peer);
    _exit(0);
}

/* The word they all write to is in memory that they share: no clock has to be trusted. */
static void ten_processes(void)
{
    pid_t pids[N_PROCESSES];
    CHILD_HAS_THREADS();
    fixture_begin();
    struct witness *witness = mmap(NULL, sizeof *witness, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(witness != MAP_FAILED);
    for (int i = 0; i < N_PROCESSES; i++)
        if ((pids[i] = pdk__test_fork()) == 0)
            rounds_of_a_process(witness);
    for (int i = 0; i < N_PROCESSES; i++)
        CHECK_EQ(pdk__test_wait(pids[i]), 0);
    check_witness(witness, N_PROCESSES * PROCESS_ROUNDS);
    munmap(witness, sizeof *witness);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"waiters are served in order", in_order},
        {"ten threads of one object hold one at a time, with rising tokens", ten_threads},
        {"ten processes hold one at a time for a thousand rounds, with rising tokens", ten_processes},
        {0},
    };
    return fixture_main(argc, argv, "mutex exclusion", tests, ON_ONE | ON_THREE);
}
