/* The report, for programs. */
#include "contest.h"

#include <errno.h>
#include <jansson.h>

static const char *const names[] = {"ready", "granted", "released", "lost", "killed", "failed"};

static json_t *events_of(const struct diary *d)
{
    json_t *all = json_array();
    int64_t start = d->count ? d->records[0].at_ns - d->records[0].span_ns : 0;
    for (size_t i = 0; all && i < d->count; i++) {
        const struct record *r = &d->records[i];
        json_array_append_new(all, json_pack("{s:I, s:i, s:i, s:s, s:I, s:I}", "at_us",
                                             (json_int_t)((r->at_ns - start) / 1000), "process", (int)r->worker + 1,
                                             "pid", (int)r->pid, "what", names[r->what], "token", (json_int_t)r->token,
                                             r->what == WHAT_GRANTED ? "waited_us" : "held_us",
                                             (json_int_t)(r->span_ns / 1000)));
    }
    return all;
}

static json_t *handover_of(const struct verdict *v)
{
    return json_pack("{s:I, s:f, s:f}", "count", (json_int_t)v->handovers, "median_ms",
                     (double)v->handover_median_ns / 1e6, "p99_ms", (double)v->handover_p99_ns / 1e6);
}

static json_t *kill_of(const struct verdict *v)
{
    return json_pack("{s:I, s:I, s:i, s:f}", "kills", (json_int_t)v->kills, "takeovers", (json_int_t)v->takeovers,
                     "heir", v->heir + 1, "takeover_ms", (double)v->takeover_ns / 1e6);
}

int report_json(FILE *out, const struct plan *plan, const struct diary *diary, const struct verdict *v)
{
    json_t *all = json_pack("{s:s, s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:b, s:o, s:o, s:o}", "path", plan->path,
                            "processes", plan->processes, "rounds", plan->rounds, "session_ms", CONTEST_SESSION_MS,
                            "grants", (json_int_t)v->grants, "overlaps", (json_int_t)v->overlaps, "tokens_out_of_order",
                            (json_int_t)v->disorder, "unended", (json_int_t)v->unended, "laws_held", laws_hold(v),
                            "handover", handover_of(v), "after_kill", kill_of(v), "events", events_of(diary));
    int rc = all && json_dumpf(all, out, JSON_INDENT(2)) == 0 && fputc('\n', out) != EOF ? 0 : ENOMEM;
    json_decref(all);
    return rc;
}
