/* ZooKeeper's C API, over the client of io.c: what the driver links instead of libzookeeper_mt. */
#include "lib/revocation.h"
#include "lib/zk/wire.h"
#include "test/sim/laws.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A handle. It is not used again once it is closed, but a driver may try. */
struct _zhandle {
    struct client *client;
    unsigned number;
    watcher_fn watcher, node_watcher;
    void *context, *node_context;
    clientid_t id;
    bool closed;
};

static const char plain[] = "sim";

static struct world *world_of(const zhandle_t *zh) { return zh->client->world; }

static void check_open(const zhandle_t *zh)
{
    if (zh->closed)
        world_break(world_of(zh), "driver", "client %d uses a handle that is closed", zh->client->id);
}

/* --- what the C client knows without asking ---------------------------------------------------------------------- */

int zoo_state(zhandle_t *zh)
{
    struct client *c = zh->client;
    check_open(zh);
    if (c->expired)
        return ZOO_EXPIRED_SESSION_STATE;
    return c->io == IO_CONNECTED ? ZOO_CONNECTED_STATE : ZOO_CONNECTING_STATE;
}

const clientid_t *zoo_client_id(zhandle_t *zh)
{
    zh->id.client_id = zh->client->session >= 0 ? world_session_id(zh->client->session) : 0;
    return &zh->id;
}

int zoo_recv_timeout(zhandle_t *zh) { return (int)world_of(zh)->session_ms; }

const void *zoo_get_context(zhandle_t *zh) { return zh->context; }

struct sockaddr *zookeeper_get_connected_host(zhandle_t *zh, struct sockaddr *address, socklen_t *size)
{
    (void)zh, (void)address, (void)size;
    return NULL;
}

int zoo_set_servers_resolution_delay(zhandle_t *zh, int delay_ms)
{
    (void)zh, (void)delay_ms;
    return ZOK;
}

void zoo_set_debug_level(ZooLogLevel level) { (void)level; }

watcher_fn zoo_set_watcher(zhandle_t *zh, watcher_fn watcher)
{
    watcher_fn before = zh->watcher;
    zh->watcher = watcher;
    return before;
}

int zoo_add_auth(zhandle_t *zh, const char *scheme, const char *cert, int size, void_completion_t done,
                 const void *data)
{
    (void)zh, (void)scheme, (void)cert, (void)size, (void)done, (void)data;
    return ZOK;
}

/* --- open and close ---------------------------------------------------------------------------------------------- */

static instant ms(int64_t n) { return n * 1000; }

zhandle_t *zookeeper_init2(const char *hosts, watcher_fn watcher, int timeout_ms, const clientid_t *id, void *context,
                           int flags, log_callback_fn log)
{
    struct client *c = fiber_now->owner;
    struct world *w = c->world;
    (void)hosts, (void)timeout_ms, (void)id, (void)flags, (void)log;
    fiber_block(c, chance(&w->random, w->calm ? 0 : 30) ? ms(below(&w->random, (int)w->session_ms)) : 50); /* names */
    if (world_starves(w)) {
        errno = ENOMEM;
        return NULL;
    }
    zhandle_t *zh = w->ensemble.scratch(w, sizeof *zh);
    *zh = (zhandle_t){.client = c, .watcher = watcher, .context = context};
    c->zh = zh;
    io_open(c);
    zh->number = c->handle;
    return zh;
}

/* Its threads end: what the one that completes has begun it ends, and what waits for it is lost. */
int zookeeper_close(zhandle_t *zh)
{
    struct client *c = zh->client;
    check_open(zh);
    io_close(c);
    zh->closed = true;
    fiber_block(c, 1 + below(&c->world->random, 2000));
    while (c->completes)
        fiber_block(c, 20);
    for (int i = 0; i < TICKETS_MAX; i++)
        if (c->tickets[i].zh == zh)
            c->tickets[i].zh = NULL;
    c->zh = NULL;
    return ZOK;
}

/* --- requests ---------------------------------------------------------------------------------------------------- */

/* "/", "/0" or "/0/name" */
static int path_of(const char *path) { return path[1] != '\0' ? path[1] - '0' : 0; }

static const char *name_of(const char *path)
{
    const char *slash = path[1] != '\0' ? strchr(path + 1, '/') : NULL;
    return slash != NULL ? slash + 1 : "";
}

static void begin_ticket(struct client *c, struct ticket t, uint64_t *number)
{
    for (int i = 0; i < TICKETS_MAX; i++)
        if (c->tickets[i].zh == NULL) {
            c->tickets[i] = t;
            *number = (uint64_t)i + 1;
            return;
        }
    fputs("sim: too many requests\n", stderr);
    abort();
}

struct question {
    enum request_kind kind;
    enum completion_kind completes;
    const char *path;
    bool watch;
    int32_t version;  /* of a write that has one; 0 by default, and of no meaning elsewhere */
    const char *name; /* NULL: that of the path */
};

static int ask(zhandle_t *zh, struct question q, void (*completion)(void), const void *data)
{
    struct client *c = zh->client;
    uint64_t number;
    const char *name = q.name != NULL ? q.name : name_of(q.path);
    check_open(zh);
    if (zh->closed || c->io == IO_IDLE)
        return ZINVALIDSTATE;
    if (strlen(name) >= PDK__NAME_MAX)
        return ZBADARGUMENTS;
    begin_ticket(
        c,
        (struct ticket){.zh = zh, .kind = q.completes, .path = path_of(q.path), .completion = completion, .data = data},
        &number);
    snprintf(c->tickets[number - 1].name, PDK__NAME_MAX, "%s", name);
    if (io_send(c, q.kind, path_of(q.path), name, q.watch, q.version, number))
        return ZOK;
    c->tickets[number - 1].zh = NULL;
    return ZSYSTEMERROR;
}

#define SEND(zh, completion, data, ...) ask(zh, (struct question){__VA_ARGS__}, (void (*)(void))(completion), data)

int zoo_acreate2(zhandle_t *zh, const char *path, const char *value, int size, const struct ACL_vector *acl, int mode,
                 string_stat_completion_t completion, const void *data)
{
    (void)value, (void)size, (void)acl;
    if (mode != ZOO_EPHEMERAL_SEQUENTIAL)
        abort();
    return SEND(zh, completion, data, .kind = REQ_CREATE, .completes = COMPLETES_STRING_STAT, .path = path);
}

/* The root is there, always. */
int zoo_acreate(zhandle_t *zh, const char *path, const char *value, int size, const struct ACL_vector *acl, int mode,
                string_completion_t completion, const void *data)
{
    (void)value, (void)size, (void)acl, (void)mode;
    see(SIGHT_PARENTS_MADE);
    bool root = path[1] == '\0';
    return SEND(zh, completion, data, .kind = root ? REQ_EXISTS : REQ_MAKE_DIR,
                .completes = root ? COMPLETES_STRING_ROOT : COMPLETES_STRING, .path = path);
}

int zoo_adelete(zhandle_t *zh, const char *path, int version, void_completion_t completion, const void *data)
{
    return SEND(zh, completion, data, .kind = REQ_DELETE, .completes = COMPLETES_VOID, .path = path,
                .version = version);
}

int zoo_aget_children(zhandle_t *zh, const char *path, int watch, strings_completion_t completion, const void *data)
{
    (void)watch;
    return SEND(zh, completion, data, .kind = REQ_LIST, .completes = COMPLETES_STRINGS, .path = path);
}

static void watch_by(zhandle_t *zh, watcher_fn watcher, void *context)
{
    zh->node_watcher = watcher;
    zh->node_context = context;
}

int zoo_awget(zhandle_t *zh, const char *path, watcher_fn watcher, void *context, data_completion_t completion,
              const void *data)
{
    watch_by(zh, watcher, context);
    return SEND(zh, completion, data, .kind = REQ_GET, .completes = COMPLETES_DATA, .path = path, .watch = true);
}

int zoo_aget(zhandle_t *zh, const char *path, int watch, data_completion_t completion, const void *data)
{
    (void)watch;
    bool mark = *name_of(path) == '\0';
    return SEND(zh, completion, data, .kind = mark ? REQ_READ_MARK : REQ_GET,
                .completes = mark ? COMPLETES_MARK : COMPLETES_DATA, .path = path);
}

int zoo_awexists(zhandle_t *zh, const char *path, watcher_fn watcher, void *context, stat_completion_t completion,
                 const void *data)
{
    watch_by(zh, watcher, context);
    return SEND(zh, completion, data, .kind = REQ_EXISTS, .completes = COMPLETES_STAT, .path = path, .watch = true);
}

int zoo_aexists(zhandle_t *zh, const char *path, int watch, stat_completion_t completion, const void *data)
{
    (void)watch;
    return SEND(zh, completion, data, .kind = REQ_EXISTS, .completes = COMPLETES_STAT, .path = path);
}

/* Of the lock path: "held NAME", or anything else. */
static int set_mark(zhandle_t *zh, const char *path, const char *value, int size, int version,
                    stat_completion_t completion, const void *data)
{
    char name[PDK__NAME_MAX] = "";
    int n = (int)strlen(PDK__HELD_BY);
    if (size > n && memcmp(value, PDK__HELD_BY, (size_t)n) == 0)
        snprintf(name, sizeof name, "%.*s", size - n, value + n);
    return SEND(zh, completion, data, .kind = REQ_MARK, .completes = COMPLETES_STAT, .path = path, .version = version,
                .name = name);
}

int zoo_aset(zhandle_t *zh, const char *path, const char *value, int size, int version, stat_completion_t completion,
             const void *data)
{
    if (*name_of(path) == '\0')
        return set_mark(zh, path, value, size, version, completion, data);
    bool revokes = pdk__revocation_asks(value, (size_t)size);
    return SEND(zh, completion, data, .kind = revokes ? REQ_REVOKE : REQ_SET, .completes = COMPLETES_STAT, .path = path,
                .version = version);
}

int zoo_async(zhandle_t *zh, const char *path, string_completion_t completion, const void *data)
{
    return SEND(zh, completion, data, .kind = REQ_SYNC, .completes = COMPLETES_STRING, .path = path);
}

int zoo_aremove_all_watches(zhandle_t *zh, const char *path, ZooWatcherType type, int local,
                            void_completion_t *completion, const void *data)
{
    (void)type, (void)local;
    return SEND(zh, completion, data, .kind = REQ_UNWATCH, .completes = COMPLETES_VOID, .path = path);
}

/* --- completions ------------------------------------------------------------------------------------------------- */

static int code_of(const struct answer *a, bool lost)
{
    if (a == NULL)
        return lost ? ZCONNECTIONLOSS : ZSESSIONEXPIRED;
    switch (a->error) {
    case Z_OK:
        return ZOK;
    case Z_EXPIRED:
        return ZSESSIONEXPIRED;
    case Z_MOVED:
        return ZSESSIONMOVED;
    default:
        return (int)a->error;
    }
}

static void complete_data(const struct ticket *t, int rc, const struct answer *a, const struct Stat *stat)
{
    char value[PDK__NAME_MAX + 16] = "";
    if (rc == ZOK && t->kind == COMPLETES_MARK)
        snprintf(value, sizeof value, "%s%s", *a->name != '\0' ? PDK__HELD_BY : "", a->name);
    else if (rc == ZOK)
        snprintf(value, sizeof value, "%s%s", a->revoked ? PDK__REVOKE " " : "", plain);
    ((data_completion_t)t->completion)(rc, value, (int)strlen(value), stat, t->data);
}

static void complete(const struct ticket *t, const struct answer *a)
{
    int rc = code_of(a, true);
    char path[PDK__NAME_MAX + 8];
    struct Stat stat = {0};
    struct String_vector names = {0};
    if (a != NULL && rc == ZOK) {
        stat.czxid = a->czxid;
        stat.mzxid = t->kind == COMPLETES_MARK ? a->czxid : a->mzxid;
        stat.version = a->version;
        stat.ephemeralOwner = a->owner >= 0 ? world_session_id(a->owner) : 0;
        names.count = a->n_children;
        names.data = (char **)(uintptr_t)a->children;
    }
    switch (t->kind) {
    case COMPLETES_VOID:
        ((void_completion_t)t->completion)(rc, t->data);
        break;
    case COMPLETES_STAT:
        ((stat_completion_t)t->completion)(rc, &stat, t->data);
        break;
    case COMPLETES_STRING:
        ((string_completion_t)t->completion)(rc, rc == ZOK ? t->name : NULL, t->data);
        break;
    case COMPLETES_STRING_ROOT:
        ((string_completion_t)t->completion)(a != NULL && rc != ZSESSIONEXPIRED ? ZNODEEXISTS : rc, NULL, t->data);
        break;
    case COMPLETES_STRING_STAT:
        snprintf(path, sizeof path, "/%d/%s", t->path, a != NULL ? a->name : "");
        ((string_stat_completion_t)t->completion)(rc, rc == ZOK ? path : NULL, &stat, t->data);
        break;
    case COMPLETES_STRINGS:
        ((strings_completion_t)t->completion)(rc, rc == ZOK ? &names : NULL, t->data);
        break;
    case COMPLETES_DATA:
    case COMPLETES_MARK:
        complete_data(t, rc, a, &stat);
        break;
    }
}

void zookeeper_complete(struct client *c, const struct message *m)
{
    struct ticket t;
    zhandle_t *zh = c->zh;
    char path[PDK__NAME_MAX + 8];
    const struct answer *a = m->body;
    switch ((enum in_kind)m->kind) {
    case IN_CONNECTED:
        zh->watcher(zh, ZOO_SESSION_EVENT, ZOO_CONNECTED_STATE, "", zh->context);
        break;
    case IN_DISCONNECTED:
        zh->watcher(zh, ZOO_SESSION_EVENT, ZOO_CONNECTING_STATE, "", zh->context);
        break;
    case IN_EXPIRED:
        zh->watcher(zh, ZOO_SESSION_EVENT, ZOO_EXPIRED_SESSION_STATE, "", zh->context);
        break;
    case IN_REPLY:
    case IN_UNKNOWN:
        if (m->a == 0)
            break;
        t = c->tickets[m->a - 1];
        c->tickets[m->a - 1].zh = NULL;
        complete(&t, m->kind == IN_REPLY ? a : NULL);
        break;
    case IN_EVENT:
        snprintf(path, sizeof path, "/%d/%s", a->path, a->name);
        if (zh->node_watcher != NULL)
            zh->node_watcher(zh, a->deleted ? ZOO_DELETED_EVENT : ZOO_CHANGED_EVENT, ZOO_CONNECTED_STATE, path,
                             zh->node_context);
        break;
    }
}

/* --- constants ---------------------------------------------------------------------------------------------------- */

const int ZOO_EXPIRED_SESSION_STATE = -112, ZOO_AUTH_FAILED_STATE = -113, ZOO_CONNECTING_STATE = 1;
const int ZOO_ASSOCIATING_STATE = 2, ZOO_CONNECTED_STATE = 3, ZOO_READONLY_STATE = 5, ZOO_NOTCONNECTED_STATE = 999;
const int ZOO_CREATED_EVENT = 1, ZOO_DELETED_EVENT = 2, ZOO_CHANGED_EVENT = 3, ZOO_CHILD_EVENT = 4;
const int ZOO_SESSION_EVENT = -1, ZOO_NOTWATCHING_EVENT = -2;
const int ZOO_PERSISTENT = 0, ZOO_EPHEMERAL_SEQUENTIAL = 3, ZOO_CONTAINER = 4;

/* --- not of the simulator's world -------------------------------------------------------------------------------- */

struct ACL_vector ZOO_OPEN_ACL_UNSAFE;

void zoo_check_op_init(zoo_op_t *op, const char *path, int version) { (void)op, (void)path, (void)version; }
