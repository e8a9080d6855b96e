#include "lib/core/name.h"
#include "lib/assert.h"
#include <stdio.h>
#include <string.h>

static const char *const tags[PDK__N_TAGS] = {"lock-", "latch-", "__READ__", "__WRIT__", "lease-"};

/* "<16>-<8>-", before the tag */
enum { SESSION_DIGITS = 16, ATTEMPT_DIGITS = 8, STEM_LENGTH = SESSION_DIGITS + 1 + ATTEMPT_DIGITS + 1 };

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Lower case only: we write no other, and a peer's name should not pass for ours by accident. */
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
 * Where the sequence number begins. The server writes %010d of a signed 32-bit counter, so ten digits, or a minus sign
 * and nine or ten. Exactly that many are taken: digits before them belong to the name that the client chose. A minus
 * sign counts only after the separator that every recipe puts there ("lock--000000003", "__lock__-000000003"). A child
 * called "backup-123456789" is not a contender, and must not block the lock indefinitely.
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
    assert(is_digit(*text) || *text == '-');
    bool negative = *text == '-';
    int64_t value = 0;
    for (const char *c = text + negative; *c != '\0'; c++)
        value = value * 10 + (*c - '0');
    return negative ? -value : value;
}

/* The stem of LENGTH: all that precedes the tag. */
static bool parse_stem(const char *text, size_t length, struct pdk__name *name)
{
    uint64_t session, attempt;
    if (length != STEM_LENGTH || !parse_hex(text, SESSION_DIGITS, &session) || text[SESSION_DIGITS] != '-' ||
        !parse_hex(text + SESSION_DIGITS + 1, ATTEMPT_DIGITS, &attempt) || text[STEM_LENGTH - 1] != '-')
        return false;
    name->session = (int64_t)session;
    name->attempt = (uint32_t)attempt;
    return true;
}

static enum pdk__name_kind parse_prefix(const char *text, size_t prefix, struct pdk__name *name)
{
    for (int tag = 0; tag < PDK__N_TAGS; tag++) {
        size_t length = strlen(tags[tag]);
        if (prefix < length || memcmp(text + prefix - length, tags[tag], length) != 0)
            continue;
        name->tag = (enum pdk__tag)tag;
        return parse_stem(text, prefix - length, name) ? PDK__NAME_OURS : PDK__NAME_CURATOR;
    }
    return PDK__NAME_FOREIGN;
}

struct pdk__name pdk__name_parse(const char *text)
{
    struct pdk__name name = {.kind = PDK__NAME_JUNK};
    const char *sequence = find_sequence(text, strlen(text));
    if (sequence == NULL)
        return name;
    name.sequence = read_sequence(sequence);
    assert(name.sequence > -INT64_C(10000000000) && name.sequence < INT64_C(10000000000));
    name.kind = parse_prefix(text, (size_t)(sequence - text), &name);
    return name;
}

void pdk__name_format(char out[PDK__NAME_MAX], int64_t session, uint32_t attempt, enum pdk__tag tag)
{
    assert(tag < PDK__N_TAGS);
    snprintf(out, PDK__NAME_MAX, "%016llx-%08lx-%s", (unsigned long long)session, (unsigned long)attempt, tags[tag]);
}

void pdk__name_format_at(char out[PDK__NAME_MAX], int64_t session, uint32_t attempt, enum pdk__tag tag,
                         int64_t sequence)
{
    assert(sequence >= 0 && sequence <= INT32_MAX);
    pdk__name_format(out, session, attempt, tag);
    size_t length = strlen(out);
    snprintf(out + length, PDK__NAME_MAX - length, "%010ld", (long)sequence);
}

bool pdk__name_is(const char *text, int64_t session, uint32_t attempt)
{
    struct pdk__name name = pdk__name_parse(text);
    return name.kind == PDK__NAME_OURS && name.session == session && name.attempt == attempt;
}
