#include "cli/run/lock.h"

#include "cli/commands.h"
#include "cli/message.h"
#include "cli/run/once.h"

static const char usage[] = "Usage: paddock lock [OPTION]... PATH [--] CMD [ARG]...\n"
                            "Run a command while holding the lock PATH; with -n only if it is free now.\n";

static const char notes[] = "The command gets PADDOCK_TOKEN, PADDOCK_PATH, PADDOCK_NODE, PADDOCK_SESSION.\n"
                            "Exit: the command's own, or 128+signal; 64 usage, 69 no ensemble, 70 internal,\n"
                            "76 lost, 77 not permitted, 78 mixed, 79 unrecorded, 126 not run, 127 not found.\n";

static int check(struct pdk__cli_options *o)
{
    struct pdk__cli_lock *l = PDK__MEMBER(o, struct pdk__cli_lock, common);
    int status = pdk__cli_options_path(o, o->words[0]);
    if (status == 0)
        status = pdk__cli_once_check(o);
    return status == 0 ? pdk__cli_command_take(l, o->words + 1) : status;
}

static int run(struct pdk__cli_options *o)
{
    struct pdk__cli_lock *l = PDK__MEMBER(o, struct pdk__cli_lock, common);
    return pdk__cli_lock_run(l);
}

static const struct pdk__cli_verb verb = {
    "lock",
    usage,
    notes,
    {pdk__cli_mode_options, pdk__cli_nowait_options, pdk__cli_wait_options, pdk__cli_once_options,
     pdk__cli_command_options, pdk__cli_ensemble_options, pdk__cli_grant_options, pdk__cli_label_options,
     pdk__cli_node_options},
    .ends = true,
    .begin = pdk__cli_lock_begin,
    .check = check,
    .run = run,
};

int pdk__cli_lock_main(int argc, char **argv)
{
    struct pdk__cli_lock l = {0};
    return pdk__cli_verb_main(&verb, &l.common, argc, argv);
}
