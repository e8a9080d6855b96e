/* The record of runs without a JSON library, for C libraries that none is there for: its bytes, each as two letters. It
 * reads what it wrote. */
#include "lib/run_record.h"
#include "lib/alloc.h"
#include <string.h>

/* Without the places that no KEY has taken. */
static size_t n_bytes(unsigned n_keys) { return offsetof(struct pdk__runs, keys) + n_keys * (PDK__RUN_KEY_MAX + 1); }

char *pdk__runs_format(const struct pdk__runs *runs)
{
    const unsigned char *bytes = (const unsigned char *)runs;
    size_t n = n_bytes(runs->n_keys);
    char *text = pdk__alloc(2 * n + 1);
    for (size_t i = 0; text != NULL && i < n; i++) {
        text[2 * i] = (char)('a' + bytes[i] / 16);
        text[2 * i + 1] = (char)('a' + bytes[i] % 16);
    }
    return text;
}

static void fill_times(struct pdk__run *run, int64_t mtime_ms)
{
    if (run->token > 0 && run->begun_ms == 0)
        run->begun_ms = mtime_ms;
    if (run->status >= 0 && run->ended_ms == 0)
        run->ended_ms = mtime_ms;
}

const char *pdk__runs_parse(struct pdk__runs *runs, const char *data, size_t size, int64_t mtime_ms)
{
    unsigned char *bytes = (unsigned char *)runs;
    pdk__runs_init(runs);
    if (size > 2 * sizeof *runs)
        return "it is too large";
    for (size_t i = 0; i < size / 2; i++)
        bytes[i] = (unsigned char)((data[2 * i] - 'a') * 16 + (data[2 * i + 1] - 'a'));
    fill_times(&runs->last, mtime_ms);
    fill_times(&runs->done, mtime_ms);
    return NULL;
}
