#include "lib/core/host.h"
#include "test/lib/check.h"
#include <stdio.h>
#include <string.h>

/* The entries of HOSTS, as "name port" each, and what follows them. */
static void check_list(const char *hosts, const char *expected)
{
    struct pdk__host host;
    char text[200] = "";
    size_t n = 0;
    const char *at = hosts;
    while (pdk__host_next(&at, &host))
        n += (size_t)snprintf(text + n, sizeof text - n, "%.*s %.*s;", host.n_name, host.name, host.n_port, host.port);
    snprintf(text + n, sizeof text - n, "%s", at);
    CHECK_STR(text, expected);
}

static void an_entry_is_a_name_and_a_port(void)
{
    check_list("h1:2181", "h1 2181;");
    check_list("h1:2181,10.0.0.1:2182/chroot/b", "h1 2181;10.0.0.1 2182;/chroot/b");
    check_list(",h1:1,, h2:2,", "h1 1;h2 2;");
    check_list("", "");
    check_list("/a", "/a");
}

static void an_ipv6_address_may_have_brackets(void)
{
    check_list("[fd00::1]:2181", "fd00::1 2181;");
    check_list("::1:2181,[::1]:2182,h:1/c", "::1 2181;::1 2182;h 1;/c");
    check_list("[fe80::1%eth0]:1", "fe80::1%eth0 1;");
}

static void an_entry_without_a_port_is_all_name(void)
{
    check_list("h1,h2:1", "h1 ;h2 1;");
    check_list("[::1]", "[::1] ;");
    check_list("[::1]2181", "[::1]2181 ;");
    check_list("[::1,h:1", "[::1 ;h 1;");
    check_list(":1,h:", " 1;h ;");
}

static void the_entry_is_as_it_was_written(void)
{
    struct pdk__host host;
    const char *at = "[::1]:2181/c";
    CHECK(pdk__host_next(&at, &host));
    CHECK_EQ(host.n_entry, 10);
    CHECK(strncmp(host.entry, "[::1]:2181", 10) == 0);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"an entry is a name and a port", an_entry_is_a_name_and_a_port},
        {"an IPv6 address may have brackets", an_ipv6_address_may_have_brackets},
        {"an entry without a port is all name", an_entry_without_a_port_is_all_name},
        {"the entry is as it was written", the_entry_is_as_it_was_written},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "host", .tests = tests});
}
