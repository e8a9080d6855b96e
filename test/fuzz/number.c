/* Numbers as people type them, and as they are shown. */
#include "cli/number.h"
#include "cli/message.h"
#include "test/fuzz/fuzz.h"
#include <locale.h>
#include <signal.h>

const char pdk__fuzz_name[] = "number";

#define LARGEST_MS INT64_C(1000000000000)

/* Thousandths of the decimal number TEXT, rounded up, reckoned digit by digit; -1 for what is none or is too large. */
static int64_t thousandths(const char *text)
{
    int64_t value = 0;
    int digits = 0, points = 0, places = 0;
    bool more = false;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '.' && points++ == 0)
            continue;
        if (*c < '0' || *c > '9')
            return -1;
        digits++;
        if (points == 0 || places++ < 3)
            value = value * 10 + (*c - '0');
        else
            more |= *c != '0';
        if (value > LARGEST_MS)
            return -1;
    }
    for (; places < 3; places++)
        value *= 10;
    value += more;
    return digits > 0 && value <= LARGEST_MS + 1 ? value : -1;
}

static void check_seconds(const char *text)
{
    int64_t ms = -7, exact = thousandths(text);
    if (!pdk__cli_number_seconds(text, &ms)) {
        MUST((exact < 0 || exact > LARGEST_MS) && ms == -7);
        return;
    }
    /* After about 16 digits the number is a binary fraction beside the decimal one, by 1 ms at most. */
    MUST(exact >= 0 && ms >= exact - 1 && ms <= exact + 1);
    if (strlen(text) < 300)
        MUST((ms == 0) == (exact == 0));
}

static void check_whole(const char *text, int low, int high)
{
    int value = -7;
    bool digits = *text != '\0' && strspn(text, "0123456789") == strlen(text);
    if (!pdk__cli_number_whole(text, low, high, &value)) {
        MUST(value == -7);
        const char *first = text + strspn(text, "0");
        MUST(!digits || strlen(first) > 9 || atoi(first) < low || atoi(first) > high);
        return;
    }
    MUST(digits && value >= low && value <= high);
    char again[16];
    snprintf(again, sizeof again, "%d", value);
    MUST(strcmp(again, value == 0 ? "0" : text + strspn(text, "0")) == 0);
}

static void check_signal(const char *text)
{
    int number = -7;
    if (pdk__cli_number_signal(text, &number))
        MUST(number >= 1 && number <= SIGRTMAX);
    else
        MUST(number == -7);
}

static void check_shown(const char *text, size_t size)
{
    char out[64], duration[32];
    int columns = (int)(size % 60);
    int used = pdk__cli_printable(out, sizeof out, columns, text);
    MUST(used >= 0 && used <= columns && memchr(out, '\0', sizeof out) != NULL);
    for (const char *c = out; *c != '\0'; c++)
        MUST((unsigned char)*c >= ' ' && *c != 127);
    int64_t ms = 0;
    memcpy(&ms, text, size < sizeof ms ? size : sizeof ms);
    MUST(strlen(pdk__cli_duration(ms, duration)) >= 2 && strspn(duration, "0123456789smhd") == strlen(duration));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* As on most terminals; without that locale every character beyond ASCII is shown as '?'. */
    setlocale(LC_CTYPE, "C.UTF-8");
    char *text = text_of(data, size);
    check_seconds(text);
    check_whole(text, 0, 255);
    check_whole(text, 1, INT32_MAX);
    check_signal(text);
    check_shown(text, size);
    free(text);
    return 0;
}
