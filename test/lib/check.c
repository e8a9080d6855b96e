#include "test/lib/check.h"

#include <CUnit/CUnit.h>
#include <CUnit/TestRun.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct pdk__test *current; /* NULL outside the tests */
static jmp_buf out;                     /* of the test's own thread */
static pthread_t own;
static bool is_child;
static pid_t main_pid;
static atomic_bool failed, skipped;
static char report[4096]; /* the first failure of the test */
static pthread_mutex_t report_lock = PTHREAD_MUTEX_INITIALIZER;

/* --- checks ------------------------------------------------------------------------------------------------------ */

void pdk__test_fail(const char *file, int line, const char *format, ...)
{
    char text[3000];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (is_child) {
        fprintf(stderr, "# in a child: %s:%d: %s\n", file, line, text);
        _exit(1);
    }
    pthread_mutex_lock(&report_lock);
    if (!atomic_exchange(&failed, true)) {
        snprintf(report, sizeof report, "%s:%d: %s", file, line, text);
        if (current != NULL)
            CU_assertImplementation(CU_FALSE, (unsigned)line, text, file, current->name, CU_FALSE);
    }
    pthread_mutex_unlock(&report_lock);
    if (!pthread_equal(own, pthread_self()))
        pthread_exit(NULL);
    longjmp(out, 1);
}

void pdk__test_skip(const char *reason)
{
    snprintf(report, sizeof report, "%s", reason);
    atomic_store(&skipped, true);
    longjmp(out, 1);
}

void pdk__test_eq(const char *file, int line, const char *a, intmax_t av, const char *b, intmax_t bv)
{
    if (av != bv)
        pdk__test_fail(file, line, "%s (%jd) == %s (%jd)", a, av, b, bv);
}

void pdk__test_str(const char *file, int line, const char *a, const char *av, const char *b, const char *bv)
{
    if (av == NULL || bv == NULL ? av != bv : strcmp(av, bv) != 0)
        pdk__test_fail(file, line, "%s (\"%s\") == %s (\"%s\")", a, av != NULL ? av : "NULL", b,
                       bv != NULL ? bv : "NULL");
}

void pdk__test_rc(const char *file, int line, const char *call, int rc, int expected)
{
    if (rc != expected)
        pdk__test_fail(file, line, "%s is %s (%d), not %s", call, pdk_strerrorname(rc), rc, pdk_strerrorname(expected));
}

int64_t pdk__test_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

void pdk__test_nap(void) { nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL); }

int64_t pdk__test_slowed(int64_t ms)
{
    const char *slow = getenv("PADDOCK_TEST_SLOW");
    long factor = slow != NULL ? strtol(slow, NULL, 10) : 1;
    return ms * (factor > 0 ? factor : 1);
}

/* --- what a wait has seen ---------------------------------------------------------------------------------------- */

enum { SIGHTS_MAX = 10, NAME_SIZE = 80, VALUE_SIZE = 200 };

/* The last changes seen by this thread's wait, and by waits inside it. */
static _Thread_local struct {
    int depth;
    int64_t began_ms;
    int n; /* all changes; the last SIGHTS_MAX are kept */
    struct sight {
        int64_t at_ms;
        char what[NAME_SIZE], value[VALUE_SIZE];
    } sight[SIGHTS_MAX];
} history;

int64_t pdk__test_wait_begins(int64_t ms)
{
    int64_t now_ms = pdk__test_now_ms();
    if (history.depth++ == 0) {
        history.n = 0;
        history.began_ms = now_ms;
    }
    return now_ms + pdk__test_slowed(ms);
}

void pdk__test_wait_ends(void) { history.depth--; }

static int oldest(void) { return history.n > SIGHTS_MAX ? history.n - SIGHTS_MAX : 0; }

static void add(const struct sight *new)
{
    for (int i = history.n - 1; i >= oldest(); i--) {
        const struct sight *old = &history.sight[i % SIGHTS_MAX];
        if (strcmp(old->what, new->what) != 0)
            continue;
        if (strcmp(old->value, new->value) == 0)
            return;
        break;
    }
    history.sight[history.n++ % SIGHTS_MAX] = *new;
}

intmax_t pdk__test_saw(const char *what, intmax_t number)
{
    struct sight s = {.at_ms = pdk__test_now_ms()};
    snprintf(s.what, sizeof s.what, "%s", what);
    snprintf(s.value, sizeof s.value, "%jd", number);
    add(&s);
    return number;
}

void pdk__test_saw_text(const char *what, const char *text)
{
    struct sight s = {.at_ms = pdk__test_now_ms()};
    size_t n = strlen(text), room = sizeof s.value - 6;
    snprintf(s.what, sizeof s.what, "%s", what);
    snprintf(s.value, sizeof s.value, "\"%s%s\"", n > room ? "..." : "", n > room ? text + n - room : text);
    add(&s);
}

void pdk__test_late(const char *file, int line, int64_t ms, const char *cond)
{
    char text[2900];
    int n = snprintf(text, sizeof text, "not within %jd ms: %.300s", (intmax_t)pdk__test_slowed(ms), cond);
    for (int i = oldest(); i < history.n && n < (int)sizeof text; i++) {
        const struct sight *s = &history.sight[i % SIGHTS_MAX];
        n += snprintf(text + n, sizeof text - (size_t)n, "%s %s was %s after %jd ms", i == oldest() ? "; seen:" : ",",
                      s->what, s->value, (intmax_t)(s->at_ms - history.began_ms));
    }
    pdk__test_fail(file, line, "%s", text);
}

/* --- what happened beside it ------------------------------------------------------------------------------------- */

enum { NOTES_MAX = 20, NOTE_SIZE = 400 };

static struct {
    pthread_mutex_t lock;
    int64_t began_ms;
    int n; /* all of the test; the last NOTES_MAX are kept */
    char text[NOTES_MAX][NOTE_SIZE];
} notes = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void begin_notes(void)
{
    pthread_mutex_lock(&notes.lock);
    notes.n = 0;
    notes.began_ms = pdk__test_now_ms();
    pthread_mutex_unlock(&notes.lock);
}

void pdk__test_note(const char *format, ...)
{
    va_list args;
    if (is_child)
        return; /* another thread of the parent may have held the lock */
    pthread_mutex_lock(&notes.lock);
    char *text = notes.text[notes.n++ % NOTES_MAX];
    int n = snprintf(text, NOTE_SIZE, "%jd ms: ", (intmax_t)(pdk__test_now_ms() - notes.began_ms));
    va_start(args, format);
    vsnprintf(text + n, (size_t)(NOTE_SIZE - n), format, args);
    va_end(args);
    for (; *text != '\0'; text++)
        *text = *text == '\n' ? '|' : *text; /* a line of output may look like a result */
    pthread_mutex_unlock(&notes.lock);
}

static void print_notes(void)
{
    pthread_mutex_lock(&notes.lock);
    for (int i = notes.n > NOTES_MAX ? notes.n - NOTES_MAX : 0; i < notes.n; i++)
        printf("# after %s\n", notes.text[i % NOTES_MAX]);
    pthread_mutex_unlock(&notes.lock);
}

/* --- processes --------------------------------------------------------------------------------------------------- */

pid_t pdk__test_fork(void)
{
    pid_t parent = getpid();
    fflush(NULL);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1); /* the parent died before the line above */
    is_child = true;
    return 0;
}

int pdk__test_wait(pid_t pid)
{
    int status;
    pid_t got;
    do
        got = waitpid(pid, &status, 0);
    while (got < 0 && errno == EINTR);
    CHECK(got == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* --- the program ------------------------------------------------------------------------------------------------- */

/* A test hangs: print its name and abort at once. A debugger or a core file then shows where. */
static void bark(int signal)
{
    static const char text[] = "not ok - (it hangs) ";
    const char *name = current != NULL ? current->name : "setup or teardown";
    (void)signal;
    if (write(STDOUT_FILENO, text, sizeof text - 1) > 0 && write(STDOUT_FILENO, name, strlen(name)) > 0 &&
        write(STDOUT_FILENO, "\n", 1) > 0)
        abort();
    abort();
}

/* The process that sent it, by its number and name, where the kernel knows one. */
static int name_sender(const siginfo_t *info, char *buf, size_t size)
{
    char path[32], comm[32];
    if (info->si_code > 0)
        return 0;
    snprintf(path, sizeof path, "/proc/%d/comm", (int)info->si_pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, comm, sizeof comm) : 0;
    return snprintf(buf, size, " from %d, %.*s", (int)info->si_pid, n > 0 ? (int)n - 1 : 7, n > 0 ? comm : "no more");
}

/* A signal ends the program: print which, and in which test. */
static void die(int number, siginfo_t *info, void *context)
{
    char line[400];
    (void)context;
    int n = snprintf(line, sizeof line, "not ok - (%s) %.200s", strsignal(number),
                     current != NULL ? current->name : "no test");
    n += name_sender(info, line + n, sizeof line - (size_t)n - 1);
    line[n++] = '\n';
    if (getpid() == main_pid)
        (void)!write(STDOUT_FILENO, line, (size_t)n);
    raise(number); /* by its default, once this returns */
}

/* Not those that a sanitizer, or the caller, has an action for. */
static void watch_signals(void)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    struct sigaction ours = {.sa_sigaction = die, .sa_flags = SA_SIGINFO | (int)SA_RESETHAND}, before;
    main_pid = getpid();
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(numbers[i], &ours, NULL);
}

static void watch(int limit_ms)
{
    long ms = (long)pdk__test_slowed(limit_ms);
    struct itimerval t = {.it_value = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000}};
    setitimer(ITIMER_REAL, &t, NULL);
}

static void guarded(void (*function)(void))
{
    own = pthread_self();
    history.depth = 0;
    begin_notes();
    atomic_store(&failed, false);
    atomic_store(&skipped, false);
    if (setjmp(out) == 0)
        function();
}

const char *pdk__test_name(void) { return current->name; }

static void run_current(void) { guarded(current->function); }

static bool named(int argc, char **argv, const char *name)
{
    for (int i = 1; i < argc; i++)
        if (strstr(name, argv[i]) != NULL)
            return true;
    return argc <= 1;
}

static void say(const char *name, int64_t took_ms)
{
    if (atomic_load(&failed))
        printf("not ok - %s: %s\n", name, report);
    else if (atomic_load(&skipped))
        printf("ok - %s # skipped: %s\n", name, report);
    else
        printf("ok - %s\n", name);
    if (took_ms >= 1000)
        printf("# %jd s\n", (intmax_t)(took_ms / 1000));
    if (atomic_load(&failed))
        print_notes();
    fflush(stdout);
}

struct tally {
    int run, failed, skipped;
};

/* CUnit runs one test at a time, so that setup and teardown belong to the program, not to each test. */
static bool run_test(CU_pSuite cu, const struct pdk__test *t, int limit_ms, struct tally *tally)
{
    CU_pTest test = CU_add_test(cu, t->name, run_current);
    if (test == NULL)
        return false;
    int64_t began_ms = pdk__test_now_ms();
    watch(limit_ms > 0 ? limit_ms : 300000);
    current = t;
    CU_run_test(cu, test);
    current = NULL;
    watch(0);
    say(t->name, pdk__test_now_ms() - began_ms);
    tally->run++;
    tally->failed += atomic_load(&failed);
    tally->skipped += atomic_load(&skipped) && !atomic_load(&failed);
    return true;
}

static int run_all(int argc, char **argv, const struct pdk__test_suite *suite, struct tally *tally)
{
    static const struct pdk__test none = {0};
    const char *proof = getenv("PADDOCK_TEST_PROOF");
    bool all = argc > 1; /* of those that are named */
    bool gate = all || proof == NULL || strcmp(proof, "only") != 0;
    CU_pSuite cu = CU_add_suite(suite->name, NULL, NULL);
    if (cu == NULL)
        return 99;
    for (const struct pdk__test *t = gate ? suite->tests : &none; t->name != NULL; t++)
        if (named(argc, argv, t->name) && !run_test(cu, t, suite->limit_ms, tally))
            return 99;
    for (const struct pdk__test *t = suite->proof != NULL && (all || proof != NULL) ? suite->proof : &none;
         t->name != NULL; t++)
        if (named(argc, argv, t->name) && !run_test(cu, t, suite->limit_ms, tally))
            return 99;
    return tally->run == 0 ? 99 : tally->failed > 0 ? 1 : tally->skipped == tally->run ? 77 : 0;
}

static int run_step(const char *name, void (*step)(void))
{
    if (step == NULL)
        return 0;
    watch(300000);
    guarded(step);
    watch(0);
    if (atomic_load(&failed) || atomic_load(&skipped))
        say(name, 0);
    return atomic_load(&failed) ? 99 : atomic_load(&skipped) ? 77 : 0;
}

int pdk__test_main(int argc, char **argv, const struct pdk__test_suite *suite)
{
    struct tally tally = {0};
    const char *proof = getenv("PADDOCK_TEST_PROOF");
    if (argc <= 1 && suite->proof == NULL && proof != NULL && strcmp(proof, "only") == 0) {
        printf("# %s: skipped: it has no test for the proof\n", suite->name);
        return 77;
    }
    signal(SIGALRM, bark);
    watch_signals();
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 99;
    CU_set_error_action(CUEA_IGNORE);
    int rc = run_step("setup", suite->setup);
    if (rc == 0)
        rc = run_all(argc, argv, suite, &tally);
    char reason[sizeof report];
    memcpy(reason, report, sizeof reason);
    int end = run_step("teardown", suite->teardown);
    CU_cleanup_registry();
    if (rc == 77)
        printf("# %s: skipped: %s\n", suite->name, reason);
    else
        printf("# %s: %d run, %d failed, %d skipped\n", suite->name, tally.run, tally.failed, tally.skipped);
    return rc != 0 ? rc : end;
}
