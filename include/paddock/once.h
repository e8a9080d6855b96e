/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs that run once: once for a KEY, or once in a period, on whichever machine.
 *
 * A job is tied to a lock, and beside the lock's PATH stands the record of its runs: the ordinary node PATH.last-run. A
 * program that schedules its own jobs locks, and then
 *
 *     pdk_once_begin()   answers PDK_EDONE when the job is done; else the run is recorded, and is to be done now
 *     pdk_once_end()     records how it ended, while the lock is still held
 *
 * Caveats, first:
 *  - Both writes are under guard (guarded.h): a holder that has lost the lock records nothing. But its work may go on.
 *    A run that ends without a record did not succeed, and the next contender does the job again.
 *  - Time is the servers' alone. The age of the last run is the difference of two times that the leader gave: of the
 *    write that recorded its beginning, and of the creation of the contender's own node (or of a write after a long
 *    wait). Neither clocks nor time zones of clients enter. When another server becomes the leader, the age is wrong by
 *    the difference of their two clocks: a job of a period P runs again after P less that difference at the earliest.
 *  - Every client that may write the record can forge it, and so suppress a run. An ACL prevents that: doc/security.md.
 *
 * An object is for one lock and one job. Any thread; one call at a time.
 */
#ifndef PADDOCK_ONCE_H
#define PADDOCK_ONCE_H

#include <paddock/lock.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- the record --------------------------------------------------------------------------------------------------- */

typedef struct pdk_runs pdk_runs;

typedef enum pdk_run {
    PDK_RUN_LAST = 0, /* that began last, however it ended */
    PDK_RUN_DONE = 1  /* the last one that counts: that succeeded, unless pdk_once_set_any() */
} pdk_run;

typedef enum pdk_run_property {
    /* Text; "" where it is not known. */
    PDK_RUN_KEY,
    PDK_RUN_HOST,
    PDK_RUN_LABEL,
    /* Numbers; 0 where they are not known. */
    PDK_RUN_PID,
    PDK_RUN_TOKEN,     /* of the lock at that time; 0: there was no such run */
    PDK_RUN_PERIOD_MS, /* the period of its job; 0: it has a KEY */
    PDK_RUN_BEGUN_MS,  /* since 1970, by the clock of the leader of the ensemble */
    PDK_RUN_ENDED_MS,  /* likewise; 0: no end is recorded */
    PDK_RUN_STATUS     /* as pdk_once_end() got it; -1: no end is recorded */
} pdk_run_property;

/* Read the record beside PATH. *RUNS is the caller's, to be given to pdk_runs_free(). Errors as of pdk_contenders();
 * PDK_ENOENT: there is no record. PDK_ERECORD: none that can be read, or one with a token larger than the number of its
 * own write; pdk_client_last_error() tells which. */
int pdk_runs_read(pdk_client *c, const char *path, int64_t timeout_ms, pdk_runs **runs);
void pdk_runs_free(pdk_runs *runs);

/* A property of one run. Any client may have written it. Text is borrowed. RUNS may be NULL. */
const char *pdk_runs_text(const pdk_runs *runs, pdk_run which, pdk_run_property property);
int64_t pdk_runs_number(const pdk_runs *runs, pdk_run which, pdk_run_property property);

/* --- a job -------------------------------------------------------------------------------------------------------- */

typedef struct pdk_once pdk_once;

/* The bytes of a KEY, and the longest period: ten years. A record remembers the last 128 KEYs. */
#define PDK_ONCE_KEY_MAX 200
#define PDK_ONCE_PERIOD_MAX_MS INT64_C(315360000000)

/*
 * Create a job under the lock L: one that is done once for KEY, or once in PERIOD_MS. Exactly one of them is given: the
 * other is NULL or 0. No request. The record is that of the first path of L, which must stay until the job is freed.
 *
 * PDK_EINVAL: KEY is no text of 1 to 200 bytes in UTF-8, or has control characters; the period is negative or too long.
 * PDK_EPATH: the name of the record is too long. PDK_ENOMEM, PDK_ECLOSED, PDK_EFORKED.
 */
int pdk_once_new(pdk_once **out, pdk_lock *l, const char *key, int64_t period_ms);

/* Free it. PDK_EBUSY: a call is under way. NULL is allowed. */
int pdk_once_free(pdk_once *o);

/* Count every run from its beginning: at most once, whatever becomes of it. Default: the runs that end with status 0.
 * Before the first call. PDK_EINVAL, PDK_EFORKED. */
int pdk_once_set_any(pdk_once *o, bool any);

/*
 * Look whether the job is done, without the lock: one request, no write. A job with a period is only known to be done
 * once it holds the lock, so it is answered 0 here.
 *
 * 0: it is to be done, as far as the server knows that the client is connected to. PDK_EDONE: it is done.
 * PDK_ERECORD: the record cannot be read. PDK_EACCES, PDK_EREFUSED, PDK_ETIMEDOUT, PDK_EDISCONNECTED, PDK_ENOMEM,
 * PDK_EBUSY: a call is under way. PDK_EINVAL, PDK_EDEADLK, PDK_ECLOSED, PDK_EEXPIRED, PDK_EFORKED.
 */
int pdk_once_ask(pdk_once *o, int64_t timeout_ms);

/*
 * Begin a run under the grant G, or, where it is NULL, under the caller's (by the rule of pdk_lock_state()). One to
 * three reads, and one write; where the job is done, no write, unless the caller has waited for so long that it needs
 * the present time.
 *
 * 0: it is recorded, and is to be done now.
 * PDK_EDONE: the job is done; pdk_once_runs() tells by which run.
 * PDK_ERECORD: the record cannot be read; or it cannot be true: it has a token larger than the lock's, or a beginning
 * more than a period in the future; or other clients keep writing it. pdk_lock_last_error() tells which. No run is to
 * be done.
 * PDK_ELOST: the lock is lost. PDK_EPERM: there is no grant. PDK_ENOTSUP: the grant excludes no other.
 * PDK_EUNKNOWN: the run may be recorded. The same call can be made again. Other errors as of pdk_guarded_set(), except
 * PDK_ECONFLICT.
 */
int pdk_once_begin(pdk_once *o, pdk_grant *g, int64_t timeout_ms);

/*
 * Record the end of the run that has begun, with STATUS: 0 for a success, else 1 to 255. One write.
 *
 * 0: it is recorded. PDK_ELOST: the lock was lost, and it is not recorded, nor will be; where a reply was lost and
 * another run has begun since, it may have been. PDK_EUNKNOWN: it may be, and the same call can be made again.
 * PDK_ERECORD: other clients keep writing the record; or the lock was lost, the record cannot be read, and the end may
 * be recorded.
 * PDK_EPERM: no run has begun. Other errors as of pdk_guarded_set(), except PDK_ECONFLICT.
 */
int pdk_once_end(pdk_once *o, int status, int64_t timeout_ms);

/* The same without waiting. CB is called exactly once, later, with the outcome; never if the call returned an error.
 * PDK_EDISCONNECTED and PDK_EUNKNOWN, also from CB: make the same call again once a server is connected. */
int pdk_once_ask_async(pdk_once *o, pdk_lock_cb cb, void *arg);
int pdk_once_begin_async(pdk_once *o, pdk_grant *g, pdk_lock_cb cb, void *arg);
int pdk_once_end_async(pdk_once *o, int status, pdk_lock_cb cb, void *arg);

/* The record as the last call has read or written it; borrowed until the next call. NULL before the first. */
const pdk_runs *pdk_once_runs(pdk_once *o);

/* The age of the run that counts, in milliseconds by the servers' clocks, as pdk_once_begin() has found it; -1: it was
 * not asked, or there is no such run. */
int64_t pdk_once_age_ms(pdk_once *o);

#ifdef __cplusplus
}
#endif

#endif
