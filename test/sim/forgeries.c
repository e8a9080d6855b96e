/*
 * The record of a job, as the hostile contender writes it: one that cannot be read, one that cannot be true, one that
 * can; or none.
 */
#include "lib/run_record.h"
#include "test/sim/world.h"
#include <stdarg.h>
#include <string.h>

enum { DAY_MS = 86400000, TEXT_MAX = 4096 };

/* In the world's scratch memory. */
static const char *compose(struct world *w, const char *format, ...)
{
    char *text = w->ensemble.scratch(w, TEXT_MAX);
    va_list args;
    va_start(args, format);
    vsnprintf(text, TEXT_MAX, format, args);
    va_end(args);
    return text;
}

static const char *const garbled[] = {"free",
                                      "{\"paddock\":1,\"last\":",
                                      "{\"paddock\":1,\"keys\":[7]}",
                                      "{\"paddock\":1,\"keys\":[\"k0\",\"a\\u0007b\"]}",
                                      "{\"paddock\":1,\"done\":{\"key\":\"k0\"}}",
                                      "{\"paddock\":1,\"last\":{\"token\":-1}}",
                                      "{\"last\":{\"token\":1}}",
                                      "\xff\xfe"};
enum { N_GARBLED = sizeof garbled / sizeof *garbled };

static const char version[] = "{\"paddock\":2}";

/* It would be a new record's, but for its size. */
static char large[PDK__RUNS_BYTES_MAX + 2] = "{\"paddock\":1}";

static const char *too_large(void)
{
    size_t n = strlen(large);
    memset(large + n, ' ', sizeof large - 1 - n);
    return large;
}

bool forgeries_readable(const char *text)
{
    bool readable = text != version && text != large;
    for (int i = 0; i < N_GARBLED; i++)
        readable &= text != garbled[i];
    return readable;
}

/* The token of the first contender; 1 where there is none. */
static int64_t holders_token(const struct world *w)
{
    const struct dir *dir = &w->ensemble.truth.dirs[0];
    int64_t token = INT64_MAX;
    for (int i = 0; i < dir->n; i++)
        if (dir->nodes[i].owner >= 0 && dir->nodes[i].czxid < token)
            token = dir->nodes[i].czxid;
    return token < INT64_MAX ? token : 1;
}

static int64_t any_token(struct world *w) { return chance(&w->fault_random, 500) ? holders_token(w) : 1; }

static const char *larger_token(struct world *w)
{
    bool done = chance(&w->fault_random, 500), little = chance(&w->fault_random, 500);
    return compose(w,
                   "{\"paddock\":1,\"%s\":{\"key\":\"k0\",\"token\":%lld,\"begun_ms\":1,\"ended_ms\":1,\"status\":0}}",
                   done ? "done" : "last", little ? (long long)holders_token(w) + 1 : (long long)INT64_MAX);
}

/* A run that counts, and that began IN_MS from now. */
static const char *future(struct world *w, int64_t in_ms)
{
    return compose(w, "{\"paddock\":1,\"done\":{\"period_ms\":%d,\"token\":1,\"begun_ms\":%lld,\"status\":0}}",
                   w->period_ms, (long long)(world_date_ms(w) + in_ms));
}

/* A run that never was: it counts; or it has ended only. */
static const char *success(struct world *w, bool counts)
{
    int key = below(&w->fault_random, 8), status = chance(&w->fault_random, 500);
    long long token = any_token(w), begun_ms = world_date_ms(w) - below(&w->fault_random, 3000);
    const char *run = compose(w, "{\"key\":\"k%d\",\"period_ms\":%d,\"token\":%lld,\"begun_ms\":%lld,\"status\":%d}",
                              key, w->period_ms, token, begun_ms, counts ? 0 : status);
    if (!counts)
        return compose(w, "{\"paddock\":1,\"last\":%s}", run);
    return compose(w, "{\"paddock\":1,\"last\":%s,\"done\":%s,\"keys\":[\"k%d\"]}", run, run, key);
}

static const char *under_way(struct world *w)
{
    int key = below(&w->fault_random, 8);
    const char *of = w->period_ms > 0 ? compose(w, "\"period_ms\":%d", w->period_ms)
                                      : compose(w, "\"key\":\"k%d\"", key);
    return compose(w, "{\"paddock\":1,\"last\":{%s,\"token\":%lld}}", of, (long long)any_token(w));
}

/* As many KEYs as a record remembers; or one more, which is not read. */
static const char *full(struct world *w)
{
    char *text = w->ensemble.scratch(w, TEXT_MAX);
    int n = PDK__RUN_KEYS + chance(&w->fault_random, 500), at = 0;
    at += snprintf(text, TEXT_MAX, "{\"paddock\":1,\"keys\":[");
    for (int i = 0; i < n; i++)
        at += snprintf(text + at, (size_t)(TEXT_MAX - at), "\"forged %d\"%s", i, i < n - 1 ? "," : "]}");
    return text;
}

static const char *text_of(struct world *w, enum forgery forgery)
{
    switch (forgery) {
    case FORGED_GARBLED:
        return garbled[below(&w->fault_random, N_GARBLED)];
    case FORGED_TOO_LARGE:
        return too_large();
    case FORGED_VERSION:
        return version;
    case FORGED_TOKEN:
        return larger_token(w);
    case FORGED_FAR_FUTURE:
        return future(w, DAY_MS);
    case FORGED_NEAR_FUTURE:
        return future(w, below(&w->fault_random, 2 * w->period_ms + 1000));
    case FORGED_DONE:
        return success(w, true);
    case FORGED_END:
        return success(w, false);
    case FORGED_BEGINNING:
        return under_way(w);
    case FORGED_KEYS:
        return full(w);
    default:
        return "";
    }
}

/* That some hostile contenders may not do. */
static bool deletes(const struct world *w) { return w->weights[FAULT_REPLACE] > 0; }

void forgeries_write(struct world *w, enum forgery forgery)
{
    see(SIGHT_JOB_FORGED);
    if (forgery == FORGED_DELETION && deletes(w)) {
        ensemble_administrate(&w->ensemble, REQ_REMOVE_DIR, JOB_PATH, "");
        return;
    }
    const char *text = text_of(w, forgery);
    ensemble_write(&w->ensemble, JOB_PATH, text, (int)strlen(text));
}
