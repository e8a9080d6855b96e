#include "test/chaos/report.h"

#include <inttypes.h>

static const char style[] =
    "body{font:14px/1.45 system-ui,sans-serif;margin:24px;color:#1d2329;background:#fff}"
    "h1{font-size:20px;margin:0 0 4px}.bad{color:#b3261e}.good{color:#1a7f37}svg{width:100%;height:auto}"
    "table{border-collapse:collapse}td,th{padding:2px 14px 2px 0;text-align:left;vertical-align:top}"
    "td.n{text-align:right;font-variant-numeric:tabular-nums}.cols{display:flex;gap:48px;flex-wrap:wrap}"
    ".held{fill:#1a7f37}.suspect{fill:#d29922}.lost{fill:#b3261e}.wait{fill:#8b949e}.stop{fill:#6e7781;fill-opacity:."
    "45}"
    ".cf{fill:#fb8f44;fill-opacity:.28}.sf{fill:#2f6feb;fill-opacity:.13}.af{fill:#8250df;fill-opacity:.5}"
    ".healed{fill:#000}.dead{font:bold 16px sans-serif;fill:#b3261e}.t{font:10px "
    "sans-serif;fill:#57606a;stroke-width:.5}"
    "path.t{stroke:#d0d7de;fill:none}.l{font:11px sans-serif;fill:#1d2329}.key b{padding:0 8px;margin:0 4px 0 16px}";

static double ms(int64_t ns) { return (double)ns / 1e6; }

static void row(FILE *out, const char *what, struct samples *s)
{
    if (s->n == 0)
        fprintf(out, "<tr><td>%s<td class=n>0<td class=n>-<td class=n>-<td class=n>-<td class=n>-\n", what);
    else
        fprintf(out, "<tr><td>%s<td class=n>%zu<td class=n>%.3f<td class=n>%.3f<td class=n>%.3f<td class=n>%.3f\n",
                what, s->n, ms(quantile(s, 0)), ms(quantile(s, 500)), ms(quantile(s, 990)), ms(quantile(s, 1000)));
}

static void put_times(struct findings *f, FILE *out)
{
    fprintf(out, "<table><tr><th>in ms<th>count<th>min<th>median<th>p99<th>max\n");
    row(out, "hand-over: first in the queue to granted", &f->hand_over);
    row(out, "the same, no fault around", &f->calm_hand_over);
    row(out, "deadline told before the session's end", &f->deadline);
    row(out, "LOST told before the session's end", &f->margin);
    row(out, "LOST told before the next grant", &f->regrant);
    row(out, "timed calls past their deadline", &f->lateness);
    fprintf(out, "</table>\n");
}

static void put_faults(const struct tally *t, FILE *out)
{
    fprintf(out, "<table><tr><th>faults that took effect<th>\n");
    for (int id = 0; id < N_FAULTS; id++)
        if (t->faults[id] > 0)
            fprintf(out, "<tr><td>%s<td class=n>%d\n", fault_name((enum fault_id)id), t->faults[id]);
    fprintf(out, "</table>\n");
}

static void put_known(const struct findings *f, FILE *out)
{
    fprintf(out, "<table><tr><th>known<th>times<th>longest, ms\n");
    for (int k = 0; k < N_KNOWN; k++)
        fprintf(out, "<tr><td>%s<td class=n>%d<td class=n>%.3f\n", known_name((enum known)k), f->n_known[k],
                ms(f->longest_known_ns[k]));
    fprintf(out, "</table>\n");
}

static void put_head(const struct evidence *e, const struct findings *f, FILE *out)
{
    fprintf(out,
            "<!doctype html><meta charset=utf-8><title>Paddock: histories, seed %" PRId64 "</title><style>%s</style>\n"
            "<h1>Histories, seed %" PRId64 ": <span class=%s>%d violations</span></h1>\n",
            e->seed, style, e->seed, f->n_breaches > 0 ? "bad" : "good", f->n_breaches);
    fprintf(out,
            "<p>%.0f s, three servers, %" PRId64 " clients (%zu processes), sessions of %" PRId64
            " ms: %zu requests, %zu grants, %ld transactions. All served %.0f ms after the last fault.</p>\n",
            at(e, e->end_ns), e->n_clients, e->processes.n, e->session_ms, e->requests.n, e->n_grants, e->truth.n_txns,
            ms(f->served_ns));
    for (int i = 0; i < f->n_breaches && i < TEXTS_MAX; i++)
        fprintf(out, "<p class=bad>%s</p>\n", f->breach[i]);
}

bool write_report(const struct evidence *e, struct findings *f, const char *file)
{
    FILE *out = fopen(file, "we");
    if (out == NULL)
        return false;
    put_head(e, f, out);
    fprintf(
        out,
        "<p class=key><b class=held style=\"background:#1a7f37\"></b>holds<b style=\"background:#d29922\"></b>"
        "suspects<b style=\"background:#b3261e\"></b>told LOST, or killed (&#215;)<b style=\"background:#8b949e\"></b>"
        "waits, or is stopped<b style=\"background:#fdd8bd\"></b>fault of one client<b "
        "style=\"background:#d9e4fc\"></b>"
        "fault of servers<b style=\"background:#b9a0ec\"></b>by an administrator</p>\n");
    draw_timeline(e, out);
    fprintf(out, "<div class=cols><div>");
    put_times(f, out);
    put_known(f, out);
    fprintf(out, "</div><div>");
    put_faults(&f->tally, out);
    fprintf(out, "</div></div>\n");
    return fclose(out) == 0;
}
