#include "cli/run/guard.h"

#include "cli/message.h"
#include "cli/number.h"
#include "cli/process_title.h"
#include "cli/run/group.h"
#include "cli/run/timer.h"
#include "lib/assert.h"
#include "server/descriptors.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct guard {
    struct pdk__cli_group group;
    int on_lost;
    int ends; /* end of file: the other two are dead */
    int timer;
};

/* Keep no descriptor that the program was started with, such as a pipe that its caller reads to the end. */
static void detach(int ends)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setpgid(0, 0);
    if (dup2(ends, STDERR_FILENO + 1) < 0)
        _exit(STATUS_INTERNAL);
    pdk__close_from(STDERR_FILENO + 2);
    if (freopen("/dev/null", "r", stdin) == NULL || freopen("/dev/null", "w", stdout) == NULL ||
        freopen("/dev/null", "w", stderr) == NULL)
        _exit(STATUS_INTERNAL);
}

/* The page, not the pipe, names the group: a guard that was stopped for long must not act on an old name. */
static void follow_page(struct guard *g)
{
    struct pdk__cli_page *page = g->group.page;
    pid_t leader = page->leader;
    if (leader == g->group.leader)
        return;
    pdk__cli_group_init(&g->group, page, g->on_lost);
    g->group.leader = leader;
}

/* Returns false when the other two are dead. */
static bool others_live(struct guard *g)
{
    char scrap[64];
    return read(g->ends, scrap, sizeof scrap) != 0;
}

static void turn(struct guard *g)
{
    struct pollfd fds[] = {{.fd = g->ends, .events = POLLIN}, {.fd = g->timer, .events = POLLIN}};
    int64_t due = pdk__cli_group_due(&g->group);
    pdk__cli_timer_arm(g->timer, due);
    poll(fds, 2, pdk__cli_poll_ms(due));
    follow_page(g);
    if (fds[0].revents != 0 && !others_live(g)) {
        assert(g->group.leader >= 0);
        if (g->group.leader != 0)
            kill(-g->group.leader, SIGKILL);
        _exit(0);
    }
    pdk__cli_group_step(&g->group);
}

pid_t pdk__cli_guard_start(struct pdk__cli_page *page, int on_lost, int ends[2], pid_t runner)
{
    pid_t pid = fork();
    if (pid != 0) {
        close(ends[0]);
        return pid;
    }
    pdk__cli_process_title_set("pdk-guard", runner);
    detach(ends[0]);
    struct guard g = {.on_lost = on_lost, .ends = STDERR_FILENO + 1, .timer = pdk__cli_timer_new()};
    pdk__cli_group_init(&g.group, page, on_lost);
    for (;;)
        turn(&g);
}

void pdk__cli_guard_set_group(struct pdk__cli_page *page, int wake, pid_t leader)
{
    assert(leader >= 0);
    page->leader = leader;
    (void)!write(wake, "", 1); /* does not block: one unread byte is enough */
}
