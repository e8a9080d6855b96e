#include "bench/phase.h"

#include "bench/crowd.h"
#include "bench/members.h"
#include "bench/tally.h"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { LOOK_MS = 5 };

static double begin;
static struct members_sums sums;
static _Atomic long n_suspect, n_lost;

static void on_event(pdk_lock *l, const pdk_event *event, void *arg)
{
    (void)l, (void)arg;
    if (event->kind == PDK_EVENT_STATE && event->state == PDK_SUSPECT)
        atomic_fetch_add(&n_suspect, 1);
    if (event->kind == PDK_EVENT_STATE && event->state == PDK_LOST)
        atomic_fetch_add(&n_lost, 1);
}

void phase_watch(pdk_lock *l) { crowd_check(pdk_lock_on_event(l, on_event, NULL), "events"); }

/* A figure of /proc/self/status, 0 if it is not there. */
static long status_of(const char *name)
{
    char line[256];
    long figure = 0;
    size_t n = strlen(name);
    FILE *f = fopen("/proc/self/status", "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, name, n) == 0 && line[n] == ':')
            sscanf(line + n + 1, "%ld", &figure);
    if (f != NULL)
        fclose(f);
    return figure;
}

void phase_begin(void)
{
    FILE *f = fopen("/proc/self/clear_refs", "we"); /* 5: the peak of the memory begins again */
    if (f != NULL) {
        fputs("5\n", f);
        fclose(f);
    }
    members_sum(&sums);
    atomic_store(&n_suspect, 0);
    atomic_store(&n_lost, 0);
    tally_begin();
    begin = crowd_now();
}

double phase_seconds(void) { return crowd_now() - begin; }

double phase_second_of(double when) { return when > begin ? when - begin : 0; }

static double last_of_all(void)
{
    double sent = tally_last(), connected = members_connected_at();
    return sent > connected ? sent : connected;
}

double phase_settle(bool (*has_place)(void))
{
    double settle = (double)crowd_key("settle_ms") / 1e3, limit = (double)crowd_key("limit_s");
    while (!members_connected() || (has_place != NULL && !has_place()) || crowd_now() - last_of_all() < settle) {
        if (phase_seconds() > limit)
            crowd_fail("not settled after %.0f s", limit);
        crowd_nap(LOOK_MS / 1e3);
    }
    return phase_second_of(last_of_all());
}

static void print_requests(const struct tally *t)
{
    static const char *const names[TALLY_KINDS] = {"creates", "containers", "lists",    "reads",
                                                   "writes",  "deletes",    "renewals", "others"};
    for (int i = 0; i < TALLY_KINDS; i++)
        printf(", \"%s\": %ld", names[i], t->requests[i]);
}

void phase_print(const char *name, double seconds)
{
    struct tally t;
    struct members_sums now;
    tally_read(&t);
    members_sum(&now);
    printf(", \"%s\": {\"seconds\": %.4f", name, seconds);
    print_requests(&t);
    printf(", \"sent\": %ld, \"received\": %ld, \"connects\": %ld, \"most_connects\": %ld, \"most_lists\": %ld", t.sent,
           t.received, t.connects, t.most_connects, t.most_lists);
    printf(", \"create_spread\": %.4f, \"suspect\": %ld, \"lost\": %ld", t.spread, atomic_load(&n_suspect),
           atomic_load(&n_lost));
    printf(", \"reconnects\": %llu, \"expiries\": %llu, \"losses\": %llu", now.reconnects - sums.reconnects,
           now.expiries - sums.expiries, now.losses - sums.losses);
    printf(", \"peak_kib\": %ld, \"threads\": %ld}", status_of("VmHWM"), status_of("Threads") - crowd_key("busy"));
}

void phase_add(const char *name, double figure) { printf(", \"%s\": %.6g", name, figure); }
