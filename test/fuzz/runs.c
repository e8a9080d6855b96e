/* The record of a job's runs, which any client may have written, and a KEY, which comes from the command line. */
#include "lib/alloc.h"
#include "lib/run_record.h"
#include "test/fuzz/fuzz.h"
#include <stdbool.h>

const char pdk__fuzz_name[] = "runs";

enum { MTIME_MS = 1700000000 };

static const char *parse(struct pdk__runs *runs, const char *data, size_t size)
{
    memset(runs, 0xff, sizeof *runs);
    return pdk__runs_parse(runs, data, size, MTIME_MS);
}

#define ENDS(text) (memchr(text, '\0', sizeof(text)) != NULL)

static void check_run(const struct pdk__run *run)
{
    MUST(ENDS(run->key) && ENDS(run->host) && ENDS(run->label));
    MUST(run->period_ms >= 0 && run->pid >= 0 && run->token >= 0);
    MUST(run->status >= -1 && run->status <= 255);
    MUST(run->token > 0 ? run->begun_ms > 0 : run->begun_ms == 0 && run->status == -1);
    MUST(run->status < 0 || run->ended_ms > 0);
}

static void check_bounds(const struct pdk__runs *runs)
{
    check_run(&runs->last);
    check_run(&runs->done);
    MUST(runs->n_keys <= PDK__RUN_KEYS);
    for (unsigned i = 0; i < runs->n_keys; i++)
        MUST(ENDS(runs->keys[i]) && pdk__run_key_valid(runs->keys[i]) && pdk__runs_have(runs, runs->keys[i]));
}

/* Through format and parse again: with the same times, no byte of it is another. */
static void check_round_trip(const struct pdk__runs *runs)
{
    static struct pdk__runs again;
    char *text = pdk__runs_format(runs);
    MUST(text != NULL && strlen(text) <= PDK__RUNS_BYTES_MAX);
    MUST(parse(&again, text, strlen(text)) == NULL);
    pdk__free(text);
    MUST(memcmp(&again, runs, sizeof again) == 0);
}

static bool is_new(const struct pdk__runs *runs)
{
    static struct pdk__runs empty;
    pdk__runs_init(&empty);
    return memcmp(runs, &empty, sizeof empty) == 0;
}

/* The next run of any record, with the bytes as its KEY. */
static void check_key(struct pdk__runs *runs, const char *key)
{
    struct pdk__run run = {.token = 1};
    if (!pdk__run_key_valid(key))
        return;
    MUST(*key != '\0' && strlen(key) <= PDK__RUN_KEY_MAX && strpbrk(key, "\n\t\x1b\x7f") == NULL);
    strcpy(run.key, key);
    pdk__runs_begin(runs, &run, true);
    runs->last.begun_ms = runs->done.begun_ms = MTIME_MS;
    MUST(runs->n_keys > 0 && pdk__runs_have(runs, key));
    check_round_trip(runs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pdk__runs runs;
    if (parse(&runs, (const char *)data, size) != NULL)
        MUST(is_new(&runs));
    check_bounds(&runs);
    check_round_trip(&runs);
    char *key = text_of(data, size);
    check_key(&runs, key);
    free(key);
    return 0;
}
