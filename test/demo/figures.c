/*
 * Figures of the recipes, on throwaway servers that this program starts. No Docker.
 *
 *     figures [--quick] [--json] [--OPTION N]... [WORD]...
 *
 * --help tells what they mean. --quick is a part of make check: it shows that what is exact holds.
 *
 * PADDOCK_SRCDIR and PADDOCK_BUILDDIR say where the source and the build tree are; make figures sets them. Exits as a test
 * does: 0, 1, 77 without a server, 99; and 64 when the arguments are wrong.
 */
#include "test/demo/figures.h"
#include "test/docker/workers.h"
#include "test/interop/peer.h"
#include "test/lib/check.h"
#include "test/lib/ensemble.h"
#include "test/lib/program.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIGURES_MAX = 40, CONNECT_MS = 60000, LIMIT_MS = 4 * 3600 * 1000 };

struct figures_size size = {.servers = 3,
                            .processes = 100,
                            .terms = 10000,
                            .kills = 200,
                            .batches = 10,
                            .batch_rounds = 400,
                            .cycles = 2000,
                            .rounds = 10000,
                            .curator = true};

static const char usage[] =
    "usage: figures [--quick] [--json] [--OPTION N]... [WORD]...\n"
    "Measures the recipes on throwaway servers, and prints a line for each figure.\n"
    "  --quick        a few rounds, on one server\n"
    "  --json         one object on standard output, the rest on standard error\n"
    "  --servers N    (3)\n"
    "  --processes N, --terms N, --kills N    of the rotation (100, 10000, 200)\n"
    "  --batches N    of the read/write lock, 400 rounds each (10)\n"
    "  --cycles N     of the multi-lock (2000)\n"
    "  --rounds N     of the semaphores (10000)\n"
    "A WORD chooses the tests whose names contain it: rotate, read/write, multi-lock,\n"
    "semaphore, Curator. Without --quick and a WORD, and when all went well, the figures go to\n"
    "results/figures.txt in the build tree, too.\n";

static const struct figures_size quick = {.servers = 1,
                                          .processes = 6,
                                          .terms = 40,
                                          .kills = 2,
                                          .batches = 1,
                                          .batch_rounds = 80,
                                          .cycles = 20,
                                          .rounds = 100};

static struct {
    char key[32], value[32], unit[16], aim[16], what[200];
} figures[FIGURES_MAX];
static int n_figures;
static bool is_quick;
static FILE *json;
static pdk__ensemble *ensemble;
static char hosts[PDK__SERVER_MAX * 32];

/* --- servers and clients ----------------------------------------------------------------------------------------- */

const char *figures_hosts(void) { return hosts; }

int figures_port(void) { return pdk__server_port(ensemble->server[0]); }

long figures_requests(void)
{
    long sum = 0;
    for (int i = 0; i < ensemble->n; i++)
        sum += pdk__ask_number(ensemble->server[i], "zk_packets_received");
    return sum;
}

pdk_client *figures_client(void)
{
    pdk_client *c;
    pdk_client_options *o = pdk_client_options_new();
    CHECK(o != NULL);
    CHECK_RC(pdk_client_options_set_session_timeout_ms(o, SESSION_MS), PDK_OK);
    CHECK_RC(pdk_client_new(&c, hosts, o), PDK_OK);
    CHECK_RC(pdk_client_wait(c, CONNECT_MS), PDK_OK);
    pdk_client_options_free(o);
    return c;
}

static void setup(void)
{
    ensemble = pdk__ensemble_new(&(struct pdk__ensemble_options){.n = size.servers, .own = true});
    for (int i = 0; i < ensemble->n; i++) {
        size_t n = strlen(hosts);
        snprintf(hosts + n, sizeof hosts - n, "%s127.0.0.1:%d", n > 0 ? "," : "",
                 pdk__server_port(ensemble->server[i]));
    }
}

/* --- figures ----------------------------------------------------------------------------------------------------- */

/* One line, which test/proof/tables reads: "# rwlock.ratio: 3.61 times (aim: 4 or more) - ...". */
static void print_figure(FILE *f, int i)
{
    const char *unit = figures[i].unit, *aim = figures[i].aim;
    fprintf(f, "# %s: %s%s%s%s%s%s - %s\n", figures[i].key, figures[i].value, *unit != '\0' ? " " : "", unit,
            *aim != '\0' ? " (aim: " : "", aim, *aim != '\0' ? ")" : "", figures[i].what);
    fflush(f);
}

void figure(const char *key, double value, int decimals, const char *unit, const char *aim, const char *what, ...)
{
    va_list args;
    CHECK(n_figures < FIGURES_MAX);
    snprintf(figures[n_figures].key, sizeof figures[0].key, "%s", key);
    snprintf(figures[n_figures].value, sizeof figures[0].value, "%.*f", decimals, value);
    snprintf(figures[n_figures].unit, sizeof figures[0].unit, "%s", unit);
    snprintf(figures[n_figures].aim, sizeof figures[0].aim, "%s", aim);
    va_start(args, what);
    vsnprintf(figures[n_figures].what, sizeof figures[0].what, what, args);
    va_end(args);
    print_figure(stdout, n_figures++);
}

/* The texts are ours, without quotes. */
static void print_json(void)
{
    fprintf(json, "{\"servers\": %d, \"figures\": [", size.servers);
    for (int i = 0; i < n_figures; i++)
        fprintf(json, "%s\n  {\"key\": \"%s\", \"value\": %s, \"unit\": \"%s\", \"aim\": \"%s\", \"what\": \"%s\"}",
                i > 0 ? "," : "", figures[i].key, figures[i].value, figures[i].unit, figures[i].aim, figures[i].what);
    fprintf(json, "\n]}\n");
    fclose(json);
}

static bool has(const char *key)
{
    for (int i = 0; i < n_figures; i++)
        if (strcmp(figures[i].key, key) == 0)
            return true;
    return false;
}

/* A test that failed has left out its last figure. Curator may be missing. */
static void keep(void)
{
    CHECK(has("rotation.late") && has("rwlock.order_ideal") && has("multilock.eight_requests") &&
          has("semaphore.speed"));
    char file[4096];
    struct program result;
    workers_file("figures", file, sizeof file);
    FILE *f = fopen(file, "we");
    CHECK(f != NULL);
    for (int i = 0; i < n_figures; i++)
        print_figure(f, i);
    fclose(f);
    CHECK_EQ(program_run(&result, ARGS(program_source("test/proof/result"), "figures.txt", file), 0), 0);
}

static void teardown(void)
{
    program_kill(&peer);
    workers_leave();
    pdk__ensemble_free(ensemble);
}

/* --- the program ------------------------------------------------------------------------------------------------- */

static void be_quiet(void)
{
    fflush(stdout);
    json = fdopen(dup(STDOUT_FILENO), "w");
    if (json == NULL || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        exit(99);
}

/* Where the option's number goes; NULL: it has none. */
static int *number_of(int option)
{
    switch (option) {
    case 's':
        return &size.servers;
    case 'p':
        return &size.processes;
    case 't':
        return &size.terms;
    case 'k':
        return &size.kills;
    case 'b':
        return &size.batches;
    case 'c':
        return &size.cycles;
    case 'r':
        return &size.rounds;
    default:
        return NULL;
    }
}

static bool read_number(int option, const char *text)
{
    char *rest;
    long n = strtol(text, &rest, 10), least = option == 'k' ? 0 : 1, most = option == 's' ? PDK__SERVER_MAX : 1000000;
    *number_of(option) = (int)n;
    return *text != '\0' && *rest == '\0' && n >= least && n <= most;
}

static bool read_option(int option)
{
    if (number_of(option) != NULL)
        return read_number(option, optarg);
    if (option == 'q') {
        is_quick = true;
        size = quick;
    } else if (option == 'j') {
        be_quiet();
    }
    return option != '?';
}

/* Words are what is left, from optind on. */
static void read_options(int argc, char **argv)
{
    static const struct option options[] = {{"quick", no_argument, NULL, 'q'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"help", no_argument, NULL, 'h'},
                                            {"servers", required_argument, NULL, 's'},
                                            {"processes", required_argument, NULL, 'p'},
                                            {"terms", required_argument, NULL, 't'},
                                            {"kills", required_argument, NULL, 'k'},
                                            {"batches", required_argument, NULL, 'b'},
                                            {"cycles", required_argument, NULL, 'c'},
                                            {"rounds", required_argument, NULL, 'r'},
                                            {0}};
    for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        bool good = read_option(c);
        if (c == 'h' || !good) {
            fputs(usage, good ? stdout : stderr);
            exit(good ? 0 : 64);
        }
    }
}

int main(int argc, char **argv)
{
    static struct pdk__test tests[] = {
        {"leaders rotate, and are killed: never two at once", figure_rotation},
        {"a read/write lock beside a mutex: a writer is alone", figure_rwlock},
        {"a multi-lock of eight paths beside a mutex", figure_multilock},
        {"a semaphore never deadlocks, and gives no permit too many", figure_semaphore},
        {"Curator's semaphore beside it", figure_curator},
        {"the figures are kept", keep},
        {0},
    };
    read_options(argc, argv);
    if (is_quick || optind < argc)
        tests[5] = (struct pdk__test){0};
    argv[optind - 1] = argv[0];
    int rc = pdk__test_main(
        argc - optind + 1, argv + optind - 1,
        &(struct pdk__test_suite){
            .name = "figures", .tests = tests, .setup = setup, .teardown = teardown, .limit_ms = LIMIT_MS});
    if (json != NULL)
        print_json();
    return rc;
}
