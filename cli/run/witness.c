#include "cli/run/witness.h"

#include "cli/process_title.h"
#include "cli/signals.h"
#include "server/descriptors.h"

#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAW_NONE, SAW_KEY };

/* In the process. The lowest signal is taken first, so a key that was typed before SIGRTMIN came counts. */
static _Noreturn void watch(pid_t group, pid_t caller)
{
    static const int keys[] = {SIGINT, SIGQUIT, 0};
    sigset_t set;
    siginfo_t info;
    int saw = SAW_NONE;
    sigfillset(&set);
    sigprocmask(SIG_SETMASK, &set, NULL);
    setpgid(0, group);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != caller)
        _exit(saw);
    pdk__cli_process_title_set("pdk-witness", caller);
    pdk__close_from(0);
    pdk__cli_signals_not_ignored(&set, keys);
    sigaddset(&set, SIGRTMIN);
    for (;;) {
        int signal = sigwaitinfo(&set, &info);
        if (signal == SIGRTMIN)
            _exit(saw);
        if (signal > 0 && info.si_code == SI_KERNEL) /* the terminal's, not another process's */
            saw = SAW_KEY;
    }
}

pid_t pdk__cli_witness_start(pid_t group)
{
    pid_t caller = getpid(), pid = fork();
    if (pid == 0)
        watch(group, caller);
    if (pid > 0)
        setpgid(pid, group); /* both processes do it, so that the order does not matter */
    return pid > 0 ? pid : 0;
}

bool pdk__cli_witness_end(pid_t witness)
{
    siginfo_t info = {0};
    if (witness == 0)
        return false;
    kill(witness, SIGRTMIN);
    do
        kill(witness, SIGCONT); /* the group may be stopped */
    while (waitid(P_PID, (id_t)witness, &info, WEXITED | WSTOPPED) == 0 && info.si_code == CLD_STOPPED);
    return info.si_code == CLD_EXITED && info.si_status == SAW_KEY;
}
