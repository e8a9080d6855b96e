/*
 * contest: several processes contend for one lock, and one of them is killed while it holds.
 *
 * It starts a ZooKeeper of its own, and forks the workers (each creates a client of its own: a client does not survive
 * a fork). It prints their reports as they come, and checks at the end that no two of them ever held at once and that
 * the tokens grew with every grant. However it ends, it leaves no process, no directory and no lock.
 */
#include "contest.h"

#include "server/throwaway.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The exit statuses, beside 0 and 128 + the signal that came. */
enum { EXIT_LAW = 1, EXIT_USAGE = 64, EXIT_UNAVAILABLE = 69 };

enum { READY_MS = 60000, TICK_MS = 250 };

struct options {
    const char *hosts; /* NULL: a server of our own */
    int processes, rounds;
    bool json, all;
};

static int usage(FILE *out, int status)
{
    fprintf(out,
            "Usage: contest [OPTION]...\n"
            "Let processes contend for one lock, kill one that holds it, check the laws.\n\n"
            "  --processes N   how many processes, 2 to %d (default 5)\n"
            "  --rounds N      how often each of them locks, 1 to 100000 (default 40)\n"
            "  --hosts H       an ensemble that runs already, as HOST:PORT[,HOST:PORT...][/CHROOT];\n"
            "                  default: a throwaway ZooKeeper on this machine\n"
            "  --all           show every row, also of a long contest\n"
            "  --json          print one JSON object at the end instead of a table\n"
            "  --help          show this\n\n"
            "Exit status: 0 all laws held, 1 one was broken, 64 usage, 69 no ensemble.\n",
            CONTEST_MAX_PROCESSES);
    return status;
}

static bool parse_number(const char *text, int low, int high, int *value)
{
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (errno || end == text || *end || n < low || n > high) {
        fprintf(stderr, "contest: %s: not a number from %d to %d\n", text, low, high);
        return false;
    }
    *value = (int)n;
    return true;
}

/* Returns -1 to go on, or the exit status. */
static int parse(int argc, char **argv, struct options *o)
{
    static const struct option longs[] = {{"processes", required_argument, NULL, 'p'},
                                          {"rounds", required_argument, NULL, 'r'},
                                          {"hosts", required_argument, NULL, 'z'},
                                          {"all", no_argument, NULL, 'a'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    bool good = true;
    int c;
    while (good && (c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
        switch (c) {
        case 'p':
            good = parse_number(optarg, 2, CONTEST_MAX_PROCESSES, &o->processes);
            break;
        case 'r':
            good = parse_number(optarg, 1, 100000, &o->rounds);
            break;
        case 'z':
            o->hosts = optarg;
            break;
        case 'a':
            o->all = true;
            break;
        case 'j':
            o->json = true;
            break;
        case 'h':
            return usage(stdout, EXIT_SUCCESS);
        default:
            return usage(stderr, EXIT_USAGE);
        }
    }
    if (good && optind < argc)
        return usage(stderr, EXIT_USAGE);
    return good ? -1 : EXIT_USAGE;
}

/* The process that is killed is the second, in the middle of its rounds. */
static struct plan make_plan(const struct options *o, const char *hosts)
{
    struct plan plan = {
        .hosts = hosts, .processes = o->processes, .rounds = o->rounds, .victim = 1, .fatal_round = o->rounds / 2};
    snprintf(plan.path, sizeof plan.path, "/contest/%lld-%d", (long long)now_ns(), (int)getpid());
    return plan;
}

static bool wants_colour(void)
{
    const char *term = getenv("TERM"), *no = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

static int judge(const struct options *o, const struct plan *plan, struct report *report, struct diary *diary)
{
    struct verdict verdict;
    if (!laws_check(diary, &verdict)) {
        fprintf(stderr, "contest: out of memory\n");
        return EXIT_UNAVAILABLE;
    }
    report_verdict(report, &verdict);
    bool written = !o->json || report_json(stdout, plan, diary, &verdict) == 0;
    if (fflush(stdout) != 0 || ferror(stdout) || !written) {
        fprintf(stderr, "contest: the report could not be written\n");
        return EXIT_UNAVAILABLE;
    }
    return laws_hold(&verdict) ? EXIT_SUCCESS : EXIT_LAW;
}

static int hold_contest(const struct options *o, const char *hosts)
{
    struct plan plan = make_plan(o, hosts);
    struct diary diary = {0};
    struct report report = {.out = stdout, .colour = wants_colour(), .all = o->all, .quiet = o->json, .plan = &plan};
    report_begin(&report);
    int status, rc = race_run(&plan, &report, &diary);
    if (rc == 0)
        status = judge(o, &plan, &report, &diary);
    else if (rc == EINTR)
        status = 128 + race_interrupted();
    else
        status = EXIT_UNAVAILABLE;
    if (rc && rc != EINTR && rc != EPROTO) /* EPROTO: a worker failed, and reported why */
        fprintf(stderr, "contest: %s\n", rc == ETIMEDOUT ? "nothing happens any more" : strerror(rc));
    diary_free(&diary);
    return status;
}

static int start_server(pdk__server **server)
{
    /* Short ticks: a session ends at most one tick after its time. */
    struct pdk__server_options so = {.tick_ms = TICK_MS};
    if (pdk__server_new(server, &so) == 0 && pdk__server_start(*server) == 0 &&
        pdk__server_wait_ready(*server, READY_MS) == 0)
        return 0;
    if (!race_interrupted())
        fprintf(stderr, "contest: %s\n", pdk__server_error());
    return -1;
}

static int with_server(const struct options *o)
{
    pdk__server *server = NULL;
    char hosts[32];
    int status = EXIT_UNAVAILABLE;
    if (!o->json && isatty(STDERR_FILENO))
        fprintf(stderr, "Starting a ZooKeeper ...\r");
    if (start_server(&server) == 0 && !race_interrupted()) {
        snprintf(hosts, sizeof hosts, "127.0.0.1:%d", pdk__server_port(server));
        status = hold_contest(o, hosts);
    }
    pdk__server_free(server);
    return race_interrupted() ? 128 + race_interrupted() : status;
}

int main(int argc, char **argv)
{
    struct options o = {.processes = 5, .rounds = 40};
    int status = parse(argc, argv, &o);
    if (status >= 0)
        return status;
    race_catch_signals();
    return o.hosts ? hold_contest(&o, o.hosts) : with_server(&o);
}
