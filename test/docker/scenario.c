#include "test/docker/scenario.h"

#include <paddock.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char path[128];
static struct pdk__seen seen[SERVERS_SEEN_MAX];

size_t scenario_nodes(void) { return servers_look(path, seen); }

void scenario_begin(void)
{
    static int n;
    snprintf(path, sizeof path, "/paddock-faults/%d-%d", (int)getpid(), ++n);
    workers_begin(path);
    pdk__fault("recover");
}

int scenario_hire_at(const char *server, bool at, int session_ms)
{
    for (;;) {
        int who = workers_hire(session_ms);
        if ((strcmp(servers_server_of(workers_last(who, "connected")->session), server) == 0) == at)
            return who;
        workers_dismiss(who);
    }
}

int scenario_hire_only_at(const char *server, int session_ms)
{
    char host[64];
    servers_hosts(server, true, host, sizeof host);
    return workers_hire_to(host, session_ms);
}

int scenario_queue_up(int who)
{
    size_t before = scenario_nodes();
    workers_order(who, "lock");
    CHECK_WITHIN(SOON_MS, scenario_nodes() == before + 1);
    return who;
}

struct record scenario_granted(int who)
{
    struct record e = workers_await(who, "granted", workers_count(who, "released") + 1, SOON_MS);
    CHECK(scenario_nodes() >= 1);
    CHECK_EQ(seen[0].token, e.token);
    CHECK_EQ(seen[0].session, e.session);
    return e;
}

struct record scenario_lock(int who)
{
    workers_order(who, "lock");
    return scenario_granted(who);
}

void scenario_unlock(int who) { CHECK_RC(workers_do(who, "unlock", "released", SOON_MS).rc, PDK_OK); }

void scenario_reconnected(int who)
{
    workers_await(who, "suspended", 1, SOON_MS);
    workers_await(who, "connected", 2, SOON_MS);
}

void scenario_moved(int who, const char *server)
{
    int64_t session = workers_last(who, "connected")->session;
    const char *now;
    CHECK_WITHIN(SOON_MS, *(now = servers_server_of(session)) != '\0' && strcmp(now, server) != 0);
}

void scenario_still_holds(int who, const struct record *grant, const int *others, size_t n)
{
    CHECK_WITHIN(SOON_MS, workers_do(who, "state", "state", SOON_MS).rc == PDK_HELD);
    CHECK_EQ(workers_last(who, "state")->token, grant->token);
    CHECK_EQ(workers_last(who, "state")->session, grant->session);
    CHECK_EQ(workers_count(who, "lost"), 0);
    CHECK(scenario_nodes() >= 1);
    CHECK_EQ(seen[0].token, grant->token);
    CHECK_EQ(seen[0].session, grant->session);
    for (size_t i = 0; i < n; i++)
        CHECK_EQ(workers_count(others[i], "granted"), 0);
}

void scenario_serve(const int *queue, size_t n)
{
    int64_t last = 0;
    for (size_t i = 0; i < n; i++) {
        struct record e = scenario_granted(queue[i]);
        CHECK(e.token > last);
        last = e.token;
        scenario_unlock(queue[i]);
    }
    CHECK_EQ(scenario_nodes(), 0);
}

enum { ROUNDS = 5 };

void scenario_contend(int n, int session_ms)
{
    for (int i = 0; i < n; i++)
        workers_hire(session_ms);
    for (int i = 0; i < n; i++)
        workers_order(i, "run");
    for (int i = 0; i < n; i++)
        workers_await(i, "released", ROUNDS, SOON_MS);
}

static void check_rounds(int who)
{
    CHECK_EQ(workers_count(who, "failed"), 0);
    CHECK_EQ(workers_count(who, "lost"), 0);
    CHECK_EQ(workers_count(who, "granted"), workers_count(who, "waiting"));
    CHECK_EQ(workers_count(who, "released"), workers_count(who, "waiting"));
}

void scenario_contended(int n)
{
    for (int i = 0; i < n; i++)
        workers_await(i, "released", workers_count(i, "released") + ROUNDS, SOON_MS);
    for (int i = 0; i < n; i++)
        workers_order(i, "state");
    for (int i = 0; i < n; i++) {
        CHECK_WITHIN(SOON_MS, workers_rests(i));
        check_rounds(i);
    }
    CHECK_EQ(scenario_nodes(), 0);
}

void scenario_finish(int who)
{
    scenario_lock(who);
    scenario_unlock(who);
    workers_judge();
    workers_end();
}
