#include "cli/run/wait_line.h"

#include "cli/conflicts.h"
#include "cli/message.h"
#include "cli/number.h"
#include "cli/owner.h"
#include "cli/run/channel.h"
#include "cli/target.h"
#include "lib/assert.h"

#include <paddock/contenders.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* Each look costs a listing and two requests, for each waiter, and for a permit a second listing. So the looks become
 * rarer, from FIRST_MS to LAST_MS. The connection is looked at each LINK_MS, which costs no request. */
enum { FIRST_MS = 300, SECOND_MS = 2000, LAST_MS = 32000, PATIENCE_MS = 5000, LINK_MS = 1000, HOLDER = 320 };

enum order { WATCH, REST, END };

struct pdk__cli_wait_line {
    pthread_t thread;
    pdk_client *client;
    const struct pdk__cli_options *options;
    int channel;
    int wake;                     /* readable: there is an order */
    atomic_int order;             /* the last one, an enum order */
    bool apart;                   /* no server was connected at the last look */
    unsigned reported;            /* conflicts with other contenders */
    char reported_holder[HOLDER]; /* the last reported holder */
};

/* Where we stand among those who wait, from 1, or 0 when that is not known; and who holds, by the list's index. */
struct standing {
    long at, of;
    long holder; /* -1: nobody, or ourselves */
};

/* Our place, from 0, or -1; names of ours begin with the session. Junk comes last and blocks no contender, so it
 * does not count. */
static long place(const pdk_contender_list *list, int64_t session, long *n)
{
    char own[24];
    long ours = -1;
    snprintf(own, sizeof own, "%016llx-", (unsigned long long)session);
    *n = 0;
    for (size_t i = 0; i < pdk_contender_list_size(list); i++) {
        if (pdk__cli_is_junk(list, i))
            continue;
        if (ours < 0 && session != 0 && strncmp(pdk_contender_text(list, i, PDK_CONTENDER_NAME), own, strlen(own)) == 0)
            ours = *n;
        ++*n;
    }
    return ours;
}

static struct standing in_queue(const pdk_contender_list *list, int64_t session)
{
    long n, ours = place(list, session, &n);
    if (n == 0 || ours == 0)
        return (struct standing){.holder = -1};
    assert(ours < n);
    return (struct standing){.at = ours > 0 ? ours : 0, .of = n - 1};
}

/* Of those who wait for permits the first holds the gate, and may have nodes among the permits. Junk holds permits,
 * too, and comes last. */
static struct standing before_gate(const pdk_contender_list *permits, const pdk_contender_list *gate, int64_t session)
{
    long n, waiting, size = (long)pdk_contender_list_size(permits);
    long ours = place(permits, session, &n), at = place(gate, session, &waiting);
    return (struct standing){.at = at + 1, .of = waiting, .holder = ours != 0 && n > 0 ? 0 : n < size ? size - 1 : -1};
}

/* TEXT is the line, the place before the holder because a narrow terminal cuts its end. HOLDER is the part whose
 * change makes -v print the line again. */
static void describe(const struct standing *standing, const char *of, const pdk_contender_list *list, char *text,
                     size_t size, char holder[HOLDER])
{
    char path[PDK__CLI_SHORT], position[64] = "";
    size_t first = (size_t)standing->holder;
    pdk__cli_short(of, path);
    if (standing->holder < 0) {
        *holder = '\0';
        snprintf(text, size, "waiting for %s", path);
        return;
    }
    pdk__cli_owner(list, first, holder, HOLDER);
    if (standing->at > 0)
        snprintf(position, sizeof position, "place %ld of %ld, ", standing->at, standing->of);
    snprintf(text, size, "waiting for %s: %sheld by %s%s%s", path, position, holder,
             pdk__cli_is_junk(list, first) ? " (junk)" : "",
             pdk_contender_number(list, first, PDK_CONTENDER_REVOKED) ? ", who was asked for it" : "");
}

static void warn(struct pdk__cli_wait_line *q, const char *path, const pdk_contender_list *list)
{
    struct pdk__cli_conflicts conflicts = {0};
    pdk__cli_conflicts_add_own(&conflicts, q->options->confirmed, q->options->lock_delay_ms > 0);
    pdk__cli_conflicts_add(&conflicts, list);
    if (!q->options->quiet)
        pdk__cli_conflicts_report(&conflicts, &q->reported, path);
}

/* Within MS, or without a limit when it is -1. */
static bool stopped(const struct pdk__cli_wait_line *q, int64_t ms)
{
    struct pollfd fd = {.fd = q->wake, .events = POLLIN};
    eventfd_t n;
    if (poll(&fd, 1, (int)ms) > 0)
        eventfd_read(q->wake, &n);
    return q->order != WATCH;
}

static bool is_apart(const struct pdk__cli_wait_line *q)
{
    pdk_session_state state = pdk_client_state(q->client);
    return state == PDK_SESSION_CONNECTING || state == PDK_SESSION_SUSPENDED;
}

/* Let MS pass, less when the connection is lost or there again. False: the wait is over. */
static bool pause_for(const struct pdk__cli_wait_line *q, int64_t ms)
{
    int64_t until = pdk__cli_now_ms() + ms, left;
    bool tells = q->channel >= 0 || q->options->verbose > 0;
    while ((left = until - pdk__cli_now_ms()) > 0 && is_apart(q) == q->apart)
        if (stopped(q, tells && left > LINK_MS ? LINK_MS : left))
            return false;
    return q->order == WATCH;
}

/* On a terminal the line is drawn again; for -v without one, it is printed when the holder has changed. */
static void report(struct pdk__cli_wait_line *q, const char *text, const char *holder)
{
    struct pdk__cli_note note = {.kind = NOTE_QUEUE};
    snprintf(note.text, sizeof note.text, "paddock: %s", text);
    if (q->channel >= 0)
        pdk__cli_channel_send(q->channel, &note);
    else if (q->options->verbose && strcmp(q->reported_holder, holder) != 0)
        pdk__cli_message("%s", text);
    snprintf(q->reported_holder, sizeof q->reported_holder, "%s", holder);
}

/* Of several paths, the first on which another is before us. */
static int find(struct pdk__cli_wait_line *q, const char **path, pdk_contender_list **list, struct standing *standing)
{
    int rc = 0;
    for (unsigned i = 0; rc == 0 && pdk__cli_options_path_at(q->options, i) != NULL; i++) {
        *path = pdk__cli_options_path_at(q->options, i);
        pdk_contender_list_free(*list);
        *list = NULL;
        rc = pdk_contenders(q->client, *path, 1, PATIENCE_MS, list);
        if (rc == 0)
            *standing = in_queue(*list, pdk_client_session_id(q->client));
        if (rc == 0 && standing->at > 0)
            break;
    }
    return rc;
}

static int list_below(struct pdk__cli_wait_line *q, const char *name, size_t n, pdk_contender_list **list)
{
    char *path = NULL;
    int rc = asprintf(&path, "%s/%s", q->options->path, name) >= 0 ? 0 : PDK_ENOMEM;
    if (rc == 0) {
        rc = pdk_contenders(q->client, path, n, PATIENCE_MS, list);
        free(path);
    }
    return rc;
}

static int find_permits(struct pdk__cli_wait_line *q, pdk_contender_list **list, struct standing *standing)
{
    pdk_contender_list *gate = NULL;
    int rc = list_below(q, "leases", 1, list);
    if (rc == 0)
        rc = list_below(q, "locks", 0, &gate);
    if (rc == 0)
        *standing = before_gate(*list, gate, pdk_client_session_id(q->client));
    pdk_contender_list_free(gate);
    return rc;
}

/* Nothing is printed once the wait is over. Returns whether to look again. */
static bool look(struct pdk__cli_wait_line *q)
{
    char text[700], path[PDK__CLI_SHORT], holder[HOLDER];
    const char *of = q->options->path;
    pdk_contender_list *list = NULL;
    struct standing standing = {.holder = -1};
    int rc = PDK_EDISCONNECTED;
    q->apart = is_apart(q);
    if (!q->apart)
        rc = q->options->limit > 0 ? find_permits(q, &list, &standing) : find(q, &of, &list, &standing);
    if (pdk_err_fatal(rc))
        q->order = END;
    bool over = stopped(q, 0);
    if (rc == 0) {
        describe(&standing, of, list, text, sizeof text, holder);
    } else {
        snprintf(holder, sizeof holder, "%s", pdk_strerror(rc));
        snprintf(text, sizeof text, "waiting for %s: %s", pdk__cli_short(of, path), holder);
    }
    if (rc == 0 && !over && !q->options->elect)
        warn(q, of, list);
    if (!over)
        report(q, text, holder);
    pdk_contender_list_free(list);
    return !over;
}

/* One wait, to its end. */
static void watch(struct pdk__cli_wait_line *q, unsigned *seed)
{
    q->apart = is_apart(q);
    *q->reported_holder = '\0';
    bool again = !stopped(q, FIRST_MS) && look(q);
    for (int64_t ms = SECOND_MS; again; ms = ms < LAST_MS ? 2 * ms : LAST_MS)
        again = pause_for(q, ms / 2 + rand_r(seed) % ms) && look(q); /* not all at the same time */
}

static void *run(void *arg)
{
    struct pdk__cli_wait_line *q = arg;
    unsigned seed = (unsigned)(getpid() ^ time(NULL));
    while (q->order != END)
        if (!stopped(q, q->order == WATCH ? 0 : -1))
            watch(q, &seed);
    return NULL;
}

struct pdk__cli_wait_line *pdk__cli_wait_line_watch(pdk_client *c, const struct pdk__cli_options *o, int channel)
{
    struct pdk__cli_wait_line *q = calloc(1, sizeof *q);
    if (q == NULL)
        return NULL;
    *q = (struct pdk__cli_wait_line){.client = c,
                                     .options = o,
                                     .channel = channel,
                                     .reported = 1U << CONFLICT_RECIPES /* the library warns of it */,
                                     .wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (q->wake >= 0 && pthread_create(&q->thread, NULL, run, q) == 0)
        return q;
    if (q->wake >= 0)
        close(q->wake);
    free(q);
    return NULL;
}

static void give(struct pdk__cli_wait_line *q, enum order order)
{
    if (q == NULL)
        return;
    q->order = order;
    eventfd_write(q->wake, 1);
}

void pdk__cli_wait_line_stop(struct pdk__cli_wait_line *q) { give(q, REST); }

void pdk__cli_wait_line_again(struct pdk__cli_wait_line *q) { give(q, WATCH); }

void pdk__cli_wait_line_free(struct pdk__cli_wait_line *q)
{
    if (q == NULL)
        return;
    give(q, END);
    pthread_join(q->thread, NULL);
    close(q->wake);
    free(q);
}
