#include "test/chaos/findings.h"

#include <inttypes.h>
#include <stdio.h>

static double ms(int64_t ns) { return (double)ns / 1e6; }

static void print_faults(const struct evidence *e)
{
    int total = 0, began[N_FAULTS] = {0};
    for (size_t i = 0; i < e->strikes.n; i++)
        if (e->strikes.list[i].took) {
            began[e->strikes.list[i].id]++;
            total++;
        }
    printf("faults           %d that took effect\n", total);
    for (int id = 0; id < N_FAULTS; id++)
        if (began[id] > 0)
            printf("  %5d          %s\n", began[id], fault_name((enum fault_id)id));
}

static void print_samples(const char *what, struct samples *s)
{
    if (s->n == 0)
        printf("%-16s none\n", what);
    else
        printf("%-16s %zu: min %.3f ms, median %.3f, p99 %.3f, max %.3f\n", what, s->n, ms(quantile(s, 0)),
               ms(quantile(s, 500)), ms(quantile(s, 990)), ms(quantile(s, 1000)));
}

static void print_known(const struct findings *f)
{
    for (int k = 0; k < N_KNOWN; k++)
        if (f->n_known[k] > 0)
            printf("known            %d, at most %.3f ms: %s\n", f->n_known[k], ms(f->longest_known_ns[k]),
                   known_name((enum known)k));
    for (int i = 0; i < f->n_notes && i < TEXTS_MAX; i++)
        printf("  %s\n", f->note[i]);
}

void print_summary(const struct evidence *e, struct findings *f)
{
    printf("seed %" PRId64 ", %.1f s, %" PRId64 " clients (%zu processes), sessions of %" PRId64
           " ms, ticks of %" PRId64 " ms\n",
           e->seed, at(e, e->end_ns), e->n_clients, e->processes.n, e->session_ms, e->tick_ms);
    printf("requests         %zu, granted %zu\n", e->requests.n, e->n_grants);
    printf("transactions     %ld (%ld never committed), %zu nodes of the lock\n", e->truth.n_txns, e->truth.n_discarded,
           e->truth.n);
    print_faults(e);
    print_samples("hand-over", &f->hand_over);
    print_samples("  without faults", &f->calm_hand_over);
    print_samples("lost before end", &f->margin);
    print_samples("lost to regrant", &f->regrant);
    print_samples("past deadline", &f->lateness);
    printf("all served       %.3f ms after the last fault\n", ms(f->served_ns));
    print_known(f);
    for (int i = 0; i < f->n_breaches && i < TEXTS_MAX; i++)
        printf("VIOLATION %s\n", f->breach[i]);
    printf("verdict: %d violations\n", f->n_breaches);
}
