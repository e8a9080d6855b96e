/* Names of nodes: any client may have given a child of a lock path any name. */
#include "lib/core/name.h"
#include "lib/core/order.h"
#include "test/fuzz/fuzz.h"
#include <stdbool.h>

const char pdk__fuzz_name[] = "name";

/* The header's rule, in other words: the number at the end of TEXT, as a server would have written it. */
static bool has_sequence(const char *text, int64_t *sequence)
{
    size_t length = strlen(text), digits = 0, hyphens = 0;
    for (size_t i = 0; i < length; i++)
        hyphens += text[i] == '-';
    bool uuid = strspn(text, "0123456789abcdef-") == length && length == 32 + hyphens && hyphens % 4 == 0;
    if (uuid && hyphens <= 4)
        return false;
    while (digits < length && strchr("0123456789", text[length - 1 - digits]) != NULL)
        digits++;
    size_t rest = length - digits;
    bool minus = rest > 1 && text[rest - 1] == '-' && strchr("-_", text[rest - 2]) != NULL;
    if (minus && (digits == 9 || digits == 10))
        *sequence = strtoll(text + rest - 1, NULL, 10);
    else if (digits >= 10)
        *sequence = strtoll(text + length - 10, NULL, 10);
    else
        return false;
    return true;
}

static const char *const tags[PDK__N_TAGS] = {"lock-", "latch-", "__READ__", "__WRIT__", "lease-"};

/* Is it of that attempt if and only if it is OURS, or the name of a member? */
static void check_owner(const char *text, int64_t session, uint32_t attempt, bool ours)
{
    char member[PDK__NAME_MAX];
    pdk__name_format_member(member, session, attempt);
    MUST(pdk__name_is(text, session, attempt) == (ours || strcmp(text, member) == 0));
}

static void check_kind(const char *text, struct pdk__name name)
{
    int64_t sequence = 0;
    MUST(has_sequence(text, &sequence) == (name.kind != PDK__NAME_JUNK));
    MUST(name.sequence == sequence);
    char stem[PDK__NAME_MAX];
    pdk__name_format(stem, name.session, name.attempt, name.tag);
    bool ours = name.kind == PDK__NAME_OURS;
    if (ours)
        MUST(strncmp(text, stem, strlen(stem)) == 0);
    else
        MUST(name.session == 0 && name.attempt == 0);
    check_owner(text, name.session, name.attempt, ours);
    check_owner(text, name.session ^ 1, name.attempt, false);
    check_owner(text, name.session, name.attempt ^ 1, false);
    if (name.kind == PDK__NAME_CURATOR)
        MUST(strstr(text, tags[name.tag]) != NULL);
}

/* A name that we ask for, with the number that a server appends, is recognised as ours. */
static void check_round_trip(struct bytes *b)
{
    uint64_t session = 0;
    uint32_t attempt = 0, sequence = 0;
    for (int i = 0; i < 8; i++)
        session = session << 8 | take(b);
    for (int i = 0; i < 4; i++)
        attempt = attempt << 8 | take(b);
    for (int i = 0; i < 4; i++)
        sequence = sequence << 8 | take(b);
    enum pdk__tag tag = (enum pdk__tag)(attempt % PDK__N_TAGS);
    char stem[PDK__NAME_MAX], text[PDK__NAME_MAX + 16];
    pdk__name_format(stem, (int64_t)session, attempt, tag);
    MUST(snprintf(text, sizeof text, "%s%010d", stem, (int32_t)sequence) < PDK__NAME_MAX);
    struct pdk__name name = pdk__name_parse(text);
    MUST(name.kind == PDK__NAME_OURS && name.session == (int64_t)session && name.attempt == attempt);
    MUST(name.sequence == (int32_t)sequence && name.tag == tag);
}

/* A glance finds all that the order needs. */
static void check_glance(const char *text)
{
    struct pdk__name whole = pdk__name_parse(text), name = pdk__name_glance(text);
    MUST(name.kind == (whole.kind == PDK__NAME_OURS ? PDK__NAME_CURATOR : whole.kind));
    MUST(name.sequence == whole.sequence && name.tag == whole.tag && name.session == 0 && name.attempt == 0);
    if (whole.kind == PDK__NAME_OURS)
        MUST(pdk__name_is(text, whole.session, whole.attempt));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = text_of(data, size);
    check_kind(text, pdk__name_parse(text));
    check_glance(text);
    free(text);
    check_round_trip(&(struct bytes){data, size});
    return 0;
}
