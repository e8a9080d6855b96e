#include "bench/trio.h"

#include "bench/crowd.h"
#include "server/throwaway.h"
#include <stdio.h>

enum { READY_MS = 90000, HEAP_MB = 512, AGAIN_MS = 50 };

static pdk__server *servers[TRIO];
static char hosts[TRIO * 32];

static bool start_all(int tick_ms)
{
    struct pdk__server_options o = {.tick_ms = tick_ms, .heap_mb = HEAP_MB, .durable = true, .n_peers = TRIO};
    for (int i = 0; i < TRIO; i++)
        o.peers[i] = (struct pdk__server_peer){pdk__server_free_port(), pdk__server_free_port()};
    for (int i = 0; i < TRIO; i++) {
        o.id = i + 1;
        if (pdk__server_new(&servers[i], &o) != 0 || pdk__server_start(servers[i]) != 0)
            return false;
    }
    for (int i = 0; i < TRIO; i++)
        if (pdk__server_wait_ready(servers[i], READY_MS) != 0)
            return false;
    return true;
}

bool trio_start(int tick_ms)
{
    int n = 0;
    if (!start_all(tick_ms))
        return false;
    for (int i = 0; i < TRIO; i++)
        n += snprintf(hosts + n, sizeof hosts - (size_t)n, "%s127.0.0.1:%d", i > 0 ? "," : "",
                      pdk__server_port(servers[i]));
    return true;
}

void trio_end(void)
{
    for (int i = 0; i < TRIO; i++) {
        pdk__server_free(servers[i]);
        servers[i] = NULL;
    }
}

const char *trio_hosts(void) { return hosts; }

int trio_leader(void)
{
    for (double end = crowd_now() + READY_MS / 1e3; crowd_now() < end; crowd_nap(AGAIN_MS / 1e3))
        for (int i = 0; i < TRIO; i++)
            if (pdk__server_ask_role(servers[i]) == PDK__SERVER_LEADER)
                return i;
    crowd_fail("no leader after %d ms", READY_MS);
}

int trio_port(int i) { return pdk__server_port(servers[i]); }

void trio_kill(int i) { pdk__server_kill(servers[i]); }

void trio_restart(int i)
{
    if (pdk__server_start(servers[i]) != 0)
        crowd_fail("server %d: %s", i + 1, pdk__server_error());
}

void trio_await(int i)
{
    if (pdk__server_wait_ready(servers[i], READY_MS) != 0)
        crowd_fail("server %d: %s", i + 1, pdk__server_error());
}
