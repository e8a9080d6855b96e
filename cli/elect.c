#include "cli/commands.h"
#include "cli/lock.h"
#include "cli/say.h"

#include <stdio.h>
#include <string.h>

static const char help[] = "Usage: paddock elect [OPTION]... PATH [--] CMD [ARG]...\n"
                           "Stand for leader of PATH, and run a command in each term.\n"
                           "      --keep            when the command ends by itself, resign and stand again\n"
                           "      --once            one term: do not stand again when it is lost\n"
                           "      --id TEXT         what others read (the host's name and the process)\n"
                           "  -z, --hosts HOSTS     ensemble, h1:2181,h2:2181/chroot ($PADDOCK_HOSTS)\n"
                           "      --session-timeout SEC   lost so long after the servers hear no more (30)\n"
                           "      --connect-timeout SEC   give up on an ensemble that was never reached (30)\n"
                           "      --auth SCHEME:CRED      also $PADDOCK_AUTH, or --auth-file FILE\n"
                           "      --acl SCHEME:ID:PERMS   who may touch the nodes (everybody)\n"
                           "      --on-lost=ACTION        term lost: term (default), kill, SIG, or ignore\n"
                           "      --kill-after SEC        time between the two, a fifth of SEC above (2)\n"
                           "      --on-revoke=ACTION      asked for by 'paddock break': the same, no SIGKILL\n"
                           "      --lost-exit-code N      exit status when the term was lost (76)\n"
                           "  -v, --verbose   -q, --quiet   -h, --help   -V, --version\n"
                           "The command gets PADDOCK_TOKEN, PADDOCK_PATH, PADDOCK_NODE, PADDOCK_SESSION.\n"
                           "When it ends by itself: resign, and exit with its status. SIGTERM, SIGINT and\n"
                           "SIGQUIT end it, and the candidacy. Other statuses as 'paddock lock'.\n"
                           "See paddock(1).\n";

static const struct option long_options[] = {
    {"id", required_argument, NULL, OPT_ID},
    {"keep", no_argument, NULL, OPT_KEEP},
    {"once", no_argument, NULL, OPT_ONCE},
    {"acl", required_argument, NULL, OPT_ACL},
    {"on-lost", required_argument, NULL, OPT_ON_LOST},
    {"on-revoke", required_argument, NULL, OPT_ON_REVOKE},
    {"kill-after", required_argument, NULL, OPT_KILL_AFTER},
    {"lost-exit-code", required_argument, NULL, OPT_LOST_STATUS},
    PDK__CLI_ENSEMBLE_OPTIONS,
    PDK__CLI_HELP_OPTIONS,
};

struct words {
    struct pdk__cli_lock lock;
    bool answered; /* by --help or --version */
};

static int take(struct words *w, int option, char **argv)
{
    switch (option) {
    case OPT_ID:
        w->lock.common.id = optarg;
        return 0;
    case OPT_KEEP:
        w->lock.keep = true;
        return 0;
    case OPT_ONCE:
        w->lock.once = true;
        return 0;
    case 'h':
        w->answered = true;
        fputs(help, stdout);
        return 0;
    case 'V':
        w->answered = true;
        return pdk__cli_version();
    default:
        return pdk__cli_lock_take(&w->lock, option, argv);
    }
}

static int parse(struct words *w, int argc, char **argv)
{
    int option, status = 0;
    opterr = 0;
    optind = 0; /* glibc: start anew */
    while (status == 0 && !w->answered && (option = getopt_long(argc, argv, "+:z:qvhV", long_options, NULL)) != -1)
        status = take(w, option, argv);
    if (status != 0 || w->answered)
        return status;
    if (w->lock.keep && w->lock.once)
        return pdk__cli_usage("elect: --keep or --once, not both");
    status = pdk__cli_options_path(&w->lock.common, argv[optind]);
    if (status != 0)
        return status;
    char **words = argv + optind + 1;
    w->lock.argv = *words != NULL && strcmp(*words, "--") == 0 ? words + 1 : words;
    return *w->lock.argv != NULL ? 0 : pdk__cli_usage("elect: no command given");
}

int pdk__cli_elect_main(int argc, char **argv)
{
    struct words w = {0};
    int status = pdk__cli_lock_begin(&w.lock, "elect");
    w.lock.common.elect = true;
    if (status == 0)
        status = parse(&w, argc, argv);
    if (status == 0 && !w.answered)
        status = pdk__cli_lock_run(&w.lock);
    pdk__cli_options_end(&w.lock.common);
    return status;
}
