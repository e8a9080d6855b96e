/*
 * The library watches each path, and its callback says which has changed. A write into a contender's node, such as a
 * request for revocation, fires no such watch. So each path is listed again after FALLBACK_MS as well. At least GAP_MS
 * are between two listings of a path, also when it changes all the time.
 *
 * The contenders of a semaphore stand below its path, in two places. While the path is one, both are watched as well.
 */
#include "cli/look/watch.h"

#include "cli/conflicts.h"
#include "cli/connect.h"
#include "cli/json.h"
#include "cli/look/view.h"
#include "cli/message.h"
#include "cli/number.h"
#include "cli/screen.h"

#include <paddock/contenders.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* A listing takes at most LOOK_MS. The ages on a screen are drawn again each DRAW_MS. */
enum { GAP_MS = 200, FALLBACK_MS = 5000, LOOK_MS = 5000, DRAW_MS = 1000 };

enum { PARTS = 3 };

/* Of a place: the path itself, and where the contenders of a semaphore stand. */
static const char *const parts[PARTS] = {"", "/leases", "/locks"};

struct place {
    const char *path;
    pdk_contenders_observer *observers[PARTS]; /* NULL: that part is not watched */
    struct pdk__cli_view view;                 /* as it was shown last; its list is NULL: not yet */
    atomic_bool changed;
    int64_t looked_ms;
    int failed;        /* the last listing, with this */
    unsigned reported; /* conflicts of its contenders */
    int news;
};

struct watch {
    struct pdk__cli_options *options;
    bool json;
    pdk_client *client;
    struct place *places;
    size_t n;
    int news; /* an eventfd: a place has changed, or the session has */
    struct pdk__cli_screen screen;
    bool connected; /* as it was told last */
    bool printed;   /* a block, so that a line comes between it and the next */
};

/* --- what is shown ----------------------------------------------------------------------------------------------- */

static void print_heading(FILE *out, const struct place *p)
{
    char path[512], counts[128], stamp[32] = "";
    time_t now = time(NULL);
    struct tm utc;
    pdk__cli_view_counts(&p->view, counts, sizeof counts);
    pdk__cli_printable(path, sizeof path, (int)sizeof path - 1, p->path);
    if (gmtime_r(&now, &utc) != NULL)
        strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &utc);
    fprintf(out, "%s %s: %s\n", stamp, path, counts);
}

static void print_block(FILE *out, const struct place *p)
{
    print_heading(out, p);
    pdk__cli_view_table(out, &p->view);
}

static void draw(const struct watch *w)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return;
    if (!w->connected)
        fputs("The connection is lost: this is how it was.\n", out);
    for (size_t i = 0; i < w->n; i++) {
        fputs(i > 0 ? "\n" : "", out);
        if (w->places[i].failed != 0)
            fprintf(out, "%s: this is how it was.\n", pdk_strerror(w->places[i].failed));
        if (w->places[i].view.list != NULL)
            print_block(out, &w->places[i]);
    }
    if (fclose(out) == 0)
        pdk__cli_screen_draw(text);
    free(text);
}

static int written(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    pdk__cli_message("cannot write to standard output");
    return STATUS_INTERNAL;
}

static void report_conflicts(const struct watch *w, struct place *p)
{
    struct pdk__cli_conflicts conflicts = {0};
    pdk__cli_conflicts_add(&conflicts, pdk__cli_view_contenders(&p->view));
    if (!w->options->quiet)
        pdk__cli_conflicts_report(&conflicts, &p->reported, p->path);
}

static int show(struct watch *w, struct place *p)
{
    if (w->json)
        return pdk__cli_json_print(pdk__cli_view_report(&p->view, p->path));
    if (w->screen.open) {
        draw(w);
        return written();
    }
    fputs(w->printed ? "\n" : "", stdout);
    w->printed = true;
    print_block(stdout, p);
    int status = written();
    if (status == 0)
        report_conflicts(w, p);
    return status;
}

/* --- a look ------------------------------------------------------------------------------------------------------ */

/* On the thread of the callbacks. */
static void place_changed(void *arg)
{
    struct place *p = arg;
    p->changed = true;
    eventfd_write(p->news, 1);
}

static int observe(struct watch *w, struct place *p, size_t part)
{
    char *path = NULL;
    if (asprintf(&path, "%s%s", p->path, parts[part]) < 0)
        return PDK_ENOMEM;
    int rc = pdk_contenders_observe(&p->observers[part], w->client, path, place_changed, p);
    free(path);
    return rc;
}

/* An observer that is new reports at once, so nothing is missed between the listing and it. */
static int observe_parts(struct watch *w, struct place *p)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < PARTS; i++) {
        bool wanted = i == 0 || pdk__cli_view_is_semaphore(&p->view);
        if (wanted && p->observers[i] == NULL)
            rc = observe(w, p, i);
        if (!wanted) {
            pdk_contenders_observer_free(p->observers[i]);
            p->observers[i] = NULL;
        }
    }
    return rc;
}

static int look(struct watch *w, struct place *p, int64_t timeout_ms, int *status)
{
    struct pdk__cli_view view = {0};
    p->changed = false; /* before the listing: a change that comes meanwhile is looked at */
    int rc = pdk__cli_view_list(&view, w->client, p->path, timeout_ms);
    p->looked_ms = pdk__cli_now_ms();
    w->options->path = p->path; /* for the report of a failure */
    if (rc != 0 || (p->view.list != NULL && pdk__cli_view_same(&p->view, &view))) {
        pdk__cli_view_free(&view);
    } else {
        pdk__cli_view_free(&p->view);
        p->view = view;
        *status = show(w, p);
    }
    return rc == 0 && *status == 0 ? observe_parts(w, p) : rc;
}

/* An outage passes: what was shown last stays. */
static int look_again(struct watch *w, struct place *p, int *status)
{
    int rc = look(w, p, LOOK_MS, status);
    bool passes = rc != 0 && pdk_err_retriable(rc);
    if (passes && rc != p->failed && !w->screen.open && !w->options->quiet)
        pdk__cli_message("%s: %s", p->path, pdk_strerror(rc));
    if (passes)
        p->changed = true;
    p->failed = passes ? rc : 0;
    return passes ? 0 : rc;
}

/* --- what happens ------------------------------------------------------------------------------------------------ */

/* On the thread of the callbacks. */
static void session_changed(pdk_client *c, pdk_session_state state, void *arg)
{
    const struct watch *w = arg;
    (void)c, (void)state;
    eventfd_write(w->news, 1);
}

static void tell_connection(struct watch *w)
{
    bool connected = pdk_client_state(w->client) == PDK_SESSION_CONNECTED;
    if (connected == w->connected)
        return;
    w->connected = connected;
    if (!w->screen.open && !w->options->quiet)
        pdk__cli_message("%s", connected ? "connected again" : "the connection is lost; the listing goes on after it");
}

static int64_t due(const struct watch *w, const struct place *p)
{
    if (!w->connected)
        return -1;
    return p->looked_ms + (p->changed ? GAP_MS : FALLBACK_MS);
}

static int64_t next_due(const struct watch *w)
{
    int64_t at = w->screen.open ? pdk__cli_now_ms() + DRAW_MS : -1;
    for (size_t i = 0; i < w->n; i++)
        at = pdk__cli_earlier(at, due(w, &w->places[i]));
    return at;
}

static int look_where_due(struct watch *w, int *status)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && *status == 0 && i < w->n; i++)
        if (w->connected && pdk__cli_now_ms() >= due(w, &w->places[i]))
            rc = look_again(w, &w->places[i], status);
    return rc;
}

/* --- the whole --------------------------------------------------------------------------------------------------- */

/* One turn. *STATUS is other than 0, or *QUIT is set: it was the last. */
static int turn(struct watch *w, int *status, bool *quit)
{
    eventfd_t n;
    int signal = pdk__cli_screen_wait(&w->screen, w->news, pdk__cli_poll_ms(next_due(w)), quit);
    if (signal != 0 && signal != SIGWINCH) {
        *status = signal == SIGPIPE ? pdk__cli_screen_unread() : STATUS_SIGNAL + signal;
        return 0;
    }
    eventfd_read(w->news, &n); /* it does not block */
    if (pdk_client_state(w->client) == PDK_SESSION_OVER)
        return pdk_client_wait(w->client, 0);
    tell_connection(w);
    int rc = *quit ? 0 : look_where_due(w, status);
    if (rc == 0 && *status == 0 && w->screen.open) {
        draw(w);
        *status = written();
    }
    return rc;
}

static int follow(struct watch *w, int *status)
{
    int rc = 0;
    bool quit = false;
    w->connected = true;
    for (size_t i = 0; rc == 0 && *status == 0 && i < w->n; i++)
        rc = look(w, &w->places[i], w->options->connect_ms, status);
    while (rc == 0 && *status == 0 && !quit)
        rc = turn(w, status, &quit);
    return rc;
}

static int run(struct watch *w)
{
    int status = 0;
    pdk_client_options_set_on_session(w->options->client, session_changed, w);
    int rc = pdk__cli_connect(w->options, &w->client);
    if (rc == 0)
        pdk__cli_screen_begin(&w->screen, -1);
    if (rc == 0 && !w->json)
        pdk__cli_screen_open(&w->screen);
    if (rc == 0)
        rc = follow(w, &status);
    pdk__cli_screen_close(&w->screen);
    if (rc != 0)
        status = pdk__cli_report_failure(w->options, w->client, rc);
    for (size_t i = 0; i < w->n; i++)
        for (size_t part = 0; part < PARTS; part++)
            pdk_contenders_observer_free(w->places[i].observers[part]);
    if (w->client != NULL)
        pdk_client_close(w->client); /* no callback runs after it */
    pdk_client_free(w->client);
    return status;
}

/* A path that is named twice is watched once. */
static void add(struct watch *w, const char *path)
{
    for (size_t i = 0; i < w->n; i++)
        if (strcmp(w->places[i].path, path) == 0)
            return;
    w->places[w->n].path = path;
    w->places[w->n++].news = w->news;
}

int pdk__cli_watch(struct pdk__cli_options *o, char *const *paths, bool json)
{
    size_t n = 0;
    while (paths[n] != NULL)
        n++;
    struct watch w = {.options = o, .json = json, .news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    w.places = calloc(n + 1, sizeof *w.places);
    if (w.places == NULL || w.news < 0) {
        pdk__cli_message("%s", pdk_strerror(w.places == NULL ? PDK_ENOMEM : PDK_ESYSTEM));
        free(w.places);
        return STATUS_INTERNAL;
    }
    for (size_t i = 0; i < n; i++)
        add(&w, paths[i]);
    int status = run(&w);
    for (size_t i = 0; i < w.n; i++)
        pdk__cli_view_free(&w.places[i].view);
    free(w.places);
    close(w.news);
    return status;
}
