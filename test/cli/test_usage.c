/* The command's messages when it is not used as it should be, and when no server can be reached. */
#include "test/cli/cli.h"

#include <paddock/secure.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct program c;

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
    CHECK(cli_nodes() <= before); /* those of sessions that have ended may go meanwhile */
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
    REFUSED(64, "no such option: '-Z'", "lock", "--quiet", "-Zn", "/a", "true");
    REFUSED(64, "no such option: '-Z'", "lock", "--connect-timeout=3", "-nZx", "/a", "true");
    REFUSED(64, "option '-w'", "lock", "--quiet", "-nw");
    REFUSED(64, "no such option: '-Z'", "--quiet", "-Zv", "lock", "/a", "true");
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
    REFUSED(64, "'..'", "hold", "/a/../b");
    REFUSED(64, "'.'", "hold", "/./a");
    REFUSED(64, "not a valid lock path", "hold", "/a\001b");
}

static void bad_characters(void)
{
    static const char *const bad[] = {"/a\001b", "/a\x7f", "/a/b\n", "/\x1b/a"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        REFUSED(64, "not a valid lock path", "lock", bad[i], "true");
        REFUSED(64, "not a valid lock path", "elect", bad[i], "true");
        REFUSED(64, "not a valid lock path", "hold", bad[i]);
        REFUSED(64, "not a valid lock path", "ls", bad[i]);
        REFUSED(64, "not a valid lock path", "break", "--json", bad[i]);
    }
}

/* The library takes these. A server refuses to create a node there, and a look at it finds no node. */
static void refused_by_servers(void)
{
    static const char *const paths[] = {"/a\xff",        "/a\xc3",           "/\xc0\xaf",     "/a\xe2\x82/b",
                                        "/a\xc2\x9b",    "/a\xc2\x85",       "/\xed\xa0\x80", "/a\xef\xbf\xbd",
                                        "/\xee\x80\x80", "/\xf0\x9f\x94\x92"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        REFUSED(70, "bad arguments: a character of the path", "lock", paths[i], "true");
        CHECK(strstr(c.err, "\xc2\x9b") == NULL && strchr(c.err, '\xff') == NULL);
        CHECK_EQ(cli_run(&c, ARGS("ls", paths[i])), 0);
        CHECK(strstr(c.err, "there is no such path") != NULL);
        CHECK(strstr(c.err, "\xc2\x9b") == NULL && strchr(c.err, '\xff') == NULL);
        CHECK_EQ(cli_run(&c, ARGS("ls", "--json", paths[i])), 0);
        CHECK(strstr(c.out, "\"path\"") != NULL && strstr(c.out, "\xc2") == NULL);
        CHECK_EQ(cli_run(&c, ARGS("break", "--json", paths[i])), 66);
        CHECK(strstr(c.out, "\"path\"") != NULL && strstr(c.out, "\xc2") == NULL);
    }
}

static void good_characters(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s \xc3\xbc\xe2\x82\xac", cli_path("good"));
    CHECK_EQ(cli_run(&c, ARGS("lock", path, "true")), 0);
    CHECK_QUIET(&c);
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
}

static void root(void)
{
    REFUSED(64, "as /locks/nightly", "lock", "/", "true");
    REFUSED(64, "as /locks/nightly", "ls", "/");
    REFUSED(64, "as /locks/nightly", "break", "//");
}

static void trailing_slash(void)
{
    REFUSED(64, "does not end with '/'", "ls", "/a/");
    REFUSED(64, "does not end with '/'", "lock", "/a/b//", "true");
}

static void recursion(void)
{
    REFUSED(64, "paddock top", "ls", "-r", "--watch", "/a");
    REFUSED(64, "one path at a time", "ls", "-R", "/a", "/b");
}

/* A path longer than any buffer for a message, and than any lock's may be. */
static void long_path(void)
{
    static char path[5000];
    memset(path, 'a', sizeof path - 1);
    path[0] = '/';
    REFUSED(64, "not a valid lock path", "lock", path, "true");
    REFUSED(64, "not a valid lock path", "hold", path);
    REFUSED(64, "not a valid lock path", "ls", path);
    memmove(path, "relative", 8);
    REFUSED(64, "does not\n", "lock", path, "true");
}

static void long_texts(void)
{
    static char text[65538];
    memset(text, 'x', sizeof text - 1);
    REFUSED(64, "--id takes at most 65536 bytes", "elect", "--id", text, "/a", "true");
    REFUSED(64, "--data takes at most 65536 bytes", "lock", "--data", text, "/a", "true");
    REFUSED(64, "--label takes at most 255 bytes", "lock", "--label", text, "/a", "true");
}

static int times(const char *text, const char *word)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += strlen(word))
        n++;
    return n;
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
    REFUSED(64, "TLS needs --tls-ca, --tls-cert and --tls-key", "lock", "--tls-ca", "a", "/a", "true");
    REFUSED(64, "either TLS or SASL", "ls", "--tls-ca", "a", "--sasl-user", "me", "/a");
    REFUSED(64, "/nonexistent", "lock", "--sasl-user", "me", "--password-file", "/nonexistent", "/a", "true");
    if (!pdk_has(PDK_TLS))
        REFUSED(64, "built without TLS", "ls", "--tls-ca", "a", "--tls-cert", "b", "--tls-key", "c", "/a");
    if (!pdk_has(PDK_SASL))
        REFUSED(64, "built without SASL", "ls", "--sasl-user", "me", "/a");
}

/* Without the user or the files that they belong to, from an option or the environment. */
static void idle_credentials(void)
{
    REFUSED(64, "--password-file needs --sasl-user", "lock", "--password-file", "/dev/null", "/a", "true");
    REFUSED(64, "--sasl-mechanism needs --sasl-user", "ls", "--sasl-mechanism", "DIGEST-MD5", "/a");
    REFUSED(64, "--sasl-mechanism needs --sasl-user", "ls", "--tls-ca", "a", "--sasl-mechanism", "PLAIN", "/a");
    REFUSED(64, "--tls-any-name needs --tls-ca", "hold", "--tls-any-name", "/a");
    REFUSED(64, "--tls-any-name needs --tls-ca", "ls", "--sasl-user", "me", "--tls-any-name", "/a");
    REFUSED(64, "--tls-any-name needs --tls-ca", "--tls-any-name", "ls", "/a");
    setenv("PADDOCK_PASSWORD", "secret", 1);
    CHECK_EQ(cli_run(&c, ARGS("ls", "/a")), 0);
    unsetenv("PADDOCK_PASSWORD");
    setenv("PADDOCK_SASL_USER", "me", 1);
    REFUSED(64, "/nonexistent", "ls", "--sasl-mechanism", "PLAIN", "--password-file", "/nonexistent", "/a");
    unsetenv("PADDOCK_SASL_USER");
}

/* Only the servers know which schemes there are. */
static void unknown_scheme(void)
{
    REFUSED(64, "the servers do not take the ACL", "lock", "--acl", "kerberoz:someone:rwcda", cli_path("scheme"),
            "true");
    REFUSED(64, "the servers do not take the ACL", "hold", "--acl", "auth::rwcda", cli_path("scheme"));
}

static void before_the_command(void)
{
    char hosts[128];
    snprintf(hosts, sizeof hosts, "%s", getenv("PADDOCK_HOSTS"));
    unsetenv("PADDOCK_HOSTS");
    const char *path = cli_path("before");
    CHECK_EQ(cli_run(&c, ARGS("-z", hosts, "-v", "lock", "-n", path, "echo", "ran")), 0);
    CHECK_STR(c.out, "ran\n");
    CHECK(strstr(c.err, "got the lock") != NULL);
    CHECK_EQ(cli_run(&c, ARGS("--session-timeout=5", "--hosts", hosts, "ls", path)), 0);
    setenv("PADDOCK_HOSTS", hosts, 1);
    REFUSED(64, "-n", "-n", "lock", "/a", "true");
    REFUSED(64, "--frobnicate", "--frobnicate", "lock", "/a", "true");
    REFUSED(64, "no command", "-z", hosts);
    REFUSED(64, "frobnicate", "-z", hosts, "frobnicate");
    CHECK_EQ(cli_run(&c, ARGS("-z", hosts, "--help")), 0);
}

/* Among letters in one word, too. */
static void help_before_the_command(void)
{
    const char *const help[] = {"-h", "-hz", "-hv", "-qh", "--he"}, *const version[] = {"-V", "-Vq", "-vV",
                                                                                        "--version"};
    for (size_t i = 0; i < sizeof help / sizeof *help; i++) {
        CHECK_EQ(cli_run(&c, ARGS(help[i])), 0);
        CHECK(strstr(c.out, "Usage: paddock COMMAND") == c.out);
    }
    for (size_t i = 0; i < sizeof version / sizeof *version; i++) {
        CHECK_EQ(cli_run(&c, ARGS(version[i], "lock")), 0);
        CHECK(strstr(c.out, "paddock ") == c.out && strstr(c.out, "Usage") == NULL);
    }
    CHECK_EQ(cli_run(&c, ARGS("-z", "localhost:1", "-hv", "nothing")), 0);
}

static void help_of_a_command(void)
{
    char said[8192];
    CHECK_EQ(cli_run(&c, ARGS("lock", "--help")), 0);
    snprintf(said, sizeof said, "%s", c.out);
    CHECK_EQ(cli_run(&c, ARGS("help", "lock")), 0);
    CHECK_STR(c.out, said);
    CHECK_EQ(cli_run(&c, ARGS("help")), 0);
    CHECK(strstr(c.out, "Usage: paddock COMMAND") == c.out);
    REFUSED(64, "frobnicate", "help", "frobnicate");
}

static void closed_output(void)
{
    const char *script = "exec \"$0\" lock --help >&-";
    CHECK_EQ(program_run(&c, ARGS("sh", "-c", script, program_built("uninstalled/paddock")), PROGRAM_ERRORS), 70);
    CHECK(strstr(c.err, "cannot write to standard output") != NULL);
}

static void endless_credentials(void) { REFUSED(64, "/dev/zero", "lock", "--auth-file", "/dev/zero", "/a", "true"); }

/* Its "--" ends no others: the options of the sub-command are still options. */
static void dashes_before_the_command(void)
{
    CHECK_EQ(cli_run(&c, ARGS("-q", "--", "lock", "-n", cli_path("dashes"), "echo", "ran")), 0);
    CHECK_STR(c.out, "ran\n");
    CHECK_EQ(cli_run(&c, ARGS("--", "lock", "-n", cli_path("dashes"), "--", "echo", "ran")), 0);
    CHECK_STR(c.out, "ran\n");
    REFUSED(64, "'--' is no HOST:PORT", "-z", "--", "lock", "-n", "/a", "true");
    REFUSED(64, "no command", "-q", "--");
    REFUSED(64, "no command", "--");
}

static void elect_by_shell(void)
{
    CHECK_EQ(cli_run(&c, ARGS("elect", "-c", "echo $PADDOCK_PATH; exit 3", cli_path("elect-c"))), 3);
    CHECK(strstr(c.out, "elect-c") != NULL);
    CHECK_EQ(cli_run(&c, ARGS("elect", cli_path("elect-c"), "-c", "exit 4")), 4);
    REFUSED(64, "not both", "elect", "-c", "true", "/a", "true");
}

static void shared(void)
{
    REFUSED(64, "--lock-delay", "lock", "-x", "--lock-delay", "1", "/a", "true");
    REFUSED(64, "--lock-delay", "hold", "-s", "--lock-delay", "1", "/a");
    REFUSED(64, "--lock-delay", "lock", "--limit", "3", "--lock-delay", "1", "/a", "true");
    REFUSED(64, "--look-ahead does not go with --limit", "lock", "--limit", "3", "--look-ahead", "/a", "true");
    REFUSED(64, "--limit goes with neither -s nor -x", "lock", "-s", "--limit", "3", "/a", "true");
    REFUSED(64, "--limit-from goes with neither -s nor -x", "lock", "-s", "--limit-from", "/n", "/a", "true");
    REFUSED(64, "nor --limit-from\n", "lock", "--limit-from", "/n", "--lock-delay", "1", "/a", "true");
}

static void several(void)
{
    REFUSED(64, "-l goes with neither -s, -x, --limit nor ", "lock", "--limit", "3", "-l", "/b", "/a", "true");
    REFUSED(64, "-l goes with neither -s, -x, --limit-from nor ", "hold", "--limit-from", "/n", "-l", "/b", "/a");
}

static void permits(void)
{
    REFUSED(64, "--limit", "lock", "-N", "2", "/a", "true");
    REFUSED(64, "--limit", "lock", "-N", "4", "--limit", "3", "/a", "true");
    REFUSED(64, "from 1 to 1000", "lock", "--limit", "0", "/a", "true");
    REFUSED(64, "from 1 to 1000", "hold", "--limit", "1001", "/a");
    REFUSED(64, "--limit-from takes the path of a node, not 'x'", "lock", "--limit-from", "x", "/a", "true");
    REFUSED(64, "--limit-from takes the path of a node, not '/n/'", "hold", "--limit-from", "/n/", "/a");
}

/* A name with an empty label: no name server is asked, which could be slow. */
static void unknown_host(void)
{
    REFUSED(69, "no-such-host..invalid", "lock", "-z", "no-such-host..invalid:2181", "/a", "true");
    REFUSED(69, "no-such-host..invalid", "ls", "-z", "no-such-host..invalid:2181", "/a");
    REFUSED(69, "unknown host 'no-such-host..invalid'", "lock", "--connect-timeout", ".5", "-z",
            "127.0.0.1:1,no-such-host..invalid:2181", "/a", "true");
    REFUSED(69, "unknown host 'no-such-host..invalid'", "ls", "--connect-timeout", ".5", "-z",
            "127.0.0.1:1,no-such-host..invalid:2181", "/a");
}

/* Both unknown hosts are named, and the server that refuses, too; with -v also where another server is there. */
static void some_unknown_hosts(void)
{
    char hosts[200], path[200];
    snprintf(hosts, sizeof hosts, "a..invalid:1,%s,b..invalid:2", getenv("PADDOCK_HOSTS"));
    snprintf(path, sizeof path, "%s", cli_path("unknown"));
    CHECK_EQ(cli_run(&c, ARGS("lock", "-v", "-z", hosts, path, "true")), 0);
    CHECK(strstr(c.err, "warning: session: unknown host 'a..invalid', unknown host 'b..invalid'") != NULL);
    REFUSED(69, "unknown host 'a..invalid', unknown host 'b..invalid'", "ls", "-z", "a..invalid:1,b..invalid:2", "/a");
    REFUSED(69, "(last: connection refused by 127.0.0.1:1; unknown host 'a..invalid')", "ls", "--connect-timeout", "2",
            "-z", "127.0.0.1:1,a..invalid:2", "/a");
}

static void brackets(void)
{
    REFUSED(69, "within 0.3 s", "ls", "--connect-timeout", ".3", "-z", "[::1]:1/chroot", "/a");
    REFUSED(64, "'[::1]' is no HOST:PORT", "ls", "-z", "127.0.0.1:1,[::1]", "/a");
    REFUSED(64, "'[::1]:0' is no HOST:PORT", "ls", "-z", "[::1]:0/chroot", "/a");
}

/* The number of descriptors decides which resource runs out. The names are never to blame. */
static void few_descriptors(void)
{
    static const char script[] =
        "for n in 8 9 10 11 12 13 14; do (ulimit -n $n; exec \"$PADDOCK_BUILDDIR/uninstalled/paddock\" lock "
        "-z 127.0.0.1:1 --connect-timeout .3 /a true); done; true";
    CHECK_EQ(cli_run(&c, ARGS("lock", cli_path("few"), "sh", "-c", script)), 0);
    CHECK(strstr(c.err, "refused a thread or a descriptor") != NULL);
    CHECK(strstr(c.err, "cannot be resolved") == NULL);
}

static void unreachable(void)
{
    REFUSED(69, "127.0.0.1:1", "lock", "-z", "127.0.0.1:1", "--connect-timeout", ".3", "/a", "true");
    REFUSED(69, "127.0.0.1:1", "lock", "-z", "127.0.0.1:1", "-w", ".3", "/a", "true");
    REFUSED(69, "127.0.0.1:1", "hold", "-z", "127.0.0.1:1", "-w", ".3", "/a");
    REFUSED(69, "127.0.0.1:1", "elect", "-z", "127.0.0.1:1", "--connect-timeout", ".3", "/a", "true");
    REFUSED(69, "127.0.0.1:1", "break", "-z", "127.0.0.1:1", "--connect-timeout", ".3", "/a");
    REFUSED(69, "127.0.0.1:1", "ls", "-z", "127.0.0.1:1", "--connect-timeout", ".3", "/a");
    REFUSED(69, "within 0.3 s", "ls", "-z", "127.0.0.1:1", "--connect-timeout", ".3", "/a");
    REFUSED(69, "within 2 s (last: connection refused by 127.0.0.1:1)", "ls", "-z", "127.0.0.1:1", "--connect-timeout",
            "2", "/a");
    REFUSED(69, "within 2 s (last: connection refused by 127.0.0.1:1)", "lock", "-z", "127.0.0.1:1",
            "--connect-timeout", "2", "/a", "true");
}

/* The message names the time limit, so that no clock needs to be read. */
static void not_for_long(void)
{
    REFUSED(69, "within 5 s", "lock", "-n", "-z", "127.0.0.1:1", "/a", "true");
    REFUSED(69, "within 5 s", "hold", "-w", "0", "-z", "127.0.0.1:1", "/a");
    REFUSED(69, "within 0.2 s", "lock", "-n", "--connect-timeout", ".2", "-z", "127.0.0.1:1", "/a", "true");
    REFUSED(69, "within 0.3 s", "lock", "-n", "-w", ".3", "-z", "127.0.0.1:1", "/a", "true"); /* the last one counts */
}

/* The preloaded function never answers, so a command that ends at all has kept its time. */
static void keeps_time(const char *module, const char *hosts)
{
    cli_preload(module);
    REFUSED(69, "within 0.3 s", "lock", "-w", ".3", "-z", hosts, "/a", "true");
    REFUSED(69, "within 0.3 s", "elect", "--connect-timeout", ".3", "-z", hosts, "/a", "true");
    REFUSED(69, "within 0.3 s", "hold", "-w", ".3", "-z", hosts, "/a");
    REFUSED(69, "within 0.3 s", "ls", "--connect-timeout", ".3", "-z", hosts, "/a");
    REFUSED(69, "within 0.3 s", "break", "--connect-timeout", ".3", "-z", hosts, "/a");
    cli_preload(NULL);
}

static void hanging_resolver(void) { keeps_time("hanging_resolver", "h1:2181"); }

/* The library waits 2 seconds for a resolver; the command waits no longer than it was given for the library. */
static void hanging_client(void) { keeps_time("hanging_client", "127.0.0.1:1"); }

static void no_port(void)
{
    REFUSED(64, "localhost", "lock", "-z", "localhost", "/a", "true");
    REFUSED(64, "localhost", "ls", "-z", "localhost", "/a");
    REFUSED(64, "'h2:70000'", "lock", "-z", "127.0.0.1:1,h2:70000", "/a", "true");
    REFUSED(64, "'h2:0'", "ls", "-z", "127.0.0.1:1,h2:0/chroot", "/a");
    REFUSED(64, "':2181'", "ls", "-z", ":2181", "/a");
    REFUSED(64, "/chroot", "ls", "-z", "/chroot", "/a");
}

static void bad_chroot(void)
{
    static const char *const bad[] = {"/cr/", "/cr//x", "/cr/..", "/./cr", "//", "/a\001b"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char hosts[128];
        snprintf(hosts, sizeof hosts, "%s%s", getenv("PADDOCK_HOSTS"), bad[i]);
        REFUSED(64, "is no chroot", "lock", "-z", hosts, "/a", "true");
        REFUSED(64, "is no chroot", "ls", "-z", hosts, "/a");
    }
    REFUSED(64, "'/cr/' is no chroot", "hold", "-z", "127.0.0.1:1/cr/", "/a");
}

static void chroot_missing(void)
{
    char hosts[128];
    snprintf(hosts, sizeof hosts, "%s/no/such", getenv("PADDOCK_HOSTS"));
    REFUSED(69, "for /no does not exist", "lock", "-z", hosts, "/a", "true");
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
    CHECK_EQ(times(c.err, path), 1);
    REFUSED(77, path, "lock", path, "true");
    CHECK_EQ(times(c.err, path), 1);
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

/* Of a scheme that the servers do not know. */
static void refused_authentication(void)
{
    static const char why[] = "the servers refused the authentication";
    const char *path = cli_path("authentication");
    REFUSED(77, why, "lock", "--auth", "foo:bar", path, "true");
    CHECK_EQ(times(c.err, why), 1);
    REFUSED(77, why, "lock", "--auth", "foo:bar", "-l", "/b", path, "true");
    CHECK_EQ(times(c.err, why), 1);
    REFUSED(77, why, "elect", "--auth", "foo:bar", path, "true");
    CHECK_EQ(times(c.err, why), 1);
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
    fits(ARGS("doctor", "--help"));
    fits(ARGS("graph", "--help"));
    fits(ARGS("top", "--help"));
    fits(ARGS("server", "--help"));
    fits(ARGS("barrier", "--help"));
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
        {"a control character in a path is refused by every command, 64", bad_characters},
        {"a path that the library takes goes to the servers, and is printed masked", refused_by_servers},
        {"a path need not be ASCII", good_characters},
        {"the root is told to be no lock, 64", root},
        {"a trailing slash is told in one line, 64", trailing_slash},
        {"ls -r looks at one path, once", recursion},
        {"a path longer than a message does not hide the reason", long_path},
        {"options of the ensemble may come before the command", before_the_command},
        {"help and version before the command, in one word with other letters", help_before_the_command},
        {"help COMMAND is COMMAND --help", help_of_a_command},
        {"a standard output that is closed cannot be written to, 70", closed_output},
        {"a file of credentials without an end is refused, 64", endless_credentials},
        {"-- before the command ends the options before it, and no others", dashes_before_the_command},
        {"elect runs a line of the shell with -c", elect_by_shell},
        {"an ACL scheme that the servers do not know is told in one line, 64", unknown_scheme},
        {"-n and -w 0 do not look for a server for long", not_for_long},
        {"a text that is too long is told with the length that may be, 64", long_texts},
        {"a value that is no number is told in one line, 64", no_number},
        {"credentials that are none are told in one line, 64", bad_credentials},
        {"an option of TLS or SASL without the files or the user is told in one line, 64", idle_credentials},
        {"the conditions of a mutex with -s or -x, 64", shared},
        {"several paths with --limit or --limit-from, 64", several},
        {"more permits than there are, or none, 64", permits},
        {"an unknown host is told in one line, 69", unknown_host},
        {"all unknown hosts of a list are named", some_unknown_hosts},
        {"an IPv6 address may have brackets", brackets},
        {"an ensemble that does not answer is told in one line, 69", unreachable},
        {"descriptors that run out are told, and are no unknown host", few_descriptors},
        {"a resolver that hangs does not outlast the time that was given: 69", hanging_resolver},
        {"nor does a client that takes long to be made: 69", hanging_client},
        {"a host without a port, or with none that can be, is told in one line, 64", no_port},
        {"a chroot that is no path is told in one line, 64", bad_chroot},
        {"a chroot is made, but not where its parent is missing: 69", chroot_missing},
        {"no ensemble at all is told in one line, 64", no_ensemble_given},
        {"a path without permission is told in one line, 77, and credentials help", not_permitted},
        {"authentication that the servers refuse is told once, 77", refused_authentication},
        {"each help fits a screen", help_fits},
        {"the version is told", version},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "cli/usage", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
