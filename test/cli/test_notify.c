/* The notes of lock and elect to a service manager. */
#include "test/cli/cli.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct program c;
static char heard[65536]; /* each datagram, and a line with a dash behind it */
static int manager = -1;

/* A manager that listens at NAME; "@" is the sign of a name in no file system. */
static void listen_at(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    CHECK(length < sizeof address.sun_path);
    memcpy(address.sun_path, name, length);
    if (name[0] == '@')
        address.sun_path[0] = '\0';
    manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    CHECK(manager >= 0);
    CHECK_EQ(bind(manager, (struct sockaddr *)&address, (socklen_t)(sizeof(sa_family_t) + length)), 0);
    setenv("NOTIFY_SOCKET", name, 1);
    heard[0] = '\0';
}

static void stop_listening(void)
{
    close(manager);
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
}

static void hear(void)
{
    char text[1024];
    ssize_t n;
    while ((n = recv(manager, text, sizeof text, 0)) > 0) {
        size_t used = strlen(heard);
        CHECK(used + (size_t)n + 4 < sizeof heard);
        snprintf(heard + used, sizeof heard - used, "%.*s\n-\n", (int)n, text);
    }
}

static bool said(const char *text)
{
    hear();
    return strstr(heard, text) != NULL;
}

static int times(const char *text)
{
    int n = 0;
    hear();
    for (const char *at = heard; (at = strstr(at, text)) != NULL; at++)
        n++;
    return n;
}

static const char *abstract_name(void)
{
    static char name[64];
    static int n;
    snprintf(name, sizeof name, "@paddock-test-%d-%d", (int)getpid(), n++);
    return name;
}

static void ready_with_the_command(void)
{
    char status[256];
    const char *path = cli_path("notify");
    struct program holder;
    cli_start_fed(&holder, ARGS("lock", path, "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, program_said(&holder, "in\n"));
    listen_at(abstract_name());
    cli_start_fed(&c, ARGS("lock", path, "sh", "-c", "echo \"in ${NOTIFY_SOCKET-none}\"; read -r x; exit 0"));
    snprintf(status, sizeof status, "STATUS=%s: waiting\n", path);
    CHECK_WITHIN(GENEROUS, said(status));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
    CHECK(!said("READY"));
    program_close_input(&holder);
    program_wait(&holder);
    CHECK_WITHIN(GENEROUS, program_said(&c, "in none\n")); /* the command does not speak for us */
    snprintf(status, sizeof status, "READY=1\nSTATUS=%s: held, token ", path);
    CHECK_WITHIN(GENEROUS, said(status));
    CHECK(!said("STOPPING"));
    program_close_input(&c);
    CHECK_EQ(program_wait(&c), 0);
    CHECK(said("STOPPING=1\n"));
    CHECK_EQ(times("READY=1"), 1);
    CHECK(!said("WATCHDOG"));
    stop_listening();
}

static void ready_as_a_candidate(void)
{
    char status[256];
    const char *path = cli_path("notify-elect");
    struct program leader;
    cli_start_fed(&leader, ARGS("elect", path, "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, program_said(&leader, "in\n"));
    listen_at(abstract_name());
    cli_start(&c, ARGS("elect", "--keep", path, "sleep", "600"));
    snprintf(status, sizeof status, "READY=1\nSTATUS=%s: waiting\n", path);
    CHECK_WITHIN(GENEROUS, said(status));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
    CHECK(!said("held"));
    program_close_input(&leader);
    program_wait(&leader);
    CHECK_WITHIN(GENEROUS, said("held, token"));
    cli_delete_holder(path);
    CHECK_WITHIN(GENEROUS, said(": lost\n"));
    CHECK_WITHIN(GENEROUS, times("held, token") == 2); /* it is a candidate again, and leads */
    kill(c.pid, SIGTERM);
    program_wait(&c);
    CHECK(said("STOPPING=1\n"));
    stop_listening();
}

static void alive_while_it_runs(void)
{
    char pid[32];
    const char *path = cli_path("watchdog");
    listen_at(abstract_name());
    setenv("WATCHDOG_USEC", "100000", 1);
    cli_start_fed(&c, ARGS("lock", path, "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, program_said(&c, "in\n"));
    CHECK_WITHIN(GENEROUS, times("WATCHDOG=1") >= 5);
    kill(c.pid, SIGSTOP); /* it hangs */
    CHECK_WITHIN(GENEROUS, cli_stopped(c.pid));
    int before = times("WATCHDOG=1");
    usleep(300000);
    CHECK_EQ(times("WATCHDOG=1"), before);
    kill(c.pid, SIGCONT);
    CHECK_WITHIN(GENEROUS, times("WATCHDOG=1") > before);
    program_close_input(&c);
    program_wait(&c);
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    setenv("WATCHDOG_PID", pid, 1); /* meant for another process */
    hear();
    heard[0] = '\0';
    CHECK_EQ(cli_run(&c, ARGS("lock", path, "sleep", "0.3")), 0);
    CHECK_EQ(times("WATCHDOG=1"), 0);
    CHECK_EQ(times("READY=1"), 1);
    stop_listening();
}

/* A queue that the manager does not empty, a name that leads nowhere, and one that is none. */
static void a_manager_that_does_not_listen(void)
{
    char long_name[300];
    const char *path = cli_path("deaf");
    listen_at(abstract_name());
    setenv("WATCHDOG_USEC", "2000", 1);
    CHECK_EQ(cli_run(&c, ARGS("lock", path, "sleep", "1")), 0); /* more datagrams than a queue takes */
    CHECK_QUIET(&c);
    stop_listening();
    memset(long_name, 'x', sizeof long_name);
    long_name[0] = '/';
    long_name[sizeof long_name - 1] = '\0';
    const char *const names[] = {"/nowhere/socket", "relative", "", "@", long_name};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        setenv("NOTIFY_SOCKET", names[i], 1);
        CHECK_EQ(cli_run(&c, ARGS("lock", path, "true")), 0);
        CHECK_QUIET(&c);
    }
    unsetenv("NOTIFY_SOCKET");
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a lock is ready when its command runs", ready_with_the_command},
        {"a candidate is ready while it waits", ready_as_a_candidate},
        {"it is alive while it runs, and not while it hangs", alive_while_it_runs},
        {"a manager that does not listen changes nothing", a_manager_that_does_not_listen},
        {0}};
    cli_as_by_hand();
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "cli/notify", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
