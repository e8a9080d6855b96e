#include "cli/look/counter.h"

#include "cli/look/listing.h"
#include "cli/number.h"
#include "lib/assert.h"
#include "lib/core/rule.h"

#include <stdio.h>

/* At 100 creates a second half of the numbers last for 124 days, and a tenth for 25. */
#define HALF (PDK__SEQUENCE_LAST / 2)
#define TENTH (PDK__SEQUENCE_LAST / 10)
#define MONTH_MS (30 * INT64_C(86400000))
enum { LEAST_MS = 60000 };

const char pdk__cli_counter_advice[] =
    "with a sixteenth left, a contender of paddock that leaves the path empty deletes and creates it again; "
    "with none left, new ones wait until it is empty; where it has data over 512 KiB, or nodes that are no contenders, "
    "end the contenders and delete it: a new path counts from 0, and its tokens still rise";

static enum pdk__cli_counter_level level_of(const struct pdk__cli_counter *c)
{
    if (c->created < HALF)
        return COUNTER_FINE; /* the rate of a young path may be any */
    if (c->left <= 0)
        return COUNTER_SPENT;
    return c->left <= TENTH || (c->left_ms >= 0 && c->left_ms < MONTH_MS) ? COUNTER_LOW : COUNTER_HALF;
}

struct pdk__cli_counter pdk__cli_counter_of(int64_t created, double per_second)
{
    assert(created >= 0 && created <= PDK__SEQUENCE_LAST && per_second >= 0);
    struct pdk__cli_counter c = {.created = created, .left = PDK__SEQUENCE_LAST - created, .per_second = per_second};
    double left_ms = per_second > 0 ? 1000.0 * (double)c.left / per_second : -1;
    c.left_ms = left_ms < 1e15 ? (int64_t)left_ms : -1; /* longer than 30,000 years */
    c.level = level_of(&c);
    return c;
}

static double rate(int64_t n, int64_t since_ms)
{
    int64_t age_ms = since_ms > 0 ? pdk__cli_age_ms(since_ms) : 0;
    return n > 0 && age_ms >= LEAST_MS ? 1000.0 * (double)n / (double)age_ms : 0;
}

struct pdk__cli_counter pdk__cli_counter(const pdk_contender_list *list)
{
    int64_t created = pdk_contender_list_number(list, PDK_LIST_CREATED);
    double average = rate(created, pdk_contender_list_number(list, PDK_LIST_SINCE_MS)), recent = 0;
    bool any = pdk_contender_list_size(list) > 0 && pdk_contender_number(list, 0, PDK_CONTENDER_SEQUENCE) >= 0;
    if (any)
        recent = rate(created - pdk_contender_number(list, 0, PDK_CONTENDER_SEQUENCE),
                      pdk_contender_number(list, 0, PDK_CONTENDER_SINCE_MS));
    return pdk__cli_counter_of(created, recent > average ? recent : average);
}

void pdk__cli_counter_text(const struct pdk__cli_counter *counter, char *text, size_t size)
{
    char lasts[80] = "", buf[32];
    if (counter->left_ms >= 0)
        snprintf(lasts, sizeof lasts, "; at %.3g a second they last %s", counter->per_second,
                 pdk__cli_duration(counter->left_ms, buf));
    *text = '\0';
    if (counter->level == COUNTER_SPENT)
        snprintf(text, size, "its sequence numbers are used up: new contenders of paddock wait until it is empty");
    else if (counter->level == COUNTER_LOW)
        snprintf(text, size, "only %lld of its 2147483647 sequence numbers are left%s", (long long)counter->left,
                 lasts);
    else if (counter->level == COUNTER_HALF)
        snprintf(text, size, "%d%% of its 2147483647 sequence numbers are used, %lld are left%s",
                 (int)(100 * counter->created / PDK__SEQUENCE_LAST), (long long)counter->left, lasts);
}

json_t *pdk__cli_counter_object(const struct pdk__cli_counter *counter)
{
    static const char *const levels[] = {
        [COUNTER_FINE] = "fine", [COUNTER_HALF] = "half", [COUNTER_LOW] = "low", [COUNTER_SPENT] = "spent"};
    json_t *object = json_object();
    json_object_set_new(object, "created", json_integer(counter->created));
    json_object_set_new(object, "left", json_integer(counter->left));
    json_object_set_new(object, "per_second", counter->per_second > 0 ? json_real(counter->per_second) : json_null());
    json_object_set_new(object, "level", json_string(levels[counter->level]));
    return object;
}
