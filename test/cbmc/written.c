/*
 * A name that we write is parsed as what it was written of, with the server's number after it. With other bytes in the
 * place of one or two of its own, one more, or one less, it is ours only where it still has our form.
 *
 * Each two neighbouring bytes of the session, the attempt and the number have all their values, among bytes that are 0
 * or all ones. The number is tried around each power of two and of ten, too.
 */
#include "lib/core/name.h"
#include "test/cbmc/search.h"
#include <string.h>

static char text[PDK__NAME_MAX + 16];

static void show(void) { puts(text); }

/* --- what is written is read -------------------------------------------------------------------------------------- */

static void prove_read(int64_t session, uint32_t attempt, enum pdk__tag tag, int64_t number)
{
    struct pdk__name name = pdk__name_parse(text), glance = pdk__name_glance(text);
    search_cases++;
    PROVE(name.kind == PDK__NAME_OURS, "a name that we write is ours");
    PROVE(name.session == session && name.attempt == attempt, "it is of its session and attempt");
    PROVE(name.tag == tag && name.sequence == number, "it has its tag and number");
    PROVE(glance.kind == PDK__NAME_CURATOR && glance.tag == tag && glance.sequence == number, "a glance sees the same");
    PROVE(pdk__name_is(text, session, attempt) && !pdk__name_is(text, session ^ 1, attempt) &&
              !pdk__name_is(text, session, attempt ^ 1),
          "it is the node of no other session or attempt");
    PROVE(strlen(text) <= PDK__NAME_LENGTH_MAX, "the longest is known");
    REACH(strlen(text) == PDK__NAME_LENGTH_MAX);
}

static void try_member(int64_t session, uint32_t attempt)
{
    pdk__name_format_member(text, session, attempt);
    PROVE(pdk__name_parse(text).kind == PDK__NAME_JUNK, "a member has no number");
    PROVE(pdk__name_is(text, session, attempt) && !pdk__name_is(text, session ^ 1, attempt) &&
              !pdk__name_is(text, session, attempt ^ 1),
          "a member is of its session and attempt alone");
}

/* A server appends "%010d". */
static void try_name(int64_t session, uint32_t attempt, int32_t number)
{
    try_member(session, attempt);
    for (int tag = 0; tag < PDK__N_TAGS; tag++) {
        pdk__name_format(text, session, attempt, tag);
        sprintf(text + strlen(text), "%010d", number);
        prove_read(session, attempt, tag, number);
        if (number < 0)
            continue;
        pdk__name_format_at(text, session, attempt, tag, number);
        prove_read(session, attempt, tag, number);
    }
}

/* --- the values --------------------------------------------------------------------------------------------------- */

static uint64_t with_bytes(uint64_t value, int at, uint64_t bytes)
{
    return (value & ~(UINT64_C(0xffff) << 8 * at)) | bytes << 8 * at;
}

static void try_sessions_and_attempts(void)
{
    for (uint64_t bytes = 0; bytes <= 0xffff; bytes++)
        for (int at = 0; at < 7; at++) {
            try_name((int64_t)with_bytes(0, at, bytes), (uint32_t)with_bytes(UINT32_MAX, at % 3, bytes), 0);
            try_name((int64_t)with_bytes(UINT64_MAX, at, bytes), (uint32_t)with_bytes(0, at % 3, bytes), -1);
        }
}

static void try_around(int64_t number)
{
    for (int64_t near = number - 1; near <= number + 1; near++)
        if (near >= INT32_MIN && near <= INT32_MAX)
            try_name(0x100001e4e830000, 42, (int32_t)near);
}

static void try_numbers(void)
{
    for (int64_t power = 1; power <= INT64_C(10000000000); power *= 10) {
        try_around(power);
        try_around(-power);
    }
    for (int64_t power = 1; power <= INT64_C(1) << 32; power *= 2) {
        try_around(power);
        try_around(-power);
    }
    for (uint64_t bytes = 0; bytes <= 0xffff; bytes++)
        for (int at = 0; at < 3; at++) {
            try_name(-2, 1, (int32_t)(uint32_t)with_bytes(0, at, bytes));
            try_name(-2, 1, (int32_t)(uint32_t)with_bytes(UINT32_MAX, at, bytes));
        }
}

/* --- what is not written ------------------------------------------------------------------------------------------ */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool has_stem(void)
{
    for (int i = 0; i < 26; i++) {
        bool separator = i == 16 || i == 25;
        if (separator ? text[i] != '-' : !is_digit(text[i]) && (text[i] < 'a' || text[i] > 'f'))
            return false;
    }
    return true;
}

static bool is_number(const char *at)
{
    size_t n = strspn(at, "0123456789");
    if (*at == '-')
        n = strspn(at + 1, "0123456789") + 1;
    return at[n] == '\0' && (n == 10 || (n == 11 && *at == '-'));
}

static bool has_our_form(void)
{
    static const char *const tags[] = {"lock-", "latch-", "__READ__", "__WRIT__", "lease-"};
    for (int i = 0; i < PDK__N_TAGS; i++) {
        size_t n = strlen(tags[i]);
        if (has_stem() && strncmp(text + 26, tags[i], n) == 0 && is_number(text + 26 + n))
            return true;
    }
    return false;
}

static void prove_form(void)
{
    search_cases++;
    bool ours = pdk__name_parse(text).kind == PDK__NAME_OURS;
    PROVE(ours == has_our_form(), "ours are the names of our form");
    REACH(ours);
    REACH(!ours);
}

/* Each two bytes of it are others. */
static void try_other_bytes(void)
{
    static const char others[] = "09afgAF-_/lr\x01\x7f\xff";
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        for (size_t k = 0; k <= i; k++)
            for (size_t a = 0; a < sizeof others; a++)
                for (size_t b = 0; b < sizeof others; b++) {
                    char at_i = text[i], at_k = text[k];
                    text[i] = others[a];
                    text[k] = others[b];
                    prove_form();
                    text[k] = at_k;
                    text[i] = at_i;
                }
}

/* It has another byte more, or one less. */
static void try_other_lengths(void)
{
    char name[sizeof text];
    strcpy(name, text);
    for (size_t i = 0; i <= strlen(name); i++)
        for (int byte = 1; byte < 256; byte++) {
            sprintf(text, "%.*s%c%s", (int)i, name, byte, name + i);
            prove_form();
        }
    for (size_t i = 0; i < strlen(name); i++) {
        sprintf(text, "%.*s%s", (int)i, name, name + i + 1);
        prove_form();
    }
}

static void try_others(int number)
{
    for (int tag = 0; tag < PDK__N_TAGS; tag++) {
        pdk__name_format(text, 0x100001e4e830000, 0xfffffffe, tag);
        sprintf(text + strlen(text), "%010d", number);
        try_other_bytes();
        try_other_lengths();
    }
}

int main(void)
{
    search_show = show;
    try_sessions_and_attempts();
    try_numbers();
    try_others(17);
    try_others(-17);
    try_others(INT32_MIN);
    return search_end();
}
