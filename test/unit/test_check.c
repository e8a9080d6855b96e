/*
 * The tests of the checks: this program runs itself again, as a suite that fails, skips, hangs or breaks, and examines
 * its output and exit status.
 */
#include "test/lib/check.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- the suite inside -------------------------------------------------------------------------------------------- */

static void reached(void) { puts("# reached"); }

static void passes(void) { CHECK(true); }

static void fails(void)
{
    CHECK(1 > 2);
    reached();
}

static void breaks_a_law(void)
{
    CHECK_LAW(1 > 2);
    reached();
}

static void numbers(void)
{
    int three = 3;
    CHECK_EQ(three, 3);
    CHECK_EQ(three, -4L);
    reached();
}

static void texts(void)
{
    const char *text = "left";
    CHECK_STR(text, "left");
    CHECK_STR(text, NULL);
    reached();
}

static void codes(void)
{
    CHECK_RC(PDK_EBUSY, PDK_EBUSY);
    CHECK_RC(PDK_EBUSY, PDK_OK);
    reached();
}

static void waits(void)
{
    int turns = 0;
    CHECK_WITHIN(60000, ++turns == 3);
    CHECK_EQ(turns, 3);
    CHECK_WITHIN(1, turns == 0);
    reached();
}

/* More than are kept. */
static void notes(void)
{
    for (int i = 1; i <= 30; i++)
        pdk__test_note("note %d\nnot ok - of its text", i);
    CHECK(1 > 2);
}

static int looked;

static int look(void) { return (int)pdk__test_saw("the number", looked++ / 2); }

/* The history holds the last changes, each once; older ones, and those seen before the wait, are dropped. */
static void remembers(void)
{
    looked = 400;
    look();
    looked = 0;
    CHECK_WITHIN(60000, look() == 20 && SEEN(looked) > 40);
    CHECK_WITHIN(1, look() < 0);
    reached();
}

static bool one_is_seen(void)
{
    int turns = 0;
    CHECK_WITHIN(60000, ++turns == 2);
    pdk__test_saw_text("the text", "a \"word\"");
    return false;
}

static void waits_inside(void)
{
    CHECK_WITHIN(1, one_is_seen());
    reached();
}

/* The limit has passed before the condition is evaluated for the first time. */
static void looks_once_more(void)
{
    int turns = 0;
    CHECK_WITHIN(0, ++turns == 2);
    puts("# looked again");
}

static void *fail_there(void *arg)
{
    CHECK(arg != NULL);
    reached();
    return NULL;
}

static void in_thread(void)
{
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, fail_there, NULL), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    puts("# joined");
}

static void in_child(void)
{
    pid_t pid = pdk__test_fork();
    if (pid == 0) {
        CHECK(pid != 0);
        reached();
    }
    CHECK_EQ(pdk__test_wait(pid), 0);
}

static void skips(void)
{
    SKIP("no such thing here");
    reached();
}

static void asked_to_end(void) { kill(getpid(), SIGTERM); }

/* Not by a signal that a sanitizer takes. */
static void crashes(void) { raise(SIGQUIT); }

static void hangs(void)
{
    for (;;)
        pause();
}

static int inside(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"passes", passes},
        {"fails", fails},
        {"numbers", numbers},
        {"texts", texts},
        {"codes", codes},
        {"waits", waits},
        {"seen", remembers},
        {"nested", waits_inside},
        {"once more", looks_once_more},
        {"thread", in_thread},
        {"child", in_child},
        {"skips", skips},
        {"hangs", hangs},
        {"asked to end", asked_to_end},
        {"crashes", crashes},
        {"law", breaks_a_law},
        {"marks", notes},
        {0},
    };
    static const struct pdk__test gate[] = {{"gate", passes}, {0}}, proof[] = {{"proof", passes}, {0}};
    struct pdk__test_suite suite = {.name = "inside", .tests = tests, .teardown = reached, .limit_ms = 20000};
    const char *setup = getenv("PADDOCK_TEST_INSIDE");
    suite.setup = strcmp(setup, "fails") == 0 ? fails : strcmp(setup, "skips") == 0 ? skips : NULL;
    if (strcmp(setup, "short") == 0)
        suite.limit_ms = 100;
    if (strcmp(setup, "proof") == 0 || strcmp(setup, "gate") == 0)
        suite.tests = gate;
    if (strcmp(setup, "proof") == 0)
        suite.proof = proof;
    return pdk__test_main(argc, argv, &suite);
}

/* --- and from outside -------------------------------------------------------------------------------------------- */

static char said[8192];
static int status;

/* Run the inner tests that TEST chooses; their output is in said[]. Returns the exit status, or minus the signal. */
static int run(const char *setup, const char *test)
{
    int ends[2];
    size_t n = 0;
    ssize_t got;
    CHECK_EQ(pipe(ends), 0);
    pid_t pid = pdk__test_fork();
    if (pid == 0) {
        setenv("PADDOCK_TEST_INSIDE", setup, 1);
        if (strcmp(setup, "slow") == 0)
            setenv("PADDOCK_TEST_SLOW", "3", 1);
        else
            unsetenv("PADDOCK_TEST_SLOW");
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl("/proc/self/exe", "inside", test, (char *)NULL);
        _exit(99);
    }
    close(ends[1]);
    while ((got = read(ends[0], said + n, sizeof said - 1 - n)) > 0)
        n += (size_t)got;
    said[n] = '\0';
    close(ends[0]);
    return pdk__test_wait(pid);
}

static void says(const char *text)
{
    if (strstr(said, text) == NULL)
        pdk__test_fail(__FILE__, __LINE__, "\"%s\" is not in \"%s\"", text, said);
}

/* The teardown prints "# reached" once. */
static void ends_at_once(void)
{
    const char *once = strstr(said, "# reached");
    CHECK(once != NULL);
    CHECK(strstr(once + 1, "# reached") == NULL);
}

static void passing(void)
{
    CHECK_EQ(run("", "passes"), 0);
    CHECK_STR(said, "ok - passes\n# reached\n# inside: 1 run, 0 failed, 0 skipped\n");
}

static void failing(void)
{
    static const struct {
        const char *test, *text;
    } cases[] = {{"fails", ": 1 > 2\n"},
                 {"numbers", ": three (3) == -4L (-4)\n"},
                 {"texts", ": text (\"left\") == NULL (\"NULL\")\n"},
                 {"codes", ": PDK_EBUSY is PDK_EBUSY (-3), not PDK_OK\n"},
                 {"law", ": a broken law: 1 > 2\n"},
                 {"waits", ": not within 1 ms: turns == 0\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_EQ(run("", cases[i].test), 1);
        says("not ok - ");
        says("test_check.c:");
        says(cases[i].text);
        says("# inside: 1 run, 1 failed, 0 skipped\n");
        ends_at_once();
    }
}

static void a_late_wait(void)
{
    CHECK_EQ(run("", "seen"), 1);
    says("not within 1 ms: look() < 0; seen: the number was 20 after ");
    CHECK(strstr(said, "the number was 200") == NULL);
    CHECK_EQ(run("", "nested"), 1);
    says("not within 1 ms: one_is_seen(); seen: the text was \"a \"word\"\" after ");
    CHECK(strstr(strstr(said, "the text") + 1, "the text") == NULL);
    CHECK_EQ(run("slow", "waits"), 1);
    says("not within 3 ms: turns == 0\n");
    CHECK_EQ(run("", "once more"), 0);
    says("# looked again\n");
}

static void a_test_with_notes(void)
{
    CHECK_EQ(run("", "marks"), 1);
    says(" ms: note 11|not ok - of its text\n# after ");
    says(" ms: note 30|not ok - of its text\n# reached\n");
    CHECK(strstr(said, "note 10") == NULL);
}

static void failing_elsewhere(void)
{
    CHECK_EQ(run("", "thread"), 1);
    says(": arg != NULL\n");
    says("# joined\n");
    ends_at_once();
    CHECK_EQ(run("", "child"), 1);
    says("in a child: ");
    says("pdk__test_wait(pid) (1) == 0 (0)\n");
    ends_at_once();
}

static void the_rest_runs(void)
{
    CHECK_EQ(run("", "i"), 1); /* every name with an i */
    says("not ok - fails: ");
    says("not ok - waits: ");
    says("not ok - child: ");
    says("ok - skips # skipped: no such thing here\n");
    says("# inside: 4 run, 3 failed, 1 skipped\n");
}

/* Of two tests, one for the proof, those are run that PADDOCK_TEST_PROOF and the argument TEST choose. Returns the
 * output. */
static const char *chooses(const char *suite, const char *proof, const char *test)
{
    const char *outer = getenv("PADDOCK_TEST_PROOF");
    char kept[16];
    snprintf(kept, sizeof kept, "%s", outer != NULL ? outer : "");
    if (proof != NULL)
        setenv("PADDOCK_TEST_PROOF", proof, 1);
    else
        unsetenv("PADDOCK_TEST_PROOF");
    status = run(suite, test);
    if (outer != NULL)
        setenv("PADDOCK_TEST_PROOF", kept, 1);
    else
        unsetenv("PADDOCK_TEST_PROOF");
    return said;
}

static void long_tests_wait_for_the_proof(void)
{
    CHECK_STR(chooses("proof", NULL, NULL), "ok - gate\n# reached\n# inside: 1 run, 0 failed, 0 skipped\n");
    CHECK_STR(chooses("proof", NULL, "proof"), "ok - proof\n# reached\n# inside: 1 run, 0 failed, 0 skipped\n");
    CHECK_STR(chooses("proof", "only", NULL), "ok - proof\n# reached\n# inside: 1 run, 0 failed, 0 skipped\n");
    CHECK_STR(chooses("gate", "only", NULL), "# inside: skipped: it has no test for the proof\n");
    CHECK_EQ(status, 77);
    CHECK_STR(chooses("proof", "yes", NULL),
              "ok - gate\nok - proof\n# reached\n# inside: 2 run, 0 failed, 0 skipped\n");
}

static void skipping(void)
{
    CHECK_EQ(run("", "skips"), 77);
    says("# inside: skipped: no such thing here\n");
    CHECK_EQ(run("skips", "passes"), 77);
    says("# inside: skipped: no such thing here\n");
    CHECK(strstr(said, "ok - passes") == NULL);
}

static void broken(void)
{
    CHECK_EQ(run("fails", "passes"), 99);
    says("not ok - setup");
    CHECK_EQ(run("", "no test has this name"), 99);
}

static void hanging(void)
{
    CHECK_EQ(run("short", "hangs"), -SIGABRT);
    says("not ok - (it hangs) hangs\n");
}

/* A shell's background commands ignore SIGQUIT, and so would the test. */
static void killed(void)
{
    CHECK_EQ(run("short", "asked to end"), -SIGTERM);
    says("not ok - (Terminated) asked to end from ");
    signal(SIGQUIT, SIG_DFL);
    CHECK_EQ(run("short", "crashes"), -SIGQUIT);
    says("not ok - (Quit) crashes");
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a passing test is one line, and the end another", passing},
        {"a failing check shows both sides and ends the test", failing},
        {"a wait that is late shows what it saw, and looks once more before", a_late_wait},
        {"a failed test shows the last of its notes", a_test_with_notes},
        {"a check in a thread or a child fails the test", failing_elsewhere},
        {"a failed test does not keep others from running", the_rest_runs},
        {"a test for the proof is run there, or when it is named", long_tests_wait_for_the_proof},
        {"tests that are all skipped, or their setup, make 77 and say why", skipping},
        {"a setup that fails, or no test at all, makes 99", broken},
        {"a test that hangs is named and aborted", hanging},
        {"a test that a signal ends is named, with the signal and its sender", killed},
        {0},
    };
    if (getenv("PADDOCK_TEST_INSIDE") != NULL)
        return inside(argc, argv);
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "check", .tests = tests});
}
