/* The read/write lock: who holds at once, in which order, what a thread may take beside what it has. */
#include "test/integration/kinds.h"
#include "test/lib/dice.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_PEERS = 4 };

static pdk_client *clients[N_PEERS];
static pdk_rwlock *locks[N_PEERS];

static void begin(void)
{
    fixture_begin();
    for (int i = 0; i < N_PEERS; i++) {
        struct peer p = peer_new(0);
        CHECK_RC(pdk_lock_free(p.mutex), 0);
        clients[i] = p.client;
        CHECK_RC(pdk_rwlock_new(&locks[i], clients[i], fixture.path, NULL), 0);
    }
}

static void end(void)
{
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 0);
    for (int i = 0; i < N_PEERS; i++) {
        CHECK_RC(pdk_lock_free(locks[i]), 0);
        CHECK_RC(pdk_client_close(clients[i]), 0);
        CHECK_RC(pdk_client_free(clients[i]), 0);
    }
}

/* --- requests that wait ------------------------------------------------------------------------------------------ */

static bool granted(struct hold *w) { return hold_told(w) == 0; }

/* Behind N nodes, one of which may be the waiting one. */
static void want(struct hold *w, pdk_rwlock *l, bool write, int n_nodes)
{
    hold_ask(w, &kinds[write ? WRITER : READER], l, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == n_nodes);
}

static void finish(struct hold *w)
{
    CHECK_WITHIN(LONG_MS, granted(w));
    CHECK_RC(hold_release(w), 0);
}

/* --- modes ------------------------------------------------------------------------------------------------------- */

static void readers_share(void)
{
    begin();
    for (int i = 0; i < N_PEERS; i++)
        CHECK_RC(pdk_rwlock_rdlock(locks[i]), 0);
    CHECK_EQ(fixture_nodes(), N_PEERS);
    for (int i = 0; i < N_PEERS; i++) {
        CHECK_EQ(pdk_lock_state(locks[i]), PDK_HELD);
        CHECK_RC(pdk_rwlock_unlock(locks[i]), 0);
    }
    end();
}

static void a_writer_is_alone(void)
{
    begin();
    CHECK_RC(pdk_rwlock_wrlock(locks[0]), 0);
    CHECK_RC(pdk_rwlock_tryrdlock(locks[1]), PDK_EBUSY);
    CHECK_RC(pdk_rwlock_trywrlock(locks[1]), PDK_EBUSY);
    CHECK_RC(pdk_rwlock_timedrdlock(locks[1], 100), PDK_ETIMEDOUT);
    CHECK_RC(pdk_rwlock_timedwrlock(locks[1], 100), PDK_ETIMEDOUT);
    CHECK_RC(pdk_rwlock_unlock(locks[0]), 0);
    CHECK_WITHIN(LONG_MS, pdk_rwlock_tryrdlock(locks[1]) == 0);
    CHECK_WITHIN(LONG_MS, pdk_rwlock_tryrdlock(locks[2]) == 0); /* its server may lag */
    CHECK_RC(pdk_rwlock_trywrlock(locks[0]), PDK_EBUSY);
    CHECK_RC(pdk_rwlock_timedwrlock(locks[0], 100), PDK_ETIMEDOUT);
    CHECK_RC(pdk_rwlock_unlock(locks[1]), 0);
    CHECK_RC(pdk_rwlock_unlock(locks[2]), 0);
    end();
}

/* Two threads' requests through one object contend as those of two processes do. */
static void readers_of_one_object_share(void)
{
    struct hold second, writer;
    begin();
    want(&second, locks[0], false, 1);
    CHECK_WITHIN(LONG_MS, granted(&second));
    CHECK_RC(pdk_rwlock_tryrdlock(locks[0]), 0);
    CHECK_EQ(fixture_nodes(), 2);
    want(&writer, locks[0], true, 3);
    fixture_settle(clients, N_PEERS);
    CHECK(!granted(&writer));
    CHECK_RC(pdk_rwlock_unlock(locks[0]), 0);
    CHECK_RC(pdk_rwlock_unlock(locks[0]), PDK_EPERM); /* the other is no thread's */
    finish(&second);
    finish(&writer);
    end();
}

/* --- order ------------------------------------------------------------------------------------------------------- */

static void a_reader_waits_for_a_waiting_writer(void)
{
    struct hold writer, reader;
    begin();
    CHECK_RC(pdk_rwlock_rdlock(locks[0]), 0);
    want(&writer, locks[1], true, 2);
    want(&reader, locks[2], false, 3);
    fixture_settle(clients, N_PEERS);
    CHECK(!granted(&writer) && !granted(&reader));
    CHECK_RC(pdk_rwlock_tryrdlock(locks[3]), PDK_EBUSY);
    CHECK_RC(pdk_rwlock_unlock(locks[0]), 0);
    CHECK_WITHIN(LONG_MS, granted(&writer));
    fixture_settle(clients, N_PEERS);
    CHECK(!granted(&reader));
    finish(&writer);
    finish(&reader);
    end();
}

/* The writer waits for the nearest reader, and then for the one before it. */
static void a_writer_waits_for_all_readers(void)
{
    struct hold writer;
    begin();
    for (int i = 0; i < 3; i++)
        CHECK_RC(pdk_rwlock_rdlock(locks[i]), 0);
    want(&writer, locks[3], true, 4);
    for (int i = 2; i >= 0; i--) {
        fixture_settle(clients, N_PEERS);
        CHECK(!granted(&writer));
        CHECK_RC(pdk_rwlock_unlock(locks[i]), 0);
    }
    finish(&writer);
    end();
}

static void a_writer_lets_all_readers_go_on(void)
{
    struct hold readers[2], writer;
    begin();
    CHECK_RC(pdk_rwlock_wrlock(locks[0]), 0);
    want(&readers[0], locks[1], false, 2);
    want(&readers[1], locks[2], false, 3);
    want(&writer, locks[3], true, 4);
    CHECK_RC(pdk_rwlock_unlock(locks[0]), 0);
    CHECK_WITHIN(LONG_MS, granted(&readers[0]) && granted(&readers[1]));
    fixture_settle(clients, N_PEERS);
    CHECK(!granted(&writer));
    finish(&readers[0]);
    finish(&readers[1]);
    finish(&writer);
    end();
}

/* --- one thread -------------------------------------------------------------------------------------------------- */

static void a_thread_re_enters_while_a_writer_waits(void)
{
    struct hold writer;
    begin();
    CHECK_RC(pdk_rwlock_rdlock(locks[0]), 0);
    want(&writer, locks[1], true, 2);
    CHECK_RC(pdk_rwlock_rdlock(locks[0]), 0);
    CHECK_RC(pdk_rwlock_tryrdlock(locks[0]), 0);
    for (int i = 0; i < 3; i++) {
        CHECK(!granted(&writer));
        CHECK_RC(pdk_rwlock_unlock(locks[0]), 0);
    }
    CHECK_RC(pdk_rwlock_unlock(locks[0]), PDK_EPERM);
    finish(&writer);
    CHECK_RC(pdk_rwlock_wrlock(locks[0]), 0);
    CHECK_RC(pdk_rwlock_timedwrlock(locks[0], 0), 0);
    CHECK_RC(pdk_rwlock_unlock(locks[0]), 0);
    CHECK_RC(pdk_rwlock_tryrdlock(locks[1]), PDK_EBUSY);
    CHECK_RC(pdk_rwlock_unlock(locks[0]), 0);
    end();
}

static void a_reader_cannot_become_a_writer(void)
{
    begin();
    CHECK_RC(pdk_rwlock_rdlock(locks[0]), 0);
    CHECK_RC(pdk_rwlock_wrlock(locks[0]), PDK_EDEADLK);
    CHECK_RC(pdk_rwlock_trywrlock(locks[0]), PDK_EDEADLK);
    CHECK_RC(pdk_rwlock_timedwrlock(locks[0], 100), PDK_EDEADLK);
    CHECK_EQ(pdk_lock_state(locks[0]), PDK_HELD);
    CHECK_RC(pdk_rwlock_downgrade(locks[0]), PDK_EPERM);
    CHECK_RC(pdk_rwlock_unlock(locks[0]), 0);
    CHECK_RC(pdk_rwlock_downgrade(locks[0]), PDK_EPERM);
    end();
}

static void *try_to_read(void *lock) { return (void *)(intptr_t)pdk_rwlock_tryrdlock(lock); }

/* The object is the same one, and the holder is not. */
static void another_thread_does_not_read_under_it(void)
{
    pthread_t thread;
    void *rc;
    struct hold reader;
    begin();
    CHECK_RC(pdk_rwlock_wrlock(locks[0]), 0);
    CHECK_EQ(pthread_create(&thread, NULL, try_to_read, locks[0]), 0);
    pthread_join(thread, &rc);
    CHECK_RC((int)(intptr_t)rc, PDK_EBUSY);
    want(&reader, locks[0], false, 2);
    fixture_settle(clients, N_PEERS);
    CHECK(!granted(&reader));
    CHECK_RC(pdk_rwlock_unlock(locks[0]), 0);
    finish(&reader);
    end();
}

/* --- at random --------------------------------------------------------------------------------------------------- */

enum { N_THREADS = 2 * N_PEERS, N_ROUNDS = 25 };

static atomic_int reading, writing;
static atomic_bool overlapped; /* checked at the end: a thread that fails would keep its lock */

static void hold(bool write)
{
    atomic_int *mine = write ? &writing : &reading;
    bool alone = atomic_fetch_add(mine, 1) == 0;
    pdk__test_nap();
    if ((write && !alone) || atomic_load(write ? &reading : &writing) > 0)
        overlapped = true;
    atomic_fetch_sub(mine, 1);
}

static void *read_and_write(void *arg)
{
    int me = (int)(intptr_t)arg;
    struct dice dice;
    dice_seed(&dice, (uint64_t)me);
    pdk_rwlock *l = locks[me % N_PEERS];
    for (int i = 0; i < N_ROUNDS; i++) {
        bool write = dice_chance(&dice, 25);
        CHECK_RC(write ? pdk_rwlock_wrlock(l) : pdk_rwlock_rdlock(l), 0);
        hold(write);
        CHECK_RC(pdk_rwlock_unlock(l), 0);
    }
    return NULL;
}

static void threads_read_and_write_at_random(void)
{
    pthread_t threads[N_THREADS];
    begin();
    for (int i = 0; i < N_THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, read_and_write, (void *)(intptr_t)i), 0);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(!overlapped);
    CHECK_EQ(reading + writing, 0);
    end();
}

/* --- a writer that goes on as a reader --------------------------------------------------------------------------- */

/* The number is the writer's own, and so is the token. */
static void the_read_lock_takes_the_writers_place(void)
{
    char writer[64], reader[64];
    int64_t token, later;
    struct hold other, next;
    begin();
    CHECK_RC(pdk_rwlock_wrlock(locks[0]), 0);
    CHECK_RC(pdk_lock_token(locks[0], &token, NULL), 0);
    pdk_lock_node(locks[0], 0, writer, sizeof writer);
    want(&next, locks[1], true, 2);
    CHECK_RC(pdk_rwlock_tryrdlock(locks[0]), 0);
    CHECK_EQ(fixture_nodes(), 3);
    want(&other, locks[2], false, 4);
    fixture_settle(clients, N_PEERS);
    CHECK_RC(pdk_rwlock_unlock(locks[0]), 0);
    CHECK_EQ(fixture_nodes(), 3);
    CHECK_RC(pdk_rwlock_downgrade(locks[0]), 0);
    pdk_lock_node(locks[0], 0, reader, sizeof reader);
    CHECK(strstr(reader, "__READ__") != NULL);
    CHECK_STR(reader + strlen(reader) - 10, writer + strlen(writer) - 10);
    CHECK_RC(pdk_lock_token(locks[0], &later, NULL), 0);
    CHECK_EQ(later, token);
    fixture_settle(clients, N_PEERS);
    CHECK(!granted(&next) && !granted(&other));
    CHECK_EQ(pdk_lock_state(locks[0]), PDK_HELD);
    CHECK_RC(pdk_rwlock_unlock(locks[0]), 0);
    CHECK_WITHIN(LONG_MS, granted(&next));
    CHECK_RC(pdk_grant_token(next.grant, &later, NULL), 0);
    CHECK_LAW(later > token);
    CHECK(!granted(&other));
    finish(&next);
    finish(&other);
    end();
}

static void readers_behind_the_writer_go_on(void)
{
    struct hold other;
    begin();
    CHECK_RC(pdk_rwlock_wrlock(locks[0]), 0);
    want(&other, locks[1], false, 2);
    CHECK_RC(pdk_rwlock_rdlock(locks[0]), 0);
    fixture_settle(clients, N_PEERS);
    CHECK(!granted(&other));
    CHECK_RC(pdk_rwlock_downgrade(locks[0]), 0); /* one level more of reading, and none of writing */
    CHECK_RC(pdk_rwlock_unlock(locks[0]), 0);
    finish(&other);
    CHECK_RC(pdk_rwlock_unlock(locks[0]), 0);
    end();
}

static void unlock_gives_back_what_was_taken_last(void)
{
    begin();
    CHECK_RC(pdk_rwlock_wrlock(locks[0]), 0);
    CHECK_RC(pdk_rwlock_rdlock(locks[0]), 0);
    CHECK_RC(pdk_rwlock_unlock(locks[0]), 0);
    CHECK_EQ(fixture_nodes(), 1);
    CHECK_RC(pdk_rwlock_tryrdlock(locks[1]), PDK_EBUSY);
    CHECK_RC(pdk_rwlock_unlock(locks[0]), 0);
    end();
}

/* Levels of both modes, in turn: the last is given back first, whichever mode it is of. */
static void levels_are_given_back_in_their_order(void)
{
    enum { LEVELS = 9 };
    begin();
    for (int i = 0; i < LEVELS; i++)
        CHECK_RC(i % 2 == 0 ? pdk_rwlock_wrlock(locks[0]) : pdk_rwlock_rdlock(locks[0]), 0);
    CHECK_EQ(fixture_nodes(), 2);
    for (int i = LEVELS; i > 2; i--)
        CHECK_RC(pdk_rwlock_unlock(locks[0]), 0);
    CHECK_EQ(fixture_nodes(), 2);
    CHECK_RC(pdk_rwlock_unlock(locks[0]), 0); /* the second: the last of the reader's */
    CHECK_EQ(fixture_nodes(), 1);
    CHECK_RC(pdk_rwlock_unlock(locks[0]), 0);
    CHECK_EQ(fixture_nodes(), 0);
    end();
}

/* The writer's node is deleted by another client, and that is not known yet: nothing shows that it held until then. */
static void under_a_deleted_writer_there_is_no_read_lock(void)
{
    struct hold next;
    char writer[64];
    begin();
    CHECK_RC(pdk_rwlock_wrlock(locks[0]), 0);
    pdk_lock_node(locks[0], 0, writer, sizeof writer);
    want(&next, locks[1], true, 2);
    fixture_delete_below(fixture.path, writer);
    int rc = pdk_rwlock_rdlock(locks[0]);
    CHECK_RC(rc, PDK_ELOST);
    CHECK_RC(pdk_rwlock_unlock(locks[0]), PDK_ELOST);
    finish(&next);
    end();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"readers hold at once", readers_share},
        {"a writer holds alone", a_writer_is_alone},
        {"readers of one object hold at once", readers_of_one_object_share},
        {"a reader waits for a waiting writer", a_reader_waits_for_a_waiting_writer},
        {"a writer waits for all readers", a_writer_waits_for_all_readers},
        {"when a writer unlocks, all readers up to the next writer go on", a_writer_lets_all_readers_go_on},
        {"a thread re-enters while a writer waits", a_thread_re_enters_while_a_writer_waits},
        {"a reader cannot become a writer", a_reader_cannot_become_a_writer},
        {"another thread does not read under a thread's write lock", another_thread_does_not_read_under_it},
        {"eight threads of four clients read and write at random, a writer alone", threads_read_and_write_at_random},
        {"a writer goes on as a reader, and no writer comes between", the_read_lock_takes_the_writers_place},
        {"when a writer goes on as a reader, the readers behind it go on", readers_behind_the_writer_go_on},
        {"unlock gives back what was taken last", unlock_gives_back_what_was_taken_last},
        {"unlock gives back levels of both modes in their order", levels_are_given_back_in_their_order},
        {"under a writer's deleted node there is no read lock", under_a_deleted_writer_there_is_no_read_lock},
        {0}};
    return fixture_main(argc, argv, "rwlock", tests, ON_ONE | ON_THREE);
}
