/*
 * A program that works under a lock of the library's, as its users write them: it asks before each step.
 *
 *     holder HOSTS SESSION_MS
 *
 * Reads orders, one a line, and ends with its input:
 *     work FILE PATH    lock PATH, work until the lock is lost or the driver wishes the end, unlock
 */
#include "test/show/work.h"

#include <paddock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pdk_client *client;

/* The stamp is of the moment before the question: what it allows was allowed then. */
static bool may_work(struct work *w, pdk_mutex *m)
{
    int64_t before = atomic_load(&w->last_ns), asked = work_now_ns();
    pdk_state state = pdk_mutex_state(m);
    if (before != 0 && asked - before > STOPPED_MS * INT64_C(1000000) && atomic_load(&w->woke_ns) == 0) {
        atomic_store(&w->answer, state);
        atomic_store(&w->woke_ns, asked);
    }
    atomic_store(&w->state, state);
    if (state != PDK_HELD && state != PDK_SUSPECT)
        return false;
    work_stamp(w, asked);
    return true;
}

static void work(struct work *w, pdk_mutex *m)
{
    int64_t token = 0;
    pdk_mutex_token(m, &token);
    atomic_store(&w->token, token);
    atomic_store(&w->session, pdk_client_session_id(client));
    while (may_work(w, m) && atomic_load(&w->wish) == 0)
        work_nap();
    atomic_store(&w->ended_ns, work_now_ns());
}

static int obey(const char *file, const char *path)
{
    pdk_mutex *m = NULL;
    struct work *w = work_open(file);
    int rc = w != NULL ? pdk_mutex_new(&m, client, path, NULL) : PDK_ESYSTEM;
    if (rc == 0) {
        atomic_store(&w->pid, getpid());
        rc = pdk_mutex_lock(m);
    }
    if (rc == 0) {
        work(w, m);
        pdk_mutex_unlock(m);
    } else {
        fprintf(stderr, "holder: %s: %s\n", path, pdk_strerror(rc));
    }
    pdk_mutex_free(m);
    if (w != NULL)
        work_close(w);
    return rc;
}

static int make(const char *hosts, int session_ms)
{
    pdk_client_options *o = pdk_client_options_new();
    if (o == NULL)
        return PDK_ENOMEM;
    int rc = pdk_client_options_set_session_timeout_ms(o, session_ms);
    if (rc == 0)
        rc = pdk_client_new(&client, hosts, o);
    pdk_client_options_free(o);
    return rc;
}

int main(int argc, char **argv)
{
    char line[1024], file[512], path[256];
    int rc = argc == 3 ? make(argv[1], atoi(argv[2])) : PDK_EINVAL;
    while (rc == 0 && fgets(line, sizeof line, stdin) != NULL)
        if (sscanf(line, "work %511s %255s", file, path) == 2)
            rc = obey(file, path);
    if (rc != 0)
        fprintf(stderr, "holder: %s\n", pdk_strerror(rc));
    pdk_client_free(client);
    return rc != 0;
}
