/*
 * One run: an ensemble of three, clients that contend for locks, a nemesis; then the judge.
 *
 *     run [--seed N] [--minutes M] [--clients K] [--session MS] [--crafts LIST] [--tls CERTIFICATES] [--out DIR]
 *
 * LIST is what the clients contend for, each path's clients among themselves: of mutex, rwlock, permits, multi-lock,
 * turns and latch, with commas. Behind the name come the options of the lock: mutex+handover+idle+nowait,
 * rwlock+idle+nowait, multi-lock+nowait; mutex+jobs: its holders run jobs, once for a KEY or in a period; mutex+25:
 * that many threads of each client contend; and +brief: held for at most 20 ms, again and again. Without LIST, a mutex
 * and two of the others, which the seed chooses, with options.
 *
 * With --tls the clients speak TLS, by the files that test/tls/certificates has made in that directory; faults of
 * single messages are left out, for the proxies cannot read them.
 *
 * Prints the seed, which chooses the faults and what the clients do, though not how threads and packets race. Keeps the
 * evidence in DIR (created; default: a temporary one, kept only when the verdict is bad) and puts report.html there.
 * Exits 0 when the judge finds nothing, 1 when it does, 77 where there is no Java, 99 when the harness broke.
 */
#include "test/chaos/nemesis.h"
#include "test/chaos/verdict.h"
#include "test/chaos/workers.h"
#include "test/lib/check.h"
#include "test/lib/crafts.h"
#include "test/lib/secure.h"
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TICK_MS = 200, SYNC_LIMIT = 10, SERVERS = 3, SETTLE_MS = 120000 };

static struct {
    uint64_t seed;
    double minutes;
    int clients, session_ms;
    const char *crafts[8];
    int n_crafts;
    char certificates[PATH_MAX]; /* empty: plain text */
    char out[PATH_MAX];
    bool is_temporary;
} o = {.minutes = 1, .clients = 8};

static pdk__ensemble *e;
static struct workers workers;
static struct nemesis nemesis;
static struct history *history;
static char worker_program[PATH_MAX];

/* --- the pieces -------------------------------------------------------------------------------------------------- */

static void set(const char *name, int64_t value)
{
    struct record r = {.event = SETTING, .token = value};
    snprintf(r.node, sizeof r.node, "%s", name);
    history_write(history, &r);
}

static void tell_settings(void)
{
    set("seed", (int64_t)o.seed);
    set("clients", o.clients);
    set("session_ms", o.session_ms);
    set("tick_ms", TICK_MS);
    set("sync_limit", SYNC_LIMIT);
    for (int id = 0; id < N_FAULTS; id++)
        set(fault_name((enum fault_id)id), id); /* for readers that do not know the numbers */
    history_write(history, &(struct record){.event = WALL, .token = wall_ns()});
}

/* NULL: a mutex. */
static const struct craft *find_craft(const char *text)
{
    char name[32];
    struct craft_options options;
    return craft_read(text, name, &options) ? craft_find(name) : NULL;
}

static void start(void)
{
    char file[PATH_MAX + 32];
    bool secure = *o.certificates != '\0';
    if (secure)
        pdk__speak_tls_by(o.certificates);
    const char *properties[PDK__SECURE_PROPERTIES + 1];
    pdk__secure_properties(o.certificates, properties);
    snprintf(file, sizeof file, "%s/nemesis.history", o.out);
    CHECK((history = history_create(file, -1, 0)) != NULL);
    tell_settings();
    e = pdk__ensemble_new(&(struct pdk__ensemble_options){.n = SERVERS,
                                                          .tick_ms = TICK_MS,
                                                          .sync_limit = SYNC_LIMIT,
                                                          .links = true,
                                                          .properties = secure ? properties : NULL,
                                                          .own = true});
    workers = (struct workers){.n = o.clients,
                               .dir = o.out,
                               .worker = worker_program,
                               .session_ms = o.session_ms,
                               .tick_ms = TICK_MS,
                               .secure = secure,
                               .seed = o.seed,
                               .e = e,
                               .log = history};
    for (int i = 0; i < o.clients; i++) {
        const struct craft *craft = find_craft(workers.craft[i] = o.crafts[i % o.n_crafts]);
        workers.lanes |= craft != NULL ? craft->lanes : 1U << LANE_LOCK;
    }
    workers_begin(&workers);
    nemesis_begin(&nemesis, &workers, history, o.seed);
}

static bool all_served(const int *before)
{
    for (int i = 0; i < workers.n; i++)
        if (atomic_load(&workers.places[i].history->n_grants) == before[i])
            return false;
    return true;
}

/* If they are not, the judge reports it with its other findings. */
static void let_all_be_served(void)
{
    int before[WORKERS_MAX];
    for (int i = 0; i < workers.n; i++)
        before[i] = atomic_load(&workers.places[i].history->n_grants);
    int64_t until = now_ns() + SETTLE_MS * INT64_C(1000000);
    while (!all_served(before) && now_ns() < until) {
        workers_check(&workers);
        admin_mend(&nemesis, true);
        pdk__test_nap();
    }
}

/* --- the run ----------------------------------------------------------------------------------------------------- */

static void run(void)
{
    start();
    nemesis_run(&nemesis, (int64_t)(o.minutes * 60000));
    nemesis_heal(&nemesis);
    let_all_be_served();
    workers_finish(&workers, SETTLE_MS);
    nemesis_count_leftovers(&nemesis);
    history_write(history, &(struct record){.event = WALL, .token = wall_ns()});
    nemesis_end(&nemesis);
    nemesis_keep_logs(&nemesis);
}

static void teardown(void)
{
    workers_end(&workers);
    nemesis_end(&nemesis);
    pdk__ensemble_free(e);
    history_close(history);
    e = NULL;
    history = NULL;
}

/* --- the command ------------------------------------------------------------------------------------------------- */

static int usage(void)
{
    fprintf(stderr,
            "usage: run [--seed N] [--minutes M] [--clients K] [--session MS] [--crafts LIST] [--tls CERTIFICATES]"
            " [--out DIR]\n");
    return 64;
}

static bool is_craft(const char *text)
{
    char name[32];
    struct craft_options options;
    return craft_read(text, name, &options) && (strcmp(name, "mutex") == 0 || craft_find(name) != NULL);
}

static bool read_crafts(char *list)
{
    for (char *name = strtok(list, ","); name != NULL; name = strtok(NULL, ",")) {
        if (o.n_crafts == 8 || !is_craft(name))
            return false;
        o.crafts[o.n_crafts++] = name;
    }
    return o.n_crafts > 0;
}

static bool read_options(int argc, char **argv)
{
    static const struct option options[] = {
        {"seed", 1, NULL, 's'}, {"minutes", 1, NULL, 'm'}, {"clients", 1, NULL, 'c'}, {"session", 1, NULL, 't'},
        {"out", 1, NULL, 'o'},  {"crafts", 1, NULL, 'r'},  {"tls", 1, NULL, 'x'},     {0}};
    int c;
    o.seed = (uint64_t)now_ns() % 1000000;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (c == 's')
            o.seed = strtoull(optarg, NULL, 10);
        else if (c == 'm')
            o.minutes = strtod(optarg, NULL);
        else if (c == 'c')
            o.clients = atoi(optarg);
        else if (c == 't')
            o.session_ms = atoi(optarg);
        else if (c == 'r' && read_crafts(optarg))
            continue;
        else if (c == 'x' && realpath(optarg, o.certificates) != NULL)
            continue;
        else if (c == 'o')
            snprintf(o.out, sizeof o.out, "%s", optarg);
        else
            return false;
    }
    return optind == argc && o.clients >= 1 && o.clients <= WORKERS_MAX && o.minutes > 0;
}

/* Short sessions can be outlived by a server that is cut off from its leader, long ones cannot: both must be seen. */
static void choose_session(void)
{
    static const int sessions[] = {1500, 2000, 3000, 4500};
    struct dice dice;
    dice_seed(&dice, o.seed ^ 0x5e5510);
    if (o.session_ms == 0)
        o.session_ms = sessions[dice_below(&dice, 4)];
}

/* The options of a lock, by the seed: none, one, or several. */
static void add_craft(const char *name)
{
    static const char *const mutex[] = {"", "+nowait", "+idle", "+handover", "+handover+idle", "+handover+idle+nowait"};
    static const char *const rwlock[] = {"", "+nowait", "+idle", "+idle+nowait"};
    static char texts[3][64];
    const char *options = "", *jobs = "", *threads = "";
    if (strcmp(name, "mutex") == 0) {
        options = mutex[o.seed % 6];
        jobs = o.seed % 4 > 0 ? "+jobs" : "";
        threads = o.seed % 5 == 2 ? "+4" : ""; /* more would be too many for the second judge */
    } else if (strcmp(name, "rwlock") == 0)
        options = rwlock[o.seed % 4];
    else if (strcmp(name, "multi-lock") == 0 && o.seed / 2 % 2 == 1)
        options = "+nowait";
    snprintf(texts[o.n_crafts], sizeof texts[0], "%s%s%s%s", name, options, jobs, threads);
    o.crafts[o.n_crafts] = texts[o.n_crafts];
    o.n_crafts++;
}

/* A mutex and two others: what always comes together hides what comes alone. One seed and the next have different
 * ones, and twelve seeds each pair. */
static void choose_crafts(void)
{
    uint64_t first = o.seed % 4, second = (o.seed + 1 + o.seed / 4 % 3) % 4;
    if (o.n_crafts > 0)
        return;
    add_craft("mutex");
    add_craft(crafts[first]->name);
    add_craft(crafts[second]->name);
}

static bool make_place(void)
{
    const char *tmp = getenv("TMPDIR");
    if (*o.out != '\0')
        return mkdir(o.out, 0700) == 0 || errno == EEXIST;
    o.is_temporary = true;
    snprintf(o.out, sizeof o.out, "%s/paddock-chaos-XXXXXX", tmp != NULL && *tmp != '\0' ? tmp : "/tmp");
    return mkdtemp(o.out) != NULL;
}

static bool find_worker(void)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n < 0)
        return false;
    self[n] = '\0';
    return snprintf(worker_program, sizeof worker_program, "%s/../lib/worker", dirname(self)) < PATH_MAX &&
           access(worker_program, X_OK) == 0;
}

static void forget_evidence(void)
{
    char command[PATH_MAX + 32];
    snprintf(command, sizeof command, "rm -rf '%s'", o.out);
    if (system(command) != 0)
        fprintf(stderr, "run: %s stays behind\n", o.out);
}

/* The run proper, in a process of its own. */
static int run_and_judge(char **argv)
{
    char name[64];
    snprintf(name, sizeof name, "seed %" PRIu64 ", %g minutes, %d clients, sessions of %d ms", o.seed, o.minutes,
             o.clients, o.session_ms);
    printf("# %s: evidence in %s\n# contended for:", name, o.out);
    for (int i = 0; i < o.n_crafts; i++)
        printf(" %s", o.crafts[i]);
    printf("%s\n", *o.certificates != '\0' ? ", over TLS" : "");
    fflush(stdout);
    const struct pdk__test tests[] = {{name, run}, {0}};
    int rc = pdk__test_main(
        1, argv,
        &(struct pdk__test_suite){
            .name = "chaos", .tests = tests, .teardown = teardown, .limit_ms = (int)(o.minutes * 60000) + 600000});
    return rc == 0 ? judge(o.out) : rc;
}

/* However the run ends, also by a signal to us, its servers and clients end with it: they look after that. */
static int supervise(char **argv)
{
    sigset_t signals, before;
    int status = 0, signal = 0, cause = 0;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, &before);
    pid_t pid = pdk__test_fork();
    if (pid == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        exit(run_and_judge(argv));
    }
    while (pid > 0 && waitpid(pid, &status, WNOHANG) == 0)
        if (sigwait(&signals, &signal) == 0 && signal != SIGCHLD) {
            cause = signal;
            kill(pid, SIGKILL);
        }
    if (pid < 0 || !WIFEXITED(status))
        return cause != 0 ? 128 + cause : 99;
    return WEXITSTATUS(status);
}

/* The evidence of a bad verdict, or of a run that broke, is kept. */
int main(int argc, char **argv)
{
    if (!read_options(argc, argv))
        return usage();
    choose_session();
    choose_crafts();
    if (!find_worker() || !make_place()) {
        fprintf(stderr, "run: no program `../lib/worker` beside this one, or no place for the evidence\n");
        return 99;
    }
    int rc = supervise(argv);
    if (o.is_temporary && (rc == 0 || rc == 77 || rc > 128))
        forget_evidence();
    return rc;
}
