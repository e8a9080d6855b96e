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
    CHECK_QUIET(&c);
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

/* Those of a lock delay are a holder record, whose versions must not meet again soon. */
static void data_stay(void)
{
    fresh("record");
    CHECK_EQ(cli_run(&c, ARGS("lock", "--lock-delay", "1", path, "true")), 0);
    cli_set_counter(path, NEAR_END);
    CHECK_EQ(next_number(), NEAR_END);
    CHECK_EQ(next_number(), 0);
    CHECK(cli_has_data(path, "free"));
    fresh("data");
    cli_make(path, "lock", "a program's own");
    strcat(path, "/lock");
    CHECK_EQ(next_number(), 0);
    cli_set_counter(path, NEAR_END);
    CHECK_EQ(next_number(), NEAR_END);
    CHECK_EQ(next_number(), 0);
    CHECK(cli_has_data(path, "a program's own"));
}

static void a_young_record_is_kept(void)
{
    fresh("young");
    CHECK_EQ(next_number(), 0);
    cli_set_counter(path, NEAR_END);
    cli_start_fed(&holder, ARGS("lock", "--lock-delay", "1", path, "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, program_said(&holder, "in\n"));
    program_close_input(&holder);
    program_wait(&holder);
    CHECK(cli_has_data(path, "free"));
    CHECK_EQ(next_number(), NEAR_END + 1);
    CHECK_EQ(next_number(), NEAR_END + 2);
}

/* The first two get the last numbers, the others none. Each adds its token to a file while it alone is inside. OPTIONS
 * are those of each, and end with the path. */
static void fleet(const char *name, const char *const *options, int n)
{
    static struct program fleet[FLEET_MAX];
    static const char job[] = "mkdir $0/inside && echo $PADDOCK_TOKEN >>$0/tokens && sleep 0.01 && rmdir $0/inside";
    static const char judge[] = "sort -nuc $0/tokens && wc -l <$0/tokens";
    const char *args[16] = {"lock"};
    char dir[1024];
    int k = 1;
    snprintf(dir, sizeof dir, "%s/%s", pdk__server_dir(cli_server()), name); /* it goes with the server's */
    CHECK_EQ(mkdir(dir, 0700), 0);
    for (; options[k - 1] != NULL; k++)
        args[k] = options[k - 1];
    memcpy(&args[k], ARGS("sh", "-c", job, dir), 5 * sizeof *args);
    for (int i = 0; i < n; i++)
        cli_start(&fleet[i], args);
    for (int i = 0; i < n; i++)
        CHECK_EQ(program_wait(&fleet[i]), 0);
    CHECK_EQ(program_run(&c, ARGS("sh", "-c", judge, dir), PROGRAM_OUTPUT), 0);
    CHECK_EQ(atoi(c.out), n);
}

/* That of PATH, below it at PLACE. */
static void near_the_end(const char *place)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s%s", path, place);
    cli_set_counter(whole, LAST_BUT_TWO);
}

static void all_of_a_fleet_are_granted_across_the_end(void)
{
    fresh("fleet-4");
    CHECK_EQ(next_number(), 0);
    near_the_end("");
    fleet("four", ARGS(path), 4);
    CHECK_EQ(cli_children(path), 0);
    fresh("fleet-40");
    CHECK_EQ(next_number(), 0);
    near_the_end("");
    fleet("forty", ARGS(path), FLEET_MAX);
    CHECK_EQ(cli_children(path), 0);
}

static void so_are_those_with_several_nodes_and_with_a_delay(void)
{
    char also[128];
    strcpy(also, cli_path("also"));
    fresh("several");
    CHECK_EQ(next_number(), 0);
    near_the_end("");
    fleet("multi", ARGS("-l", also, path), 8);
    CHECK_EQ(cli_children(path), 0);
    CHECK_EQ(cli_children(also), 0);
    fresh("permits");
    CHECK_EQ(cli_run(&c, ARGS("lock", "--limit", "3", path, "true")), 0);
    near_the_end("/leases");
    fleet("three", ARGS("--limit", "3", "--permits", "2", path), 8);
    fresh("delay");
    CHECK_EQ(cli_run(&c, ARGS("lock", "--lock-delay", "1", path, "true")), 0);
    near_the_end("");
    fleet("delayed", ARGS("--lock-delay", "1", path), 8);
    CHECK_EQ(cli_children(path), 0);
}

/* Their nodes would keep the path from being renewed, and they would wait for it. */
static void without_delete_several_are_refused(void)
{
    char also[128];
    strcpy(also, cli_path("deletable"));
    fresh("undeletable");
    CHECK_EQ(cli_run(&c, ARGS("lock", "--acl", "world:anyone:cra", path, "true")), 0);
    near_the_end("");
    for (int i = 0; i < 2; i++)
        cli_run(&c, ARGS("lock", path, "true"));
    CHECK_EQ(cli_run(&c, ARGS("lock", "-w", "5", "-l", also, path, "true")), 77);
    CHECK_ONE_LINE(&c);
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
    CHECK_EQ(cli_run(&c, ARGS("lock", "-vv", "-w", "3", path, "true")), 1);
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
        {"data stay", data_stay},
        {"a young record is kept", a_young_record_is_kept},
        {"all of a fleet are granted across the end", all_of_a_fleet_are_granted_across_the_end},
        {"so are those with several nodes, and with a delay", so_are_those_with_several_nodes_and_with_a_delay},
        {"without DELETE several are refused", without_delete_several_are_refused},
        {"after the end it waits outside", who_comes_after_the_end_waits_outside},
        {0}};
    cli_as_by_hand();
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "cli/renewal", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
