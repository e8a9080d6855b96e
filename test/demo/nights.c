#include "test/demo/nights.h"

#include "test/lib/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RESTART_MS = 1500, SOON_MS = 60000 };

/* It notes its beginning and its end, with its machine's clock. */
static const char job[] =
    "note() { echo \"$1 $PERIOD $MACHINE $(date +%s)\" >>\"$0\"; }; note begin; sleep 0.5; note end";

/* --- the crontab ------------------------------------------------------------------------------------------------- */

static int64_t due_ms(const struct nights *n, int period, int machine)
{
    return n->origin_ms + (int64_t)period * n->period_ms + fleet_start_ms(machine, n->period_ms);
}

static void start(struct nights *n, int machine)
{
    char path[64];
    int period = n->begun[machine]++;
    const char *value = n->rule[1] != NULL ? n->rule[1] : path;
    snprintf(path, sizeof path, "/%s", n->name);
    n->starts[period][machine].late_ms = (int)(pdk__test_now_ms() - due_ms(n, period, machine));
    fleet_start(&n->starts[period][machine].program, machine, period,
                ARGS(program_built("uninstalled/paddock"), "lock", "-v", "--session-timeout", n->session_s, n->rule[0],
                     value, n->rule[1] != NULL ? path : "--", "sh", "-c", job, n->file));
}

static void start_due(struct nights *n)
{
    for (int i = 0; i < FLEET_SIZE; i++)
        if (n->begun[i] < n->n_periods && pdk__test_now_ms() >= due_ms(n, n->begun[i], i))
            start(n, i);
}

static bool all_ended(struct nights *n)
{
    bool all = true;
    for (int i = 0; i < FLEET_SIZE; i++) {
        all = all && n->begun[i] == n->n_periods;
        for (int k = 0; k < n->begun[i]; k++)
            all = program_ended(&n->starts[k][i].program) && all;
    }
    return all;
}

/* --- what the job notes ------------------------------------------------------------------------------------------ */

static struct run *find_run(struct nights *n, int period, int machine)
{
    for (int i = n->n_runs - 1; i >= 0; i--)
        if (n->runs[i].period == period && n->runs[i].machine == machine)
            return &n->runs[i];
    return NULL;
}

/* The machines' clocks differ as they should: a show without that shows nothing. */
static void check_clock(int machine, int64_t own_s)
{
    int64_t off_s = own_s - time(NULL) - fleet_ahead_s(machine);
    CHECK(off_s >= -30 && off_s <= 30);
}

static void read_notes(struct nights *n)
{
    char line[160], word[16];
    while (fgets(line, sizeof line, n->notes) != NULL) {
        struct run r = {0};
        int64_t own_s;
        CHECK_EQ(sscanf(line, "%15s %d %d %" SCNd64, word, &r.period, &r.machine, &own_s), 4);
        check_clock(r.machine, own_s);
        struct run *known = find_run(n, r.period, r.machine);
        r.seen_ms = pdk__test_now_ms() - due_ms(n, r.period, 0);
        CHECK((known != NULL) == (strcmp(word, "end") == 0) && n->n_runs < RUNS_MAX);
        if (known != NULL)
            known->ended = true;
        else
            n->runs[n->n_runs++] = r;
    }
    clearerr(n->notes);
}

/* --- faults ------------------------------------------------------------------------------------------------------ */

bool nights_faulty(int period) { return period % 3 == 1; }

static void plan_death(struct nights *n)
{
    for (; n->n_seen < n->n_runs && n->fault_at < 0; n->n_seen++) {
        int period = n->runs[n->n_seen].period;
        if (period < n->n_planned || !nights_faulty(period))
            continue;
        n->victim = n->n_seen;
        n->n_planned = period + 1;
        n->fault_at = pdk__test_now_ms() + dice_between(&n->dice, 0, JOB_MS / 2);
    }
}

/* From the first start of a period on: before the run, in it, or where its end is recorded. */
static void plan_leader(struct nights *n)
{
    for (; n->fault_at < 0 && n->n_planned < n->begun[0]; n->n_planned++)
        if (nights_faulty(n->n_planned))
            n->fault_at = due_ms(n, n->n_planned, 0) + dice_between(&n->dice, 0, 2 * JOB_MS);
}

/* A job that has ended by then cannot be killed in the middle. */
static void kill_machine(struct nights *n)
{
    struct run *r = &n->runs[n->victim];
    struct start *s = &n->starts[r->period][r->machine];
    read_notes(n);
    if (r->ended)
        return;
    fleet_kill(&s->program);
    s->killed = true;
    n->n_faults++;
}

static void kill_leader(struct nights *n, pdk__ensemble *e)
{
    n->victim = pdk__ensemble_leader(e, 2);
    pdk__server_kill(e->server[n->victim]);
    n->restart_at = pdk__test_now_ms() + RESTART_MS;
    n->n_faults++;
}

static bool is_due(int64_t *at)
{
    bool due = *at >= 0 && pdk__test_now_ms() >= *at;
    if (due)
        *at = -1;
    return due;
}

static void inflict(struct nights *n, pdk__ensemble *e)
{
    if (n->fault == DEATHS)
        plan_death(n);
    else if (n->fault == LEADERS)
        plan_leader(n);
    if (is_due(&n->fault_at)) {
        if (n->fault == DEATHS)
            kill_machine(n);
        else
            kill_leader(n, e);
    }
    if (is_due(&n->restart_at))
        CHECK_EQ(pdk__server_start(e->server[n->victim]), 0);
}

/* --- the whole --------------------------------------------------------------------------------------------------- */

static void begin(struct nights *n)
{
    CHECK(n->n_periods > 0 && n->n_periods <= PERIODS_MAX && n->period_ms > 0);
    n->notes = tmpfile();
    CHECK(n->notes != NULL);
    snprintf(n->file, sizeof n->file, "/proc/%d/fd/%d", (int)getpid(), fileno(n->notes));
    dice_seed(&n->dice, 1);
    n->fault_at = n->restart_at = -1;
    n->origin_ms = pdk__test_now_ms() - fleet_start_ms(0, n->period_ms) + JOB_MS;
}

static bool step(struct nights *const *lines, int count, pdk__ensemble *e)
{
    bool all = true;
    for (int i = 0; i < count; i++) {
        start_due(lines[i]);
        read_notes(lines[i]);
        inflict(lines[i], e);
        all = all_ended(lines[i]) && all;
    }
    return all;
}

void nights_play(struct nights *const *lines, int n, pdk__ensemble *e)
{
    for (int i = 0; i < n; i++)
        begin(lines[i]);
    CHECK_WITHIN((int64_t)lines[0]->n_periods * lines[0]->period_ms + SOON_MS, step(lines, n, e));
    for (int i = 0; i < n; i++) {
        read_notes(lines[i]);
        fclose(lines[i]->notes);
    }
}

void nights_count(const struct nights *n, int *successes)
{
    memset(successes, 0, sizeof *successes * (size_t)n->n_periods);
    for (int i = 0; i < n->n_runs; i++) {
        const struct run *r = &n->runs[i];
        const struct start *s = &n->starts[r->period][r->machine];
        successes[r->period] += r->ended && !s->killed && s->program.status == 0;
    }
}
