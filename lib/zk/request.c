#include "lib/zk/request.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/zk/account.h"
#include "lib/zk/member.h"

void *pdk__request_begin(struct pdk_client *c, size_t size, void (*forget)(struct pdk__request *))
{
    assert(pdk__client_locked(c) && size >= sizeof(struct pdk__request));
    struct pdk__request *request = c->zh != NULL ? pdk__alloc(size) : NULL;
    if (request == NULL)
        return NULL;
    request->client = c;
    request->forget = forget;
    request->sent_ms = pdk__now_ms();
    pdk__client_ref(c);
    pdk__list_append(&c->requests, &request->link);
    return request;
}

void pdk__request_end(struct pdk__request *request)
{
    struct pdk_client *c = request->client;
    assert(pdk__client_locked(c) && !pdk__list_empty(&request->link));
    pdk__list_remove(&request->link);
    if (c->closing && pdk__list_empty(&c->requests))
        pthread_cond_broadcast(&c->changed);
    pdk__free(request->path);
    pdk__free(request);
    pdk__client_unref(c);
}

/* The codes that only a leader answers, once a quorum has agreed. Not "no auth": with enableEagerACLCheck the server
 * that we are connected to answers so on its own (ZooKeeperServer.authWriteRequest). */
static bool agreed(int zrc)
{
    return zrc == ZOK || zrc == ZNONODE || zrc == ZBADVERSION || zrc == ZNODEEXISTS || zrc == ZNOTEMPTY ||
           zrc == ZNOCHILDRENFOREPHEMERALS;
}

/* The codes that no server answers without having noted the session. Of a sync only success says that it was one. */
static bool noted(int zrc, const struct pdk__request *request)
{
    if (request->syncs)
        return zrc == ZOK;
    return agreed(zrc) || (zrc == ZNOAUTH && !request->writes);
}

static void tell_session(const struct pdk__request *request, int zrc)
{
    assert(!pdk__list_empty(&request->link)); /* ZooKeeper's client completes it once */
    struct pdk__session_event event = {.kind = PDK__SEV_TIMER, .now_ms = pdk__now_ms()};
    if (request->asked && request->writes)
        pdk__account_renewal(request->client, request->path, zrc);
    if (noted(zrc, request)) {
        event.kind = PDK__SEV_ANSWERED;
        event.sent_ms = request->sent_ms;
        event.agreed = request->writes && agreed(zrc);
        event.led = request->syncs;
        event.asked = request->asked;
        event.wrote = request->writes;
    } else if (request->asked) {
        event.kind = PDK__SEV_UNASKED;
    }
    pdk__client_session(request->client, &event);
}

struct pdk_client *pdk__request_arrive(struct pdk__request *request, int zrc)
{
    struct pdk_client *c = request->client;
    pdk__client_ref(c);
    pdk__client_lock(c);
    pdk__client_serve(c);
    tell_session(request, zrc);
    if (pdk__outcome_of(zrc) == PDK__REFUSED && pdk__error_of(zrc) == PDK_EREFUSED)
        c->account.refusal = zrc;
    return c;
}

void pdk__request_depart(struct pdk_client *c)
{
    pdk__client_leave(c);
    pdk__client_unref(c);
}

void pdk__request_drop_all(struct pdk_client *c)
{
    assert(pdk__client_locked(c));
    PDK__LIST_EACH (link, &c->requests) {
        struct pdk__request *request = PDK__MEMBER(link, struct pdk__request, link);
        request->forget(request);
    }
    assert(pdk__list_empty(&c->requests));
}

/* --- requests whose answers nobody waits for --------------------------------------------------------------------- */

static struct pdk__request *begin(struct pdk_client *c)
{
    return pdk__request_begin(c, sizeof(struct pdk__request), pdk__request_end);
}

static void unheard(int zrc, const void *data)
{
    struct pdk__request *request = (struct pdk__request *)data;
    struct pdk_client *c = pdk__request_arrive(request, zrc);
    pdk__request_end(request);
    pdk__request_depart(c);
}

static void nothing(int zrc, const struct Stat *stat, const void *data)
{
    (void)stat;
    unheard(zrc, data);
}

void pdk__request_nothing(struct pdk_client *c)
{
    struct pdk__request *request = begin(c);
    if (request != NULL && zoo_aexists(c->zh, "/", 0, nothing, request) != ZOK)
        pdk__request_end(request);
}

/* No node has this version: the delete is refused, by a quorum, once all writes before it are in our server's tree. */
bool pdk__request_flush(struct pdk_client *c, const char *path)
{
    struct pdk__request *request = begin(c);
    if (request == NULL)
        return false;
    request->writes = true;
    bool sent = zoo_adelete(c->zh, path, INT32_MIN, unheard, request) == ZOK;
    if (!sent)
        pdk__request_end(request);
    return sent;
}

/* zoo_aremove_watches would remove them on our side only (ZOOKEEPER-1910). The header declares a pointer to a
 * completion where the code takes the completion. */
static void remove_watches(struct pdk_client *c, const char *path, ZooWatcherType type)
{
    void_completion_t *completion = (void_completion_t *)unheard;
    assert(!c->adopted); /* the application may have watches on the same node */
    struct pdk__request *request = begin(c);
    if (request != NULL && zoo_aremove_all_watches(c->zh, path, type, 0, completion, request) != ZOK)
        pdk__request_end(request);
}

void pdk__request_unwatch(struct pdk_client *c, const char *path) { remove_watches(c, path, ZWATCHTYPE_DATA); }

void pdk__request_forsake(struct pdk_client *c, const char *path)
{
    if (c->adopted || c->closing)
        return;
    if (pdk__index_find(&c->index, path, NULL) == NULL)
        remove_watches(c, path, ZWATCHTYPE_ANY);
    else if (!pdk__members_watch(c, path, NULL))
        pdk__request_unwatch(c, path);
}
