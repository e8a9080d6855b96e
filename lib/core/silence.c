#include "lib/core/silence.h"
#include "lib/assert.h"
#include "lib/core/chain.h"
#include "lib/core/event.h"

/* A server may be silent for one SILENCE_PART of the timeout, doubled at most LEFT_MAX times. An answer within one
 * SOON_PART of the timeout counts as soon. */
enum { SILENCE_PART = 5, LEFT_MAX = 3, SOON_PART = 20 };

/* While no server is connected, the server that is tried has a SEEK_PART of the timeout to answer, doubled each
 * time. At most PASSED_MAX servers are passed over. */
enum { SEEK_PART = 10, PASSED_MAX = 3 };

void pdk__silence_init(struct pdk__silence *q) { *q = (struct pdk__silence){.left_ms = PDK__UNKNOWN_MS}; }

void pdk__silence_seek(struct pdk__silence *q, int64_t now_ms)
{
    q->sought_ms = now_ms;
    q->n_passed = 0;
}

void pdk__silence_answered(struct pdk__silence *q, int64_t now_ms, int64_t write_sent_ms, int64_t timeout_ms)
{
    q->waited_ms = now_ms;
    if (write_sent_ms != PDK__UNKNOWN_MS && now_ms - write_sent_ms <= timeout_ms / SOON_PART)
        q->n_left = 0;
}

static int64_t patience_ms(int64_t timeout_ms, int64_t lag_ms, int part)
{
    return pdk__later_ms(timeout_ms / part, 3 * lag_ms);
}

int64_t pdk__silence_leave_ms(const struct pdk__silence *q, int64_t timeout_ms, int64_t lag_ms)
{
    assert(q->n_left >= 0 && timeout_ms > 0);
    return pdk__later_ms(q->waited_ms + (patience_ms(timeout_ms, lag_ms, SILENCE_PART) << q->n_left),
                         q->left_ms + timeout_ms);
}

int64_t pdk__silence_pass_ms(const struct pdk__silence *q, int64_t timeout_ms, int64_t lag_ms)
{
    return q->n_passed < PASSED_MAX ? q->sought_ms + (patience_ms(timeout_ms, lag_ms, SEEK_PART) << q->n_passed)
                                    : PDK__NEVER;
}

void pdk__silence_left(struct pdk__silence *q, int64_t now_ms)
{
    q->left_ms = now_ms;
    q->n_left += q->n_left < LEFT_MAX;
    assert(q->n_left >= 1 && q->n_left <= LEFT_MAX);
}

void pdk__silence_passed(struct pdk__silence *q, int64_t now_ms)
{
    q->sought_ms = now_ms;
    q->n_passed++;
    assert(q->n_passed <= PASSED_MAX);
}
