/* The cost of a lock on the wire, and the contents of its nodes. */
#include "test/lib/fixture.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* However slow this machine is, no hold lasts for a twentieth of it. */
enum { SESSION_MS = 600000 };

static int rule(struct peer *p, int op, pdk__act act)
{
    return pdk__proxy_rule(p->proxy, &(struct pdk__proxy_rule){.op = op, .act = act});
}

/* --- requests ---------------------------------------------------------------------------------------------------- */

static void looks_first(void)
{
    fixture_begin();
    struct peer a = peer_proxied_for(SESSION_MS), b = peer_proxied_for(SESSION_MS);
    char story[64];
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    CHECK_RC(pdk_mutex_trylock(b.mutex), PDK_EBUSY);
    CHECK_RC(pdk_mutex_timedlock(b.mutex, 0), PDK_EBUSY);
    pdk__proxy_story(b.proxy, story, sizeof story);
    CHECK_STR(story, "list =list list =list ");
    CHECK_EQ(fixture_nodes(), 1); /* A's */
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    CHECK_RC(pdk_mutex_trylock(b.mutex), 0);
    CHECK_EQ(pdk__proxy_requests(b.proxy, PDK__OP_CREATE2), 1);
    CHECK_RC(pdk_mutex_unlock(b.mutex), 0);
    peer_free(&a);
    peer_free(&b);
}

static void *lock_and_unlock(void *arg)
{
    pdk_mutex *m = arg;
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    return NULL;
}

/* The reply to the create is held back: the listing has been asked for all the same. */
static void one_round_trip(void)
{
    pthread_t thread;
    fixture_begin();
    struct peer a = peer_proxied_for(SESSION_MS);
    lock_and_unlock(a.mutex); /* makes the path */
    pdk__proxy_reset_counters(a.proxy);
    int held = rule(&a, PDK__OP_CREATE2, PDK__HOLD_REPLY);
    CHECK_EQ(pthread_create(&thread, NULL, lock_and_unlock, a.mutex), 0);
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(a.proxy, held) == 1);
    CHECK_WITHIN(LONG_MS, pdk__proxy_requests(a.proxy, PDK__OP_LIST) == 1);
    CHECK_EQ(pdk__proxy_requests(a.proxy, 0), 2);
    pdk__proxy_release(a.proxy, held);
    pthread_join(thread, NULL);
    peer_free(&a);
}

/* No later answer is waited for: it never arrives, and the lock is granted. */
static void no_more_than_that(void)
{
    fixture_begin();
    struct peer a = peer_proxied_for(SESSION_MS);
    lock_and_unlock(a.mutex);
    int held = rule(&a, PDK__OP_GET, PDK__HOLD_REQUEST);
    CHECK_RC(pdk_mutex_timedlock(a.mutex, LONG_MS), 0);
    pdk__proxy_release(a.proxy, held);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    peer_free(&a);
}

/* After the create and the list of a lock, which go out together: its first packet may be answered before the second
 * has passed the proxy. */
static void check_story(pdk__proxy *p, const char *after)
{
    static const char together[] = "create2 list =create2 =list ", apart[] = "create2 =create2 list =list ";
    char story[128];
    pdk__proxy_story(p, story, sizeof story);
    if (strncmp(story, apart, sizeof apart - 1) == 0)
        memcpy(story, together, sizeof together - 1);
    CHECK_EQ(strncmp(story, together, sizeof together - 1), 0);
    CHECK_STR(story + sizeof together - 1, after);
}

/* A hold is watched from the age of a twentieth of the session. */
static void six_packets(void)
{
    fixture_begin();
    struct peer a = peer_proxied_for(SESSION_MS);
    lock_and_unlock(a.mutex); /* makes the path */
    pdk__proxy_reset_counters(a.proxy);
    lock_and_unlock(a.mutex);
    check_story(a.proxy, "delete =delete ");
    peer_free(&a);
}

/* The path and two ancestors are missing. The creates of all go out together with that of the node: the replies to them
 * are held back. */
static void missing_path(void)
{
    char path[512];
    pthread_t thread;
    pdk_mutex *m;
    fixture_begin();
    struct peer a = peer_proxied_for(SESSION_MS);
    lock_and_unlock(a.mutex);
    snprintf(path, sizeof path, "%s-missing/b/c", fixture.path);
    CHECK_RC(pdk_mutex_new(&m, a.client, path, NULL), 0);
    pdk__proxy_reset_counters(a.proxy);
    int held = rule(&a, PDK__OP_CREATE_CONTAINER, PDK__HOLD_REPLY);
    CHECK_EQ(pthread_create(&thread, NULL, lock_and_unlock, m), 0);
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(a.proxy, held) == 1);
    CHECK_WITHIN(LONG_MS, pdk__proxy_requests(a.proxy, 0) == 7);
    CHECK_EQ(pdk__proxy_requests(a.proxy, PDK__OP_CREATE_CONTAINER), 3);
    CHECK_EQ(pdk__proxy_requests(a.proxy, PDK__OP_CREATE2), 2);
    pdk__proxy_release(a.proxy, held);
    pthread_join(thread, NULL);
    CHECK_EQ(pdk__proxy_requests(a.proxy, 0), 8); /* the delete */
    pdk_lock_free(m);
    peer_free(&a);
}

/* All that the next in line sends and receives, from its request to its release. */
static void nine_packets(void)
{
    struct request w;
    fixture_begin();
    struct peer a = peer_proxied_for(SESSION_MS), b = peer_proxied_for(SESSION_MS);
    lock_and_unlock(b.mutex);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    pdk__proxy_reset_counters(b.proxy);
    request_queued(&w, &b, PDK_FOREVER, 2);
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(b.proxy, PDK__OP_GET) == 1);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    request_told(&w, 0);
    request_end(&w, 0);
    check_story(b.proxy, "get =get !deleted delete =delete ");
    peer_free(&a);
    peer_free(&b);
}

/* --- names ------------------------------------------------------------------------------------------------------- */

static void check_name(const char *node, int64_t session, unsigned long *attempt)
{
    unsigned long long of_session;
    char rest[32];
    CHECK_EQ(strlen(node), 16 + 1 + 8 + 6 + 10);
    CHECK_EQ(sscanf(node, "%16llx-%8lx%31s", &of_session, attempt, rest), 3);
    CHECK_EQ(of_session, (unsigned long long)session);
    CHECK_EQ(strncmp(rest, "-lock-", 6), 0);
}

static void names(void)
{
    char node[128];
    unsigned long first, second;
    fixture_begin();
    struct peer a = peer_new(0);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    pdk_lock_node(a.mutex, 0, node, sizeof node);
    check_name(node, pdk_client_session_id(a.client), &first);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    pdk_lock_node(a.mutex, 0, node, sizeof node);
    check_name(node, pdk_client_session_id(a.client), &second);
    CHECK(first != second);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    CHECK_EQ(pdk_lock_node(a.mutex, 0, node, sizeof node), 0);
    peer_free(&a);
}

/* --- contenders -------------------------------------------------------------------------------------------------- */

static struct peer labelled(const char *label)
{
    pdk_client_options *opts = fixture_options(30000);
    CHECK_RC(pdk_client_options_set_label(opts, label), 0);
    struct peer p = peer_at(fixture.hosts, opts);
    pdk_client_options_free(opts);
    return p;
}

static void check_contender(const pdk_contender_list *list, size_t i, const struct peer *p, const char *label)
{
    char host[256] = "";
    unsigned long attempt;
    gethostname(host, sizeof host - 1);
    check_name(pdk_contender_text(list, i, PDK_CONTENDER_NAME), pdk_client_session_id(p->client), &attempt);
    CHECK_EQ(pdk_contender_number(list, i, PDK_CONTENDER_DIALECT), PDK_DIALECT_PADDOCK);
    CHECK_EQ(pdk_contender_number(list, i, PDK_CONTENDER_SESSION), pdk_client_session_id(p->client));
    CHECK_EQ(pdk_contender_number(list, i, PDK_CONTENDER_SEQUENCE), i);
    CHECK_STR(pdk_contender_text(list, i, PDK_CONTENDER_HOST), host);
    CHECK_STR(pdk_contender_text(list, i, PDK_CONTENDER_LABEL), label);
    CHECK_EQ(pdk_contender_number(list, i, PDK_CONTENDER_PID), getpid());
    CHECK_EQ(pdk_contender_number(list, i, PDK_CONTENDER_THREAD), gettid());
    CHECK(pdk_contender_number(list, i, PDK_CONTENDER_SINCE_MS) > 0);
}

static void contenders(void)
{
    struct request w;
    pdk_contender_list *list;
    fixture_begin();
    struct peer a = labelled("first"), b = labelled("second \"quoted\"");
    CHECK_RC(pdk_contenders(a.client, fixture.path, PDK_CONTENDERS_ALL, LONG_MS, &list), 0);
    CHECK_EQ(pdk_contender_list_size(list), 0);
    pdk_contender_list_free(list);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    request_queued(&w, &b, PDK_FOREVER, 2);
    CHECK_WITHIN(LONG_MS, pdk_contenders(b.client, fixture.path, PDK_CONTENDERS_ALL, LONG_MS, &list) == 0 &&
                              (pdk_contender_list_size(list) == 2 || (pdk_contender_list_free(list), false)));
    check_contender(list, 0, &a, "first");
    check_contender(list, 1, &b, "second \"quoted\"");
    CHECK_EQ(pdk_contender_number(list, 0, PDK_CONTENDER_TOKEN), peer_token(&a));
    int64_t promised = pdk_contender_number(list, 1, PDK_CONTENDER_TOKEN);
    pdk_contender_list_free(list);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    request_told(&w, 0);
    CHECK_EQ(request_token(&w), promised);
    request_end(&w, 0);
    peer_free(&a);
    peer_free(&b);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"trylock looks before it writes", looks_first},
        {"create and list go out together", one_round_trip},
        {"an uncontended lock waits for nothing else", no_more_than_that},
        {"a lock and its unlock take six packets", six_packets},
        {"the first lock of a missing path takes seven requests, and waits for two answers", missing_path},
        {"the next in line takes nine", nine_packets},
        {"a node's name carries its session and an attempt", names},
        {"contenders are told in order, with host, pid, thread, label, session and token", contenders},
        {0},
    };
    return fixture_main(argc, argv, "mutex wire", tests, ON_ONE);
}
