/*
 * A candidate for a leadership: it leads for a moment, resigns and is a candidate again, until it is asked to end.
 *
 *     candidate FILE HOSTS SESSION_MS PATH MOST_MS
 *
 * A term takes at most MOST_MS; see terms.h for what it writes into FILE.
 */
#include "test/show/terms.h"
#include "test/show/work.h"

#include <paddock.h>
#include <paddock/leader.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct terms *terms;
static pdk_client *client;
static pdk_leader *leader;

static bool leads(struct term *t)
{
    int64_t asked = work_now_ns();
    if (!pdk_leader_is_leader(leader))
        return false;
    atomic_store(&t->last_ns, asked);
    return true;
}

static void lead(int ms)
{
    int64_t n = atomic_load(&terms->n), token = 0, first = work_now_ns();
    struct term *t = &terms->all[n];
    pdk_leader_token(leader, &token);
    if (n >= TERMS_MAX || !pdk_leader_is_leader(leader))
        return;
    atomic_store(&t->token, token);
    atomic_store(&t->first_ns, first);
    atomic_store(&t->last_ns, first);
    atomic_store(&terms->n, n + 1);
    while (work_now_ns() - first < ms * INT64_C(1000000) && leads(t))
        work_nap();
    atomic_store(&t->ended_ns, work_now_ns());
}

static int make(const char *hosts, int session_ms, const char *path)
{
    pdk_client_options *o = pdk_client_options_new();
    if (o == NULL)
        return PDK_ENOMEM;
    int rc = pdk_client_options_set_session_timeout_ms(o, session_ms);
    if (rc == 0)
        rc = pdk_client_new(&client, hosts, o);
    pdk_client_options_free(o);
    return rc != 0 ? rc : pdk_leader_new(&leader, client, path, NULL);
}

/* A resignation that no server confirmed in time continues unasked. */
static int serve(int most_ms)
{
    int rc = pdk_leader_start(leader);
    while (rc == 0 && atomic_load(&terms->wish) == 0) {
        rc = pdk_leader_wait(leader, 100);
        if (rc == PDK_ETIMEDOUT) {
            rc = 0;
            continue;
        }
        if (rc == 0) {
            lead((int)(random() % most_ms) + 1);
            rc = pdk_leader_resign(leader);
        }
        if (rc == 0 || rc == PDK_EUNKNOWN)
            rc = pdk_leader_start(leader);
    }
    return rc;
}

int main(int argc, char **argv)
{
    if (argc != 6 || (terms = terms_open(argv[1])) == NULL)
        return 64;
    srandom((unsigned)getpid());
    int rc = make(argv[2], atoi(argv[3]), argv[4]);
    if (rc == 0)
        rc = serve(atoi(argv[5]));
    if (rc != 0)
        fprintf(stderr, "candidate: %s\n", pdk_strerror(rc));
    pdk_leader_free(leader);
    pdk_client_free(client);
    return rc != 0;
}
