#include "cli/listing.h"

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/reach.h"
#include "cli/say.h"

#include <stdio.h>

static const char help[] = "Usage: paddock ls [OPTION]... PATH\n"
                           "Show who holds the lock PATH and who waits for it, in their order.\n"
                           "      --json            a JSON object, for programs\n"
                           "  -z, --hosts HOSTS     ensemble, h1:2181,h2:2181/chroot ($PADDOCK_HOSTS)\n"
                           "      --session-timeout SEC   of the session that looks (10)\n"
                           "      --connect-timeout SEC   give up on an ensemble that does not answer (30)\n"
                           "      --auth SCHEME:CRED      also $PADDOCK_AUTH, or --auth-file FILE\n"
                           "  -q, --quiet   -h, --help   -V, --version\n"
                           "A node of another library stands in the order and is marked; a node that no lock\n"
                           "library could have made is marked 'junk', and blocks nobody.\n"
                           "Exit: 0, also when nobody is there; 64 usage, 69 no ensemble, 70 internal,\n"
                           "77 not permitted. See paddock(1).\n";

static const struct option long_options[] = {
    {"json", no_argument, NULL, OPT_JSON}, PDK__CLI_ENSEMBLE_OPTIONS, PDK__CLI_HELP_OPTIONS};

struct ls {
    struct pdk__cli_options options;
    bool json;
    bool answered;
};

static int take(struct ls *l, int option, char **argv)
{
    switch (option) {
    case OPT_JSON:
        l->json = true;
        return 0;
    case 'h':
        l->answered = true;
        fputs(help, stdout);
        return 0;
    case 'V':
        l->answered = true;
        return pdk__cli_version();
    default:
        return pdk__cli_options_take(&l->options, option, argv);
    }
}

/* Options may follow the path here: there is no command whose options they could be. */
static int parse(struct ls *l, int argc, char **argv)
{
    int option, status = 0;
    opterr = 0;
    optind = 0; /* glibc: start anew */
    while (status == 0 && !l->answered && (option = getopt_long(argc, argv, ":z:qvhV", long_options, NULL)) != -1)
        status = take(l, option, argv);
    if (status != 0 || l->answered)
        return status;
    status = pdk__cli_options_path(&l->options, argv[optind]);
    if (status == 0 && argv[optind + 1] != NULL)
        return pdk__cli_usage("ls: one path at a time: '%s'", argv[optind + 1]);
    return status;
}

static int show(const struct ls *l, const pdk_contender_list *list)
{
    if (l->json)
        return pdk__cli_listing_json(list, l->options.path);
    if (pdk_contender_list_size(list) == 0 && !l->options.quiet)
        pdk__cli_say("%s: nobody holds it, nobody waits", l->options.path);
    pdk__cli_listing_table(list, pdk_contender_list_size(list));
    return 0;
}

static int run(const struct ls *l)
{
    pdk_client *c = NULL;
    pdk_contender_list *list = NULL;
    int rc = pdk__cli_reach(&l->options, &c);
    if (rc == 0)
        rc = pdk_contenders(c, l->options.path, l->options.connect_ms, &list);
    int status = rc == 0 ? show(l, list) : pdk__cli_unreached(&l->options, c, rc);
    pdk_contender_list_free(list);
    pdk_client_free(c);
    return status;
}

int pdk__cli_ls_main(int argc, char **argv)
{
    struct ls l = {0};
    int status = pdk__cli_options_begin(&l.options, "ls");
    if (status == 0)
        status = parse(&l, argc, argv);
    if (status == 0 && !l.answered)
        status = run(&l);
    pdk__cli_options_end(&l.options);
    return status;
}
