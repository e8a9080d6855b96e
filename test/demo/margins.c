#include "test/demo/margins.h"

#include "test/chaos/findings.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool outcomes_add(struct outcomes *o, const struct outcome *one)
{
    struct outcome *all = realloc(o->all, (o->n + 1) * sizeof *all);
    if (all == NULL)
        return false;
    o->all = all;
    o->all[o->n++] = *one;
    return true;
}

void outcomes_free(struct outcomes *o)
{
    free(o->all);
    o->all = NULL;
    o->n = 0;
}

/* --- what is measured of a run ----------------------------------------------------------------------------------- */

typedef int64_t measure(const struct outcome *o);

static int64_t to_next(const struct outcome *o) { return o->next_ns - o->last_ns; }
static int64_t end_of(const struct outcome *o) { return o->gone_ns != 0 ? o->gone_ns : o->next_ns; }
static int64_t to_gone(const struct outcome *o) { return end_of(o) - o->last_ns; }
static int64_t due_to_gone(const struct outcome *o) { return o->until_ns != 0 ? end_of(o) - o->until_ns : 0; }
static int64_t believed(const struct outcome *o) { return o->last_ns - o->fault_ns; }

static size_t count_positive(const struct outcomes *o, measure *of)
{
    size_t n = 0;
    for (size_t i = 0; i < o->n; i++)
        n += of(&o->all[i]) > 0;
    return n;
}

size_t outcomes_in_time(const struct outcomes *o) { return count_positive(o, to_next); }
size_t outcomes_before_gone(const struct outcomes *o) { return count_positive(o, to_gone); }
size_t outcomes_due_before_gone(const struct outcomes *o) { return count_positive(o, due_to_gone); }

/* --- of all runs ------------------------------------------------------------------------------------------------- */

static struct spread spread_of(const struct outcomes *o, measure *of)
{
    struct samples all = {0};
    for (size_t i = 0; i < o->n; i++)
        sample(&all, of(&o->all[i]));
    struct spread s = {(double)quantile(&all, 0) / 1e6, (double)quantile(&all, 500) / 1e6,
                       (double)quantile(&all, 1000) / 1e6};
    free(all.ns);
    return s;
}

struct spread outcomes_to_next(const struct outcomes *o) { return spread_of(o, to_next); }
struct spread outcomes_to_gone(const struct outcomes *o) { return spread_of(o, to_gone); }
struct spread outcomes_worked_on(const struct outcomes *o) { return spread_of(o, believed); }
struct spread outcomes_due_to_gone(const struct outcomes *o) { return spread_of(o, due_to_gone); }

void outcomes_head(FILE *out)
{
    fprintf(out, "#\n# %-14s %5s   %-22s   %-22s   %s\n", "", "", "stopped before the", "stopped before its",
            "worked on after");
    fprintf(out, "# %-14s %5s   %-22s   %-22s   %s\n", "", "", "next began; margin", "node was gone; margin",
            "the fault");
    fprintf(out, "# %-14s %5s   %5s %7s %8s   %5s %7s %8s   %7s %8s\n", "who held", "runs", "runs", "min ms", "median",
            "runs", "min ms", "median", "median", "max ms");
}

void outcomes_row(const struct outcomes *o, FILE *out)
{
    struct spread next = outcomes_to_next(o), gone = outcomes_to_gone(o), after = outcomes_worked_on(o);
    fprintf(out, "# %-14s %5zu   %5zu %7.0f %8.0f   %5zu %7.0f %8.0f   %7.0f %8.0f\n", o->who, o->n,
            outcomes_in_time(o), next.min_ms, next.median_ms, outcomes_before_gone(o), gone.min_ms, gone.median_ms,
            after.median_ms, after.max_ms);
}

static void spread_json(const char *name, struct spread s, FILE *out)
{
    fprintf(out, "\"%s\": {\"min\": %.3f, \"median\": %.3f, \"max\": %.3f}, ", name, s.min_ms, s.median_ms, s.max_ms);
}

void outcomes_json(const struct outcomes *o, FILE *out)
{
    fprintf(out, "{\"who\": \"%s\", \"runs\": %zu, \"before_next\": %zu, \"before_gone\": %zu, ", o->who, o->n,
            outcomes_in_time(o), outcomes_before_gone(o));
    spread_json("margin_to_next_ms", outcomes_to_next(o), out);
    spread_json("margin_to_gone_ms", outcomes_to_gone(o), out);
    spread_json("deadline_to_gone_ms", outcomes_due_to_gone(o), out);
    spread_json("worked_after_fault_ms", outcomes_worked_on(o), out);
    fprintf(out, "\"each\": [");
    for (size_t i = 0; i < o->n; i++) {
        const struct outcome *one = &o->all[i];
        fprintf(out,
                "%s\n  {\"fault_ns\": %" PRId64 ", \"struck_ns\": %" PRId64 ", \"last_ns\": %" PRId64
                ", \"until_ns\": %" PRId64 ", \"gone_ns\": %" PRId64 ", \"next_ns\": %" PRId64 "}",
                i > 0 ? "," : "", one->fault_ns, one->struck_ns, one->last_ns, one->until_ns, one->gone_ns,
                one->next_ns);
    }
    fprintf(out, "]}");
}
