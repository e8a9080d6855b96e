/* Silent servers that a client leaves, and others that it takes for silent. The servers are this test's: they speak as
 * much of the protocol as a connection takes. */
#include "lib/clock.h"
#include "lib/zk/client.h"
#include "lib/zk/session_driver.h"
#include "test/lib/check.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <paddock.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* No test waits for a part of the session: it moves the beginning of the silence instead. */
enum { SESSION_MS = 48000, LIMIT_MS = 60000 };

static pdk_client *c;
static int listener;

/* Listen at ADDRESS, the first member of which is the port after the family. Returns the port. */
static int listen_at(struct sockaddr *address, socklen_t size)
{
    listener = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, address, size) != 0)
        SKIP("the machine has no such address");
    CHECK_EQ(listen(listener, 64), 0);
    CHECK_EQ(getsockname(listener, address, &size), 0);
    return ntohs(((struct sockaddr_in *)address)->sin_port);
}

static void make_client(const char *hosts)
{
    pdk_client_options *o = pdk_client_options_new();
    CHECK_RC(pdk_client_options_set_session_timeout_ms(o, SESSION_MS), 0);
    CHECK_RC(pdk_client_new(&c, hosts, o), 0);
    pdk_client_options_free(o);
}

/* Several servers, all of them at this address. */
static void begin(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    char hosts[64];
    int port = listen_at((struct sockaddr *)&address, sizeof address);
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d,127.0.0.1:%d", port, port);
    make_client(hosts);
}

static void end(int server)
{
    close(server);
    close(listener);
    CHECK_RC(pdk_client_close(c), 0);
    CHECK_RC(pdk_client_free(c), 0);
}

static int take_connection(void)
{
    struct pollfd fd = {.fd = listener, .events = POLLIN};
    CHECK_EQ(poll(&fd, 1, LIMIT_MS), 1);
    return accept(listener, NULL, NULL);
}

/* The length; the version, the timeout, the session, a password of 16 bytes, and whether it may only read. */
static void answer(int server)
{
    unsigned char frame[4 + 37] = {0};
    uint32_t words[] = {htonl(37), 0, htonl(SESSION_MS), htonl(1), htonl(1), htonl(16)};
    memcpy(frame, words, sizeof words);
    frame[sizeof words] = 1; /* without a password it would be none of ZooKeeper's servers */
    CHECK_EQ(send(server, frame, sizeof frame, MSG_NOSIGNAL), (int)sizeof frame);
}

static bool was_left(int server)
{
    struct pollfd fd = {.fd = server, .events = POLLRDHUP};
    return poll(&fd, 1, 0) == 1;
}

/* With the lock, so that the thread that reports the handle's state waits: the server has been silent for long. */
static void find_silence(int64_t *since_ms)
{
    CHECK(pdk__client_locked(c));
    *since_ms -= SESSION_MS;
    pdk__client_session_step(c, &(struct pdk__session_event){.kind = PDK__SEV_TIMER, .now_ms = pdk__now_ms()});
}

static void check_left(int server, int64_t *since_ms)
{
    pdk__client_lock(c);
    find_silence(since_ms);
    pdk__client_leave(c);
    CHECK(was_left(server));
    end(server);
}

static void a_server_that_does_not_answer_is_passed_over(void)
{
    begin();
    int server = take_connection();
    CHECK_WITHIN(LIMIT_MS, zoo_state(c->zh) == ZOO_ASSOCIATING_STATE);
    check_left(server, &c->session.silence.sought_ms);
}

static void a_server_that_has_just_answered_is_not_passed_over(void)
{
    begin();
    int server = take_connection();
    pdk__client_lock(c);
    answer(server);
    CHECK_WITHIN(LIMIT_MS, zoo_state(c->zh) == ZOO_CONNECTED_STATE);
    CHECK_EQ(c->session.phase, PDK__SESSION_OPENING);
    find_silence(&c->session.silence.sought_ms);
    int n_passed = c->session.silence.n_passed;
    pdk__client_leave(c);
    CHECK_EQ(n_passed, 1);
    CHECK_RC(pdk_client_wait(c, LIMIT_MS), 0);
    CHECK(!was_left(server));
    end(server);
}

static bool has_asked(void)
{
    pdk__client_lock(c);
    bool asked = c->session.n_asked > 0;
    pdk__client_leave(c);
    return asked;
}

/* Connected to SERVER, which was asked, and has not answered. */
static int be_asked(void)
{
    begin();
    int server = take_connection();
    answer(server);
    CHECK_RC(pdk_client_wait(c, LIMIT_MS), 0);
    CHECK_WITHIN(LIMIT_MS, has_asked());
    return server;
}

static void a_server_that_is_silent_is_left(void)
{
    int server = be_asked();
    check_left(server, &c->session.silence.waited_ms);
}

static void when_a_silent_server_is_lost_the_next_is_not_left_for_it(void)
{
    int server = be_asked();
    pdk__client_lock(c);
    close(server);
    int next = take_connection();
    CHECK_WITHIN(LIMIT_MS, zoo_state(c->zh) == ZOO_ASSOCIATING_STATE);
    CHECK_EQ(c->session.phase, PDK__SESSION_CONNECTED);
    find_silence(&c->session.silence.waited_ms);
    int n_left = c->session.silence.n_left;
    pdk__client_leave(c);
    CHECK_EQ(n_left, 1);
    CHECK(!was_left(next));
    end(next);
}

/* FORMAT has the port, twice. */
static void reach_v6(const char *format)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    char hosts[80], expected[80], reason[200];
    int port = listen_at((struct sockaddr *)&address, sizeof address);
    snprintf(hosts, sizeof hosts, format, port, port);
    make_client(hosts);
    int server = take_connection();
    answer(server);
    CHECK_RC(pdk_client_wait(c, LIMIT_MS), 0);
    pdk_client_session_reason(c, reason, sizeof reason);
    snprintf(expected, sizeof expected, "connected to [::1]:%d", port);
    CHECK_STR(reason, expected);
    end(server);
}

static void an_ipv6_address_may_have_brackets(void)
{
    reach_v6("[::1]:%d");
    reach_v6("[::1]:%d,[::1]:%d/chroot");
    reach_v6("::1:%d,[::1]:%d");
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a server that does not answer is passed over", a_server_that_does_not_answer_is_passed_over},
        {"a server that has just answered is not passed over", a_server_that_has_just_answered_is_not_passed_over},
        {"a server that is silent is left", a_server_that_is_silent_is_left},
        {"an IPv6 address may have brackets", an_ipv6_address_may_have_brackets},
        {"when a silent server is lost, the next is not left for it",
         when_a_silent_server_is_lost_the_next_is_not_left_for_it},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "leave", .tests = tests});
}
