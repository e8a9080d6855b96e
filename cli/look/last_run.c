#include "cli/look/last_run.h"

#include "cli/json.h"
#include "cli/look/listing.h"
#include "cli/message.h"
#include "cli/number.h"
#include "cli/owner.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- reading ----------------------------------------------------------------------------------------------------- */

/* The library's note names the path, too; what follows the text of RC is the reason. */
static void take_reason(struct pdk__cli_last_run *run, pdk_client *c, int rc)
{
    char note[1024];
    pdk_client_last_error(c, note, sizeof note);
    const char *reason = strstr(note, pdk_strerror(rc));
    snprintf(run->why, sizeof run->why, "%s", reason != NULL ? reason : pdk_strerror(rc));
    run->rc = rc;
}

int pdk__cli_last_run_read(struct pdk__cli_last_run *run, pdk_client *c, const char *path, int64_t timeout_ms)
{
    pdk__cli_last_run_free(run);
    int rc = pdk_runs_read(c, path, timeout_ms, &run->runs);
    if (rc == PDK_ERECORD || rc == PDK_EACCES)
        take_reason(run, c, rc);
    return run->rc != 0 || rc == PDK_ENOENT || rc == PDK_EPATH ? 0 : rc;
}

int pdk__cli_last_run_confirm(struct pdk__cli_last_run *run, pdk_client *c, const char *path, int64_t timeout_ms,
                              const pdk_contender_list *list)
{
    if (!pdk__cli_last_run_is_open(run) || pdk__cli_last_run_is_running(run, list))
        return 0;
    return pdk__cli_last_run_read(run, c, path, timeout_ms);
}

void pdk__cli_last_run_free(struct pdk__cli_last_run *run)
{
    pdk_runs_free(run->runs);
    *run = (struct pdk__cli_last_run){0};
}

/* --- what it tells ----------------------------------------------------------------------------------------------- */

static int64_t number(const struct pdk__cli_last_run *run, pdk_run which, pdk_run_property property)
{
    return pdk_runs_number(run->runs, which, property);
}

bool pdk__cli_run_exists(const struct pdk__cli_last_run *run, pdk_run which)
{
    return number(run, which, PDK_RUN_TOKEN) > 0;
}

bool pdk__cli_last_run_is_open(const struct pdk__cli_last_run *run)
{
    return pdk__cli_run_exists(run, PDK_RUN_LAST) && number(run, PDK_RUN_LAST, PDK_RUN_STATUS) < 0;
}

/* A contender's node is not younger than its grant: the token of one that is confirmed, or of several paths, is larger
 * than the node's number. */
bool pdk__cli_last_run_is_running(const struct pdk__cli_last_run *run, const pdk_contender_list *list)
{
    int64_t token = number(run, PDK_RUN_LAST, PDK_RUN_TOKEN);
    for (size_t i = 0; pdk__cli_last_run_is_open(run) && i < pdk_contender_list_size(list); i++)
        if (!pdk__cli_is_junk(list, i) && pdk_contender_number(list, i, PDK_CONTENDER_TOKEN) <= token &&
            pdk_contender_holds(list, i))
            return true;
    return false;
}

int64_t pdk__cli_run_age_ms(const struct pdk__cli_last_run *run, pdk_run which)
{
    return pdk__cli_age_ms(number(run, which, PDK_RUN_BEGUN_MS));
}

/* Both numbers are at least 0. */
int64_t pdk__cli_run_ahead_ms(const struct pdk__cli_last_run *run, pdk_run which)
{
    int64_t ahead = number(run, which, PDK_RUN_BEGUN_MS) - pdk__cli_age_ms(0);
    return ahead > 0 ? ahead : 0;
}

/* --- in words ---------------------------------------------------------------------------------------------------- */

void pdk__cli_run_owner(const struct pdk__cli_last_run *run, pdk_run which, char *text, size_t size)
{
    char pid[40] = "";
    const char *host = pdk_runs_text(run->runs, which, PDK_RUN_HOST),
               *label = pdk_runs_text(run->runs, which, PDK_RUN_LABEL);
    if (number(run, which, PDK_RUN_PID) > 0)
        snprintf(pid, sizeof pid, " pid %" PRId64, number(run, which, PDK_RUN_PID));
    snprintf(text, size, "%s%s%s%s%s", *host != '\0' ? host : "an unknown host", pid, *label != '\0' ? " (" : "", label,
             *label != '\0' ? ")" : "");
}

void pdk__cli_last_run_status(const struct pdk__cli_last_run *run, const pdk_contender_list *list, char *text,
                              size_t size)
{
    int64_t status = number(run, PDK_RUN_LAST, PDK_RUN_STATUS);
    if (status > 0)
        snprintf(text, size, "exit %" PRId64, status);
    else if (status == 0)
        snprintf(text, size, "ok");
    else
        snprintf(text, size, "%s", pdk__cli_last_run_is_running(run, list) ? "running" : "no end recorded");
}

/* ", KEY 2026-11-30" or ", every 1h00m". */
static void put_job(const struct pdk__cli_last_run *run, char *text, size_t size)
{
    char period[32];
    const char *key = pdk_runs_text(run->runs, PDK_RUN_LAST, PDK_RUN_KEY);
    int64_t period_ms = number(run, PDK_RUN_LAST, PDK_RUN_PERIOD_MS);
    *text = '\0';
    if (*key != '\0')
        snprintf(text, size, ", KEY %s", key);
    else if (period_ms > 0)
        snprintf(text, size, ", every %s", pdk__cli_duration(period_ms, period));
}

/* "; the last that counts 1d02h ago", where that is another. */
static void put_done(const struct pdk__cli_last_run *run, char *text, size_t size)
{
    char age[32];
    bool other = number(run, PDK_RUN_DONE, PDK_RUN_TOKEN) != number(run, PDK_RUN_LAST, PDK_RUN_TOKEN) ||
                 number(run, PDK_RUN_DONE, PDK_RUN_BEGUN_MS) != number(run, PDK_RUN_LAST, PDK_RUN_BEGUN_MS);
    *text = '\0';
    if (other && pdk__cli_run_exists(run, PDK_RUN_DONE))
        snprintf(text, size, "; the last that counts %s ago",
                 pdk__cli_duration(pdk__cli_run_age_ms(run, PDK_RUN_DONE), age));
}

void pdk__cli_last_run_print(FILE *out, const struct pdk__cli_last_run *run, const pdk_contender_list *list,
                             const char *indent)
{
    char text[PDK__CLI_RUN_TEXT], clean[PDK__CLI_RUN_TEXT], owner[600], job[300], done[80], status[32], age[32];
    if (!pdk__cli_run_exists(run, PDK_RUN_LAST))
        return;
    pdk__cli_run_owner(run, PDK_RUN_LAST, owner, sizeof owner);
    put_job(run, job, sizeof job);
    put_done(run, done, sizeof done);
    pdk__cli_last_run_status(run, list, status, sizeof status);
    pdk__cli_duration(pdk__cli_run_age_ms(run, PDK_RUN_LAST), age);
    snprintf(text, sizeof text, "%s ago, %s, by %s%s%s", age, status, owner, job, done);
    pdk__cli_printable(clean, sizeof clean, sizeof clean, text);
    fprintf(out, "%slast run: %s\n", indent, clean);
}

void pdk__cli_last_run_short(const struct pdk__cli_last_run *run, const pdk_contender_list *list, char *text,
                             size_t size)
{
    char status[32], age[32];
    bool running = pdk__cli_last_run_is_running(run, list), lacks_end = pdk__cli_last_run_is_open(run);
    if (!pdk__cli_run_exists(run, PDK_RUN_LAST)) {
        snprintf(text, size, "%s", run->rc != 0 ? "unreadable" : "-");
        return;
    }
    pdk__cli_last_run_status(run, list, status, sizeof status);
    pdk__cli_duration(pdk__cli_run_age_ms(run, PDK_RUN_LAST), age);
    if (running)
        snprintf(text, size, "%s", status);
    else
        snprintf(text, size, "%s ago %s", age, lacks_end ? "no end" : status);
}

/* --- for programs ------------------------------------------------------------------------------------------------ */

/* Null where the number is as if it were not known. */
static void put_number(json_t *object, const char *key, int64_t value, int64_t unknown)
{
    json_object_set_new(object, key, value != unknown ? json_integer(value) : json_null());
}

static void put_text(json_t *object, const char *key, const char *text)
{
    if (*text != '\0')
        pdk__cli_json_text(object, key, text);
    else
        json_object_set_new(object, key, json_null());
}

static json_t *run_object(const struct pdk__cli_last_run *run, pdk_run which)
{
    json_t *object = json_object();
    put_text(object, "key", pdk_runs_text(run->runs, which, PDK_RUN_KEY));
    put_number(object, "period_ms", number(run, which, PDK_RUN_PERIOD_MS), 0);
    put_text(object, "host", pdk_runs_text(run->runs, which, PDK_RUN_HOST));
    put_number(object, "pid", number(run, which, PDK_RUN_PID), 0);
    put_text(object, "label", pdk_runs_text(run->runs, which, PDK_RUN_LABEL));
    json_object_set_new(object, "token", json_integer(number(run, which, PDK_RUN_TOKEN)));
    json_object_set_new(object, "begun_ms", json_integer(number(run, which, PDK_RUN_BEGUN_MS)));
    json_object_set_new(object, "age_ms", json_integer(pdk__cli_run_age_ms(run, which)));
    put_number(object, "ended_ms", number(run, which, PDK_RUN_ENDED_MS), 0);
    put_number(object, "status", number(run, which, PDK_RUN_STATUS), -1);
    return object;
}

void pdk__cli_last_run_report(const struct pdk__cli_last_run *run, const pdk_contender_list *list, json_t *object)
{
    if (pdk__cli_run_exists(run, PDK_RUN_LAST)) {
        json_t *last = run_object(run, PDK_RUN_LAST);
        json_object_set_new(last, "running", json_boolean(pdk__cli_last_run_is_running(run, list)));
        json_object_set_new(object, "last_run", last);
    }
    if (pdk__cli_run_exists(run, PDK_RUN_DONE))
        json_object_set_new(object, "last_done", run_object(run, PDK_RUN_DONE));
}
