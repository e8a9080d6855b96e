/*
 * When a silent server is left or passed over: from any state, with any timeout and round trip.
 *
 * A part is a call.
 */
#include "lib/core/silence.h"
#include "lib/core/chain.h"
#include "lib/core/event.h"
#include "test/cbmc/prove.h"

/* A clock in milliseconds for longer than thirty million years, and a round trip of longer than thirty thousand. */
#define NOW_MAX (INT64_C(1) << 60)
#define LAG_MAX (INT64_C(1) << 50)

enum call { CALL_WHEN, CALL_BEGUN, CALL_ANSWERED, CALL_LEFT, CALL_PASSED, CALL = PART_OF(CALL_) };

static int64_t any_time_ms(void) { return any_between(0, NOW_MAX); }

static int64_t any_time_or_none_ms(void) { return nondet_bool() ? PDK__UNKNOWN_MS : any_time_ms(); }

static struct pdk__silence any_silence(void)
{
    return (struct pdk__silence){.waited_ms = any_time_ms(),
                                 .left_ms = any_time_or_none_ms(),
                                 .n_left = any_between(0, 3),
                                 .sought_ms = any_time_ms(),
                                 .n_passed = any_between(0, 3)};
}

static void prove_leave(const struct pdk__silence *q, int64_t timeout_ms, int64_t lag_ms)
{
    int64_t leave_ms = pdk__silence_leave_ms(q, timeout_ms, lag_ms);
    int64_t waits_ms = leave_ms - q->waited_ms;
    PROVE(waits_ms >= timeout_ms / 5 && waits_ms >= 3 * lag_ms,
          "a server has a fifth of the timeout, and three round trips");
    PROVE(q->left_ms == PDK__UNKNOWN_MS || leave_ms - q->left_ms >= timeout_ms, "none is left twice within a timeout");
    PROVE(waits_ms <= pdk__later_ms(timeout_ms / 5, 3 * lag_ms) * 8 || leave_ms == q->left_ms + timeout_ms,
          "the wait is doubled three times at most");
}

static void prove_pass(const struct pdk__silence *q, int64_t timeout_ms, int64_t lag_ms)
{
    int64_t pass_ms = pdk__silence_pass_ms(q, timeout_ms, lag_ms);
    PROVE((pass_ms == PDK__NEVER) == (q->n_passed == 3), "three servers are passed over at most");
    PROVE(pass_ms - q->sought_ms >= timeout_ms / 10, "a server that is tried has a tenth of the timeout");
}

static void begun(struct pdk__silence *q, int64_t now_ms)
{
    int n_left = q->n_left;
    pdk__silence_seek(q, now_ms);
    PROVE(q->sought_ms == now_ms && q->n_passed == 0 && q->n_left == n_left, "a search begins");
    pdk__silence_init(q);
    PROVE(q->n_left == 0 && q->n_passed == 0 && q->left_ms == PDK__UNKNOWN_MS, "nothing was left before");
}

static void answered(struct pdk__silence *q, int64_t now_ms, int64_t timeout_ms)
{
    int n_left = q->n_left;
    int64_t write_sent_ms = any_time_or_none_ms();
    ASSUME(write_sent_ms <= now_ms);
    pdk__silence_answered(q, now_ms, write_sent_ms, timeout_ms);
    bool soon = write_sent_ms != PDK__UNKNOWN_MS && now_ms - write_sent_ms <= timeout_ms / 20;
    PROVE(q->waited_ms == now_ms && q->n_left == (soon ? 0 : n_left),
          "only a write that was soon agreed on is trusted");
    REACH(soon && n_left == 3);
    REACH(!soon && n_left == 3);
}

static void left(struct pdk__silence *q, int64_t now_ms, int64_t timeout_ms, int64_t lag_ms)
{
    int n_left = q->n_left;
    ASSUME(now_ms >= pdk__silence_leave_ms(q, timeout_ms, lag_ms));
    pdk__silence_left(q, now_ms);
    PROVE(q->left_ms == now_ms && q->n_left >= n_left, "a server is left");
    PROVE(now_ms < pdk__silence_leave_ms(q, timeout_ms, lag_ms), "the next is not left at once");
    REACH(n_left == 3);
}

static void passed(struct pdk__silence *q, int64_t now_ms, int64_t timeout_ms, int64_t lag_ms)
{
    int n_passed = q->n_passed;
    ASSUME(now_ms >= pdk__silence_pass_ms(q, timeout_ms, lag_ms));
    pdk__silence_passed(q, now_ms);
    PROVE(q->sought_ms == now_ms && q->n_passed == n_passed + 1, "a server is passed over");
    PROVE(timeout_ms < 10 || now_ms < pdk__silence_pass_ms(q, timeout_ms, lag_ms), "the next is not passed at once");
    REACH(q->n_passed == 3);
}

int main(void)
{
    struct pdk__silence q = any_silence();
    int64_t timeout_ms = any_between(1, INT_MAX), lag_ms = any_between(0, LAG_MAX), now_ms = any_time_ms();
    if (CALL == CALL_WHEN) {
        prove_leave(&q, timeout_ms, lag_ms);
        prove_pass(&q, timeout_ms, lag_ms);
    } else if (CALL == CALL_BEGUN) {
        begun(&q, now_ms);
    } else if (CALL == CALL_ANSWERED) {
        answered(&q, now_ms, timeout_ms);
    } else if (CALL == CALL_LEFT) {
        left(&q, now_ms, timeout_ms, lag_ms);
    } else {
        passed(&q, now_ms, timeout_ms, lag_ms);
    }
    PROVE(q.n_left >= 0 && q.n_left <= 3 && q.n_passed >= 0 && q.n_passed <= 3, "both counts stay in their bounds");
}
