#include "lib/core/name.h"
#include <stdio.h>
#include <string.h>

/* "<16>-<8>-lock-" */
enum { SESSION_DIGITS = 16, ATTEMPT_DIGITS = 8, PREFIX_LENGTH = SESSION_DIGITS + 1 + ATTEMPT_DIGITS + 6 };

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Lower case only: it is what we write, and a peer's name should not pass for ours by accident. */
static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_hex(const char *text, int digits, uint64_t *value)
{
    *value = 0;
    for (int i = 0; i < digits; i++) {
        int v = hex_value(text[i]);
        if (v < 0)
            return false;
        *value = *value << 4 | (uint64_t)v;
    }
    return true;
}

/*
 * Where the sequence number begins: the server writes %010d of a signed 32-bit counter, so ten digits, or a minus sign
 * and nine or ten. Exactly that many are taken: digits before them belong to the name that the client chose. A minus
 * sign counts as one only behind the separator that every recipe puts there ("lock--000000003", "__lock__-000000003"):
 * a child called "backup-123456789" is nobody's contender, and must not block everybody for ever.
 */
static const char *find_sequence(const char *text, size_t length)
{
    size_t digits = 0;
    while (digits < length && is_digit(text[length - 1 - digits]))
        digits++;
    size_t before = length - digits;
    bool negative = before >= 2 && text[before - 1] == '-' && (text[before - 2] == '-' || text[before - 2] == '_');
    if (negative && (digits == 9 || digits == 10))
        return text + before - 1;
    return digits >= 10 ? text + length - 10 : NULL;
}

static int64_t read_sequence(const char *text)
{
    bool negative = *text == '-';
    int64_t value = 0;
    for (const char *c = text + negative; *c != '\0'; c++)
        value = value * 10 + (*c - '0');
    return negative ? -value : value;
}

static bool parse_ours(const char *text, size_t prefix, struct pdk__name *name)
{
    uint64_t session, attempt;
    if (prefix != PREFIX_LENGTH || !parse_hex(text, SESSION_DIGITS, &session) || text[SESSION_DIGITS] != '-' ||
        !parse_hex(text + SESSION_DIGITS + 1, ATTEMPT_DIGITS, &attempt) ||
        memcmp(text + SESSION_DIGITS + 1 + ATTEMPT_DIGITS, "-lock-", 6) != 0)
        return false;
    name->session = (int64_t)session;
    name->attempt = (uint32_t)attempt;
    return true;
}

struct pdk__name pdk__name_parse(const char *text)
{
    struct pdk__name name = {.kind = PDK__NAME_JUNK};
    const char *sequence = find_sequence(text, strlen(text));
    if (sequence == NULL)
        return name;
    size_t prefix = (size_t)(sequence - text);
    name.sequence = read_sequence(sequence);
    if (parse_ours(text, prefix, &name))
        name.kind = PDK__NAME_OURS;
    else if (prefix >= 5 && memcmp(sequence - 5, "lock-", 5) == 0)
        name.kind = PDK__NAME_CURATOR;
    else
        name.kind = PDK__NAME_FOREIGN;
    return name;
}

void pdk__name_format(char out[PDK__NAME_MAX], int64_t session, uint32_t attempt)
{
    snprintf(out, PDK__NAME_MAX, "%016llx-%08lx-lock-", (unsigned long long)session, (unsigned long)attempt);
}

bool pdk__name_is(const char *text, int64_t session, uint32_t attempt)
{
    struct pdk__name name = pdk__name_parse(text);
    return name.kind == PDK__NAME_OURS && name.session == session && name.attempt == attempt;
}
