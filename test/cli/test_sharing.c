/* paddock lock -s and -x: readers beside readers, writers alone, and how the other commands show them. */
#include "test/cli/cli.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static struct program first, second, writer, c;
static char path[128];

static const char *fresh(const char *name) { return strcpy(path, cli_path(name)); }

static void start(struct program *p, const char *mode)
{
    cli_start_fed(
        p, ARGS("lock", mode, "--on-revoke=ignore", "--label", mode, path, "sh", "-c", "echo in; read -r x; exit 0"));
}

static void begin(struct program *p, const char *mode)
{
    start(p, mode);
    CHECK_WITHIN(GENEROUS, program_said(p, "in\n"));
}

static void finish(struct program *p)
{
    program_close_input(p);
    CHECK_EQ(program_wait(p), 0);
}

static void wait_behind(struct program *p, const char *mode, int n)
{
    start(p, mode);
    CHECK_WITHIN(GENEROUS, cli_children(path) == n);
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK(strstr(c.out, "waits") != NULL);
    CHECK(program_silent(p));
}

static void readers_share(void)
{
    fresh("readers");
    begin(&first, "-s");
    begin(&second, "-s");
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", "-s", path, "true")), 0);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", "-x", path, "true")), 1);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", path, "true")), 1);
    finish(&first);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", "-x", path, "true")), 1);
    finish(&second);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", "-x", path, "true")), 0);
    CHECK_EQ(cli_children(path), 0);
}

static void a_writer_is_alone(void)
{
    fresh("writer");
    begin(&writer, "-x");
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", "-s", path, "true")), 1);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", "-x", path, "true")), 1);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", path, "true")), 1);
    finish(&writer);
}

static void first_come_first_served(void)
{
    fresh("order");
    begin(&first, "-s");
    wait_behind(&writer, "-x", 2);
    wait_behind(&second, "-s", 3);
    CHECK(strstr(c.out, "3    waits  read") != NULL);
    finish(&first);
    CHECK_WITHIN(GENEROUS, program_said(&writer, "in\n"));
    CHECK(program_silent(&second));
    finish(&writer);
    CHECK_WITHIN(GENEROUS, program_said(&second, "in\n"));
    finish(&second);
}

static void beside_a_mutex(void)
{
    fresh("mutex");
    begin(&first, "-q");
    wait_behind(&second, "-s", 2);
    finish(&first);
    CHECK_WITHIN(GENEROUS, program_said(&second, "in\n"));
    wait_behind(&first, "-q", 2);
    finish(&second);
    CHECK_WITHIN(GENEROUS, program_said(&first, "in\n"));
    finish(&first);
}

static void holds_share(void)
{
    fresh("hold");
    cli_start_fed(&first, ARGS("hold", "-s", path));
    CHECK_WITHIN(GENEROUS, strchr(first.out, '\n') != NULL);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", "--shared", path, "true")), 0);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", "--exclusive", path, "true")), 1);
    program_close_input(&first);
    CHECK_EQ(program_wait(&first), 0);
}

static const char *text(const json_t *top, size_t i, const char *key)
{
    return json_string_value(json_object_get(json_array_get(json_object_get(top, "contenders"), i), key));
}

static void are_listed(void)
{
    fresh("listed");
    begin(&first, "-s");
    begin(&second, "-s");
    wait_behind(&writer, "-x", 3);
    const char *second_line = strchr(strchr(c.out, '\n') + 1, '\n');
    CHECK(strstr(c.out, "POS  STATE  MODE") == c.out);
    CHECK(strstr(c.out, "1    holds  read ") != NULL);
    CHECK(strstr(second_line, "\n2    holds  read ") == second_line);
    CHECK(strstr(c.out, "3    waits  write") != NULL);
    CHECK_EQ(cli_run(&c, ARGS("ls", "--json", path)), 0);
    json_t *top = json_loads(c.out, 0, NULL);
    CHECK_STR(text(top, 0, "mode"), "read");
    CHECK_STR(text(top, 1, "state"), "holds");
    CHECK_STR(text(top, 1, "dialect"), "paddock");
    CHECK_STR(text(top, 2, "mode"), "write");
    CHECK_STR(text(top, 2, "state"), "waits");
    json_decref(top);
    finish(&first);
    finish(&second);
    finish(&writer);
}

/* How often the program has waited for anything. */
static long sleeps(pid_t pid)
{
    char name[64], line[256];
    long n = -1;
    snprintf(name, sizeof name, "/proc/%ld/status", (long)pid);
    FILE *in = fopen(name, "re");
    while (in != NULL && fgets(line, sizeof line, in) != NULL)
        sscanf(line, "voluntary_ctxt_switches: %ld", &n);
    if (in != NULL)
        fclose(in);
    return n;
}

static void all_are_asked(void)
{
    fresh("asked");
    begin(&first, "-s");
    begin(&second, "-s");
    wait_behind(&writer, "-x", 3);
    CHECK_EQ(cli_run(&c, ARGS("break", "--json", path)), 0);
    CHECK(strstr(c.err, "the holders are asked") != NULL);
    json_t *top = json_loads(c.out, 0, NULL);
    CHECK_EQ(json_array_size(json_object_get(top, "holders")), 2);
    json_decref(top);
    CHECK_WITHIN(GENEROUS, program_complained(&first, "asks for the lock"));
    CHECK_WITHIN(GENEROUS, program_complained(&second, "asks for the lock"));
    cli_start(&c, ARGS("break", "--wait", "60", path));
    CHECK_WITHIN(GENEROUS, program_complained(&c, "are asked"));
    finish(&first);
    long then = sleeps(c.pid);
    CHECK_WITHIN(GENEROUS, program_ended(&c) || sleeps(c.pid) > then + 30); /* some for each look */
    CHECK(c.runs);
    finish(&second);
    CHECK_EQ(program_wait(&c), 0);
    CHECK_WITHIN(GENEROUS, program_said(&writer, "in\n"));
    CHECK(strstr(writer.err, "asks for the lock") == NULL);
    finish(&writer);
}

static void all_are_taken_away(void)
{
    fresh("forced");
    begin(&first, "-s");
    begin(&second, "-s");
    CHECK_EQ(cli_run(&c, ARGS("break", "--force", "--yes", path)), 0);
    CHECK(strstr(c.err, "the holders' nodes are deleted") != NULL);
    CHECK_EQ(program_wait(&first), 76);
    CHECK_EQ(program_wait(&second), 76);
    CHECK_EQ(cli_children(path), 0);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"readers hold beside each other, and no writer beside them", readers_share},
        {"a writer holds alone", a_writer_is_alone},
        {"readers and writers are served in the order in which they came", first_come_first_served},
        {"a lock without a mode and a shared one wait for each other", beside_a_mutex},
        {"paddock hold shares, too", holds_share},
        {"ls shows who reads and who writes, and each reader that holds", are_listed},
        {"break asks each reader, and waits until all have left", all_are_asked},
        {"break --force takes the lock from each reader", all_are_taken_away},
        {0},
    };
    cli_as_by_hand();
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "cli/sharing", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
