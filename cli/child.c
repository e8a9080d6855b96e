#include "cli/child.h"

#include "cli/message.h"
#include "cli/number.h"
#include "lib/assert.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

/* In the child. Exits silently when the parent died meanwhile. */
static void await_go(int go, pid_t parent)
{
    char byte;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || read(go, &byte, 1) != 1)
        _exit(STATUS_INTERNAL);
}

static void run(const struct pdk__cli_order *order, int failed)
{
    int why = PDK__CLI_CHILD_EXPIRED;
    sigprocmask(SIG_SETMASK, order->mask, NULL);
    if (pdk__cli_lease_covers(order->lease, pdk__cli_now_ms(), order->signal)) {
        execvp(order->argv[0], order->argv);
        why = errno;
    }
    (void)!write(failed, &why, sizeof why);
    _exit(why == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT_RUN);
}

int pdk__cli_child_prepare(struct pdk__cli_child *c, const struct pdk__cli_order *order)
{
    int go[2], failed[2];
    pid_t parent = getpid();
    assert(order->argv[0] != NULL && order->signal >= 0);
    if (pipe2(go, O_CLOEXEC) < 0)
        return -1;
    if (pipe2(failed, O_CLOEXEC) < 0) {
        close(go[0]);
        close(go[1]);
        return -1;
    }
    c->pid = fork();
    if (c->pid == 0) {
        close(go[1]);
        await_go(go[0], parent);
        run(order, failed[1]);
    }
    int why = errno;
    close(go[0]);
    close(failed[1]);
    c->go = go[1];
    c->failed = failed[0];
    if (c->pid > 0)
        setpgid(c->pid, c->pid); /* both processes do it, so that the order does not matter */
    errno = why;
    return c->pid < 0 ? -1 : 0;
}

int pdk__cli_child_go(struct pdk__cli_child *c)
{
    int why = 0;
    assert(c->pid > 0);
    (void)!write(c->go, "", 1);
    close(c->go);
    if (read(c->failed, &why, sizeof why) != (ssize_t)sizeof why)
        why = 0; /* end of file: exec closed it */
    close(c->failed);
    return why;
}
