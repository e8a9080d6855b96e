/*
 * One crontab line on ten machines whose clocks and time zones differ: with `paddock lock --every` the job of each
 * period is done once, also where the machine dies that does it, and where the servers' leader is killed. Beside it, on
 * the same schedule, `paddock lock -n` without a period, and ShedLock by arithmetic, which promise no such thing.
 *
 * The tests are on three throwaway servers, and print the rows of test/demo/nightly's table, after "# |".
 * PADDOCK_SHOW_PERIODS (50), PADDOCK_SHOW_PERIOD_S (16), of which --every is half, PADDOCK_SHOW_SESSION_S (4).
 */
#include "test/demo/nights.h"
#include "test/demo/shedlock.h"
#include "test/docker/workers.h"
#include "test/lib/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TICK_MS = 500 };

static int n_periods, period_ms;
static char every[32], session_s[32];
static pdk__ensemble *ensemble;

/* --- judgement --------------------------------------------------------------------------------------------------- */

static void row(const char *name, const int *successes, int n_runs, const char *faults)
{
    int n[3] = {0};
    for (int k = 0; k < n_periods; k++)
        n[successes[k] < 2 ? successes[k] : 2]++;
    printf("# | %-46s %5d %5d %5d %6d   %s\n", name, n[0], n[1], n[2], n_runs, faults);
}

/* A period that was not as it should be: its starts, with what they said, and its runs. */
static void tell(const struct nights *n, int period)
{
    for (int i = 0; i < FLEET_SIZE; i++) {
        const struct start *s = &n->starts[period][i];
        printf("# %s %d, machine %d: started %d ms late, status %d%s: %s\n", n->name, period, i, s->late_ms,
               s->program.status, s->killed ? ", killed" : "", s->program.err);
    }
    for (int i = 0; i < n->n_runs; i++)
        if (n->runs[i].period == period)
            printf("# %s %d, machine %d: ran %d ms after the first was due%s\n", n->name, period, n->runs[i].machine,
                   (int)n->runs[i].seen_ms, n->runs[i].ended ? "" : ", not to its end");
}

/* How often each exit status was seen, of machines that lived; and how late a busy machine has made a start. */
static void count_statuses(const struct nights *n)
{
    int count[256] = {0}, late_ms = 0;
    for (int k = 0; k < n_periods; k++)
        for (int i = 0; i < FLEET_SIZE; i++) {
            const struct start *s = &n->starts[k][i];
            count[s->program.status & 255] += !s->killed;
            late_ms = s->late_ms > late_ms ? s->late_ms : late_ms;
        }
    printf("# %s: no start was later than %d ms\n", n->name, late_ms);
    for (int i = 0; i < 256; i++)
        if (count[i] > 0)
            printf("# %s: exit status %d: %d times\n", n->name, i, count[i]);
}

/* Returns the number of periods in which the job was not done exactly once. */
static int judge(const struct nights *n, const char *title, const char *what)
{
    int successes[PERIODS_MAX], n_bad = 0;
    char faults[64] = "";
    nights_count(n, successes);
    if (what != NULL)
        snprintf(faults, sizeof faults, "%d %s", n->n_faults, what);
    row(title, successes, n->n_runs, faults);
    count_statuses(n);
    for (int k = 0; k < n_periods; k++)
        n_bad += successes[k] != 1;
    for (int k = 0; n->rule[1] != NULL && k < n_periods; k++)
        if (successes[k] != 1)
            tell(n, k);
    return n_bad;
}

/* --- scenarios --------------------------------------------------------------------------------------------------- */

static int n_faulty(void)
{
    int n = 0;
    for (int k = 0; k < n_periods; k++)
        n += nights_faulty(k);
    return n;
}

static void serve(void)
{
    char hosts[PDK__SERVER_MAX * 32] = "";
    pdk__ensemble_free(ensemble);
    ensemble = pdk__ensemble_new(&(struct pdk__ensemble_options){.n = 3, .tick_ms = TICK_MS, .own = true});
    for (int i = 0; i < ensemble->n; i++)
        snprintf(hosts + strlen(hosts), 32, "%s127.0.0.1:%d", i > 0 ? "," : "", pdk__server_port(ensemble->server[i]));
    setenv("PADDOCK_HOSTS", hosts, 1);
}

static struct nights *line(const char *name, enum fault fault, const char *rule, const char *value)
{
    struct nights *n = calloc(1, sizeof *n);
    CHECK(n != NULL);
    *n = (struct nights){.name = name,
                         .rule = {rule, value},
                         .session_s = session_s,
                         .fault = fault,
                         .n_periods = n_periods,
                         .period_ms = period_ms};
    return n;
}

static void machines(void)
{
    struct nights *lines[] = {line("calm", CALM, "--every", every), line("deaths", DEATHS, "--every", every),
                              line("bare", CALM, "-n", NULL)};
    serve();
    nights_play(lines, 3, ensemble);
    int n_bad = judge(lines[0], "paddock lock --every, calm", NULL);
    n_bad += judge(lines[1], "paddock lock --every, machines die", "machines");
    judge(lines[2], "paddock lock -n, calm", NULL);
    CHECK_EQ(n_bad, 0);
    CHECK(2 * lines[1]->n_faults >= n_faulty()); /* a busy machine may miss the middle of a run */
    for (int i = 0; i < 3; i++)
        free(lines[i]);
}

static void leaders(void)
{
    struct nights *n = line("leaders", LEADERS, "--every", every);
    serve();
    nights_play(&n, 1, ensemble);
    CHECK_EQ(judge(n, "paddock lock --every, leaders are killed", "leaders"), 0);
    CHECK_EQ(n->n_faults, n_faulty());
    free(n);
}

static void shed(bool own_clocks, int minutes, bool dying)
{
    int successes[PERIODS_MAX];
    char name[64], faults[64] = "";
    int n_runs = shedlock_play(&(struct shedlock){.hold_s = minutes * 60,
                                                  .own_clocks = own_clocks,
                                                  .job_s = JOB_MS * FLEET_HOUR_S / period_ms},
                               n_periods, dying ? nights_faulty : NULL, successes);
    snprintf(name, sizeof name, "ShedLock, %s, %d min, %s", own_clocks ? "own clocks" : "usingDbTime", minutes,
             dying ? "machines die" : "calm");
    if (dying)
        snprintf(faults, sizeof faults, "%d machines", n_faulty());
    row(name, successes, n_runs, faults);
}

static void shedlock(void)
{
    for (int i = 0; i < 8; i++)
        shed(i < 4, i % 4 < 2 ? 10 : 30, i % 2 == 1);
}

/* --- the program ------------------------------------------------------------------------------------------------- */

static void setup(void)
{
    n_periods = workers_number("PADDOCK_SHOW_PERIODS", 50);
    period_ms = workers_number("PADDOCK_SHOW_PERIOD_S", 16) * 1000;
    CHECK(n_periods > 0 && n_periods <= PERIODS_MAX && period_ms > 0);
    snprintf(every, sizeof every, "%gs", period_ms / 2000.0);
    snprintf(session_s, sizeof session_s, "%d", workers_number("PADDOCK_SHOW_SESSION_S", 4));
    fleet_begin();
}

static void teardown(void)
{
    fleet_end();
    pdk__ensemble_free(ensemble);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"machines: the job of each period is done once, also where machines die in the middle of a run", machines},
        {"leaders: so it is where the leader of the servers is killed", leaders},
        {"shedlock: by its rule", shedlock},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){
            .name = "crontab", .tests = tests, .setup = setup, .teardown = teardown, .limit_ms = 4 * 3600 * 1000});
}
