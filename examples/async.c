/* SPDX-License-Identifier: Apache-2.0 */
/*
 * async: many locks at once, and no thread that waits for any of them.
 *
 *     async HOST:PORT[,HOST:PORT...] /PATH [N]
 *
 * N locks (default 8) below PATH are requested at once. Callbacks run on the client's thread, one at a time. They only
 * note the answer; long work is done elsewhere, here on the main thread. A lock that does not come within LIMIT_MS is
 * reported by its callback. A request that is no longer wanted is cancelled, and its callback still comes.
 */
#include <inttypes.h>
#include <paddock.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIMIT_MS = 20000, LOCKS_MAX = 1000 };

struct job {
    pdk_mutex *mutex;
    pdk_grant *grant;
    int rc;
    struct job *next; /* among the answered ones */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t come = PTHREAD_COND_INITIALIZER;
static struct job *arrived;

/* On the client's thread: note the answer, and return. */
static void on_answer(int rc, void *arg)
{
    struct job *j = arg;
    pthread_mutex_lock(&lock);
    j->rc = rc;
    j->next = arrived;
    arrived = j;
    pthread_cond_signal(&come);
    pthread_mutex_unlock(&lock);
}

static struct job *take(void)
{
    pthread_mutex_lock(&lock);
    while (arrived == NULL)
        pthread_cond_wait(&come, &lock);
    struct job *j = arrived;
    arrived = j->next;
    pthread_mutex_unlock(&lock);
    return j;
}

static int ask(struct job *j, pdk_client *c, const char *path, int i)
{
    char whole[512];
    snprintf(whole, sizeof whole, "%s/%d", path, i);
    int rc = pdk_mutex_new(&j->mutex, c, whole, NULL);
    return rc != 0 ? rc : pdk_mutex_lock_async(j->mutex, LIMIT_MS, on_answer, j, &j->grant);
}

/* The work is short here. Longer work asks pdk_grant_valid_ms() before each step. The handle ends in any case. */
static int do_work(const struct job *jobs, struct job *j)
{
    int64_t token;
    int rc = j->rc != 0 ? j->rc : pdk_grant_token(j->grant, &token, NULL);
    if (rc == 0)
        printf("held %d, token %" PRId64 "\n", (int)(j - jobs), token);
    else
        printf("refused %d: %s\n", (int)(j - jobs), pdk_strerror(rc));
    fflush(stdout);
    int gone = pdk_grant_release(j->grant); /* the grant is no thread's: any may release it */
    return rc != 0 ? rc : gone;
}

static void give_up(struct job *jobs, int from, int n)
{
    for (int i = from; i < n; i++)
        pdk_grant_cancel(jobs[i].grant);
}

static int run(struct job *jobs, pdk_client *c, const char *path, int n)
{
    int asked = 0, rc = 0;
    while (asked < n && (rc = ask(&jobs[asked], c, path, asked)) == 0)
        asked++;
    if (rc != 0)
        give_up(jobs, 0, asked);
    for (int i = 0; i < asked; i++) { /* every callback comes, once */
        int worked = do_work(jobs, take());
        rc = rc != 0 ? rc : worked;
    }
    return rc;
}

int main(int argc, char **argv)
{
    pdk_client *c = NULL;
    int n = argc == 4 ? atoi(argv[3]) : 8;
    if (argc < 3 || argc > 4 || n < 1 || n > LOCKS_MAX) {
        fprintf(stderr, "usage: async HOST:PORT[,HOST:PORT...] /PATH [N]\n");
        return 64;
    }
    struct job *jobs = calloc((size_t)n, sizeof *jobs);
    int rc = jobs != NULL ? pdk_client_new(&c, argv[1], NULL) : PDK_ENOMEM;
    if (rc == 0)
        rc = run(jobs, c, argv[2], n);
    if (rc != 0)
        fprintf(stderr, "async: %s\n", pdk_strerror(rc));
    pdk_client_close(c);
    for (int i = 0; jobs != NULL && i < n; i++)
        pdk_lock_free(jobs[i].mutex);
    pdk_client_free(c);
    free(jobs);
    return rc != 0;
}
