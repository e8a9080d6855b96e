#include "cli/commands.h"
#include "cli/connect.h"
#include "cli/json.h"
#include "cli/look/counter.h"
#include "cli/look/diagnosis.h"
#include "cli/look/findings.h"
#include "cli/look/last_run.h"
#include "cli/look/listing.h"
#include "cli/look/look.h"
#include "cli/look/quota.h"
#include "cli/look/run_diagnosis.h"
#include "cli/message.h"
#include "cli/number.h"
#include "cli/options.h"
#include "cli/owner.h"
#include "cli/target.h"
#include "lib/assert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] = "Usage: paddock doctor [OPTION]... PATH...\n"
                            "Tell what is wrong with the locks PATH, and what to do about it.\n";

static const char notes[] = "A finding has one of the codes foreign, junk, tie, persistent, unreadable,\n"
                            "acl, mixed, counter, orphan, deadlock, quota; of a job that runs once, record,\n"
                            "overdue, period, unfinished. Of a semaphore, its locks and leases are looked at.\n"
                            "It tries no write: that the servers refuse one, by a quota that it does not see\n"
                            "or for want of containers, it cannot tell.\n"
                            "Exit: 0 nothing is wrong, or there is no such path; 1 something is wrong;\n"
                            "64 usage, 69 no ensemble, 70 internal, 77 not permitted. See paddock(1).\n";

/* The path that is looked at. */
struct subject {
    const char *path;
    pdk_contender_list *list;
    struct pdk__cli_last_run last_run;
};

struct doctor {
    struct pdk__cli_options options; /* first */
    bool json;
    json_t *reports;
    json_t *refused; /* the paths that could not be read */
    bool looked;     /* at all locks, for deadlocks */
    struct pdk__cli_look all;
    size_t n_findings;
};

#define AT(member) .at = offsetof(struct doctor, member)

static const struct pdk__cli_option own_options[] = {
    {"json", 0, KIND_FLAG, AT(json), .help = "a JSON object, for programs"}, {0}};

static int check(struct pdk__cli_options *o)
{
    struct doctor *d = PDK__MEMBER(o, struct doctor, options);
    int status = pdk__cli_options_path(&d->options, d->options.words[0]);
    for (char **word = d->options.words; status == 0 && *word != NULL; word++)
        status = pdk__cli_target_path(o->command, *word);
    return status;
}

/* --- deadlocks --------------------------------------------------------------------------------------------------- */

/* The first node from NODE on, at PATH, of an actor that can never go on; n_nodes: none. */
static size_t stuck_at(const struct pdk__cli_census *census, const char *path, size_t node)
{
    for (; node < census->n_nodes; node++) {
        size_t actor = census->nodes[node].actor;
        if (actor != PDK__CLI_NONE && census->verdict.stuck[actor] &&
            strcmp(pdk__cli_node_path(census, node), path) == 0)
            break;
    }
    return node;
}

static bool tells_thread(const struct pdk__cli_census *census, size_t actor)
{
    size_t node = census->speaker[actor], i = census->nodes[node].i;
    const pdk_contender_list *list = pdk__cli_node_list(census, node);
    return pdk_contender_number(list, i, PDK_CONTENDER_PID) != 0 &&
           *pdk_contender_text(list, i, PDK_CONTENDER_MACHINE) != '\0';
}

/* A session that tells no thread may be of several, of which another one goes on. ACTOR is stuck. */
static bool is_certain(const struct pdk__cli_census *census, size_t actor)
{
    const size_t *deadlock = census->verdict.deadlock;
    for (size_t a = 0; a < census->waits.n_actors; a++)
        if (deadlock[a] != 0 && (deadlock[actor] == 0 || deadlock[a] == deadlock[actor]) && !tells_thread(census, a))
            return false;
    return true;
}

static void find_deadlocks(const struct pdk__cli_census *census, const char *path, json_t *findings)
{
    json_t *finding = NULL;
    for (size_t node = 0; (node = stuck_at(census, path, node)) < census->n_nodes; node++) {
        if (!is_certain(census, census->nodes[node].actor))
            continue;
        if (finding == NULL)
            finding = pdk__cli_finding(findings, DEADLOCK,
                                       "end one of the processes that 'paddock graph' shows in the circle, or take its "
                                       "lock away with 'paddock break'",
                                       "contenders in a deadlock, or that wait for one: they wait indefinitely");
        pdk__cli_finding_node(
            finding, pdk_contender_text(pdk__cli_node_list(census, node), census->nodes[node].i, PDK_CONTENDER_NAME));
    }
}

/* --- for people -------------------------------------------------------------------------------------------------- */

enum { OWNER = 400, SHOWN = 10, LISTED = 1000 };

static void owner(const pdk_contender_list *list, size_t i, char clean[OWNER])
{
    char text[700];
    pdk__cli_owner(list, i, text, sizeof text);
    pdk__cli_printable(clean, OWNER, 100, text);
}

/* How many of the contenders that block I must be deleted before it holds; 0: it holds. */
static size_t excess_of(const pdk_contender_list *list, size_t i)
{
    size_t n = 0;
    for (size_t k = 0; k < pdk_contender_list_size(list); k++)
        n += pdk_contender_blocks(list, k, i);
    if (pdk_contender_number(list, i, PDK_CONTENDER_MODE) != PDK_MODE_PERMIT)
        return n;
    int64_t limit = pdk_contender_number(list, i, PDK_CONTENDER_LIMIT);
    return limit > 0 && n >= (size_t)limit ? n - (size_t)limit + 1 : 0;
}

/* The nearest contender that blocks I, which must have one. */
static size_t predecessor_of(const pdk_contender_list *list, size_t i)
{
    size_t nearest = i;
    for (size_t k = 0; k < pdk_contender_list_size(list); k++)
        if (pdk_contender_blocks(list, k, i) && (nearest == i || k < i))
            nearest = k;
    assert(nearest != i);
    return nearest;
}

/* A permit is waited for until any of those ahead are deleted, other locks until their predecessor is. */
static void print_waiter(const pdk_contender_list *list, size_t i, const char *who, size_t excess)
{
    char whom[OWNER], age[32];
    bool known = pdk_contender_number(list, i, PDK_CONTENDER_SINCE_MS) > 0;
    if (pdk_contender_number(list, i, PDK_CONTENDER_MODE) == PDK_MODE_PERMIT)
        snprintf(whom, sizeof whom, "%zu of those before it", excess);
    else
        owner(list, predecessor_of(list, i), whom);
    pdk__cli_duration(pdk__cli_listing_age_ms(list, i), age);
    printf("  %s %s%s for %s\n", who, known ? "has waited " : "waits", known ? age : "", whom);
}

static void print_contender(const pdk_contender_list *list, size_t i)
{
    char who[OWNER], age[32];
    size_t excess = excess_of(list, i);
    bool known = pdk_contender_number(list, i, PDK_CONTENDER_SINCE_MS) > 0,
         asked = pdk_contender_number(list, i, PDK_CONTENDER_REVOKED);
    owner(list, i, who);
    if (excess > 0) {
        print_waiter(list, i, who, excess);
        return;
    }
    pdk__cli_duration(pdk__cli_listing_age_ms(list, i), age);
    printf("  %s holds%s%s%s%s\n", who, known ? ", its node is " : "", known ? age : "", known ? " old" : "",
           asked ? ", and was asked to release it" : "");
}

static size_t contenders_of(const pdk_contender_list *list)
{
    size_t n = 0;
    while (n < pdk_contender_list_size(list) && !pdk__cli_is_junk(list, n))
        n++;
    return n;
}

static const char *recipe_in_words(const char *recipe)
{
    static const char *const words[][2] = {{"mutex", "a mutex"},
                                           {"leader", "candidates for leader"},
                                           {"rwlock", "a read/write lock"},
                                           {"permits", "the permits of a semaphore"},
                                           {"semaphore", "a semaphore"},
                                           {"double_barrier", "a double barrier"},
                                           {"directory", "no lock: 'paddock ls' shows what lies below"},
                                           {"foreign", "a lock of another library"},
                                           {"mixed", "several recipes"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], recipe) == 0)
            return words[i][1];
    return "no contender";
}

static void print_verdict(const struct doctor *d, const char *path, bool exists)
{
    if (stuck_at(&d->all.census, path, 0) < d->all.census.n_nodes)
        puts("  'paddock graph' shows a deadlock, which is none if one of its sessions is of several threads");
    else if (d->all.census.truncated || d->all.first.truncated || d->all.first.n_refused > 0)
        puts("  not all locks were looked at for deadlocks: 'paddock graph' says why");
    else if (exists)
        puts("  nothing is wrong, as far as a look tells: no write was tried");
}

static const char *site_in_words(const struct subject *s, bool exists)
{
    if (exists)
        return recipe_in_words(pdk__cli_diagnosis_recipe(s->list));
    if (pdk__cli_run_exists(&s->last_run, PDK_RUN_LAST))
        return "there is no such path now, so no contender: the path of a job between its runs";
    return "there is no such path, so no contender; is it the one that was meant?";
}

static void print_report(const struct doctor *d, const struct subject *s, const json_t *findings)
{
    char clean[OWNER];
    size_t n = contenders_of(s->list);
    bool exists = pdk_contender_list_number(s->list, PDK_LIST_SINCE_MS) > 0;
    pdk__cli_printable(clean, sizeof clean, 300, s->path);
    printf("%s: %s\n", clean, site_in_words(s, exists));
    for (size_t i = 0; i < n && i < SHOWN; i++)
        print_contender(s->list, i);
    if (n > SHOWN)
        printf("  and %zu more; 'paddock ls' shows them\n", n - SHOWN);
    pdk__cli_last_run_print(stdout, &s->last_run, s->list, "  ");
    pdk__cli_findings_print(findings);
    if (json_array_size(findings) == 0)
        print_verdict(d, s->path, exists);
}

/* --- for programs ------------------------------------------------------------------------------------------------ */

static json_t *contender_object(const pdk_contender_list *list, size_t i)
{
    json_t *object = pdk__cli_listing_object(list, i);
    size_t excess = excess_of(list, i);
    if (excess > 0)
        pdk__cli_json_text(object, "predecessor",
                           pdk_contender_text(list, predecessor_of(list, i), PDK_CONTENDER_NAME));
    else
        json_object_set_new(object, "predecessor", json_null());
    json_object_set_new(object, "excess", json_integer((json_int_t)excess));
    return object;
}

static json_t *report_object(const struct subject *s, json_t *findings)
{
    const pdk_contender_list *list = s->list;
    json_t *report = json_object(), *contenders = json_array();
    struct pdk__cli_counter counter = pdk__cli_counter(list);
    pdk__cli_json_text(report, "path", s->path);
    json_object_set_new(report, "exists", json_boolean(pdk_contender_list_number(list, PDK_LIST_SINCE_MS) > 0));
    pdk__cli_json_text(report, "recipe", pdk__cli_diagnosis_recipe(list));
    json_object_set_new(report, "counter", pdk__cli_counter_object(&counter));
    size_t n = contenders_of(list);
    json_object_set_new(report, "n_contenders", json_integer((json_int_t)n));
    for (size_t i = 0; i < n && i < LISTED; i++)
        json_array_append_new(contenders, contender_object(list, i));
    json_object_set_new(report, "contenders", contenders);
    pdk__cli_last_run_report(&s->last_run, list, report);
    json_object_set(report, "findings", findings);
    return report;
}

/* --- the whole --------------------------------------------------------------------------------------------------- */

static bool has_waiter(const pdk_contender_list *list)
{
    for (size_t i = contenders_of(list); i-- > 0;)
        if (!pdk_contender_holds(list, i))
            return true;
    return false;
}

/* A circle goes through other locks, so all are looked at, once, or those that are named where not all may be seen. */
static int look_at_waits(struct doctor *d, pdk_client *c, const pdk_contender_list *list)
{
    static char root[] = "/";
    char *everything[] = {root, NULL};
    const char *at;
    struct pdk__cli_tree bounds = {
        .depth = PDK__CLI_DEPTH, .max_paths = PDK__CLI_PATHS, .timeout_ms = d->options.connect_ms};
    if (d->looked || !has_waiter(list))
        return 0;
    d->looked = true;
    d->all.first = bounds;
    int rc = pdk__cli_look_take(&d->all, c, everything, false, &at);
    if (rc != PDK_EACCES)
        return rc;
    pdk__cli_look_free(&d->all);
    d->all = (struct pdk__cli_look){.first = bounds};
    rc = pdk__cli_look_take(&d->all, c, d->options.words, false, &at);
    d->all.first.n_refused++;
    return rc == PDK_EACCES ? 0 : rc;
}

static int examine(struct doctor *d, pdk_client *c, const struct subject *s)
{
    int rc = look_at_waits(d, c, s->list);
    json_t *findings = pdk__cli_diagnose(s->list);
    if (rc == 0)
        rc = pdk__cli_quota_diagnose(findings, c, s->path, d->options.connect_ms);
    pdk__cli_runs_diagnose(findings, &s->last_run, s->list, s->path);
    find_deadlocks(&d->all.census, s->path, findings);
    d->n_findings += json_array_size(findings);
    if (d->json)
        json_array_append_new(d->reports, report_object(s, findings));
    else
        print_report(d, s, findings);
    json_decref(findings);
    return rc;
}

static int read_subject(const struct doctor *d, pdk_client *c, struct subject *s)
{
    int64_t timeout_ms = d->options.connect_ms;
    int rc = pdk__cli_last_run_read(&s->last_run, c, s->path, timeout_ms);
    if (rc == 0)
        rc = pdk_contenders(c, s->path, PDK_CONTENDERS_ALL, timeout_ms, &s->list);
    return rc == 0 ? pdk__cli_last_run_confirm(&s->last_run, c, s->path, timeout_ms, s->list) : rc;
}

static int look(struct doctor *d, pdk_client *c, const char *path, bool *semaphore)
{
    struct subject s = {.path = path};
    int rc = read_subject(d, c, &s);
    if (rc == 0) {
        *semaphore = pdk__cli_has_leases(s.list);
        rc = examine(d, c, &s);
    } else {
        pdk__cli_json_append(d->refused, path);
    }
    pdk_contender_list_free(s.list);
    pdk__cli_last_run_free(&s.last_run);
    return rc;
}

/* A semaphore's gate and its permits have paths of their own. */
static int look_at_all(struct doctor *d, pdk_client *c, const char *path)
{
    static const char *const parts[] = {"locks", "leases"};
    bool semaphore = false, nested;
    int rc = look(d, c, path, &semaphore);
    for (size_t i = 0; rc == 0 && semaphore && i < sizeof parts / sizeof *parts; i++) {
        char *part = NULL;
        if (asprintf(&part, "%s/%s", path, parts[i]) < 0)
            return PDK_ENOMEM;
        rc = look(d, c, part, &nested);
        free(part);
    }
    return rc;
}

/* One path that cannot be looked at does not hide the others. */
static int visit(struct doctor *d, pdk_client *c)
{
    int status = 0;
    for (char **word = d->options.words; *word != NULL; word++) {
        int rc = look_at_all(d, c, *word);
        d->options.path = *word;
        if (rc == 0)
            continue;
        fflush(stdout);
        int failed = pdk__cli_report_failure(&d->options, c, rc);
        status = status != 0 ? status : failed;
    }
    return status;
}

static int print_json(const struct doctor *d)
{
    json_t *top = json_object();
    assert(d->reports != NULL);
    json_object_set(top, "paths", d->reports);
    json_object_set(top, "refused_paths", d->refused);
    json_object_set_new(top, "findings", json_integer((json_int_t)d->n_findings));
    return pdk__cli_json_print(top);
}

static int run(struct pdk__cli_options *o)
{
    struct doctor *d = PDK__MEMBER(o, struct doctor, options);
    pdk_client *c = NULL;
    int rc = pdk__cli_connect(&d->options, &c), printed = 0;
    d->reports = json_array();
    d->refused = json_array();
    int status = rc == 0 ? visit(d, c) : pdk__cli_report_failure(&d->options, c, rc);
    if (rc == 0 && d->json)
        printed = print_json(d);
    if (status == 0)
        status = printed != 0 ? printed : d->n_findings > 0 ? STATUS_BUSY : 0;
    json_decref(d->reports);
    json_decref(d->refused);
    pdk__cli_look_free(&d->all);
    pdk_client_free(c);
    return status;
}

static const struct pdk__cli_verb verb = {
    "doctor", usage, notes, {own_options, pdk__cli_ensemble_options}, .ends = false, .check = check, .run = run,
};

int pdk__cli_doctor_main(int argc, char **argv)
{
    struct doctor d = {0};
    return pdk__cli_verb_main(&verb, &d.options, argc, argv);
}
