#include "cli/run/lock.h"

#include "cli/commands.h"
#include "cli/message.h"

static const char help[] = "Usage: paddock lock [OPTION]... PATH [--] CMD [ARG]...\n"
                           "Run a command while holding the lock PATH.\n"
                           "  -s, --shared          hold beside others that share; -x, --exclusive: alone\n"
                           "  -N, --permits COUNT  --limit N, --limit-from NODE   a semaphore's permits\n"
                           "  -l, --also PATH       hold this path, too, all or none; may be repeated\n"
                           "  -n, --nb              do not wait;  -w, --wait SEC   wait at most so long\n"
                           "  -E, --conflict-exit-code N   exit status when busy or timed out (1)\n"
                           "  -c, --command STR     run STR with the shell, in place of CMD\n"
                           "  -z, --hosts HOSTS     ensemble, h1:2181,h2:2181/chroot ($PADDOCK_HOSTS)\n"
                           "      --session-timeout SEC   lost so long after the servers hear no more (30)\n"
                           "      --connect-timeout SEC   give up on servers that never answered (30; -n 5)\n"
                           "      --label TEXT            what 'paddock ls' shows (the command's name)\n"
                           "      --confirmed  --look-ahead  --lock-delay SEC  --min-token N  --data TEXT\n"
                           "      --auth SCHEME:CRED      also $PADDOCK_AUTH, or --auth-file FILE\n"
                           "      --tls-ca, --tls-cert, --tls-key FILE   --sasl-user NAME   see paddock(1)\n"
                           "      --acl SCHEME:ID:PERMS   who may touch the lock's nodes (everybody)\n"
                           "      --on-lost=ACTION        lock lost: term (default), kill, SIG, or ignore\n"
                           "      --kill-after SEC        time between the two, a fifth of SEC above (2)\n"
                           "      --on-revoke=ACTION      asked for by 'paddock break': the same, no SIGKILL\n"
                           "      --lost-exit-code N (76)  --metrics FILE  --mixed-ok  beside other recipes\n"
                           "  -v, --verbose   -q, --quiet   -h, --help   -V, --version\n"
                           "The command gets PADDOCK_TOKEN, PADDOCK_PATH, PADDOCK_NODE, PADDOCK_SESSION.\n"
                           "Exit: the command's own, or 128+signal; 64 usage, 69 no ensemble, 70 internal,\n"
                           "76 lock lost, 77 not permitted, 78 mixed recipes, 126 cannot run, 127 not found.\n";

static const struct pdk__cli_verb verb = {"lock",
                                          help,
                                          {pdk__cli_ensemble_options, pdk__cli_nowait_options, pdk__cli_wait_options,
                                           pdk__cli_node_options, pdk__cli_label_options, pdk__cli_grant_options,
                                           pdk__cli_command_options, pdk__cli_mode_options},
                                          .ends = true};

static int parse(struct pdk__cli_lock *l, int argc, char **argv)
{
    struct pdk__cli_options *o = &l->common;
    int status = pdk__cli_options_parse(o, &verb, argc, argv);
    if (status != 0 || o->answered)
        return status;
    status = pdk__cli_options_path(o, o->words[0]);
    return status == 0 ? pdk__cli_command_take(l, o->words + 1) : status;
}

int pdk__cli_lock_main(int argc, char **argv)
{
    struct pdk__cli_lock l = {0};
    int status = pdk__cli_lock_begin(&l, verb.name);
    if (status == 0)
        status = parse(&l, argc, argv);
    if (status == 0 && !l.common.answered)
        status = pdk__cli_lock_run(&l);
    pdk__cli_options_end(&l.common);
    return status;
}
