#include "lib/core/name.h"
#include "lib/assert.h"
#include <stdio.h>
#include <string.h>

static const struct {
    const char *text;
    size_t length;
} tags[PDK__N_TAGS] = {{"lock-", 5}, {"latch-", 6}, {"__READ__", 8}, {"__WRIT__", 8}, {"lease-", 6}};

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

/* The tag at the end of the PREFIX bytes before the sequence number; PDK__N_TAGS: none. */
static enum pdk__tag find_tag(const char *text, size_t prefix)
{
    int tag = 0;
    while (tag < PDK__N_TAGS && (prefix < tags[tag].length ||
                                 memcmp(text + prefix - tags[tag].length, tags[tag].text, tags[tag].length) != 0))
        tag++;
    return (enum pdk__tag)tag;
}

/* A UUID, with its hyphens (a member of Curator's double barrier) or without (a permit or member of kazoo's). One of a
 * hundred ends in ten digits, which are no number. */
static bool is_uuid(const char *text)
{
    size_t hex = 0, hyphens = 0, length = strlen(text);
    for (; *text != '\0'; text++) {
        hex += hex_value(*text) >= 0;
        hyphens += *text == '-';
    }
    return hex == 32 && hex + hyphens == length && (hyphens == 0 || hyphens == 4);
}

static bool ends_with(const char *text, size_t length, const char *end)
{
    size_t n = strlen(end);
    return length >= n && memcmp(text + length - n, end, n) == 0;
}

static bool is_kazoo(const char *text, size_t prefix)
{
    return ends_with(text, prefix, "__lock__") || ends_with(text, prefix, "__rlock__");
}

/* PREFIX gets the length of all that precedes the sequence number. */
static struct pdk__name glance(const char *text, size_t *prefix)
{
    struct pdk__name name = {.kind = PDK__NAME_JUNK};
    const char *sequence = find_sequence(text, strlen(text));
    if (sequence == NULL)
        return name;
    *prefix = (size_t)(sequence - text);
    enum pdk__tag tag = find_tag(text, *prefix);
    if (tag == PDK__N_TAGS && is_uuid(text))
        return name;
    name.sequence = read_sequence(sequence);
    assert(name.sequence > -INT64_C(10000000000) && name.sequence < INT64_C(10000000000));
    name.kind = tag < PDK__N_TAGS ? PDK__NAME_CURATOR : PDK__NAME_FOREIGN;
    name.tag = tag < PDK__N_TAGS ? tag : 0;
    name.kazoo = tag == PDK__N_TAGS && is_kazoo(text, *prefix);
    return name;
}

struct pdk__name pdk__name_glance(const char *text)
{
    size_t prefix;
    return glance(text, &prefix);
}

struct pdk__name pdk__name_parse(const char *text)
{
    size_t prefix;
    struct pdk__name name = glance(text, &prefix);
    if (name.kind == PDK__NAME_CURATOR && parse_stem(text, prefix - tags[name.tag].length, &name))
        name.kind = PDK__NAME_OURS;
    return name;
}

/* "_c_", 32 digits, "-lock-"; Curator's number is a UUID, with hyphens. */
static bool is_go(const char *text)
{
    int digits = 0;
    if (strncmp(text, "_c_", 3) != 0)
        return false;
    while (hex_value(text[3 + digits]) >= 0)
        digits++;
    return digits == 32 && strncmp(text + 3 + digits, "-lock-", 6) == 0;
}

const struct pdk__library *pdk__name_library(const char *text)
{
    static const struct pdk__library ours = {"", ""}, curator = {"Curator", ""},
                                     go = {"go-zookeeper", "which waits for ours"},
                                     kazoo = {"kazoo", "which does not wait for ours"},
                                     recipe = {"ZooKeeper's recipe", "which waits for ours"},
                                     unknown = {"an unknown recipe", "which may not wait for ours"};
    struct pdk__name name = pdk__name_parse(text);
    if (name.kind == PDK__NAME_OURS || name.kind == PDK__NAME_JUNK)
        return &ours;
    if (name.kind == PDK__NAME_CURATOR)
        return is_go(text) ? &go : &curator;
    if (name.kazoo)
        return &kazoo;
    return strncmp(text, "x-", 2) == 0 ? &recipe : &unknown;
}

void pdk__name_format(char out[PDK__NAME_MAX], int64_t session, uint32_t attempt, enum pdk__tag tag)
{
    assert(tag < PDK__N_TAGS);
    snprintf(out, PDK__NAME_MAX, "%016llx-%08lx-%s", (unsigned long long)session, (unsigned long)attempt,
             tags[tag].text);
}

void pdk__name_format_at(char out[PDK__NAME_MAX], int64_t session, uint32_t attempt, enum pdk__tag tag,
                         int64_t sequence)
{
    assert(sequence >= 0 && sequence <= INT32_MAX);
    pdk__name_format(out, session, attempt, tag);
    size_t length = strlen(out);
    snprintf(out + length, PDK__NAME_MAX - length, "%010ld", (long)sequence);
}

void pdk__name_format_member(char out[PDK__NAME_MAX], int64_t session, uint32_t attempt)
{
    snprintf(out, PDK__NAME_MAX, "%016llx-%08lx-member", (unsigned long long)session, (unsigned long)attempt);
}

/* Most names of a long listing are rejected by their first digits. */
bool pdk__name_is(const char *text, int64_t session, uint32_t attempt)
{
    struct pdk__name name;
    if (strnlen(text, STEM_LENGTH) < STEM_LENGTH || !parse_stem(text, STEM_LENGTH, &name))
        return false;
    return name.session == session && name.attempt == attempt &&
           (strcmp(text + STEM_LENGTH, "member") == 0 || pdk__name_parse(text).kind == PDK__NAME_OURS);
}
