/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nightly: a job that each machine of a fleet starts, and that is done once.
 *
 *     nightly HOST:PORT[,HOST:PORT...] PATH KEY <ORDERS
 *
 * A timer starts it on each machine, with the same KEY:
 *
 *     nightly "$HOSTS" /jobs/orders "$(date -u +%F)" <orders
 *
 * The first to lock PATH does the job. The others wait, then learn from the record PATH.last-run that the job is done
 * for this KEY, and do nothing. Where a machine dies in the job, or the job fails, the next one does it.
 *
 * A run whose lock was lost does not count, and another may have begun beside it. So what it has done must be harmless
 * when it is done twice, or be written under guard: examples/session_store.c.
 */
#include <inttypes.h>
#include <paddock.h>
#include <stdbool.h>
#include <stdio.h>

enum { LIMIT_MS = 3600000, USAGE = 64 };

/* The work: it counts the lines of its input. 0 is a success. A job that lasts asks pdk_lock_state() between its
 * steps. */
static int count_orders(const char *key)
{
    long n = 0;
    for (int c = getchar(); c != EOF; c = getchar())
        n += c == '\n';
    printf("%s: %ld orders\n", key, n);
    return n > 0 ? 0 : 1;
}

static void tell_done(pdk_once *job)
{
    const pdk_runs *runs = pdk_once_runs(job);
    printf("already done by %s, token %" PRId64 "\n", pdk_runs_text(runs, PDK_RUN_DONE, PDK_RUN_HOST),
           pdk_runs_number(runs, PDK_RUN_DONE, PDK_RUN_TOKEN));
}

/* Under the lock. 0: the job is done for KEY. */
static int run_once(pdk_once *job, const char *key)
{
    int rc = pdk_once_begin(job, NULL, LIMIT_MS);
    if (rc == PDK_EDONE) {
        tell_done(job);
        return 0;
    }
    if (rc != 0)
        return rc;
    printf("begun\n");
    fflush(stdout);
    int status = count_orders(key);
    rc = pdk_once_end(job, status, LIMIT_MS);
    if (rc == 0)
        printf("recorded: %s\n", status == 0 ? "a success" : "a failure, so the next one does the job");
    return rc != 0 ? rc : status;
}

int main(int argc, char **argv)
{
    pdk_client *client = NULL;
    pdk_mutex *mutex = NULL;
    pdk_once *job = NULL;
    char why[300];
    if (argc != 4) {
        fprintf(stderr, "usage: nightly HOST:PORT[,HOST:PORT...] PATH KEY\n");
        return USAGE;
    }
    int rc = pdk_client_new(&client, argv[1], NULL);
    if (rc == 0)
        rc = pdk_mutex_new(&mutex, client, argv[2], NULL);
    if (rc == 0)
        rc = pdk_once_new(&job, mutex, argv[3], 0);
    if (rc == 0)
        rc = pdk_mutex_timedlock(mutex, LIMIT_MS);
    if (rc == 0)
        rc = run_once(job, argv[3]);
    if (rc < 0) { /* PDK_ELOST: the run does not count */
        bool told = pdk_lock_last_error(mutex, why, sizeof why) > 0;
        fprintf(stderr, "nightly: %s\n", told ? why : pdk_strerror(rc));
    }
    if (mutex != NULL)
        pdk_mutex_unlock(mutex); /* the end of the run has had its own answer */
    pdk_once_free(job);
    pdk_lock_free(mutex);
    pdk_client_free(client);
    return rc != 0;
}
