#include "lib/core/once.h"
#include "lib/assert.h"
#include <string.h>

/* Our clock may be slower than the leader's by an eighth; a second is for what rounds and waits. */
static int64_t at_most(int64_t passed_ms) { return passed_ms > 0 ? passed_ms + passed_ms / 8 + 1000 : 0; }

enum pdk__once_verdict pdk__once_judge(int64_t begun_ms, int64_t now_ms, int64_t passed_ms, int64_t period_ms)
{
    assert(begun_ms >= 0 && now_ms >= 0 && passed_ms >= 0 && period_ms > 0);
    int64_t age_ms = now_ms - begun_ms, present_ms = age_ms + at_most(passed_ms);
    if (age_ms >= period_ms)
        return PDK__ONCE_DUE;
    if (present_ms >= period_ms)
        return PDK__ONCE_LATER;
    return present_ms > -period_ms ? PDK__ONCE_DONE : PDK__ONCE_FUTURE;
}

/* --- KEYs -------------------------------------------------------------------------------------------------------- */

/* The bytes of the character at S; 0: none in UTF-8. A byte that ends the text continues none. */
static size_t character(const unsigned char *s)
{
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    bool longer = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90); /* than it need be */
    bool outside = (s[0] == 0xed && s[1] >= 0xa0) || (s[0] == 0xf4 && s[1] >= 0x90);
    return longer || outside ? 0 : n;
}

bool pdk__run_has_control(const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++)
        if (*c < 0x20 || *c == 0x7f || (*c == 0xc2 && c[1] < 0xa0)) /* U+0080 to U+009F, too */
            return true;
    return false;
}

bool pdk__run_key_valid(const char *key)
{
    size_t length = strnlen(key, PDK__RUN_KEY_MAX + 1), n = 1;
    if (length < 1 || length > PDK__RUN_KEY_MAX || pdk__run_has_control(key))
        return false;
    for (size_t i = 0; i < length && n > 0; i += n)
        n = character((const unsigned char *)key + i);
    return n > 0;
}
