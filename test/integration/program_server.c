#include "program_server.h"

#include "program.h"
#include "test/lib/check.h"

#include <paddock.h>
#include <stdio.h>

/* Generous: only a test that fails spends it. */
enum { LIMIT_MS = 60000 };

pdk__server *server;
char hosts[32];

void program_server_start(void)
{
    struct pdk__server_options o = {0};
    CHECK_RC(pdk_log_zookeeper(PDK_LOG_NONE), PDK_OK);
    CHECK_EQ(pdk__server_new(&server, &o), 0);
    CHECK_EQ(pdk__server_start(server), 0);
    CHECK_EQ(pdk__server_wait_ready(server, LIMIT_MS), 0);
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d", pdk__server_port(server));
}

void program_server_end(void)
{
    program_end();
    pdk__server_free(server);
}
