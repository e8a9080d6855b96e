/* The parent's side: fork the workers, read their records, kill one of them while it holds. */
#include "contest.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Longer than any session on a sensible ensemble: silence for this long means that the contest is stuck. */
enum { SILENCE_MS = 60000 };

/* Only the victim holds the write end of VICTIM, and it writes nothing: end of file is its end. */
enum { DIARY, GO, VICTIM, PIPES };

struct race {
    const struct plan *plan;
    struct report *report;
    struct diary *diary;
    int hear, go; /* the ends of the pipes that are ours */
    pid_t pids[CONTEST_MAX_PROCESSES];
    int ready;
};

static volatile sig_atomic_t interrupted;

static void interrupt(int sig) { interrupted = sig; }

void race_catch_signals(void)
{
    struct sigaction on = {.sa_handler = interrupt};
    sigaction(SIGINT, &on, NULL);
    sigaction(SIGTERM, &on, NULL);
    sigaction(SIGHUP, &on, NULL);
}

int race_interrupted(void) { return interrupted; }

void diary_free(struct diary *diary) { free(diary->records); }

static int note(struct diary *d, const struct record *r)
{
    if (d->count == d->room) {
        size_t room = d->room ? 2 * d->room : 256;
        struct record *grown = realloc(d->records, room * sizeof *grown);
        if (!grown)
            return ENOMEM;
        d->records = grown;
        d->room = room;
    }
    d->records[d->count++] = *r;
    return 0;
}

static _Noreturn void be_worker(const struct plan *plan, int index, pid_t parent, int pipes[PIPES][2])
{
    /* The terminal's Ctrl-C reaches us too; the parent ends us. If the parent is killed, the kernel does. */
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(2);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    close(pipes[DIARY][0]);
    close(pipes[GO][1]);
    if (index != plan->victim)
        close(pipes[VICTIM][1]);
    _exit(worker_run(plan, index, pipes[DIARY][1], pipes[GO][0], pipes[VICTIM][0]));
}

static int fork_all(struct race *race, int pipes[PIPES][2])
{
    pid_t parent = getpid();
    fflush(NULL);
    for (int i = 0; i < race->plan->processes; i++) {
        pid_t pid = fork();
        if (pid < 0)
            return errno;
        if (pid == 0)
            be_worker(race->plan, i, parent, pipes);
        race->pids[i] = pid;
    }
    return 0;
}

/* Kill a holder: its hold ends here, long before the servers expire its session. */
static int kill_holder(struct race *race, const struct record *granted)
{
    pid_t pid = race->pids[granted->worker];
    kill(pid, SIGKILL);
    int64_t killed_at = now_ns();
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    race->pids[granted->worker] = 0;
    struct record killed = *granted;
    killed.what = WHAT_KILLED;
    killed.at_ns = killed_at;
    killed.span_ns = killed.at_ns - granted->at_ns;
    report_record(race->report, &killed);
    return note(race->diary, &killed);
}

static int take(struct race *race, const struct record *r)
{
    report_record(race->report, r);
    if (r->what == WHAT_FAILED)
        return EPROTO;
    if (r->what == WHAT_READY) {
        if (++race->ready == race->plan->processes) {
            race->report->start_ns = now_ns();
            close(race->go); /* end of file for all workers at once: go */
            race->go = -1;
        }
        return 0;
    }
    int rc = note(race->diary, r);
    return rc == 0 && r->stays ? kill_holder(race, r) : rc;
}

/* Read the available records. EPIPE: every worker has ended. */
static int hear(struct race *race)
{
    struct record some[16];
    ssize_t n = read(race->hear, some, sizeof some);
    if (n <= 0)
        return n == 0 ? EPIPE : errno == EINTR ? 0 : errno;
    if ((size_t)n % sizeof *some)
        return EPROTO; /* cannot be: each write was smaller than PIPE_BUF */
    for (size_t i = 0; i < (size_t)n / sizeof *some; i++) {
        int rc = take(race, &some[i]);
        if (rc)
            return rc;
    }
    return 0;
}

/* Signals come only during the wait, so none is missed between a look at the flag and the wait. */
static int listen_to_all(struct race *race, const sigset_t *open)
{
    while (!interrupted) {
        struct pollfd p = {.fd = race->hear, .events = POLLIN};
        struct timespec limit = {.tv_sec = SILENCE_MS / 1000};
        int n = ppoll(&p, 1, &limit, open);
        if (n == 0)
            return ETIMEDOUT;
        int rc = n > 0 ? hear(race) : errno == EINTR ? 0 : errno;
        if (rc)
            return rc == EPIPE ? 0 : rc;
    }
    return EINTR;
}

/* End the workers that are left (none, if all went well). Returns 0 when every worker had ended well on its own. */
static int end_all(struct race *race, bool force)
{
    int rc = 0;
    for (int i = 0; i < race->plan->processes; i++) {
        int status = 0;
        if (race->pids[i] <= 0)
            continue;
        if (force)
            kill(race->pids[i], SIGKILL);
        while (waitpid(race->pids[i], &status, 0) < 0 && errno == EINTR)
            ;
        if (status != 0)
            rc = ECHILD;
    }
    return rc;
}

static int open_pipes(int pipes[PIPES][2])
{
    for (int i = 0; i < PIPES; i++) {
        if (pipe(pipes[i]) == 0)
            continue;
        int rc = errno;
        while (i-- > 0) {
            close(pipes[i][0]);
            close(pipes[i][1]);
        }
        return rc;
    }
    return 0;
}

static int with_workers(struct race *race, const sigset_t *open)
{
    int pipes[PIPES][2];
    int rc = open_pipes(pipes);
    if (rc)
        return rc;
    rc = fork_all(race, pipes);
    close(pipes[DIARY][1]);
    close(pipes[GO][0]);
    close(pipes[VICTIM][0]);
    close(pipes[VICTIM][1]);
    race->hear = pipes[DIARY][0];
    race->go = pipes[GO][1];
    if (rc == 0)
        rc = listen_to_all(race, open);
    int ended = end_all(race, rc != 0);
    close(race->hear);
    if (race->go >= 0)
        close(race->go);
    return rc ? rc : ended;
}

int race_run(const struct plan *plan, struct report *report, struct diary *diary)
{
    struct race race = {.plan = plan, .report = report, .diary = diary, .hear = -1, .go = -1};
    sigset_t closed, open;
    sigemptyset(&closed);
    sigaddset(&closed, SIGINT);
    sigaddset(&closed, SIGTERM);
    sigaddset(&closed, SIGHUP);
    sigprocmask(SIG_BLOCK, &closed, &open);
    int rc = with_workers(&race, &open);
    sigprocmask(SIG_SETMASK, &open, NULL);
    return rc;
}
