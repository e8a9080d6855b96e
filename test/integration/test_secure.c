/* TLS and SASL. Where ZooKeeper's client has neither, every setter refuses, and only that is tested. The server speaks
 * TLS and plain text on one port; the proxy before it carries bytes. Servers with bad certificates are openssl's. */
#include "lib/zk/client.h"
#include "test/lib/fixture.h"
#include "test/lib/program.h"
#include "test/lib/secure.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <paddock.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SESSION_MS = 6000 };
#define AT_EXIT "--at-exit" /* this program's own child */

/* ZooKeeper's client reads all authorities of the system for each connection, which takes seconds under a sanitizer. */
#define SYSTEM_AUTHORITIES "/dev/null"

static char dir[PATH_MAX / 2]; /* of the certificates */
static pdk__proxy *proxy;
static char hosts[64];

/* --- files ------------------------------------------------------------------------------------------------------- */

static const char *file(const char *name)
{
    static char names[8][PATH_MAX];
    static int n;
    char *whole = names[n++ % 8];
    snprintf(whole, PATH_MAX, "%s/%s", dir, name);
    return whole;
}

static void run(const char *command)
{
    if (system(command) != 0)
        pdk__test_fail(__FILE__, __LINE__, "failed: %s", command);
}

static void make_certificates(void)
{
    char command[2 * PATH_MAX];
    const char *source = getenv("PADDOCK_SRCDIR"), *tmp = getenv("TMPDIR");
    snprintf(dir, sizeof dir, "%s/paddock-secure-XXXXXX", tmp != NULL ? tmp : "/tmp");
    CHECK(mkdtemp(dir) != NULL);
    snprintf(command, sizeof command, "%s/test/tls/certificates %s >%s/log 2>&1", source != NULL ? source : ".", dir,
             dir);
    run(command);
}

static void remove_certificates(void)
{
    char command[PATH_MAX];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    run(command);
}

static void copy_file(const char *from, const char *to)
{
    char command[3 * PATH_MAX];
    snprintf(command, sizeof command, "cp %s %s.new && mv %s.new %s", file(from), file(to), file(to), file(to));
    run(command);
}

/* --- clients ----------------------------------------------------------------------------------------------------- */

static int give(char *buf, size_t size, void *secret)
{
    int n = (int)strlen(secret);
    if ((size_t)n >= size)
        return -1;
    memcpy(buf, secret, (size_t)n);
    return n;
}

static pdk_client_options *options_of(const char *ca, const char *cert, const char *key, int session_ms)
{
    pdk_client_options *o = fixture_options(session_ms);
    CHECK_RC(pdk_client_options_set_tls(o, file(ca), file(cert), file(key), false, give, "secret"), 0);
    return o;
}

static pdk_client *client_at(const char *at, pdk_client_options *o)
{
    pdk_client *c;
    CHECK_RC(pdk_client_new(&c, at, o), 0);
    pdk_client_options_free(o);
    return c;
}

static pdk_client *connected(void)
{
    pdk_client *c = client_at(hosts, options_of("ours.crt", "client.crt", "client.key", SESSION_MS));
    CHECK_RC(pdk_client_wait(c, LONG_MS), 0);
    return c;
}

/* Does a wait that fails tell REASON? */
static bool tells(pdk_client *c, const char *reason)
{
    char text[512] = "";
    if (pdk_client_wait(c, 0) == PDK_ETLS)
        pdk_client_last_error(c, text, sizeof text);
    pdk__test_saw_text("the incident", text);
    return strstr(text, reason) != NULL;
}

static void close_client(pdk_client *c)
{
    CHECK_RC(pdk_client_close(c), 0);
    CHECK_RC(pdk_client_free(c), 0);
}

static void check_refused(const char *at, pdk_client_options *o, const char *reason)
{
    pdk_client *c = client_at(at, o);
    CHECK_WITHIN(LONG_MS, tells(c, reason));
    CHECK_EQ(pdk_client_state(c), PDK_SESSION_CONNECTING);
    close_client(c);
}

/* --- options ----------------------------------------------------------------------------------------------------- */

static void what_is_missing_is_refused_by_name(void)
{
    pdk_client_options *o = fixture_options(SESSION_MS);
    if (!pdk_has(PDK_TLS))
        CHECK_RC(pdk_client_options_set_tls(o, "a", "b", "c", false, NULL, NULL), PDK_ENOTSUP);
    if (!pdk_has(PDK_SASL))
        CHECK_RC(pdk_client_options_set_sasl(o, "DIGEST-MD5", "user", NULL, NULL), PDK_ENOTSUP);
    CHECK(!pdk_has((pdk_feature)0) && !pdk_has((pdk_feature)3));
    CHECK(!pdk_err_retriable(PDK_ENOTSUP) && pdk_err_retriable(PDK_ETLS) && !pdk_err_fatal(PDK_ETLS));
    pdk_client_options_free(o);
}

static void wrong_arguments(void)
{
    if (!pdk_has(PDK_TLS))
        SKIP("ZooKeeper's client has no TLS");
    pdk_client_options *o = fixture_options(SESSION_MS);
    CHECK_RC(pdk_client_options_set_tls(NULL, "a", "b", "c", false, NULL, NULL), PDK_EINVAL);
    CHECK_RC(pdk_client_options_set_tls(o, NULL, "b", "c", false, NULL, NULL), PDK_EINVAL);
    CHECK_RC(pdk_client_options_set_tls(o, "a", "", "c", false, NULL, NULL), PDK_EINVAL);
    CHECK_RC(pdk_client_options_set_tls(o, "a", "b", "c,d", false, NULL, NULL), PDK_EINVAL);
    CHECK_RC(pdk_client_options_set_tls(o, "a", "b", "c", false, NULL, NULL), 0);
    CHECK_RC(pdk_client_options_set_tls(o, "d", "e", "f", false, NULL, NULL), 0);
    if (pdk_has(PDK_SASL))
        CHECK_RC(pdk_client_options_set_sasl(o, "DIGEST-MD5", "user", NULL, NULL), PDK_EINVAL);
    pdk_client_options_free(o);
}

/* --- files that cannot be used ----------------------------------------------------------------------------------- */

static void check_files(const char *ca, const char *cert, const char *key, pdk_secret_cb password, const char *reason)
{
    pdk_client *c = NULL;
    char text[512];
    pdk_client_options *o = fixture_options(SESSION_MS);
    CHECK_RC(pdk_client_options_set_tls(o, file(ca), file(cert), file(key), false, password, "wrong"), 0);
    CHECK_RC(pdk_client_new(&c, "127.0.0.1:1", o), PDK_ETLS);
    pdk_client_options_free(o);
    pdk_client_last_error(NULL, text, sizeof text);
    if (strstr(text, reason) == NULL)
        pdk__test_fail(__FILE__, __LINE__, "'%s' is not in '%s'", reason, text);
}

static void files_that_cannot_be_used_are_named(void)
{
    check_files("none.crt", "client.crt", "plain.key", NULL, "none.crt: No such file");
    check_files("ours.crt", "plain.key", "plain.key", NULL, "plain.key: no start line");
    check_files("ours.crt", "client.crt", "good.key", NULL, "good.key: key values mismatch");
    check_files("ours.crt", "client.crt", "client.key", NULL, "client.key: the password is missing");
    check_files("ours.crt", "client.crt", "client.key", give, "client.key: bad decrypt");
}

/* --- exit -------------------------------------------------------------------------------------------------------- */

enum { BASE_ONLY = 0x00040000 }; /* OPENSSL_INIT_BASE_ONLY: it fails once all is freed, and does nothing before */

static void check_openssl(void)
{
    typedef int init_fn(uint64_t, const void *);
    union {
        void *object;
        init_fn *function;
    } init = {dlsym(RTLD_DEFAULT, "OPENSSL_init_crypto")};
    if (init.object == NULL || init.function(BASE_ONLY, NULL) != 1)
        _exit(1);
}

/* The handler that is registered first is called last. */
static int exit_with_a_client(char **files)
{
    pdk_client *c;
    pdk_client_options *o = pdk_client_options_new();
    bool ok = atexit(check_openssl) == 0 &&
              pdk_client_options_set_tls(o, files[0], files[1], files[2], false, NULL, NULL) == 0 &&
              pdk_client_new(&c, "127.0.0.1:1", o) == 0;
    pdk_client_options_free(o);
    return ok ? 0 : 1;
}

static void at_exit_nothing_is_freed_that_its_threads_use(void)
{
    int status = -1;
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        execl("/proc/self/exe", "secure", AT_EXIT, file("ours.crt"), file("client.crt"), file("plain.key"), NULL);
        _exit(127);
    }
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
}

/* --- a good server ----------------------------------------------------------------------------------------------- */

static void a_lock_changes_hands(void)
{
    int64_t first, second;
    pdk_client *a = connected(), *b = connected();
    pdk_mutex *one = fixture_mutex(a, fixture.path), *two = fixture_mutex(b, fixture.path);
    struct locker waiter;
    CHECK_RC(pdk_mutex_lock(one), 0);
    CHECK_RC(pdk_lock_token(one, &first, NULL), 0);
    CHECK_RC(pdk_mutex_trylock(two), PDK_EBUSY);
    locker_start(&waiter, two);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 2);
    CHECK_RC(pdk_mutex_unlock(one), 0);
    CHECK_WITHIN(LONG_MS, waiter.settled);
    CHECK_RC(waiter.rc, 0);
    CHECK_RC(pdk_lock_state(two), PDK_HELD);
    CHECK(pdk_client_session_id(b) != 0);
    locker_finish(&waiter);
    CHECK_RC(waiter.unlock_rc, 0);
    CHECK_RC(pdk_mutex_lock(one), 0);
    CHECK_RC(pdk_lock_token(one, &second, NULL), 0);
    CHECK(second > first);
    CHECK_RC(pdk_mutex_unlock(one), 0);
    fixture_end(a, one);
    fixture_end(b, two);
}

static int64_t held_until_ms(pdk_mutex *m) { return pdk__test_now_ms() + pdk_lock_valid_ms(m); }

static void a_held_lock_is_renewed(void)
{
    pdk_client *c = connected();
    pdk_mutex *m = fixture_mutex(c, fixture.path);
    CHECK_RC(pdk_mutex_lock(m), 0);
    int64_t until_ms = held_until_ms(m);
    CHECK_WITHIN(LONG_MS, held_until_ms(m) > until_ms + SESSION_MS);
    CHECK_EQ(pdk_lock_state(m), PDK_HELD);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
}

static void a_lost_connection_is_made_again(void)
{
    int64_t before, after;
    pdk_client *c = connected();
    pdk_mutex *m = fixture_mutex(c, fixture.path);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_lock_token(m, &before, NULL), 0);
    int64_t id = pdk_client_session_id(c);
    pdk__client_lock(c);
    uint64_t links = c->account.n_links;
    pdk__client_leave(c);
    pdk__proxy_cut(proxy);
    CHECK_WITHIN(LONG_MS, c->account.n_links > links && pdk_lock_state(m) == PDK_HELD);
    CHECK_EQ(pdk_client_session_id(c), id);
    CHECK_RC(pdk_lock_token(m, &after, NULL), 0);
    CHECK_EQ(before, after);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
}

static void an_expired_session_is_replaced(void)
{
    pdk_client *c = connected();
    pdk_mutex *m = fixture_mutex(c, fixture.path);
    CHECK_RC(pdk_mutex_lock(m), 0);
    int64_t id = pdk_client_session_id(c);
    clientid_t session = *zoo_client_id(pdk__client_zh(c));
    pdk__proxy_refuse(proxy, true);
    pdk__proxy_cut(proxy);
    pdk__zk_end_session(pdk__server_port(fixture.e->server[0]), &session);
    pdk__proxy_refuse(proxy, false);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_LOST);
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
    CHECK_RC(pdk_mutex_timedlock(m, LONG_MS), 0);
    CHECK(pdk_client_session_id(c) != id);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
}

static atomic_int n_lines;

static void count_line(pdk_client *c, pdk_log_level level, int64_t at_ms, const char *text, void *arg)
{
    (void)c, (void)level, (void)at_ms, (void)arg;
    if (strncmp(text, "zookeeper: ", 11) == 0)
        n_lines++;
}

static void lines_of_the_client_reach_the_log(void)
{
    pdk_client_options *o = options_of("ours.crt", "client.crt", "plain.key", SESSION_MS);
    CHECK_RC(pdk_client_options_set_log(o, PDK_LOG_DEBUG, count_line, NULL), 0);
    n_lines = 0;
    pdk_client *c = client_at(hosts, o);
    CHECK_RC(pdk_client_wait(c, LONG_MS), 0);
    CHECK_WITHIN(LONG_MS, n_lines > 0);
    close_client(c);
}

static atomic_int adopted_state;

static void note_state(zhandle_t *zh, int type, int state, const char *path, void *context)
{
    (void)zh, (void)path, (void)context;
    if (type == ZOO_SESSION_EVENT)
        adopted_state = state;
}

/* Debian's client has no such function. */
extern zhandle_t *zookeeper_init_ssl(const char *servers, const char *files, watcher_fn watcher, int timeout_ms,
                                     const clientid_t *id, void *context, int flags) __attribute__((weak));

static void a_handle_of_the_program_is_adopted(void)
{
    char files[3 * PATH_MAX];
    pdk_client *c;
    CHECK(zookeeper_init_ssl != NULL);
    snprintf(files, sizeof files, "%s,%s,%s,-", file("ours.crt"), file("client.crt"), file("plain.key"));
    zhandle_t *zh = zookeeper_init_ssl(hosts, files, note_state, SESSION_MS, NULL, NULL, 0);
    CHECK_WITHIN(LONG_MS, adopted_state == ZOO_CONNECTED_STATE);
    CHECK_RC(pdk_client_adopt(&c, zh, NULL), 0);
    pdk_mutex *m = fixture_mutex(c, fixture.path);
    CHECK_RC(pdk_mutex_timedlock(m, LONG_MS), 0);
    pdk__proxy_cut(proxy);
    CHECK_WITHIN(LONG_MS, adopted_state != ZOO_CONNECTED_STATE);
    CHECK_WITHIN(LONG_MS, adopted_state == ZOO_CONNECTED_STATE && pdk_lock_state(m) == PDK_HELD);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
    CHECK_EQ(zookeeper_close(zh), ZOK);
}

/* --- the command ------------------------------------------------------------------------------------------------- */

/* Its processes close what they inherit: what it opens for itself may have any number. */
static void the_command_locks(void)
{
    static struct program command;
    char script[PATH_MAX] = "";
    if (access(program_built("uninstalled/paddock"), X_OK) != 0)
        SKIP("it was not built");
    setenv("PADDOCK_TLS_CA", file("ours.crt"), 1);
    setenv("PADDOCK_TLS_CERT", file("client.crt"), 1);
    setenv("PADDOCK_TLS_KEY", file("client.key"), 1);
    setenv("PADDOCK_PASSWORD", "secret", 1);
    for (int fd = 3; fd <= 9; fd++) {
        snprintf(script + strlen(script), sizeof script - strlen(script), "exec %d</dev/null; ", fd);
        char whole[2 * PATH_MAX];
        snprintf(whole, sizeof whole, "%s exec %s lock -z %s /command echo ran", script,
                 program_built("uninstalled/paddock"), hosts);
        CHECK_EQ(program_run(&command, ARGS("sh", "-c", whole), PROGRAM_OUTPUT | PROGRAM_ERRORS), 0);
        CHECK_STR(command.out, "ran\n");
        CHECK_STR(command.err, "");
    }
}

/* --- certificates ------------------------------------------------------------------------------------------------ */

static void authorities_of_others_are_refused(void)
{
    check_refused(hosts, options_of("theirs.crt", "client.crt", "client.key", SESSION_MS), "self-signed certificate");
}

static void a_client_that_the_servers_do_not_know_is_refused(void)
{
    check_refused(hosts, options_of("ours.crt", "stranger.crt", "stranger.key", SESSION_MS), "alert");
}

static void an_expired_certificate_of_a_client_is_refused(void)
{
    check_refused(hosts, options_of("ours.crt", "stale.crt", "stale.key", SESSION_MS),
                  "the client's own certificate has expired");
}

static void certificates_are_read_for_each_connection(void)
{
    copy_file("client.crt", "own.crt");
    copy_file("plain.key", "own.key");
    pdk_client *c = client_at(hosts, options_of("ours.crt", "own.crt", "own.key", SESSION_MS));
    CHECK_RC(pdk_client_wait(c, LONG_MS), 0);
    copy_file("stranger.key", "own.key");
    copy_file("stranger.crt", "own.crt");
    pdk__proxy_cut(proxy);
    CHECK_WITHIN(LONG_MS, tells(c, "alert"));
    copy_file("client.crt", "own.crt");
    copy_file("plain.key", "own.key");
    CHECK_RC(pdk_client_wait(c, LONG_MS), 0);
    close_client(c);
}

/* A client whose certificate is replaced while it holds a lock: the servers refuse its next connection. */
static void a_lock_is_lost_in_time_when_the_own_certificate_turns_bad(void)
{
    struct locker waiter;
    copy_file("client.crt", "own.crt");
    copy_file("plain.key", "own.key");
    pdk_client *a = client_at(hosts, options_of("ours.crt", "own.crt", "own.key", SESSION_MS)), *b = connected();
    pdk_mutex *one = fixture_mutex(a, fixture.path), *two = fixture_mutex(b, fixture.path);
    CHECK_RC(pdk_mutex_timedlock(one, LONG_MS), 0);
    locker_start(&waiter, two);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 2);
    copy_file("stale.key", "own.key");
    copy_file("stale.crt", "own.crt");
    pdk__proxy_cut(proxy);
    CHECK_WITHIN(LONG_MS, waiter.settled);
    CHECK_EQ(pdk_lock_state(one), PDK_LOST); /* before the other was granted */
    CHECK_RC(waiter.rc, 0);
    CHECK_WITHIN(LONG_MS, tells(a, "has expired"));
    locker_finish(&waiter);
    CHECK_RC(pdk_mutex_unlock(one), PDK_ELOST);
    fixture_end(a, one);
    fixture_end(b, two);
}

/* --- bad servers ------------------------------------------------------------------------------------------------- */

/* openssl's server, with the certificate NAME. */
struct impostor {
    pid_t pid;
    int in; /* its standard input: it ends with that */
    char hosts[32];
    int port;
};

static int port_of(FILE *out)
{
    char line[256];
    int port;
    while (fgets(line, sizeof line, out) != NULL) {
        const char *colon = strrchr(line, ':');
        if (strncmp(line, "ACCEPT", 6) == 0 && colon != NULL && sscanf(colon, ":%d", &port) == 1)
            return port;
    }
    return 0;
}

static struct impostor impostor_with(const char *name)
{
    struct impostor i;
    char cert[64], key[64];
    int in[2], out[2];
    snprintf(cert, sizeof cert, "%s.crt", name);
    snprintf(key, sizeof key, "%s.key", name);
    const char *cert_file = file(cert), *key_file = file(key);
    CHECK_EQ(pipe2(in, O_CLOEXEC), 0);
    CHECK_EQ(pipe2(out, O_CLOEXEC), 0);
    i.pid = pdk__test_fork();
    if (i.pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO); /* it tells of each refusal */
        execlp("openssl", "openssl", "s_server", "-4", "-accept", "0", "-cert", cert_file, "-key", key_file, NULL);
        _exit(127);
    }
    i.in = in[1];
    close(in[0]);
    close(out[1]);
    FILE *lines = fdopen(out[0], "r");
    i.port = port_of(lines);
    CHECK(i.port > 0);
    snprintf(i.hosts, sizeof i.hosts, "127.0.0.1:%d", i.port);
    return i;
}

static void impostor_end(struct impostor *i)
{
    kill(i->pid, SIGKILL);
    CHECK_EQ(pdk__test_wait(i->pid), -SIGKILL);
    close(i->in);
}

static void check_impostor(const char *name, const char *reason)
{
    struct impostor i = impostor_with(name);
    check_refused(i.hosts, options_of("ours.crt", "client.crt", "client.key", SESSION_MS), reason);
    impostor_end(&i);
}

static void an_expired_certificate_is_refused(void) { check_impostor("expired", "certificate has expired"); }
static void another_name_is_refused(void) { check_impostor("other", "hostname mismatch"); }
static void a_clients_certificate_makes_no_server(void)
{
    check_impostor("client-made", "unsuitable certificate purpose");
}
static void certificates_of_others_are_refused(void) { check_impostor("theirs-good", "unable to get local issuer"); }

/* The authority of the system is one of a file that only OpenSSL itself reads. */
static void authorities_of_the_system_are_refused(void)
{
    CHECK_EQ(setenv("SSL_CERT_FILE", file("theirs.crt"), 1), 0);
    check_impostor("theirs-good", "certificate");
    setenv("SSL_CERT_FILE", SYSTEM_AUTHORITIES, 1);
}

static void any_name_is_accepted_on_request(void)
{
    struct impostor i = impostor_with("other");
    pdk_client_options *o = fixture_options(SESSION_MS);
    CHECK_RC(
        pdk_client_options_set_tls(o, file("ours.crt"), file("client.crt"), file("client.key"), true, give, "secret"),
        0);
    pdk_client *c = client_at(i.hosts, o);
    CHECK_WITHIN(LONG_MS, atomic_load(&c->handle.tls_checked));
    close_client(c);
    impostor_end(&i);
}

/* Servers whose certificate is replaced while a lock is held: the address leads to others. */
static void a_lock_is_lost_in_time_when_the_servers_certificate_turns_bad(void)
{
    pdk_client *c = connected();
    pdk_mutex *m = fixture_mutex(c, fixture.path);
    struct impostor i = impostor_with("expired");
    CHECK_RC(pdk_mutex_lock(m), 0);
    pdk__proxy_set_target(proxy, i.port);
    pdk__proxy_cut(proxy);
    CHECK_WITHIN(LONG_MS, tells(c, "certificate has expired"));
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_LOST);
    CHECK(!pdk_lock_valid_ms(m));
    pdk__proxy_set_target(proxy, pdk__server_port(fixture.e->server[0]));
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
    CHECK_RC(pdk_mutex_timedlock(m, LONG_MS), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
    impostor_end(&i);
}

static bool tells_closed(pdk_client *c, const char *at)
{
    char text[512] = "", closed[80];
    snprintf(closed, sizeof closed, "connection closed by %s", at);
    if (pdk_client_wait(c, 0) == PDK_ETIMEDOUT)
        pdk_client_last_error(c, text, sizeof text);
    pdk__test_saw_text("the incident", text);
    return strstr(text, closed) != NULL;
}

static void a_client_without_tls_is_not_connected(void)
{
    struct impostor i = impostor_with("good");
    pdk_client *c = client_at(i.hosts, fixture_options(SESSION_MS));
    CHECK_WITHIN(LONG_MS, tells_closed(c, i.hosts));
    CHECK_RC(pdk_client_wait(c, 300), PDK_ETIMEDOUT);
    close_client(c);
    impostor_end(&i);
}

static void a_server_without_tls_is_refused(void)
{
    pdk__server *plain;
    char at[32];
    CHECK_EQ(pdk__server_new(&plain, &(struct pdk__server_options){0}), 0);
    CHECK_EQ(pdk__server_start(plain), 0);
    CHECK_EQ(pdk__server_wait_ready(plain, LONG_MS), 0);
    snprintf(at, sizeof at, "127.0.0.1:%d", pdk__server_port(plain));
    check_refused(at, options_of("ours.crt", "client.crt", "client.key", SESSION_MS), "unexpected eof");
    pdk__server_free(plain);
}

/* It takes connections, and says nothing. */
static void a_silent_handshake_is_given_up(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    char silent[160];
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_EQ(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    CHECK_EQ(listen(listener, 64), 0);
    CHECK_EQ(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    snprintf(silent, sizeof silent, "127.0.0.1:%d", ntohs(address.sin_port));
    check_refused(silent, options_of("ours.crt", "client.crt", "client.key", SESSION_MS), "not answered in time");
    /* and where another server answers, that one is used */
    snprintf(silent, sizeof silent, "127.0.0.1:%d,%s", ntohs(address.sin_port), hosts);
    pdk_client *c = client_at(silent, options_of("ours.crt", "client.crt", "client.key", SESSION_MS));
    CHECK_RC(pdk_client_wait(c, LONG_MS), 0);
    close_client(c);
    close(listener);
}

/* The close must not wait for a handshake. */
static void a_close_ends_a_silent_handshake(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    char silent[64];
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_EQ(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    CHECK_EQ(listen(listener, 64), 0);
    CHECK_EQ(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    snprintf(silent, sizeof silent, "127.0.0.1:%d", ntohs(address.sin_port));
    pdk_client *c = client_at(silent, options_of("ours.crt", "client.crt", "client.key", 3600000));
    int connection = accept(listener, NULL, NULL);
    CHECK(connection >= 0);
    close_client(c);
    char bytes[4096];
    ssize_t n;
    while ((n = read(connection, bytes, sizeof bytes)) > 0)
        continue;
    CHECK(n == 0 || errno == ECONNRESET);
    close(connection);
    close(listener);
}

/* --- SASL -------------------------------------------------------------------------------------------------------- */

/* One that the servers learn when they start. */
static void write_users(const char *password)
{
    FILE *out = fopen(file("jaas.conf"), "we");
    CHECK(out != NULL);
    fprintf(out, "Server { org.apache.zookeeper.server.auth.DigestLoginModule required user_jobs=\"%s\"; };\n",
            password);
    CHECK_EQ(fclose(out), 0);
}

static pdk_client *client_of(const char *user, char *password, int session_ms)
{
    pdk_client_options *o = fixture_options(session_ms);
    CHECK_RC(pdk_client_options_set_sasl(o, "DIGEST-MD5", user, give, password), 0);
    CHECK_RC(pdk_client_options_add_acl(o, "sasl", "jobs", PDK_PERM_ALL), 0);
    return client_at(hosts, o);
}

static void a_user_of_sasl_locks(void)
{
    pdk_client *c = client_of("jobs", "secret", SESSION_MS);
    CHECK_RC(pdk_client_wait(c, LONG_MS), 0);
    pdk_mutex *m = fixture_mutex(c, fixture.path);
    CHECK_RC(pdk_mutex_lock(m), 0);
    pdk__proxy_cut(proxy);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_SUSPECT || c->account.n_links > 1);
    CHECK_WITHIN(LONG_MS, c->account.n_links > 1 && pdk_lock_state(m) == PDK_HELD);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
}

static void a_wrong_password_is_refused(void)
{
    pdk_client *c = client_of("jobs", "wrong", SESSION_MS);
    CHECK_RC(pdk_client_wait(c, LONG_MS), PDK_EAUTH);
    close_client(c);
}

/* Cyrus SASL keeps what a login left for the next one, for the whole process. */
static void users_log_in_at_once(void)
{
    enum { USERS = 8, TIMES = 20 };
    pdk_client *users[USERS];
    for (int i = 0; i < USERS; i++)
        users[i] = client_of("jobs", "secret", 60000);
    for (uint64_t times = 1; times <= TIMES; times++) {
        for (int i = 0; i < USERS; i++)
            CHECK_WITHIN(LONG_MS, users[i]->account.n_links >= times);
        pdk__proxy_cut(proxy);
    }
    for (int i = 0; i < USERS; i++)
        close_client(users[i]);
}

/* Servers (3.8) look a name up that they do not know, and then check the password of who logged in before. */
static void an_unknown_name_gives_no_right(void)
{
    pdk_client *known = client_of("jobs", "secret", SESSION_MS);
    pdk_mutex *m = fixture_mutex(known, fixture.path);
    CHECK_RC(pdk_mutex_timedlock(m, LONG_MS), 0);
    pdk_client *unknown = client_of("nobody", "secret", SESSION_MS);
    int rc = pdk_client_wait(unknown, LONG_MS);
    pdk_mutex *other = fixture_mutex(unknown, fixture.path);
    if (rc == 0)
        CHECK_RC(pdk_mutex_timedlock(other, LONG_MS), PDK_EACCES);
    else
        CHECK_RC(rc, PDK_EAUTH);
    fixture_end(unknown, other);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(known, m);
}

/* The servers refuse the next connection of a holder, whose password is another one now; the next in line gets the lock
 * after that one has given it up. */
static void a_lock_is_lost_in_time_when_the_password_turns_bad(void)
{
    struct locker waiter;
    char password[16] = "secret";
    pdk_client *a = client_of("jobs", password, SESSION_MS), *b = client_of("jobs", "secret", SESSION_MS);
    pdk_mutex *one = fixture_mutex(a, fixture.path), *two = fixture_mutex(b, fixture.path);
    CHECK_RC(pdk_mutex_timedlock(one, LONG_MS), 0);
    locker_start(&waiter, two);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 2);
    password[0] = 'z';
    pdk__proxy_cut(proxy);
    CHECK_WITHIN(LONG_MS, waiter.settled);
    CHECK_EQ(pdk_lock_state(one), PDK_LOST); /* before the other was granted */
    CHECK_RC(waiter.rc, 0);
    CHECK_RC(pdk_client_wait(a, LONG_MS), PDK_EAUTH);
    locker_finish(&waiter);
    CHECK_RC(pdk_mutex_unlock(one), PDK_ELOST);
    fixture_end(a, one);
    fixture_end(b, two);
}

/* The servers' users and the callback change together: the session goes on. */
static void a_password_is_asked_for_with_each_connection(void)
{
    char password[16] = "secret";
    pdk_client *c = client_of("jobs", password, 60000);
    pdk_mutex *m = fixture_mutex(c, fixture.path);
    CHECK_RC(pdk_mutex_timedlock(m, LONG_MS), 0);
    pdk__server_stop(fixture.e->server[0], 1000);
    write_users("altered");
    strcpy(password, "altered");
    pdk__ensemble_restart(fixture.e, 0);
    CHECK_WITHIN(LONG_MS, c->account.n_links > 1 && pdk_lock_state(m) == PDK_HELD);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
    write_users("secret");
}

/* --- servers ----------------------------------------------------------------------------------------------------- */

static void open_secure(void)
{
    static char users[PATH_MAX];
    static const char *properties[PDK__SECURE_PROPERTIES + 3];
    int n = PDK__SECURE_PROPERTIES;
    if (!pdk_has(PDK_TLS) || !pdk_has(PDK_SASL))
        SKIP("ZooKeeper's client has no TLS, or no SASL; see test/tls/run");
    make_certificates();
    write_users("secret");
    pdk__secure_properties(dir, properties);
    snprintf(users, sizeof users, "java.security.auth.login.config=%s", file("jaas.conf"));
    properties[n++] = "zookeeper.authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider";
    properties[n++] = users;
    properties[n] = NULL;
    fixture_open(&(struct pdk__ensemble_options){.n = 1, .properties = properties});
    /* the reasons come from the client's lines */
    zoo_set_log_stream(fopen("/dev/null", "we"));
    CHECK_RC(pdk_log_zookeeper(PDK_LOG_INFO), 0);
    proxy = pdk__proxy_new(pdk__server_port(fixture.e->server[0]), true);
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d", pdk__proxy_port(proxy));
}

static void close_secure(void)
{
    if (proxy != NULL)
        pdk__proxy_free(proxy);
    fixture_close();
    if (dir[0] != '\0')
        remove_certificates();
}

static void with(void (*test)(void))
{
    fixture_begin();
    test();
}

#define WITH(name)                                                                                                     \
    static void with_##name(void) { with(name); }
WITH(a_lock_changes_hands)
WITH(a_held_lock_is_renewed)
WITH(a_lost_connection_is_made_again)
WITH(an_expired_session_is_replaced)
WITH(a_handle_of_the_program_is_adopted)
WITH(a_lock_is_lost_in_time_when_the_own_certificate_turns_bad)
WITH(a_lock_is_lost_in_time_when_the_servers_certificate_turns_bad)
WITH(a_user_of_sasl_locks)
WITH(an_unknown_name_gives_no_right)
WITH(a_lock_is_lost_in_time_when_the_password_turns_bad)
WITH(a_password_is_asked_for_with_each_connection)

int main(int argc, char **argv)
{
    setenv("SSL_CERT_FILE", SYSTEM_AUTHORITIES, 1);
    if (argc == 5 && strcmp(argv[1], AT_EXIT) == 0)
        return exit_with_a_client(&argv[2]);
    static const struct pdk__test options[] = {
        {"what is missing is refused by name", what_is_missing_is_refused_by_name},
        {"wrong arguments are refused", wrong_arguments},
        {0}};
    static const struct pdk__test servers[] = {
        {"files that cannot be used are named", files_that_cannot_be_used_are_named},
        {"at exit nothing is freed that a client's threads use", at_exit_nothing_is_freed_that_its_threads_use},
        {"a lock changes hands", with_a_lock_changes_hands},
        {"a held lock is renewed", with_a_held_lock_is_renewed},
        {"a lost connection is made again, in the same session", with_a_lost_connection_is_made_again},
        {"an expired session is replaced", with_an_expired_session_is_replaced},
        {"lines of ZooKeeper's client reach the log", lines_of_the_client_reach_the_log},
        {"a handle of the program is adopted", with_a_handle_of_the_program_is_adopted},
        {"the command locks, with any number of descriptors inherited", the_command_locks},
        {"a server that other authorities have signed is refused", authorities_of_others_are_refused},
        {"a client that the servers do not know is told so", a_client_that_the_servers_do_not_know_is_refused},
        {"a client whose certificate has expired is told so", an_expired_certificate_of_a_client_is_refused},
        {"certificates are read for each connection", certificates_are_read_for_each_connection},
        {"a lock is lost in time when the client's certificate turns bad under way",
         with_a_lock_is_lost_in_time_when_the_own_certificate_turns_bad},
        {"a lock is lost in time when the servers' certificate turns bad under way",
         with_a_lock_is_lost_in_time_when_the_servers_certificate_turns_bad},
        {"an expired certificate is refused", an_expired_certificate_is_refused},
        {"a certificate for another name is refused", another_name_is_refused},
        {"a client's certificate makes no server", a_clients_certificate_makes_no_server},
        {"certificates of other authorities are refused", certificates_of_others_are_refused},
        {"authorities of the system are refused", authorities_of_the_system_are_refused},
        {"any name is accepted on request", any_name_is_accepted_on_request},
        {"a client without TLS is told that a server with it closes the connection",
         a_client_without_tls_is_not_connected},
        {"a server without TLS is refused", a_server_without_tls_is_refused},
        {"a silent handshake is given up", a_silent_handshake_is_given_up},
        {"a close ends a silent handshake", a_close_ends_a_silent_handshake},
        {"a user of SASL locks, and comes back", with_a_user_of_sasl_locks},
        {"a wrong password is refused", a_wrong_password_is_refused},
        {"users log in at once", users_log_in_at_once},
        {"a name that the servers do not know gives no right", with_an_unknown_name_gives_no_right},
        {"a lock is lost in time when the password turns bad under way",
         with_a_lock_is_lost_in_time_when_the_password_turns_bad},
        {"a password is asked for with each connection", with_a_password_is_asked_for_with_each_connection},
        {0}};
    int first = pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "secure, options", .tests = options});
    int second = pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){
            .name = "secure, servers", .tests = servers, .setup = open_secure, .teardown = close_secure});
    return second == 77 || first > second ? first : second;
}
