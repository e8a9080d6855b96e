#include "server/keeper.h"

#include "server/descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The child is not waited for before we request it: as a zombie it keeps its process id. A hangup comes to a group with
 * a stopped process whose last parent outside has died: to us, when we are killed while the server is paused. */
static const char script[] = "unset CDPATH\n"
                             "trap '' HUP\n"
                             "dir=$(mktemp -d \"${TMPDIR:-/tmp}/paddock-server-XXXXXX\") && dir=$(cd \"$dir\" && pwd)\n"
                             "test -n \"$dir\" || exit 1\n"
                             "echo \"$dir\"\n"
                             "pid=\n"
                             "while read -r word log; do\n"
                             "    case $word in\n"
                             "    run)\n"
                             "        (cd \"$dir\" && exec \"$@\") </dev/null >>\"$log\" 2>&1 &\n"
                             "        pid=$!\n"
                             "        echo \"$pid\" ;;\n"
                             "    reap)\n"
                             "        wait \"$pid\"\n"
                             "        pid=\n"
                             "        echo done ;;\n"
                             "    esac\n"
                             "done\n"
                             "test -z \"$pid\" || { kill -KILL \"$pid\"; wait \"$pid\"; }\n"
                             "rm -rf \"$dir\"\n";

/* One line of the keeper, without its newline. A keeper that is silent for ten seconds is broken. */
static int hear(struct pdk__keeper *k, char *line, size_t size)
{
    for (size_t n = 0; n + 1 < size; n++) {
        struct pollfd p = {.fd = k->fd, .events = POLLIN};
        int ready;
        do
            ready = poll(&p, 1, 10000);
        while (ready < 0 && errno == EINTR);
        if (ready <= 0 || read(k->fd, line + n, 1) != 1) {
            errno = ready == 0 ? ETIMEDOUT : ECHILD;
            return -1;
        }
        if (line[n] == '\n') {
            line[n] = '\0';
            return 0;
        }
    }
    errno = ENAMETOOLONG;
    return -1;
}

/* MSG_NOSIGNAL: after a kill of the keeper, SIGPIPE must not end our process too. */
static int say(struct pdk__keeper *k, const char *word, const char *rest)
{
    char line[4200];
    int n = snprintf(line, sizeof line, "%s %s\n", word, rest);
    if (n < 0 || (size_t)n >= sizeof line) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return send(k->fd, line, (size_t)n, MSG_NOSIGNAL) == n ? 0 : -1;
}

static char **command(char *const argv[])
{
    static char *head[] = {"sh", "-c", (char *)script, "paddock-server"};
    size_t n = 0;
    while (argv[n] != NULL)
        n++;
    char **all = calloc(n + 5, sizeof *all);
    if (all == NULL)
        return NULL;
    memcpy(all, head, sizeof head);
    memcpy(all + 4, argv, n * sizeof *all);
    return all;
}

/* A process group of its own: signals of a terminal or a job-control shell to ours are for us to act upon. No session
 * of its own: Linux shares the processors out among sessions, and on a busy machine a server in one could stand for
 * seconds. All descriptors but the three are closed: ZooKeeper's client has some that are not close-on-exec. */
static int launch(struct pdk__keeper *k, int end, char **argv)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, end, 0);
    posix_spawn_file_actions_adddup2(&files, end, 1);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    pdk__spawn_close_from(&files, 3);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    int rc = posix_spawn(&k->pid, "/bin/sh", &files, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    errno = rc;
    return rc == 0 ? 0 : -1;
}

int pdk__keeper_open(struct pdk__keeper *k, char *const argv[])
{
    int ends[2];
    char **all = command(argv);
    if (all == NULL)
        return -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        free(all);
        return -1;
    }
    *k = (struct pdk__keeper){.fd = ends[0]};
    int rc = launch(k, ends[1], all);
    free(all);
    close(ends[1]);
    if (rc == 0 && hear(k, k->dir, sizeof k->dir) == 0)
        return 0;
    int saved = errno;
    pdk__keeper_close(k);
    errno = saved;
    return -1;
}

int pdk__keeper_run(struct pdk__keeper *k, const char *log)
{
    char line[32];
    if (say(k, "run", log) != 0 || hear(k, line, sizeof line) != 0)
        return -1;
    k->child = (pid_t)strtol(line, NULL, 10);
    return 0;
}

/* The state letter of the process or thread whose file this is; '?' when it cannot be read. */
static char state_of(const char *path)
{
    char text[512];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return '?';
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end != NULL && name_end[1] != '\0' ? name_end[2] : '?';
}

bool pdk__keeper_alive(const struct pdk__keeper *k)
{
    char path[64];
    if (k->child == 0 || kill(k->child, 0) != 0)
        return false;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)k->child);
    char state = state_of(path);
    return state != 'Z' && state != 'X';
}

bool pdk__keeper_stopped(const struct pdk__keeper *k)
{
    char path[512];
    bool stopped = true;
    snprintf(path, sizeof path, "/proc/%ld/task", (long)k->child);
    DIR *threads = opendir(path);
    struct dirent *thread;
    while (threads != NULL && stopped && (thread = readdir(threads)) != NULL) {
        snprintf(path, sizeof path, "/proc/%ld/task/%s/stat", (long)k->child, thread->d_name);
        stopped = thread->d_name[0] == '.' || state_of(path) == 'T' || state_of(path) == '?';
    }
    if (threads != NULL)
        closedir(threads);
    return stopped;
}

void pdk__keeper_reap(struct pdk__keeper *k)
{
    char line[32];
    if (k->child != 0 && say(k, "reap", "") == 0)
        hear(k, line, sizeof line);
    k->child = 0;
}

/* A child that was forked has the descriptor, too: shut down, the keeper hears all the same that it is to end. */
void pdk__keeper_close(struct pdk__keeper *k)
{
    if (k->fd >= 0) {
        shutdown(k->fd, SHUT_WR);
        close(k->fd);
    }
    if (k->pid > 0)
        while (waitpid(k->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    *k = (struct pdk__keeper){.fd = -1};
}
