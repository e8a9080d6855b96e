/*
 * The simulator: the real core against a model of an ensemble, one history per seed.
 *
 *     sim --seeds 100000 [--first 1] [--jobs 2]    many seeds; a failing one is shrunk and reported
 *     sim --seed 51 [--story]                      one, again
 *     sim --cuts --hostile --seeds 1000            all in these regimes: only cut connections, one after another,
 *                                                  and late messages; a hostile contender
 *     sim --exhaustive [--pairs]                   every single fault, or pair of faults, at each request
 *     sim --acts 4:2,9:1 --seeds 50                act 2 (enum act) at the fourth request, act 1 at the ninth
 *     sim --seeds 1000 --trace FILE                what each machine was told and did, for test/model/trace
 *
 * Exit status: 0, 1 when a law was broken, 2 when a branch that must be visited was not, 64 usage.
 */
#include "test/lib/trace.h"
#include "test/sim/fiber.h"
#include "test/sim/shrink.h"
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct options {
    uint64_t first, seeds;
    int jobs;
    bool story, exhaustive, pairs, terse, coverage;
    struct plan plan; /* what every run has in common */
};

int trace_tick_ms(void)
{
    const struct client *c = fiber_now->owner;
    return c->world->ensemble.tick_ms;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void tell(struct world *w, struct plan plan, const char *law)
{
    static bool spared[FAULTS_MAX];
    int left = shrink(w, &plan, law, spared);
    plan.spared = spared;
    plan.story = stdout;
    world_run(w, &plan);
    printf("seed %llu breaks %s: %s (%d faults are enough)\n", (unsigned long long)plan.seed, law, w->how, left);
}

static int broken(struct world *w, const struct plan *plan, const char *law, const struct options *o)
{
    if (o->terse)
        printf("%s %llu %s\n", law, (unsigned long long)plan->seed, w->how);
    else
        tell(w, *plan, law);
    return 1;
}

/* --- the sum of all jobs ----------------------------------------------------------------------------------------- */

struct sum {
    uint64_t seeds, grants, faults, requests, sights[N_SIGHTS], excuses[N_EXCUSES];
    int64_t virtual_ms;
    int status;
};

static void add(struct sum *to, const struct sum *s)
{
    to->seeds += s->seeds;
    to->grants += s->grants;
    to->faults += s->faults;
    to->requests += s->requests;
    to->virtual_ms += s->virtual_ms;
    for (int i = 0; i < N_SIGHTS; i++)
        to->sights[i] += s->sights[i];
    for (int i = 0; i < N_EXCUSES; i++)
        to->excuses[i] += s->excuses[i];
    if (s->status != 0)
        to->status = s->status;
}

static struct sum summary(uint64_t seeds, int status)
{
    struct sum s = {.seeds = seeds,
                    .grants = total_grants,
                    .faults = total_faults,
                    .requests = total_requests,
                    .virtual_ms = total_virtual_ms,
                    .status = status};
    memcpy(s.sights, sights, sizeof sights);
    memcpy(s.excuses, excuses, sizeof excuses);
    return s;
}

/* Returns how many branches were not visited. An excuse is counted by the million seeds. */
static int report_coverage(const struct sum *s)
{
    int unseen = 0;
    for (int i = 0; i < N_SIGHTS; i++) {
        printf("%12llu  %s\n", (unsigned long long)s->sights[i], sight_names[i]);
        unseen += s->sights[i] == 0;
    }
    for (int i = 0; i < N_EXCUSES; i++)
        printf("%12.1f  excused in a million seeds: %s\n", (double)s->excuses[i] * 1e6 / (double)s->seeds,
               excuse_texts[i]);
    return unseen;
}

static int report(const struct sum *s, double took, const struct options *o)
{
    int unseen = o->coverage ? report_coverage(s) : 0;
    printf(
        "%llu seeds in %.1f s (%.0f a second and job), %llu grants, %llu faults, %llu requests, %.0f simulated hours\n",
        (unsigned long long)s->seeds, took, (double)s->seeds / took / o->jobs, (unsigned long long)s->grants,
        (unsigned long long)s->faults, (unsigned long long)s->requests, (double)s->virtual_ms / 3.6e6);
    if (unseen > 0)
        printf("%d branches were never visited\n", unseen);
    return s->status != 0 ? s->status : unseen > 0 ? 2 : 0;
}

/* An assertion of the core, a bound of the model, or endless actions (the stack overflows) end the process. Its last
 * message must name the seed. */
static volatile uint64_t seed_at_hand;

static void aborted(int signal)
{
    char text[64];
    if (signal == SIGABRT && trace_out != NULL)
        fflush(trace_out); /* the process ends anyway */
    int n = snprintf(text, sizeof text, "seed %llu aborts\n", (unsigned long long)seed_at_hand);
    if (write(STDOUT_FILENO, text, (size_t)n) == n)
        _exit(1);
    _exit(128 + signal);
}

static void catch_ends(void)
{
    static char other_stack[1 << 16];
    struct sigaction action = {.sa_handler = aborted, .sa_flags = SA_ONSTACK};
    sigaltstack(&(stack_t){.ss_sp = other_stack, .ss_size = sizeof other_stack}, NULL);
    sigaction(SIGABRT, &action, NULL);
    sigaction(SIGSEGV, &action, NULL);
}

/* --- many seeds -------------------------------------------------------------------------------------------------- */

static int end_trace(void)
{
    int failed = trace_out != NULL && fclose(trace_out) != 0;
    trace_out = NULL;
    return failed ? 99 : 0;
}

static struct sum job(const struct options *o, int which)
{
    struct world *w = world_new();
    uint64_t n = 0;
    int status = 0;
    for (uint64_t i = (uint64_t)which; i < o->seeds && status == 0; i += (uint64_t)o->jobs, n++) {
        struct plan plan = o->plan;
        plan.seed = o->first + i;
        plan.story = o->story ? stdout : NULL;
        seed_at_hand = trace_seed = plan.seed;
        const char *law = world_run(w, &plan);
        if (law != NULL) {
            end_trace(); /* the same history again is no trace */
            status = broken(w, &plan, law, o);
        }
    }
    struct sum s = summary(n, status);
    world_free(w);
    if (end_trace() != 0)
        s.status = 99;
    return s;
}

/* A build for test/sim/coverage writes its counts at an exit, not at _exit(). */
#ifdef COVERED
void __gcov_dump(void);
#else
static void __gcov_dump(void) {}
#endif

static int start_job(const struct options *o, int which)
{
    int fds[2];
    if (pipe(fds) != 0)
        exit(99);
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0)
        exit(99);
    if (pid == 0) {
        struct sum s = job(o, which);
        fflush(stdout);
        __gcov_dump();
        _exit(write(fds[1], &s, sizeof s) == sizeof s ? 0 : 99);
    }
    close(fds[1]);
    return fds[0];
}

static int run_seeds(const struct options *o)
{
    double begun = seconds();
    struct sum all = {0};
    int fds[64];
    for (int i = 0; i < o->jobs; i++)
        fds[i] = start_job(o, i);
    for (int i = 0; i < o->jobs; i++) {
        struct sum s = {0};
        if (read(fds[i], &s, sizeof s) != sizeof s)
            s.status = 99;
        close(fds[i]);
        add(&all, &s);
    }
    while (wait(NULL) > 0)
        continue;
    return o->terse && all.status == 0 ? 0 : o->terse ? all.status : report(&all, seconds() - begun, o);
}

/* --- every fault at every request -------------------------------------------------------------------------------- */

static int try_acts(struct world *w, const struct options *o, struct plan plan, uint64_t *n)
{
    ++*n;
    const char *law = world_run(w, &plan);
    if (law == NULL)
        return 0;
    printf("acts %d at %d, %d at %d:\n", plan.act[0], plan.act_at[0], plan.act[1], plan.act_at[1]);
    return broken(w, &plan, law, o);
}

static int run_exhaustively(const struct options *o)
{
    struct world *w = world_new();
    double begun = seconds();
    uint64_t n = 0;
    int status = 0;
    for (uint64_t seed = o->first; seed < o->first + o->seeds && status == 0; seed++) {
        struct plan plan = {.seed = seed, .exhaustive = true};
        if (world_run(w, &plan) != NULL)
            return broken(w, &plan, w->broken, o);
        int n_requests = w->n_requests < 60 ? w->n_requests : 60;
        for (int i = 1; i <= n_requests && status == 0; i++)
            for (int act = 1; act < N_ACTS && status == 0; act++) {
                plan.act_at[0] = i;
                plan.act[0] = act;
                plan.act[1] = ACT_NONE;
                status = try_acts(w, o, plan, &n);
                for (int j = i + 1; o->pairs && j <= i + 20 && status == 0; j++)
                    for (int second = 1; second < N_ACTS && status == 0; second++) {
                        plan.act_at[1] = j;
                        plan.act[1] = second;
                        status = try_acts(w, o, plan, &n);
                    }
            }
    }
    struct sum s = summary(n, status);
    world_free(w);
    return report(&s, seconds() - begun, o);
}

/* "I:A" or "I:A,J:B": act A at request I, act B at request J. */
static bool parse_acts(struct plan *plan, const char *text)
{
    int n = sscanf(text, "%d:%d,%d:%d", &plan->act_at[0], &plan->act[0], &plan->act_at[1], &plan->act[1]);
    plan->exhaustive = true;
    return (n == 2 || n == 4) && plan->act[0] > 0 && plan->act[0] < N_ACTS && plan->act[1] >= 0 &&
           plan->act[1] < N_ACTS;
}

static const char usage_text[] =
    "usage: sim [--seeds N] [--first S] [--jobs J] [--coverage] [--terse] [--cuts] [--hostile] [--trace FILE]\n"
    "       sim --seed S [--story]\n"
    "       sim --exhaustive [--pairs] [--first S] [--seeds N]\n"
    "       sim --acts I:A[,J:B] [--first S] [--seeds N]\n";

static const char help_text[] =
    "\n"
    "  --seeds N     so many seeds (1000), one history each; one that breaks a law is shrunk and told\n"
    "  --first S     from this seed on (1)\n"
    "  --jobs J      in so many processes (1)\n"
    "  --coverage    print how often each branch was visited, and each excuse of a law used\n"
    "  --terse       one line for a seed that breaks a law: the law, the seed, and how\n"
    "  --cuts        in each run the only fault is that connections break, one after another\n"
    "  --trace FILE  write what each machine was told and did; with one job\n"
    "  --hostile     in each run a contender forges names and records, overwrites data and requests revocations\n"
    "  --seed S      this seed alone\n"
    "  --story       print all that happens\n"
    "  --exhaustive  every fault at each request of each seed; with --pairs every pair of faults\n"
    "  --acts I:A    act A (1: the request is lost, 2: its reply, 3: its reply and the server, 4: the session ends) "
    "at\n"
    "                request I; a second one after a comma\n"
    "  --help        this\n"
    "\n"
    "Exit status: 0, 1 when a law was broken, 2 when a branch was not visited (--coverage), 64 for wrong options.\n";

static int usage(void)
{
    fputs(usage_text, stderr);
    return 64;
}

static int help(void)
{
    fputs(usage_text, stdout);
    fputs(help_text, stdout);
    return 0;
}

int main(int argc, char **argv)
{
    struct options o = {.first = 1, .seeds = 1000, .jobs = 1};
    static const struct option options[] = {{"seeds", required_argument, NULL, 'n'},
                                            {"first", required_argument, NULL, 'f'},
                                            {"seed", required_argument, NULL, 's'},
                                            {"jobs", required_argument, NULL, 'j'},
                                            {"story", no_argument, NULL, 't'},
                                            {"exhaustive", no_argument, NULL, 'x'},
                                            {"pairs", no_argument, NULL, 'p'},
                                            {"terse", no_argument, NULL, 'q'},
                                            {"coverage", no_argument, NULL, 'c'},
                                            {"acts", required_argument, NULL, 'a'},
                                            {"cuts", no_argument, NULL, 'C'},
                                            {"hostile", no_argument, NULL, 'H'},
                                            {"trace", required_argument, NULL, 'T'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 'n')
            o.seeds = strtoull(optarg, NULL, 10);
        else if (c == 'f')
            o.first = strtoull(optarg, NULL, 10);
        else if (c == 's')
            o.first = strtoull(optarg, NULL, 10), o.seeds = 1;
        else if (c == 'j')
            o.jobs = atoi(optarg);
        else if (c == 't')
            o.story = true;
        else if (c == 'x')
            o.exhaustive = true;
        else if (c == 'p')
            o.pairs = true;
        else if (c == 'q')
            o.terse = true;
        else if (c == 'c')
            o.coverage = true;
        else if (c == 'C')
            o.plan.cuts = true;
        else if (c == 'H')
            o.plan.hostile = true;
        else if (c == 'T' && (trace_out = fopen(optarg, "we")) == NULL)
            return perror(optarg), 99;
        else if (c == 'T')
            continue;
        else if (c == 'h')
            return help();
        else if (c == 'a' && parse_acts(&o.plan, optarg))
            continue;
        else
            return usage();
    }
    if (optind < argc || o.jobs < 1 || o.jobs > 64 || (trace_out != NULL && o.jobs > 1))
        return usage();
    catch_ends();
    return o.exhaustive ? run_exhaustively(&o) : run_seeds(&o);
}
