#include "cli/message.h"
#include "cli/number.h"
#include "cli/run/channel.h"
#include "cli/run/guard.h"
#include "cli/run/lock.h"
#include "cli/run/metrics.h"
#include "cli/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Longer than the library's: the deadline of a command must not pass at every leader election of the servers. */
enum { SESSION_MS = 30000, GRACE_MS = 2000 };

void pdk__cli_lock_begin(struct pdk__cli_options *o)
{
    struct pdk__cli_lock *l = PDK__MEMBER(o, struct pdk__cli_lock, common);
    l->on_lost = l->on_revoke = SIGTERM;
    l->kill_after_ms = -1;
    o->session_ms = SESSION_MS;
}

/* --- the options, as a whole -------------------------------------------------------------------------------------- */

/* A command that may take longer to end than the lock can be valid would outlive it. */
static int check_grace(const struct pdk__cli_lock *l)
{
    int64_t least = l->kill_after_ms * PDK__CLI_GRACE_PART;
    if (l->kill_after_ms < 0 || l->on_lost == 0 || l->on_lost == SIGKILL || least <= l->common.session_ms)
        return 0;
    return pdk__cli_usage("%s: --kill-after %.3g s needs a --session-timeout of %.3g s or more", l->common.command,
                          (double)l->kill_after_ms / 1000, (double)least / 1000);
}

static int check_metrics(const struct pdk__cli_lock *l)
{
    const char *why = l->metrics != NULL ? pdk__cli_metrics_check(l->metrics) : NULL;
    return why != NULL ? pdk__cli_usage("%s: --metrics '%s': %s", l->common.command, l->metrics, why) : 0;
}

/* --- the run ----------------------------------------------------------------------------------------------------- */

/* The state after `unshare -p` without --fork: the children of this process have process ids that it does not know
 * them by, and when the first child has ended there can be no other. Before there is any child, the second link
 * exists (from Linux 4.12 on) and cannot be read. */
static bool has_foreign_children(void)
{
    static const char ours[] = "/proc/self/ns/pid", theirs[] = "/proc/self/ns/pid_for_children";
    char a[64] = "", b[64] = "";
    struct stat st;
    if (readlink(ours, a, sizeof a - 1) < 0 || lstat(theirs, &st) != 0)
        return false;
    if (readlink(theirs, b, sizeof b - 1) < 0)
        return errno == ENOENT;
    return strcmp(a, b) != 0;
}

static void block_signals(sigset_t *mask)
{
    sigset_t set;
    pdk__cli_lock_signals(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTTOU); /* so that the terminal can be taken back from the background */
    sigaddset(&set, SIGPIPE); /* blocked, not ignored: the command's own disposition stays unchanged */
    sigaddset(&set, SIGXFSZ); /* of the statistics */
    sigprocmask(SIG_BLOCK, &set, mask);
    signal(SIGCHLD, SIG_DFL); /* an ignored one would reap our children */
}

/* The session first: it keeps the writing end of the guard's pipe, and must not keep the reading one. */
static int start_processes(struct pdk__cli_lock *l, struct pdk__cli_processes *processes)
{
    int channel[2], pipe[2];
    pid_t runner = getpid();
    if (pdk__cli_channel_pair(channel) != 0 || pipe2(pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return -1;
    processes->session = fork();
    if (processes->session == 0)
        pdk__cli_session_run(l, channel[1], pipe[1], runner);
    pdk__cli_options_forget(&l->common);
    close(channel[1]);
    processes->channel = channel[0];
    processes->wake = pipe[1];
    if (processes->session > 0)
        processes->guard = pdk__cli_guard_start(l->page, l->on_lost, pipe, runner);
    return processes->session > 0 && processes->guard > 0 ? 0 : -1; /* a session whose runner exits ends on its own */
}

static int run(struct pdk__cli_lock *l)
{
    struct pdk__cli_processes processes = {0};
    sigset_t mask;
    l->live = isatty(STDERR_FILENO) && !l->common.quiet && l->common.wait_ms != 0;
    block_signals(&mask);
    l->page = pdk__cli_page_new();
    if (l->page == NULL || start_processes(l, &processes) != 0) {
        pdk__cli_message("cannot start a process: %s", strerror(errno));
        return STATUS_INTERNAL;
    }
    return pdk__cli_runner_run(l, &processes, &mask);
}

int pdk__cli_lock_run(struct pdk__cli_lock *l)
{
    int status = check_grace(l);
    if (status == 0)
        status = check_metrics(l);
    if (status != 0)
        return status;
    l->grace_ms = l->kill_after_ms >= 0 ? l->kill_after_ms : GRACE_MS;
    if (has_foreign_children()) {
        pdk__cli_message("cannot work with children in another PID namespace; give unshare(1) its --fork");
        return STATUS_INTERNAL;
    }
    pdk__cli_options_name(&l->common, l->argv[0]);
    return run(l);
}
