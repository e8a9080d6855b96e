/* paddock hold --json: requests and events in lines, many locks over one session. */
#include "test/cli/cli.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 1 << 20 };

static struct program c, d;
static char path[128], other[128];

static void start(void)
{
    strcpy(path, cli_path("json"));
    strcpy(other, cli_path("other"));
    cli_start_fed(&c, ARGS("hold", "--json", "--session-timeout", "20"));
    program_await(&c, "\"state\":\"connected\"");
}

/* The whole output has so many lines that begin with START. */
static int count(const char *start)
{
    int n = 0;
    for (const char *at = c.out; (at = strstr(at, start)) != NULL; at++)
        n += at == c.out || at[-1] == '\n';
    return n;
}

static void finish(void)
{
    program_close_input(&c);
    CHECK_EQ(program_wait(&c), 0);
    CHECK_STR(c.err, "");
}

static void hold(const char *id, const char *name)
{
    char event[64];
    program_say(&c, "{\"id\":%s,\"do\":\"lock\",\"path\":\"%s\"}", id, name);
    snprintf(event, sizeof event, "{\"event\":\"held\",\"id\":%s,", id);
    program_await(&c, event);
}

static void greeting(void)
{
    int version;
    start();
    CHECK_EQ(sscanf(c.out, "{\"event\":\"hello\",\"protocol\":1,\"version\":\"%d.", &version), 1);
    CHECK_EQ(count("{\"event\":\"session\",\"state\":\"connected\",\"message\":\"connected to 127.0.0.1:"), 1);
    finish();
    CHECK_EQ(count("{"), 2);
}

static void one_lock(void)
{
    char node[64], name[128];
    int64_t token, valid_ms;
    start();
    program_say(&c, "{\"id\":1,\"do\":\"lock\",\"path\":\"%s\",\"colour\":\"red\"}", path);
    const char *held = program_await(&c, "{\"event\":\"held\",\"id\":1,");
    program_await(&c, "\n");
    CHECK_EQ(sscanf(held,
                    "\"token\":%" SCNd64 ",\"node\":\"%63[^\"]\",\"path\":\"%127[^\"]\",\"valid_ms\":%" SCNd64 "}\n",
                    &token, node, name, &valid_ms),
             4);
    CHECK(token > 0 && valid_ms > 0 && valid_ms < 20000);
    CHECK_STR(name, path);
    CHECK_EQ(cli_run(&d, ARGS("lock", "-n", path, "true")), 1);
    program_say(&c, "{\"id\":1,\"do\":\"state\"}");
    CHECK_EQ(program_await_number(&c, "{\"event\":\"state\",\"id\":1,\"state\":\"held\",\"token\":"), token);
    program_say(&c, "{\"id\":1,\"do\":\"unlock\"}");
    program_await(&c, "{\"event\":\"released\",\"id\":1}\n");
    CHECK_EQ(cli_children(path), 0);
    program_say(&c, "{\"id\":1,\"do\":\"state\"}");
    program_await(&c, "{\"event\":\"state\",\"id\":1,\"state\":\"free\"}\n");
    hold("1", path);
    finish();
    CHECK_EQ(count("{\"event\":\"released\",\"id\":1}\n"), 2);
    CHECK_EQ(cli_children(path), 0);
}

static void several(void)
{
    char name[16];
    start();
    for (int i = 0; i < 40; i++)
        program_say(&c, "{\"id\":\"n%d\",\"do\":\"lock\",\"path\":\"%s/%d\"}", i, path, i);
    CHECK_WITHIN(GENEROUS, count("{\"event\":\"held\",") == 40);
    for (int i = 0; i < 40; i += 2)
        program_say(&c, "{\"id\":\"n%d\",\"do\":\"unlock\"}", i);
    CHECK_WITHIN(GENEROUS, count("{\"event\":\"released\",") == 20);
    finish();
    CHECK_EQ(count("{\"event\":\"released\",") + count("{\"event\":\"failed\","), 40);
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "\"id\":\"n%d\"}", i);
        CHECK(program_said(&c, name));
    }
}

static void kinds(void)
{
    start();
    program_say(&c, "{\"id\":1,\"do\":\"lock\",\"path\":\"%s\",\"mode\":\"shared\",\"wait\":null}", path);
    program_await(&c, "{\"event\":\"held\",\"id\":1,");
    CHECK_EQ(cli_run(&d, ARGS("lock", "-n", "-s", path, "true")), 0);
    program_say(&c, "{\"id\":2,\"do\":\"lock\",\"path\":\"%s\",\"mode\":\"exclusive\",\"wait\":0}", path);
    program_await(&c, "{\"event\":\"failed\",\"id\":2,\"error\":\"PDK_EBUSY\",");
    program_say(&c, "{\"id\":3,\"do\":\"lock\",\"paths\":[\"%s/a\",\"%s/b\"]}", other, other);
    program_await(&c, "{\"event\":\"held\",\"id\":3,");
    program_await(&c, "\"nodes\":[\"");
    CHECK_EQ(cli_run(&d, ARGS("lock", "-n", cli_path("x"), "true")), 0);
    program_say(&c, "{\"id\":4,\"do\":\"lock\",\"path\":\"%s/s\",\"limit\":3,\"permits\":2}", other);
    program_await(&c, "{\"event\":\"held\",\"id\":4,");
    program_say(&c, "{\"id\":5,\"do\":\"try\",\"path\":\"%s/s\",\"limit\":3,\"permits\":2}", other);
    program_await(&c, "{\"event\":\"failed\",\"id\":5,\"error\":\"PDK_EBUSY\",");
    program_say(&c, "{\"id\":6,\"do\":\"lock\",\"path\":\"%s/data\",\"data\":\"mine\"}", other);
    program_await(&c, "{\"event\":\"held\",\"id\":6,");
    finish();
}

static void waits(void)
{
    start();
    hold("1", path);
    program_say(&c, "{\"id\":2,\"do\":\"lock\",\"path\":\"%s\"}", path);
    program_await(&c, "{\"event\":\"queued\",\"id\":2,\"ahead\":1}\n");
    program_say(&c, "{\"id\":3,\"do\":\"lock\",\"path\":\"%s\"}", path);
    program_await(&c, "{\"event\":\"queued\",\"id\":3,\"ahead\":2}\n");
    program_say(&c, "{\"id\":2,\"do\":\"state\"}");
    program_await(&c, "{\"event\":\"state\",\"id\":2,\"state\":\"waiting\",\"ahead\":1}\n");
    program_say(&c, "{\"id\":2,\"do\":\"unlock\"}");
    program_await(&c, "{\"event\":\"failed\",\"id\":2,\"error\":\"PDK_ECANCELED\",\"message\":\"cancelled\"}\n");
    program_await(&c, "{\"event\":\"queued\",\"id\":3,\"ahead\":1}\n");
    program_say(&c, "{\"id\":4,\"do\":\"lock\",\"path\":\"%s\",\"wait\":0.2}", path);
    program_await(&c, "{\"event\":\"failed\",\"id\":4,\"error\":\"PDK_ETIMEDOUT\",");
    program_say(&c, "{\"id\":1,\"do\":\"unlock\"}");
    program_await(&c, "{\"event\":\"held\",\"id\":3,");
    program_say(&c, "{\"id\":5,\"do\":\"lock\",\"path\":\"%s\"}", path);
    program_await(&c, "{\"event\":\"queued\",\"id\":5,\"ahead\":1}\n");
    finish();
    CHECK_EQ(count("{\"event\":\"released\",\"id\":3}\n"), 1);
    CHECK_EQ(count("{\"event\":\"failed\",\"id\":5,\"error\":\"PDK_ECANCELED\"") +
                 count("{\"event\":\"released\",\"id\":5}\n"),
             1);
    CHECK_EQ(cli_children(path), 0);
}

static void refused(void)
{
    static const struct {
        const char *request, *answer;
    } cases[] = {
        {"nonsense", "{\"event\":\"error\",\"message\":\"not a JSON object: "},
        {" ", "{\"event\":\"error\",\"message\":\"not a JSON object: "},
        {"[1]", "{\"event\":\"error\",\"message\":\"not a JSON object\"}\n"},
        {"{\"id\":1,\"do\":\"state\"", "{\"event\":\"error\",\"message\":\"not a JSON object: "},
        {"{\"id\":1,\"id\":2,\"do\":\"state\"}", "{\"event\":\"error\",\"message\":\"not a JSON object: "},
        {"{\"id\":1,\"do\":\"state\"} {}", "{\"event\":\"error\",\"message\":\"not a JSON object: "},
        {"{\"do\":\"state\"}", "{\"event\":\"error\",\"message\":\"a request has an id: "},
        {"{\"id\":1.5,\"do\":\"state\"}", "{\"event\":\"error\",\"message\":\"a request has an id: "},
        {"{\"id\":8,\"do\":\"fly\"}",
         "{\"event\":\"error\",\"id\":8,\"message\":\"do is lock, try, unlock or state\"}\n"},
        {"{\"id\":8}", "{\"event\":\"error\",\"id\":8,\"message\":\"do is lock, try, unlock or state\"}\n"},
        {"{\"id\":8,\"do\":\"unlock\"}", "{\"event\":\"error\",\"id\":8,\"message\":\"no lock has the id\"}\n"},
        {"{\"id\":1,\"do\":\"lock\",\"path\":\"/y\"}",
         "{\"event\":\"error\",\"id\":1,\"message\":\"the id is in use\"}\n"},
        {"{\"id\":8,\"do\":\"lock\",\"path\":\"y\"}", "{\"event\":\"failed\",\"id\":8,\"error\":\"PDK_EPATH\","},
        {"{\"id\":8,\"do\":\"lock\"}", "{\"event\":\"failed\",\"id\":8,\"error\":\"PDK_EINVAL\","},
        {"{\"id\":8,\"do\":\"lock\",\"path\":7}", "{\"event\":\"failed\",\"id\":8,\"error\":\"PDK_EINVAL\","},
        {"{\"id\":8,\"do\":\"lock\",\"paths\":[]}", "{\"event\":\"failed\",\"id\":8,\"error\":\"PDK_EINVAL\","},
        {"{\"id\":8,\"do\":\"lock\",\"paths\":[\"/y\",7]}", "{\"event\":\"failed\",\"id\":8,\"error\":\"PDK_EINVAL\","},
        {"{\"id\":8,\"do\":\"lock\",\"paths\":[\"/y\",\"/y\"]}",
         "{\"event\":\"failed\",\"id\":8,\"error\":\"PDK_EINVAL\","},
        {"{\"id\":8,\"do\":\"lock\",\"path\":\"/y\",\"mode\":\"odd\"}",
         "{\"event\":\"failed\",\"id\":8,\"error\":\"PDK_EI"},
        {"{\"id\":8,\"do\":\"lock\",\"path\":\"/y\",\"wait\":-1}",
         "{\"event\":\"failed\",\"id\":8,\"error\":\"PDK_EINVAL\","},
        {"{\"id\":8,\"do\":\"lock\",\"path\":\"/y\",\"wait\":\"1\"}",
         "{\"event\":\"failed\",\"id\":8,\"error\":\"PDK_EIN"},
        {"{\"id\":8,\"do\":\"lock\",\"path\":\"/y\",\"permits\":1}",
         "{\"event\":\"failed\",\"id\":8,\"error\":\"PDK_EIN"},
        {"{\"id\":8,\"do\":\"lock\",\"path\":\"/y\",\"limit\":0}",
         "{\"event\":\"failed\",\"id\":8,\"error\":\"PDK_EINVAL"},
        {"{\"id\":8,\"do\":\"lock\",\"path\":\"/y\",\"data\":{}}",
         "{\"event\":\"failed\",\"id\":8,\"error\":\"PDK_EINVAL"},
        {"{\"id\":8,\"do\":\"lock\",\"path\":\"/y\",\"limit\":2,\"mode\":\"shared\"}",
         "{\"event\":\"failed\",\"id\":8,"},
    };
    start();
    hold("1", path);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        program_say(&c, "%s", cases[i].request);
        const char *answer = program_hear(&c);
        while (strncmp(answer, "{\"event\":\"e", 11) != 0 && strncmp(answer, "{\"event\":\"f", 11) != 0)
            answer = program_hear(&c);
        if (strncmp(answer, cases[i].answer, strcspn(cases[i].answer, "\n")) != 0)
            pdk__test_fail(__FILE__, __LINE__, "%s: '%s'", cases[i].request, answer);
    }
    finish();
    CHECK_EQ(count("{\"event\":\"held\","), 1);
    CHECK_EQ(count("{\"event\":\"released\",\"id\":1}\n"), 1);
}

static void say_long(size_t size)
{
    static char text[1 << 16];
    memset(text, 'x', sizeof text);
    while (size > 0) {
        size_t part = size < sizeof text ? size : sizeof text;
        ssize_t n = write(c.in, text, part);
        CHECK(n > 0);
        size -= (size_t)n;
    }
}

static void long_line(void)
{
    start();
    hold("1", path);
    say_long(LINE_MAX_BYTES);
    program_say(&c, " ");
    program_await(&c, "{\"event\":\"error\",\"message\":\"a line has more than 1048576 bytes\"}\n");
    say_long(3 * LINE_MAX_BYTES);
    program_say(&c, "{\"id\":1,\"do\":\"unlock\"}");
    program_say(&c, "{\"id\":1,\"do\":\"state\"}");
    program_await(&c, "{\"event\":\"error\",\"message\":\"a line has more than 1048576 bytes\"}\n");
    program_await(&c, "{\"event\":\"state\",\"id\":1,\"state\":\"held\",");
    say_long(LINE_MAX_BYTES - 1);
    program_say(&c, " ");
    program_await(&c, "{\"event\":\"error\",\"message\":\"not a JSON object: ");
    finish();
    CHECK_EQ(count("{\"event\":\"error\","), 3);
}

static void lost(void)
{
    start();
    hold("1", path);
    hold("2", other);
    cli_delete_holder(path);
    const char *why = program_await(&c, "{\"event\":\"lost\",\"id\":1,\"error\":\"PDK_ELOST\",\"message\":\"");
    CHECK_WITHIN(GENEROUS, strchr(why, '\n') != NULL);
    CHECK(strstr(why, "its node is deleted\"}\n") != NULL);
    program_say(&c, "{\"id\":1,\"do\":\"unlock\"}");
    program_await(&c, "{\"event\":\"error\",\"id\":1,\"message\":\"no lock has the id\"}\n");
    hold("1", path);
    finish();
    CHECK_EQ(count("{\"event\":\"lost\","), 1);
    CHECK_EQ(count("{\"event\":\"released\",\"id\":1}\n"), 1);
    CHECK_EQ(count("{\"event\":\"released\",\"id\":2}\n"), 1);
}

static void wanted(void)
{
    start();
    hold("1", path);
    cli_ask_last(path);
    program_await(&c, "{\"event\":\"wanted\",\"id\":1}\n");
    finish();
}

static void outage(void)
{
    start();
    hold("1", path);
    cli_server_stop();
    CHECK_WITHIN(GENEROUS, count("{\"event\":\"session\",\"state\":\"suspended\",") == 1);
    CHECK_WITHIN(GENEROUS, count("{\"event\":\"suspect\",\"id\":1,\"valid_ms\":") == 1);
    cli_server_start();
    CHECK_WITHIN(GENEROUS, count("{\"event\":\"session\",\"state\":\"connected\",") == 2);
    CHECK_WITHIN(GENEROUS, count("{\"event\":\"held\",\"id\":1,") == 2);
    finish();
    CHECK_EQ(count("{\"event\":\"lost\","), 0);
}

static void signals(void)
{
    static const int all[] = {SIGHUP, SIGINT, SIGTERM};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        start();
        hold("1", path);
        hold("2", other);
        kill(c.pid, all[i]);
        CHECK_EQ(program_wait(&c), 0);
        CHECK_EQ(count("{\"event\":\"released\","), 2);
        CHECK_EQ(cli_children(path) + cli_children(other), 0);
    }
}

static void path_of_the_command(void)
{
    char event[200];
    strcpy(path, cli_path("own"));
    cli_start_fed(&c, ARGS("hold", "--json", "-s", "-w", "5", path));
    snprintf(event, sizeof event, "{\"event\":\"held\",\"id\":\"%s\",", path);
    program_await(&c, event);
    CHECK_EQ(cli_run(&d, ARGS("lock", "-s", "-n", path, "true")), 0);
    finish();
    CHECK_EQ(cli_run(&d, ARGS("hold", "--json", "-n")), 64);
    CHECK_EQ(cli_run(&d, ARGS("hold")), 64);
    CHECK_EQ(cli_run(&d, ARGS("hold", "--json", "-z", "127.0.0.1:1", "--connect-timeout", ".5")), 69);
    CHECK_STR(d.out + strcspn(d.out, "\n"), "\n");
}

/* Its output is a pipe to READER, which has the test's own output as descriptor 3. Its status is told on standard
 * error. */
static void start_read_by(const char *reader)
{
    char script[512];
    strcpy(path, cli_path("read"));
    snprintf(script, sizeof script,
             "exec 3>&1; { '%s' hold --json --session-timeout .5; echo \"status $?\" >&2; } | { %s; }",
             program_built("uninstalled/paddock"), reader);
    program_start(&c, ARGS("sh", "-c", script), PROGRAM_INPUT | PROGRAM_OUTPUT | PROGRAM_ERRORS);
    program_say(&c, "{\"id\":1,\"do\":\"lock\",\"path\":\"%s\"}", path);
}

/* It is stopped until it gets SIGCONT. Returns its number. */
static pid_t start_slow(void)
{
    start_read_by("exec sh -c 'echo $$ >&3; kill -STOP $$; exec cat >&3'");
    CHECK_WITHIN(GENEROUS, strchr(c.out, '\n') != NULL);
    pid_t reader = (pid_t)atoi(c.out);
    CHECK_WITHIN(GENEROUS, cli_stopped(reader));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 1);
    return reader;
}

static void slow_reader(void)
{
    pid_t reader = start_slow();
    for (int i = 0; i < 4000; i++)
        program_say(&c, "{\"id\":1,\"do\":\"state\"}");
    CHECK_EQ(cli_run(&d, ARGS("lock", "-w", "2", path, "true")), 1);
    program_say(&c, "{\"id\":2,\"do\":\"state\"}");
    CHECK_EQ(kill(reader, SIGCONT), 0);
    program_await(&c, "{\"event\":\"state\",\"id\":2,\"state\":\"free\"}\n");
    CHECK_EQ(count("{\"event\":\"state\",\"id\":1,"), 4000);
    CHECK_EQ(count("{\"event\":\"lost\","), 0);
    program_close_input(&c);
    CHECK_EQ(program_wait(&c), 0);
    CHECK_STR(c.err, "status 0\n");
    CHECK_EQ(count("{\"event\":\"released\",\"id\":1}\n"), 1);
}

static void no_reader_in_time(void)
{
    static const char request[] = "{\"id\":1,\"do\":\"state\"}\n";
    pid_t reader = start_slow();
    CHECK_EQ(fcntl(c.in, F_SETFL, O_NONBLOCK), 0); /* the shell around it keeps the pipe open, and does not read */
    while (!program_complained(&c, "status"))
        (void)!write(c.in, request, sizeof request - 1);
    CHECK_EQ(cli_children(path), 0);
    CHECK_STR(c.err, "paddock: standard output is not read: more than 1 MiB waits\nstatus 70\n");
    CHECK_EQ(kill(reader, SIGCONT), 0);
    program_close_input(&c);
    CHECK_EQ(program_wait(&c), 0);
}

static void dead_reader(void)
{
    start_read_by("read -r line; read -r line; read -r line; echo \"$line\" >&3");
    program_await(&c, "{\"event\":\"held\",");
    CHECK_WITHIN(GENEROUS, program_complained(&c, "status"));
    CHECK_STR(c.err, "paddock: standard output has no reader\nstatus 70\n");
    CHECK_EQ(cli_children(path), 0);
    program_close_input(&c);
    CHECK_EQ(program_wait(&c), 0);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"it greets with the version of the protocol, and tells the session", greeting},
        {"a lock is held, asked for its state, released, and locked again under its id", one_lock},
        {"many locks at once, and each request ends once", several},
        {"shared, several paths, permits, and a try", kinds},
        {"a wait has its place, which changes, and is cancelled or ends in time", waits},
        {"what is no request is refused, and ends nothing", refused},
        {"a line over 1 MiB is refused, and the next one is read", long_line},
        {"a loss ends one lock, and its id may be used again", lost},
        {"a request to release is reported", wanted},
        {"an outage makes a lock suspect, and held again", outage},
        {"a signal releases all", signals},
        {"a path on the command line is the first request", path_of_the_command},
        {"a slow reader costs no lock, and gets every line", slow_reader},
        {"with more than 1 MiB unread it releases all and ends", no_reader_in_time},
        {"without a reader it releases all and ends", dead_reader},
        {0},
    };
    return pdk__test_main(argc, argv,
                          &(struct pdk__test_suite){
                              .name = "cli/hold_json", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
