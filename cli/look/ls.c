#include "cli/look/listing.h"

#include "cli/commands.h"
#include "cli/conflicts.h"
#include "cli/connect.h"
#include "cli/json.h"
#include "cli/look/counter.h"
#include "cli/look/last_run.h"
#include "cli/look/overview.h"
#include "cli/look/semaphore.h"
#include "cli/look/watch.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] = "Usage: paddock ls [OPTION]... PATH\n"
                            "       paddock ls --watch [OPTION]... PATH...\n"
                            "Show who holds the lock PATH and who waits, in their order; of a semaphore its\n"
                            "permits and queue, of a double barrier its members, else the locks below PATH.\n";

static const char notes[] = "A node of another library stands in the order and is marked; a node that no lock\n"
                            "library could have made is 'junk': it blocks nobody, but takes a permit.\n"
                            "Exit: 0, also when nobody is there; 64 usage, 69 no ensemble, 70 internal,\n"
                            "77 not permitted. See paddock(1).\n";

struct ls {
    struct pdk__cli_options options; /* first */
    bool json;
    bool watch;
    bool recursive;
    struct pdk__cli_last_run last_run; /* of the path, but for -r */
};

#define AT(member) .at = offsetof(struct ls, member)

static const struct pdk__cli_option own_options[] = {
    {"json", 0, KIND_FLAG, AT(json), .help = "a JSON object, for programs; --watch: one a line"},
    {"watch", 0, KIND_FLAG, AT(watch), .help = "show each PATH, and again at each change"},
    {"recursive", 'r', KIND_FLAG, AT(recursive), .help = "the locks at and below PATH, whatever it is"},
    {"recursive", 'R', KIND_FLAG, AT(recursive), .help = ""},
    {0}};

/* The root is no lock, and has locks below it. */
static int check_path(struct ls *l)
{
    const char *path = l->options.words[0];
    if (!l->recursive || path == NULL || strcmp(path, "/") != 0)
        return pdk__cli_options_path(&l->options, path);
    l->options.path = path;
    return pdk__cli_options_ensemble(&l->options);
}

static int check(struct pdk__cli_options *o)
{
    struct ls *l = PDK__MEMBER(o, struct ls, options);
    if (l->recursive && l->watch)
        return pdk__cli_usage("ls: one of -r and --watch; 'paddock top' shows the locks of a tree again and again");
    int status = check_path(l);
    if (status == 0 && l->options.words[1] != NULL && !l->watch)
        return pdk__cli_usage("ls: one path at a time, but for --watch: '%s'", l->options.words[1]);
    for (char **word = l->options.words; status == 0 && *word != NULL && !l->recursive; word++)
        status = pdk__cli_target_path(o->command, *word);
    return status;
}

/* --- warnings that go with a table ------------------------------------------------------------------------------- */

static void note_conflicts(const struct ls *l, const pdk_contender_list *list)
{
    struct pdk__cli_conflicts conflicts = {0};
    unsigned reported = 0;
    pdk__cli_conflicts_add(&conflicts, list);
    pdk__cli_conflicts_report(&conflicts, &reported, l->options.path);
}

static void note_counter(const struct ls *l, const pdk_contender_list *list)
{
    char text[256];
    struct pdk__cli_counter counter = pdk__cli_counter(list);
    pdk__cli_counter_text(&counter, text, sizeof text);
    if (*text != '\0')
        pdk__cli_message("%s: %s: see 'paddock doctor'", l->options.path, text);
}

static void note_record(const struct ls *l)
{
    if (l->last_run.rc != 0)
        pdk__cli_message("%s: its last run is not known: %s: see 'paddock doctor'", l->options.path, l->last_run.why);
}

/* After the table. */
static void note(const struct ls *l, const pdk_contender_list *list)
{
    fflush(stdout);
    if (l->options.quiet)
        return;
    note_conflicts(l, list);
    note_counter(l, list);
    note_record(l);
}

/* --- a path whose children say all ------------------------------------------------------------------------------- */

static int show_list(const struct ls *l, const pdk_contender_list *list)
{
    bool exists = pdk_contender_list_number(list, PDK_LIST_SINCE_MS) > 0;
    if (l->json) {
        json_t *report = pdk__cli_listing_report(list, l->options.path);
        pdk__cli_last_run_report(&l->last_run, list, report);
        return pdk__cli_json_print(report);
    }
    if (!exists && !l->options.quiet)
        pdk__cli_message("%s: there is no such path, so nobody holds it, nobody waits", l->options.path);
    else if (pdk_contender_list_size(list) == 0 && !l->options.quiet)
        pdk__cli_message("%s: nobody holds it, nobody waits", l->options.path);
    pdk__cli_listing_table(stdout, list, pdk_contender_list_size(list));
    pdk__cli_last_run_print(stdout, &l->last_run, list, "");
    note(l, list);
    return 0;
}

/* --- a semaphore ------------------------------------------------------------------------------------------------- */

static void note_semaphore(const struct ls *l, const struct pdk__cli_semaphore *s)
{
    if (s->limit > 0)
        pdk__cli_message("%s: a semaphore: %zu of %lld permits are held, %zu in its queue", l->options.path, s->n_held,
                         (long long)s->limit, s->n_queue);
    else
        pdk__cli_message("%s: a semaphore: %zu permits are held, %zu in its queue", l->options.path, s->n_held,
                         s->n_queue);
}

static int show_semaphore(const struct ls *l, const struct pdk__cli_semaphore *s)
{
    if (l->json)
        return pdk__cli_json_print(pdk__cli_semaphore_report(s, l->options.path));
    pdk__cli_semaphore_table(stdout, s);
    note(l, s->permits);
    if (!l->options.quiet)
        note_semaphore(l, s);
    return 0;
}

static int look_at_semaphore(const struct ls *l, pdk_client *c, int *status)
{
    struct pdk__cli_semaphore s = {0};
    int rc = pdk__cli_semaphore_list(&s, c, l->options.path, l->options.connect_ms);
    if (rc == 0)
        *status = show_semaphore(l, &s);
    pdk__cli_semaphore_free(&s);
    return rc;
}

/* --- what lies below --------------------------------------------------------------------------------------------- */

static int show_overview(const struct ls *l, const struct pdk__cli_overview *overview)
{
    if (l->json) {
        json_t *top = pdk__cli_overview_object(overview);
        pdk__cli_json_text(top, "path", l->options.path);
        pdk__cli_json_text(top, "kind", pdk__cli_site_word(SITE_DIRECTORY));
        return pdk__cli_json_print(top);
    }
    pdk__cli_overview_print(stdout, overview, (size_t)-1, PDK__CLI_WIDE);
    return 0;
}

/* A path that was not looked at may have contenders. */
static void note_below(const struct ls *l, const struct pdk__cli_tree *tree, bool none)
{
    fflush(stdout);
    if (l->options.quiet)
        return;
    pdk__cli_tree_warn(tree, " of 'paddock top'");
    if (none && !l->json && !tree->truncated && tree->n_refused == 0)
        pdk__cli_message("%s: no contender is at or below it; a path there may be that of a lock which is not in use",
                         l->options.path);
}

/* LIST NULL: whatever stands at the path itself. Else it has no contender, and is shown where there is none below. */
static int look_below(struct ls *l, pdk_client *c, const pdk_contender_list *list, int *status)
{
    char *roots[] = {l->options.words[0], NULL};
    struct pdk__cli_overview overview = {0};
    struct pdk__cli_tree tree = {.depth = PDK__CLI_DEPTH,
                                 .max_paths = PDK__CLI_PATHS,
                                 .timeout_ms = l->options.connect_ms,
                                 .parts = true,
                                 .runs = true};
    int rc = pdk__cli_tree_walk(c, &tree, roots, &l->options.path);
    if (rc == 0)
        rc = pdk__cli_overview_take(&overview, &tree, NULL, 0) ? 0 : PDK_ENOMEM;
    bool none = list != NULL && overview.n == 0;
    if (rc == 0)
        *status = none ? show_list(l, list) : show_overview(l, &overview);
    if (rc == 0 && *status == 0)
        note_below(l, &tree, none);
    pdk__cli_overview_free(&overview);
    pdk__cli_tree_free(&tree);
    return rc;
}

/* --- the whole --------------------------------------------------------------------------------------------------- */

static int show(struct ls *l, pdk_client *c, const pdk_contender_list *list, int *status)
{
    switch (pdk__cli_site(list)) {
    case SITE_SEMAPHORE:
        return look_at_semaphore(l, c, status);
    case SITE_DIRECTORY:
        return look_below(l, c, list, status);
    default:
        *status = show_list(l, list);
        return 0;
    }
}

static int look(struct ls *l, pdk_client *c, int *status)
{
    pdk_contender_list *list = NULL;
    if (l->recursive)
        return look_below(l, c, NULL, status);
    int rc = pdk__cli_last_run_read(&l->last_run, c, l->options.path, l->options.connect_ms);
    if (rc == 0)
        rc = pdk_contenders(c, l->options.path, PDK_CONTENDERS_ALL, l->options.connect_ms, &list);
    if (rc == 0)
        rc = pdk__cli_last_run_confirm(&l->last_run, c, l->options.path, l->options.connect_ms, list);
    if (rc == 0)
        rc = show(l, c, list, status);
    pdk_contender_list_free(list);
    return rc;
}

static int run(struct pdk__cli_options *o)
{
    struct ls *l = PDK__MEMBER(o, struct ls, options);
    pdk_client *c = NULL;
    int status = 0;
    if (l->watch)
        return pdk__cli_watch(o, o->words, l->json);
    int rc = pdk__cli_connect(&l->options, &c);
    if (rc == 0)
        rc = look(l, c, &status);
    if (rc != 0)
        status = pdk__cli_report_failure(&l->options, c, rc);
    pdk__cli_last_run_free(&l->last_run);
    pdk_client_free(c);
    return status;
}

/* Options may follow the path here: there is no command to which they could belong. */
static const struct pdk__cli_verb verb = {
    "ls", usage, notes, {own_options, pdk__cli_ensemble_options}, .ends = false, .check = check, .run = run,
};

int pdk__cli_ls_main(int argc, char **argv)
{
    struct ls l = {0};
    return pdk__cli_verb_main(&verb, &l.options, argc, argv);
}
