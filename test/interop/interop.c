#include "interop.h"

#include "peer.h"
#include "server/words.h"
#include "test/lib/check.h"
#include "test/lib/sequence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pdk__server *server;
pdk_client *ours;

void interop_open(void)
{
    struct pdk__server_options o = {0};
    if (pdk__server_new(&server, &o) != 0)
        SKIP(pdk__server_error()); /* java or ZooKeeper's jar is missing */
    CHECK_EQ(pdk__server_start(server), 0);
    CHECK_EQ(pdk__server_wait_ready(server, LIMIT_MS), 0);
    ours = new_client(LONG_SESSION_MS);
}

void interop_close(void)
{
    program_end(&peer);
    if (ours)
        pdk_client_free(ours);
    pdk__server_free(server);
}

pdk_client *new_client(int session_ms)
{
    char hosts[32];
    pdk_client *c = NULL;
    pdk_client_options *o = pdk_client_options_new();
    CHECK(o != NULL);
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d", pdk__server_port(server));
    CHECK_RC(pdk_client_options_set_session_timeout_ms(o, session_ms), PDK_OK);
    CHECK_RC(pdk_client_new(&c, hosts, o), PDK_OK);
    pdk_client_options_free(o);
    CHECK_RC(pdk_client_wait(c, LIMIT_MS), PDK_OK);
    return c;
}

pdk_mutex *new_mutex(pdk_client *c, const char *path)
{
    pdk_mutex *m = NULL;
    CHECK_RC(pdk_mutex_new(&m, c, path, NULL), PDK_OK);
    return m;
}

pdk_contender_list *list(const char *path)
{
    pdk_contender_list *l = NULL;
    CHECK_RC(pdk_contenders(ours, path, PDK_CONTENDERS_ALL, LIMIT_MS, &l), PDK_OK);
    return l;
}

size_t count(const char *path)
{
    pdk_contender_list *l = list(path);
    size_t n = pdk_contender_list_size(l);
    pdk_contender_list_free(l);
    return n;
}

static void *wait_for_lock(void *arg)
{
    struct waiter *w = arg;
    CHECK_RC(pdk_mutex_timedlock(w->mutex, LIMIT_MS), PDK_OK);
    w->held = true;
    CHECK_RC(pdk_mutex_unlock(w->mutex), PDK_OK);
    return NULL;
}

void waiter_start(struct waiter *w, pdk_mutex *m)
{
    w->mutex = m;
    w->held = false;
    CHECK_EQ(pthread_create(&w->thread, NULL, wait_for_lock, w), 0);
}

void waiter_finish(struct waiter *w)
{
    CHECK_EQ(pthread_join(w->thread, NULL), 0);
    CHECK(w->held);
    CHECK_RC(pdk_lock_free(w->mutex), PDK_OK);
}

long long last_zxid(void)
{
    char text[4096], *at;
    CHECK(pdk__server_4lw("127.0.0.1", pdk__server_port(server), "srvr", text, sizeof text) > 0);
    at = strstr(text, "Zxid: 0x");
    CHECK(at != NULL);
    return strtoll(at + strlen("Zxid: 0x"), NULL, 16);
}

static void start_again(void)
{
    CHECK_EQ(pdk__server_start(server), 0);
    CHECK_EQ(pdk__server_wait_ready(server, LIMIT_MS), 0);
    CHECK_RC(pdk_client_wait(ours, LIMIT_MS), PDK_OK);
}

void interop_restart(void)
{
    pdk__server_stop(server, LIMIT_MS);
    start_again();
}

static void restart_at(const char *path, int32_t created)
{
    pdk__server_stop(server, LIMIT_MS);
    sequence_set(server, path, created);
    start_again();
}

void across_the_end(const char *path, void (*start)(const char *path), const struct dialogue *says)
{
    static struct waiter w;
    pdk_mutex *m = new_mutex(ours, path);
    CHECK_RC(pdk_mutex_lock(m), PDK_OK);
    CHECK_RC(pdk_mutex_unlock(m), PDK_OK);
    restart_at(path, INT32_MAX - 1);
    CHECK_RC(pdk_mutex_timedlock(m, LIMIT_MS), PDK_OK);
    start(path);
    program_say(&peer, "%s", says->lock);
    CHECK_WITHIN(LIMIT_MS, count(path) == 2);
    waiter_start(&w, new_mutex(ours, path));
    CHECK_RC(pdk_mutex_unlock(m), PDK_OK);
    CHECK_STR(program_hear(&peer), says->locked);
    CHECK(!w.held);
    CHECK_RC(pdk_mutex_timedlock(m, 300), PDK_ETIMEDOUT);
    program_say(&peer, "%s", says->unlock);
    CHECK_STR(program_hear(&peer), says->unlocked);
    waiter_finish(&w);
    pdk_contender_list *l = list(path);
    CHECK(pdk_contender_list_number(l, PDK_LIST_CREATED) < 10);
    pdk_contender_list_free(l);
    CHECK_RC(pdk_lock_free(m), PDK_OK);
}
