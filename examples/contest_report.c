/* The table that fills while the contest runs, and the summary at its end. */
#include "contest.h"

#include <errno.h>
#include <string.h>

/* A long contest shows its beginning, and the rows around a kill; all of it with --all. */
enum { FIRST_ROWS = 24, ROWS_AFTER = 8 };

static const char *paint(const struct report *r, const char *code) { return r->colour ? code : ""; }

#define GREEN "\033[32m"
#define RED "\033[1;31m"
#define DIM "\033[2m"
#define BOLD "\033[1m"
#define PLAIN "\033[0m"

void report_begin(struct report *r)
{
    if (r->quiet)
        return;
    fprintf(r->out, "%d processes, %d rounds each, contend for one lock:\n%s on %s\n\n", r->plan->processes,
            r->plan->rounds, r->plan->path, r->plan->hosts);
    fprintf(r->out, "%s%10s   %-13s  %-32s %12s%s\n", paint(r, BOLD), "seconds", "process", "what happened", "token",
            paint(r, PLAIN));
    fflush(r->out);
}

static double ms(int64_t ns) { return (double)ns / 1e6; }

static const char *describe(const struct report *r, const struct record *e, char *buf, size_t size)
{
    switch ((enum what)e->what) {
    case WHAT_READY:
        snprintf(buf, size, "connected");
        break;
    case WHAT_GRANTED:
        if (r->killed_ns)
            snprintf(buf, size, "took over %.2f s after the kill", (double)(e->at_ns - r->killed_ns) / 1e9);
        else
            snprintf(buf, size, "granted, waited %.1f ms", ms(e->span_ns));
        break;
    case WHAT_RELEASED:
        snprintf(buf, size, "released, held %.1f ms", ms(e->span_ns));
        break;
    case WHAT_LOST:
        snprintf(buf, size, "lost, held %.1f ms", ms(e->span_ns));
        break;
    case WHAT_KILLED:
        snprintf(buf, size, "killed while it held");
        break;
    case WHAT_FAILED:
        snprintf(buf, size, "failed");
        break;
    }
    return buf;
}

static const char *colour_of(const struct report *r, const struct record *e)
{
    switch ((enum what)e->what) {
    case WHAT_GRANTED:
        return paint(r, r->killed_ns ? BOLD : GREEN);
    case WHAT_LOST:
    case WHAT_KILLED:
    case WHAT_FAILED:
        return paint(r, RED);
    case WHAT_READY:
    case WHAT_RELEASED:
        break;
    }
    return paint(r, DIM);
}

/* The name by which it was started. In its build directory libtool starts it, from a directory of its own. */
static const char *own_name(char *buf, size_t size)
{
    static const char inner[] = "/.libs/";
    const char *name = program_invocation_name, *at = strstr(name, inner);
    if (at == NULL)
        return name;
    const char *base = at + strlen(inner);
    base += strncmp(base, "lt-", 3) == 0 ? 3 : 0;
    snprintf(buf, size, "%.*s/%s", (int)(at - name), name, base);
    return buf;
}

static void say_left_out(struct report *r)
{
    char name[4096];
    if (r->left_out)
        fprintf(r->out, "%s%10s   %zu rows not shown (%s --all shows them)%s\n", paint(r, DIM), "...", r->left_out,
                own_name(name, sizeof name), paint(r, PLAIN));
    r->left_out = 0;
}

static bool wanted(struct report *r, const struct record *e)
{
    bool special = e->what == WHAT_KILLED || e->what == WHAT_LOST || e->stays || r->killed_ns;
    if (special)
        r->after = ROWS_AFTER;
    else if (r->after > 0)
        r->after--;
    return r->all || special || r->after > 0 || r->rows < FIRST_ROWS;
}

static void print_row(struct report *r, const struct record *e)
{
    char what[64], who[32];
    say_left_out(r);
    snprintf(who, sizeof who, "#%d (%d)", (int)e->worker + 1, (int)e->pid);
    fprintf(r->out, "%10.4f   %-13s  %s%-32s%s %12lld\n", (double)(e->at_ns - r->start_ns) / 1e9, who, colour_of(r, e),
            describe(r, e, what, sizeof what), paint(r, PLAIN), (long long)e->token);
    fflush(r->out);
    r->rows++;
}

void report_record(struct report *r, const struct record *e)
{
    if (e->what == WHAT_FAILED)
        fprintf(stderr, "contest: process #%d: %s\n", (int)e->worker + 1, e->text);
    if (r->quiet || e->what == WHAT_FAILED || e->what == WHAT_READY)
        return;
    if (wanted(r, e))
        print_row(r, e);
    else
        r->left_out++;
    if (e->what == WHAT_KILLED)
        r->killed_ns = e->at_ns;
    else if (e->what == WHAT_GRANTED)
        r->killed_ns = 0;
}

static void say_law(struct report *r, const char *name, size_t broken, const char *good, const char *bad)
{
    fprintf(r->out, "%12s   ", name);
    if (broken)
        fprintf(r->out, "%s%zu %s%s\n", paint(r, RED), broken, bad, paint(r, PLAIN));
    else
        fprintf(r->out, "%s%s%s\n", paint(r, GREEN), good, paint(r, PLAIN));
}

/* The grants of each process, as long as they fit the line. */
static void say_grants(struct report *r, const struct verdict *v)
{
    bool each = r->plan->processes <= 8 && r->plan->rounds < 1000;
    fprintf(r->out, "%12s   %zu", "grants", v->grants);
    for (int i = 0; each && i < r->plan->processes; i++)
        fprintf(r->out, "%s #%d %zu", i == 0 ? ":" : ",", i + 1, v->by_worker[i]);
    fputc('\n', r->out);
}

void report_verdict(struct report *r, const struct verdict *v)
{
    char good[80];
    if (r->quiet)
        return;
    say_left_out(r);
    fputc('\n', r->out);
    say_grants(r, v);
    say_law(r, "overlaps", v->overlaps, "none: never two holders at once", "overlaps: two held at once");
    snprintf(good, sizeof good, "each larger than the one before, %lld to %lld", (long long)v->first_token,
             (long long)v->last_token);
    say_law(r, "tokens", v->disorder, good, "not larger than the one before");
    if (v->unended)
        say_law(r, "unended", v->unended, "", "grants of which nobody heard the end");
    fprintf(r->out, "%12s   median %.2f ms, p99 %.2f ms, of %zu (release to next grant)\n", "hand-over",
            ms(v->handover_median_ns), ms(v->handover_p99_ns), v->handovers);
    if (v->takeovers)
        fprintf(r->out, "%12s   %zu of %zu: #%d, %.2f s after it (a session lives %.0f s)\n", "after a kill",
                v->takeovers, v->kills, v->heir + 1, (double)v->takeover_ns / 1e9, CONTEST_SESSION_MS / 1e3);
    fprintf(r->out, "\n%s%s%s\n", paint(r, laws_hold(v) ? GREEN : RED),
            laws_hold(v) ? "Every law held." : "A LAW WAS BROKEN.", paint(r, PLAIN));
    fflush(r->out);
}
