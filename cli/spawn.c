#include "cli/spawn.h"

#include "cli/message.h"
#include "lib/assert.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_MS = 100 };

/* In the process. Exits silently when the caller died meanwhile. */
static void await_go(const struct pdk__cli_errand *errand, int go, pid_t caller)
{
    char byte;
    if (errand->leads)
        setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, errand->death_signal);
    if (getppid() != caller || read(go, &byte, 1) != 1)
        _exit(STATUS_INTERNAL);
}

static void become(const struct pdk__cli_errand *errand, int failed)
{
    int why = errand->become(errand->arg);
    assert(why != 0);
    (void)!write(failed, &why, sizeof why);
    _exit(why == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT_RUN);
}

int pdk__cli_spawn(struct pdk__cli_spawned *p, const struct pdk__cli_errand *errand)
{
    int go[2], failed[2];
    pid_t caller = getpid();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go) < 0)
        return -1;
    if (pipe2(failed, O_CLOEXEC) < 0) {
        close(go[0]);
        close(go[1]);
        return -1;
    }
    p->pid = fork();
    if (p->pid == 0) {
        close(go[1]);
        await_go(errand, go[0], caller);
        become(errand, failed[1]);
    }
    int why = errno;
    close(go[0]);
    close(failed[1]);
    p->go = go[1];
    p->failed = failed[0];
    if (p->pid > 0 && errand->leads)
        setpgid(p->pid, p->pid); /* both processes do it, so that the order does not matter */
    errno = why;
    return p->pid < 0 ? -1 : 0;
}

/* The stop stays to be judged. */
static bool has_stopped(pid_t pid)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

int pdk__cli_spawn_go(struct pdk__cli_spawned *p)
{
    struct pollfd fd = {.fd = p->failed, .events = POLLIN};
    int why = 0;
    assert(p->pid > 0);
    (void)!send(p->go, "", 1, MSG_NOSIGNAL); /* a process that was killed reads nothing */
    close(p->go);
    while (poll(&fd, 1, LOOK_MS) <= 0)
        if (has_stopped(p->pid))
            return 0; /* `failed` stays open: a process that goes on must be able to write */
    if (read(p->failed, &why, sizeof why) != (ssize_t)sizeof why)
        why = 0; /* end of file: exec closed it */
    close(p->failed);
    return why;
}

void pdk__cli_spawn_dismiss(struct pdk__cli_spawned *p)
{
    assert(p->pid > 0);
    close(p->go);
    close(p->failed);
    while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}
