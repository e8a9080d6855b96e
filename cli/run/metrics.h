/*
 * The statistics of a session, in a file for the textfile collector of Prometheus' node exporter. A reader sees one
 * state or the next, never half of one: the file is written beside its name, and renamed.
 */
#ifndef PDK_CLI_METRICS_H
#define PDK_CLI_METRICS_H

#include "cli/options.h"

#include <paddock/client.h>

struct pdk__cli_metrics {
    const char *file; /* NULL: none */
    const struct pdk__cli_options *options;
    int64_t due;               /* when to write the next time; -1: never */
    bool complained;           /* that it could not be written */
    int64_t began_ms, took_ms; /* of the last job */
    int64_t ended_s;           /* unix time; 0: none has ended */
    int status;
    bool skipped;
    int64_t last_success_ms; /* when the last run began that counts, by the servers' clock; 0: none is known */
};

/* Why FILE cannot be written, as far as can be known; NULL: it can. */
const char *pdk__cli_metrics_check(const char *file);

void pdk__cli_metrics_begin(struct pdk__cli_metrics *m, const struct pdk__cli_options *o, const char *file);

/* Write now. C may be NULL: there is nothing to write yet. A failure leaves the last state; the first is
 * reported. */
void pdk__cli_metrics_write(struct pdk__cli_metrics *m, pdk_client *c);

/* The command begins; it has ended with STATUS, or was skipped with it. The next writing has it. */
void pdk__cli_metrics_job_begin(struct pdk__cli_metrics *m);
void pdk__cli_metrics_job_end(struct pdk__cli_metrics *m, int status, bool skipped);

/* Write if it is time, or if there is NEWS. */
void pdk__cli_metrics_step(struct pdk__cli_metrics *m, pdk_client *c, bool news);

#endif
