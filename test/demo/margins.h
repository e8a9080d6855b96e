/*
 * The results of a demo's runs: the time from a holder's last work to the next holder's first.
 */
#ifndef DEMO_MARGINS_H
#define DEMO_MARGINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* One run of one holder. */
struct outcome {
    int64_t fault_ns;  /* the fault began */
    int64_t struck_ns; /* and was complete */
    int64_t last_ns;   /* the holder worked for the last time */
    int64_t until_ns;  /* the last deadline it was given; 0: none */
    int64_t gone_ns;   /* its node was seen to be deleted; 0: it was not seen */
    int64_t next_ns;   /* the next holder began to work */
};

struct outcomes {
    const char *who;
    struct outcome *all;
    size_t n;
};

/* True when there was room. */
bool outcomes_add(struct outcomes *o, const struct outcome *one);
void outcomes_free(struct outcomes *o);

/* The number of runs in which the holder stopped before the next began; in which it stopped before its node was
 * deleted; in which the deadline was before its node was deleted. */
size_t outcomes_in_time(const struct outcomes *o);
size_t outcomes_before_gone(const struct outcomes *o);
size_t outcomes_due_before_gone(const struct outcomes *o);

/* Times of all runs, in milliseconds: from the holder's last work to the next holder's first, and to the deletion of
 * its node; and from the fault to the holder's last work. */
struct spread {
    double min_ms, median_ms, max_ms;
};
struct spread outcomes_to_next(const struct outcomes *o);
struct spread outcomes_to_gone(const struct outcomes *o);
struct spread outcomes_worked_on(const struct outcomes *o);
struct spread outcomes_due_to_gone(const struct outcomes *o); /* from the deadline to the deletion of the node */

/* The head of a table, and a row: lines of a test's log. */
void outcomes_head(FILE *out);
void outcomes_row(const struct outcomes *o, FILE *out);

/* The same and every run, as a JSON object, without a line's end. */
void outcomes_json(const struct outcomes *o, FILE *out);

#endif
