/*
 * Checks that show both sides and end the test, over CUnit; and the main() of a test program.
 *
 *     static void a_lock_is_free_at_first(void) { CHECK_RC(pdk_mutex_trylock(m), PDK_OK); }
 *
 *     int main(int argc, char **argv)
 *     {
 *         static const struct pdk__test tests[] = {{"a lock is free at first", a_lock_is_free_at_first}, {0}};
 *         return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "mutex", .tests = tests});
 *     }
 *
 * Arguments choose the tests whose names contain one of them. A check that fails in a thread other than the test's own
 * ends that thread; the test fails when its function returns. In a child of pdk__test_fork() a failing check ends the
 * child with status 1.
 */
#ifndef PDK__TEST_CHECK_H
#define PDK__TEST_CHECK_H

#include <paddock/error.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdnoreturn.h>
#include <sys/types.h>

struct pdk__test {
    const char *name; /* a fact, in words */
    void (*function)(void);
};

struct pdk__test_suite {
    const char *name;
    const struct pdk__test *tests; /* the last one has no name */
    const struct pdk__test *proof; /* NULL, or others that wait too long for the gate; the last one has no name */
    void (*setup)(void);           /* once, before the first test; a failing check in it: the harness broke (99) */
    void (*teardown)(void);        /* once, after the last test, whatever happened */
    int limit_ms;                  /* for one test; default 300000. PADDOCK_TEST_SLOW multiplies it */
};

/*
 * Runs the tests that ARGV chooses, or else all but those of the proof. PADDOCK_TEST_PROOF=yes adds those, =only runs
 * no others. Prints for each test "ok - NAME" or "not ok - NAME: WHY"; after it "# N s" where it took a second or more.
 * Returns the exit status: 0, 1 when a test failed, 77 when all were skipped, 99 when the harness broke.
 */
int pdk__test_main(int argc, char **argv, const struct pdk__test_suite *suite);

/* The name of the test that runs. */
const char *pdk__test_name(void);

/* fork(). The child gets SIGKILL when the parent's thread ends, its failing checks end it, and it inherits no alarm.
 * The parent's thread must therefore outlive the child. */
pid_t pdk__test_fork(void);

/* Wait for PID. Returns its exit status, or -N when signal N ended it. */
int pdk__test_wait(pid_t pid);

#define CHECK(cond)                                                                                                    \
    do {                                                                                                               \
        if (!(cond))                                                                                                   \
            pdk__test_fail(__FILE__, __LINE__, "%s", #cond);                                                           \
    } while (0)

/* For exclusion, order and tokens, which hold on the slowest machine, too. The failure begins with PDK__TEST_LAW, and
 * the gate never runs such a program again. */
#define PDK__TEST_LAW "a broken law: "
#define CHECK_LAW(cond)                                                                                                \
    do {                                                                                                               \
        if (!(cond))                                                                                                   \
            pdk__test_fail(__FILE__, __LINE__, PDK__TEST_LAW "%s", #cond);                                             \
    } while (0)

/* Integers. */
#define CHECK_EQ(a, b) pdk__test_eq(__FILE__, __LINE__, #a, (intmax_t)(a), #b, (intmax_t)(b))

#define CHECK_STR(a, b) pdk__test_str(__FILE__, __LINE__, #a, (a), #b, (b))

/* Paddock's error codes. */
#define CHECK_RC(call, rc) pdk__test_rc(__FILE__, __LINE__, #call, (call), (rc))

/*
 * Wait until COND is true. MS may be generous, for only a failing test waits that long. PADDOCK_TEST_SLOW multiplies
 * it. COND is evaluated once more when the time is up. A failure shows COND and the history of what COND has SEEN: the
 * last changes, each with its time since the wait began.
 */
#define CHECK_WITHIN(ms, cond)                                                                                         \
    do {                                                                                                               \
        int64_t until_ = pdk__test_wait_begins(ms);                                                                    \
        bool late_ = false;                                                                                            \
        while (!(cond)) {                                                                                              \
            if (late_)                                                                                                 \
                pdk__test_late(__FILE__, __LINE__, ms, #cond);                                                         \
            pdk__test_nap();                                                                                           \
            late_ = pdk__test_now_ms() >= until_;                                                                      \
        }                                                                                                              \
        pdk__test_wait_ends();                                                                                         \
    } while (0)

/* Inside a condition: the value of X, an integer, which the history then shows. Functions of the harness that query a
 * server or read a program's output record their result themselves. */
#define SEEN(x) pdk__test_saw(#x, (intmax_t)(x))

/* Keep a line, with its time since the test began, for the case that the test fails: of many the last are printed then.
 * From any thread. */
void pdk__test_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Skip this test, or from the setup all tests. Only on the test's own thread. */
#define SKIP(reason) pdk__test_skip(reason)

/* First in a test whose child of pdk__test_fork() is to start threads. ThreadSanitizer does not follow them. The locks
 * of AddressSanitizer's allocator may be held by a thread that is busy when the child is made: the child then waits for
 * ever. */
#ifdef __SANITIZE_THREAD__
#define CHILD_HAS_THREADS() SKIP("ThreadSanitizer follows no threads of a process forked from one with threads")
#elif defined(__SANITIZE_ADDRESS__)
#define CHILD_HAS_THREADS() SKIP("a thread that is busy when the child is made may hold AddressSanitizer's own locks")
#else
#define CHILD_HAS_THREADS() ((void)0)
#endif

/* The macros call these. */
noreturn void pdk__test_fail(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
noreturn void pdk__test_skip(const char *reason);
void pdk__test_eq(const char *file, int line, const char *a, intmax_t av, const char *b, intmax_t bv);
void pdk__test_str(const char *file, int line, const char *a, const char *av, const char *b, const char *bv);
void pdk__test_rc(const char *file, int line, const char *call, int rc, int expected);
int64_t pdk__test_wait_begins(int64_t ms);
void pdk__test_wait_ends(void);
noreturn void pdk__test_late(const char *file, int line, int64_t ms, const char *cond);
intmax_t pdk__test_saw(const char *what, intmax_t value);
void pdk__test_saw_text(const char *what, const char *text); /* records the end of a long TEXT */
int64_t pdk__test_slowed(int64_t ms);                        /* MS multiplied by PADDOCK_TEST_SLOW */
int64_t pdk__test_now_ms(void);
void pdk__test_nap(void);

#endif
