#include "cli/queue.h"

#include "cli/number.h"
#include "cli/owner.h"
#include "cli/wire.h"

#include <paddock/contenders.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_MS = 300, EVERY_MS = 2000 };

struct pdk__cli_queue {
    pthread_t thread;
    pdk_client *client;
    const char *path;
    int wire;
    int rest;
};

/* Our place, from 0, or -1. Junk stands behind everybody, and counts for nothing. */
static long place(const pdk_contender_list *list, int64_t session, long *n)
{
    long ours = -1;
    *n = 0;
    for (size_t i = 0; i < pdk_contender_list_size(list); i++) {
        if (pdk_contender_dialect(list, i) == PDK_DIALECT_JUNK)
            continue;
        if (ours < 0 && session != 0 && pdk_contender_session(list, i) == session)
            ours = *n;
        ++*n;
    }
    return ours;
}

static void describe(const struct pdk__cli_queue *q, const pdk_contender_list *list, char *text, size_t size)
{
    char owner[320], held[32];
    long n, ours = place(list, pdk_client_session_id(q->client), &n);
    if (n == 0 || ours == 0) {
        snprintf(text, size, "paddock: waiting for %s", q->path);
        return;
    }
    pdk__cli_owner(list, 0, owner, sizeof owner);
    pdk__cli_duration((int64_t)time(NULL) * 1000 - pdk_contender_since_ms(list, 0), held);
    if (ours > 0)
        snprintf(text, size, "paddock: waiting for %s: place %ld of %ld, held by %s, queued %s ago", q->path, ours,
                 n - 1, owner, held);
    else
        snprintf(text, size, "paddock: waiting for %s: held by %s, queued %s ago", q->path, owner, held);
}

static bool rested(const struct pdk__cli_queue *q, int ms)
{
    struct pollfd fd = {.fd = q->rest, .events = POLLIN};
    return poll(&fd, 1, ms) > 0;
}

static void *watch(void *arg)
{
    struct pdk__cli_queue *q = arg;
    for (int ms = FIRST_MS; !rested(q, ms); ms = EVERY_MS) {
        struct pdk__cli_note note = {.kind = NOTE_QUEUE};
        pdk_contender_list *list = NULL;
        int rc = pdk_contenders(q->client, q->path, EVERY_MS, &list);
        if (rc == 0)
            describe(q, list, note.text, sizeof note.text);
        else
            snprintf(note.text, sizeof note.text, "paddock: waiting for %s: %s", q->path, pdk_strerror(rc));
        pdk_contender_list_free(list);
        if (rested(q, 0) || pdk_err_fatal(rc))
            break;
        pdk__cli_wire_send(q->wire, &note);
    }
    return NULL;
}

struct pdk__cli_queue *pdk__cli_queue_watch(pdk_client *c, const char *path, int wire)
{
    struct pdk__cli_queue *q = calloc(1, sizeof *q);
    if (q == NULL)
        return NULL;
    *q = (struct pdk__cli_queue){.client = c, .path = path, .wire = wire, .rest = eventfd(0, EFD_CLOEXEC)};
    if (q->rest >= 0 && pthread_create(&q->thread, NULL, watch, q) == 0)
        return q;
    if (q->rest >= 0)
        close(q->rest);
    free(q);
    return NULL;
}

void pdk__cli_queue_rest(struct pdk__cli_queue *q)
{
    if (q != NULL)
        eventfd_write(q->rest, 1);
}

void pdk__cli_queue_free(struct pdk__cli_queue *q)
{
    if (q == NULL)
        return;
    pthread_join(q->thread, NULL);
    close(q->rest);
    free(q);
}
