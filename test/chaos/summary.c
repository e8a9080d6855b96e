#include "test/chaos/findings.h"

#include <stdio.h>

static double ms(int64_t ns) { return (double)ns / 1e6; }

static void print_faults(const struct tally *t)
{
    int total = 0, kinds = 0;
    for (int id = 0; id < N_FAULTS; id++) {
        total += t->faults[id];
        kinds += t->faults[id] > 0;
    }
    printf("faults           %d that took effect, of %d kinds\n", total, kinds);
    for (int id = 0; id < N_FAULTS; id++)
        if (t->faults[id] > 0)
            printf("  %5d          %s\n", t->faults[id], fault_name((enum fault_id)id));
}

static void print_recipes(const struct tally *t)
{
    for (int recipe = 0; recipe < N_RECIPES; recipe++)
        if (t->granted[recipe] > 0)
            printf("  %5zu          %s\n", t->granted[recipe], recipe_name((enum recipe)recipe));
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

void print_summary(const char *title, struct findings *f)
{
    const struct tally *t = &f->tally;
    printf("%s: %.1f s, %zu processes\n", title, t->seconds, t->processes);
    printf("requests         %zu, granted %zu\n", t->requests, t->grants);
    print_recipes(t);
    if (t->jobs_begun + t->jobs_skipped > 0)
        printf("jobs             %zu begun, %zu done, %zu skipped\n", t->jobs_begun, t->jobs_done, t->jobs_skipped);
    printf("transactions     %ld (and %ld that never happened), %zu nodes of the lock\n", t->txns, t->discarded,
           t->nodes);
    print_faults(t);
    print_samples("hand-over", &f->hand_over);
    print_samples("  without faults", &f->calm_hand_over);
    print_samples("deadline to end", &f->deadline);
    print_samples("lost before end", &f->margin);
    print_samples("lost to regrant", &f->regrant);
    print_samples("past deadline", &f->lateness);
    printf("all served       %.3f ms after the last fault\n", ms(f->served_ns));
    print_known(f);
    for (int i = 0; i < f->n_breaches && i < TEXTS_MAX; i++)
        printf("VIOLATION %s\n", f->breach[i]);
    printf("verdict: %d violations\n", f->n_breaches);
}
