#include "lib/server/throwaway.h"

#include "cli/commands.h"
#include "cli/number.h"
#include "cli/options.h"
#include "cli/say.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char help[] = "Usage: paddock server [OPTION]...\n"
                           "Run a throwaway ZooKeeper on the loopback interface, in a temporary directory,\n"
                           "and print when it is ready: export PADDOCK_HOSTS=127.0.0.1:PORT\n"
                           "It ends, and its directory goes, when it is stopped (Ctrl-C) or its parent dies.\n"
                           "      --port N        listen there (a free port)\n"
                           "      --tick MS       ZooKeeper's tickTime; sessions last at least two (500)\n"
                           "      --data DIR      keep the data there (nowhere)\n"
                           "      --parent PID    live as long as that process; 0: until stopped (parent)\n"
                           "  -h, --help   -V, --version\n"
                           "In a script:  eval \"$(paddock server --parent $$ &)\"\n"
                           "Needs Debian's libzookeeper-java and a Java runtime.\n"
                           "Exit: 0 stopped, 64 usage, 69 no server to be had, or it ended by itself.\n";

static const struct option long_options[] = {
    {"port", required_argument, NULL, OPT_PORT},
    {"tick", required_argument, NULL, OPT_TICK},
    {"data", required_argument, NULL, OPT_DATA},
    {"parent", required_argument, NULL, OPT_PARENT},
    PDK__CLI_HELP_OPTIONS,
};

enum { READY_MS = 60000, GRACE_MS = 2000 };

struct server {
    struct pdk__cli_options options; /* for the messages of pdk__cli_options_take() */
    struct pdk__server_options wanted;
    int parent; /* 0: none */
    bool answered;
};

static int take_number(const char *name, int low, int high, int *value)
{
    if (pdk__cli_number_whole(optarg, low, high, value))
        return 0;
    return pdk__cli_usage("server: %s takes a number from %d to %d, not '%s'", name, low, high, optarg);
}

static int take(struct server *s, int option, char **argv)
{
    switch (option) {
    case OPT_PORT:
        return take_number("--port", 1, 65535, &s->wanted.client_port);
    case OPT_TICK:
        return take_number("--tick", 10, 3600000, &s->wanted.tick_ms);
    case OPT_PARENT:
        return take_number("--parent", 0, INT_MAX, &s->parent);
    case OPT_DATA:
        s->wanted.data_dir = optarg;
        return 0;
    case 'h':
        s->answered = true;
        fputs(help, stdout);
        return 0;
    case 'V':
        s->answered = true;
        return pdk__cli_version();
    default:
        return pdk__cli_options_take(&s->options, option, argv);
    }
}

static int parse(struct server *s, int argc, char **argv)
{
    int option, status = 0;
    opterr = 0;
    optind = 0; /* glibc: start anew */
    while (status == 0 && !s->answered && (option = getopt_long(argc, argv, ":hV", long_options, NULL)) != -1)
        status = take(s, option, argv);
    if (status == 0 && !s->answered && argv[optind] != NULL)
        return pdk__cli_usage("server: takes no arguments: '%s'", argv[optind]);
    return status;
}

/* Whoever reads our output to its end, as $(…) does, need not wait for ours. */
static int announce(const pdk__server *server)
{
    printf("export PADDOCK_HOSTS=127.0.0.1:%d\n", pdk__server_port(server));
    if (fflush(stdout) != 0) {
        pdk__cli_say("cannot write to standard output: %s", strerror(errno));
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
    pdk__cli_say("the server ended by itself");
    return STATUS_NO_ENSEMBLE;
}

static int serve(pdk__server *server, int parent, int signals)
{
    if (pdk__server_start(server) != 0 || pdk__server_wait_ready(server, READY_MS) != 0) {
        pdk__cli_say("%s", pdk__server_error());
        return STATUS_NO_ENSEMBLE;
    }
    int status = announce(server);
    if (status == 0)
        status = await_end(server, parent, signals);
    pdk__server_stop(server, GRACE_MS);
    return status;
}

static int block_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
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
    int signals = block_signals();
    int status = STATUS_NO_ENSEMBLE;
    if (pdk__server_new(&server, &s->wanted) == 0) {
        status = serve(server, parent, signals);
        pdk__server_free(server);
    } else {
        pdk__cli_say("%s", pdk__server_error());
    }
    close(signals);
    if (parent >= 0)
        close(parent);
    return status;
}

int pdk__cli_server_main(int argc, char **argv)
{
    struct server s = {.options.command = "server", .parent = getppid()};
    int status = parse(&s, argc, argv);
    if (status == 0 && !s.answered)
        status = run(&s);
    return status;
}
