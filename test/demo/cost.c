/*
 * The cost of holding a lock and doing nothing: requests as a server counts them, bytes and packets as the network
 * interface of the client's place counts them, the transactions of the ensemble. On three real servers: docker/show
 * starts them and runs this.
 *
 * Each client is alone in its place and uses one server. No other client writes.
 *
 * PADDOCK_SHOW_SECONDS (10), PADDOCK_SHOW_SESSION_MS (10000).
 */
#include "server/words.h"
#include "test/demo/observer.h"
#include "test/docker/servers.h"
#include "test/docker/workers.h"
#include "test/lib/check.h"

#include <inttypes.h>
#include <paddock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SOON_MS = 60000, PORT = 2181, EVERY_MS = 10 };

struct counters {
    int64_t requests, out_bytes, out_packets, in_bytes, in_packets, zxid;
};

static struct client {
    const char *name;
    enum kind kind;
    const char *lock; /* that it requests; NULL: none */
    int who;
    char address[64];
    struct counters before, after;
} clients[] = {
    {.name = "holds", .kind = PROGRAM, .lock = "a"},
    {.name = "has no lock", .kind = PROGRAM},
    {.name = "bare C client", .kind = BARE},
    {.name = "Curator holds", .kind = CURATOR, .lock = "b"},
};

enum { CLIENTS = sizeof clients / sizeof *clients };

static int seconds, session_ms;
static char server[16], host[64];

/* --- what is counted --------------------------------------------------------------------------------------------- */

/* The server's line for the connection from an address: " /172.18.0.5:40712[1](queued=0,recved=7,sent=7,sid=..." */
static int64_t requests_of(const char *address)
{
    char text[65536], wanted[80];
    snprintf(wanted, sizeof wanted, "/%s:", address);
    CHECK(pdk__server_4lw(host, PORT, "cons", text, sizeof text) > 0);
    const char *line = strstr(text, wanted), *at = line != NULL ? strstr(line, "recved=") : NULL;
    return at != NULL ? strtoll(at + strlen("recved="), NULL, 10) : -1;
}

/* The process is in the namespace of its place: its own view of /proc/net is that of the interface. */
static void read_interface(int place, struct counters *c)
{
    const char *line = pdk__fault("in %d grep eth0: /proc/self/net/dev", place);
    int n = sscanf(line, " eth0: %" SCNd64 " %" SCNd64 " %*d %*d %*d %*d %*d %*d %" SCNd64 " %" SCNd64, &c->in_bytes,
                   &c->in_packets, &c->out_bytes, &c->out_packets);
    CHECK_EQ(n, 4);
}

static int64_t zxid(void)
{
    char text[4096];
    CHECK(pdk__server_4lw(host, PORT, "srvr", text, sizeof text) > 0);
    const char *at = strstr(text, "Zxid: 0x");
    CHECK(at != NULL);
    return strtoll(at + strlen("Zxid: "), NULL, 16);
}

static void count(struct client *c, struct counters *now)
{
    read_interface((int)(c - clients) + 1, now);
    now->requests = requests_of(c->address);
    now->zxid = zxid();
    CHECK(now->requests >= 0);
}

/* --- the run ----------------------------------------------------------------------------------------------------- */

static void take_place(struct client *c)
{
    int place = (int)(c - clients) + 1;
    char path[128], one_host[80];
    snprintf(one_host, sizeof one_host, "%s:%d", host, PORT);
    snprintf(c->address, sizeof c->address, "%s", pdk__fault("in %d hostname -I", place));
    c->address[strcspn(c->address, " ")] = '\0';
    snprintf(path, sizeof path, "/paddock-show/%d/cost-%s", (int)getpid(), c->lock != NULL ? c->lock : "none");
    c->who = workers_start(&(struct job){.kind = c->kind,
                                         .place = place,
                                         .hosts = one_host,
                                         .path = path,
                                         .session_ms = session_ms,
                                         .question_ms = EVERY_MS});
    CHECK_WITHIN(SOON_MS, requests_of(c->address) > 0);
    if (c->lock == NULL)
        return;
    workers_order(c->who, "lock");
    CHECK_WITHIN(SOON_MS, observer_count(path) == 1 && workers_count(c->who, "granted") > 0);
}

/* The time over which requests are counted; not a wait for a condition. */
static void let_pass(int s) { nanosleep(&(struct timespec){.tv_sec = s}, NULL); }

static void tell(const struct client *c)
{
    double s = seconds;
    printf("# %-16s %10.2f %10.1f %10.1f %10.1f %10.1f\n", c->name,
           (double)(c->after.requests - c->before.requests) / s, (double)(c->after.out_bytes - c->before.out_bytes) / s,
           (double)(c->after.in_bytes - c->before.in_bytes) / s,
           (double)(c->after.out_packets - c->before.out_packets) / s,
           (double)(c->after.in_packets - c->before.in_packets) / s);
}

/* All other sessions are closed or silent, so that every write meanwhile is the holder's. */
static void idle_holder(void)
{
    snprintf(server, sizeof server, "%s", pdk__fault("server follower"));
    servers_hosts(server, true, host, sizeof host);
    host[strcspn(host, ":")] = '\0';
    observer_begin(getenv("PADDOCK_TEST_HOSTS"));
    for (struct client *c = clients; c < clients + CLIENTS; c++)
        if (workers_can(c->kind, NULL))
            take_place(c);
    observer_end();
    let_pass(2);
    for (struct client *c = clients; c < clients + CLIENTS; c++)
        if (workers_can(c->kind, NULL))
            count(c, &c->before);
    let_pass(seconds);
    printf("# session %d ms, counted for %d s; each second:\n# %-16s %10s %10s %10s %10s %10s\n", session_ms, seconds,
           "", "requests", "bytes out", "bytes in", "packets out", "in");
    for (struct client *c = clients; c < clients + CLIENTS; c++)
        if (workers_can(c->kind, NULL)) {
            count(c, &c->after);
            tell(c);
        }
    printf("# transactions of the ensemble: %.2f\n",
           (double)(clients[0].after.zxid - clients[0].before.zxid) / seconds);
    CHECK_EQ(workers_last(clients[0].who, "state")->rc, PDK_HELD);
}

/* --- the program ------------------------------------------------------------------------------------------------- */

static void setup(void)
{
    if (getenv("PADDOCK_TEST_HOSTS") == NULL)
        SKIP("no ensemble; docker/show brings one up");
    seconds = workers_number("PADDOCK_SHOW_SECONDS", 10);
    session_ms = workers_number("PADDOCK_SHOW_SESSION_MS", 10000);
}

static void teardown(void)
{
    observer_end();
    workers_leave();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"an idle holder holds on, at the cost above", idle_holder},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){
            .name = "cost", .tests = tests, .setup = setup, .teardown = teardown, .limit_ms = 4 * 3600 * 1000});
}
