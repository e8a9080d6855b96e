/*
 * The trace of beliefs.pml (test/lib/trace_session.c), as an array of moments: session after session, each in the order
 * of its time. A request that was answered has two: when it was sent, and when it was answered. Of two moments in one
 * millisecond it cannot be known which came first, so what was sent in it comes before all else.
 *
 * Times are of the client's clock, from the beginning of the session on.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BEGUN, SENT, ANSWERED_AT, CONNECTED, DISCONNECTED, STEPPED };

enum { NO_MOMENT = -(1 << 29) };

struct moment {
    int what;
    int first;     /* moment of the session */
    int ms, since; /* since: of BEGUN, when its handle was opened */
    int request;   /* of SENT and ANSWERED_AT: the line of the answer */
    int kind;      /* ASKED_READ, ASKED_SYNC or ASKED_WRITE */
    int timeout_ms, half_tick_ms;
    int proven_ms, deadline_ms; /* claims after the step */
    bool rises;                 /* more is claimed than before, in this session */
    char told;                  /* the last report of the lease in this step: O, L or E; 0: none */
    long line;                  /* of the trace */
};

static struct moment *moments;
static int n_moments, room_for;

static long n_sessions, n_answers, n_rises;

/* --- lines ------------------------------------------------------------------------------------------------------- */

struct line {
    long machine, number;
    char event[8], reports[9];
    int64_t now, about, more, proven, deadline;
};

enum { UNKNOWN = -1 }; /* clocks begin later */

static struct line *lines;
static long n_lines, room_for_lines;

static void give_up(const char *why)
{
    printf("beliefs: line %ld: %s\n", n_lines, why);
    exit(99);
}

static void *grown(void *list, long n, size_t size)
{
    void *longer = realloc(list, (size_t)n * size);
    if (longer == NULL)
        give_up("no memory");
    return longer;
}

static int64_t moment_of(const char *text) { return strcmp(text, "-") == 0 ? UNKNOWN : strtoll(text, NULL, 10); }

static void read_line(const char *text, long number)
{
    char proven[24], deadline[24], more[24];
    if (n_lines == room_for_lines)
        lines = grown(lines, room_for_lines = 2 * room_for_lines + 4096, sizeof *lines);
    struct line *l = &lines[n_lines++];
    l->number = number;
    if (sscanf(text, "B %ld %7s %" SCNd64 " %" SCNd64 " %23s %23s %23s %8s", &l->machine, l->event, &l->now, &l->about,
               more, proven, deadline, l->reports) != 8)
        give_up(text);
    l->more = strtoll(more, NULL, strcmp(l->event, "up") == 0 ? 16 : 10);
    l->proven = moment_of(proven);
    l->deadline = moment_of(deadline);
}

static void read_lines(const char *file)
{
    char text[256];
    FILE *in = file != NULL ? fopen(file, "r") : NULL;
    if (in == NULL)
        give_up("no trace");
    for (long number = 1; fgets(text, sizeof text, in) != NULL; number++)
        if (text[0] == 'B' && strchr(text, '\n') != NULL)
            read_line(text, number);
    fclose(in);
}

static int by_machine(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    return x->machine != y->machine ? (x->machine < y->machine ? -1 : 1)
                                    : (x->number > y->number) - (x->number < y->number);
}

/* --- sessions ---------------------------------------------------------------------------------------------------- */

/* A machine, and its session at hand. */
static struct {
    int half_tick_ms;
    bool opens, spent, connected;
    int64_t since, session, origin;
    int first; /* moment of the session */
    int timeout_ms;
    int64_t proven;
} at;

static int relative(int64_t ms) { return ms == UNKNOWN ? NO_MOMENT : (int)(ms - at.origin); }

static struct moment *add(int what, int64_t ms, const struct line *l)
{
    if (n_moments == room_for)
        moments = grown(moments, room_for = 2 * room_for + 4096, sizeof *moments);
    struct moment *m = &moments[n_moments++];
    *m = (struct moment){.what = what,
                         .first = at.first,
                         .ms = relative(ms),
                         .timeout_ms = at.timeout_ms,
                         .half_tick_ms = at.half_tick_ms,
                         .proven_ms = relative(l->proven),
                         .deadline_ms = relative(l->deadline),
                         .line = l->number};
    for (const char *r = l->reports; what != SENT && *r != '\0'; r++)
        m->told = strchr("OLE", *r) != NULL ? *r : m->told;
    m->rises = what != SENT && l->proven > at.proven;
    if (m->rises) {
        at.proven = l->proven;
        n_rises++;
    }
    return m;
}

static int by_time(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;
    if (x->ms != y->ms)
        return x->ms < y->ms ? -1 : 1;
    if ((x->what == SENT) != (y->what == SENT))
        return x->what == SENT ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static void end_session(void)
{
    if (at.session == 0)
        return;
    qsort(moments + at.first, (size_t)(n_moments - at.first), sizeof *moments, by_time);
    at.session = 0;
    at.spent = true;
}

static void connect(const struct line *l)
{
    if (at.spent || l->more == 0 || l->about <= 0)
        return; /* of a handle whose session has ended */
    at.connected = true;
    if (at.session == 0) {
        n_sessions++;
        at.session = l->more;
        at.origin = at.since;
        at.first = n_moments;
        at.proven = UNKNOWN;
        at.timeout_ms = (int)l->about;
        add(BEGUN, l->now, l)->since = at.opens ? 0 : NO_MOMENT;
        return;
    }
    if (l->about < at.timeout_ms)
        at.timeout_ms = (int)l->about;
    add(CONNECTED, l->now, l);
}

/* An answer while it is disconnected is of the connection before. */
static void answer(const struct line *l, int kind)
{
    if (!at.connected) {
        add(STEPPED, l->now, l);
        return;
    }
    n_answers++;
    struct moment *m = add(SENT, l->about, l);
    m->kind = kind;
    m->request = (int)l->number;
    m = add(ANSWERED_AT, l->now, l);
    m->kind = kind;
    m->request = (int)l->number;
}

static void take_in_session(const struct line *l)
{
    if (strcmp(l->event, "read") == 0)
        answer(l, ASKED_READ);
    else if (strcmp(l->event, "sync") == 0)
        answer(l, ASKED_SYNC);
    else if (strcmp(l->event, "write") == 0)
        answer(l, ASKED_WRITE);
    else
        add(strcmp(l->event, "down") == 0 ? DISCONNECTED : STEPPED, l->now, l);
}

static void take_in(const struct line *l)
{
    if (strcmp(l->event, "init") == 0) {
        end_session();
        at.half_tick_ms = (int)l->about / 2;
        at.opens = l->more != 0;
        at.spent = at.connected = false;
        at.since = l->now;
        return;
    }
    if (strcmp(l->event, "open") == 0) {
        at.since = l->about;
        at.spent = false;
    }
    at.connected &= strcmp(l->event, "down") != 0;
    if (strchr(l->reports, 'X') != NULL) {
        end_session();
        at.spent = true;
        at.connected = false;
    } else if (strcmp(l->event, "up") == 0) {
        connect(l);
    } else if (at.session != 0) {
        take_in_session(l);
    }
}

static void tell_verdict(void);

static void read_trace(void)
{
    atexit(tell_verdict);
    read_lines(getenv("TRACE"));
    qsort(lines, (size_t)n_lines, sizeof *lines, by_machine);
    for (long i = 0; i < n_lines; i++)
        take_in(&lines[i]);
    end_session();
}

/* --- the verdict ------------------------------------------------------------------------------------------------- */

/* A window begins where a request was sent that can be its first link: at the moment that is claimed, or later. It is
 * the next one from moment FROM on; -1: there is none before RISE. */
static int next_first(int from, int rise)
{
    for (int i = from; i < rise; i++)
        if (moments[i].what == SENT && moments[i].ms >= moments[rise].proven_ms)
            return i;
    return -1;
}

static int first_first(int rise)
{
    int from = rise;
    while (from > moments[rise].first && moments[from - 1].ms >= moments[rise].proven_ms)
        from--;
    return next_first(from, rise);
}

/* The first moment at which the code does what the model cannot: no choice leads further. */
static int furthest = -1;
static const char *hindrance;

static void hinder(int moment, const char *why)
{
    if (moment < furthest)
        return;
    furthest = moment;
    hindrance = why;
}

/* The lines of a machine up to the line LAST of the trace, the last of them. */
enum { TOLD_LINES = 12 };

static void tell_prefix(FILE *in, long machine, long last)
{
    char text[256], told[TOLD_LINES][256];
    long n = 0, of;
    unsigned long long seed = 0;
    for (long number = 1; number <= last && fgets(text, sizeof text, in) != NULL; number++) {
        if (sscanf(text, "B %ld", &of) != 1 || of != machine)
            continue;
        if (strstr(text, " seed ") != NULL)
            seed = strtoull(strstr(text, " seed ") + 6, NULL, 10);
        strcpy(told[n++ % TOLD_LINES], text);
    }
    printf("not ok - seed %llu, client %ld: step %ld is not the model's: %s\n", seed, machine, n, hindrance);
    for (long i = n > TOLD_LINES ? n - TOLD_LINES : 0; i < n; i++)
        printf("  %s%s", i == n - 1 ? "--> " : "    ", told[i % TOLD_LINES]);
}

static long machine_of_line(long number)
{
    for (long i = 0; i < n_lines; i++)
        if (lines[i].number == number)
            return lines[i].machine;
    return -1;
}

static void tell_verdict(void)
{
    FILE *in = fopen(getenv("TRACE"), "r");
    if (furthest < 0)
        printf("ok - %ld proofs from %ld answers of %ld sessions\n", n_rises, n_answers, n_sessions);
    else if (in != NULL)
        tell_prefix(in, machine_of_line(moments[furthest].line), moments[furthest].line);
    fflush(stdout);
}
