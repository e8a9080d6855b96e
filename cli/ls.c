#include "cli/listing.h"

#include "cli/commands.h"
#include "cli/conflicts.h"
#include "cli/connect.h"
#include "cli/counter.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/target.h"
#include "cli/watch.h"

#include <stdio.h>
#include <string.h>

static const char help[] = "Usage: paddock ls [OPTION]... PATH\n"
                           "       paddock ls --watch [OPTION]... PATH...\n"
                           "Show who holds the lock PATH and who waits for it, in their order.\n"
                           "      --watch           show each PATH, and again at each change\n"
                           "      --json            a JSON object, for programs; --watch: one a line\n"
                           "  -z, --hosts HOSTS     ensemble, h1:2181,h2:2181/chroot ($PADDOCK_HOSTS)\n"
                           "      --session-timeout SEC   of the session that looks (10)\n"
                           "      --connect-timeout SEC   give up on an ensemble that does not answer (30)\n"
                           "      --auth SCHEME:CRED      also $PADDOCK_AUTH, or --auth-file FILE\n"
                           "      --tls-ca, --tls-cert, --tls-key FILE  --tls-any-name   connect by TLS\n"
                           "      --sasl-user, --sasl-mechanism NAME  --password-file FILE   see paddock(1)\n"
                           "  -v, --verbose   -q, --quiet   -h, --help   -V, --version\n"
                           "A node of another library stands in the order and is marked; a node that no lock\n"
                           "library could have made is 'junk': it blocks nobody, but takes a permit.\n"
                           "Exit: 0, also when nobody is there; 64 usage, 69 no ensemble, 70 internal,\n"
                           "77 not permitted. See paddock(1).\n";

struct ls {
    struct pdk__cli_options options; /* first */
    bool json;
    bool watch;
    bool recursive;
};

#define AT(member) .at = offsetof(struct ls, member)

static const struct pdk__cli_option own_options[] = {{"json", 0, KIND_FLAG, AT(json)},
                                                     {"watch", 0, KIND_FLAG, AT(watch)},
                                                     {"recursive", 'r', KIND_FLAG, AT(recursive)},
                                                     {"recursive", 'R', KIND_FLAG, AT(recursive)},
                                                     {0}};

/* Options may follow the path here: there is no command to which they could belong. */
static const struct pdk__cli_verb verb = {"ls", help, {pdk__cli_ensemble_options, own_options}, .ends = false};

static int parse(struct ls *l, int argc, char **argv)
{
    int status = pdk__cli_options_parse(&l->options, &verb, argc, argv);
    if (status != 0 || l->options.answered)
        return status;
    if (l->recursive)
        return pdk__cli_usage("ls: shows who holds one lock and who waits for it, not what lies below a path");
    status = pdk__cli_options_path(&l->options, l->options.words[0]);
    if (status == 0 && l->options.words[1] != NULL && !l->watch)
        return pdk__cli_usage("ls: one path at a time, but for --watch: '%s'", l->options.words[1]);
    for (char **word = l->options.words; status == 0 && *word != NULL; word++)
        status = pdk__cli_target_path(verb.name, *word);
    return status;
}

static void note(const struct ls *l, const pdk_contender_list *list)
{
    struct pdk__cli_conflicts conflicts = {0}, reported = {0};
    for (size_t i = 0; i < pdk_contender_list_size(list); i++)
        pdk__cli_conflicts_add(&conflicts, list, i);
    fflush(stdout);
    if (!l->options.quiet)
        pdk__cli_conflicts_report(&conflicts, &reported, l->options.path);
}

/* Its gate and its permits have paths of their own. */
static bool is_semaphore(const pdk_contender_list *list)
{
    for (size_t i = 0; i < pdk_contender_list_size(list); i++)
        if (strcmp(pdk_contender_name(list, i), "leases") == 0)
            return true;
    return false;
}

static void note_counter(const struct ls *l, const pdk_contender_list *list)
{
    char text[256];
    struct pdk__cli_counter counter = pdk__cli_counter(list);
    pdk__cli_counter_text(&counter, text, sizeof text);
    if (*text != '\0' && !l->options.quiet)
        pdk__cli_message("%s: %s: see 'paddock doctor'", l->options.path, text);
}

static int show(const struct ls *l, const pdk_contender_list *list)
{
    if (l->json)
        return pdk__cli_listing_json(list, l->options.path);
    if (pdk_contender_list_size(list) == 0 && !l->options.quiet)
        pdk__cli_message("%s: nobody holds it, nobody waits", l->options.path);
    pdk__cli_listing_table(stdout, list, pdk_contender_list_size(list));
    note(l, list);
    note_counter(l, list);
    if (is_semaphore(list) && !l->options.quiet)
        pdk__cli_message("%s: a semaphore's permits stand under %s/leases", l->options.path, l->options.path);
    return 0;
}

static int run(const struct ls *l)
{
    pdk_client *c = NULL;
    pdk_contender_list *list = NULL;
    int rc = pdk__cli_connect(&l->options, &c);
    if (rc == 0)
        rc = pdk_contenders(c, l->options.path, l->options.connect_ms, &list);
    int status = rc == 0 ? show(l, list) : pdk__cli_report_failure(&l->options, c, rc);
    pdk_contender_list_free(list);
    pdk_client_free(c);
    return status;
}

int pdk__cli_ls_main(int argc, char **argv)
{
    struct ls l = {0};
    int status = pdk__cli_options_begin(&l.options, verb.name);
    if (status == 0)
        status = parse(&l, argc, argv);
    if (status == 0 && !l.options.answered)
        status = l.watch ? pdk__cli_watch(&l.options, l.options.words, l.json) : run(&l);
    pdk__cli_options_end(&l.options);
    return status;
}
