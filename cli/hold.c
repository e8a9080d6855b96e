#include "cli/claim.h"
#include "cli/commands.h"
#include "cli/number.h"
#include "cli/say.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const char help[] = "Usage: paddock hold [OPTION]... PATH\n"
                           "Take the lock PATH, print its token in a line, and hold it until standard input\n"
                           "ends or a signal (HUP, INT, TERM) comes. For scripts that keep a lock across\n"
                           "several commands, and for co-processes.\n"
                           "  -n, --nb              do not wait for a lock that another holds\n"
                           "  -w, --wait SEC        wait at most so long (decimals allowed)\n"
                           "  -E N                  exit status when busy or timed out (1)\n"
                           "  -z, --hosts HOSTS     ensemble, h1:2181,h2:2181/chroot ($PADDOCK_HOSTS)\n"
                           "      --session-timeout SEC   lost so long after the servers hear no more (10)\n"
                           "      --connect-timeout SEC   give up on an ensemble that was never reached (30)\n"
                           "      --label TEXT            what 'paddock ls' shows\n"
                           "      --auth SCHEME:CRED      also $PADDOCK_AUTH, or --auth-file FILE\n"
                           "      --acl SCHEME:ID:PERMS   who may touch the lock's nodes (everybody)\n"
                           "      --lost-exit-code N      exit status when the lock was lost (76)\n"
                           "  -v, --verbose   -q, --quiet   -h, --help   -V, --version\n"
                           "Exit: 0 released, 64 usage, 69 no ensemble, 70 internal, 76 lock lost,\n"
                           "77 not permitted, 128+signal when one came before the lock. See paddock(1).\n";

static const struct option long_options[] = {PDK__CLI_ENSEMBLE_OPTIONS, PDK__CLI_WAIT_OPTIONS, PDK__CLI_HELP_OPTIONS};

struct hold {
    struct pdk__cli_options options;
    struct pdk__cli_claim claim;
    int signals;
    int gave_up; /* the signal that came before the lock */
    bool silent; /* nobody reads the token */
    bool told_suspect;
    bool told_revoked;
    bool answered;
};

static int take(struct hold *h, int option, char **argv)
{
    switch (option) {
    case 'h':
        h->answered = true;
        fputs(help, stdout);
        return 0;
    case 'V':
        h->answered = true;
        return pdk__cli_version();
    default:
        return pdk__cli_options_take(&h->options, option, argv);
    }
}

static int parse(struct hold *h, int argc, char **argv)
{
    int option, status = 0;
    opterr = 0;
    optind = 0; /* glibc: start anew */
    while (status == 0 && !h->answered && (option = getopt_long(argc, argv, "+:nw:E:z:qvhV", long_options, NULL)) != -1)
        status = take(h, option, argv);
    if (status != 0 || h->answered)
        return status;
    status = pdk__cli_options_path(&h->options, argv[optind]);
    if (status == 0 && argv[optind + 1] != NULL)
        return pdk__cli_usage("hold: one path, and no command: '%s'", argv[optind + 1]);
    return status;
}

static void print_token(struct hold *h)
{
    int64_t token = 0;
    pdk_mutex_token(h->claim.mutex, &token);
    printf("%lld\n", (long long)token);
    if (fflush(stdout) == 0)
        return;
    pdk__cli_say("cannot write to standard output: %s", strerror(errno));
    h->silent = true;
    pdk__cli_claim_leave(&h->claim);
}

static void take_signal(struct hold *h)
{
    struct signalfd_siginfo info;
    if (read(h->signals, &info, sizeof info) != (ssize_t)sizeof info)
        return;
    if (h->claim.phase < CLAIM_HELD)
        h->gave_up = (int)info.ssi_signo;
    pdk__cli_claim_leave(&h->claim);
}

/* What is said on standard input does not matter, only that it ends. */
static void take_input(struct hold *h)
{
    char scrap[4096];
    ssize_t n = read(STDIN_FILENO, scrap, sizeof scrap);
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
        pdk__cli_claim_leave(&h->claim);
}

/* Whoever feeds this process decides. */
static void tell_revoked(struct hold *h)
{
    if (h->claim.phase == CLAIM_HELD && h->claim.revoked && !h->told_revoked && !h->options.quiet)
        pdk__cli_say("%s: somebody asks for the lock", h->options.path);
    h->told_revoked = h->claim.revoked;
}

static void turn(struct hold *h)
{
    enum pdk__cli_phase before = h->claim.phase;
    /* While waiting, a file or /dev/null at its end says nothing; a pipe whose writer is gone does (POLLHUP). */
    struct pollfd fds[] = {{.fd = pdk__cli_claim_fd(&h->claim), .events = POLLIN},
                           {.fd = h->signals, .events = POLLIN},
                           {.fd = STDIN_FILENO, .events = before == CLAIM_HELD ? POLLIN : 0}};
    poll(fds, before == CLAIM_LEAVING ? 2 : 3, pdk__cli_poll_ms(h->claim.deadline));
    pdk__cli_claim_step(&h->claim);
    if (before < CLAIM_HELD && h->claim.phase == CLAIM_HELD)
        print_token(h);
    tell_revoked(h);
    if (fds[1].revents != 0)
        take_signal(h);
    if (before == CLAIM_HELD && fds[2].revents != 0)
        take_input(h);
    else if (before < CLAIM_HELD && (fds[2].revents & (POLLHUP | POLLNVAL)) != 0 && h->claim.phase < CLAIM_HELD)
        pdk__cli_claim_leave(&h->claim);
    if (h->claim.phase == CLAIM_HELD && h->claim.lost)
        pdk__cli_claim_leave(&h->claim);
}

static int outcome(struct hold *h, const char *text, int status)
{
    if (h->claim.lost) {
        if (!h->options.quiet)
            pdk__cli_say("%s: the lock is lost", h->options.path);
        return h->options.lost_status;
    }
    if (h->gave_up != 0)
        return STATUS_SIGNAL + h->gave_up;
    if (h->silent)
        return STATUS_INTERNAL;
    if (h->claim.rc == PDK_ECANCELED) {
        pdk__cli_say("%s: standard input ended before the lock came", h->options.path);
        return h->options.busy_status;
    }
    if (text[0] != '\0')
        pdk__cli_say("%s", text);
    return status;
}

static int run(struct hold *h)
{
    char text[400];
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    h->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    sigaddset(&set, SIGPIPE);
    sigprocmask(SIG_BLOCK, &set, NULL);
    pdk__cli_claim_begin(&h->claim, &h->options);
    while (h->claim.phase != CLAIM_ENDED)
        turn(h);
    int status = pdk__cli_claim_status(&h->claim, text, sizeof text);
    pdk__cli_claim_close(&h->claim);
    close(h->signals);
    return outcome(h, text, status);
}

int pdk__cli_hold_main(int argc, char **argv)
{
    struct hold h = {0};
    int status = pdk__cli_options_begin(&h.options, "hold");
    if (status == 0)
        status = parse(&h, argc, argv);
    if (status == 0 && !h.answered)
        status = run(&h);
    pdk__cli_options_end(&h.options);
    return status;
}
