#include "lib/zk/handle.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/core/host.h"
#include "lib/zk/log.h"
#include "lib/zk/member.h"
#include "lib/zk/registry.h"
#include "lib/zk/request.h"
#include "lib/zk/secure.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

/* The pause before authentication is tried again. */
enum { AUTH_AGAIN_MS = 10 };

/* --- what the watchers hear -------------------------------------------------------------------------------------- */

/* ZooKeeper's servers give each session a random password, by which the client resumes it on another connection.
 * Servers that resume none give zeros. Their other promises are not known either. */
static bool is_resumable(const clientid_t *id)
{
    static const clientid_t none;
    return memcmp(id->passwd, none.passwd, sizeof id->passwd) != 0;
}

/* STATE is authoritative here; zoo_state() can be ahead of it or late. Events of other kinds and states decide
 * nothing. */
static void hear_session(struct pdk_client *c, zhandle_t *zh, int state)
{
    struct pdk__session_event event = {.now_ms = pdk__now_ms()};
    assert(pdk__client_locked(c));
    if (state == ZOO_CONNECTED_STATE && !pdk__secure_checked(c))
        state = ZOO_AUTH_FAILED_STATE;
    if (state == ZOO_CONNECTED_STATE) {
        event.kind = PDK__SEV_CONNECTED;
        event.session = zoo_client_id(zh)->client_id;
        event.timeout_ms = zoo_recv_timeout(zh);
        event.unresumable = !is_resumable(zoo_client_id(zh));
    } else if (state == ZOO_EXPIRED_SESSION_STATE) {
        event.kind = PDK__SEV_EXPIRED;
    } else if (state == ZOO_AUTH_FAILED_STATE) {
        event.kind = PDK__SEV_AUTH_FAILED;
    } else if (state == ZOO_CONNECTING_STATE || state == ZOO_NOTCONNECTED_STATE) {
        event.kind = PDK__SEV_DISCONNECTED;
    } else {
        return;
    }
    pdk__client_session(c, &event);
}

/* The last events of a handle that was replaced are about the session that was given up. And CONNECTED can come
 * before zookeeper_init has returned, or while the authentication is not queued yet: no request may go out before
 * that. */
static void hear_own(struct pdk_client *c, zhandle_t *zh, int state)
{
    if (c->opener.opening) {
        c->handle.early = zh;
        c->handle.early_state = state;
    } else if (c->zh == zh && !c->opener.wanted) {
        hear_session(c, zh, state);
    }
}

static void watch_session(zhandle_t *zh, int type, int state, const char *path, void *id)
{
    (void)path;
    struct pdk_client *c = pdk__registry_find((uintptr_t)id);
    if (c == NULL)
        return;
    pdk__client_lock(c);
    pdk__client_serve(c);
    if (type == ZOO_SESSION_EVENT)
        hear_own(c, zh, state);
    pdk__client_leave(c);
    pdk__client_unref(c);
}

static void watch_adopted(zhandle_t *zh, int type, int state, const char *path, void *context);

/* The watcher of a handle that is no longer adopted. The only way to read it is to set another. Ours is set, because
 * an event may pick it up meanwhile, and then comes here again. */
static watcher_fn watcher_of(zhandle_t *zh)
{
    watcher_fn watcher = zoo_set_watcher(zh, watch_adopted);
    zoo_set_watcher(zh, watcher);
    return watcher != watch_adopted ? watcher : NULL;
}

/* Set in front of the application's own watcher on an adopted handle. The context is the application's. */
static void watch_adopted(zhandle_t *zh, int type, int state, const char *path, void *context)
{
    struct pdk_client *c = pdk__registry_find_handle(zh);
    watcher_fn next;
    if (c == NULL) { /* the event was on its way when the client was closed */
        next = watcher_of(zh);
    } else {
        pdk__client_lock(c);
        next = c->handle.app_watcher;
        pdk__client_serve(c);
        if (type == ZOO_SESSION_EVENT)
            hear_session(c, zh, state);
        pdk__client_leave(c);
        pdk__client_unref(c);
    }
    if (next != NULL)
        next(zh, type, state, path, context);
}

static enum pdk__node_change change_of(int type)
{
    if (type == ZOO_DELETED_EVENT)
        return PDK__NODE_DELETED;
    return type == ZOO_CHANGED_EVENT ? PDK__NODE_CHANGED : PDK__NODE_OTHER;
}

/*
 * All watches of a client share this function and one number for context, so that ZooKeeper's client keeps one entry
 * per path (it compares contexts pairwise, in quadratic time, at every session event). The members know which paths
 * concern them.
 */
void pdk__handle_watch_nodes(zhandle_t *zh, int type, int state, const char *path, void *id)
{
    (void)state;
    /* A session event reaches every watcher and consumes none; the global watcher has heard it. */
    if (type == ZOO_SESSION_EVENT)
        return;
    struct pdk_client *c = pdk__registry_find((uintptr_t)id);
    if (c == NULL)
        return;
    pdk__client_lock(c);
    if (c->zh == zh) {
        /* A grant by this event must not come after the end of the session, so the passing of time is processed
         * first. */
        pdk__client_session(c, &(struct pdk__session_event){.kind = PDK__SEV_TIMER, .now_ms = pdk__now_ms()});
        pdk__members_fired(c, path, change_of(type));
    }
    pdk__client_leave(c);
    pdk__client_unref(c);
}

/* --- open and close ---------------------------------------------------------------------------------------------- */

/* The hosts of a list, as they are known here. */
struct known {
    int n_addresses;
    struct pdk__host first_host; /* of the first address */
    char first[INET6_ADDRSTRLEN];
    char unknown[sizeof((struct pdk_client *)NULL)->handle.unknown];
};

/* NULL, and the code of the failure. The question is that of ZooKeeper's client (resolve_hosts). */
static struct addrinfo *resolve(const struct pdk__host *host, int flags, int *rc)
{
    const struct addrinfo hints = {.ai_flags = flags, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char name[256];
    snprintf(name, sizeof name, "%.*s", host->n_name, host->name);
    *rc = getaddrinfo(name, NULL, &hints, &found);
    return *rc == 0 ? found : NULL;
}

static bool is_unknown(const struct pdk__host *host)
{
    int rc;
    struct addrinfo *found = resolve(host, 0, &rc);
    if (found != NULL)
        freeaddrinfo(found);
    return rc != 0 && rc != EAI_ADDRFAMILY && rc != EAI_SYSTEM && rc != EAI_MEMORY;
}

static void note_address(struct known *known, const struct pdk__host *host, const struct sockaddr *address)
{
    bool v4 = address->sa_family == AF_INET;
    const void *bytes = v4 ? (const void *)&((const struct sockaddr_in *)address)->sin_addr
                           : (const void *)&((const struct sockaddr_in6 *)address)->sin6_addr;
    if (!v4 && address->sa_family != AF_INET6)
        return;
    if (known->n_addresses++ > 0)
        return;
    known->first_host = *host;
    inet_ntop(address->sa_family, bytes, known->first, sizeof known->first);
}

/* Those that ZooKeeper's client will have: it asks once more where its flags are the reason of the failure. */
static struct addrinfo *addresses_of(const struct pdk__host *host, int *rc)
{
    struct addrinfo *found = resolve(host, AI_ADDRCONFIG, rc);
    return *rc == EAI_ADDRFAMILY || *rc == EAI_BADFLAGS ? resolve(host, 0, rc) : found;
}

/* ZooKeeper's client passes over a host that is unknown, and does not name it. */
static void look_up(const char *hosts, struct known *known)
{
    struct pdk__host host;
    size_t n = 0;
    int rc;
    *known = (struct known){0};
    while (pdk__host_next(&hosts, &host)) {
        struct addrinfo *found = addresses_of(&host, &rc);
        for (const struct addrinfo *at = found; at != NULL; at = at->ai_next)
            note_address(known, &host, at->ai_addr);
        if (found != NULL)
            freeaddrinfo(found);
        else if (rc != 0 && n < sizeof known->unknown && is_unknown(&host))
            n += (size_t)snprintf(known->unknown + n, sizeof known->unknown - n, "%sunknown host '%.*s'",
                                  n > 0 ? ", " : "", host.n_name, host.name);
    }
}

static size_t put_host(char *list, size_t used, size_t size, const struct pdk__host *host)
{
    return used + (size_t)snprintf(list + used, size - used, "%s%.*s%s%.*s", used > 0 ? "," : "", host->n_name,
                                   host->name, host->n_port > 0 ? ":" : "", host->n_port, host->port);
}

/*
 * HOSTS for ZooKeeper's client: without brackets, which it does not know, and of an odd number of addresses; NULL when
 * there is no memory. The client (3.5 to 3.9) takes two steps in its list of addresses after a failure. Where their
 * number is even it never tries half of them again, and with two, as "localhost" may have, it tries the same one some
 * ten thousand times a second. So the first address is named once more there. Where a name has more or fewer addresses
 * later, that is of no help.
 */
static char *make_list(const char *hosts, const struct known *known)
{
    struct pdk__host host;
    const char *at = hosts;
    size_t size = strlen(hosts) + strlen(known->first) + (size_t)known->first_host.n_port + 3, used = 0;
    char *list = pdk__alloc(size);
    while (list != NULL && pdk__host_next(&at, &host))
        used = put_host(list, used, size, &host);
    if (list != NULL && known->n_addresses > 0 && known->n_addresses % 2 == 0) {
        host = known->first_host;
        host.name = known->first;
        host.n_name = (int)strlen(known->first);
        used = put_host(list, used, size, &host);
    }
    if (list != NULL)
        snprintf(list + used, size - used, "%s", used > 0 ? at : hosts);
    return list;
}

/* The hosts that are unknown are told even if there is no handle. */
static void note_unknown(struct pdk_client *c, const struct known *known)
{
    pdk__client_lock(c);
    memcpy(c->handle.unknown, known->unknown, sizeof known->unknown);
    pdk__client_leave(c);
    if (*known->unknown != '\0')
        pdk__log(c, PDK_LOG_WARNING, "session: %s", known->unknown);
}

static zhandle_t *init(struct pdk_client *c)
{
    struct known known;
    look_up(c->hosts, &known);
    note_unknown(c, &known);
    char *hosts = make_list(c->hosts, &known);
    if (hosts == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    zhandle_t *zh = pdk__secure_wanted(c) ? pdk__secure_open(c, hosts, watch_session)
                                          : zookeeper_init2(hosts, watch_session, c->options.session_timeout_ms, NULL,
                                                            (void *)c->id, ZOO_NO_LOG_CLIENTENV, pdk__log_zookeeper(c));
    int error = errno;
    pdk__free(hosts);
    errno = error;
    return zh;
}

bool pdk__handle_wanted(struct pdk_client *c)
{
    pdk__client_lock(c);
    bool closing = c->closing;
    pdk__client_leave(c);
    return !closing;
}

/* The client exists, whatever becomes of its handle. */
static void end_launch(struct pdk_client *c)
{
    pdk__client_lock(c);
    c->opener.launching = false;
    pthread_cond_broadcast(&c->changed);
    pdk__client_leave(c);
}

/* Queued now, and sent again first on every connection. It is refused between two attempts to connect
 * (ZINVALIDSTATE). That state is short, but without a server it recurs: the client's creator does not wait for it.
 * Where the servers have refused an earlier authentication, the handle is taken as it is, so that its event is
 * handled. */
static int authenticate(struct pdk_client *c, zhandle_t *zh)
{
    int64_t deadline_ms = pdk__now_ms() + 2 * c->options.session_timeout_ms;
    for (int i = 0; i < c->options.n_auths; i++) {
        const struct pdk__auth *auth = &c->options.auths[i];
        int zrc;
        while ((zrc = zoo_add_auth(zh, auth->scheme, auth->cred, (int)strlen(auth->cred), NULL, NULL)) != ZOK) {
            int state = zoo_state(zh);
            if (zrc == ZSYSTEMERROR)
                return PDK_ENOMEM;
            if (state == ZOO_AUTH_FAILED_STATE)
                return 0;
            end_launch(c);
            if (zrc != ZINVALIDSTATE || state < 0 || pdk__now_ms() >= deadline_ms || !pdk__handle_wanted(c))
                return PDK_EDISCONNECTED;
            poll(NULL, 0, AUTH_AGAIN_MS);
        }
    }
    return 0;
}

/* Without the lock, because host names are resolved in here; on a thread of ours, whose signal mask its threads
 * inherit. */
int pdk__handle_open(struct pdk_client *c, zhandle_t **zh)
{
    int rc = pdk__secure_check(c);
    if (rc != 0)
        return rc;
    *zh = init(c);
    if (*zh == NULL && errno == EINVAL)
        return PDK_EINVAL;
    if (*zh == NULL && (errno == EMFILE || errno == ENFILE))
        return PDK_ESYSTEM;
    if (*zh == NULL && errno == ENOMEM)
        return PDK_ENOMEM;
    if (*zh == NULL)
        return PDK_EHOST;
    /* Otherwise it resolves all names on every turn of its loop, and reseeds the program's random() each time. It
     * still does so before each attempt to connect. */
    zoo_set_servers_resolution_delay(*zh, -1);
    return authenticate(c, *zh);
}

void pdk__handle_take(struct pdk_client *c, zhandle_t *zh)
{
    assert(pdk__client_locked(c) && c->zh == NULL && zh != NULL);
    c->zh = zh;
    pdk__client_session(c, &(struct pdk__session_event){
                               .kind = PDK__SEV_OPENED, .now_ms = pdk__now_ms(), .since_ms = c->opener.opening_ms});
    if (c->handle.early == zh)
        hear_session(c, zh, c->handle.early_state);
    c->handle.early = NULL;
}

/* A refusal by SASL comes without an event. */
bool pdk__handle_look(struct pdk_client *c)
{
    bool look = c->options.security.mechanism != NULL && c->zh != NULL && !c->opener.wanted &&
                c->session.phase != PDK__SESSION_CONNECTED && c->session.phase != PDK__SESSION_OVER;
    assert(pdk__client_locked(c));
    if (look && zoo_state(c->zh) == ZOO_AUTH_FAILED_STATE)
        hear_session(c, c->zh, ZOO_AUTH_FAILED_STATE);
    return look;
}

void pdk__handle_end(struct pdk_client *c, zhandle_t *zh)
{
    pdk__secure_closing(c);
    zookeeper_close(zh);
    pdk__secure_closed(c);
}

/*
 * Without the lock: it joins the handle's threads, and they may want it. The return code proves nothing (it is ZOK
 * through a black hole), and completions may be missing (ZOOKEEPER-2894), so requests in flight are dropped here.
 */
void pdk__handle_close(struct pdk_client *c)
{
    pdk__client_lock(c);
    assert(!c->adopted); /* it is the application's */
    zhandle_t *zh = c->zh;
    c->zh = NULL;
    pdk__client_leave(c);
    if (zh != NULL)
        pdk__handle_end(c, zh);
    pdk__client_lock(c);
    assert(c->zh == NULL);
    c->handle.early = NULL; /* another handle may get the same address */
    pdk__request_drop_all(c);
    pdk__client_leave(c);
}

/* --- adopt and release ------------------------------------------------------------------------------------------- */

int pdk__handle_adopt(struct pdk_client *c, zhandle_t *zh)
{
    int state = zoo_state(zh);
    assert(c->adopted && c->zh == zh);
    if (state == ZOO_EXPIRED_SESSION_STATE)
        return PDK_EEXPIRED;
    if (state == ZOO_AUTH_FAILED_STATE)
        return PDK_EAUTH;
    pdk__client_lock(c);
    c->handle.app_watcher = zoo_set_watcher(zh, watch_adopted);
    /* Read after the watcher is in place: a change in between is reported twice, not never. */
    state = zoo_state(zh);
    if (state == ZOO_CONNECTED_STATE || state == ZOO_EXPIRED_SESSION_STATE)
        hear_session(c, zh, state);
    /* By the answer the handle's thread knows that it serves us, before it processes the application's later
     * requests. */
    pdk__request_nothing(c);
    pdk__client_leave(c);
    return 0;
}

void pdk__handle_release(struct pdk_client *c)
{
    assert(pdk__client_locked(c) && c->adopted);
    watcher_fn ours = zoo_set_watcher(c->zh, c->handle.app_watcher);
    if (ours != watch_adopted) /* the application has put another one there since */
        zoo_set_watcher(c->zh, ours);
    /* Events on their way to our watcher come before the answer to this, while it can still look up the client. */
    pdk__request_nothing(c);
}
