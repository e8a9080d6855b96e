#include "bench/worker.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS_MAX = 64, SAMPLES_MAX = 1 << 18, LINE_MAX_BYTES = 1024, STACK_BYTES = 65536, SETTLE_MS = 60000 };

struct order {
    char verb[16], path[256];
    int clients, threads, n, ms, warm;
    bool own, share;
};

struct seat {
    pthread_t thread;
    void *lock;
    _Atomic uint64_t cycles;
    uint32_t *samples; /* nanoseconds of a cycle, the first SAMPLES_MAX */
    size_t n_samples;
};

struct usage {
    double time, cpu;
    long switches;
    uint64_t cycles;
};

static const struct worker_system *system_of;
static const char *where;
static char **options;
static void *clients[CLIENTS_MAX];
static int n_clients;
static struct seat *seats;
static int n_seats;
static atomic_bool counting, stop;
static int hold_ms; /* of the order */
static _Atomic int n_granted, n_done;

/* --- small things ------------------------------------------------------------------------------------------------ */

void worker_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("error ");
    vprintf(format, args);
    printf("\n");
    va_end(args);
    fflush(stdout);
    _exit(1);
}

double worker_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

const char *worker_text(const char *name)
{
    size_t n = strlen(name);
    for (char **o = options; *o != NULL; o++)
        if (strncmp(*o, name, n) == 0 && (*o)[n] == '=')
            return *o + n + 1;
    return NULL;
}

long worker_option(const char *name, long absent)
{
    const char *text = worker_text(name);
    return text != NULL ? strtol(text, NULL, 10) : absent;
}

static void let_pass(int ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL); }

static void *allocate(size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (p == NULL)
        worker_fail("out of memory");
    return p;
}

static double cpu_of(const struct timeval *t) { return (double)t->tv_sec + (double)t->tv_usec * 1e-6; }

static struct usage usage_now(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    struct usage u = {worker_now(), cpu_of(&r.ru_utime) + cpu_of(&r.ru_stime), r.ru_nvcsw + r.ru_nivcsw, 0};
    for (int i = 0; i < n_seats; i++)
        u.cycles += atomic_load(&seats[i].cycles);
    return u;
}

static double resident_kib(void)
{
    long size, resident;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f == NULL || fscanf(f, "%ld %ld", &size, &resident) != 2)
        worker_fail("no /proc/self/statm");
    fclose(f);
    return (double)resident * (double)sysconf(_SC_PAGESIZE) / 1024;
}

static void say_prepared(void)
{
    char line[16];
    puts("prepared");
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL)
        exit(0);
}

/* --- clients and locks ------------------------------------------------------------------------------------------- */

static void *client(int i)
{
    if (system_of->connect == NULL)
        return (void *)where;
    if (i >= CLIENTS_MAX)
        worker_fail("more than %d clients", CLIENTS_MAX);
    while (n_clients <= i)
        clients[n_clients++] = system_of->connect(where);
    return clients[i];
}

static void *new_lock(int of_client, const char *path, bool contended)
{
    void *lock = system_of->lock_new(client(of_client), path, contended);
    if (lock == NULL)
        worker_fail("no lock on %s", path);
    return lock;
}

static void once(void *lock)
{
    system_of->lock(lock);
    if (hold_ms > 0)
        let_pass(hold_ms);
    system_of->unlock(lock);
}

/* --- cycles ------------------------------------------------------------------------------------------------------ */

static void prepare_seats(const struct order *o)
{
    char path[300];
    n_seats = o->threads;
    seats = allocate((size_t)n_seats, sizeof *seats);
    for (int i = 0; i < n_seats; i++) {
        snprintf(path, sizeof path, o->own ? "%s-%d" : "%s", o->path, i);
        bool is_first = !o->share || i < o->clients;
        seats[i].lock = is_first ? new_lock(i % o->clients, path, !o->own && o->threads > 1)
                                 : seats[i % o->clients].lock;
        seats[i].samples = allocate(SAMPLES_MAX, sizeof *seats[i].samples);
        if (is_first)
            once(seats[i].lock);
    }
}

static void free_seats(const struct order *o)
{
    for (int i = 0; i < n_seats; i++) {
        if (!o->share || i < o->clients)
            system_of->lock_free(seats[i].lock);
        free(seats[i].samples);
    }
    free(seats);
    seats = NULL;
    n_seats = 0;
}

static void *sit(void *arg)
{
    struct seat *s = arg;
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        double from = worker_now();
        once(s->lock);
        atomic_fetch_add_explicit(&s->cycles, 1, memory_order_relaxed);
        if (atomic_load_explicit(&counting, memory_order_relaxed) && s->n_samples < SAMPLES_MAX)
            s->samples[s->n_samples++] = (uint32_t)((worker_now() - from) * 1e9);
    }
    return NULL;
}

static int by_size(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The microseconds within which that share of all cycles was done. */
static void print_samples(void)
{
    size_t n = 0, at = 0;
    for (int i = 0; i < n_seats; i++)
        n += seats[i].n_samples;
    uint32_t *all = allocate(n + 1, sizeof *all);
    for (int i = 0; i < n_seats; at += seats[i++].n_samples)
        memcpy(all + at, seats[i].samples, seats[i].n_samples * sizeof *all);
    qsort(all, n, sizeof *all, by_size);
    if (n > 0)
        printf(" p10_us=%.2f p50_us=%.2f p99_us=%.2f", all[n / 10] / 1e3, all[n / 2] / 1e3, all[n * 99 / 100] / 1e3);
    free(all);
}

/* The cycles of the thread that had the fewest, as a share of the mean: 1 is fair, 0 is a thread that had none. */
static void print_least(void)
{
    size_t n = 0, least = SIZE_MAX;
    for (int i = 0; i < n_seats; i++) {
        n += seats[i].n_samples;
        least = seats[i].n_samples < least ? seats[i].n_samples : least;
    }
    if (n > 0)
        printf(" least=%.3f", (double)least * n_seats / (double)n);
}

static void print_usage(const struct usage *a, const struct usage *b)
{
    printf("result cycles=%llu seconds=%.6f cpu_us=%.0f switches=%ld", (unsigned long long)(b->cycles - a->cycles),
           b->time - a->time, (b->cpu - a->cpu) * 1e6, b->switches - a->switches);
}

/* A machine that computes something else may complete no cycle in that time: go on until there is one. */
static struct usage measure(const struct usage *begin, int ms)
{
    enum { PATIENCE_S = 60 };
    struct usage end;
    let_pass(ms);
    while ((end = usage_now()).cycles == begin->cycles && end.time - begin->time < PATIENCE_S)
        let_pass(ms);
    return end;
}

/* Each thread ends with its own cycle, and the last ones are not counted: fewer and fewer contend. */
static void run_seats(const struct order *o)
{
    atomic_store(&stop, false);
    atomic_store(&counting, o->warm == 0);
    for (int i = 0; i < n_seats; i++)
        if (pthread_create(&seats[i].thread, NULL, sit, &seats[i]) != 0)
            worker_fail("no thread");
    let_pass(o->warm);
    struct usage a = usage_now();
    atomic_store(&counting, true);
    struct usage b = measure(&a, o->ms);
    atomic_store(&stop, true);
    for (int i = 0; i < n_seats; i++)
        pthread_join(seats[i].thread, NULL);
    print_usage(&a, &b);
    printf(" total=%llu", (unsigned long long)usage_now().cycles);
    print_samples();
    print_least();
    puts("");
}

static void cycle(const struct order *o)
{
    prepare_seats(o);
    say_prepared();
    run_seats(o);
    free_seats(o);
}

/* --- waiters ----------------------------------------------------------------------------------------------------- */

static void on_granted(void *arg)
{
    (void)arg;
    atomic_fetch_add(&n_granted, 1);
}

static void on_done(void *arg)
{
    (void)arg;
    atomic_fetch_add(&n_done, 1);
}

static void *wait_once(void *arg)
{
    system_of->lock(arg);
    on_granted(NULL);
    system_of->unlock(arg);
    on_done(NULL);
    return NULL;
}

static void await_count(_Atomic int *count, int n)
{
    double end = worker_now() + SETTLE_MS / 1e3;
    while (atomic_load(count) < n) {
        if (worker_now() > end)
            worker_fail("%d of %d waiters after %d s", atomic_load(count), n, SETTLE_MS / 1000);
        usleep(200);
    }
}

static void start_waiters(void **locks, pthread_t *threads, int n)
{
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK_BYTES);
    for (int i = 0; i < n; i++)
        if (system_of->queue != NULL)
            system_of->queue(locks[i], on_granted, on_done, NULL);
        else if (pthread_create(&threads[i], &small, wait_once, locks[i]) != 0)
            worker_fail("no thread for waiter %d", i);
    pthread_attr_destroy(&small);
}

/* A system that cannot say whether a request is in the queue gets the time to put it there. */
static void await_queue(void **locks, int n)
{
    double end = worker_now() + SETTLE_MS / 1e3;
    if (system_of->is_queued == NULL)
        let_pass(500 + n);
    for (int i = 0; i < n && system_of->is_queued != NULL; i++)
        while (!system_of->is_queued(locks[i])) {
            if (worker_now() > end)
                worker_fail("waiter %d of %d is not queued after %d s", i, n, SETTLE_MS / 1000);
            usleep(200);
        }
}

/* The objects are a part of a waiter's memory. */
static void queue_and_drain(const struct order *o, void *holder, void **locks, pthread_t *threads)
{
    malloc_trim(0);
    double before = resident_kib(), from = worker_now();
    for (int i = 0; i < o->n; i++)
        locks[i] = new_lock(i % o->clients, o->path, true);
    start_waiters(locks, threads, o->n);
    await_queue(locks, o->n);
    double queued = worker_now(), after = resident_kib();
    struct usage a = usage_now();
    system_of->unlock(holder);
    await_count(&n_done, o->n);
    struct usage b = usage_now();
    print_usage(&a, &b);
    printf(" queue_us=%.2f drain_us=%.2f kib=%.3f\n", (queued - from) * 1e6 / o->n, (b.time - a.time) * 1e6 / o->n,
           (after - before) / o->n);
}

static void waiters(const struct order *o)
{
    void **locks = allocate((size_t)o->n, sizeof *locks);
    pthread_t *threads = allocate((size_t)o->n, sizeof *threads);
    void *holder = new_lock(0, o->path, true);
    for (int i = 0; i < o->clients; i++)
        client(i);
    atomic_store(&n_granted, 0);
    atomic_store(&n_done, 0);
    system_of->lock(holder);
    say_prepared();
    queue_and_drain(o, holder, locks, threads);
    for (int i = 0; i < o->n; i++) {
        if (system_of->queue == NULL)
            pthread_join(threads[i], NULL);
        system_of->lock_free(locks[i]);
    }
    system_of->lock_free(holder);
    free(locks);
    free(threads);
}

/* --- holders ----------------------------------------------------------------------------------------------------- */

static void **hold(const struct order *o)
{
    char path[300];
    void **locks = allocate((size_t)o->n, sizeof *locks);
    for (int i = 0; i < o->n; i++) {
        snprintf(path, sizeof path, "%s-held/%d", o->path, i);
        locks[i] = new_lock(0, path, false);
        system_of->lock(locks[i]);
    }
    return locks;
}

static void held(const struct order *o)
{
    struct order one = *o;
    one.clients = one.threads = 1;
    void **locks = hold(o);
    prepare_seats(&one);
    say_prepared();
    run_seats(&one);
    free_seats(&one);
    for (int i = 0; i < o->n; i++) {
        system_of->unlock(locks[i]);
        system_of->lock_free(locks[i]);
    }
    free(locks);
}

static void idle(const struct order *o)
{
    void *lock = new_lock(0, o->path, false);
    system_of->lock(lock);
    say_prepared();
    struct usage a = usage_now();
    let_pass(o->ms);
    struct usage b = usage_now();
    print_usage(&a, &b);
    puts("");
    system_of->unlock(lock);
    system_of->lock_free(lock);
}

static void look(const struct order *o)
{
    static const char *const names[] = {"state", "token", "valid_ms"};
    void *lock = new_lock(0, o->path, false);
    system_of->lock(lock);
    say_prepared();
    printf("result cycles=%d", o->n);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        printf(" %s_ns=%.2f", names[i], system_of->look(lock, names[i], o->n));
    puts("");
    system_of->unlock(lock);
    system_of->lock_free(lock);
}

/* --- orders ------------------------------------------------------------------------------------------------------ */

static void read_word(struct order *o, const char *word)
{
    const struct {
        const char *name;
        int *number;
    } numbers[] = {{"clients", &o->clients}, {"threads", &o->threads}, {"n", &o->n},
                   {"ms", &o->ms},           {"warm", &o->warm},       {"hold", &hold_ms}};
    const char *value = strchr(word, '=');
    if (value == NULL)
        worker_fail("not KEY=VALUE: %s", word);
    size_t n = (size_t)(value++ - word);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strlen(numbers[i].name) == n && strncmp(word, numbers[i].name, n) == 0)
            *numbers[i].number = atoi(value);
    if (strncmp(word, "path=", 5) == 0)
        snprintf(o->path, sizeof o->path, "%s", value);
    else if (strncmp(word, "own=", 4) == 0)
        o->own = *value == '1';
    else if (strncmp(word, "share=", 6) == 0)
        o->share = *value == '1';
}

static void obey(char *line)
{
    struct order o = {.path = "/bench", .clients = 1, .threads = 1, .n = 1, .ms = 500};
    char *rest, *word = strtok_r(line, " \n", &rest);
    if (word == NULL)
        return;
    snprintf(o.verb, sizeof o.verb, "%s", word);
    hold_ms = 0;
    while ((word = strtok_r(NULL, " \n", &rest)) != NULL)
        read_word(&o, word);
    static const struct {
        const char *verb;
        void (*run)(const struct order *o);
    } verbs[] = {{"cycle", cycle}, {"waiters", waiters}, {"held", held}, {"idle", idle}, {"look", look}};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(o.verb, verbs[i].verb) == 0) {
            verbs[i].run(&o);
            fflush(stdout);
            return;
        }
    worker_fail("no such order: %s", o.verb);
}

int worker_main(int argc, char **argv, const struct worker_system *system)
{
    char line[LINE_MAX_BYTES];
    if (argc < 2)
        return 64;
    system_of = system;
    where = argv[1];
    options = argv + 2;
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL)
        obey(line);
    for (int i = 0; i < n_clients; i++)
        system->disconnect(clients[i]);
    return 0;
}
