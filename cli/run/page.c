#include "cli/run/page.h"
#include "lib/assert.h"

#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>

enum { RESERVE_PART = 40, RESERVE_MIN_MS = 50, RESERVE_MAX_MS = 1000, BEAT_PART = 40, BEAT_MIN_MS = 10 };

struct pdk__cli_page *pdk__cli_page_new(void)
{
    void *memory = mmap(NULL, sizeof(struct pdk__cli_page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

static int64_t reserve_ms(int64_t timeout_ms)
{
    int64_t ms = timeout_ms / RESERVE_PART;
    if (ms > RESERVE_MAX_MS)
        return RESERVE_MAX_MS;
    return ms < RESERVE_MIN_MS ? RESERVE_MIN_MS : ms;
}

void pdk__cli_page_begin(struct pdk__cli_page *l, int64_t timeout_ms, int64_t grace_ms)
{
    assert(timeout_ms > 0 && grace_ms >= 0);
    int64_t most = timeout_ms / PDK__CLI_GRACE_PART;
    l->deadline = 0;
    l->timeout_ms = timeout_ms;
    l->grace_ms = grace_ms < most ? grace_ms : most;
    l->reserve_ms = reserve_ms(timeout_ms);
    l->lost = l->stopping = false;
}

void pdk__cli_page_renew(struct pdk__cli_page *l, int64_t now, int64_t valid_ms)
{
    assert(l->timeout_ms > 0 && valid_ms >= 0);
    if (valid_ms > 0)
        l->deadline = now + valid_ms;
}

int64_t pdk__cli_page_beat_ms(const struct pdk__cli_page *l)
{
    int64_t ms = l->timeout_ms / BEAT_PART;
    return ms < BEAT_MIN_MS ? BEAT_MIN_MS : ms;
}

int64_t pdk__cli_page_kill_at(const struct pdk__cli_page *l)
{
    int64_t deadline = l->deadline;
    return deadline != 0 ? deadline - l->reserve_ms : -1;
}

int64_t pdk__cli_page_stop_at(const struct pdk__cli_page *l, int signal)
{
    int64_t kill_at = pdk__cli_page_kill_at(l);
    return kill_at < 0 || signal == SIGKILL ? kill_at : kill_at - l->grace_ms;
}

bool pdk__cli_page_covers(const struct pdk__cli_page *l, int64_t now, int signal)
{
    int64_t stop_at = pdk__cli_page_stop_at(l, signal);
    return !l->lost && (signal == 0 || (!l->stopping && stop_at >= 0 && now < stop_at));
}
