#include "cli/lock.h"

#include "cli/commands.h"
#include "cli/say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] = "Usage: paddock lock [OPTION]... PATH [--] CMD [ARG]...\n"
                           "       paddock lock [OPTION]... PATH -c STR\n"
                           "Run a command while holding the lock PATH.\n"
                           "  -n, --nb              do not wait for a lock that another holds\n"
                           "  -w, --wait SEC        wait at most so long (decimals allowed)\n"
                           "  -E N                  exit status when busy or timed out (1)\n"
                           "  -x, -e                exclusive; always, in this release\n"
                           "  -c, --command STR     run STR with the shell\n"
                           "  -z, --hosts HOSTS     ensemble, h1:2181,h2:2181/chroot ($PADDOCK_HOSTS)\n"
                           "      --session-timeout SEC   lost so long after the servers hear no more (30)\n"
                           "      --connect-timeout SEC   give up on an ensemble that was never reached (30)\n"
                           "      --label TEXT            what 'paddock ls' shows (the command's name)\n"
                           "      --auth SCHEME:CRED      also $PADDOCK_AUTH, or --auth-file FILE\n"
                           "      --acl SCHEME:ID:PERMS   who may touch the lock's nodes (everybody)\n"
                           "      --on-lost=ACTION        lock lost: term (default), kill, SIG, or ignore\n"
                           "      --kill-after SEC        time between the two, a fifth of SEC above (2)\n"
                           "      --on-revoke=ACTION      asked for by 'paddock break': the same, no SIGKILL\n"
                           "      --lost-exit-code N      exit status when the lock was lost (76)\n"
                           "  -v, --verbose   -q, --quiet   -h, --help   -V, --version\n"
                           "The command gets PADDOCK_TOKEN, PADDOCK_PATH, PADDOCK_NODE, PADDOCK_SESSION.\n"
                           "Exit: the command's own, or 128+signal; 64 usage, 69 no ensemble, 70 internal,\n"
                           "76 lock lost, 77 not permitted, 126 cannot run, 127 not found. See paddock(1).\n";

static const struct option long_options[] = {
    {"shared", no_argument, NULL, 's'},
    {"exclusive", no_argument, NULL, 'x'},
    {"command", required_argument, NULL, 'c'},
    {"on-lost", required_argument, NULL, OPT_ON_LOST},
    {"on-revoke", required_argument, NULL, OPT_ON_REVOKE},
    {"kill-after", required_argument, NULL, OPT_KILL_AFTER},
    PDK__CLI_ENSEMBLE_OPTIONS,
    PDK__CLI_WAIT_OPTIONS,
    PDK__CLI_HELP_OPTIONS,
};

struct words {
    struct pdk__cli_lock lock;
    const char *script;
    char *shell[4];
    bool answered; /* by --help or --version */
};

static int take(struct words *w, int option, char **argv)
{
    switch (option) {
    case 's':
        return pdk__cli_usage("lock: shared locks are not available yet");
    case 'x':
    case 'e':
        return 0;
    case 'c':
        w->script = optarg;
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

static int parse_options(struct words *w, int argc, char **argv)
{
    int option, status = 0;
    opterr = 0;
    optind = 0; /* glibc: start anew */
    while (status == 0 && !w->answered &&
           (option = getopt_long(argc, argv, "+:sxenw:E:c:z:qvhV", long_options, NULL)) != -1)
        status = take(w, option, argv);
    return status;
}

static void use_shell(struct words *w)
{
    char *shell = getenv("SHELL");
    w->shell[0] = shell != NULL && *shell != '\0' ? shell : "/bin/sh";
    w->shell[1] = "-c";
    w->shell[2] = (char *)w->script;
    w->lock.argv = w->shell;
}

/* flock(1) takes -c after the path, too. */
static bool is_script(char **words)
{
    return words[0] != NULL && (strcmp(words[0], "-c") == 0 || strcmp(words[0], "--command") == 0);
}

static int parse_command(struct words *w, char **words)
{
    if (w->script == NULL && is_script(words)) {
        if (words[1] == NULL || words[2] != NULL)
            return pdk__cli_usage("lock: -c takes exactly one argument");
        w->script = words[1];
        words += 2;
    }
    if (*words != NULL && strcmp(*words, "--") == 0)
        words++;
    if (w->script != NULL && *words != NULL)
        return pdk__cli_usage("lock: give a command or -c, not both");
    if (w->script == NULL && *words == NULL)
        return pdk__cli_usage("lock: no command given");
    w->lock.argv = words;
    if (w->script != NULL)
        use_shell(w);
    return 0;
}

static int parse(struct words *w, int argc, char **argv)
{
    int status = parse_options(w, argc, argv);
    if (status != 0 || w->answered)
        return status;
    status = pdk__cli_options_path(&w->lock.common, argv[optind]);
    if (status == 0)
        status = parse_command(w, argv + optind + 1);
    return status;
}

int pdk__cli_lock_main(int argc, char **argv)
{
    struct words w = {0};
    int status = pdk__cli_lock_begin(&w.lock, "lock");
    if (status == 0)
        status = parse(&w, argc, argv);
    if (status == 0 && !w.answered)
        status = pdk__cli_lock_run(&w.lock);
    pdk__cli_options_end(&w.lock.common);
    return status;
}
