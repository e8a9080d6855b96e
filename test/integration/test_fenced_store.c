/* The store of the examples, which does not believe in locks: no write with a token smaller than one it has seen. */
#include "test/integration/example.h"
#include "test/lib/check.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT_MS = 60000, STALE = 1, USAGE = 64 };

static char dir[PATH_MAX], address[PATH_MAX + 16], file[PATH_MAX + 16];
static struct program client;

#define RUN(...) program_run(&client, ARGS(program_built("examples/fenced_store"), __VA_ARGS__), PROGRAM_ERRORS)

static int put(const char *token, const char *text) { return RUN("put", address, token, text); }

static void check_file(const char *line)
{
    char text[64] = "";
    FILE *f = fopen(file, "r");
    CHECK(f != NULL);
    CHECK(fgets(text, sizeof text, f) != NULL);
    fclose(f);
    CHECK_STR(text, line);
}

static void serve(void)
{
    example_start(ARGS("fenced_store", "serve", address, file));
    CHECK_WITHIN(LIMIT_MS, RUN("get", address) == 0);
}

static void refuses_smaller(void)
{
    serve();
    CHECK_EQ(put("7", "first"), 0);
    CHECK_EQ(put("6", "late"), STALE);
    CHECK(program_complained(&client, "the store has seen token 7"));
    check_file("7 first");
    CHECK_EQ(put("7", "again"), 0);
    CHECK_EQ(put("12", "next"), 0);
    CHECK_EQ(put("7", "late"), STALE);
    check_file("12 next");
    CHECK_EQ(put("none", "x"), USAGE);
}

/* A writer's token refuses earlier readers. A reader's refuses no one: not the writer that goes on as a reader. */
static void readers_tokens(void)
{
    serve();
    CHECK_EQ(put("27", "first"), 0);
    CHECK_EQ(RUN("read", address, "26"), STALE);
    CHECK(program_complained(&client, "the store has seen token 27"));
    CHECK_EQ(RUN("read", address, "29"), 0);
    CHECK_EQ(RUN("read", address, "28"), 0);
    CHECK_EQ(put("27", "again"), 0);
    check_file("27 again");
    CHECK_EQ(RUN("read", address, "none"), USAGE);
}

static void remembers(void)
{
    serve();
    CHECK_EQ(put("9223372036854775807", "last"), 0);
    program_end(&example);
    serve();
    CHECK_EQ(put("9223372036854775806", "late"), STALE);
    check_file("9223372036854775807 last");
}

static void sleeper_is_refused(void)
{
    example_set_up();
    example_start(ARGS("fenced_store", "demo", hosts));
    int64_t a = program_await_number(&example, "A: holds, and is about to write, token ");
    program_await(&example, "A is stopped");
    int64_t b = program_await_number(&example, "B: the store takes the write, token ");
    CHECK(a < b);
    CHECK_EQ(program_await_number(&example, "B: ZooKeeper takes the guarded write, token "), b);
    CHECK_EQ(
        program_await_number(&example, "A: the store refuses the write: it has seen a larger one than mine, token "),
        a);
    CHECK_EQ(
        program_await_number(&example, "A: ZooKeeper refuses the guarded write: the node of the lock is gone, token "),
        a);
    CHECK_EQ(program_await_number(&example, "the store: has what B wrote, token "), b);
    CHECK_EQ(program_wait(&example), 0);
}

static void set_up(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(dir, sizeof dir, "%s/fenced-XXXXXX", tmp ? tmp : "/tmp");
    CHECK(mkdtemp(dir) != NULL);
    snprintf(address, sizeof address, "%s/socket", dir);
    snprintf(file, sizeof file, "%s/store", dir);
}

static void tear_down(void)
{
    example_tear_down();
    unlink(address);
    unlink(file);
    rmdir(dir);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"the store refuses a token smaller than the largest it has seen, and takes the same again", refuses_smaller},
        {"a reader is refused after a later writer, and its token is not remembered", readers_tokens},
        {"it remembers that token when it is started again", remembers},
        {"a holder who slept through his session is refused by the store, and by ZooKeeper", sleeper_is_refused},
        {0}};
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "fenced_store", .tests = tests, .setup = set_up, .teardown = tear_down});
}
