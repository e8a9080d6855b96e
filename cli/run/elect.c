#include "cli/commands.h"
#include "cli/message.h"
#include "cli/run/listen.h"
#include "cli/run/lock.h"

static const char help[] = "Usage: paddock elect [OPTION]... PATH [--] CMD [ARG]...\n"
                           "       paddock elect [OPTION]... PATH -c STR\n"
                           "       paddock elect --listen [--json] [OPTION]... PATH\n"
                           "Stand for leader of PATH, and run a command in each term.\n"
                           "      --keep            when the command ends by itself, resign and stand again\n"
                           "      --turns           the same, in turns with all other candidates\n"
                           "      --once            one term: do not stand again when it is lost\n"
                           "      --listen          no candidate: a line for each leader, TOKEN ID, or none\n"
                           "      --id TEXT         what others read (the host's name and the process)\n"
                           "  -c, --command STR     run STR with the shell\n"
                           "  -z, --hosts HOSTS     ensemble, h1:2181,h2:2181/chroot ($PADDOCK_HOSTS)\n"
                           "      --session-timeout SEC   lost so long after the servers hear no more (30)\n"
                           "      --connect-timeout SEC   give up on an ensemble that was never reached (30)\n"
                           "      --auth SCHEME:CRED      also $PADDOCK_AUTH, or --auth-file FILE\n"
                           "      --tls-ca, --tls-cert, --tls-key FILE   --sasl-user NAME   see paddock(1)\n"
                           "      --acl SCHEME:ID:PERMS   who may touch the nodes (everybody)\n"
                           "      --on-lost=ACTION        term lost: term (default), kill, SIG, or ignore\n"
                           "      --kill-after SEC        time between the two, a fifth of SEC above (2)\n"
                           "      --on-revoke=ACTION      asked for by 'paddock break': the same, no SIGKILL\n"
                           "      --lost-exit-code N (76)  --metrics FILE  --mixed-ok  beside other recipes\n"
                           "  -v, --verbose   -q, --quiet   -h, --help   -V, --version\n"
                           "The command gets PADDOCK_TOKEN, PADDOCK_PATH, PADDOCK_NODE, PADDOCK_SESSION.\n"
                           "When it ends by itself: resign, and exit with its status. SIGTERM, SIGINT and\n"
                           "SIGQUIT end it, and the candidacy. More statuses and options: paddock(1).\n";

#define AT(member) .at = offsetof(struct pdk__cli_lock, member)

static const struct pdk__cli_option own_options[] = {{"id", 0, KIND_TEXT, AT(common.id), .high = 65536},
                                                     {"json", 0, KIND_FLAG, AT(json)},
                                                     {"keep", 0, KIND_FLAG, AT(keep)},
                                                     {"listen", 0, KIND_FLAG, AT(listen)},
                                                     {"mixed-ok", 0, KIND_FLAG, AT(common.mixed_ok)},
                                                     {"once", 0, KIND_FLAG, AT(once)},
                                                     {"turns", 0, KIND_FLAG, AT(common.turns)},
                                                     {0}};

static const struct pdk__cli_verb verb = {
    "elect",
    help,
    {pdk__cli_ensemble_options, pdk__cli_node_options, pdk__cli_command_options, own_options},
    .ends = true};

static int parse_listen(struct pdk__cli_lock *l)
{
    if (l->keep || l->once || l->common.turns || l->common.id != NULL)
        return pdk__cli_usage("elect: --listen is for programs that are no candidates");
    if (l->common.words[0] != NULL && l->common.words[1] != NULL)
        return pdk__cli_usage("elect: --listen takes one path, and no command: '%s'", l->common.words[1]);
    return pdk__cli_options_path(&l->common, l->common.words[0]);
}

static int parse(struct pdk__cli_lock *l, int argc, char **argv)
{
    struct pdk__cli_options *o = &l->common;
    int status = pdk__cli_options_parse(o, &verb, argc, argv);
    if (status != 0 || o->answered)
        return status;
    if (l->listen)
        return parse_listen(l);
    if (l->json)
        return pdk__cli_usage("elect: --json goes with --listen");
    l->keep = l->keep || o->turns;
    if (l->keep && l->once)
        return pdk__cli_usage("elect: --keep or --turns, or --once, not both");
    status = pdk__cli_options_path(o, o->words[0]);
    return status == 0 ? pdk__cli_command_take(l, o->words + 1) : status;
}

int pdk__cli_elect_main(int argc, char **argv)
{
    struct pdk__cli_lock l = {0};
    int status = pdk__cli_lock_begin(&l, verb.name);
    l.common.elect = true;
    if (status == 0)
        status = parse(&l, argc, argv);
    if (status == 0 && !l.common.answered)
        status = l.listen ? pdk__cli_listen(&l.common, l.json) : pdk__cli_lock_run(&l);
    pdk__cli_options_end(&l.common);
    return status;
}
