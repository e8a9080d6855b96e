#include "cli/lock.h"

#include "cli/commands.h"
#include "cli/number.h"
#include "cli/say.h"
#include "cli/wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

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
    {"kill-after", required_argument, NULL, OPT_KILL_AFTER},
    PDK__CLI_ENSEMBLE_OPTIONS,
    PDK__CLI_WAIT_OPTIONS,
    PDK__CLI_HELP_OPTIONS,
};

/* Longer than the library's: what ends a command in time must not end it whenever the servers elect a leader. */
enum { SESSION_MS = 30000 };

struct words {
    struct pdk__cli_lock lock;
    const char *script;
    char *shell[4];
    bool answered; /* by --help or --version */
};

void pdk__cli_lock_signals(sigset_t *set)
{
    static const int signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGUSR1, SIGUSR2,
                                  SIGALRM, SIGTERM, SIGCONT, SIGTSTP, SIGWINCH};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaddset(set, signals[i]);
}

static int take_on_lost(struct pdk__cli_lock *l)
{
    l->on_lost = 0;
    if (strcasecmp(optarg, "ignore") == 0 || pdk__cli_number_signal(optarg, &l->on_lost))
        return 0;
    return pdk__cli_usage("lock: --on-lost takes term, kill, ignore or the name of a signal, not '%s'", optarg);
}

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
    case OPT_ON_LOST:
        return take_on_lost(&w->lock);
    case OPT_KILL_AFTER:
        w->lock.grace_given = true;
        if (pdk__cli_number_seconds(optarg, &w->lock.grace_ms))
            return 0;
        return pdk__cli_usage("lock: --kill-after takes a number of seconds, not '%s'", optarg);
    default:
        return pdk__cli_options_take(&w->lock.common, option, argv);
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

/* Arguments may hold secrets, and everybody may read the label: the command's name alone. */
static void set_label(struct pdk__cli_lock *l)
{
    const char *slash = strrchr(l->argv[0], '/');
    const char *name = slash != NULL ? slash + 1 : l->argv[0];
    if (!l->common.labelled && strlen(name) < 256)
        pdk_client_options_set_label(l->common.client, name);
}

/* A command that may take longer to end than the lock can be good for would outlive it. */
static int check_grace(const struct pdk__cli_lock *l)
{
    int64_t least = l->grace_ms * PDK__CLI_GRACE_PART;
    if (!l->grace_given || l->on_lost == 0 || l->on_lost == SIGKILL || least <= l->common.session_ms)
        return 0;
    return pdk__cli_usage("lock: --kill-after %.3g s needs a --session-timeout of %.3g s or more",
                          (double)l->grace_ms / 1000, (double)least / 1000);
}

static int parse(struct words *w, int argc, char **argv)
{
    int status = parse_options(w, argc, argv);
    if (status != 0 || w->answered)
        return status;
    status = pdk__cli_options_path(&w->lock.common, argv[optind]);
    if (status == 0)
        status = parse_command(w, argv + optind + 1);
    if (status == 0)
        status = check_grace(&w->lock);
    if (status == 0)
        set_label(&w->lock);
    return status;
}

static int run(struct pdk__cli_lock *l)
{
    int ends[2];
    sigset_t set, mask;
    pid_t runner = getpid();
    l->live = isatty(STDERR_FILENO) && !l->common.quiet && l->common.wait_ms != 0;
    pdk__cli_lock_signals(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTTOU); /* so that the terminal can be taken back from the background */
    sigaddset(&set, SIGPIPE); /* blocked, not ignored: the command's own disposition stays what it was */
    sigprocmask(SIG_BLOCK, &set, &mask);
    signal(SIGCHLD, SIG_DFL); /* an ignored one would reap our children */
    l->lease = pdk__cli_lease_new();
    pid_t session = l->lease != NULL && pdk__cli_wire_pair(ends) == 0 ? fork() : -1;
    if (session < 0) {
        pdk__cli_say("cannot start a process: %s", strerror(errno));
        return STATUS_INTERNAL;
    }
    if (session == 0)
        pdk__cli_session_run(l, ends[1], runner);
    close(ends[1]);
    return pdk__cli_runner_run(l, ends[0], session, &mask);
}

int pdk__cli_lock_main(int argc, char **argv)
{
    struct words w = {.lock = {.on_lost = SIGTERM, .grace_ms = 2000}};
    int status = pdk__cli_options_begin(&w.lock.common, "lock");
    if (status == 0)
        pdk__cli_options_session(&w.lock.common, SESSION_MS);
    if (status == 0)
        status = parse(&w, argc, argv);
    if (status == 0 && !w.answered)
        status = run(&w.lock);
    pdk__cli_options_end(&w.lock.common);
    return status;
}
