#include "server/throwaway.h"

#include "cli/commands.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/signals.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char usage[] = "Usage: paddock server [OPTION]...\n"
                            "Run a throwaway ZooKeeper on the loopback interface, in a temporary directory,\n"
                            "and print when it is ready: export PADDOCK_HOSTS=127.0.0.1:PORT\n"
                            "It ends, and its directory goes, when it is stopped (Ctrl-C) or its parent dies.\n";

static const char notes[] = "In a script:  eval \"$(paddock server --parent $$ &)\"\n"
                            "Needs Debian's libzookeeper-java and a Java runtime.\n"
                            "Exit: 0 stopped, 64 usage, 69 no server to be had, or it ended by itself.\n";

enum { READY_MS = 60000, GRACE_MS = 2000 };

struct server {
    struct pdk__cli_options options; /* first */
    struct pdk__server_options wanted;
    int parent; /* 0: none */
};

#define AT(member) .at = offsetof(struct server, member)

static const struct pdk__cli_option own_options[] = {
    {"port", 0, KIND_NUMBER, AT(wanted.client_port), .low = 1, .high = 65535, .help = "listen there (a free port)"},
    {"tick", 0, KIND_NUMBER, AT(wanted.tick_ms), .low = 10, .high = 3600000, .value = "MS",
     .help = "ZooKeeper's tickTime; a session lasts two (500)"},
    {"data", 0, KIND_TEXT, AT(wanted.data_dir), .value = "DIR", .help = "keep the data there (nowhere)"},
    {"parent", 0, KIND_NUMBER, AT(parent), .high = INT_MAX, .value = "PID",
     .help = "live as long as that process; 0: until stopped"},
    {0},
};

static const struct pdk__cli_verb verb = {"server", usage, notes, {own_options}, .ends = false};

static int parse(struct server *s, int argc, char **argv)
{
    int status = pdk__cli_options_parse(&s->options, &verb, argc, argv);
    if (status == 0 && !s->options.answered && s->options.words[0] != NULL)
        return pdk__cli_usage("server: takes no arguments: '%s'", s->options.words[0]);
    return status;
}

/* A reader that reads our output to its end, as $(…) does, need not wait for our end. */
static int announce(const pdk__server *server)
{
    printf("export PADDOCK_HOSTS=127.0.0.1:%d\n", pdk__server_port(server));
    if (fflush(stdout) != 0) {
        pdk__cli_message("cannot write to standard output: %s", strerror(errno));
        return STATUS_INTERNAL;
    }
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null >= 0)
        dup2(null, STDOUT_FILENO);
    return 0;
}

/* A descriptor that becomes readable when process PID ends; -1 when there is none to wait for. Not PR_SET_PDEATHSIG,
 * which follows the thread of the parent that started us. */
static int watch(pid_t pid) { return pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1; }

static int await_end(const pdk__server *server, int parent, int signals)
{
    struct pollfd fds[] = {{.fd = signals, .events = POLLIN},
                           {.fd = parent, .events = POLLIN},
                           {.fd = watch(pdk__server_pid(server)), .events = POLLIN}};
    while (poll(fds, 3, -1) < 0 && errno == EINTR)
        continue;
    if (fds[2].fd >= 0)
        close(fds[2].fd);
    if (fds[0].revents != 0 || fds[1].revents != 0)
        return 0;
    pdk__cli_message("the server ended by itself");
    return STATUS_NO_ENSEMBLE;
}

/* Checked before a server is started: the server would end with a message in a log that no user sees. SO_REUSEADDR,
 * as the server has it: the remains of old connections do not count. */
static bool is_taken(int port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    if (fd < 0)
        return false;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    bool taken = bind(fd, (struct sockaddr *)&address, sizeof address) != 0 && errno == EADDRINUSE;
    close(fd);
    return taken;
}

/* Readable when we are to end. */
struct ends {
    int signals, parent;
};

static bool is_unwanted(void *arg)
{
    const struct ends *ends = arg;
    struct pollfd fds[] = {{.fd = ends->signals, .events = POLLIN}, {.fd = ends->parent, .events = POLLIN}};
    return poll(fds, 2, 0) > 0;
}

static int serve(pdk__server *server, struct ends ends)
{
    if (pdk__server_start(server) != 0 || pdk__server_wait_ready_unless(server, READY_MS, is_unwanted, &ends) != 0) {
        if (is_unwanted(&ends))
            return 0;
        pdk__cli_message("%s", pdk__server_error());
        return STATUS_NO_ENSEMBLE;
    }
    int status = announce(server);
    if (status == 0)
        status = await_end(server, ends.parent, ends.signals);
    pdk__server_stop(server, GRACE_MS);
    return status;
}

/* ZooKeeper does not lock its directory, and the logs of two servers on one would mix. DATA_DIR may be NULL. */
static int serve_alone(pdk__server *server, const char *data_dir, struct ends ends)
{
    int status = STATUS_NO_ENSEMBLE;
    int dir = data_dir != NULL ? open(data_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (dir >= 0 && flock(dir, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        pdk__cli_message("server: %s is in use by another server", data_dir);
    else
        status = serve(server, ends);
    pdk__server_free(server);
    if (dir >= 0)
        close(dir);
    return status;
}

static int block_signals(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM, 0};
    sigset_t set;
    pdk__cli_signals_not_ignored(&set, signals);
    int fd = signalfd(-1, &set, SFD_CLOEXEC);
    sigaddset(&set, SIGPIPE);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return fd;
}

static int run(const struct server *s)
{
    pdk__server *server;
    int parent = watch(s->parent);
    if (s->parent > 0 && parent < 0)
        return pdk__cli_usage("server: there is no process %d to live as long as", s->parent);
    if (s->wanted.client_port != 0 && is_taken(s->wanted.client_port)) {
        pdk__cli_message("server: port %d is in use", s->wanted.client_port);
        return STATUS_NO_ENSEMBLE;
    }
    int signals = block_signals();
    int status = STATUS_NO_ENSEMBLE;
    if (pdk__server_new(&server, &s->wanted) == 0)
        status = serve_alone(server, s->wanted.data_dir, (struct ends){signals, parent});
    else
        pdk__cli_message("%s", pdk__server_error());
    close(signals);
    if (parent >= 0)
        close(parent);
    return status;
}

int pdk__cli_server_main(int argc, char **argv)
{
    struct server s = {.options.command = verb.name, .parent = getppid()};
    int status = parse(&s, argc, argv);
    if (status == 0 && !s.options.answered)
        status = run(&s);
    return status;
}
