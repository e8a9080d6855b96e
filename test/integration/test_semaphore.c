/* The semaphore: how many hold at once, all or nothing, and what becomes of an acquisition. */
#include "lib/zk/attempt.h"
#include "lib/zk/client.h"
#include "test/lib/dice.h"
#include "test/lib/fixture.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_PEERS = 3 };

static pdk_client *clients[N_PEERS];
static pdk_semaphore *semaphores[N_PEERS];
static char base[128];

/* The nodes that the fixture counts are the leases. */
static void begin(unsigned limit)
{
    fixture_begin();
    snprintf(base, sizeof base, "%s", fixture.path);
    strcat(fixture.path, "/leases");
    for (int i = 0; i < N_PEERS; i++) {
        clients[i] = fixture_client(fixture_options(30000));
        CHECK_RC(pdk_semaphore_new(&semaphores[i], clients[i], base, limit, NULL), 0);
    }
}

static int gate_nodes(void)
{
    char path[160];
    snprintf(path, sizeof path, "%s/locks", base);
    int n = fixture_children(path);
    return n > 0 ? n : 0;
}

static void end(void)
{
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 0 && gate_nodes() == 0);
    for (int i = 0; i < N_PEERS; i++) {
        CHECK_RC(pdk_lock_free(semaphores[i]), 0);
        CHECK_RC(pdk_client_close(clients[i]), 0);
        CHECK_RC(pdk_client_free(clients[i]), 0);
    }
    strcpy(fixture.path, base);
}

/* --- requests that wait ------------------------------------------------------------------------------------------ */

struct want {
    pdk_grant *permit;
    atomic_int told; /* 1 until the callback, then its code */
};

static void told(int rc, void *arg) { atomic_store(&((struct want *)arg)->told, rc); }

static bool granted(const struct want *w) { return atomic_load(&w->told) == 0; }

/* It is in the queue before the gate, or behind it with its leases. */
static void want(struct want *w, pdk_semaphore *s, unsigned n, int leases, int gates)
{
    atomic_store(&w->told, 1);
    CHECK_RC(pdk_semaphore_acquire_async(s, n, PDK_FOREVER, told, w, &w->permit), 0);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == leases && gate_nodes() == gates);
}

/* --- how many ---------------------------------------------------------------------------------------------------- */

static void up_to_the_limit(void)
{
    pdk_grant *held[3], *more = NULL;
    begin(3);
    for (int i = 0; i < 3; i++) {
        CHECK_RC(pdk_semaphore_acquire(semaphores[i], 1, &held[i]), 0);
        CHECK_EQ(pdk_grant_state(held[i]), PDK_HELD);
        CHECK(pdk_grant_valid_ms(held[i]) > 0);
    }
    CHECK_RC(pdk_semaphore_tryacquire(semaphores[0], 1, &more), PDK_EBUSY);
    CHECK_RC(pdk_semaphore_timedacquire(semaphores[1], 1, 100, &more), PDK_ETIMEDOUT);
    CHECK_RC(pdk_semaphore_timedacquire(semaphores[1], 1, 0, &more), PDK_EBUSY);
    CHECK(more == NULL);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 3 && gate_nodes() == 0);
    CHECK_RC(pdk_grant_release(held[1]), 0);
    CHECK_WITHIN(LONG_MS, pdk_semaphore_tryacquire(semaphores[0], 1, &more) == 0);
    CHECK_RC(pdk_grant_release(held[0]), 0);
    CHECK_RC(pdk_grant_release(held[2]), 0);
    CHECK_RC(pdk_grant_release(more), 0);
    end();
}

/* The second permit would have the number of the first. */
static void numbers_come_round(void)
{
    pdk_grant *held[2];
    char nodes[2][160];
    begin(2);
    uint64_t before = atomic_load(&pdk__attempts_drawn) + ((uint64_t)1 << 32);
    CHECK_RC(pdk_semaphore_acquire(semaphores[0], 1, &held[0]), 0);
    atomic_store(&pdk__attempts_drawn, before);
    CHECK_RC(pdk_semaphore_acquire(semaphores[0], 1, &held[1]), 0);
    for (int i = 0; i < 2; i++)
        CHECK(pdk_grant_node(held[i], 0, nodes[i], sizeof nodes[i]) > 0);
    CHECK(strncmp(nodes[0], nodes[1], strlen("0123456789abcdef-01234567-")) != 0);
    CHECK_RC(pdk_grant_release(held[0]), 0);
    CHECK_RC(pdk_grant_release(held[1]), 0);
    end();
}

static void a_release_lets_the_next_go_on(void)
{
    struct want second, third;
    pdk_grant *held;
    begin(1);
    CHECK_RC(pdk_semaphore_acquire(semaphores[0], 1, &held), 0);
    want(&second, semaphores[1], 1, 2, 1);
    want(&third, semaphores[2], 1, 2, 2);
    fixture_settle(clients, N_PEERS);
    CHECK(!granted(&second) && !granted(&third));
    CHECK_RC(pdk_grant_release(held), 0);
    CHECK_WITHIN(LONG_MS, granted(&second));
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 2 && gate_nodes() == 1);
    CHECK(!granted(&third));
    CHECK_RC(pdk_grant_release(second.permit), 0);
    CHECK_WITHIN(LONG_MS, granted(&third));
    CHECK_RC(pdk_grant_release(third.permit), 0);
    end();
}

/* Curator's: each of two that want three of four has two, and waits for ever. */
static void all_or_nothing(void)
{
    struct want wants[N_PEERS];
    begin(4);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < N_PEERS; i++) {
            atomic_store(&wants[i].told, 1);
            CHECK_RC(pdk_semaphore_acquire_async(semaphores[i], 3, PDK_FOREVER, told, &wants[i], &wants[i].permit), 0);
        }
        for (int done = 0; done < N_PEERS; done++) {
            int winner = -1;
            while (winner < 0) {
                for (int i = 0; i < N_PEERS; i++)
                    if (wants[i].permit != NULL && granted(&wants[i]))
                        winner = i;
                CHECK_WITHIN(LONG_MS, fixture_nodes() >= 3);
            }
            CHECK_EQ(pdk_grant_count(wants[winner].permit), 3);
            CHECK_EQ(pdk_grant_state(wants[winner].permit), PDK_HELD);
            CHECK_RC(pdk_grant_release(wants[winner].permit), 0);
            wants[winner].permit = NULL;
        }
    }
    end();
}

static void a_request_for_many_is_not_passed(void)
{
    struct want many, one;
    pdk_grant *held, *tried;
    begin(3);
    CHECK_RC(pdk_semaphore_acquire(semaphores[0], 2, &held), 0);
    want(&many, semaphores[1], 3, 5, 1);
    want(&one, semaphores[2], 1, 5, 2);
    fixture_settle(clients, N_PEERS);
    CHECK(!granted(&many) && !granted(&one));
    CHECK_RC(pdk_semaphore_tryacquire(semaphores[0], 1, &tried), PDK_EBUSY);
    CHECK_RC(pdk_grant_release(held), 0);
    CHECK_WITHIN(LONG_MS, granted(&many));
    fixture_settle(clients, N_PEERS);
    CHECK(!granted(&one));
    CHECK_RC(pdk_grant_release(many.permit), 0);
    CHECK_WITHIN(LONG_MS, granted(&one));
    CHECK_RC(pdk_grant_release(one.permit), 0);
    end();
}

/* Curator counts every child. */
static void a_strangers_node_counts(void)
{
    pdk_grant *held, *more;
    begin(2);
    CHECK_RC(pdk_semaphore_acquire(semaphores[0], 1, &held), 0);
    fixture_make_below(fixture.path, "by-hand", "");
    fixture_settle(clients, N_PEERS); /* a server may lag */
    CHECK_RC(pdk_semaphore_tryacquire(semaphores[1], 1, &more), PDK_EBUSY);
    fixture_delete_below(fixture.path, "by-hand");
    fixture_make_below(fixture.path, "a-random-name-9876543210", "");
    fixture_settle(clients, N_PEERS);
    CHECK_RC(pdk_semaphore_tryacquire(semaphores[1], 1, &more), PDK_EBUSY);
    CHECK_RC(pdk_semaphore_timedacquire(semaphores[1], 1, 100, &more), PDK_ETIMEDOUT);
    fixture_delete_below(fixture.path, "a-random-name-9876543210");
    CHECK_WITHIN(LONG_MS, pdk_semaphore_tryacquire(semaphores[1], 1, &more) == 0);
    CHECK_RC(pdk_grant_release(more), 0);
    CHECK_RC(pdk_grant_release(held), 0);
    end();
}

static void a_strangers_node_is_told(void)
{
    char why[512];
    pdk_grant *held, *more;
    pdk_contender_list *list;
    struct want w;
    begin(2);
    CHECK_RC(pdk_semaphore_acquire(semaphores[0], 1, &held), 0);
    want(&w, semaphores[1], 1, 2, 0);
    CHECK_WITHIN(LONG_MS, granted(&w));
    CHECK_RC(pdk_grant_release(w.permit), 0);
    fixture_make_below(fixture.path, "by-hand", "");
    fixture_settle(clients, N_PEERS);
    want(&w, semaphores[1], 1, 3, 1);
    CHECK_RC(pdk_contenders(clients[2], fixture.path, PDK_CONTENDERS_ALL, LONG_MS, &list), 0);
    CHECK_EQ(pdk_contender_list_size(list), 3);
    CHECK(pdk_contender_holds(list, 0) && !pdk_contender_holds(list, 1));
    CHECK_EQ(pdk_contender_number(list, 2, PDK_CONTENDER_DIALECT), PDK_DIALECT_JUNK);
    CHECK(pdk_contender_holds(list, 2));
    pdk_contender_list_free(list);
    CHECK_RC(pdk_grant_release(w.permit), PDK_EPERM);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 2 && gate_nodes() == 0);
    CHECK_RC(pdk_semaphore_timedacquire(semaphores[1], 1, KNOWN_MS, &more), PDK_ETIMEDOUT);
    pdk_lock_last_error(semaphores[1], why, sizeof why);
    CHECK(strstr(why, "held by by-hand (junk), 2 ahead") != NULL);
    fixture_delete_below(fixture.path, "by-hand");
    CHECK_RC(pdk_grant_release(held), 0);
    end();
}

static void the_limit_changes_while_one_waits(void)
{
    struct want second;
    pdk_grant *held;
    begin(1);
    CHECK_RC(pdk_semaphore_acquire(semaphores[0], 1, &held), 0);
    want(&second, semaphores[1], 1, 2, 1);
    fixture_settle(clients, N_PEERS); /* its node is listed */
    fixture_settle(clients, N_PEERS); /* and the children are watched */
    CHECK_RC(pdk_semaphore_set_limit(semaphores[1], 2), 0);
    CHECK_EQ(pdk_semaphore_limit(semaphores[1]), 2);
    CHECK_WITHIN(LONG_MS, granted(&second));
    CHECK_RC(pdk_grant_release(second.permit), 0);
    CHECK_RC(pdk_semaphore_set_limit(semaphores[1], 0), PDK_EINVAL);
    CHECK_RC(pdk_grant_release(held), 0);
    end();
}

static void set_count(const char *path, const char *bytes, int size)
{
    CHECK_EQ(zoo_set(fixture.zh, path, bytes, size, -1), ZOK);
}

/* Curator's SharedCount: absent at first, then made, changed, spoilt, and right again. */
static void the_limit_follows_a_count(void)
{
    struct want second, third;
    pdk_grant *held;
    begin(1);
    const char *path = fixture_path();
    CHECK_RC(pdk_semaphore_follow(semaphores[1], path), 0);
    CHECK_RC(pdk_semaphore_follow(semaphores[1], path), PDK_EINVAL);
    CHECK_RC(pdk_semaphore_follow(semaphores[2], "no path"), PDK_EPATH);
    CHECK_RC(pdk_semaphore_follow(semaphores[2], path), 0);
    CHECK_EQ(pdk_semaphore_limit(semaphores[1]), 1);
    CHECK_RC(pdk_semaphore_acquire(semaphores[0], 1, &held), 0);
    want(&second, semaphores[1], 1, 2, 1);
    CHECK_EQ(zoo_create(fixture.zh, path, "\0\0\0\2", 4, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, NULL, 0), ZOK);
    CHECK_WITHIN(LONG_MS, granted(&second));
    CHECK_WITHIN(LONG_MS, pdk_semaphore_limit(semaphores[2]) == 2);
    CHECK_RC(pdk_semaphore_follow(semaphores[0], path), 0);
    CHECK_EQ(pdk_semaphore_limit(semaphores[0]), 2); /* the call waits for the reading */
    want(&third, semaphores[2], 1, 3, 1);
    set_count(path, "\0\0\0\0", 4);
    set_count(path, "\377\377\377\377", 4);
    set_count(path, "\0\0\0\7x", 5);
    fixture_settle(clients, N_PEERS);
    CHECK_EQ(pdk_semaphore_limit(semaphores[2]), 2);
    set_count(path, "\0\0\0\3", 4);
    CHECK_WITHIN(LONG_MS, granted(&third));
    CHECK_WITHIN(LONG_MS, pdk_semaphore_limit(semaphores[1]) == 3);
    CHECK_EQ(zoo_delete(fixture.zh, path, -1), ZOK);
    fixture_settle(clients, N_PEERS);
    CHECK_EQ(pdk_semaphore_limit(semaphores[1]), 3);
    CHECK_RC(pdk_grant_release(second.permit), 0);
    CHECK_RC(pdk_grant_release(third.permit), 0);
    CHECK_RC(pdk_grant_release(held), 0);
    end();
}

/* The answer that is under way sets the watch. */
static void freed_while_its_count_is_read(void)
{
    begin(1);
    const char *path = fixture_path();
    CHECK_EQ(zoo_create(fixture.zh, path, "\0\0\0\2", 4, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, NULL, 0), ZOK);
    CHECK_RC(pdk_semaphore_follow(semaphores[0], path), 0);
    CHECK_WITHIN(LONG_MS, fixture_watchers(path) == 1);
    struct pdk__proxy_rule held = {.op = PDK__OP_GET, .path = path, .act = PDK__HOLD_REPLY};
    int rule = 0, hits = 0;
    for (int i = 0; i < fixture.e->n; i++)
        rule = pdk__proxy_rule(fixture.e->proxy[i], &held);
    set_count(path, "\0\0\0\3", 4);
    for (int ms = 0; ms < LONG_MS && hits == 0; ms++) {
        pdk__test_nap();
        for (int i = 0; i < fixture.e->n; i++)
            hits += pdk__proxy_hits(fixture.e->proxy[i], rule);
    }
    CHECK_EQ(hits, 1);
    CHECK_RC(pdk_lock_free(semaphores[0]), 0);
    for (int i = 0; i < fixture.e->n; i++)
        pdk__proxy_release(fixture.e->proxy[i], rule);
    CHECK_WITHIN(LONG_MS, fixture_watchers(path) == 0);
    CHECK_RC(pdk_semaphore_new(&semaphores[0], clients[0], fixture.path, 1, NULL), 0);
    end();
}

/* They are refused by one look, which the parts of each share. So they leave nothing that could refuse another. */
static void a_refused_try_writes_nothing(void)
{
    pdk_grant *held, *tried;
    begin(4);
    int listed = fixture_requests(PDK__OP_LIST) +
                 6; /* the gate and the leases twice, for they are missing; what is beside them */
    CHECK_RC(pdk_semaphore_acquire(semaphores[0], 1, &held), 0);
    CHECK_WITHIN(LONG_MS, fixture_requests(PDK__OP_LIST) == listed);
    int created = fixture_requests(PDK__OP_CREATE2);
    for (int i = 0; i < 10; i++)
        CHECK_RC(pdk_semaphore_tryacquire(semaphores[0], 4, &tried), PDK_EBUSY);
    CHECK_EQ(fixture_requests(PDK__OP_CREATE2), created);
    CHECK_EQ(fixture_requests(PDK__OP_LIST), listed + 10);
    CHECK_RC(pdk_semaphore_tryacquire(semaphores[0], 3, &tried), 0);
    CHECK_RC(pdk_grant_release(tried), 0);
    CHECK_RC(pdk_grant_release(held), 0);
    end();
}

/* One lists the path, and one watches it. */
static void a_release_costs_a_waiter_two_requests(void)
{
    struct want all;
    pdk_grant *many, *one;
    begin(20);
    CHECK_RC(pdk_semaphore_acquire(semaphores[0], 10, &many), 0);
    CHECK_RC(pdk_semaphore_acquire(semaphores[2], 1, &one), 0);
    want(&all, semaphores[1], 20, 31, 1);
    fixture_settle(clients, N_PEERS); /* its nodes are listed */
    fixture_settle(clients, N_PEERS); /* and the children are watched */
    int before = fixture_requests(PDK__OP_LIST);
    CHECK_RC(pdk_grant_release(one), 0);
    CHECK_WITHIN(LONG_MS, fixture_requests(PDK__OP_LIST) > before);
    fixture_settle(clients, N_PEERS);
    fixture_settle(clients, N_PEERS);
    CHECK_EQ(fixture_requests(PDK__OP_LIST), before + 2);
    CHECK(!granted(&all));
    CHECK_RC(pdk_grant_release(many), 0);
    CHECK_WITHIN(LONG_MS, granted(&all));
    CHECK_RC(pdk_grant_release(all.permit), 0);
    end();
}

static bool says(pdk_semaphore *s, const char *part)
{
    char text[256];
    return pdk_lock_last_error(s, text, sizeof text) > 0 && strstr(text, part) != NULL;
}

/* It could never be granted, and would keep the gate from all others. */
static void a_smaller_limit_refuses_who_waits_for_more(void)
{
    struct want many, behind, one;
    pdk_grant *held;
    begin(4);
    CHECK_RC(pdk_semaphore_acquire(semaphores[1], 3, &held), 0);
    want(&many, semaphores[1], 4, 7, 1);
    want(&behind, semaphores[2], 4, 7, 2);
    want(&one, semaphores[0], 1, 7, 3);
    for (int i = 0; i < N_PEERS; i++)
        CHECK_RC(pdk_semaphore_set_limit(semaphores[i], 4), 0);
    fixture_settle(clients, N_PEERS);
    CHECK(atomic_load(&many.told) == 1 && atomic_load(&behind.told) == 1);
    CHECK_RC(pdk_semaphore_set_limit(semaphores[1], 3), 0);
    CHECK_RC(pdk_semaphore_set_limit(semaphores[2], 3), 0);
    CHECK_WITHIN(LONG_MS, atomic_load(&many.told) == PDK_EINVAL && atomic_load(&behind.told) == PDK_EINVAL);
    CHECK(says(semaphores[1], "acquire ") && says(semaphores[1], base) && says(semaphores[1], "the limit is 3 now"));
    CHECK_WITHIN(LONG_MS, granted(&one));
    CHECK_EQ(pdk_grant_state(held), PDK_HELD);
    CHECK_RC(pdk_semaphore_set_limit(semaphores[1], 2), 0);
    CHECK_EQ(pdk_grant_state(held), PDK_HELD);
    CHECK_RC(pdk_grant_release(many.permit), PDK_EPERM);
    CHECK_RC(pdk_grant_release_async(behind.permit, NULL, NULL), PDK_EPERM);
    CHECK_RC(pdk_grant_release(held), 0);
    CHECK_RC(pdk_grant_release(one.permit), 0);
    end();
}

static void *take_all_three(void *answered)
{
    pdk_grant *none = NULL;
    int rc = pdk_semaphore_acquire(semaphores[1], 3, &none);
    bool said = says(semaphores[1], "the limit is 2 now");
    atomic_store((atomic_bool *)answered, true);
    CHECK_RC(rc, PDK_EINVAL);
    CHECK(none == NULL && said);
    return NULL;
}

static void a_smaller_count_refuses_who_waits_for_more(void)
{
    pthread_t thread;
    atomic_bool answered = false;
    pdk_grant *held, *more;
    begin(3);
    const char *path = fixture_path();
    CHECK_RC(pdk_semaphore_follow(semaphores[1], path), 0);
    CHECK_RC(pdk_semaphore_acquire(semaphores[0], 1, &held), 0);
    CHECK_EQ(pthread_create(&thread, NULL, take_all_three, &answered), 0);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 4 && gate_nodes() == 1);
    CHECK_EQ(zoo_create(fixture.zh, path, "\0\0\0\2", 4, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, NULL, 0), ZOK);
    CHECK_WITHIN(LONG_MS, answered);
    pthread_join(thread, NULL);
    CHECK_RC(pdk_semaphore_acquire(semaphores[2], 2, &more), 0);
    CHECK_RC(pdk_grant_release(more), 0);
    CHECK_RC(pdk_grant_release(held), 0);
    end();
}

enum { N_THREADS = 3 * N_PEERS, N_ROUNDS = 15, LIMIT = 5 };

static atomic_int in_use;
static atomic_bool exceeded; /* checked at the end: a thread that fails would keep its permits */

static void use(int n)
{
    if (atomic_fetch_add(&in_use, n) + n > LIMIT)
        exceeded = true;
    pdk__test_nap();
    atomic_fetch_sub(&in_use, n);
}

static void *take_at_random(void *arg)
{
    int me = (int)(intptr_t)arg;
    struct dice dice;
    pdk_grant *held;
    dice_seed(&dice, (uint64_t)me);
    for (int i = 0; i < N_ROUNDS; i++) {
        int n = dice_between(&dice, 1, 3);
        CHECK_RC(pdk_semaphore_acquire(semaphores[me % N_PEERS], (unsigned)n, &held), 0);
        use(n);
        CHECK_RC(pdk_grant_release(held), 0);
    }
    return NULL;
}

/* Three threads share each object. */
static void threads_take_at_random(void)
{
    pthread_t threads[N_THREADS];
    begin(LIMIT);
    for (int i = 0; i < N_THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, take_at_random, (void *)(intptr_t)i), 0);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(!exceeded);
    CHECK_EQ(in_use, 0);
    end();
}

/* --- one acquisition --------------------------------------------------------------------------------------------- */

static void nodes_are_named(void)
{
    pdk_grant *a;
    char node[64], other[64];
    begin(4);
    CHECK_RC(pdk_semaphore_acquire(semaphores[0], 2, &a), 0);
    CHECK(pdk_grant_node(a, 0, node, sizeof node) > 0 && pdk_grant_node(a, 1, other, sizeof other) > 0);
    CHECK(strstr(node, "-lease-") != NULL && strcmp(node, other) != 0);
    CHECK_RC(pdk_grant_release(a), 0);
    end();
}

static void wrong_numbers(void)
{
    pdk_grant *p = NULL;
    pdk_semaphore *s = NULL;
    begin(2);
    CHECK_RC(pdk_semaphore_new(&s, clients[0], base, 0, NULL), PDK_EINVAL);
    CHECK_RC(pdk_semaphore_new(&s, clients[0], base, PDK_SEMAPHORE_MAX + 1, NULL), PDK_EINVAL);
    CHECK_RC(pdk_semaphore_acquire(semaphores[0], 0, &p), PDK_EINVAL);
    CHECK_RC(pdk_semaphore_acquire(semaphores[0], 3, &p), PDK_EINVAL);
    CHECK_RC(pdk_semaphore_acquire(semaphores[0], 1, NULL), PDK_EINVAL);
    CHECK(p == NULL && s == NULL);
    end();
}

static void too_many_before_a_server_is_reached(void)
{
    pdk_client *unconnected;
    pdk_semaphore *s;
    pdk_grant *p;
    CHECK_RC(pdk_client_new(&unconnected, "127.0.0.1:1", NULL), 0);
    CHECK_RC(pdk_semaphore_new(&s, unconnected, "/a", 2, NULL), 0);
    CHECK_RC(pdk_semaphore_timedacquire(s, 3, 0, &p), PDK_EINVAL);
    CHECK_RC(pdk_lock_free(s), 0);
    CHECK_RC(pdk_client_free(unconnected), 0);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"as many hold as there are permits", up_to_the_limit},
        {"two permits have two numbers, though the numbers come round", numbers_come_round},
        {"a release lets the next go on, and no other", a_release_lets_the_next_go_on},
        {"three that want three of four each get them, one after another", all_or_nothing},
        {"a request for many is not passed by one for few", a_request_for_many_is_not_passed},
        {"a try for several that is refused writes nothing", a_refused_try_writes_nothing},
        {"a node of a stranger counts as a permit", a_strangers_node_counts},
        {"a node of a stranger is listed, and told, as one that holds a permit", a_strangers_node_is_told},
        {"the limit changes while one waits", the_limit_changes_while_one_waits},
        {"the limit follows Curator's SharedCount", the_limit_follows_a_count},
        {"freed while its count is read, it leaves no watch", freed_while_its_count_is_read},
        {"a release costs a waiter two requests, however many permits it waits for",
         a_release_costs_a_waiter_two_requests},
        {"a smaller limit refuses who waits for more, and nobody else", a_smaller_limit_refuses_who_waits_for_more},
        {"a smaller count refuses a thread that waits for more", a_smaller_count_refuses_who_waits_for_more},
        {"nine threads of three clients take and release at random, never too many", threads_take_at_random},
        {"each permit has a node", nodes_are_named},
        {"wrong numbers of permits are refused", wrong_numbers},
        {"too many permits are refused before a server is reached", too_many_before_a_server_is_reached},
        {0}};
    return fixture_main(argc, argv, "semaphore", tests, ON_ONE | ON_THREE);
}
