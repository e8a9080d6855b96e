/* paddock graph: which contenders wait for which, and the deadlocks among them. Most situations are built by raw
 * requests, with identities as contenders write them. */
#include "test/cli/cli.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct program first, second, third, c;
static char root[128];
static json_t *top;

static const char *fresh(const char *name)
{
    strcpy(root, cli_path(name));
    cli_make("", root + 1, "");
    return root;
}

/* A contender of the lock ROOT/LOCK with TAG and NUMBER, of a process and its thread. */
static void stand(const char *lock, const char *tag, int number, int pid, int thread, const char *more)
{
    char path[160], name[80], data[300];
    snprintf(path, sizeof path, "%s/%s", root, lock);
    snprintf(name, sizeof name, "0123456789abcdef-%08x-%s%010d", (unsigned)(pid * 100 + thread), tag, number);
    snprintf(data, sizeof data,
             "{\"host\":\"db%d\",\"pid\":%d,\"thread\":%d,\"label\":\"\",\"machine\":\"0123456789abcdef\"%s}", pid, pid,
             thread, more);
    cli_make_ephemeral(path, name, data);
}

static void mutex(const char *lock, int number, int pid) { stand(lock, "lock-", number, pid, pid, ""); }

static void look(int status)
{
    json_decref(top);
    CHECK_EQ(cli_run(&c, ARGS("graph", "--json", root)), status);
    CHECK_STR(c.err, "");
    top = json_loads(c.out, 0, NULL);
    CHECK(top != NULL);
}

static size_t count(const char *key) { return json_array_size(json_object_get(top, key)); }

static json_int_t number(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static json_int_t pid_of(json_int_t actor)
{
    return number(json_array_get(json_object_get(top, "actors"), (size_t)actor), "pid");
}

/* The members of deadlock D, by their processes: is PID among them? */
static bool is_in(size_t d, int pid)
{
    const json_t *all = json_object_get(json_array_get(json_object_get(top, "deadlocks"), d), "actors"), *actor;
    size_t i;
    json_array_foreach(all, i, actor) if (pid_of(json_integer_value(actor)) == pid) return true;
    return false;
}

static size_t members(size_t d)
{
    return json_array_size(json_object_get(json_array_get(json_object_get(top, "deadlocks"), d), "actors"));
}

/* The wait of PID for LOCK. */
static const json_t *wait_of(int pid, const char *lock)
{
    const json_t *wait;
    size_t i;
    json_array_foreach(json_object_get(top, "waits"), i, wait)
    {
        const char *path = json_string_value(json_object_get(wait, "path"));
        if (pid_of(number(wait, "actor")) == pid && strcmp(strrchr(path, '/') + 1, lock) == 0)
            return wait;
    }
    return NULL;
}

/* --- pictures ---------------------------------------------------------------------------------------------------- */

static void nobody_waits(void)
{
    fresh("empty");
    look(0);
    CHECK_EQ(count("actors"), 0);
    mutex("a", 0, 1);
    look(0);
    CHECK_EQ(count("actors"), 1);
    CHECK_EQ(count("waits"), 0);
}

static void a_chain(void)
{
    fresh("chain");
    mutex("a", 0, 1);
    mutex("a", 1, 2);
    mutex("a", 2, 3);
    mutex("b", 0, 2);
    mutex("b", 1, 4);
    look(0);
    CHECK_EQ(count("waits"), 3);
    CHECK_EQ(count("deadlocks"), 0);
    CHECK_EQ(cli_run(&c, ARGS("graph", root)), 0);
    const char *two = strstr(c.out, "/a: db2 pid 2 has waited"), *four = strstr(c.out, "/b: db4 pid 4 has waited");
    const char *three = strstr(c.out, "/a: db3 pid 3 has waited");
    CHECK(strncmp(c.out, "db1 pid 1\n", 10) == 0);
    CHECK(two != NULL && four > two && three > four);
    CHECK(strstr(c.out, "lock paths: 2; contenders that hold: 2, that wait: 3; deadlocks: 0") != NULL);
}

/* --- deadlocks --------------------------------------------------------------------------------------------------- */

static void two_mutexes(void)
{
    fresh("two");
    mutex("a", 0, 1);
    mutex("b", 0, 2);
    mutex("a", 1, 2);
    look(0);
    mutex("b", 1, 1);
    mutex("b", 2, 3);
    look(1);
    CHECK_EQ(count("deadlocks"), 1);
    CHECK(members(0) == 2 && is_in(0, 1) && is_in(0, 2) && !is_in(0, 3));
    CHECK_EQ(cli_run(&c, ARGS("graph", root)), 1);
    CHECK(strstr(c.out, "deadlock 1:") != NULL && strstr(c.out, "/b, which db2 pid 2 holds") != NULL);
    CHECK(strstr(c.out, "/a, which db1 pid 1 holds") != NULL);
    CHECK(strstr(c.out, "1 more wait for a deadlock") != NULL);
}

/* Of two locks `doctor` looks at the one. */
static void doctor(void)
{
    char a[160];
    fresh("doctor");
    snprintf(a, sizeof a, "%s/a", root);
    mutex("a", 0, 1);
    mutex("b", 0, 2);
    mutex("a", 1, 2);
    CHECK_EQ(cli_run(&c, ARGS("doctor", a)), 0);
    mutex("b", 1, 1);
    CHECK_EQ(cli_run(&c, ARGS("doctor", a)), 1);
    CHECK(strstr(c.out, "[deadlock] ") != NULL && strstr(c.out, "nothing is wrong") == NULL);
    json_decref(top);
    CHECK_EQ(cli_run(&c, ARGS("doctor", "--json", a)), 1);
    top = json_loads(c.out, 0, NULL);
    const json_t *findings = json_object_get(json_array_get(json_object_get(top, "paths"), 0), "findings");
    CHECK_EQ(json_array_size(findings), 1);
    CHECK_STR(json_string_value(json_object_get(json_array_get(findings, 0), "code")), "deadlock");
    CHECK_EQ(json_array_size(json_object_get(json_array_get(findings, 0), "nodes")), 2);
}

/* Another thread of a session that tells none may go on. */
static void doctor_is_certain(void)
{
    char a[160], b[160];
    fresh("session");
    snprintf(a, sizeof a, "%s/a", root);
    snprintf(b, sizeof b, "%s/b", root);
    mutex("a", 0, 1);
    cli_make_ephemeral(b, "_c_8612d63e-bf96-4b12-a950-74da4d73b8e1-lock-0000000000", "");
    cli_make_ephemeral(a, "_c_8612d63e-bf96-4b12-a950-74da4d73b8e2-lock-0000000001", "");
    mutex("b", 1, 1);
    look(1);
    CHECK_EQ(cli_run(&c, ARGS("doctor", a)), 0);
    CHECK(strstr(c.out, "'paddock graph' shows a deadlock") != NULL && strstr(c.out, "nothing is wrong") == NULL);
}

/* Of one process: the one goes on while the other waits. */
static void two_threads(void)
{
    fresh("threads");
    stand("a", "lock-", 0, 1, 11, "");
    stand("b", "lock-", 0, 2, 2, "");
    stand("a", "lock-", 1, 2, 2, "");
    stand("b", "lock-", 1, 1, 12, "");
    look(0);
    CHECK_EQ(count("actors"), 3);
    CHECK_EQ(cli_run(&c, ARGS("graph", "--processes", root)), 1);
    CHECK(strstr(c.out, "deadlock 1:") != NULL);
}

/* Without an identity a session is one. */
static void a_session(void)
{
    char path[160];
    fresh("session");
    snprintf(path, sizeof path, "%s/a", root);
    cli_make_ephemeral(path, "_c_00000000-0000-0000-0000-000000000000-lock-0000000000", "10.0.0.7");
    mutex("b", 0, 1);
    mutex("a", 1, 1);
    snprintf(path, sizeof path, "%s/b", root);
    cli_make_ephemeral(path, "_c_00000000-0000-0000-0000-000000000001-lock-0000000001", "10.0.0.7");
    look(1);
    CHECK_EQ(count("actors"), 2);
    CHECK_EQ(members(0), 2);
}

static void readers(void)
{
    fresh("readers");
    stand("r", "__READ__", 0, 1, 1, "");
    stand("r", "__READ__", 2, 2, 2, "");
    mutex("m", 0, 2);
    mutex("m", 1, 1);
    look(0);
    CHECK(wait_of(2, "r") == NULL);
    stand("r", "__WRIT__", 1, 3, 3, ""); /* before the second reader, which waits now */
    look(1);
    CHECK_EQ(members(0), 3);
    CHECK(is_in(0, 1) && is_in(0, 2) && is_in(0, 3));
}

static void a_writer_waits_for_each_reader(void)
{
    fresh("writer");
    stand("r", "__READ__", 0, 1, 1, "");
    stand("r", "__READ__", 1, 2, 2, "");
    stand("r", "__WRIT__", 2, 3, 3, "");
    mutex("m", 0, 3);
    mutex("m", 1, 1);
    look(1);
    CHECK(members(0) == 2 && is_in(0, 1) && is_in(0, 3));
    CHECK_EQ(json_array_size(json_object_get(wait_of(3, "r"), "for")), 2);
    CHECK(json_is_false(json_object_get(wait_of(3, "r"), "any_of")));
}

static void permit(int number, int pid, int thread)
{
    stand("s/leases", "lease-", number, pid, thread, ",\"limit\":2");
}

/* With one holder that can go on there is a circle, and no knot. */
static void permits(void)
{
    char path[160];
    fresh("permits");
    snprintf(path, sizeof path, "%s/s", root);
    cli_make(root, "s", "");
    permit(0, 1, 1);
    permit(1, 2, 2);
    permit(2, 3, 3);
    mutex("m", 0, 3);
    mutex("m", 1, 1);
    look(0);
    CHECK(json_is_true(json_object_get(wait_of(3, "leases"), "any_of")));
    CHECK_EQ(number(wait_of(3, "leases"), "needs"), 1);
    CHECK_EQ(cli_run(&c, ARGS("graph", "--dot", root)), 0);
    CHECK(strstr(c.out, "style=dashed") != NULL && strstr(c.out, "color=red") == NULL);
    mutex("m", 2, 2);
    look(1);
    CHECK_EQ(members(0), 3);
    CHECK_EQ(cli_run(&c, ARGS("graph", root)), 1);
    CHECK(strstr(c.out, "one of several that hold") != NULL);
    CHECK(strstr(c.out, "and 1 more that wait for each other") != NULL);
}

/* An actor that waits for its second permit does not wait for its first. */
static void permits_of_one(void)
{
    fresh("permits-of-one");
    cli_make(root, "s", "");
    permit(0, 1, 1);
    permit(1, 2, 2);
    stand("s/leases", "lease-", 2, 1, 1, ",\"limit\":2,\"again\":1");
    look(0);
    CHECK_EQ(count("deadlocks"), 0);
    CHECK_EQ(json_array_size(json_object_get(wait_of(1, "leases"), "for")), 1);
}

/* By one rule: `ls`, `top`, `graph` and `doctor` give one answer. */
static void kazoo(void)
{
    char path[160];
    fresh("kazoo");
    mutex("a", 0, 1);
    snprintf(path, sizeof path, "%s/a", root);
    cli_make_ephemeral(path, "0123456789abcdef0123456789abcdef__lock__0000000001", "");
    look(0);
    CHECK_EQ(count("waits"), 0);
    CHECK_EQ(cli_run(&c, ARGS("ls", "-q", path)), 0);
    CHECK(strstr(c.out, "holds (kazoo)") != NULL && strstr(c.out, "waits") == NULL);
    CHECK_EQ(cli_run(&c, ARGS("top", "--once", path)), 0);
    CHECK(strstr(c.out, "contenders that hold: 2, that wait: 0\n") != NULL);
    CHECK_EQ(cli_run(&c, ARGS("doctor", path)), 1);
    CHECK(strstr(c.out, "__lock__0000000001 holds") != NULL && strstr(c.out, "waits") == NULL);
    mutex("a", 2, 2);
    look(0);
    CHECK_EQ(json_array_size(json_object_get(wait_of(2, "a"), "for")), 2);
    cli_make_ephemeral(path, "1123456789abcdef0123456789abcdef__lock__0000000003", "");
    CHECK_EQ(cli_run(&c, ARGS("ls", "-q", path)), 0);
    CHECK(strstr(c.out, "waits (kazoo)") != NULL);
}

/* Four processes on two locks, in two commands. */
static void two_commands(void)
{
    static const char script[] = "echo in; read -r x; exec \"$PADDOCK_BUILDDIR/uninstalled/paddock\" lock \"$0\" true";
    char a[160], b[160];
    fresh("commands");
    snprintf(a, sizeof a, "%s/a", root);
    snprintf(b, sizeof b, "%s/b", root);
    cli_start_fed(&first, ARGS("lock", "--label", "one", a, "sh", "-c", script, b));
    cli_start_fed(&second, ARGS("lock", "--label", "two", b, "sh", "-c", script, a));
    CHECK_WITHIN(GENEROUS, program_said(&first, "in\n") && program_said(&second, "in\n"));
    look(0);
    program_close_input(&first);
    CHECK_WITHIN(GENEROUS, cli_children(b) == 2);
    look(0);
    cli_start_fed(&third, ARGS("lock", "--label", "three", b, "true"));
    program_close_input(&second);
    CHECK_WITHIN(GENEROUS, cli_children(a) == 2 && cli_children(b) == 3);
    look(1);
    CHECK_EQ(count("deadlocks"), 1);
    CHECK_EQ(members(0), 4);
    CHECK_EQ(cli_run(&c, ARGS("graph", root)), 1);
    CHECK(strstr(c.out, "(one) holds") != NULL && strstr(c.out, "(two) holds") != NULL);
    CHECK(strstr(c.out, "has ended\n") != NULL && strstr(c.out, "1 more wait for a deadlock") != NULL);
    CHECK_EQ(cli_run(&c, ARGS("break", a)), 0);
    CHECK_EQ(program_wait(&first), 143);
    CHECK_EQ(program_wait(&second), 0);
    CHECK_EQ(program_wait(&third), 0);
}

/* Each has the fork at one hand, and waits for the other. One that puts its fork back lets all of them eat. */
static void five_philosophers(void)
{
    enum { SEATS = 5 };
    static struct program diner[SEATS];
    static const char script[] = "echo in; read -r x; exec \"$PADDOCK_BUILDDIR/uninstalled/paddock\" lock \"$0\" true";
    char fork[SEATS][160], label[SEATS][16], holds[100];
    fresh("table");
    for (int i = 0; i < SEATS; i++) {
        snprintf(fork[i], sizeof fork[i], "%s/fork-%d", root, i);
        snprintf(label[i], sizeof label[i], "seat-%d", i);
    }
    for (int i = 0; i < SEATS; i++)
        cli_start_fed(&diner[i], ARGS("lock", "--label", label[i], fork[i], "sh", "-c", script, fork[(i + 1) % SEATS]));
    for (int i = 0; i < SEATS; i++)
        CHECK_WITHIN(GENEROUS, program_said(&diner[i], "in\n"));
    for (int i = 0; i < SEATS; i++) {
        look(0);
        program_close_input(&diner[i]);
        CHECK_WITHIN(GENEROUS, cli_children(fork[(i + 1) % SEATS]) == 2);
    }
    look(1);
    CHECK_EQ(count("deadlocks"), 1);
    CHECK_EQ(members(0), 2 * SEATS);
    CHECK_EQ(cli_run(&c, ARGS("graph", root)), 1);
    for (int i = 0; i < SEATS; i++) {
        snprintf(holds, sizeof holds, "(%s) holds", label[i]);
        CHECK(strstr(c.out, holds) != NULL);
    }
    CHECK_EQ(cli_run(&c, ARGS("break", fork[2])), 0);
    for (int i = 0; i < SEATS; i++)
        CHECK_EQ(program_wait(&diner[i]), i == 2 ? 143 : 0);
    look(0);
}

/* Locks of several paths are made in one transaction, so two of them wait in one order, whatever the order of the
 * words. */
static void several_paths(void)
{
    char a[160], b[160];
    fresh("several");
    snprintf(a, sizeof a, "%s/a", root);
    snprintf(b, sizeof b, "%s/b", root);
    cli_start_fed(&first, ARGS("lock", "-l", b, a, "sh", "-c", "echo in; read -r x; exit 0"));
    CHECK_WITHIN(GENEROUS, program_said(&first, "in\n"));
    cli_start(&second, ARGS("lock", "-l", a, b, "true"));
    CHECK_WITHIN(GENEROUS, cli_children(a) == 2 && cli_children(b) == 2);
    cli_start(&third, ARGS("lock", "-l", b, a, "true"));
    CHECK_WITHIN(GENEROUS, cli_children(a) == 3 && cli_children(b) == 3);
    look(0);
    CHECK_EQ(count("actors"), 3);
    CHECK_EQ(count("waits"), 4);
    program_close_input(&first);
    CHECK_EQ(program_wait(&first), 0);
    CHECK_EQ(program_wait(&second), 0);
    CHECK_EQ(program_wait(&third), 0);
}

static void under_itself(void)
{
    fresh("itself");
    cli_start(&first,
              ARGS("lock", root, "sh", "-c", "\"$PADDOCK_BUILDDIR/uninstalled/paddock\" lock \"$PADDOCK_PATH\" true"));
    CHECK_WITHIN(GENEROUS, cli_children(root) == 2);
    look(1);
    CHECK_EQ(members(0), 2);
    CHECK_EQ(cli_run(&c, ARGS("break", root)), 0);
    CHECK_EQ(program_wait(&first), 143);
}

/* --- the tree ---------------------------------------------------------------------------------------------------- */

static int times(const char *word)
{
    int n = 0;
    for (const char *at = c.out; (at = strstr(at, word)) != NULL; at += strlen(word))
        n++;
    return n;
}

static void looks_below(void)
{
    char path[160];
    fresh("below");
    cli_make(root, "job-0000000001", "");
    mutex("job-0000000001/a", 0, 1);
    mutex("job-0000000001/a", 1, 2);
    look(0);
    CHECK_EQ(count("waits"), 1);
    cli_run(&c, ARGS("graph", "--dot")); /* there may be deadlocks of other tests */
    CHECK_EQ(times("/job-0000000001/a\""), 1);
    CHECK(strstr(c.out, "zookeeper") == NULL && strcmp(c.err, "") == 0);
    cli_run(&c, ARGS("graph", "--dot", root, "/", root));
    CHECK_EQ(times("/job-0000000001/a\""), 1);
    snprintf(path, sizeof path, "%s/job-0000000001/a", root);
    CHECK_EQ(cli_run(&c, ARGS("graph", path, root, path)), 0);
    CHECK(strstr(c.out, "lock paths: 2; ") != NULL); /* the job's directory has a number, too */
    CHECK_EQ(cli_run(&c, ARGS("graph", "--depth", "1", root)), 0);
    CHECK(strstr(c.err, "not everything was looked at") != NULL && strstr(c.out, "that wait: 0") != NULL);
    CHECK_EQ(cli_run(&c, ARGS("graph", "--max-paths", "1", root)), 0);
    CHECK(strstr(c.err, "not everything was looked at") != NULL);
}

static void not_permitted(void)
{
    char private[160];
    fresh("refused");
    mutex("a", 0, 1);
    snprintf(private, sizeof private, "%s/private", root);
    cli_make_private(private);
    CHECK_EQ(cli_run(&c, ARGS("graph", root)), 0);
    CHECK(strstr(c.err, "1 paths may not be looked at") != NULL && cli_one_line(&c));
    CHECK_EQ(cli_run(&c, ARGS("graph", private)), 77);
    CHECK_ONE_LINE(&c);
}

/* Labels and names are what their writers like: for a terminal, for Graphviz, for JSON. */
static void hostile(void)
{
    fresh("hostile");
    cli_make(root, "a\"]; b\\", "");
    stand("a\"]; b\\", "lock-", 0, 1, 1, ",\"x\":1");
    stand("a\"]; b\\", "lock-", 1, 2, 2, "");
    stand("a\"]; b\\", "lock-", 2, 3, 3, ",\"under\":\"0123456789abcdef-00000191-lock-0000000002\"");
    cli_make_ephemeral(root, "x-lock-0000000000", "{\"host\":\"\\u001b[31m\\\"evil\",\"pid\":7,\"thread\":7}");
    cli_make_ephemeral(root, "y-lock-0000000001", "{\"host\":\"\\u001b[31m\\\"evil\",\"pid\":8,\"thread\":8}");
    CHECK_EQ(cli_run(&c, ARGS("graph", "--dot", root)), 0);
    CHECK(strstr(c.out, "\\\"evil pid 7") != NULL && strstr(c.out, "a\\\"]; b\\\\") != NULL);
    CHECK(strchr(c.out, '\x1b') == NULL);
    CHECK_EQ(cli_run(&c, ARGS("graph", root)), 0);
    CHECK(strstr(c.out, "?[31m\"evil pid 8 has waited") != NULL && strchr(c.out, '\x1b') == NULL);
    look(0);
    for (const char *at = c.out; *at != '\0'; at++)
        CHECK((*at >= ' ' && *at < 0x7f) || *at == '\n');
}

static void usage(void)
{
    CHECK_EQ(cli_run(&c, ARGS("graph", "--json", "--dot", "/a")), 64);
    CHECK_ONE_LINE(&c);
    CHECK_EQ(cli_run(&c, ARGS("graph", "a")), 64);
    CHECK_EQ(cli_run(&c, ARGS("graph", "--depth", "-1")), 64);
    CHECK_EQ(cli_run(&c, ARGS("graph", "-z", "127.0.0.1:1", "--connect-timeout", ".3")), 69);
    CHECK_ONE_LINE(&c);
}

static void teardown(void)
{
    json_decref(top);
    cli_teardown();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"without a waiter there is nothing to show", nobody_waits},
        {"waiters stand below the holder, and theirs below them", a_chain},
        {"doctor tells of a deadlock of which its path is a part", doctor},
        {"doctor finds no deadlock of a session that may have several threads", doctor_is_certain},
        {"two mutexes taken in two orders are a deadlock, and a third contender waits for it", two_mutexes},
        {"two threads of one process do not wait for each other", two_threads},
        {"contenders without an identity are told apart by their sessions", a_session},
        {"a reader waits for a writer, and for no reader", readers},
        {"a writer waits for each reader", a_writer_waits_for_each_reader},
        {"a wait for any permit is a deadlock when no holder can go on", permits},
        {"an actor does not wait for its own permits", permits_of_one},
        {"kazoo's contenders wait for none but theirs", kazoo},
        {"two commands that lock from within are a deadlock, and a break ends it", two_commands},
        {"of five philosophers all are in the circle, until one puts its fork back", five_philosophers},
        {"locks of several paths in several orders are no deadlock", several_paths},
        {"a command that locks the path that it runs under is a deadlock", under_itself},
        {"locks are found at any depth, each once, within limits", looks_below},
        {"a path that may not be listed is told", not_permitted},
        {"no name reaches a terminal or Graphviz as it is", hostile},
        {"bad words are told in one line", usage},
        {0},
    };
    cli_as_by_hand();
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "cli/graph", .tests = tests, .setup = cli_setup, .teardown = teardown});
}
