/* paddock top: the locks of a tree, again and again. */
#include "cli/commands.h"
#include "cli/connect.h"
#include "cli/json.h"
#include "cli/look/overview.h"
#include "cli/message.h"
#include "cli/number.h"
#include "cli/options.h"
#include "cli/screen.h"
#include "cli/target.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PATHS_MAX = 1000000, INTERVAL_MS = 2000, LOOK_MS = 5000 };

static const char usage[] = "Usage: paddock top [OPTION]... [PATH]...\n"
                            "Show the locks at and below each PATH (/): who holds, who waits, how fast.\n";

static const char notes[] = "On a terminal it fills the screen, until q is pressed.\n"
                            "Exit: 0; 64 usage, 69 no ensemble, 70 internal, 77 not permitted.\n"
                            "See paddock(1).\n";

struct top {
    struct pdk__cli_options options; /* first */
    bool once, json;
    int depth, max_paths;
    int64_t interval_ms;
    pdk_client *client;
    struct pdk__cli_screen screen;
    struct pdk__cli_tree last;
    struct pdk__cli_overview overview; /* of it, as it is shown */
    int64_t last_ms;
    time_t last_at; /* the same moment */
};

#define AT(member) .at = offsetof(struct top, member)

static const struct pdk__cli_option own_options[] = {
    {"once", 0, KIND_FLAG, AT(once), .help = "one look"},
    {"json", 0, KIND_FLAG, AT(json), .help = "a JSON object for each look, for programs"},
    {"interval", 0, KIND_SECONDS, AT(interval_ms), .low = 100, .high = 86400000, .help = "time between two looks (%)"},
    {"depth", 0, KIND_NUMBER, AT(depth), .high = 1000, .help = "look so far below each PATH (%)"},
    {"max-paths", 0, KIND_NUMBER, AT(max_paths), .low = 1, .high = PATHS_MAX, .help = "look at so many paths (%)"},
    {0}};

static int check(struct pdk__cli_options *o)
{
    struct top *t = PDK__MEMBER(o, struct top, options);
    int status = 0;
    for (char **word = t->options.words; status == 0 && *word != NULL; word++)
        if (strcmp(*word, "/") != 0)
            status = pdk__cli_target_path(o->command, *word);
    return status == 0 ? pdk__cli_options_ensemble(&t->options) : status;
}

/* --- the screen -------------------------------------------------------------------------------------------------- */

/* "12:00:03 h1:2181,h2:2181: ". A terminal of 80 columns has room for the counts after it. */
static void print_ensemble(FILE *out, const struct top *t, int columns)
{
    enum { COUNTS = 65, LEAST = 14, MOST = 60 };
    char stamp[16] = "";
    struct tm local;
    const char *hosts = t->options.hosts;
    int room = columns - COUNTS < LEAST ? LEAST : columns - COUNTS > MOST ? MOST : columns - COUNTS;
    bool cut = strlen(hosts) > (size_t)room;
    if (localtime_r(&t->last_at, &local) != NULL)
        strftime(stamp, sizeof stamp, "%T", &local);
    fprintf(out, "%s %.*s%s: ", stamp, cut ? room - 3 : room, hosts, cut ? "..." : "");
}

static void print_table(FILE *out, const struct top *t, const struct pdk__cli_overview *overview, size_t lines,
                        int columns)
{
    print_ensemble(out, t, columns);
    pdk__cli_overview_print(out, overview, lines, columns);
}

static void draw(const struct top *t, const struct pdk__cli_overview *overview)
{
    char *text = NULL;
    size_t size, lines;
    int columns;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return;
    pdk__cli_screen_size(&lines, &columns);
    print_table(out, t, overview, lines, columns);
    if (fclose(out) == 0)
        pdk__cli_screen_draw(text);
    free(text);
}

/* True when the user wants no more: by the key, by a signal, or by an input that has ended. A changed size needs no
 * other look. */
static bool pause_between(const struct top *t, int *status)
{
    int64_t until = pdk__cli_now_ms() + t->interval_ms;
    bool quits = false;
    while (!quits && pdk__cli_now_ms() < until) {
        int signal = pdk__cli_screen_wait(&t->screen, -1, pdk__cli_poll_ms(until), &quits);
        if (signal == SIGPIPE)
            *status = pdk__cli_screen_unread();
        if (signal != 0 && signal != SIGWINCH)
            return true;
        if (signal == SIGWINCH && t->screen.open) {
            draw(t, &t->overview);
            fflush(stdout);
        }
    }
    return quits;
}

/* --- a look ------------------------------------------------------------------------------------------------------ */

static int print(const struct top *t, const struct pdk__cli_overview *overview)
{
    if (t->json)
        return pdk__cli_json_print(pdk__cli_overview_object(overview));
    if (t->screen.open)
        draw(t, overview);
    else
        print_table(stdout, t, overview, (size_t)-1, PDK__CLI_WIDE);
    if (fflush(stdout) == 0)
        return 0;
    pdk__cli_message("cannot write to standard output");
    return STATUS_INTERNAL;
}

/* A screen has it in its first line. */
static void warn(const struct top *t, const struct pdk__cli_tree *tree, const struct pdk__cli_tree *before)
{
    bool told = before != NULL && before->truncated == tree->truncated && before->n_refused == tree->n_refused;
    if (!told && !t->screen.open && !t->options.quiet)
        pdk__cli_tree_warn(tree, "");
}

/* TREE is kept for the next look. */
static int show(struct top *t, const struct pdk__cli_tree *tree, int64_t now_ms, int *status)
{
    struct pdk__cli_overview overview;
    const struct pdk__cli_tree *before = t->last_ms > 0 ? &t->last : NULL;
    int rc = pdk__cli_overview_take(&overview, tree, before, now_ms - t->last_ms) ? 0 : PDK_ENOMEM;
    t->last_at = time(NULL);
    if (rc == 0)
        *status = print(t, &overview);
    if (rc == 0 && *status == 0)
        warn(t, tree, before);
    pdk__cli_overview_free(&t->overview);
    pdk__cli_tree_free(&t->last);
    t->last = *tree;
    t->overview = overview;
    t->overview.tree = &t->last;
    t->last_ms = now_ms;
    return rc;
}

static int look(struct top *t, int *status)
{
    static char root[] = "/";
    char *everything[] = {root, NULL};
    char *const *roots = t->options.words[0] != NULL ? t->options.words : everything;
    int64_t now_ms = pdk__cli_now_ms(), wait_ms = t->options.connect_ms;
    struct pdk__cli_tree tree = {
        .depth = t->depth, .max_paths = t->max_paths, .timeout_ms = wait_ms, .parts = true, .runs = true};
    if (!t->once && wait_ms > LOOK_MS)
        tree.timeout_ms = LOOK_MS;
    int rc = pdk__cli_tree_walk(t->client, &tree, roots, &t->options.path);
    if (rc == 0)
        return show(t, &tree, now_ms, status);
    pdk__cli_tree_free(&tree);
    return rc;
}

/* An outage passes: what was shown last stays on the screen. */
static int look_again(struct top *t, int *status)
{
    int rc = look(t, status);
    if (rc == 0 || t->once || t->last_ms == 0 || !pdk_err_retriable(rc))
        return rc;
    if (t->screen.open)
        pdk__cli_screen_note(pdk_strerror(rc));
    else if (!t->options.quiet)
        pdk__cli_message("%s", pdk_strerror(rc));
    fflush(stdout);
    return 0;
}

/* --- the whole --------------------------------------------------------------------------------------------------- */

static int watch(struct top *t, int *status)
{
    int rc;
    if (!t->once && !t->json)
        pdk__cli_screen_open(&t->screen);
    do
        rc = look_again(t, status);
    while (rc == 0 && *status == 0 && !t->once && !pause_between(t, status));
    pdk__cli_screen_close(&t->screen);
    return rc;
}

static int run(struct pdk__cli_options *o)
{
    struct top *t = PDK__MEMBER(o, struct top, options);
    int status = 0;
    t->options.path = "/";
    int rc = pdk__cli_connect(&t->options, &t->client);
    if (rc == 0 && !t->once)
        pdk__cli_screen_begin(&t->screen, 0);
    if (rc == 0)
        rc = watch(t, &status);
    if (rc != 0)
        status = pdk__cli_report_failure(&t->options, t->client, rc);
    pdk__cli_overview_free(&t->overview);
    pdk__cli_tree_free(&t->last);
    pdk_client_free(t->client);
    return status;
}

static const struct pdk__cli_verb verb = {
    "top", usage, notes, {own_options, pdk__cli_ensemble_options}, .ends = false, .check = check, .run = run,
};

int pdk__cli_top_main(int argc, char **argv)
{
    struct top t = {.depth = PDK__CLI_DEPTH, .max_paths = PDK__CLI_PATHS, .interval_ms = INTERVAL_MS};
    return pdk__cli_verb_main(&verb, &t.options, argc, argv);
}
