/* ZooKeeper's C API, over the client of io.c: what the driver links instead of libzookeeper_mt. */
#include "lib/revocation.h"
#include "lib/zk/client.h"
#include "lib/zk/wire.h"
#include "test/sim/laws.h"
#include "test/sim/wired.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A handle. It is not used again once it is closed, but a driver may try. */
struct _zhandle {
    struct client *client;
    unsigned number;
    watcher_fn watcher, node_watcher;
    log_callback_fn log;
    void *context, *node_context;
    clientid_t id;
    bool closed;
};

#define PLAIN "sim"

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
    if (c->auth_failed)
        return ZOO_AUTH_FAILED_STATE;
    return c->io == IO_CONNECTED ? ZOO_CONNECTED_STATE : ZOO_CONNECTING_STATE;
}

const clientid_t *zoo_client_id(zhandle_t *zh)
{
    zh->id.client_id = zh->client->session >= 0 ? world_session_id(zh->client->session) : 0;
    zh->id.passwd[sizeof zh->id.passwd - 1] = 1; /* one byte is enough to tell that the session is resumed */
    return &zh->id;
}

int zoo_recv_timeout(zhandle_t *zh) { return (int)zh->client->timeout_ms; }

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
    struct client *c = zh->client;
    (void)done, (void)data;
    if (!c->secretive || strcmp(scheme, "digest") != 0 || size != 3 || memcmp(cert, "sim", 3) != 0)
        world_break(c->world, "driver", "client %d has other credentials", c->id);
    if (c->auth_failed || chance(&c->world->random, 100)) /* also between two attempts to connect */
        return ZINVALIDSTATE;
    c->authenticated = true;
    return ZOK;
}

/* --- open and close ---------------------------------------------------------------------------------------------- */

static instant ms(int64_t n) { return n * 1000; }

zhandle_t *zookeeper_init2(const char *hosts, watcher_fn watcher, int timeout_ms, const clientid_t *id, void *context,
                           int flags, log_callback_fn log)
{
    struct client *c = fiber_now->owner;
    struct world *w = c->world;
    (void)hosts, (void)timeout_ms, (void)id, (void)flags;
    if (c->auth_told && c->library != NULL)
        world_break(w, "driver", "client %d tries its credentials again", c->id);
    fiber_block(c, chance(&w->random, w->calm ? 0 : 30) ? ms(below(&w->random, (int)w->session_ms)) : 50); /* names */
    if (world_starves(w)) {
        errno = ENOMEM;
        return NULL;
    }
    if (c->zh != NULL)
        world_break(w, "driver", "client %d opens a handle beside another", c->id);
    zhandle_t *zh = w->ensemble.scratch(w, sizeof *zh);
    *zh = (zhandle_t){.client = c, .watcher = watcher, .context = context, .log = log};
    c->zh = zh;
    io_open(c);
    if (chance(&w->random, w->calm ? 0 : 50)) /* its threads run before the call has returned */
        fiber_block(c, ms(below(&w->random, 300)));
    zh->number = c->handle;
    return zh;
}

static void complete(const struct ticket *t, const struct answer *a);

/* The driver drops its own requests when it closes its own handle. Those on a handle that is lent to it end as unknown;
 * the client's last completions are not always lost (ZOOKEEPER-2894). */
static void end_ticket(struct client *c, struct ticket *t)
{
    struct ticket ended = *t;
    t->zh = NULL;
    if (c->lent != NULL)
        complete(&ended, NULL);
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
    for (int i = 0; i < c->n_tickets; i++)
        if (c->tickets[i].zh == zh)
            end_ticket(c, &c->tickets[i]);
    c->zh = NULL;
    return ZOK;
}

/* --- requests ---------------------------------------------------------------------------------------------------- */

/* The path of a directory. */
static const char *const paths[PATHS] = {"/0", "/1", "/2", "/3",         SEMAPHORE "/locks", SEMAPHORE "/leases",
                                         "/6", "/7", "/8", "/0.last-run"};

/* The one that PATH begins with; those of the root and the like are there, always. */
int zookeeper_path(const char *path)
{
    for (int i = 0; i < PATHS; i++) {
        size_t n = strlen(paths[i]);
        if (strncmp(path, paths[i], n) == 0 && (path[n] == '/' || path[n] == '\0'))
            return i;
    }
    return 0;
}

static bool is_root(const char *path) { return path[1] == '\0' || strcmp(path, SEMAPHORE) == 0; }

static const char *name_of(const char *path)
{
    size_t n = is_root(path) ? strlen(path) : strlen(paths[zookeeper_path(path)]);
    return path[n] == '/' ? path + n + 1 : "";
}

static void begin_ticket(struct client *c, struct ticket t, uint64_t *number)
{
    int i = 0;
    while (i < c->n_tickets && c->tickets[i].zh != NULL)
        i++;
    if (i == TICKETS_MAX) {
        fputs("sim: too many requests\n", stderr);
        abort();
    }
    c->n_tickets += i == c->n_tickets;
    c->tickets[i] = t;
    *number = (uint64_t)i + 1;
}

struct question {
    enum request_kind kind;
    enum completion_kind completes;
    const char *path;
    bool watch;
    int32_t version;  /* of a write that has one; 0 by default, and of no meaning elsewhere */
    const char *name; /* NULL: that of the path */
    struct also *also;
    int n_also;
    const void *text;
    int size;
    zoo_op_result_t *results;
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
    begin_ticket(c,
                 (struct ticket){.zh = zh,
                                 .kind = q.completes,
                                 .path = zookeeper_path(q.path),
                                 .root = is_root(q.path),
                                 .completion = completion,
                                 .data = data,
                                 .sent = c->world->agenda.now,
                                 .n_results = q.results != NULL ? q.n_also + 1 : 0,
                                 .results = q.results},
                 &number);
    strcpy(c->tickets[number - 1].name, name);
    struct request asked = {.kind = q.kind,
                            .path = zookeeper_path(q.path),
                            .watch = q.watch,
                            .version = q.version,
                            .also = q.also,
                            .n_also = q.n_also,
                            .text = q.text,
                            .size = q.size};
    strcpy(asked.name, name);
    if (io_send(c, &asked, number)) {
        if (q.completes == COMPLETES_STRINGS && !q.watch)
            law_listings_sent(c, &c->tickets[number - 1]);
        return ZOK;
    }
    c->tickets[number - 1].zh = NULL;
    return ZSYSTEMERROR;
}

#define SEND(zh, completion, data, ...) ask(zh, (struct question){__VA_ARGS__}, (void (*)(void))(completion), data)

int zoo_acreate2(zhandle_t *zh, const char *path, const char *value, int size, const struct ACL_vector *acl, int mode,
                 string_stat_completion_t completion, const void *data)
{
    struct client *c = zh->client;
    bool secret = acl->count == 1 && strcmp(acl->data->id.scheme, "auth") == 0 && acl->data->perms == PDK_PERM_ALL;
    (void)value, (void)size;
    if (secret != c->secretive || (c->authenticated != c->secretive && !c->auth_failed))
        world_break(c->world, "driver", "client %d creates a node that is not its own", c->id);
    if (mode != ZOO_EPHEMERAL_SEQUENTIAL && mode != ZOO_EPHEMERAL && mode != ZOO_PERSISTENT)
        abort();
    enum request_kind kind = mode == ZOO_PERSISTENT  ? REQ_LEAVE_WORD
                             : mode == ZOO_EPHEMERAL ? REQ_CREATE_AT
                                                     : REQ_CREATE;
    if (kind == REQ_LEAVE_WORD && zookeeper_path(path) == MEETING_PATH)
        law_barriers_word(c);
    return SEND(zh, completion, data, .kind = kind, .completes = COMPLETES_STRING_STAT, .path = path);
}

/* --- transactions ------------------------------------------------------------------------------------------------ */

void zoo_create_op_init(zoo_op_t *op, const char *path, const char *value, int size, const struct ACL_vector *acl,
                        int mode, char *made, int made_size)
{
    *op = (zoo_op_t){.type = mode, .create_op = {path, value, size, made, made_size, acl, mode}};
}

void zoo_delete_op_init(zoo_op_t *op, const char *path, int version)
{
    *op = (zoo_op_t){.type = ZOO_DELETE_OP, .delete_op = {path, version}};
}

void zoo_check_op_init(zoo_op_t *op, const char *path, int version)
{
    *op = (zoo_op_t){.type = ZOO_CHECK_OP, .check_op = {path, version}};
}

void zoo_set_op_init(zoo_op_t *op, const char *path, const char *value, int size, int version, struct Stat *stat)
{
    *op = (zoo_op_t){.type = ZOO_SETDATA_OP, .set_op = {path, value, size, version, stat}};
}

/* The data of a lock path: "held NAME", kept as the name; or "free". */
static bool holds(const char *record) { return *record != '\0' && strcmp(record, PDK__FREE) != 0; }

static void read_record(char name[PDK__NAME_MAX], const char *value, int size)
{
    int n = (int)strlen(PDK__HELD_BY);
    bool held = size > n && memcmp(value, PDK__HELD_BY, (size_t)n) == 0;
    snprintf(name, PDK__NAME_MAX, "%.*s", held ? size - n : size, held ? value + n : value);
}

/* A lock path is deleted and made again, with its data. */
static int remake(zhandle_t *zh, int n, const zoo_op_t *ops, void_completion_t completion, const void *data)
{
    if (n != 2 || ops[1].type != ZOO_PERSISTENT || strcmp(ops[1].create_op.path, ops[0].delete_op.path) != 0 ||
        *name_of(ops[0].delete_op.path) != '\0')
        world_break(world_of(zh), "driver", "client %d sends a transaction of another kind", zh->client->id);
    char record[PDK__NAME_MAX];
    read_record(record, ops[1].create_op.data, ops[1].create_op.datalen);
    see(*record != '\0' ? SIGHT_RECORD_KEPT : SIGHT_PATH_RESET);
    return SEND(zh, completion, data, .kind = REQ_REMAKE_DIR, .completes = COMPLETES_VOID,
                .path = ops[0].delete_op.path, .version = ops[0].delete_op.version, .name = record);
}

int zoo_aget_acl(zhandle_t *zh, const char *path, acl_completion_t completion, const void *data)
{
    return SEND(zh, completion, data, .kind = REQ_GET_ACL, .completes = COMPLETES_ACL, .path = path);
}

/* A write to a path after checks of nodes. */
static int write_guarded(zhandle_t *zh, int n, const zoo_op_t *ops, zoo_op_result_t *results,
                         void_completion_t completion, const void *data)
{
    struct world *w = world_of(zh);
    struct also *guards = w->ensemble.scratch(w, (size_t)n * sizeof *guards);
    const zoo_op_t *op = &ops[n - 1];
    struct question q = {.completes = COMPLETES_GUARDED, .also = guards, .n_also = n - 1, .results = results};
    for (int i = 0; i < n - 1; i++) {
        guards[i].path = zookeeper_path(ops[i].check_op.path);
        strcpy(guards[i].name, name_of(ops[i].check_op.path));
        if (ops[i].type != ZOO_CHECK_OP || ops[i].check_op.version != -1 || *guards[i].name == '\0')
            world_break(w, "driver", "client %d guards with another kind of check", zh->client->id);
    }
    if (op->type == ZOO_SETDATA_OP) {
        q.kind = REQ_GUARDED_SET;
        q.path = op->set_op.path;
        q.version = op->set_op.version;
        q.text = op->set_op.data;
        q.size = op->set_op.datalen;
        results[n - 1].stat = op->set_op.stat;
    } else if (op->type == ZOO_DELETE_OP) {
        q.kind = REQ_GUARDED_DELETE;
        q.path = op->delete_op.path;
        q.version = op->delete_op.version;
    } else {
        q.kind = REQ_GUARDED_CREATE;
        q.path = op->create_op.path;
        q.text = op->create_op.data;
        q.size = op->create_op.datalen;
    }
    char *text = w->ensemble.scratch(w, (size_t)q.size + 1);
    if (q.size > 0)
        memcpy(text, q.text, (size_t)q.size);
    text[q.size] = '\0';
    q.text = text;
    see(SIGHT_GUARDED_WRITE);
    return ask(zh, q, (void (*)(void))completion, data);
}

/* All creates of sequential nodes, each on a path of its own; or all deletes. A handle that has ended, or that ends
 * while the call is under way, frees what its caller has lent (3.8.0). */
int zoo_amulti(zhandle_t *zh, int n, const zoo_op_t *ops, zoo_op_result_t *results, void_completion_t completion,
               const void *data)
{
    struct client *c = zh->client;
    bool deletes = ops[0].type == ZOO_DELETE_OP;
    if (zoo_state(zh) == ZOO_EXPIRED_SESSION_STATE || zoo_state(zh) == ZOO_AUTH_FAILED_STATE)
        world_break(c->world, "driver", "client %d sends a transaction on a handle that has ended", c->id);
    if (ops[0].type == ZOO_CHECK_OP)
        return write_guarded(zh, n, ops, results, completion, data);
    if (deletes && *name_of(ops[0].delete_op.path) == '\0')
        return remake(zh, n, ops, completion, data);
    struct also *also = world_of(zh)->ensemble.scratch(world_of(zh), (size_t)n * sizeof *also);
    for (int i = 0; i < n; i++) {
        const char *path = deletes ? ops[i].delete_op.path : ops[i].create_op.path;
        if (ops[i].type != (deletes ? ZOO_DELETE_OP : ZOO_EPHEMERAL_SEQUENTIAL) || *name_of(path) == '\0')
            world_break(c->world, "driver", "client %d sends a transaction of another kind", c->id);
        results[i].value = deletes ? NULL : ops[i].create_op.buf;
        results[i].valuelen = deletes ? 0 : ops[i].create_op.buflen;
        also[i].path = zookeeper_path(path);
        strcpy(also[i].name, name_of(path));
    }
    see(deletes ? SIGHT_TRANSACTION_DELETES : SIGHT_TRANSACTION);
    return SEND(zh, completion, data, .kind = deletes ? REQ_DELETE : REQ_CREATE, .completes = COMPLETES_MULTI,
                .path = deletes ? ops[0].delete_op.path : ops[0].create_op.path, .version = -1, .also = also + 1,
                .n_also = n - 1, .results = results);
}

/* --- other requests ---------------------------------------------------------------------------------------------- */

/* The root is there, always. */
int zoo_acreate(zhandle_t *zh, const char *path, const char *value, int size, const struct ACL_vector *acl, int mode,
                string_completion_t completion, const void *data)
{
    (void)value, (void)size, (void)acl, (void)mode;
    see(SIGHT_PARENTS_MADE);
    bool root = is_root(path);
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

int zoo_aget_children2(zhandle_t *zh, const char *path, int watch, strings_stat_completion_t completion,
                       const void *data)
{
    (void)watch;
    return SEND(zh, completion, data, .kind = REQ_LIST, .completes = COMPLETES_STRINGS_STAT, .path = path);
}

/* The driver has one watcher for all nodes. */
static void watch_by(zhandle_t *zh, watcher_fn watcher, void *context)
{
    zh->node_watcher = watcher;
    zh->node_context = context;
}

int zoo_awget_children(zhandle_t *zh, const char *path, watcher_fn watcher, void *context,
                       strings_completion_t completion, const void *data)
{
    if (watcher != NULL)
        watch_by(zh, watcher, context);
    return SEND(zh, completion, data, .kind = REQ_LIST, .completes = COMPLETES_STRINGS, .path = path,
                .watch = watcher != NULL);
}

int zoo_awget_children2(zhandle_t *zh, const char *path, watcher_fn watcher, void *context,
                        strings_stat_completion_t completion, const void *data)
{
    if (watcher != NULL)
        watch_by(zh, watcher, context);
    return SEND(zh, completion, data, .kind = REQ_LIST, .completes = COMPLETES_STRINGS_STAT, .path = path,
                .watch = watcher != NULL);
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
    bool record = *name_of(path) == '\0';
    return SEND(zh, completion, data, .kind = record ? REQ_READ_RECORD : REQ_GET,
                .completes = record ? COMPLETES_RECORD : COMPLETES_DATA, .path = path);
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

static int set_record(zhandle_t *zh, const char *path, const char *value, int size, int version,
                      stat_completion_t completion, const void *data)
{
    char name[PDK__NAME_MAX];
    read_record(name, value, size);
    return SEND(zh, completion, data, .kind = REQ_RECORD, .completes = COMPLETES_STAT, .path = path, .version = version,
                .name = name);
}

int zoo_aset(zhandle_t *zh, const char *path, const char *value, int size, int version, stat_completion_t completion,
             const void *data)
{
    if (*name_of(path) == '\0')
        return set_record(zh, path, value, size, version, completion, data);
    bool revokes = pdk__revocation_asks(value, (size_t)size), bare = pdk__revocation_bare(value, (size_t)size);
    return SEND(zh, completion, data,
                .kind = bare      ? REQ_REVOKE_BARE
                        : revokes ? REQ_REVOKE
                                  : REQ_SET,
                .completes = COMPLETES_STAT, .path = path, .version = version);
}

int zoo_async(zhandle_t *zh, const char *path, string_completion_t completion, const void *data)
{
    return SEND(zh, completion, data, .kind = REQ_SYNC, .completes = COMPLETES_STRING, .path = path);
}

int zoo_aremove_all_watches(zhandle_t *zh, const char *path, ZooWatcherType type, int local,
                            void_completion_t *completion, const void *data)
{
    (void)local;
    return SEND(zh, completion, data, .kind = type == ZWATCHTYPE_ANY ? REQ_FORSAKE : REQ_UNWATCH,
                .completes = COMPLETES_VOID, .path = path);
}

/* --- completions ------------------------------------------------------------------------------------------------- */

static int code_of(const struct ticket *t, const struct answer *a)
{
    const struct client *c = t->zh->client;
    if (a == NULL)
        return c->auth_failed  ? ZAUTHFAILED
               : c->expired    ? ZSESSIONEXPIRED
               : c->by_silence ? ZOPERATIONTIMEOUT
                               : ZCONNECTIONLOSS;
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

static const char *data_of(const struct answer *a)
{
    static const char *const data[] = {
        [DATA_OWN] = PLAIN, [DATA_REVOKED] = PDK__REVOKE " " PLAIN, [DATA_REVOKED_BARE] = PDK__REVOKE};
    return data[a->data];
}

enum { PATH_SIZE = PDK__NAME_MAX + 16 };

static void write_path(char out[PATH_SIZE], int path, const char *name)
{
    snprintf(out, PATH_SIZE, "%s%s%s", paths[path], *name != '\0' ? "/" : "", name);
}

static void complete_data(const struct ticket *t, int rc, const struct answer *a, const struct Stat *stat)
{
    char record[PDK__NAME_MAX + 16];
    const char *value = rc != ZOK ? "" : t->kind == COMPLETES_DATA ? data_of(a) : record;
    if (value == record)
        snprintf(record, sizeof record, "%s%s", holds(a->name) ? PDK__HELD_BY : "", a->name);
    bool text = rc == ZOK && a->text != NULL;
    ((data_completion_t)t->completion)(rc, text ? a->text : value, text ? a->size : (int)strlen(value), stat, t->data);
}

static void put_result(zoo_op_result_t *result, int path, const char *name)
{
    char whole[PATH_SIZE];
    write_path(whole, path, name);
    result->err = ZOK;
    snprintf(result->value, (size_t)result->valuelen + 1, "%s", whole);
}

/* Those before the create that is refused have no error, and those after it were not tried. */
static void complete_multi(const struct ticket *t, int rc, const struct answer *a)
{
    for (int i = 0; i < t->n_results; i++) {
        zoo_op_result_t *result = &t->results[i];
        if (rc == ZOK && result->value != NULL)
            put_result(result, i == 0 ? t->path : a->also[i - 1].path, i == 0 ? a->name : a->also[i - 1].name);
        else if (rc == ZOK)
            result->err = ZOK;
        else if (a == NULL || rc == ZSESSIONEXPIRED)
            result->err = rc;
        else
            result->err = i < a->refused ? ZOK : i == a->refused ? rc : ZRUNTIMEINCONSISTENCY;
    }
    ((void_completion_t)t->completion)(rc, t->data);
}

static void complete_guarded(const struct ticket *t, int rc, const struct answer *a)
{
    bool judged = a != NULL && rc != ZOK && rc != ZSESSIONEXPIRED;
    for (int i = 0; i < t->n_results; i++)
        t->results[i].err = !judged ? rc : i < a->refused ? ZOK : i == a->refused ? rc : ZRUNTIMEINCONSISTENCY;
    struct Stat *stat = t->results[t->n_results - 1].stat;
    if (rc == ZOK && stat != NULL) {
        stat->version = a->version;
        stat->mtime = a->mtime_ms;
    }
    ((void_completion_t)t->completion)(rc, t->data);
}

static void complete(const struct ticket *t, const struct answer *a)
{
    int rc = code_of(t, a);
    char path[PATH_SIZE];
    struct Stat stat = {0};
    struct String_vector names = {0};
    if (a != NULL && rc == ZOK) {
        stat.czxid = a->czxid;
        stat.mzxid = t->kind == COMPLETES_RECORD ? a->czxid : a->mzxid;
        stat.pzxid = a->changed;
        stat.version = a->version;
        stat.mtime = a->mtime_ms;
        stat.ephemeralOwner = a->owner >= 0 ? world_session_id(a->owner) : 0;
        stat.dataLength = t->kind == COMPLETES_ACL ? a->has_data : (int32_t)strlen(data_of(a));
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
        write_path(path, t->path, a != NULL ? a->name : "");
        ((string_stat_completion_t)t->completion)(rc, rc == ZOK ? path : NULL, &stat, t->data);
        break;
    case COMPLETES_ACL:
        stat.numChildren = a != NULL ? a->n_children : 0;
        ((acl_completion_t)t->completion)(rc, &ZOO_OPEN_ACL_UNSAFE, &stat, t->data);
        break;
    case COMPLETES_GUARDED:
        complete_guarded(t, rc, a);
        break;
    case COMPLETES_MULTI:
        complete_multi(t, rc, a);
        break;
    case COMPLETES_STRINGS:
        ((strings_completion_t)t->completion)(rc, rc == ZOK ? &names : NULL, t->data);
        break;
    case COMPLETES_STRINGS_STAT:
        ((strings_stat_completion_t)t->completion)(rc, rc == ZOK ? &names : NULL, &stat, t->data);
        break;
    case COMPLETES_DATA:
    case COMPLETES_RECORD:
        complete_data(t, rc, a, &stat);
        break;
    }
}

/* A program that lends its handle goes on hearing of it. */
static void tell_session(zhandle_t *zh, int state)
{
    struct client *c = zh->client;
    unsigned before = c->heard_own;
    zh->watcher(zh, ZOO_SESSION_EVENT, state, "", zh->context);
    if (zh == c->lent && c->heard_own != before + 1)
        world_break(c->world, "driver", "the program of client %d hears %u times of its own handle", c->id,
                    c->heard_own - before);
}

/* Its words for a loss, some of which repeat what the last said. */
static void log_loss(const zhandle_t *zh)
{
    static const char *const lines[] = {
        "2026-01-01 00:00:00,000:1(0x1):ZOO_WARN@socket@1: Socket [10.0.0.1:2181] zk retcode=-4, errno=111(Connection "
        "refused): server refused to accept the client",
        "2026-01-01 00:00:00,000:1(0x1):ZOO_ERROR@interest@2: connection timed out (exceeded timeout by 1ms)\n",
        "2026-01-01 00:00:00,000:1(0x1):ZOO_WARN@delay@3: Delaying connection after exhaustively trying all servers",
        "2026-01-01 00:00:00,000:1(0x1):ZOO_INFO@read@4: session establishment complete", "a line of no known form"};
    if (zh->log != NULL && zh->client->curious)
        zh->log(lines[below(&world_of(zh)->random, sizeof lines / sizeof *lines)]);
}

/* Is the library about to open another handle? Then it does not heed what this one still reports. */
static bool is_replaced(const zhandle_t *zh)
{
    const struct pdk_client *library = zh->client->library;
    return library != NULL && library->opener.wanted && (library->zh == zh || zh->closed);
}

void zookeeper_drop(struct client *c, uint64_t ticket)
{
    if (ticket != 0)
        c->tickets[ticket - 1].zh = NULL;
}

void model_path(char out[], int path, const char *name) { write_path(out, path, name); }
const char *model_name(const char *path) { return name_of(path); }

void zookeeper_complete(struct client *c, const struct message *m)
{
    static const int *const types[] = {&ZOO_CREATED_EVENT, &ZOO_DELETED_EVENT, &ZOO_CHANGED_EVENT, &ZOO_CHILD_EVENT};
    struct ticket t;
    zhandle_t *zh = c->zh;
    char path[PATH_SIZE];
    const struct answer *a = m->body;
    switch ((enum in_kind)m->kind) {
    case IN_CONNECTED:
        tell_session(zh, ZOO_CONNECTED_STATE);
        break;
    case IN_DISCONNECTED:
        log_loss(zh);
        tell_session(zh, ZOO_CONNECTING_STATE);
        break;
    case IN_EXPIRED:
        tell_session(zh, ZOO_EXPIRED_SESSION_STATE);
        break;
    case IN_AUTH_FAILED:
        tell_session(zh, ZOO_AUTH_FAILED_STATE);
        c->auth_told = !is_replaced(zh);
        break;
    case IN_REPLY:
    case IN_UNKNOWN:
        if (m->a == 0)
            break;
        t = c->tickets[m->a - 1];
        c->tickets[m->a - 1].zh = NULL;
        c->answering = &t;
        c->n_listed = 0;
        complete(&t, m->kind == IN_REPLY ? a : NULL);
        c->answering = NULL;
        break;
    case IN_EVENT:
        write_path(path, a->path, a->name);
        if (zh->node_watcher != NULL)
            zh->node_watcher(zh, *types[a->event], ZOO_CONNECTED_STATE, path, zh->node_context);
        break;
    }
}

/* --- constants --------------------------------------------------------------------------------------------------- */

const int ZOO_EXPIRED_SESSION_STATE = -112, ZOO_AUTH_FAILED_STATE = -113, ZOO_CONNECTING_STATE = 1;
const int ZOO_ASSOCIATING_STATE = 2, ZOO_CONNECTED_STATE = 3, ZOO_READONLY_STATE = 5, ZOO_NOTCONNECTED_STATE = 999;
const int ZOO_CREATED_EVENT = 1, ZOO_DELETED_EVENT = 2, ZOO_CHANGED_EVENT = 3, ZOO_CHILD_EVENT = 4;
const int ZOO_SESSION_EVENT = -1, ZOO_NOTWATCHING_EVENT = -2;
const int ZOO_PERSISTENT = 0, ZOO_EPHEMERAL = 1, ZOO_EPHEMERAL_SEQUENTIAL = 3, ZOO_CONTAINER = 4;

/* --- not of the simulator's world -------------------------------------------------------------------------------- */

const int ZOO_PERM_READ = 1 << 0, ZOO_PERM_CREATE = 1 << 2, ZOO_PERM_DELETE = 1 << 3;
struct ACL_vector ZOO_OPEN_ACL_UNSAFE;
