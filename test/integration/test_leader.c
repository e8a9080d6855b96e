/* The leader of the examples: it pauses in doubt, stands down when it may lead no more, and is a candidate again. */
#include "test/integration/example.h"
#include "test/lib/check.h"

#include <limits.h>
#include <paddock.h>
#include <signal.h>
#include <stdio.h>
#include <zookeeper/zookeeper.h>

enum { LIMIT_MS = 60000 };

static void a_leader_without_servers_stands_down(void)
{
    const char *argv[] = {"leader", hosts, "/examples/leader", NULL};
    example_start(argv);
    int64_t token = program_await_number(&example, "leading, token ");
    CHECK_EQ(program_await_number(&example, "working, token "), token);
    pdk__server_kill(server);
    CHECK_EQ(program_await_number(&example, "pausing, token "), token);
    CHECK_EQ(program_await_number(&example, "term over, token "), token); /* by its own clock */
    CHECK_EQ(pdk__server_start(server), 0);
    CHECK_EQ(pdk__server_wait_ready(server, LIMIT_MS), 0);
    CHECK_LAW(program_await_number(&example, "leading, token ") > token);
    kill(example.pid, SIGTERM);
    program_await(&example, "standing down: asked to end");
    CHECK_EQ(program_wait(&example), 0);
}

/* Delete the node of the holder of PATH, without its knowledge. */
static void delete_holder(const char *path)
{
    char node[PATH_MAX];
    pdk_client *c = NULL;
    pdk_contender_list *l = NULL;
    CHECK_RC(pdk_client_new(&c, hosts, NULL), PDK_OK);
    CHECK_RC(pdk_contenders(c, path, PDK_CONTENDERS_ALL, LIMIT_MS, &l), PDK_OK);
    CHECK_EQ(pdk_contender_list_size(l), 1);
    snprintf(node, sizeof node, "%s/%s", path, pdk_contender_text(l, 0, PDK_CONTENDER_NAME));
    pdk_contender_list_free(l);
    CHECK_RC(pdk_client_free(c), PDK_OK);
    zhandle_t *zh = zookeeper_init(hosts, NULL, 10000, NULL, NULL, 0);
    CHECK(zh != NULL);
    CHECK_WITHIN(LIMIT_MS, zoo_state(zh) == ZOO_CONNECTED_STATE);
    CHECK_EQ(zoo_delete(zh, node, -1), ZOK);
    CHECK_EQ(zookeeper_close(zh), ZOK);
}

static void a_leader_whose_node_goes_stands_down(void)
{
    const char *argv[] = {"leader", hosts, "/examples/deleted", NULL};
    example_start(argv);
    int64_t token = program_await_number(&example, "leading, token ");
    delete_holder("/examples/deleted");
    CHECK_EQ(program_await_number(&example, "term over, token "), token);
    CHECK_LAW(program_await_number(&example, "leading, token ") > token);
    kill(example.pid, SIGTERM);
    CHECK_EQ(program_wait(&example), 0);
}

static void a_leader_that_is_asked_makes_room(void)
{
    const char *argv[] = {"leader", hosts, "/examples/asked", NULL};
    pdk_client *c = NULL;
    pdk_contender_list *l = NULL;
    CHECK_RC(pdk_client_new(&c, hosts, NULL), PDK_OK);
    example_start(argv);
    int64_t token = program_await_number(&example, "leading, token ");
    CHECK_RC(pdk_contenders(c, argv[2], 1, LIMIT_MS, &l), PDK_OK);
    CHECK_EQ(pdk_contender_number(l, 0, PDK_CONTENDER_TOKEN), token);
    CHECK_RC(pdk_contender_revoke(c, l, 0, LIMIT_MS), PDK_OK);
    pdk_contender_list_free(l);
    CHECK_EQ(program_await_number(&example, "standing down: asked to resign, token "), token);
    CHECK_LAW(program_await_number(&example, "leading, token ") > token);
    kill(example.pid, SIGTERM);
    CHECK_EQ(program_wait(&example), 0);
    CHECK_RC(pdk_client_free(c), PDK_OK);
}

static void a_leader_that_waits_can_be_ended(void)
{
    const char *argv[] = {"leader", hosts, "/examples/queue", NULL};
    pdk_client *c = NULL;
    pdk_leader *first = NULL;
    pdk_contender_list *l = NULL;
    CHECK_RC(pdk_client_new(&c, hosts, NULL), PDK_OK);
    CHECK_RC(pdk_leader_new(&first, c, argv[2], PDK_LATCH, NULL), PDK_OK);
    CHECK_RC(pdk_leader_start(first), PDK_OK);
    CHECK_RC(pdk_leader_wait(first, LIMIT_MS), PDK_OK);
    example_start(argv);
    for (size_t n = 0; n < 2; pdk_contender_list_free(l)) { /* until it waits after us */
        CHECK_RC(pdk_contenders(c, argv[2], PDK_CONTENDERS_ALL, LIMIT_MS, &l), PDK_OK);
        n = pdk_contender_list_size(l);
    }
    kill(example.pid, SIGTERM);
    CHECK_EQ(program_wait(&example), 0);
    CHECK_STR(example.out, ""); /* it never led */
    CHECK_RC(pdk_contenders(c, argv[2], PDK_CONTENDERS_ALL, LIMIT_MS, &l), PDK_OK);
    CHECK_EQ(pdk_contender_list_size(l), 1);
    pdk_contender_list_free(l);
    CHECK_RC(pdk_lock_free(first), PDK_OK);
    CHECK_RC(pdk_client_free(c), PDK_OK);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"without servers it stands down, and leads again", a_leader_without_servers_stands_down},
        {"without its node it stands down, and leads again", a_leader_whose_node_goes_stands_down},
        {"whoever asks it to resign is obliged, and it stands again", a_leader_that_is_asked_makes_room},
        {"while it waits it can be ended, and leaves no node", a_leader_that_waits_can_be_ended},
        {0}};
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){
            .name = "leader", .tests = tests, .setup = example_set_up, .teardown = example_tear_down});
}
