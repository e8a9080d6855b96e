/* A path whose sequence numbers are near their end begins anew, without a stop of those who use it. */
#include "test/cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NEAR_END = 2147483600, LAST_BUT_TWO = 2147483645, FLEET_MAX = 40 };

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
    const char *const *mine = ARGS("lock", "--auth", "digest:me:secret", "--acl", "auth::rwcda", "--acl",
                                   "world:anyone:r", path, "true");
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

/* The first two get the last numbers, the others none. Each adds its token to a file while it alone is inside. */
static void fleet(const char *name, int n)
{
    static struct program fleet[FLEET_MAX];
    static const char job[] = "mkdir $0/inside && echo $PADDOCK_TOKEN >>$0/tokens && sleep 0.01 && rmdir $0/inside";
    static const char judge[] = "sort -nuc $0/tokens && wc -l <$0/tokens";
    char dir[1024];
    snprintf(dir, sizeof dir, "%s/%s", pdk__server_dir(cli_server()), name); /* it goes with the server's */
    CHECK_EQ(mkdir(dir, 0700), 0);
    fresh(name);
    CHECK_EQ(next_number(), 0);
    cli_set_counter(path, LAST_BUT_TWO);
    for (int i = 0; i < n; i++)
        cli_start(&fleet[i], ARGS("lock", path, "sh", "-c", job, dir));
    for (int i = 0; i < n; i++)
        CHECK_EQ(program_wait(&fleet[i]), 0);
    CHECK_EQ(program_run(&c, ARGS("sh", "-c", judge, dir), PROGRAM_OUTPUT), 0);
    CHECK_EQ(atoi(c.out), n);
    CHECK_EQ(cli_children(path), 0);
}

static void all_of_a_fleet_are_granted_across_the_end(void)
{
    fleet("fleet-4", 4);
    fleet("fleet-40", FLEET_MAX);
}

/* A holder of the path is waited for, however long. */
static void who_comes_after_the_end_waits_outside(void)
{
    static struct program late;
    fresh("outside");
    CHECK_EQ(next_number(), 0);
    cli_set_counter(path, LAST_BUT_TWO);
    cli_start_fed(&holder, ARGS("lock", path, "sh", "-c", "echo in; read -r x || :"));
    CHECK_WITHIN(GENEROUS, program_said(&holder, "in\n"));
    for (int i = 0; i < 2; i++) {
        cli_make(path, "passing", "");
        cli_delete(path, "passing");
    }
    cli_start(&late, ARGS("lock", "--verbose", path, "sh", "-c", "echo $PADDOCK_NODE"));
    CHECK_WITHIN(GENEROUS, program_complained(&late, "numbers are used up"));
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", path, "true")), 1);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-vv", "-w", "0.5", path, "true")), 1);
    CHECK(strstr(c.err, "timed out: the sequence numbers of the path are used up") != NULL);
    program_close_input(&holder);
    CHECK_EQ(program_wait(&holder), 0);
    CHECK_EQ(program_wait(&late), 0);
    CHECK(strstr(late.out, "-lock-0000000000\n") != NULL);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"who leaves it empty renews it", who_leaves_it_empty_renews_it},
        {"a path in use is kept", a_path_in_use_is_kept},
        {"permissions stay", permissions_stay},
        {"a path with data is kept", a_path_with_data_is_kept},
        {"all of a fleet are granted across the end", all_of_a_fleet_are_granted_across_the_end},
        {"after the end it waits outside", who_comes_after_the_end_waits_outside},
        {0}};
    cli_as_by_hand();
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "cli/renewal", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
