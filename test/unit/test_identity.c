#include "lib/alloc.h"
#include "lib/identity.h"
#include "test/lib/check.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct pdk__identity parse(const char *data)
{
    struct pdk__identity identity;
    pdk__identity_parse(&identity, data, strlen(data));
    return identity;
}

static void an_identity_comes_back_as_it_went(void)
{
    struct pdk__identity mine;
    pdk__identity_own(&mine, "nightly \"backup\"\n");
    char *data = pdk__identity_format(&mine);
    struct pdk__identity read = parse(data);
    CHECK_STR(read.host, mine.host);
    CHECK_STR(read.label, "nightly \"backup\"\n");
    CHECK_EQ(read.pid, getpid());
    CHECK(read.thread > 0);
    pdk__free(data);
}

static void a_label_that_is_not_utf8_loses_only_what_is_not_ascii(void)
{
    struct pdk__identity mine;
    pdk__identity_own(&mine, "caf\xe9");
    char *data = pdk__identity_format(&mine);
    CHECK_STR(parse(data).label, "caf?");
    pdk__free(data);
}

static void a_label_too_long_is_cut(void)
{
    static char label[2 * PDK__LABEL_MAX];
    memset(label, 'x', sizeof label - 1);
    struct pdk__identity mine;
    pdk__identity_own(&mine, label);
    CHECK_EQ(strlen(mine.label), PDK__LABEL_MAX - 1);
}

/* The part of END that is kept at the end of a label, where two bytes fit. */
static const char *cut_label(const char *end)
{
    static struct pdk__identity mine;
    static char label[2 * PDK__LABEL_MAX];
    memset(label, 'x', PDK__LABEL_MAX);
    strcpy(label + PDK__LABEL_MAX - 3, end);
    pdk__identity_own(&mine, label);
    return mine.label + PDK__LABEL_MAX - 3;
}

static void a_text_too_long_ends_with_a_whole_character(void)
{
    CHECK_STR(cut_label("\xc3\xa9"), "\xc3\xa9"); /* it fits */
    CHECK_STR(cut_label("x\xc3\xa9"), "x");       /* two bytes */
    CHECK_STR(cut_label("\xe2\x82\xac"), "");     /* three */
    CHECK_STR(cut_label("\xf0\x9f\x94\x92"), ""); /* four */
    CHECK_STR(cut_label("x\xc3"), "x\xc3");       /* no character */
    CHECK_STR(cut_label("x\xc3x"), "x\xc3");
    CHECK_STR(cut_label("\x80\x80\x80\x80\x80"), "\x80\x80");
    CHECK_STR(cut_label("\xc3\xa9\x80\x80"), "\xc3\xa9");
}

static void a_text_of_another_client_is_cut_the_same_way(void)
{
    char data[1000] = "{\"host\":\"";
    for (int i = 0; i < 400; i++)
        strcat(data, "\xc3\xa9");
    strcat(data, "\"}");
    struct pdk__identity identity = parse(data);
    CHECK_EQ(strlen(identity.host), PDK__HOST_MAX - 2);
}

static void an_identity_tells_the_machine_and_the_node_it_runs_under(void)
{
    static const char node[] = "0000000000001000-0000002a-lock-0000000005";
    struct pdk__identity mine;
    char other[PDK__MACHINE_MAX];
    pdk__identity_own(&mine, "");
    pdk__identity_machine(mine.machine);
    pdk__identity_machine(other);
    CHECK_EQ(strlen(mine.machine), 16);
    CHECK_STR(mine.machine, other);
    setenv("PADDOCK_NODE", node, 1);
    pdk__identity_under(mine.under);
    char *data = pdk__identity_format(&mine);
    CHECK_STR(parse(data).under, node);
    CHECK_STR(parse(data).machine, other);
    pdk__free(data);
    setenv("PADDOCK_NODE", "anything\nelse-0000000000", 1);
    pdk__identity_under(mine.under);
    CHECK_STR(mine.under, "");
    unsetenv("PADDOCK_NODE");
}

static void a_process_of_this_machine_is_dead_when_it_has_ended(void)
{
    struct pdk__identity identity;
    pdk__identity_own(&identity, "");
    pdk__identity_machine(identity.machine);
    CHECK(!pdk__identity_dead(&identity));
    pid_t child = pdk__test_fork();
    if (child == 0)
        _exit(0);
    CHECK_EQ(pdk__test_wait(child), 0);
    identity.pid = child;
    CHECK(pdk__identity_dead(&identity));
    struct pdk__identity elsewhere = identity;
    elsewhere.machine[0] ^= 1;
    CHECK(!pdk__identity_dead(&elsewhere));
    elsewhere.machine[0] = '\0';
    CHECK(!pdk__identity_dead(&elsewhere));
    elsewhere = identity;
    strcpy(elsewhere.host, "a-host-of-another-name");
    CHECK(!pdk__identity_dead(&elsewhere));
    identity.pid = INT64_C(0x100000000) + child; /* as a stranger may write it */
    CHECK(!pdk__identity_dead(&identity));
}

static void curators_bare_address_is_a_host(void)
{
    CHECK_STR(parse("127.0.0.1").host, "127.0.0.1");
    CHECK_STR(parse("fe80::1%eth0").host, "fe80::1%eth0");
}

static void other_data_tells_nothing(void)
{
    static const char *const data[] = {"",          "__REVOKE__ now", "{\"host\":",       "[1,2]", "{\"host\":7}",
                                       "two words", "\x01\x02",       "{\"a\":1,\"a\":2}"};
    for (size_t i = 0; i < sizeof data / sizeof *data; i++) {
        struct pdk__identity identity = parse(data[i]);
        CHECK_STR(identity.host, "");
        CHECK_STR(identity.label, "");
        CHECK_EQ(identity.pid, 0);
    }
    struct pdk__identity identity;
    pdk__identity_parse(&identity, "ab\0cd", 5);
    CHECK_STR(identity.host, "");
}

static void a_host_too_long_is_cut_not_overrun(void)
{
    static char data[3000];
    memset(data, 'h', sizeof data - 1);
    CHECK_STR(parse(data).host, "");
    memcpy(data, "{\"host\":\"", 9);
    memcpy(data + sizeof data - 3, "\"}", 3);
    CHECK_EQ(strlen(parse(data).host), PDK__HOST_MAX - 1);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"an identity tells the machine, and the node that it runs under",
         an_identity_tells_the_machine_and_the_node_it_runs_under},
        {"a process of this machine is dead when it has ended", a_process_of_this_machine_is_dead_when_it_has_ended},
        {"an identity comes back as it went", an_identity_comes_back_as_it_went},
        {"a label that is not UTF-8 loses only what is not ASCII",
         a_label_that_is_not_utf8_loses_only_what_is_not_ascii},
        {"a label too long is cut", a_label_too_long_is_cut},
        {"a text too long ends with a whole character", a_text_too_long_ends_with_a_whole_character},
        {"so does one that another client has written", a_text_of_another_client_is_cut_the_same_way},
        {"Curator's bare address is a host", curators_bare_address_is_a_host},
        {"other data tells nothing", other_data_tells_nothing},
        {"a host too long is cut, not overrun", a_host_too_long_is_cut_not_overrun},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "identity", .tests = tests});
}
