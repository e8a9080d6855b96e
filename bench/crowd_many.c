/* Scenarios of many clients with a lock each, and of many locks of one client. */
#include "bench/crowd.h"
#include "bench/members.h"
#include "bench/phase.h"
#include "bench/scenarios.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { MEAN_OF = 100, PATH_SIZE = 64, BUSY_MS = 1 };

static pdk_mutex **locks;

static void make_lock(int i, pdk_client *c)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "/crowd/own/%d", i);
    crowd_check(pdk_mutex_new(&locks[i], c, path, NULL), "mutex");
    phase_watch(locks[i]);
}

static void free_locks(int n)
{
    for (int i = 0; i < n; i++)
        while (pdk_lock_free(locks[i]) == PDK_EBUSY)
            crowd_nap(BUSY_MS / 1e3);
    free(locks);
}

/* All are held for a time. */
static void hold(void)
{
    phase_begin();
    crowd_nap((double)crowd_key("hold_ms") / 1e3 + 60.0 * (double)crowd_key("minutes"));
    phase_print("hold", phase_seconds());
}

/* --- clients ----------------------------------------------------------------------------------------------------- */

/* The counts at which the microseconds are printed: 100, 500, 1000, 2000, 3000, ..., and all. */
static int mark_after(int mark, int n)
{
    int next = mark < MEAN_OF ? MEAN_OF : mark < 5 * MEAN_OF ? 5 * MEAN_OF : mark / 1000 * 1000 + 1000;
    return mark < n && next > n ? n : next;
}

/* The microseconds of one, by how many there were with it: the mean of at most the last hundred. */
static void print_marks(const char *name, const double *seconds, int n)
{
    const char *comma = "";
    printf(", \"%s\": {", name);
    for (int mark = mark_after(0, n); mark <= n; mark = mark_after(mark, n)) {
        int first = mark > MEAN_OF ? mark - MEAN_OF : 0;
        double sum = 0;
        for (int i = first; i < mark; i++)
            sum += seconds[i];
        printf("%s\"%d\": %.1f", comma, mark, sum * 1e6 / (mark - first));
        comma = ", ";
    }
    printf("}");
}

static void open_all(double *seconds, int n)
{
    phase_begin();
    for (int i = 0; i < n; i++) {
        double from = crowd_now();
        members_open();
        seconds[i] = crowd_now() - from;
    }
    phase_print("open", phase_seconds());
    print_marks("open_us", seconds, n);
}

static void lock_all(int n)
{
    phase_begin();
    for (int i = 0; i < n; i++) {
        make_lock(i, member(i));
        crowd_check(pdk_mutex_lock(locks[i]), "lock");
    }
    phase_print("lock", phase_seconds());
}

/* From the last to the first, so that a figure is by how many there were. */
static void close_all(double *seconds, int n)
{
    phase_begin();
    for (int i = n; i-- > 0;) {
        double from = crowd_now();
        member_close(i);
        seconds[i] = crowd_now() - from;
    }
    phase_print("close", phase_seconds());
    print_marks("close_us", seconds, n);
}

void scenario_many_clients(void)
{
    int n = (int)crowd_key("clients");
    double *seconds = crowd_allocate((size_t)n, sizeof *seconds);
    locks = crowd_allocate((size_t)n, sizeof *locks);
    members_reserve(n);
    open_all(seconds, n);
    lock_all(n);
    hold();
    close_all(seconds, n);
    free_locks(n);
    members_free();
    free(seconds);
}

/* --- locks ------------------------------------------------------------------------------------------------------- */

static atomic_int n_granted;
static _Atomic double first_grant, last_grant; /* seconds of the phase */

static void on_granted(int rc, void *arg)
{
    (void)arg;
    crowd_check(rc, "lock");
    double at = phase_seconds();
    if (atomic_load(&n_granted) == 0)
        atomic_store(&first_grant, at);
    atomic_store(&last_grant, at);
    atomic_fetch_add(&n_granted, 1);
}

static void ask_all(int n)
{
    pdk_grant *g;
    phase_begin();
    for (int i = 0; i < n; i++)
        crowd_check(pdk_mutex_lock_async(locks[i], PDK_FOREVER, on_granted, NULL, &g), "lock");
    double asked = phase_seconds();
    while (atomic_load(&n_granted) < n) {
        if (phase_seconds() > (double)crowd_key("limit_s"))
            crowd_fail("%d of %d are granted after %ld s", atomic_load(&n_granted), n, crowd_key("limit_s"));
        crowd_nap(1e-3);
    }
    phase_print("lock", atomic_load(&last_grant));
    phase_add("ask_seconds", asked);
    phase_add("first_seconds", atomic_load(&first_grant));
}

void scenario_many_locks(void)
{
    int n = (int)crowd_key("locks");
    locks = crowd_allocate((size_t)n, sizeof *locks);
    members_reserve(1);
    members_open();
    for (int i = 0; i < n; i++)
        make_lock(i, member(0));
    ask_all(n);
    hold();
    phase_begin();
    member_close(0);
    phase_print("close", phase_seconds());
    free_locks(n);
    members_free();
}
