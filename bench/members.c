#include "bench/members.h"

#include "bench/crowd.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/trio.h"

enum { CONNECT_MS = 120000, REASON_SIZE = 256 };

static pdk_client **clients;
static int n_clients, room;
static _Atomic double connected_at;

static void on_session(pdk_client *c, pdk_session_state state, void *arg)
{
    (void)c, (void)arg;
    if (state == PDK_SESSION_CONNECTED)
        atomic_store(&connected_at, crowd_now());
}

void members_reserve(int n)
{
    clients = crowd_allocate((size_t)n, sizeof *clients);
    room = n;
}

static void begin_one(void)
{
    pdk_client_options *o = pdk_client_options_new();
    if (o == NULL || n_clients == room)
        crowd_fail("no room for client %d", n_clients);
    crowd_check(pdk_client_options_set_session_timeout_ms(o, (int)crowd_key("session_ms")), "session_ms");
    crowd_check(pdk_client_options_set_on_session(o, on_session, NULL), "session callback");
    crowd_check(pdk_client_new(&clients[n_clients], trio_hosts(), o), "client");
    n_clients++;
    pdk_client_options_free(o);
}

static void await(int i) { crowd_check(pdk_client_wait(clients[i], CONNECT_MS), "connect"); }

int members_open(void)
{
    begin_one();
    await(n_clients - 1);
    return n_clients - 1;
}

void members_open_all(int n)
{
    int first = n_clients;
    while (n_clients < first + n)
        begin_one();
    for (int i = first; i < n_clients; i++)
        await(i);
}

int members_count(void) { return n_clients; }

pdk_client *member(int i) { return clients[i]; }

int member_port(int i)
{
    char reason[REASON_SIZE];
    int port = 0;
    pdk_client_session_reason(clients[i], reason, sizeof reason);
    const char *colon = strrchr(reason, ':');
    return colon != NULL && sscanf(colon, ":%d", &port) == 1 ? port : 0;
}

bool members_connected(void)
{
    for (int i = 0; i < n_clients; i++)
        if (pdk_client_state(clients[i]) != PDK_SESSION_CONNECTED)
            return false;
    return true;
}

double members_connected_at(void) { return atomic_load(&connected_at); }

void members_sum(struct members_sums *sums)
{
    *sums = (struct members_sums){0};
    for (int i = 0; i < n_clients; i++) {
        pdk_stats *s;
        crowd_check(pdk_client_stats(clients[i], &s), "statistics");
        sums->reconnects += pdk_stats_count(s, PDK_STAT_RECONNECTS);
        sums->expiries += pdk_stats_count(s, PDK_STAT_EXPIRIES);
        sums->losses += pdk_stats_count(s, PDK_STAT_LOSSES);
        pdk_stats_free(s);
    }
}

void member_close(int i) { crowd_check(pdk_client_close(clients[i]), "close"); }

void members_free(void)
{
    for (int i = 0; i < n_clients; i++)
        pdk_client_free(clients[i]);
    free(clients);
    clients = NULL;
    n_clients = 0;
}
