/*
 * A holder whose own server is frozen, three servers: the holder goes to another one in the same session. Once for each
 * of PADDOCK_TEST_FREEZES (2). And a holder that loses its server and finds one first that does not answer.
 */
#include "lib/zk/client.h"
#include "test/lib/check.h"
#include "test/lib/ensemble.h"

#include <arpa/inet.h>
#include <paddock.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SESSION_MS = 10000, PATIENCE_MS = 60000 };

static pdk__ensemble *e;
static pdk_client *c;
static pdk_mutex *m;
static atomic_int n_lost, n_suspect;

static void open_all(void)
{
    e = pdk__ensemble_new(&(struct pdk__ensemble_options){.n = 3, .tick_ms = 500, .sync_limit = 4, .own = true});
}

static void close_all(void) { pdk__ensemble_free(e); }

static void count(pdk_mutex *of, const pdk_event *event, void *arg)
{
    (void)of;
    (void)arg;
    atomic_fetch_add(event->state == PDK_LOST ? &n_lost : &n_suspect,
                     event->state == PDK_LOST || event->state == PDK_SUSPECT);
}

/* The server that the client is connected to, or -1. */
static int attached(void)
{
    struct sockaddr_in peer = {0};
    socklen_t size = sizeof peer;
    if (pdk_client_state(c) != PDK_SESSION_CONNECTED ||
        zookeeper_get_connected_host(pdk__client_zh(c), (struct sockaddr *)&peer, &size) == NULL)
        return -1;
    int i = e->n - 1;
    while (i >= 0 && pdk__proxy_port(e->proxy[i]) != ntohs(peer.sin_port))
        i--;
    return i;
}

static void hold(const char *hosts)
{
    pdk_client_options *o = pdk_client_options_new();
    CHECK_RC(pdk_client_options_set_session_timeout_ms(o, SESSION_MS), 0);
    CHECK_RC(pdk_client_new(&c, hosts, o), 0);
    pdk_client_options_free(o);
    CHECK_RC(pdk_client_wait(c, PATIENCE_MS), 0);
    CHECK_RC(pdk_mutex_new(&m, c, "/locks/frozen", NULL), 0);
    CHECK_RC(pdk_lock_on_event(m, count, NULL), 0);
    CHECK_RC(pdk_mutex_lock(m), 0);
    atomic_store(&n_lost, 0);
    atomic_store(&n_suspect, 0);
}

static void let_go(int rc)
{
    CHECK_RC(pdk_mutex_unlock(m), rc);
    CHECK_RC(pdk_client_close(c), 0);
    CHECK_RC(pdk_lock_free(m), 0);
    CHECK_RC(pdk_client_free(c), 0);
}

/* Proofs come in a row again, and a server may be left again. */
static void hold_on(int64_t for_ms)
{
    int64_t until_ms = pdk__test_now_ms() + for_ms;
    CHECK_WITHIN(PATIENCE_MS, pdk__test_now_ms() >= until_ms || n_lost > 0);
    CHECK_EQ(n_lost, 0);
}

/* When the servers but the frozen one had a leader; 0: not yet. */
static int64_t led_ms;

static bool note_leader(int frozen)
{
    for (int i = 0; i < e->n && led_ms == 0; i++)
        if (i != frozen && pdk__server_ask_role(e->server[i]) == PDK__SERVER_LEADER)
            led_ms = pdk__test_now_ms();
    return led_ms != 0;
}

static bool is_elsewhere(int frozen)
{
    int now = attached();
    return now >= 0 && now != frozen;
}

/* False: the others took more than a quarter of the session to elect a leader, longer than on an idle machine, and no
 * client can prove its session before. */
static bool freeze_once(int round)
{
    int i = attached(), leader = pdk__ensemble_leader(e, 3);
    CHECK(i >= 0);
    led_ms = 0;
    int64_t from_ms = pdk__test_now_ms();
    pdk__server_pause(e->server[i]);
    CHECK_WITHIN(PATIENCE_MS, (note_leader(i) && is_elsewhere(i)) || n_lost > 0);
    int64_t left_ms = pdk__test_now_ms() - from_ms;
    CHECK_WITHIN(PATIENCE_MS, n_lost > 0 || pdk_lock_state(m) == PDK_HELD);
    printf("# round %d: %s frozen, a leader after %lld ms, left after %lld ms, lost %d, suspect %d\n", round,
           i == leader ? "leader" : "follower", led_ms != 0 ? (long long)(led_ms - from_ms) : -1, (long long)left_ms,
           n_lost, n_suspect);
    if (n_lost > 0 && (led_ms == 0 || led_ms - from_ms > SESSION_MS / 4))
        return false;
    CHECK_EQ(n_lost, 0);
    hold_on(SESSION_MS);
    pdk__ensemble_heal(e);
    return true;
}

static void begin_again(void)
{
    pdk__ensemble_heal(e);
    let_go(PDK_ELOST);
    hold(e->hosts);
}

static void a_frozen_server_is_left(void)
{
    const char *rounds = getenv("PADDOCK_TEST_FREEZES");
    int n = rounds != NULL ? atoi(rounds) : 2, n_slow = 0;
    hold(e->hosts);
    int64_t session = pdk_client_session_id(c);
    for (int i = 1; i <= n; i++) {
        if (freeze_once(i))
            continue;
        CHECK(++n_slow <= n);
        begin_again();
        session = pdk_client_session_id(c);
        i--;
    }
    CHECK_EQ(pdk_client_session_id(c), session);
    let_go(0);
}

static void where_there_is_one_server_it_stays(void)
{
    hold(e->address[0]);
    pdk__server_pause(e->server[0]);
    CHECK_WITHIN(PATIENCE_MS, n_lost > 0);
    pdk__ensemble_heal(e);
    let_go(PDK_ELOST);
}

/* A server that never answers. Either its process is stopped, and its system takes the connection. Or its machine is
 * down, and no system does, as when the queue of the listener is full. */
struct deaf {
    int listener, filler; /* the connection that fills its queue, or -1 */
    struct sockaddr_in address;
};

static void deafen(struct deaf *d, bool gone)
{
    socklen_t size = sizeof d->address;
    *d = (struct deaf){.filler = -1, .address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}}};
    d->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_EQ(bind(d->listener, (struct sockaddr *)&d->address, sizeof d->address), 0);
    CHECK_EQ(listen(d->listener, gone ? 0 : 64), 0);
    CHECK_EQ(getsockname(d->listener, (struct sockaddr *)&d->address, &size), 0);
    if (!gone)
        return;
    d->filler = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_EQ(connect(d->filler, (struct sockaddr *)&d->address, sizeof d->address), 0);
}

static void bury(struct deaf *d)
{
    if (d->filler >= 0)
        close(d->filler);
    close(d->listener);
}

/* ZooKeeper's client tries the three in turn: it finds the deaf one once in two cuts. */
static void lose_the_server_and_find(bool gone)
{
    struct deaf d;
    char hosts[128];
    deafen(&d, gone);
    snprintf(hosts, sizeof hosts, "%s,%s,127.0.0.1:%d", e->address[0], e->address[1], ntohs(d.address.sin_port));
    hold(hosts);
    int64_t session = pdk_client_session_id(c);
    for (int i = 0; i < 2; i++) {
        CHECK_WITHIN(PATIENCE_MS, attached() >= 0);
        pdk__proxy_cut(e->proxy[attached()]);
        hold_on(SESSION_MS);
    }
    CHECK_EQ(pdk_client_session_id(c), session);
    let_go(0);
    bury(&d);
}

/* ZooKeeper's client would try one of two indefinitely: the dead one in half of the cases. */
static void of_two_servers_each_is_tried(void)
{
    struct deaf d;
    char hosts[128];
    deafen(&d, false);
    bury(&d);
    snprintf(hosts, sizeof hosts, "%s,127.0.0.1:%d", e->address[0], ntohs(d.address.sin_port));
    hold(hosts);
    pdk__proxy_cut(e->proxy[0]);
    hold_on(SESSION_MS);
    let_go(0);
}

static void a_server_whose_process_is_stopped_is_passed_over(void) { lose_the_server_and_find(false); }

static void a_server_whose_machine_is_gone_is_passed_over(void) { lose_the_server_and_find(true); }

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"where there is one server, its end is the holder's", where_there_is_one_server_it_stays},
        {"of two servers each is tried", of_two_servers_each_is_tried},
        {0},
    };
    static const struct pdk__test proof[] = {
        {"a holder whose server is frozen goes to another, and is not LOST", a_frozen_server_is_left},
        {"a server that is stopped is passed over by who seeks one", a_server_whose_process_is_stopped_is_passed_over},
        {"a server whose machine is gone is passed over, too", a_server_whose_machine_is_gone_is_passed_over},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){
            .name = "frozen", .setup = open_all, .teardown = close_all, .tests = tests, .proof = proof});
}
