#include "cli/lock.h"
#include "cli/number.h"
#include "cli/say.h"
#include "cli/wire.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Longer than the library's: what ends a command in time must not end it whenever the servers elect a leader. */
enum { SESSION_MS = 30000, GRACE_MS = 2000 };

void pdk__cli_lock_signals(sigset_t *set)
{
    static const int signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGUSR1, SIGUSR2,
                                  SIGALRM, SIGTERM, SIGCONT, SIGTSTP, SIGWINCH};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaddset(set, signals[i]);
}

int pdk__cli_lock_begin(struct pdk__cli_lock *l, const char *command)
{
    l->on_lost = l->on_revoke = SIGTERM;
    l->grace_ms = GRACE_MS;
    int status = pdk__cli_options_begin(&l->common, command);
    if (status == 0)
        pdk__cli_options_session(&l->common, SESSION_MS);
    return status;
}

/* --- the options ------------------------------------------------------------------------------------------------- */

static int take_action(const struct pdk__cli_lock *l, const char *name, int *signal)
{
    *signal = 0;
    if (strcasecmp(optarg, "ignore") == 0 || pdk__cli_number_signal(optarg, signal))
        return 0;
    return pdk__cli_usage("%s: %s takes term, kill, ignore or the name of a signal, not '%s'", l->common.command, name,
                          optarg);
}

int pdk__cli_lock_take(struct pdk__cli_lock *l, int option, char **argv)
{
    switch (option) {
    case OPT_ON_LOST:
        return take_action(l, "--on-lost", &l->on_lost);
    case OPT_ON_REVOKE:
        return take_action(l, "--on-revoke", &l->on_revoke);
    case OPT_KILL_AFTER:
        l->grace_given = true;
        if (pdk__cli_number_seconds(optarg, &l->grace_ms))
            return 0;
        return pdk__cli_usage("%s: --kill-after takes a number of seconds, not '%s'", l->common.command, optarg);
    default:
        return pdk__cli_options_take(&l->common, option, argv);
    }
}

/* Arguments may hold secrets, and everybody may read the label: the command's name alone. */
static void set_label(struct pdk__cli_lock *l)
{
    const char *slash = strrchr(l->argv[0], '/');
    const char *name = slash != NULL ? slash + 1 : l->argv[0];
    if (!l->common.labelled && strlen(name) < 256)
        pdk_client_options_set_label(l->common.client, name);
}

/* A command that may take longer to end than the lock can be good for would outlive it. */
static int check_grace(const struct pdk__cli_lock *l)
{
    int64_t least = l->grace_ms * PDK__CLI_GRACE_PART;
    if (!l->grace_given || l->on_lost == 0 || l->on_lost == SIGKILL || least <= l->common.session_ms)
        return 0;
    return pdk__cli_usage("%s: --kill-after %.3g s needs a --session-timeout of %.3g s or more", l->common.command,
                          (double)l->grace_ms / 1000, (double)least / 1000);
}

/* --- the run ----------------------------------------------------------------------------------------------------- */

static int run(struct pdk__cli_lock *l)
{
    int ends[2];
    sigset_t set, mask;
    pid_t runner = getpid();
    l->live = isatty(STDERR_FILENO) && !l->common.quiet && l->common.wait_ms != 0;
    pdk__cli_lock_signals(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTTOU); /* so that the terminal can be taken back from the background */
    sigaddset(&set, SIGPIPE); /* blocked, not ignored: the command's own disposition stays what it was */
    sigprocmask(SIG_BLOCK, &set, &mask);
    signal(SIGCHLD, SIG_DFL); /* an ignored one would reap our children */
    l->lease = pdk__cli_lease_new();
    pid_t session = l->lease != NULL && pdk__cli_wire_pair(ends) == 0 ? fork() : -1;
    if (session < 0) {
        pdk__cli_say("cannot start a process: %s", strerror(errno));
        return STATUS_INTERNAL;
    }
    if (session == 0)
        pdk__cli_session_run(l, ends[1], runner);
    close(ends[1]);
    return pdk__cli_runner_run(l, ends[0], session, &mask);
}

int pdk__cli_lock_run(struct pdk__cli_lock *l)
{
    int status = check_grace(l);
    if (status != 0)
        return status;
    set_label(l);
    return run(l);
}
