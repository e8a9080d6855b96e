/* Smaller examples: a lock on an adopted handle, in an event loop, many at once without waiting; sessions; a job. */
#include "test/integration/example.h"
#include "test/lib/check.h"
#include "test/lib/zk.h"

#include <paddock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT_MS = 60000 };

static size_t contenders(pdk_client *c, const char *path)
{
    pdk_contender_list *l = NULL;
    int rc = pdk_contenders(c, path, PDK_CONTENDERS_ALL, LIMIT_MS, &l);
    size_t n = rc == PDK_OK ? pdk_contender_list_size(l) : 0;
    CHECK(rc == PDK_OK || rc == PDK_ENOENT);
    pdk_contender_list_free(l);
    return n;
}

static pdk_client *client(void)
{
    pdk_client *c = NULL;
    CHECK_RC(pdk_client_new(&c, hosts, NULL), PDK_OK);
    return c;
}

/* --- adopt ------------------------------------------------------------------------------------------------------- */

static void adopted(void)
{
    const char *argv[] = {"adopt", hosts, "/adopt", NULL};
    char value[64];
    int length = sizeof value - 1;
    example_start(argv);
    int64_t token = program_await_number(&example, "held, token ");
    program_await(&example, "written under the lock");
    program_await(&example, "the handle is the application's: connected");
    CHECK_EQ(program_wait(&example), 0);
    zhandle_t *zh = pdk__zk_open(hosts, 10000);
    CHECK_EQ(zoo_get(zh, "/adopt-result", 0, value, &length, NULL), ZOK);
    zookeeper_close(zh);
    value[length] = '\0';
    CHECK_EQ(strtoll(value, NULL, 10), token);
    pdk_client *c = client();
    CHECK_EQ(contenders(c, "/adopt"), 0);
    CHECK_RC(pdk_client_free(c), PDK_OK);
}

/* --- loop -------------------------------------------------------------------------------------------------------- */

static void looped(void)
{
    const char *argv[] = {"loop", hosts, "/loop", "4", NULL};
    int64_t token = 0;
    example_start(argv);
    for (int i = 0; i < 4; i++) {
        int64_t next = program_await_number(&example, "held, token ");
        CHECK_LAW(next > token);
        token = next;
    }
    CHECK_EQ(program_wait(&example), 0);
}

/* Its one thread is in poll(); the callbacks come all the same. */
static void loop_waits(void)
{
    const char *argv[] = {"loop", hosts, "/loop-waits", "1", NULL};
    pdk_client *c = client();
    pdk_mutex *m = NULL;
    int64_t token = 0;
    CHECK_RC(pdk_mutex_new(&m, c, argv[2], NULL), PDK_OK);
    CHECK_RC(pdk_mutex_lock(m), PDK_OK);
    CHECK_RC(pdk_lock_token(m, &token, NULL), PDK_OK);
    example_start(argv);
    CHECK_WITHIN(LIMIT_MS, contenders(c, argv[2]) == 2);
    CHECK_STR(example.out, "");
    CHECK_RC(pdk_mutex_unlock(m), PDK_OK);
    CHECK_LAW(program_await_number(&example, "held, token ") > token);
    CHECK_EQ(program_wait(&example), 0);
    CHECK_RC(pdk_lock_free(m), PDK_OK);
    CHECK_RC(pdk_client_free(c), PDK_OK);
}

/* --- async ------------------------------------------------------------------------------------------------------- */

static bool all_released(pdk_client *c, int n)
{
    char path[32];
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "/async/%d", i);
        if (contenders(c, path) != 0)
            return false;
    }
    return true;
}

/* One of 21 is held by another client: the others are held and released before it is, with the program still at
 * work. */
static void asynchronous(void)
{
    const char *argv[] = {"async", hosts, "/async", "21", NULL};
    char words[32];
    pdk_client *c = client();
    pdk_mutex *m = NULL;
    CHECK_RC(pdk_mutex_new(&m, c, "/async/20", NULL), PDK_OK);
    CHECK_RC(pdk_mutex_lock(m), PDK_OK);
    example_start(argv);
    for (int i = 0; i < 20; i++)
        program_await(&example, "held ");
    for (int i = 0; i < 20; i++) {
        snprintf(words, sizeof words, "held %d, token ", i);
        CHECK(strstr(example.out, words) != NULL);
    }
    CHECK_WITHIN(LIMIT_MS, all_released(c, 20));
    CHECK_RC(pdk_mutex_unlock(m), PDK_OK);
    program_await(&example, "held 20, token ");
    CHECK_EQ(program_wait(&example), 0);
    CHECK(strstr(example.out, "refused") == NULL);
    CHECK_RC(pdk_lock_free(m), PDK_OK);
    CHECK_RC(pdk_client_free(c), PDK_OK);
}

/* --- session_store ----------------------------------------------------------------------------------------------- */

static void check_session(zhandle_t *zh, const char *words)
{
    char data[64];
    int length = sizeof data - 1;
    CHECK_EQ(zoo_get(zh, "/sessions/ada", 0, data, &length, NULL), ZOK);
    data[length] = '\0';
    CHECK_STR(data, words);
}

static int request(const char *word)
{
    example_start(ARGS("session_store", hosts, "ada", word));
    return program_wait(&example);
}

/* It has read, and waits before it writes. */
static void start_late(struct program *late, const char *word, const char *what_it_reads)
{
    program_start(late, ARGS(program_built("examples/session_store"), hosts, "ada", word, "--late"),
                  PROGRAM_INPUT | PROGRAM_OUTPUT | PROGRAM_GROUP);
    program_await(late, what_it_reads);
}

static void end_late(struct program *late, const char *answer)
{
    program_say(late, "go on");
    program_await(late, answer);
    CHECK_EQ(program_wait(late), strncmp(answer, "written", 7) == 0 ? 0 : 1);
}

static void delete_holder(zhandle_t *zh, const char *lock)
{
    struct String_vector nodes;
    char path[256];
    CHECK_EQ(zoo_get_children(zh, lock, 0, &nodes), ZOK);
    CHECK_EQ(nodes.count, 1);
    snprintf(path, sizeof path, "%s/%s", lock, nodes.data[0]);
    deallocate_String_vector(&nodes);
    CHECK_EQ(zoo_delete(zh, path, -1), ZOK);
}

static void sessions(void)
{
    struct program late = {0};
    zhandle_t *zh = pdk__zk_open(hosts, 10000);
    CHECK_EQ(request("cart"), 0);
    start_late(&late, "login", "read: cart");
    end_late(&late, "written: cart login");
    check_session(zh, "cart login");

    start_late(&late, "late", "read: cart login");
    delete_holder(zh, "/session-locks/ada");
    CHECK_EQ(request("order"), 0);
    end_late(&late, "refused: the lock was lost");
    check_session(zh, "cart login order");

    start_late(&late, "late", "read: cart login order");
    CHECK_EQ(zoo_set(zh, "/sessions/ada", "unlocked", 8, -1), ZOK);
    end_late(&late, "refused: another has written");
    check_session(zh, "unlocked");
    zookeeper_close(zh);
}

/* --- nightly ----------------------------------------------------------------------------------------------------- */

static void start_nightly(struct program *p, const char *key)
{
    program_start(p, ARGS(program_built("examples/nightly"), hosts, "/jobs/orders", key),
                  PROGRAM_INPUT | PROGRAM_OUTPUT | PROGRAM_ERRORS | PROGRAM_GROUP);
}

static void end_nightly(struct program *p, int n_orders, const char *answer, int status)
{
    char words[32];
    for (int i = 0; i < n_orders; i++)
        program_say(p, "order %d", i);
    program_close_input(p);
    snprintf(words, sizeof words, ": %d orders", n_orders);
    program_await(p, words);
    if (answer != NULL)
        program_await(p, answer);
    CHECK_EQ(program_wait(p), status);
}

/* A failure, a success, and one that comes too late, of three machines at once; then a lock that is lost. */
static void a_job(void)
{
    struct program first = {0}, second = {0}, third = {0};
    zhandle_t *zh = pdk__zk_open(hosts, 10000);
    pdk_client *c = client();
    start_nightly(&first, "2026-11-30");
    program_await(&first, "begun");
    start_nightly(&second, "2026-11-30");
    CHECK_WITHIN(LIMIT_MS, contenders(c, "/jobs/orders") == 2);
    start_nightly(&third, "2026-11-30");
    CHECK_WITHIN(LIMIT_MS, contenders(c, "/jobs/orders") == 3);
    end_nightly(&first, 0, "recorded: a failure", 1);
    program_await(&second, "begun");
    end_nightly(&second, 2, "recorded: a success", 0);
    program_await(&third, "already done by ");
    CHECK_EQ(program_wait(&third), 0);
    CHECK(!program_said(&third, "begun"));

    start_nightly(&first, "2026-12-01");
    program_await(&first, "begun");
    delete_holder(zh, "/jobs/orders");
    start_nightly(&second, "2026-12-01");
    program_await(&second, "begun");
    end_nightly(&second, 1, "recorded: a success", 0);
    end_nightly(&first, 1, NULL, 1);
    CHECK(program_complained(&first, "nightly: end a run of /jobs/orders: "));
    CHECK(!program_said(&first, "recorded"));
    CHECK_RC(pdk_client_free(c), PDK_OK);
    zookeeper_close(zh);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"adopt: a write goes out under a guard, and the handle outlives the client", adopted},
        {"loop: rounds of callbacks on the one thread", looped},
        {"loop: a grant wakes a program that waits in poll", loop_waits},
        {"async: twenty locks are held and released, while one more is another's", asynchronous},
        {"session_store: the write of a request that lost its lock is refused, and after a writer without one",
         sessions},
        {"nightly: a failure is followed by another run, a success by none, and a run whose lock was lost does not "
         "count",
         a_job},
        {0}};
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){
            .name = "examples", .tests = tests, .setup = example_set_up, .teardown = example_tear_down});
}
