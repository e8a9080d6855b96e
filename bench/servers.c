/*
 * The ZooKeeper servers of the bench: servers N DIRECTORY [NAME=VALUE]... They flush what they write, into the
 * directory, and have these properties of Java. Says "ready HOSTS", and ends with its input; the servers end with it.
 */
#include "server/throwaway.h"

#include <stdio.h>
#include <stdlib.h>

enum { READY_MS = 90000, GRACE_MS = 2000, TICK_MS = 2000, HEAP_MB = 256 };

static pdk__server *servers[PDK__SERVER_MAX];
static int n_servers;

static int fail(void)
{
    printf("error %s\n", pdk__server_error());
    return 1;
}

/* All are started before any is waited for: a member never serves alone. */
static int start(const char *directory, char **properties)
{
    struct pdk__server_options o = {.tick_ms = TICK_MS,
                                    .heap_mb = HEAP_MB,
                                    .durable = true,
                                    .n_peers = n_servers,
                                    .properties = (const char *const *)properties};
    char data[4096];
    for (int i = 0; i < n_servers; i++)
        o.peers[i] = (struct pdk__server_peer){pdk__server_free_port(), pdk__server_free_port()};
    for (int i = 0; i < n_servers; i++) {
        snprintf(data, sizeof data, "%s/%d", directory, i + 1);
        o.id = n_servers > 1 ? i + 1 : 0;
        o.data_dir = data;
        if (pdk__server_new(&servers[i], &o) != 0 || pdk__server_start(servers[i]) != 0)
            return fail();
    }
    for (int i = 0; i < n_servers; i++)
        if (pdk__server_wait_ready(servers[i], READY_MS) != 0)
            return fail();
    return 0;
}

static void announce(void)
{
    printf("ready ");
    for (int i = 0; i < n_servers; i++)
        printf("%s127.0.0.1:%d", i > 0 ? "," : "", pdk__server_port(servers[i]));
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    n_servers = argc >= 3 ? atoi(argv[1]) : 0;
    if (n_servers < 1 || n_servers > PDK__SERVER_MAX)
        return 64;
    int status = start(argv[2], argv + 3);
    if (status == 0) {
        announce();
        while (getchar() != EOF)
            continue;
    }
    for (int i = 0; i < n_servers; i++)
        if (servers[i] != NULL)
            pdk__server_stop(servers[i], GRACE_MS);
    for (int i = 0; i < n_servers; i++)
        pdk__server_free(servers[i]);
    return status;
}
