#include "lib/clock.h"
#include "lib/core/contender.h"
#include "lib/core/retry.h"
#include "test/lib/check.h"

static void delays_stay_between_floor_and_floor_plus_ceiling(void)
{
    struct pdk__retry r;
    for (uint64_t seed = 0; seed < 50; seed++) {
        pdk__retry_init(&r, seed);
        for (int i = 0; i < 100; i++) {
            int64_t delay_ms = pdk__retry_delay_ms(&r, 10, 1000);
            CHECK(delay_ms >= 10 && delay_ms <= 1010);
        }
    }
}

static void delays_grow_with_failures_and_shrink_after_success(void)
{
    struct pdk__retry r;
    int64_t early_ms = 0, late_ms = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        pdk__retry_init(&r, seed);
        early_ms += pdk__retry_delay_ms(&r, 10, 1000);
        for (int i = 0; i < 20; i++)
            pdk__retry_delay_ms(&r, 10, 1000);
        late_ms += pdk__retry_delay_ms(&r, 10, 1000);
        pdk__retry_reset(&r);
        CHECK(pdk__retry_delay_ms(&r, 10, 1000) <= 20);
    }
    CHECK(late_ms > 10 * early_ms);
}

static void the_seed_is_all_the_randomness(void)
{
    struct pdk__retry a, b, c;
    bool differ = false;
    pdk__retry_init(&a, 5);
    pdk__retry_init(&b, 5);
    pdk__retry_init(&c, 6);
    for (int i = 0; i < 20; i++) {
        int64_t delay_ms = pdk__retry_delay_ms(&a, 10, 1000);
        CHECK_EQ(delay_ms, pdk__retry_delay_ms(&b, 10, 1000));
        differ |= delay_ms != pdk__retry_delay_ms(&c, 10, 1000);
    }
    CHECK(differ);
}

static void deadlines_do_not_overflow(void)
{
    CHECK_EQ(pdk__deadline_ms(1000, 500), 1500);
    CHECK_EQ(pdk__deadline_ms(1000, 0), 1000);
    CHECK_EQ(pdk__deadline_ms(1000, -1), PDK__NEVER);
    CHECK_EQ(pdk__deadline_ms(1000, INT64_MAX), PDK__NEVER);
    int64_t before_ms = pdk__now_ms();
    CHECK(pdk__now_ms() >= before_ms);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"delays stay between the floor and the floor plus the ceiling",
         delays_stay_between_floor_and_floor_plus_ceiling},
        {"delays grow with failures and shrink after success", delays_grow_with_failures_and_shrink_after_success},
        {"the seed is all the randomness", the_seed_is_all_the_randomness},
        {"deadlines do not overflow", deadlines_do_not_overflow},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "retry", .tests = tests});
}
