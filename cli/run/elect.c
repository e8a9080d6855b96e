#include "cli/commands.h"
#include "cli/message.h"
#include "cli/run/listen.h"
#include "cli/run/lock.h"
#include "cli/run/once.h"

static const char usage[] = "Usage: paddock elect [OPTION]... PATH [--] CMD [ARG]...\n"
                            "       paddock elect [OPTION]... PATH -c STR\n"
                            "       paddock elect --listen [--json] [OPTION]... PATH\n"
                            "Stand for leader of PATH, and run a command in each term.\n";

static const char notes[] = "The command gets PADDOCK_TOKEN, PADDOCK_PATH, PADDOCK_NODE, PADDOCK_SESSION.\n"
                            "When it ends by itself: resign, and exit with its status. SIGTERM, SIGINT and\n"
                            "SIGQUIT end it, and the candidacy. More: paddock(1).\n";

#define AT(member) .at = offsetof(struct pdk__cli_lock, member)

static const struct pdk__cli_option own_options[] = {
    {"id", 0, KIND_TEXT, AT(common.id), .high = 65536, .help = "what others read (the host and the process)"},
    {"json", 0, KIND_FLAG, AT(json)},
    {"keep", 0, KIND_FLAG, AT(keep), .help = "when the command ends by itself, stand again"},
    {"listen", 0, KIND_FLAG, AT(listen), .help = "no candidate: a line for each leader, TOKEN ID"},
    {"mixed-ok", 0, KIND_FLAG, AT(common.mixed_ok)},
    {"once", 0, KIND_FLAG, AT(once), .help = "one term: do not stand again when it is lost"},
    {"turns", 0, KIND_FLAG, AT(common.turns), .help = "the same, in turns with all other candidates"},
    {0}};

static int parse_listen(struct pdk__cli_lock *l)
{
    if (l->keep || l->once || l->common.turns || l->common.id != NULL)
        return pdk__cli_usage("elect: --listen is for programs that are no candidates");
    if (l->common.words[0] != NULL && l->common.words[1] != NULL)
        return pdk__cli_usage("elect: --listen takes one path, and no command: '%s'", l->common.words[1]);
    return pdk__cli_options_path(&l->common, l->common.words[0]);
}

static int check(struct pdk__cli_options *o)
{
    struct pdk__cli_lock *l = PDK__MEMBER(o, struct pdk__cli_lock, common);
    if (l->listen)
        return parse_listen(l);
    if (l->json)
        return pdk__cli_usage("elect: --json goes with --listen");
    l->keep = l->keep || o->turns;
    if (l->keep && l->once)
        return pdk__cli_usage("elect: --keep or --turns, or --once, not both");
    int status = pdk__cli_options_path(o, o->words[0]);
    return status == 0 ? pdk__cli_command_take(l, o->words + 1) : status;
}

static void begin(struct pdk__cli_options *o)
{
    pdk__cli_lock_begin(o);
    o->elect = true;
}

static int run(struct pdk__cli_options *o)
{
    struct pdk__cli_lock *l = PDK__MEMBER(o, struct pdk__cli_lock, common);
    return l->listen ? pdk__cli_listen(o, l->json) : pdk__cli_lock_run(l);
}

static const struct pdk__cli_verb verb = {
    "elect",
    usage,
    notes,
    {own_options, pdk__cli_command_options, pdk__cli_ensemble_options, pdk__cli_node_options,
     pdk__cli_no_once_options + 1 /* it has a --once of its own */},
    .ends = true,
    .begin = begin,
    .check = check,
    .run = run,
};

int pdk__cli_elect_main(int argc, char **argv)
{
    struct pdk__cli_lock l = {0};
    return pdk__cli_verb_main(&verb, &l.common, argc, argv);
}
