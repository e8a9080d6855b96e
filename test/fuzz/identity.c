/* The data of a lock's node, which any client may have written. */
#include "lib/identity.h"
#include "lib/alloc.h"
#include "test/fuzz/fuzz.h"
#include <stdbool.h>

const char pdk__fuzz_name[] = "identity";

static bool same(const struct pdk__identity *a, const struct pdk__identity *b)
{
    return strcmp(a->host, b->host) == 0 && strcmp(a->label, b->label) == 0 && a->pid == b->pid &&
           a->thread == b->thread && strcmp(a->machine, b->machine) == 0 && strcmp(a->under, b->under) == 0;
}

static void parse(struct pdk__identity *identity, const char *data, size_t size)
{
    memset(identity, 0xff, sizeof *identity);
    pdk__identity_parse(identity, data, size);
    MUST(memchr(identity->host, '\0', sizeof identity->host) != NULL);
    MUST(memchr(identity->label, '\0', sizeof identity->label) != NULL);
    MUST(memchr(identity->machine, '\0', sizeof identity->machine) != NULL);
    MUST(memchr(identity->under, '\0', sizeof identity->under) != NULL);
}

/* Through format and parse again; the text stays what it is when it is UTF-8, or is ASCII after the first time. */
static void check_round_trip(const struct pdk__identity *identity)
{
    struct pdk__identity once, twice;
    char *data = pdk__identity_format(identity);
    MUST(data != NULL);
    parse(&once, data, strlen(data));
    pdk__free(data);
    MUST(once.pid == identity->pid && once.thread == identity->thread);
    MUST(strlen(once.host) == strlen(identity->host) && strlen(once.label) == strlen(identity->label));
    data = pdk__identity_format(&once);
    MUST(data != NULL);
    parse(&twice, data, strlen(data));
    pdk__free(data);
    MUST(same(&once, &twice));
}

/* The bytes as a label, which comes from the command line. One that is cut may lack a part of its last character. */
static void check_label(const char *label)
{
    struct pdk__identity identity;
    pdk__identity_own(&identity, label);
    size_t length = strlen(identity.label), room = strnlen(label, sizeof identity.label - 1);
    MUST(strncmp(identity.label, label, length) == 0);
    MUST(length <= room && length + 3 >= room);
    check_round_trip(&identity);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pdk__identity identity;
    parse(&identity, (const char *)data, size);
    check_round_trip(&identity);
    char *label = text_of(data, size);
    check_label(label);
    free(label);
    return 0;
}
