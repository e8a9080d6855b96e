/* Several runs' findings as one. */
#include "test/chaos/findings.h"

#include <stdio.h>

static void add_samples(struct samples *s, const struct samples *more)
{
    for (size_t i = 0; i < more->n; i++)
        sample(s, more->ns[i]);
}

static void add_tally(struct tally *t, const struct tally *more)
{
    t->seconds += more->seconds;
    t->processes += more->processes;
    t->requests += more->requests;
    t->grants += more->grants;
    t->nodes += more->nodes;
    t->txns += more->txns;
    t->discarded += more->discarded;
    for (int id = 0; id < N_FAULTS; id++)
        t->faults[id] += more->faults[id];
    for (int recipe = 0; recipe < N_RECIPES; recipe++)
        t->granted[recipe] += more->granted[recipe];
    t->jobs_begun += more->jobs_begun;
    t->jobs_done += more->jobs_done;
    t->jobs_skipped += more->jobs_skipped;
}

/* Notes stay with the run that they are about. */
void findings_add(struct findings *f, const struct findings *more)
{
    add_tally(&f->tally, &more->tally);
    for (int i = 0; i < more->n_breaches; i++) {
        if (i < TEXTS_MAX && f->n_breaches < TEXTS_MAX)
            snprintf(f->breach[f->n_breaches], sizeof f->breach[0], "%s", more->breach[i]);
        f->n_breaches++;
    }
    for (int known = 0; known < N_KNOWN; known++) {
        f->n_known[known] += more->n_known[known];
        if (more->longest_known_ns[known] > f->longest_known_ns[known])
            f->longest_known_ns[known] = more->longest_known_ns[known];
    }
    add_samples(&f->hand_over, &more->hand_over);
    add_samples(&f->calm_hand_over, &more->calm_hand_over);
    add_samples(&f->deadline, &more->deadline);
    add_samples(&f->margin, &more->margin);
    add_samples(&f->regrant, &more->regrant);
    add_samples(&f->lateness, &more->lateness);
    if (more->served_ns > f->served_ns)
        f->served_ns = more->served_ns;
}
