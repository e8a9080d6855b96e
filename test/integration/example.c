#include "test/integration/example.h"

#include "test/lib/check.h"

#include <paddock.h>
#include <stdio.h>

/* Generous: only a test that fails spends it. */
enum { LIMIT_MS = 60000 };

pdk__server *server;
char hosts[32];
struct program example;

void example_start(const char *const *argv)
{
    char name[64];
    const char *words[16];
    size_t n = 0;
    program_end(&example);
    for (; argv[n] != NULL; n++)
        words[n] = argv[n];
    words[n] = NULL;
    snprintf(name, sizeof name, "examples/%s", argv[0]);
    words[0] = program_built(name);
    program_start(&example, words, PROGRAM_OUTPUT | PROGRAM_GROUP);
}

void example_set_up(void)
{
    struct pdk__server_options o = {0};
    CHECK_RC(pdk_log_zookeeper(PDK_LOG_NONE), PDK_OK);
    CHECK_EQ(pdk__server_new(&server, &o), 0);
    CHECK_EQ(pdk__server_start(server), 0);
    CHECK_EQ(pdk__server_wait_ready(server, LIMIT_MS), 0);
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d", pdk__server_port(server));
}

void example_tear_down(void)
{
    program_end(&example);
    pdk__server_free(server);
    server = NULL;
}
