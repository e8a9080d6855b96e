#include "cli/commands.h"
#include "cli/connect.h"
#include "cli/json.h"
#include "cli/look/diagnosis.h"
#include "cli/look/listing.h"
#include "cli/message.h"
#include "cli/number.h"
#include "cli/options.h"
#include "cli/owner.h"
#include "cli/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_EVERY_MS = 100 };

static const char usage[] = "Usage: paddock break [OPTION]... PATH\n"
                            "Ask the holder of the lock PATH to release it.\n";

static const char notes[] = "With --force the next in line holds at once, whatever the one before still does.\n"
                            "With --node or --session not the holders: that contender, or the contenders of\n"
                            "that session, as ls shows them.\n"
                            "Exit: 0 asked (with -w: and gone), or removed; 1 still held, or not confirmed;\n"
                            "64 usage, 66 nobody holds it, 69 no ensemble, 70 internal, 77 not permitted.\n"
                            "See paddock(1).\n";

struct words {
    struct pdk__cli_options options; /* first */
    bool force, yes, json;
    const char *node;  /* the choice; NULL: the holders */
    const char *chose; /* a session, in hexadecimal digits; NULL: any */
    int64_t session;
    /* the result, for --json */
    bool asked, removed, gone;
};

/* --- the words --------------------------------------------------------------------------------------------------- */

#define AT(member) .at = offsetof(struct words, member)

static const struct pdk__cli_option own_options[] = {
    {"node", 0, KIND_TEXT, AT(node), .value = "NODE", .help = "the contender whose node it is"},
    {"session", 0, KIND_TEXT, AT(chose), .value = "ID", .help = "the contenders of that session"},
    {"force", 0, KIND_FLAG, AT(force), .help = "delete the node, after a question (-w: if need be)"},
    {"yes", 'y', KIND_FLAG, AT(yes), .help = "no question: for scripts"},
    {"json", 0, KIND_FLAG, AT(json), .help = "a JSON object, for programs"},
    {0}};

/* As ls shows it; 0 is none. */
static bool read_session(struct words *w)
{
    char *end;
    if (w->chose == NULL)
        return true;
    w->session = (int64_t)strtoull(w->chose, &end, 16);
    return *end == '\0' && strlen(w->chose) <= 18 && w->session != 0;
}

static void begin(struct pdk__cli_options *o) { o->wait_ms = 0; }

static int check(struct pdk__cli_options *o)
{
    struct words *w = PDK__MEMBER(o, struct words, options);
    w->options.at_once = false; /* -w limits the wait for the holder here */
    int status = pdk__cli_options_path(&w->options, w->options.words[0]);
    if (status == 0 && w->options.words[1] != NULL)
        return pdk__cli_usage("break: one path at a time: '%s'", w->options.words[1]);
    if (status == 0 && !read_session(w))
        return pdk__cli_usage("break: no session, which has up to 16 hexadecimal digits: '%s'", w->chose);
    if (status == 0 && w->force && !w->yes && !isatty(STDIN_FILENO))
        return pdk__cli_usage("break: --force asks on a terminal, and standard input is none; --yes does without");
    return status;
}

/* --- the holder -------------------------------------------------------------------------------------------------- */

static void report(const struct words *w, const char *what)
{
    if (!w->options.quiet)
        pdk__cli_message("%s: %s", w->options.path, what);
}

static bool named(const struct words *w) { return w->node != NULL || w->chose != NULL; }

/* Is contender I one to be asked, or taken away? Unless the words name them these are all that hold: readers of a
 * read/write lock can be many. Junk that takes a permit is left alone: nobody reads a request in it. */
static bool chosen(const struct words *w, const pdk_contender_list *list, size_t i)
{
    if (pdk__cli_is_junk(list, i))
        return false;
    if (!named(w))
        return pdk_contender_holds(list, i);
    return (w->node == NULL || strcmp(pdk_contender_text(list, i, PDK_CONTENDER_NAME), w->node) == 0) &&
           (w->chose == NULL || pdk_contender_number(list, i, PDK_CONTENDER_SESSION) == w->session);
}

/* The first that is chosen from I on; the size of LIST: none. */
static size_t next_chosen(const struct words *w, const pdk_contender_list *list, size_t i)
{
    while (i < pdk_contender_list_size(list) && !chosen(w, list, i))
        i++;
    return i;
}

static size_t count_chosen(const struct words *w, const pdk_contender_list *list)
{
    size_t n = 0;
    for (size_t i = 0; (i = next_chosen(w, list, i)) < pdk_contender_list_size(list); i++)
        n++;
    return n;
}

static int show(const struct words *w, const pdk_contender_list *list)
{
    size_t n = 0;
    struct pdk__cli_rows *rows = calloc(count_chosen(w, list) + 1, sizeof *rows);
    if (rows == NULL)
        return PDK_ENOMEM;
    for (size_t i = 0; (i = next_chosen(w, list, i)) < pdk_contender_list_size(list); i++) {
        rows[n] = pdk__cli_rows(list);
        rows[n].first = i;
        rows[n++].n = i + 1;
    }
    if (!w->json)
        pdk__cli_listing_tables(stdout, rows, n);
    fflush(stdout);
    free(rows);
    return 0;
}

/* "yes", and nothing shorter: the lock that is taken away here may still be in use. */
static bool confirmed(const struct words *w, const pdk_contender_list *list)
{
    char owner[700], clean[700], path[700], others[64] = "", line[16] = "";
    if (w->yes)
        return true;
    pdk__cli_owner(list, next_chosen(w, list, 0), owner, sizeof owner);
    pdk__cli_printable(clean, sizeof clean, (int)sizeof clean, owner);
    pdk__cli_printable(path, sizeof path, (int)sizeof path, w->options.path);
    if (count_chosen(w, list) > 1)
        snprintf(others, sizeof others, " and %zu others", count_chosen(w, list) - 1);
    fprintf(stderr,
            "paddock: %s, %s %s%s, goes to the next in line, even if its holder still works under it.\n"
            "paddock: type 'yes' to take it away: ",
            path, named(w) ? "as far as it is with" : "held by", clean, others);
    return fgets(line, sizeof line, stdin) != NULL && strcasecmp(line, "yes\n") == 0;
}

/* Is one of those that were chosen by the list BEFORE still in LIST? Both are in the order of the contenders. */
static bool any_left(const struct words *w, const pdk_contender_list *list, const pdk_contender_list *before)
{
    for (size_t k = 0; (k = next_chosen(w, before, k)) < pdk_contender_list_size(before); k++)
        for (size_t i = 0; i < pdk_contender_list_size(list); i++)
            if (pdk_contender_number(list, i, PDK_CONTENDER_TOKEN) ==
                    pdk_contender_number(before, k, PDK_CONTENDER_TOKEN) &&
                strcmp(pdk_contender_text(list, i, PDK_CONTENDER_NAME),
                       pdk_contender_text(before, k, PDK_CONTENDER_NAME)) == 0)
                return true;
    return false;
}

/* Look until the nodes are deleted, or until DEADLINE: 0, with `gone`, or an error. The servers have as long for an
 * answer as for any other: that they are slow must not keep --force from what comes after the wait. */
static int await_end(struct words *w, pdk_client *c, const pdk_contender_list *before, int64_t deadline)
{
    struct timespec pause = {.tv_nsec = LOOK_EVERY_MS * 1000000L};
    for (;;) {
        pdk_contender_list *list = NULL;
        int64_t left = deadline - pdk__cli_now_ms(), least = w->options.connect_ms;
        int rc = pdk_contenders(c, w->options.path, PDK_CONTENDERS_ALL, left > least ? left : least, &list);
        w->gone = rc == 0 && !any_left(w, list, before);
        pdk_contender_list_free(list);
        if (rc != 0 || w->gone || pdk__cli_now_ms() >= deadline)
            return rc;
        nanosleep(&pause, NULL);
    }
}

/* Do ACT to each that is chosen; *DONE counts those that it reached. Those that left meanwhile need nothing. */
static int each_chosen(const struct words *w, pdk_client *c, const pdk_contender_list *list,
                       int (*act)(pdk_client *, const pdk_contender_list *, size_t, int64_t), size_t *done)
{
    *done = 0;
    for (size_t i = 0; (i = next_chosen(w, list, i)) < pdk_contender_list_size(list); i++) {
        int rc = act(c, list, i, w->options.connect_ms);
        if (rc != 0 && rc != PDK_ENOENT)
            return rc;
        *done += rc == 0;
    }
    return 0;
}

static int ask(struct words *w, pdk_client *c, const pdk_contender_list *list)
{
    size_t n;
    int64_t deadline = pdk__cli_now_ms() + w->options.wait_ms;
    int rc = each_chosen(w, c, list, pdk_contender_revoke, &n);
    w->asked = n > 0;
    w->gone = rc == 0 && n == 0;
    if (w->asked)
        report(w, named(w)                    ? "what was named is asked to release it"
                  : count_chosen(w, list) > 1 ? "the holders are asked to release it"
                                              : "the holder is asked to release it");
    if (rc == 0 && w->asked && w->options.wait_ms > 0)
        rc = await_end(w, c, list, deadline);
    if (w->gone)
        report(w, "it has been released");
    return w->gone ? 0 : rc;
}

static int remove_nodes(struct words *w, pdk_client *c, const pdk_contender_list *list)
{
    size_t n;
    int rc = each_chosen(w, c, list, pdk_contender_remove, &n);
    w->removed = n > 0;
    w->gone = rc == 0;
    if (w->removed)
        report(w, named(w)                    ? "what was named is deleted"
                  : count_chosen(w, list) > 1 ? "the holders' nodes are deleted"
                                              : "the holder's node is deleted");
    else if (w->gone)
        report(w, "it had been released");
    return rc;
}

static int proceed(struct words *w, pdk_client *c, const pdk_contender_list *list)
{
    int rc = 0;
    if (!w->force || w->options.wait_ms > 0)
        rc = ask(w, c, list);
    if (rc == 0 && w->force && !w->gone)
        rc = remove_nodes(w, c, list);
    if (rc != 0)
        return pdk__cli_report_failure(&w->options, c, rc);
    if (w->options.wait_ms == 0 || w->gone)
        return 0;
    report(w, "it is still held");
    return w->options.busy_status;
}

static int decide(struct words *w, pdk_client *c, const pdk_contender_list *list)
{
    if (count_chosen(w, list) == 0) {
        report(w, named(w) ? "no contender has that name and session" : "nobody holds it");
        return STATUS_NOBODY;
    }
    int rc = show(w, list);
    if (rc == 0 && (!w->force || confirmed(w, list)))
        return proceed(w, c, list);
    if (rc == 0)
        report(w, "nothing was done");
    return rc == 0 ? w->options.busy_status : pdk__cli_report_failure(&w->options, c, rc);
}

/* --- the whole --------------------------------------------------------------------------------------------------- */

/* Its permits are held below the path: that nobody holds it would be wrong. */
static int refuse_semaphore(const struct words *w)
{
    char path[PDK__CLI_SHORT];
    pdk__cli_short(w->options.path, path);
    return pdk__cli_usage("break: the permits of the semaphore %s stand under %s/leases: give that path", path, path);
}

static int print_json(const struct words *w, const pdk_contender_list *list)
{
    json_t *top = json_object(), *all = json_array();
    size_t size = pdk_contender_list_size(list), first = next_chosen(w, list, 0);
    for (size_t i = first; i < size; i = next_chosen(w, list, i + 1))
        json_array_append_new(all, pdk__cli_listing_object(list, i));
    pdk__cli_json_text(top, "path", w->options.path);
    json_object_set_new(top, "holder", first < size ? pdk__cli_listing_object(list, first) : json_null());
    json_object_set_new(top, "holders", all);
    json_object_set_new(top, "asked", json_boolean(w->asked));
    json_object_set_new(top, "removed", json_boolean(w->removed));
    json_object_set_new(top, "gone", json_boolean(w->gone));
    return pdk__cli_json_print(top);
}

static int conclude(struct words *w, pdk_client *c, const pdk_contender_list *list)
{
    if (count_chosen(w, list) == 0 && pdk__cli_has_leases(list))
        return refuse_semaphore(w);
    int status = decide(w, c, list);
    return w->json && print_json(w, list) != 0 ? STATUS_INTERNAL : status;
}

static int run(struct pdk__cli_options *o)
{
    struct words *w = PDK__MEMBER(o, struct words, options);
    pdk_client *c = NULL;
    pdk_contender_list *list = NULL;
    int rc = pdk__cli_connect(&w->options, &c);
    if (rc == 0)
        rc = pdk_contenders(c, w->options.path, PDK_CONTENDERS_ALL, w->options.connect_ms, &list);
    int status = rc == 0 ? conclude(w, c, list) : pdk__cli_report_failure(&w->options, c, rc);
    pdk_contender_list_free(list);
    pdk_client_free(c);
    return status;
}

static const struct pdk__cli_verb verb = {
    "break",       usage,          notes,          {pdk__cli_wait_options, own_options, pdk__cli_ensemble_options},
    .ends = false, .begin = begin, .check = check, .run = run,
};

int pdk__cli_break_main(int argc, char **argv)
{
    struct words w = {0};
    return pdk__cli_verb_main(&verb, &w.options, argc, argv);
}
