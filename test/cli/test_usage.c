/* What the command says when it is not used as it should be, and when there is nobody to speak to. */
#include "test/cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct cli c;

/* Refused with STATUS and one line that names WORD, and nothing is on the server that was not there before. */
static void refused(int line, int status, const char *word, const char *const *arguments)
{
    int before = cli_nodes();
    int got = cli_run(&c, arguments);
    if (got != status)
        pdk__test_fail(__FILE__, line, "status %d, not %d: %s", got, status, c.err);
    if (!cli_one_line(&c) || strstr(c.err, word) == NULL)
        pdk__test_fail(__FILE__, line, "not one line about '%s': %s", word, c.err);
    CHECK_STR(c.out, "");
    CHECK_EQ(cli_nodes(), before);
}

#define REFUSED(status, word, ...) refused(__LINE__, (status), (word), ARGS(__VA_ARGS__))

static void unknown_command(void) { REFUSED(64, "frobnicate", "frobnicate"); }

static void unknown_option(void)
{
    REFUSED(64, "--frobnicate", "lock", "--frobnicate", "/a", "true");
    REFUSED(64, "-Q", "lock", "-Q", "/a", "true");
    REFUSED(64, "-Q", "hold", "-Q", "/a");
    REFUSED(64, "-Q", "ls", "-Q", "/a");
    REFUSED(64, "-Q", "server", "-Q");
    REFUSED(64, "--nb=3", "lock", "--nb=3", "/a", "true");
}

static void missing_words(void)
{
    REFUSED(64, "path", "lock");
    REFUSED(64, "command", "lock", "/a");
    REFUSED(64, "command", "lock", "/a", "--");
    REFUSED(64, "--wait", "lock", "--wait");
    REFUSED(64, "-c", "lock", "/a", "-c");
    REFUSED(64, "not both", "lock", "-c", "true", "/a", "true");
    REFUSED(64, "path", "hold");
    REFUSED(64, "path", "ls");
    REFUSED(64, "path", "break");
    REFUSED(64, "path", "elect");
    REFUSED(64, "command", "elect", "/a");
    REFUSED(64, "not both", "elect", "--keep", "--once", "/a", "true");
    REFUSED(64, "/b", "break", "/a", "/b");
}

static void relative_path(void)
{
    REFUSED(64, "'a'", "lock", "a", "true");
    REFUSED(64, "'a'", "hold", "a");
    REFUSED(64, "'a'", "ls", "a");
    REFUSED(64, "'a'", "break", "a");
    REFUSED(64, "'a'", "elect", "a", "true");
}

static void bad_path(void)
{
    REFUSED(64, "/a//b", "lock", "/a//b", "true");
    REFUSED(64, "/", "lock", "/", "true");
    REFUSED(64, "/a/../b", "hold", "/a/../b");
    REFUSED(64, "/a/", "ls", "/a/");
}

static void no_number(void)
{
    REFUSED(64, "soon", "lock", "-w", "soon", "/a", "true");
    REFUSED(64, "nan", "lock", "-w", "nan", "/a", "true");
    REFUSED(64, "-1", "lock", "-w", "-1", "/a", "true");
    REFUSED(64, "256", "lock", "-E", "256", "/a", "true");
    REFUSED(64, "x", "lock", "--lost-exit-code", "x", "/a", "true");
    REFUSED(64, "0", "lock", "--session-timeout", "0", "/a", "true");
    REFUSED(64, "1e9", "lock", "--connect-timeout", "1e9", "/a", "true");
    REFUSED(64, "NOSUCH", "lock", "--on-lost=NOSUCH", "/a", "true");
    REFUSED(64, "--on-revoke", "elect", "--on-revoke=NOSUCH", "/a", "true");
    REFUSED(64, "--session-timeout of 15 s", "lock", "--session-timeout", "10", "--kill-after", "3", "/a", "true");
    REFUSED(64, "many", "server", "--port", "many");
}

static void bad_credentials(void)
{
    REFUSED(64, "--auth", "lock", "--auth", "digest", "/a", "true");
    REFUSED(64, "--acl", "lock", "--acl", "world:anyone:rx", "/a", "true");
    REFUSED(64, "--acl", "lock", "--acl", "world:anyone", "/a", "true");
    REFUSED(64, "/nonexistent", "lock", "--auth-file", "/nonexistent", "/a", "true");
}

static void shared(void) { REFUSED(64, "shared", "lock", "-s", "/a", "true"); }

static void unknown_host(void)
{
    REFUSED(69, "no.such.host.invalid", "lock", "-z", "no.such.host.invalid:2181", "/a", "true");
    REFUSED(69, "no.such.host.invalid", "ls", "-z", "no.such.host.invalid:2181", "/a");
}

static void unreachable(void)
{
    REFUSED(69, "127.0.0.1:1", "lock", "-z", "127.0.0.1:1", "--connect-timeout", ".3", "/a", "true");
    REFUSED(69, "127.0.0.1:1", "lock", "-z", "127.0.0.1:1", "-w", ".3", "/a", "true");
    REFUSED(69, "127.0.0.1:1", "hold", "-z", "127.0.0.1:1", "-w", ".3", "/a");
    REFUSED(69, "127.0.0.1:1", "elect", "-z", "127.0.0.1:1", "--connect-timeout", ".3", "/a", "true");
    REFUSED(69, "127.0.0.1:1", "break", "-z", "127.0.0.1:1", "--connect-timeout", ".3", "/a");
    REFUSED(69, "127.0.0.1:1", "ls", "-z", "127.0.0.1:1", "--connect-timeout", ".3", "/a");
}

static void no_port(void)
{
    REFUSED(64, "localhost", "lock", "-z", "localhost", "/a", "true");
    REFUSED(64, "localhost", "ls", "-z", "localhost", "/a");
}

static void chroot_missing(void)
{
    char hosts[128];
    snprintf(hosts, sizeof hosts, "%s/no/such", getenv("PADDOCK_HOSTS"));
    REFUSED(69, "/no/such", "lock", "-z", hosts, "/a", "true");
    snprintf(hosts, sizeof hosts, "%s%s", getenv("PADDOCK_HOSTS"), cli_path("chroot"));
    CHECK_EQ(cli_run(&c, ARGS("lock", "-z", hosts, "/a", "sh", "-c", "echo $PADDOCK_PATH")), 0);
    CHECK_STR(c.out, "/a\n");
}

static void no_ensemble_given(void)
{
    char *hosts = strdup(getenv("PADDOCK_HOSTS"));
    unsetenv("PADDOCK_HOSTS");
    REFUSED(64, "PADDOCK_HOSTS", "lock", "/a", "true");
    setenv("PADDOCK_HOSTS", hosts, 1);
    free(hosts);
}

static void not_permitted(void)
{
    char path[64];
    snprintf(path, sizeof path, "%s", cli_path("private"));
    cli_make_private(path);
    REFUSED(77, path, "lock", path, "true");
    REFUSED(77, path, "lock", "-n", path, "true");
    REFUSED(77, path, "lock", "--auth", "digest:keeper:wrong", path, "true");
    REFUSED(77, path, "hold", path);
    REFUSED(77, path, "ls", path);
    CHECK_EQ(cli_run(&c, ARGS("lock", "--auth", "digest:keeper:secret", path, "true")), 0);
    setenv("PADDOCK_AUTH", "digest:keeper:secret", 1);
    CHECK_EQ(cli_run(&c, ARGS("lock", path, "true")), 0);
    unsetenv("PADDOCK_AUTH");
    char file[] = "/tmp/paddock-cli-XXXXXX";
    int fd = mkstemp(file);
    CHECK_EQ(dprintf(fd, "# who we are\n\ndigest:keeper:secret\n"), 35);
    int status = cli_run(&c, ARGS("lock", "--auth-file", file, path, "true"));
    CHECK_EQ(dprintf(fd, "nonsense\n"), 9);
    REFUSED(64, "line 4", "lock", "--auth-file", file, path, "true");
    close(fd);
    unlink(file);
    CHECK_EQ(status, 0);
}

static void fits(const char *const *arguments)
{
    CHECK_EQ(cli_run(&c, arguments), 0);
    CHECK_STR(c.err, "");
    int lines = 0;
    for (const char *at = c.out; *at != '\0'; at += strcspn(at, "\n") + 1, lines++)
        CHECK(strcspn(at, "\n") <= 80);
    CHECK(lines > 5);
    CHECK(lines <= 24);
}

static void help_fits(void)
{
    fits(ARGS("--help"));
    fits(ARGS("lock", "--help"));
    fits(ARGS("hold", "--help"));
    fits(ARGS("ls", "--help"));
    fits(ARGS("break", "--help"));
    fits(ARGS("elect", "--help"));
    fits(ARGS("server", "--help"));
}

static void version(void)
{
    CHECK_EQ(cli_run(&c, ARGS("--version")), 0);
    CHECK(strncmp(c.out, "paddock ", 8) == 0);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-V")), 0);
    CHECK(strncmp(c.out, "paddock ", 8) == 0);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"an unknown command is told in one line, 64", unknown_command},
        {"an unknown option is told in one line, 64", unknown_option},
        {"a missing word is told in one line, 64", missing_words},
        {"a relative path is told in one line, 64", relative_path},
        {"a bad path is told in one line, 64, and leaves nothing", bad_path},
        {"a value that is no number is told in one line, 64", no_number},
        {"credentials that are none are told in one line, 64", bad_credentials},
        {"shared locks are told to be missing, 64", shared},
        {"an unknown host is told in one line, 69", unknown_host},
        {"an ensemble that does not answer is told in one line, 69", unreachable},
        {"a host without a port is told in one line, 64", no_port},
        {"a chroot is made, but not where its parent is missing: 69", chroot_missing},
        {"no ensemble at all is told in one line, 64", no_ensemble_given},
        {"a path without permission is told in one line, 77, and credentials help", not_permitted},
        {"each help fits a screen", help_fits},
        {"the version is told", version},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "cli/usage", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
