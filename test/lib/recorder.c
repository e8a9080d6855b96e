#include "test/lib/recorder.h"

#include "lib/zk/client.h"
#include "test/lib/check.h"
#include "test/lib/zk.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- recorders --------------------------------------------------------------------------------------------------- */

static void tell(pdk_mutex *m, const pdk_event *event, void *arg)
{
    struct recorder *a = arg;
    (void)m;
    pthread_mutex_lock(&a->guard);
    if (event->kind == PDK_EVENT_STATE && a->n_told < PDK__TOLD_MAX) {
        a->told[a->n_told] = event->state;
        a->told_ms[a->n_told++] = pdk__test_now_ms();
    }
    pthread_mutex_unlock(&a->guard);
}

void recorder_open(struct recorder *a, const char *hosts, int session_ms, const char *path)
{
    *a = (struct recorder){.guard = PTHREAD_MUTEX_INITIALIZER};
    pdk_client_options *o = pdk_client_options_new();
    CHECK(o != NULL);
    CHECK_RC(pdk_client_options_set_session_timeout_ms(o, session_ms), PDK_OK);
    snprintf(a->path, sizeof a->path, "%s", path);
    int rc = pdk_client_new(&a->client, hosts, o);
    pdk_client_options_free(o);
    CHECK_RC(rc, PDK_OK);
    CHECK_RC(pdk_client_wait(a->client, LONG_MS), PDK_OK);
    CHECK_RC(pdk_mutex_new(&a->mutex, a->client, path, NULL), PDK_OK);
    CHECK_RC(pdk_lock_on_event(a->mutex, tell, a), PDK_OK);
}

void recorder_close(struct recorder *a)
{
    if (a->client != NULL)
        pdk_client_close(a->client);
    a->grant = NULL;
    pdk_lock_free(a->mutex);
    a->mutex = NULL;
    pdk_client_free(a->client);
    a->client = NULL;
}

static void answer(int rc, void *arg)
{
    struct recorder *a = arg;
    atomic_store(&a->answered_ms, pdk__test_now_ms());
    atomic_fetch_add(&a->n_answers, 1);
    atomic_store(&a->rc, rc); /* last: the test waits for it, and then reads the two above */
}

int recorder_unlock(struct recorder *a)
{
    pdk_grant *grant = a->grant;
    a->grant = NULL;
    return grant != NULL ? pdk_grant_release(grant) : pdk_mutex_unlock(a->mutex);
}

pdk_state recorder_state(const struct recorder *a)
{
    return a->grant != NULL ? pdk_grant_state(a->grant) : pdk_lock_state(a->mutex);
}

int64_t recorder_token(const struct recorder *a)
{
    int64_t token;
    CHECK_RC(a->grant != NULL ? pdk_grant_token(a->grant, &token, NULL) : pdk_lock_token(a->mutex, &token, NULL),
             PDK_OK);
    return token;
}

void recorder_queue(struct recorder *a, int64_t timeout_ms)
{
    atomic_store(&a->rc, PDK__PENDING);
    CHECK(a->grant == NULL);
    CHECK_RC(pdk_mutex_lock_async(a->mutex, timeout_ms, answer, a, &a->grant), PDK_OK);
}

int recorder_outcome(struct recorder *a)
{
    CHECK_WITHIN(LONG_MS, SEEN(atomic_load(&a->rc)) != PDK__PENDING);
    if (atomic_load(&a->rc) != 0 && a->grant != NULL)
        recorder_unlock(a); /* nothing, or what is lost */
    return atomic_load(&a->rc);
}

int64_t recorder_told_ms(struct recorder *a, pdk_state state)
{
    int64_t at_ms = -1;
    pthread_mutex_lock(&a->guard);
    for (int i = a->n_told - 1; i >= 0; i--)
        if (a->told[i] == state)
            at_ms = a->told_ms[i];
    pthread_mutex_unlock(&a->guard);
    return at_ms;
}

const char *recorder_states(struct recorder *a, char *buf, size_t size)
{
    static const char *const words[] = {"free", "held", "suspect", "lost"};
    size_t n = 0;
    buf[0] = '\0';
    pthread_mutex_lock(&a->guard);
    for (int i = 0; i < a->n_told && n < size; i++)
        n += (size_t)snprintf(buf + n, size - n, "%s%s", i > 0 ? " " : "", words[a->told[i]]);
    pthread_mutex_unlock(&a->guard);
    return buf;
}

void recorder_kill_session(struct recorder *a, pdk__proxy *proxy, const pdk__server *server)
{
    clientid_t id = *zoo_client_id(pdk__client_zh(a->client));
    CHECK_EQ(id.client_id, pdk_client_session_id(a->client));
    pdk__proxy_refuse(proxy, true);
    pdk__proxy_cut(proxy);
    pdk__zk_end_session(pdk__server_port(server), &id);
    pdk__proxy_refuse(proxy, false);
}

/* --- the observer ------------------------------------------------------------------------------------------------ */

zhandle_t *pdk__observe(pdk__ensemble *e, int i) { return pdk__zk_open(e->behind[i], LONG_MS); }

static void flushed(int rc, const void *arg) { atomic_store((_Atomic int *)(uintptr_t)arg, rc); }

/* A delete of a version that no node has: agreed on like every write, and it changes nothing. */
static int flush_once(zhandle_t *zh, const char *path)
{
    _Atomic int rc = PDK__PENDING;
    CHECK_EQ(zoo_adelete(zh, path, INT32_MIN, flushed, &rc), ZOK);
    CHECK_WITHIN(LONG_MS, SEEN(atomic_load(&rc)) != PDK__PENDING);
    return atomic_load(&rc);
}

/* A write, for the leader may answer the sync of its own client before it has applied what its followers have. One
 * whose answer was lost is sent again. */
void pdk__observe_flush(zhandle_t *zh, const char *path)
{
    int rc;
    CHECK_WITHIN(LONG_MS, (rc = flush_once(zh, path)) != ZCONNECTIONLOSS && rc != ZOPERATIONTIMEOUT);
    CHECK(rc == ZBADVERSION || rc == ZNONODE);
}

/* False when the node has been deleted since. */
static bool stat_child(zhandle_t *zh, const char *path, const char *name, struct Stat *stat)
{
    char child[256];
    snprintf(child, sizeof child, "%s/%s", path, name);
    return pdk__zk_stat(zh, child, stat) == ZOK;
}

int pdk__observe_nodes(zhandle_t *zh, const char *path, int64_t session)
{
    struct String_vector names;
    struct Stat stat;
    int count = 0;
    pdk__zk_list(zh, path, &names);
    for (int i = 0; i < names.count; i++)
        count += session == 0 || (stat_child(zh, path, names.data[i], &stat) && stat.ephemeralOwner == session);
    deallocate_String_vector(&names);
    return (int)pdk__test_saw("nodes", count);
}

static const char *sequence(const char *name) { return strlen(name) > 10 ? name + strlen(name) - 10 : name; }

bool pdk__observe_first(zhandle_t *zh, const char *path, char name[128], struct Stat *stat)
{
    struct String_vector names;
    const char *first = NULL;
    pdk__zk_list(zh, path, &names);
    for (int i = 0; i < names.count; i++)
        if (first == NULL || strcmp(sequence(names.data[i]), sequence(first)) < 0)
            first = names.data[i];
    snprintf(name, 128, "%s", first != NULL ? first : "");
    deallocate_String_vector(&names);
    return *name != '\0' && stat_child(zh, path, name, stat);
}

void pdk__observe_delete(zhandle_t *zh, const char *path, const char *name)
{
    char child[256];
    snprintf(child, sizeof child, "%s/%s", path, name);
    CHECK_EQ(zoo_delete(zh, child, -1), ZOK);
}

int64_t pdk__check_grant(struct recorder *a, zhandle_t *zh)
{
    char first[128], node[128];
    struct Stat stat;
    int64_t token = recorder_token(a);
    if (a->grant != NULL)
        pdk_grant_node(a->grant, 0, node, sizeof node);
    else
        pdk_lock_node(a->mutex, 0, node, sizeof node);
    pdk__observe_flush(zh, a->path);
    CHECK(pdk__observe_first(zh, a->path, first, &stat));
    CHECK_LAW(strcmp(first, node) == 0);
    CHECK_EQ(stat.ephemeralOwner, pdk_client_session_id(a->client));
    CHECK_EQ(stat.czxid, token);
    CHECK_EQ(pdk__observe_nodes(zh, a->path, pdk_client_session_id(a->client)), 1);
    return token;
}
