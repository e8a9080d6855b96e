/*
 * The jobs of a worker: a holder of the mutex runs the job of the time, once for a KEY or once in a period, whichever
 * worker comes first (paddock/once.h). Some runs fail, and some workers are late with their KEY. The judge compares
 * what was answered and what the servers recorded.
 *
 * A thread has one job at a time.
 */
#ifndef PDK__TEST_JOB_H
#define PDK__TEST_JOB_H

#include "test/lib/dice.h"
#include "test/lib/history.h"
#include <paddock.h>

/* Begin a run under the grant TOKEN of the request of that number; G as of pdk_once_begin(). True: the work is to be
 * done, and job_end() to be called before the unlock. */
bool job_begin(struct history *h, pdk_mutex *m, pdk_grant *g, int request, int64_t token, struct dice *dice);
void job_end(struct history *h, int request, struct dice *dice);

#endif
