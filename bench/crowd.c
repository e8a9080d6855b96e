/*
 * The cost of a crowd of clients on one path, on three ZooKeeper servers that are started for it: crowd SCENARIO
 * [KEY=NUMBER]... One scenario, one line of JSON, which bench/fleet reads. Each phase has its seconds, the requests of
 * all clients by kind, their bytes, their attempts to connect, and how often a watched grant was SUSPECT or LOST.
 *
 *   join            one client holds the lock, and WAITERS requests of CLIENTS others queue, asked at once. MISSING=1:
 *                   there is no path and no holder; the first is granted and stays
 *   drain           then the holder releases, and each waiter that is granted releases at once
 *   storm_follower  then a follower is killed and started again DOWN_MS later, one without the holder; measured until
 *                   all clients are connected and all requests have their places
 *   storm_leader    the same of the leader
 *   storm_all       the same of all three. EXPIRE=1: they are down for one and a half session timeouts
 *   many_clients    CLIENTS clients are opened one after another; each holds a lock of its own for HOLD_MS and MINUTES;
 *                   they are closed one after another
 *   many_locks      one client asks for LOCKS free locks at once, holds them for HOLD_MS and MINUTES, and is closed
 *
 * BUSY threads spin meanwhile, as other work of the machine does. SESSION_MS is the clients' timeout, TICK_MS the
 * servers' tickTime. SETTLE_MS is for how long nothing is asked before a phase is over, and LIMIT_S the longest that
 * one may take. Exits with 1 when it fails, which the line tells, and with 77 where no server can be had. The servers
 * end with it, also on a signal.
 */
#include "bench/crowd.h"

#include "bench/scenarios.h"
#include "bench/trio.h"
#include "server/throwaway.h"
#include <paddock.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_USAGE = 64, EXIT_SKIP = 77 };

static struct key {
    const char *name;
    long number;
} keys[] = {{"waiters", 100},  {"clients", 4},   {"locks", 1000},    {"session_ms", 10000}, {"tick_ms", 2000},
            {"down_ms", 3000}, {"hold_ms", 0},   {"minutes", 0},     {"busy", 0},           {"missing", 0},
            {"expire", 0},     {"limit_s", 120}, {"settle_ms", 1500}};

enum { N_KEYS = sizeof keys / sizeof *keys };

static const struct scenario {
    const char *name;
    void (*run)(void);
} scenarios[] = {{"join", scenario_join},
                 {"drain", scenario_drain},
                 {"storm_follower", scenario_storm_follower},
                 {"storm_leader", scenario_storm_leader},
                 {"storm_all", scenario_storm_all},
                 {"many_clients", scenario_many_clients},
                 {"many_locks", scenario_many_locks}};

/* --- small things ------------------------------------------------------------------------------------------------ */

/* The line may have begun: the error gets a line of its own, the last one. */
void crowd_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("\n{\"error\": \"");
    vprintf(format, args);
    printf("\"}\n");
    va_end(args);
    fflush(stdout);
    _exit(1);
}

void crowd_check(int rc, const char *what)
{
    if (rc != 0)
        crowd_fail("%s: %s", what, pdk_strerror(rc));
}

double crowd_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void crowd_nap(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
}

void *crowd_allocate(size_t n, size_t size)
{
    void *p = calloc(n > 0 ? n : 1, size);
    if (p == NULL)
        crowd_fail("out of memory");
    return p;
}

long crowd_key(const char *name)
{
    for (int i = 0; i < N_KEYS; i++)
        if (strcmp(keys[i].name, name) == 0)
            return keys[i].number;
    crowd_fail("no such key: %s", name);
}

/* --- the run ----------------------------------------------------------------------------------------------------- */

static bool set_key(const char *word)
{
    size_t n = strcspn(word, "=");
    char *end;
    for (int i = 0; i < N_KEYS; i++)
        if (word[n] == '=' && strlen(keys[i].name) == n && strncmp(word, keys[i].name, n) == 0) {
            keys[i].number = strtol(word + n + 1, &end, 10);
            return word[n + 1] != '\0' && *end == '\0' && keys[i].number >= 0;
        }
    return false;
}

static const struct scenario *find(const char *name)
{
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        if (strcmp(scenarios[i].name, name) == 0)
            return &scenarios[i];
    return NULL;
}

static const struct scenario *read_arguments(int argc, char **argv)
{
    const struct scenario *s = argc > 1 ? find(argv[1]) : NULL;
    for (int i = 2; i < argc; i++)
        if (!set_key(argv[i]))
            return NULL;
    return crowd_key("clients") > 0 && crowd_key("waiters") > 0 && crowd_key("locks") > 0 ? s : NULL;
}

static void *spin(void *arg)
{
    static atomic_long turns;
    (void)arg;
    for (;;)
        atomic_fetch_add_explicit(&turns, 1, memory_order_relaxed);
    return NULL;
}

static void make_busy(void)
{
    pthread_t thread;
    for (long i = 0; i < crowd_key("busy"); i++)
        if (pthread_create(&thread, NULL, spin, NULL) != 0 || pthread_detach(thread) != 0)
            crowd_fail("no thread");
}

/* Each client has several descriptors. */
static void raise_limits(void)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r) == 0) {
        r.rlim_cur = r.rlim_max;
        setrlimit(RLIMIT_NOFILE, &r);
    }
}

int main(int argc, char **argv)
{
    const struct scenario *s = read_arguments(argc, argv);
    if (s == NULL) {
        fprintf(stderr, "usage: crowd SCENARIO [KEY=NUMBER]...\n");
        return EXIT_USAGE;
    }
    raise_limits();
    if (!trio_start((int)crowd_key("tick_ms"))) {
        printf("{\"error\": \"%s\"}\n", pdk__server_error());
        return EXIT_SKIP;
    }
    make_busy();
    printf("{\"scenario\": \"%s\"", s->name);
    for (int i = 0; i < N_KEYS; i++)
        printf(", \"%s\": %ld", keys[i].name, keys[i].number);
    s->run();
    printf("}\n");
    trio_end();
    return 0;
}
