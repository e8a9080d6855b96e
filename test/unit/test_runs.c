/* The record of a job's runs, and when the job is done by it. */
#include "lib/alloc.h"
#include "lib/core/once.h"
#include "lib/run_record.h"
#include "test/lib/check.h"
#include <stdio.h>
#include <string.h>

/* Write RUNS at TIME_MS, and read them again. */
static void store(struct pdk__runs *runs, int64_t time_ms)
{
    char *text = pdk__runs_format(runs);
    const char *why = pdk__runs_parse(runs, text, strlen(text), time_ms);
    pdk__free(text);
    CHECK(why == NULL);
}

static struct pdk__run run_of(int64_t token, const char *key)
{
    struct pdk__run run = {.token = token, .pid = 7, .host = "db7", .label = "nightly", .status = -1};
    snprintf(run.key, sizeof run.key, "%s", key);
    return run;
}

/* Each write leaves out its own time, and keeps those of the writes before it. */
static void the_servers_tell_both_times(void)
{
    struct pdk__runs runs;
    struct pdk__run run = run_of(5, "a"), next = run_of(9, "b");
    pdk__runs_init(&runs);
    pdk__runs_begin(&runs, &run, false);
    store(&runs, 1000);
    CHECK_EQ(runs.last.begun_ms, 1000);
    CHECK_EQ(runs.last.status, -1);
    CHECK_EQ(runs.done.token, 0);
    pdk__runs_end(&runs, 0, true);
    store(&runs, 1500);
    CHECK_EQ(runs.last.begun_ms, 1000);
    CHECK_EQ(runs.last.ended_ms, 1500);
    CHECK_EQ(runs.done.token, 5);
    CHECK_EQ(runs.done.ended_ms, 1500);
    pdk__runs_begin(&runs, &next, false);
    store(&runs, 2000);
    CHECK_EQ(runs.done.begun_ms, 1000);
    CHECK_EQ(runs.done.ended_ms, 1500);
    CHECK_EQ(runs.last.begun_ms, 2000);
    CHECK_EQ(runs.last.ended_ms, 0);
    CHECK_STR(runs.last.host, "db7");
    CHECK_STR(runs.last.label, "nightly");
    CHECK(pdk__runs_have(&runs, "a") && !pdk__runs_have(&runs, "b"));
    pdk__runs_end(&runs, 1, false);
    store(&runs, 2100);
    CHECK_EQ(runs.done.token, 5);
    CHECK(!pdk__runs_have(&runs, "b"));
}

static void a_run_that_counts_at_once(void)
{
    struct pdk__runs runs;
    struct pdk__run run = run_of(5, "a");
    pdk__runs_init(&runs);
    pdk__runs_begin(&runs, &run, true);
    store(&runs, 1000);
    CHECK_EQ(runs.done.begun_ms, 1000);
    CHECK_EQ(runs.done.status, -1);
    CHECK(pdk__runs_have(&runs, "a"));
}

/* The largest record of ours is one that can be read. */
static void the_oldest_key_gives_way(void)
{
    static struct pdk__runs runs;
    struct pdk__run run = run_of(5, "");
    pdk__runs_init(&runs);
    memset(run.host, '"', sizeof run.host - 1);
    memset(run.label, '\\', sizeof run.label - 1);
    for (int i = 0; i < PDK__RUN_KEYS + 1; i++) {
        memset(run.key, '"', PDK__RUN_KEY_MAX);
        run.key[0] = (char)('0' + i / 64);
        run.key[1] = (char)('0' + i % 64);
        pdk__runs_begin(&runs, &run, true);
        pdk__runs_end(&runs, 0, true);
    }
    store(&runs, 1);
    CHECK_EQ(runs.n_keys, PDK__RUN_KEYS);
    CHECK(pdk__runs_have(&runs, run.key));
    run.key[0] = run.key[1] = '0';
    CHECK(!pdk__runs_have(&runs, run.key));
}

static void no_data_are_a_new_record(void)
{
    struct pdk__runs runs;
    CHECK(pdk__runs_parse(&runs, NULL, 0, 1) == NULL);
    CHECK_EQ(runs.last.token, 0);
    CHECK_EQ(runs.last.status, -1);
    CHECK(pdk__runs_parse(&runs, "\xff", 1, 1) != NULL);
    CHECK(pdk__runs_parse(&runs, "{\"paddock\":1,\"paddock\":1}", 25, 1) != NULL);
}

static void a_key_is_text(void)
{
    static const char *const good[] = {"a",
                                       "2026-11-30 \"x\"",
                                       "Stra\xc3\x9f"
                                       "e",
                                       "\xe0\xa0\x80",
                                       "\xed\x9f\xbf",
                                       "\xf0\x90\x80\x80",
                                       "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {"",
                                      "a\nb",
                                      "\x7f",
                                      "\xc2\x9f",
                                      "\x80",
                                      "\xc1\xbf",
                                      "\xc3",
                                      "\xe0\x9f\xbf",
                                      "\xe1\x80",
                                      "\xed\xa0\x80",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xff"};
    char key[PDK__RUN_KEY_MAX + 2] = {0};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(pdk__run_key_valid(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!pdk__run_key_valid(bad[i]));
    memset(key, 'k', PDK__RUN_KEY_MAX);
    CHECK(pdk__run_key_valid(key));
    key[PDK__RUN_KEY_MAX] = 'k';
    CHECK(!pdk__run_key_valid(key));
}

static void done_by_its_age(void)
{
    enum { PERIOD = 10000 };
    static const struct {
        int64_t begun_ms, now_ms, passed_ms;
        enum pdk__once_verdict verdict;
    } judged
        [] =
            {
                {5000, 5000, 0, PDK__ONCE_DONE},
                {5000, 14999, 0, PDK__ONCE_DONE},
                {5000, 15000, 0, PDK__ONCE_DUE},
                {5000, 15000, 100, PDK__ONCE_DUE},
                {5000, 14000, 1, PDK__ONCE_LATER},
                {5000, 13998, 1, PDK__ONCE_DONE},
                {5000, 6000, 8000, PDK__ONCE_LATER}, /* our clock is slower by less than an eighth */
                {5000, 6000, 7111, PDK__ONCE_DONE},
                {15000, 5001, 0, PDK__ONCE_DONE}, /* the next leader's clock is less than a period later */
                {15000, 5000, 0, PDK__ONCE_FUTURE},
                {15000, 0, 20000, PDK__ONCE_DONE}, /* it began while we waited */
                {INT64_MAX, 0, 0, PDK__ONCE_FUTURE},
                {0, INT64_MAX, 0, PDK__ONCE_DUE},
            };
    for (size_t i = 0; i < sizeof judged / sizeof *judged; i++)
        CHECK_EQ(pdk__once_judge(judged[i].begun_ms, judged[i].now_ms, judged[i].passed_ms, PERIOD), judged[i].verdict);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"the servers tell when a run began and when it ended", the_servers_tell_both_times},
        {"a run can count from its beginning", a_run_that_counts_at_once},
        {"the oldest KEY gives way", the_oldest_key_gives_way},
        {"no data are a new record, and other data are none", no_data_are_a_new_record},
        {"a KEY is text", a_key_is_text},
        {"a job is done by the age of its last run", done_by_its_age},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "runs", .tests = tests});
}
