/* A path whose sequence numbers are near their end begins anew, without a stop of those who use it. */
#include "test/cli/cli.h"

#include <stdlib.h>
#include <string.h>

enum { NEAR_END = 2147483600 };

static struct program holder, c;
static char path[128];

static void fresh(const char *name) { strcpy(path, cli_path(name)); }

/* The number of the node that a lock on the path gets now. */
static long long next_number(void)
{
    int status = cli_run(&c, ARGS("lock", path, "sh", "-c", "echo $PADDOCK_NODE"));
    CHECK_STR(c.err, "");
    CHECK_EQ(status, 0);
    const char *number = strrchr(c.out, '-');
    CHECK(number != NULL);
    return number != NULL ? strtoll(number + 1, NULL, 10) : -1;
}

static void who_leaves_it_empty_renews_it(void)
{
    fresh("renewed");
    CHECK_EQ(next_number(), 0);
    CHECK_EQ(next_number(), 1);
    cli_set_counter(path, NEAR_END);
    CHECK_EQ(next_number(), NEAR_END);
    CHECK_EQ(next_number(), 0);
    CHECK_EQ(next_number(), 1);
}

static void a_path_in_use_is_kept(void)
{
    fresh("in-use");
    cli_start_fed(&holder, ARGS("lock", "--limit", "2", path, "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, program_said(&holder, "in\n"));
    strcat(path, "/leases");
    cli_set_counter(path, NEAR_END);
    *strrchr(path, '/') = '\0';
    CHECK_EQ(cli_run(&c, ARGS("lock", "--limit", "2", path, "sh", "-c", "echo $PADDOCK_NODE")), 0);
    CHECK(strstr(c.out, "-lease-21474836") != NULL);
    strcat(path, "/leases");
    CHECK_EQ(cli_children(path), 1);
    program_close_input(&holder);
    program_wait(&holder);
}

static void permissions_stay(void)
{
    const char *const *mine = ARGS("lock", "--auth", "digest:me:secret", "--acl", "auth::rwcda", path, "true");
    fresh("permissions");
    CHECK_EQ(cli_run(&c, mine), 0);
    cli_set_counter(path, NEAR_END);
    CHECK_EQ(cli_run(&c, mine), 0);
    CHECK_EQ(cli_run(&c, mine), 0);
    CHECK_EQ(cli_changes(path), 2); /* one node, made and deleted */
    CHECK_EQ(cli_run(&c, ARGS("lock", path, "true")), 77);
}

/* They may be a holder record, whose versions must not repeat. */
static void a_path_with_data_is_kept(void)
{
    fresh("with-data");
    CHECK_EQ(cli_run(&c, ARGS("lock", "--lock-delay", "1", path, "true")), 0);
    cli_set_counter(path, NEAR_END);
    CHECK_EQ(next_number(), NEAR_END);
    CHECK_EQ(next_number(), NEAR_END + 1);
    CHECK_EQ(next_number(), NEAR_END + 2);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {{"who leaves it empty renews it", who_leaves_it_empty_renews_it},
                                             {"a path in use is kept", a_path_in_use_is_kept},
                                             {"permissions stay", permissions_stay},
                                             {"a path with data is kept", a_path_with_data_is_kept},
                                             {0}};
    cli_as_by_hand();
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "cli/renewal", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
