/* The command's process checks the lease itself, as its last act before it becomes the command. */
#include "cli/number.h"
#include "cli/run/child.h"
#include "test/lib/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char *touch[] = {"sh", "-c", "exit 5", NULL};
static struct pdk__cli_page *page;
static struct pdk__cli_spawned child;

/* The lease and the child as they are when the lock has just been granted. */
static void prepare(int signal)
{
    static sigset_t mask;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    if (page == NULL)
        page = pdk__cli_page_new();
    CHECK(page != NULL);
    pdk__cli_page_begin(page, 3600000, 1000);
    pdk__cli_page_renew(page, pdk__cli_now_ms(), 3600000);
    struct pdk__cli_order order = {touch, &mask, page, signal};
    CHECK_EQ(pdk__cli_child_prepare(&child, &order), 0);
}

static void in_time(void)
{
    prepare(SIGTERM);
    CHECK_EQ(pdk__cli_spawn_go(&child), 0);
    CHECK_EQ(pdk__test_wait(child.pid), 5);
}

static void too_late(void)
{
    prepare(SIGTERM);
    page->deadline = pdk__cli_now_ms(); /* not long ago: the clock may have begun with the machine */
    CHECK_EQ(pdk__cli_spawn_go(&child), PDK__CLI_CHILD_EXPIRED);
    CHECK(pdk__test_wait(child.pid) != 5);
}

/* The time left suffices for SIGKILL only. */
static void in_the_grace(void)
{
    prepare(SIGTERM);
    page->deadline = pdk__cli_now_ms() + page->reserve_ms + page->grace_ms - 1;
    CHECK_EQ(pdk__cli_spawn_go(&child), PDK__CLI_CHILD_EXPIRED);
    CHECK(pdk__test_wait(child.pid) != 5);
}

static void lost(void)
{
    prepare(SIGTERM);
    page->lost = true;
    CHECK_EQ(pdk__cli_spawn_go(&child), PDK__CLI_CHILD_EXPIRED);
    CHECK(pdk__test_wait(child.pid) != 5);
}

static void lost_and_ignored(void)
{
    prepare(0);
    page->lost = true;
    CHECK_EQ(pdk__cli_spawn_go(&child), PDK__CLI_CHILD_EXPIRED);
    CHECK(pdk__test_wait(child.pid) != 5);
}

static void late_and_ignored(void)
{
    prepare(0);
    page->deadline = pdk__cli_now_ms();
    CHECK_EQ(pdk__cli_spawn_go(&child), 0);
    CHECK_EQ(pdk__test_wait(child.pid), 5);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a command is started under a lease that covers it", in_time},
        {"none is started after the deadline", too_late},
        {"none is started when its end would be due", in_the_grace},
        {"none is started under a lock that was lost", lost},
        {"nor by --on-lost=ignore", lost_and_ignored},
        {"which starts it after the deadline all the same", late_and_ignored},
        {0},
    };
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "child", .tests = tests});
}
