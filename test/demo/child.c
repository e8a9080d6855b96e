/*
 * The command that `paddock lock` and `paddock elect` run in a show. It works until it is killed or its history tells
 * it to finish, and ignores every signal that can be ignored. Each moment of work is written as a question.
 *
 *     child HISTORY EVERY_MS
 */
#include "test/lib/history.h"

#include <paddock.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *token = getenv("PADDOCK_TOKEN");
    struct history *h = argc == 3 ? history_open(argv[1], false) : NULL;
    if (h == NULL)
        return 64;
    signal(SIGTERM, SIG_IGN);
    atomic_store(&h->pid, (int32_t)getpid());
    int ms = atoi(argv[2]);
    struct record r = {.event = ASKED, .rc = BY_LOCK, .token = PDK_FOREVER, .kind = 1};
    history_write(h, &r);
    r = (struct record){
        .event = GRANTED, .token = token != NULL ? strtoll(token, NULL, 10) : 0, .valid_ms = 1, .kind = 1};
    history_write(h, &r);
    r.event = QUESTION;
    r.rc = PDK_HELD;
    r.valid_ms = 0;
    while (atomic_load(&h->finish) == 0) {
        history_write(h, &r);
        nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
    }
    r.event = UNLOCKING;
    history_write(h, &r);
    return 0;
}
