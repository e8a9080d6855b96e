/* Which process this is. No server is needed. */
#define _GNU_SOURCE /* clone's flags */
#include "lib/process.h"
#include "test/lib/check.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { QUESTIONS = 1000 };

static int n_getpid;

/* An emulator that accepts every advice and follows none; a kernel that knows no such advice. */
static bool emulated, old;

/* Replace the C library's. */
pid_t getpid(void)
{
    n_getpid++;
    return (pid_t)syscall(SYS_getpid);
}

int madvise(void *memory, size_t size, int advice)
{
    if (emulated)
        return 0;
    return old ? -1 : (int)syscall(SYS_madvise, memory, size, advice);
}

/* A child that no handler of fork() hears of. */
static pid_t raw_fork(void) { return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL); }

/* In a process of its own, because the first question decides how forks are noticed. */
static void check_in_child(int (*run)(void))
{
    pid_t pid = pdk__test_fork();
    if (pid == 0)
        _exit(run());
    CHECK_EQ(pdk__test_wait(pid), 0);
}

/* Bits: what is wrong. CHILD is the answer of fork(), or of raw_fork(). */
static int ask_both(struct pdk__process parent, pid_t child)
{
    if (child == 0) {
        struct pdk__process own = pdk__process_self();
        _exit(pdk__process_is_self(parent) | !pdk__process_is_self(own) << 1);
    }
    int status = pdk__test_wait(child);
    return status | !pdk__process_is_self(parent) << 2;
}

static int forks(void)
{
    struct pdk__process self = pdk__process_self();
    return ask_both(self, fork()) | ask_both(self, raw_fork());
}

static int asks_often(void)
{
    struct pdk__process self = pdk__process_self();
    n_getpid = 0;
    for (int i = 0; i < QUESTIONS; i++)
        if (!pdk__process_is_self(self))
            return 1;
    return n_getpid == (emulated || old ? QUESTIONS : 0) ? 0 : 2;
}

static bool kernel_wipes(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool wipes = syscall(SYS_madvise, page, 4096, -1) != 0 && syscall(SYS_madvise, page, 4096, MADV_WIPEONFORK) == 0;
    munmap(page, 4096);
    return wipes;
}

static void every_child_is_another(void) { check_in_child(forks); }

static void the_question_is_no_system_call(void)
{
    if (!kernel_wipes())
        SKIP("this kernel does not wipe a page in a child");
    check_in_child(asks_often);
}

static void without_the_kernels_help(void)
{
    emulated = true;
    check_in_child(forks);
    check_in_child(asks_often);
    emulated = false;
    old = true;
    check_in_child(forks);
    check_in_child(asks_often);
    old = false;
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a child is another process, whether fork() or a bare clone() made it", every_child_is_another},
        {"the question costs no call of the system", the_question_is_no_system_call},
        {"a child is another process where the kernel does not wipe its page", without_the_kernels_help},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "process", .tests = tests});
}
