#include "cli/look/run_diagnosis.h"

#include "cli/look/findings.h"
#include "cli/number.h"
#include "cli/owner.h"

#include <paddock/error.h>
#include <stdio.h>
#include <string.h>

enum { OWNER = 600, CLOCKS_DIFFER_MS = 60000 };

static int64_t number(const struct pdk__cli_last_run *run, pdk_run which, pdk_run_property property)
{
    return pdk_runs_number(run->runs, which, property);
}

/* --- a record that is not to be believed ------------------------------------------------------------------------- */

static void name_record(json_t *finding, const char *path)
{
    char record[4096 + sizeof PDK__CLI_RECORD];
    snprintf(record, sizeof record, "%.4096s" PDK__CLI_RECORD, path);
    pdk__cli_finding_node(finding, record);
}

static const char forged[] =
    "find out who wrote it, and let only those who run the job write it, by its ACL; once it is "
    "deleted, the next contender does the job again";

static void find_unreadable(json_t *all, const struct pdk__cli_last_run *run, const char *path)
{
    if (run->rc == PDK_ERECORD)
        name_record(pdk__cli_finding(all, RECORD, forged, "no run of the job begins: %s", run->why), path);
    if (run->rc == PDK_EACCES)
        name_record(pdk__cli_finding(all, UNREADABLE, "look with the credentials of those who run the job (--auth)",
                                     "the ACL of the record of the job's runs does not permit READ here"),
                    path);
}

/* Only the run that counts suppresses others; the other one cannot be later than that by much. */
static bool find_future(json_t *all, const struct pdk__cli_last_run *run, const char *path)
{
    char owner[OWNER], ahead[32];
    bool done = pdk__cli_run_ahead_ms(run, PDK_RUN_DONE) > pdk__cli_run_ahead_ms(run, PDK_RUN_LAST);
    pdk_run which = done ? PDK_RUN_DONE : PDK_RUN_LAST;
    int64_t ahead_ms = pdk__cli_run_ahead_ms(run, which);
    if (ahead_ms <= CLOCKS_DIFFER_MS)
        return false;
    pdk__cli_run_owner(run, which, owner, sizeof owner);
    name_record(pdk__cli_finding(all, RECORD, forged,
                                 "a run of %s begins in %s by this machine's clock: the record is forged, or a clock "
                                 "is wrong, of this machine or of a server",
                                 owner, pdk__cli_duration(ahead_ms, ahead)),
                path);
    return true;
}

/* --- a job that is not done -------------------------------------------------------------------------------------- */

/* Machines start a job less often than once in its period, as a nightly one with a period of 12 hours. */
enum { PERIODS = 3 };

static bool is_overdue(const struct pdk__cli_last_run *run, const pdk_contender_list *list)
{
    int64_t period_ms = number(run, PDK_RUN_LAST, PDK_RUN_PERIOD_MS), age_ms = pdk__cli_run_age_ms(run, PDK_RUN_LAST);
    if (period_ms == 0 || (pdk__cli_last_run_is_running(run, list) && age_ms <= period_ms))
        return false;
    bool tried = number(run, PDK_RUN_DONE, PDK_RUN_TOKEN) != number(run, PDK_RUN_LAST, PDK_RUN_TOKEN);
    if (pdk__cli_run_exists(run, PDK_RUN_DONE))
        return pdk__cli_run_age_ms(run, PDK_RUN_DONE) / (tried ? 1 : PERIODS) > period_ms;
    return age_ms > period_ms || number(run, PDK_RUN_LAST, PDK_RUN_STATUS) >= 0;
}

static void find_overdue(json_t *all, const struct pdk__cli_last_run *run, const pdk_contender_list *list)
{
    char owner[OWNER], done[80] = "no run has counted yet", status[32], age[32], period[32];
    if (!is_overdue(run, list))
        return;
    pdk__cli_run_owner(run, PDK_RUN_LAST, owner, sizeof owner);
    pdk__cli_last_run_status(run, list, status, sizeof status);
    if (pdk__cli_run_exists(run, PDK_RUN_DONE))
        snprintf(done, sizeof done, "the last run that counts began %s ago",
                 pdk__cli_duration(pdk__cli_run_age_ms(run, PDK_RUN_DONE), age));
    pdk__cli_finding(all, OVERDUE, "look why its runs fail, or why no machine starts it",
                     "the job is overdue: its period is %s, and %s; the last run: by %s, %s ago, %s",
                     pdk__cli_duration(number(run, PDK_RUN_LAST, PDK_RUN_PERIOD_MS), period), done, owner,
                     pdk__cli_duration(pdk__cli_run_age_ms(run, PDK_RUN_LAST), age), status);
}

/* --- machines that disagree -------------------------------------------------------------------------------------- */

/* "its period is 1h00m", or without the first words, or "it has a KEY". */
static const char *job_of(const struct pdk__cli_last_run *run, pdk_run which, bool again, char text[64])
{
    char period[32];
    int64_t period_ms = number(run, which, PDK_RUN_PERIOD_MS);
    if (period_ms == 0)
        return "it has a KEY";
    snprintf(text, 64, "%s%s", again ? "" : "its period is ", pdk__cli_duration(period_ms, period));
    return text;
}

static const char *host_of(const struct pdk__cli_last_run *run, pdk_run which)
{
    const char *host = pdk_runs_text(run->runs, which, PDK_RUN_HOST);
    return *host != '\0' ? host : "an unknown host";
}

static void find_periods(json_t *all, const struct pdk__cli_last_run *run)
{
    char last[64], done[64];
    int64_t period_ms = number(run, PDK_RUN_LAST, PDK_RUN_PERIOD_MS);
    if (!pdk__cli_run_exists(run, PDK_RUN_LAST) || !pdk__cli_run_exists(run, PDK_RUN_DONE) ||
        period_ms == number(run, PDK_RUN_DONE, PDK_RUN_PERIOD_MS))
        return;
    pdk__cli_finding(all, PERIOD, "give the job the same period on all machines",
                     "machines disagree about the job: on %s %s, on %s %s", host_of(run, PDK_RUN_LAST),
                     job_of(run, PDK_RUN_LAST, false, last), host_of(run, PDK_RUN_DONE),
                     job_of(run, PDK_RUN_DONE, period_ms > 0, done));
}

/* --- a run without an end ---------------------------------------------------------------------------------------- */

static bool is_held(const pdk_contender_list *list)
{
    for (size_t i = 0; i < pdk_contender_list_size(list); i++)
        if (!pdk__cli_is_junk(list, i) && pdk_contender_holds(list, i))
            return true;
    return false;
}

static void find_unfinished(json_t *all, const struct pdk__cli_last_run *run, const pdk_contender_list *list)
{
    char owner[OWNER], age[32];
    bool counts = number(run, PDK_RUN_DONE, PDK_RUN_TOKEN) == number(run, PDK_RUN_LAST, PDK_RUN_TOKEN);
    if (!pdk__cli_last_run_is_open(run) || is_held(list))
        return;
    pdk__cli_run_owner(run, PDK_RUN_LAST, owner, sizeof owner);
    pdk__cli_finding(all, UNFINISHED,
                     counts ? "look on that machine for work that is half done: the run counts as it is, and is not "
                              "done again"
                            : "look on that machine for work that is half done; the next contender does the job again",
                     "the run that %s began %s ago has no end, and nobody holds the lock: its machine died, or it lost "
                     "the lock",
                     owner, pdk__cli_duration(pdk__cli_run_age_ms(run, PDK_RUN_LAST), age));
}

void pdk__cli_runs_diagnose(json_t *all, const struct pdk__cli_last_run *run, const pdk_contender_list *list,
                            const char *path)
{
    find_unreadable(all, run, path);
    if (find_future(all, run, path))
        return;
    find_overdue(all, run, list);
    find_periods(all, run);
    find_unfinished(all, run, list);
}
