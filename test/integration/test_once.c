/* Jobs that run once, for a KEY or in a period, and the record of their runs. */
#include "test/lib/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct peer a, b;
static pdk_once *first, *second; /* of A and of B */
static char record[160];

enum { HOUR_MS = 3600000 };

static void begin(const char *key, int64_t period_ms)
{
    fixture_begin();
    a = peer_new(0);
    b = peer_new(0);
    snprintf(record, sizeof record, "%s.last-run", fixture.path);
    CHECK_RC(pdk_once_new(&first, a.mutex, key, period_ms), 0);
    CHECK_RC(pdk_once_new(&second, b.mutex, key, period_ms), 0);
}

static void finish(void)
{
    CHECK_RC(pdk_once_free(first), 0);
    CHECK_RC(pdk_once_free(second), 0);
    peer_free(&a);
    peer_free(&b);
    zoo_delete(fixture.zh, record, -1);
}

/* The lock is held for the whole of it. */
static int run(struct peer *p, pdk_once *o, int status)
{
    CHECK_RC(pdk_mutex_lock(p->mutex), 0);
    int rc = pdk_once_begin(o, NULL, LONG_MS);
    if (rc == 0)
        rc = pdk_once_end(o, status, LONG_MS);
    CHECK_RC(pdk_mutex_unlock(p->mutex), 0);
    return rc;
}

static int64_t number(pdk_once *o, pdk_run which, pdk_run_property property)
{
    return pdk_runs_number(pdk_once_runs(o), which, property);
}

static void check_why(const struct peer *p, const char *part)
{
    char text[512];
    pdk_lock_last_error(p->mutex, text, sizeof text);
    if (strstr(text, part) == NULL)
        CHECK_STR(text, part);
}

static int multis(void) { return pdk__proxy_requests(fixture.proxy, PDK__OP_MULTI); }

/* --- by KEY ------------------------------------------------------------------------------------------------------ */

static void once_for_a_key(void)
{
    begin("2026-11-30", 0);
    CHECK(pdk_once_runs(first) == NULL);
    CHECK_RC(pdk_once_ask(first, LONG_MS), 0);
    CHECK_RC(run(&a, first, 0), 0);
    CHECK_RC(run(&a, first, 0), PDK_EDONE);
    pdk__proxy_reset_counters(fixture.proxy);
    CHECK_RC(pdk_once_ask(second, LONG_MS), PDK_EDONE);
    CHECK_EQ(pdk__proxy_requests(fixture.proxy, 0), 1);
    CHECK_EQ(pdk__proxy_requests(fixture.proxy, PDK__OP_GET), 1);
    CHECK_RC(run(&b, second, 0), PDK_EDONE);
    CHECK_EQ(multis(), 0);
    CHECK_STR(pdk_runs_text(pdk_once_runs(second), PDK_RUN_DONE, PDK_RUN_KEY), "2026-11-30");
    CHECK_EQ(number(second, PDK_RUN_DONE, PDK_RUN_PID), getpid());
    CHECK_EQ(number(second, PDK_RUN_DONE, PDK_RUN_STATUS), 0);
    CHECK(number(second, PDK_RUN_DONE, PDK_RUN_TOKEN) > 0);
    int64_t begun = number(second, PDK_RUN_DONE, PDK_RUN_BEGUN_MS);
    CHECK(begun > 0 && begun <= number(second, PDK_RUN_DONE, PDK_RUN_ENDED_MS));
    CHECK_EQ(begun, number(first, PDK_RUN_DONE, PDK_RUN_BEGUN_MS));
    finish();
}

/* A hundred others between; the oldest of more than 128 is forgotten. */
static void many_keys(void)
{
    begin("the first", 0);
    CHECK_RC(run(&a, first, 0), 0);
    CHECK_RC(pdk_mutex_lock(b.mutex), 0);
    for (int i = 0; i < 128; i++) {
        char key[PDK_ONCE_KEY_MAX + 1];
        pdk_once *o;
        memset(key, '"', PDK_ONCE_KEY_MAX);
        key[PDK_ONCE_KEY_MAX] = '\0';
        key[0] = (char)('A' + i / 26);
        key[1] = (char)('A' + i % 26);
        CHECK_RC(pdk_once_new(&o, b.mutex, key, 0), 0);
        CHECK_RC(pdk_once_begin(o, NULL, LONG_MS), 0);
        CHECK_RC(pdk_once_end(o, 0, LONG_MS), 0);
        CHECK_RC(pdk_once_ask(o, LONG_MS), PDK_EDONE);
        CHECK_RC(pdk_once_free(o), 0);
        if (i == 100)
            CHECK_RC(pdk_once_ask(second, LONG_MS), PDK_EDONE);
    }
    CHECK_RC(pdk_once_ask(second, LONG_MS), 0);
    CHECK_RC(pdk_mutex_unlock(b.mutex), 0);
    finish();
}

static void failure_is_no_success(void)
{
    begin("k", 0);
    CHECK_RC(run(&a, first, 3), 0);
    CHECK_EQ(number(first, PDK_RUN_LAST, PDK_RUN_STATUS), 3);
    CHECK_EQ(number(first, PDK_RUN_DONE, PDK_RUN_TOKEN), 0);
    CHECK_RC(pdk_once_ask(second, LONG_MS), 0);
    CHECK_RC(run(&b, second, 0), 0);
    CHECK_RC(run(&a, first, 0), PDK_EDONE);
    finish();
}

/* It is not recorded, and the next contender does the job. */
static void lost_lock_is_no_success(void)
{
    begin("k", 0);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    CHECK_RC(pdk_once_begin(first, NULL, LONG_MS), 0);
    fixture_delete_below(fixture.path, fixture_find(fixture.path, "-lock-"));
    CHECK_RC(pdk_once_end(first, 0, LONG_MS), PDK_ELOST);
    CHECK_RC(run(&b, second, 0), 0);
    CHECK_RC(pdk_once_end(first, 0, LONG_MS), PDK_ELOST);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(a.mutex) == PDK_LOST);
    CHECK_RC(pdk_once_begin(first, NULL, LONG_MS), PDK_ELOST);
    CHECK_RC(pdk_mutex_unlock(a.mutex), PDK_ELOST);
    CHECK_RC(pdk_once_begin(first, NULL, LONG_MS), PDK_EPERM);
    CHECK_EQ(number(second, PDK_RUN_DONE, PDK_RUN_STATUS), 0);
    CHECK_RC(run(&a, first, 0), PDK_EDONE);
    finish();
}

/* A thread has unlocked, and the next owner has its node: the run of the first is over. */
static void lock_that_was_handed_on(void)
{
    pdk_lock_options *options = pdk_lock_options_new();
    pdk_mutex *kept;
    pdk_once *o, *next;
    begin("k", 0);
    CHECK_RC(pdk_lock_options_set_keep(options, 8, HOUR_MS), 0);
    CHECK_RC(pdk_mutex_new(&kept, a.client, fixture.path, options), 0);
    pdk_lock_options_free(options);
    CHECK_RC(pdk_once_new(&o, kept, "k", 0), 0);
    CHECK_RC(pdk_once_new(&next, kept, "k", 0), 0);
    CHECK_RC(pdk_mutex_lock(kept), 0);
    CHECK_RC(pdk_once_begin(o, NULL, LONG_MS), 0);
    CHECK_RC(pdk_mutex_unlock(kept), 0);
    CHECK_RC(pdk_mutex_lock(kept), 0);
    CHECK_RC(pdk_once_end(o, 0, LONG_MS), PDK_ELOST);
    CHECK_RC(pdk_once_begin(next, NULL, LONG_MS), 0);
    CHECK_RC(pdk_once_end(o, 0, LONG_MS), PDK_ELOST);
    CHECK_RC(pdk_once_end(next, 0, LONG_MS), 0);
    CHECK_RC(pdk_mutex_unlock(kept), 0);
    CHECK_RC(pdk_once_free(o), 0);
    CHECK_RC(pdk_once_free(next), 0);
    pdk_client_close(a.client);
    CHECK_RC(pdk_lock_free(kept), 0);
    finish();
}

static void any_run_counts(void)
{
    begin("k", 0);
    CHECK_RC(pdk_once_set_any(first, true), 0);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    CHECK_RC(pdk_once_begin(first, NULL, LONG_MS), 0);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0); /* as if its process had died */
    CHECK_RC(pdk_once_ask(second, LONG_MS), PDK_EDONE);
    CHECK_RC(run(&b, second, 0), PDK_EDONE);
    CHECK_EQ(number(second, PDK_RUN_LAST, PDK_RUN_STATUS), -1);
    CHECK(number(second, PDK_RUN_DONE, PDK_RUN_BEGUN_MS) > 0);
    finish();
}

/* --- by age ------------------------------------------------------------------------------------------------------ */

static void once_in_a_period(void)
{
    begin(NULL, HOUR_MS);
    CHECK_RC(run(&a, first, 1), 0);
    CHECK_EQ(pdk_once_age_ms(first), -1);
    CHECK_RC(pdk_once_ask(second, LONG_MS), 0);
    CHECK_RC(run(&b, second, 0), 0);
    CHECK_RC(pdk_once_ask(second, LONG_MS), 0);
    pdk__proxy_reset_counters(fixture.proxy);
    CHECK_RC(run(&a, first, 0), PDK_EDONE);
    CHECK_EQ(multis(), 0);
    CHECK(pdk_once_age_ms(first) >= 0 && pdk_once_age_ms(first) < LONG_MS);
    CHECK_EQ(number(first, PDK_RUN_DONE, PDK_RUN_PERIOD_MS), HOUR_MS);
    finish();
}

static void due_again_after_it(void)
{
    begin(NULL, 1000);
    CHECK_RC(run(&a, first, 0), 0);
    CHECK_RC(run(&b, second, 0), PDK_EDONE);
    int64_t before = number(second, PDK_RUN_DONE, PDK_RUN_BEGUN_MS);
    usleep(1100 * 1000);
    CHECK_RC(run(&b, second, 0), 0);
    CHECK(number(second, PDK_RUN_DONE, PDK_RUN_BEGUN_MS) >= before + 1000);
    finish();
}

/* Its node is as old as its wait, so the time takes one write more. The run's beginning stays. */
static void long_wait(void)
{
    begin(NULL, 3000);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    CHECK_RC(pdk_once_begin(first, NULL, LONG_MS), 0);
    CHECK_RC(pdk_once_end(first, 0, LONG_MS), 0);
    int64_t begun = number(first, PDK_RUN_DONE, PDK_RUN_BEGUN_MS);
    struct request waiting;
    request_queued(&waiting, &b, PDK_FOREVER, 2);
    CHECK_RC(pdk_once_begin(first, NULL, LONG_MS), PDK_EDONE);
    usleep(3100 * 1000);
    pdk__proxy_reset_counters(fixture.proxy);
    CHECK_RC(pdk_once_begin(first, NULL, LONG_MS), 0); /* under the grant that is as old as the last run */
    CHECK_EQ(multis(), 2);
    CHECK_RC(pdk_once_end(first, 0, LONG_MS), 0);
    CHECK(number(first, PDK_RUN_DONE, PDK_RUN_BEGUN_MS) >= begun + 3000);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    request_told(&waiting, 0);
    CHECK_RC(pdk_once_begin(second, waiting.grant, LONG_MS), PDK_EDONE);
    CHECK_EQ(number(second, PDK_RUN_DONE, PDK_RUN_BEGUN_MS), number(first, PDK_RUN_DONE, PDK_RUN_BEGUN_MS));
    request_end(&waiting, 0);
    finish();
}

/* --- a record that others have written --------------------------------------------------------------------------- */

static void write_forged(const char *text)
{
    if (zoo_set(fixture.zh, record, text, (int)strlen(text), -1) != ZOK)
        fixture_make(record, text, ZOO_PERSISTENT, NULL);
}

static void forged_records(void)
{
    static const struct {
        const char *text, *why;
    } forged[] = {
        {"nothing of ours", "it is no record of runs"},
        {"{}", "it is no record of runs"},
        {"[1]", "it is no record of runs"},
        {"{\"paddock\": 2}", "it is of another version"},
        {"{\"paddock\": 1, \"last\": 7}", "it is garbled"},
        {"{\"paddock\": 1, \"last\": {\"token\": -1}}", "it is garbled"},
        {"{\"paddock\": 1, \"done\": {\"token\": 1, \"status\": 256}}", "it is garbled"},
        {"{\"paddock\": 1, \"done\": {\"token\": 1, \"key\": \"a\\nb\"}}", "it is garbled"},
        {"{\"paddock\": 1, \"keys\": [\"a\", 1]}", "it is garbled"},
        {"{\"paddock\": 1, \"keys\": {}}", "it is garbled"},
        {"{\"paddock\": 1, \"done\": {\"token\": 9223372036854775807}}", "it has a token larger than the lock's"},
        {"{\"paddock\": 1, \"done\": {\"token\": 1, \"begun_ms\": 9223372036854775807}}",
         "its last run begins in the future"},
    };
    begin(NULL, HOUR_MS);
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        write_forged(forged[i].text);
        CHECK_RC(pdk_mutex_lock(a.mutex), 0);
        CHECK_RC(pdk_once_begin(first, NULL, LONG_MS), PDK_ERECORD);
        check_why(&a, forged[i].why);
        CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    }
    char *huge = malloc(300000);
    memset(huge, ' ', 299999);
    huge[299999] = '\0';
    write_forged(huge);
    free(huge);
    CHECK_RC(pdk_once_ask(first, LONG_MS), PDK_ERECORD);
    check_why(&a, "it is too large");
    pdk_runs *runs;
    CHECK_RC(pdk_runs_read(a.client, fixture.path, LONG_MS, &runs), PDK_ERECORD);
    write_forged("");
    CHECK_RC(run(&a, first, 0), 0);
    CHECK_RC(pdk_runs_read(a.client, fixture.path, LONG_MS, &runs), 0);
    CHECK_EQ(pdk_runs_number(runs, PDK_RUN_DONE, PDK_RUN_STATUS), 0);
    pdk_runs_free(runs);
    finish();
}

/* A clock of a leader's that is a little ahead: the run was just now. */
static void near_future(void)
{
    char text[160];
    begin(NULL, HOUR_MS);
    CHECK_RC(run(&a, first, 0), 0);
    snprintf(text, sizeof text, "{\"paddock\": 1, \"done\": {\"token\": 1, \"begun_ms\": %lld}}",
             (long long)number(first, PDK_RUN_DONE, PDK_RUN_BEGUN_MS) + HOUR_MS / 2);
    write_forged(text);
    CHECK_RC(run(&b, second, 0), PDK_EDONE);
    CHECK_EQ(pdk_once_age_ms(second), 0);
    finish();
}

static void record_that_is_deleted(void)
{
    begin("k", 0);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    CHECK_RC(pdk_once_begin(first, NULL, LONG_MS), 0);
    CHECK_EQ(zoo_delete(fixture.zh, record, -1), ZOK);
    CHECK_RC(pdk_once_end(first, 0, LONG_MS), 0);
    write_forged("garbage");
    CHECK_RC(pdk_once_ask(second, LONG_MS), PDK_ERECORD);
    CHECK_EQ(zoo_delete(fixture.zh, record, -1), ZOK);
    CHECK_RC(pdk_once_begin(first, NULL, LONG_MS), 0);
    write_forged("garbage");
    CHECK_RC(pdk_once_end(first, 0, LONG_MS), 0);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    CHECK_RC(pdk_once_ask(second, LONG_MS), PDK_EDONE);
    finish();
}

/* --- lost replies ------------------------------------------------------------------------------------------------ */

/* The transaction of the beginning, and that of the end: committed or not, the same call finds out. */
static void lost_replies(void)
{
    static const pdk__act acts[] = {PDK__CUT_BEFORE, PDK__CUT_AFTER_FORWARD, PDK__CUT_BEFORE_REPLY};
    for (int nth = 1; nth <= 2; nth++)
        for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
            begin("k", 0);
            struct pdk__proxy_rule rule = {.op = PDK__OP_MULTI, .nth = nth, .act = acts[i]};
            int cut = pdk__proxy_rule(fixture.proxy, &rule);
            CHECK_RC(run(&a, first, 0), 0);
            CHECK_EQ(pdk__proxy_hits(fixture.proxy, cut), 1);
            CHECK_RC(run(&b, second, 0), PDK_EDONE);
            CHECK_EQ(number(second, PDK_RUN_DONE, PDK_RUN_BEGUN_MS), number(first, PDK_RUN_DONE, PDK_RUN_BEGUN_MS));
            finish();
        }
}

static void no_answer_in_time(void)
{
    begin("k", 0);
    struct pdk__proxy_rule rule = {.op = PDK__OP_MULTI, .act = PDK__HOLD_REPLY};
    int held = pdk__proxy_rule(fixture.proxy, &rule);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    CHECK_RC(pdk_once_begin(first, NULL, 200), PDK_EUNKNOWN);
    CHECK_RC(pdk_once_end(first, 0, 200), PDK_EPERM);
    pdk__proxy_release(fixture.proxy, held);
    CHECK_RC(pdk_once_begin(first, NULL, LONG_MS), 0);
    CHECK_RC(pdk_once_end(first, 0, LONG_MS), 0);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    finish();
}

/* --- without waiting --------------------------------------------------------------------------------------------- */

static void told(int rc, void *arg) { *(_Atomic int *)arg = rc; }

static int answer_of(_Atomic int *rc, int sent)
{
    CHECK_RC(sent, 0);
    CHECK_WITHIN(LONG_MS, *rc != 1);
    int answer = *rc;
    *rc = 1;
    return answer;
}

static void asynchronous(void)
{
    _Atomic int rc = 1;
    struct request r;
    begin("k", 0);
    CHECK_RC(answer_of(&rc, pdk_once_ask_async(first, told, &rc)), 0);
    request_queued(&r, &a, PDK_FOREVER, 1);
    request_told(&r, 0);
    CHECK_RC(answer_of(&rc, pdk_once_begin_async(first, r.grant, told, &rc)), 0);
    CHECK_RC(answer_of(&rc, pdk_once_end_async(first, 0, told, &rc)), 0);
    CHECK_RC(pdk_once_end_async(first, 0, told, &rc), PDK_EPERM);
    CHECK_RC(answer_of(&rc, pdk_once_begin_async(first, r.grant, told, &rc)), PDK_EDONE);
    CHECK_RC(pdk_once_begin_async(second, r.grant, told, &rc), PDK_EINVAL); /* of another object */
    request_end(&r, 0);
    CHECK_RC(answer_of(&rc, pdk_once_ask_async(second, told, &rc)), PDK_EDONE);
    finish();
}

/* A call that is refused changes nothing of the one under way, which has to write again. */
static void refused_end(void)
{
    _Atomic int rc = 1;
    begin("k", 0);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    CHECK_RC(pdk_once_begin(first, NULL, LONG_MS), 0);
    struct pdk__proxy_rule rule = {.op = PDK__OP_MULTI, .act = PDK__HOLD_REQUEST};
    int held = pdk__proxy_rule(fixture.proxy, &rule);
    CHECK_RC(pdk_once_end_async(first, 0, told, &rc), 0);
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(fixture.proxy, held) == 1);
    write_forged("garbage");
    CHECK_RC(pdk_once_end(first, 5, LONG_MS), PDK_EBUSY);
    pdk__proxy_release(fixture.proxy, held);
    CHECK_WITHIN(LONG_MS, rc != 1);
    CHECK_EQ(rc, 0);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    CHECK_RC(pdk_once_ask(second, LONG_MS), PDK_EDONE);
    finish();
}

/* One call at a time; closing the client answers it. */
static void closed_client(void)
{
    _Atomic int rc = 1;
    begin("k", 0);
    struct pdk__proxy_rule rule = {.op = PDK__OP_GET, .act = PDK__SWALLOW_REPLY};
    int swallowed = pdk__proxy_rule(fixture.proxy, &rule);
    CHECK_RC(pdk_once_ask_async(first, told, &rc), 0);
    CHECK_RC(pdk_once_ask(first, LONG_MS), PDK_EBUSY);
    CHECK_RC(pdk_once_free(first), PDK_EBUSY);
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(fixture.proxy, swallowed) == 1);
    CHECK_RC(pdk_client_close(a.client), 0);
    CHECK_EQ(rc, PDK_EUNKNOWN);
    CHECK_RC(pdk_once_ask(first, LONG_MS), PDK_ECLOSED);
    finish();
}

/* --- which locks ------------------------------------------------------------------------------------------------- */

static void shared_grants(void)
{
    pdk_rwlock *rw;
    pdk_semaphore *s;
    pdk_grant *g;
    pdk_once *o;
    const char *path = fixture_path();
    begin("k", 0);
    CHECK_RC(pdk_rwlock_new(&rw, a.client, path, NULL), 0);
    CHECK_RC(pdk_once_new(&o, rw, "k", 0), 0);
    CHECK_RC(pdk_rwlock_rdlock(rw), 0);
    CHECK_RC(pdk_once_begin(o, NULL, LONG_MS), PDK_ENOTSUP);
    CHECK_RC(pdk_rwlock_unlock(rw), 0);
    CHECK_RC(pdk_rwlock_wrlock(rw), 0);
    CHECK_RC(pdk_once_begin(o, NULL, LONG_MS), 0);
    CHECK_RC(pdk_once_end(o, 0, LONG_MS), 0);
    CHECK_RC(pdk_rwlock_unlock(rw), 0);
    CHECK_RC(pdk_once_free(o), 0);
    CHECK_RC(pdk_lock_free(rw), 0);
    path = fixture_path();
    CHECK_RC(pdk_semaphore_new(&s, a.client, path, 2, NULL), 0);
    CHECK_RC(pdk_once_new(&o, s, "k", 0), 0);
    CHECK_RC(pdk_semaphore_acquire(s, 1, &g), 0);
    CHECK_RC(pdk_once_begin(o, g, LONG_MS), PDK_ENOTSUP);
    CHECK_RC(pdk_grant_release(g), 0);
    CHECK_RC(pdk_lock_free(s), 0); /* the job keeps what it needs */
    CHECK_RC(pdk_once_free(o), 0);
    finish();
}

static void bad_arguments(void)
{
    static const char *const bad[] = {"", "a\nb", "\x7f", "\xff", "\xc2\x85", "a\xc3"};
    char long_key[PDK_ONCE_KEY_MAX + 2];
    pdk_once *o;
    begin("k", 0);
    memset(long_key, 'k', sizeof long_key - 1);
    long_key[sizeof long_key - 1] = '\0';
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_RC(pdk_once_new(&o, a.mutex, bad[i], 0), PDK_EINVAL);
    CHECK_RC(pdk_once_new(&o, a.mutex, long_key, 0), PDK_EINVAL);
    CHECK_RC(pdk_once_new(&o, a.mutex, "k", 1), PDK_EINVAL);
    CHECK_RC(pdk_once_new(&o, a.mutex, NULL, 0), PDK_EINVAL);
    CHECK_RC(pdk_once_new(&o, a.mutex, NULL, -1), PDK_EINVAL);
    CHECK_RC(pdk_once_new(&o, a.mutex, NULL, PDK_ONCE_PERIOD_MAX_MS + 1), PDK_EINVAL);
    CHECK_RC(pdk_once_new(&o, NULL, "k", 0), PDK_EINVAL);
    CHECK_RC(pdk_once_new(NULL, a.mutex, "k", 0), PDK_EINVAL);
    CHECK_RC(pdk_once_end(first, 256, 0), PDK_EINVAL);
    CHECK_RC(pdk_once_end(first, -1, 0), PDK_EINVAL);
    CHECK_RC(pdk_once_end(first, 0, 0), PDK_EPERM);
    CHECK_RC(pdk_once_ask(NULL, 0), PDK_EINVAL);
    CHECK_RC(pdk_once_begin(first, NULL, 0), PDK_EPERM);
    CHECK_RC(pdk_once_free(NULL), 0);
    CHECK_EQ(pdk_runs_number(NULL, PDK_RUN_LAST, PDK_RUN_STATUS), -1);
    CHECK_STR(pdk_runs_text(NULL, PDK_RUN_LAST, PDK_RUN_HOST), "");
    pdk_runs *runs;
    CHECK_RC(pdk_runs_read(a.client, fixture.path, LONG_MS, &runs), PDK_ENOENT);
    pid_t child = pdk__test_fork();
    if (child == 0)
        _exit(pdk_once_ask(first, 0) == PDK_EFORKED && pdk_once_free(first) == PDK_EFORKED ? 0 : 1);
    CHECK_EQ(pdk__test_wait(child), 0);
    finish();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a job with a KEY runs once; to learn that takes one request", once_for_a_key},
        {"a hundred KEYs are remembered", many_keys},
        {"a run that fails is followed by another", failure_is_no_success},
        {"a run whose lock was lost is not recorded, and is followed by another", lost_lock_is_no_success},
        {"a run whose lock was handed on is over", lock_that_was_handed_on},
        {"where any run counts, so does one without an end", any_run_counts},
        {"a job with a period runs once in it", once_in_a_period},
        {"it is due again when the period has passed by the servers' time", due_again_after_it},
        {"after a long wait the present time is asked", long_wait},
        {"a record that others have written is refused, with the reason", forged_records},
        {"a run in the near future was just now", near_future},
        {"a record that is deleted or garbled during a run is made again", record_that_is_deleted},
        {"no lost reply makes a run unknown for good", lost_replies},
        {"without an answer in time a run may have begun; asked again it has", no_answer_in_time},
        {"without waiting", asynchronous},
        {"a call that is refused changes nothing of the one under way", refused_end},
        {"closing the client answers the call that is under way", closed_client},
        {"a grant that excludes no other is refused", shared_grants},
        {"bad arguments are refused", bad_arguments},
        {0}};
    return fixture_main(argc, argv, "once", tests, ON_ONE);
}
