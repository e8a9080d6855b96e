/*
 * A candidate for a leadership: it leads for a moment, ends its term and is a candidate again, until its history tells
 * it to finish. A latch resigns and starts; a candidate in turns yields.
 *
 *     candidate HISTORY HOSTS SESSION_MS PATH MOST_MS latch|turns
 *
 * A term takes at most MOST_MS. Each is written as a grant, with a question each millisecond, and its end as an unlock.
 */
#include "test/lib/history.h"

#include <paddock.h>
#include <paddock/leader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct history *history;
static pdk_client *client;
static pdk_leader *leader;
static bool turns;
static int term;
static int64_t token;

static void say(enum event event, int rc, int64_t ns)
{
    history_write(history, &(struct record){.ns = ns,
                                            .event = event,
                                            .rc = rc,
                                            .token = event == ASKED ? PDK_FOREVER : token,
                                            .valid_ms = pdk_lock_valid_ms(leader),
                                            .kind = term});
}

/* The stamp is taken before the question. */
static bool leads(void)
{
    int64_t ns = now_ns();
    bool is_leader = pdk_lock_state(leader) == PDK_HELD;
    say(QUESTION, is_leader ? PDK_HELD : PDK_LOST, ns);
    return is_leader;
}

static void lead(int ms)
{
    int64_t first = now_ns();
    if (pdk_lock_token(leader, &token, NULL) != 0 || pdk_lock_state(leader) != PDK_HELD)
        return;
    term++;
    say(ASKED, BY_LOCK, first);
    say(GRANTED, 0, now_ns());
    atomic_store(&history->holding, 1);
    atomic_fetch_add(&history->n_grants, 1);
    while (now_ns() - first < ms * INT64_C(1000000) && leads())
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    atomic_store(&history->holding, 0);
    say(UNLOCKING, 0, now_ns());
}

static int new_leader(const char *path)
{
    return pdk_leader_new(&leader, client, path, turns ? PDK_IN_TURNS : PDK_LATCH, NULL);
}

static int make(const char *hosts, int session_ms, const char *path)
{
    pdk_client_options *o = pdk_client_options_new();
    if (o == NULL)
        return PDK_ENOMEM;
    int rc = pdk_client_options_set_session_timeout_ms(o, session_ms);
    if (rc == 0)
        rc = pdk_client_new(&client, hosts, o);
    pdk_client_options_free(o);
    return rc != 0 ? rc : new_leader(path);
}

/* A resignation that no server confirmed in time continues unasked. A term may have ended before it is yielded. */
static int end_term(void)
{
    int rc = turns ? pdk_leader_yield(leader) : pdk_leader_resign(leader);
    return rc == PDK_EUNKNOWN || (turns && rc == PDK_EPERM) ? 0 : rc;
}

static int serve(int most_ms)
{
    int rc = pdk_leader_start(leader);
    while (rc == 0 && atomic_load(&history->finish) == 0) {
        rc = pdk_leader_wait(leader, 100);
        if (rc == PDK_ETIMEDOUT) {
            rc = 0;
            continue;
        }
        if (rc == 0) {
            lead((int)(random() % most_ms) + 1);
            rc = end_term();
        }
        if (rc == 0 && !turns)
            rc = pdk_leader_start(leader);
    }
    return rc;
}

int main(int argc, char **argv)
{
    if (argc != 7 || (history = history_open(argv[1], false)) == NULL)
        return 64;
    atomic_store(&history->pid, (int32_t)getpid());
    turns = strcmp(argv[6], "turns") == 0;
    srandom((unsigned)getpid());
    int rc = make(argv[2], atoi(argv[3]), argv[4]);
    if (rc == 0)
        rc = serve(atoi(argv[5]));
    if (rc != 0)
        fprintf(stderr, "candidate: %s\n", pdk_strerror(rc));
    pdk_lock_free(leader);
    pdk_client_free(client);
    return rc != 0;
}
