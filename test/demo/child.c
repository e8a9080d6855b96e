/*
 * The command that `paddock lock` and `paddock elect` run in a demo. It works until it is killed or the driver asks it
 * to end, and ignores every signal that can be ignored.
 *
 *     child FILE
 */
#include "test/demo/work.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *token = getenv("PADDOCK_TOKEN");
    struct work *w = argc == 2 ? work_open(argv[1]) : NULL;
    if (w == NULL)
        return 64;
    signal(SIGTERM, SIG_IGN);
    atomic_store(&w->pid, getpid());
    atomic_store(&w->token, token != NULL ? strtoll(token, NULL, 10) : 0);
    while (atomic_load(&w->must_end) == 0) {
        work_stamp(w, work_now_ns());
        work_nap();
    }
    atomic_store(&w->ended_ns, work_now_ns());
    return 0;
}
