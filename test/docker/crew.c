#include "test/docker/crew.h"
#include "test/docker/history.h"
#include "test/lib/check.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONNECT_MS = 60000, LEAVE_MS = 30000 };

struct worker {
    char name[16];
    pid_t pid; /* 0: it left */
    int place;
    int orders, news;
    char line[256]; /* begun, not ended */
    size_t n_line;
    struct pdk__event *events;
    size_t n_events;
};

static struct worker workers[PDK__CREW_MAX];
static int n_workers;
static char path[256];

static bool listen_to(struct worker *w);

/* --- coming and going -------------------------------------------------------------------------------------------- */

static const char *env(const char *name)
{
    const char *value = getenv(name);
    if (value == NULL)
        pdk__test_fail(__FILE__, __LINE__, "%s is not set; docker/check sets it", name);
    return value;
}

void pdk__crew_end(void)
{
    for (int i = 0; i < n_workers; i++) {
        struct worker *w = &workers[i];
        if (w->pid != 0) {
            close(w->orders);
            close(w->news);
            kill(w->pid, SIGKILL);
            pdk__test_wait(w->pid);
        }
        free(w->events);
    }
    memset(workers, 0, sizeof workers);
    n_workers = 0;
}

/* For the reader of a failure: the first 13 events and the last 12, without repeated states. */
static void tell_tail(const struct worker *w)
{
    for (size_t i = 0; i < w->n_events; i++) {
        const struct pdk__event *e = &w->events[i];
        bool old = i + 12 < w->n_events, dull = i > 0 && strcmp(e->what, "state") == 0 && e->rc == e[-1].rc;
        if ((old && i > 12) || dull)
            continue;
        printf("# %s: %" PRId64 ".%06" PRId64 " %s token %" PRId64 " session %" PRIx64 " rc %d\n", w->name,
               e->ns / 1000000000, e->ns / 1000 % 1000000, e->what, e->token, (uint64_t)e->session, e->rc);
    }
}

void pdk__crew_abandon(void)
{
    for (int i = 0; i < n_workers; i++) {
        if (workers[i].pid != 0)
            listen_to(&workers[i]);
        tell_tail(&workers[i]);
    }
    pdk__crew_end();
}

void pdk__crew_begin(const char *lock_path)
{
    pdk__crew_abandon();
    signal(SIGPIPE, SIG_IGN); /* a worker that died is noticed by its silence */
    snprintf(path, sizeof path, "%s", lock_path);
}

static int free_place(void)
{
    bool taken[PDK__CREW_PLACES + 1] = {false};
    for (int i = 0; i < n_workers; i++)
        taken[workers[i].pid != 0 ? workers[i].place : 0] = true;
    for (int place = 1; place <= PDK__CREW_PLACES; place++)
        if (!taken[place])
            return place;
    pdk__test_fail(__FILE__, __LINE__, "no place is free");
}

static void become(int place, const char *hosts, int session_ms, int in, int out)
{
    char program[4096], number[16], timeout[16];
    snprintf(program, sizeof program, "%s/test/docker/worker", env("PADDOCK_BUILDDIR"));
    snprintf(number, sizeof number, "%d", place);
    snprintf(timeout, sizeof timeout, "%d", session_ms);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    execl(env("PADDOCK_FAULT"), "fault", "in", number, program, hosts, timeout, path, (char *)NULL);
    _exit(127);
}

int pdk__crew_hire_to(const char *hosts, int session_ms)
{
    int in[2], out[2], who = n_workers, place = free_place();
    CHECK(who < PDK__CREW_MAX);
    CHECK_EQ(pipe2(in, O_CLOEXEC), 0);
    CHECK_EQ(pipe2(out, O_CLOEXEC), 0);
    CHECK_EQ(fcntl(out[0], F_SETFL, O_NONBLOCK), 0);
    pid_t pid = pdk__test_fork();
    if (pid == 0)
        become(place, hosts, session_ms, in[0], out[1]);
    close(in[0]);
    close(out[1]);
    CHECK(pid > 0);
    workers[who] = (struct worker){.pid = pid, .place = place, .orders = in[1], .news = out[0]};
    snprintf(workers[who].name, sizeof workers[who].name, "worker %d", who);
    n_workers++;
    pdk__crew_await(who, "connected", 1, CONNECT_MS);
    return who;
}

int pdk__crew_hire(int session_ms) { return pdk__crew_hire_to(env("PADDOCK_TEST_HOSTS"), session_ms); }

int pdk__crew_place(int who) { return workers[who].place; }

/* --- events ------------------------------------------------------------------------------------------------------ */

static void note(struct worker *w)
{
    struct pdk__event e;
    w->line[w->n_line] = '\0';
    w->n_line = 0;
    if (sscanf(w->line, "%" SCNd64 " %15s %" SCNd64 " %" SCNx64 " %d", &e.ns, e.what, &e.token, (uint64_t *)&e.session,
               &e.rc) != 5)
        pdk__test_fail(__FILE__, __LINE__, "%s says: %s", w->name, w->line);
    w->events = realloc(w->events, (w->n_events + 1) * sizeof *w->events);
    CHECK(w->events != NULL);
    w->events[w->n_events++] = e;
}

/* Everything that is there to be read. False at the end. */
static bool listen_to(struct worker *w)
{
    char buf[4096];
    ssize_t n;
    while ((n = read(w->news, buf, sizeof buf)) > 0)
        for (ssize_t i = 0; i < n; i++)
            if (buf[i] == '\n')
                note(w);
            else if (w->n_line + 1 < sizeof w->line)
                w->line[w->n_line++] = buf[i];
    return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static void catch_up(struct worker *w)
{
    if (w->pid != 0 && !listen_to(w))
        pdk__test_fail(__FILE__, __LINE__, "%s died", w->name);
}

void pdk__crew_dismiss(int who)
{
    struct worker *w = &workers[who];
    close(w->orders);
    CHECK_WITHIN(LEAVE_MS, !listen_to(w));
    close(w->news);
    pid_t pid = w->pid;
    w->pid = 0;
    CHECK_EQ(pdk__test_wait(pid), 0);
}

size_t pdk__crew_count(int who, const char *what)
{
    struct worker *w = &workers[who];
    size_t n = 0;
    catch_up(w);
    for (size_t i = 0; i < w->n_events; i++)
        n += strcmp(w->events[i].what, what) == 0;
    return n;
}

const struct pdk__event *pdk__crew_last(int who, const char *what)
{
    struct worker *w = &workers[who];
    catch_up(w);
    for (size_t i = w->n_events; i-- > 0;)
        if (strcmp(w->events[i].what, what) == 0)
            return &w->events[i];
    return NULL;
}

struct pdk__event pdk__crew_await(int who, const char *what, size_t n, int ms)
{
    int64_t until = pdk__test_now_ms() + ms;
    while (pdk__crew_count(who, what) < n) {
        if (pdk__test_now_ms() >= until) {
            pdk__test_fail(__FILE__, __LINE__, "%s: not '%s' %zu times within %d ms", workers[who].name, what, n, ms);
        }
        pdk__test_nap();
    }
    return *pdk__crew_last(who, what);
}

/* --- orders ------------------------------------------------------------------------------------------------------ */

void pdk__crew_order(int who, const char *order)
{
    char line[64];
    int n = snprintf(line, sizeof line, "%s\n", order);
    CHECK_EQ(write(workers[who].orders, line, (size_t)n), n);
}

struct pdk__event pdk__crew_do(int who, const char *order, const char *what, int ms)
{
    size_t n = pdk__crew_count(who, what);
    pdk__crew_order(who, order);
    return pdk__crew_await(who, what, n + 1, ms);
}

/* --- judgement --------------------------------------------------------------------------------------------------- */

/* The spans of one worker, into SPANS, which has room for as many as it has events. */
static size_t collect(const struct worker *w, struct pdk__span *spans)
{
    size_t n = 0;
    bool open = false;
    for (size_t i = 0; i < w->n_events; i++) {
        const struct pdk__event *e = &w->events[i];
        bool begins = strcmp(e->what, "granted") == 0 || strcmp(e->what, "held") == 0;
        bool ends = strcmp(e->what, "releasing") == 0 || strcmp(e->what, "suspect") == 0 ||
                    strcmp(e->what, "lost") == 0;
        if (open && (begins || ends))
            spans[n - 1].until_ns = e->ns;
        if (begins)
            spans[n++] = (struct pdk__span){w->name, e->token, e->ns, INT64_MAX};
        open = begins || (open && !ends);
    }
    return n;
}

void pdk__crew_judge(void)
{
    size_t n = 0, room = 0;
    for (int i = 0; i < n_workers; i++) {
        catch_up(&workers[i]);
        room += workers[i].n_events;
    }
    struct pdk__span *spans = calloc(room + 1, sizeof *spans);
    CHECK(spans != NULL);
    for (int i = 0; i < n_workers; i++)
        n += collect(&workers[i], spans + n);
    const char *flaw = pdk__history_flaw(spans, n);
    free(spans);
    if (flaw != NULL)
        pdk__test_fail(__FILE__, __LINE__, "%s", flaw);
}
