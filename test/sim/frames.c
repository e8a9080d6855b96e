/*
 * The servers' end of the wire protocol: what ZooKeeper's own client sends is put to the ensemble by the model of the
 * client (zookeeper.c, as model_...), and the answers go back as bytes.
 */
#include "test/sim/laws.h"
#include "test/sim/wired.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/proto.h>
#include <zookeeper/recordio.h>
#include <zookeeper/zookeeper.h>
#include <zookeeper/zookeeper.jute.h>

enum { XID_PING = -2, XID_AUTH = -4, XID_WATCHES = -8, PATH_ROOM = 256, OPS_MAX = 64 };

/* The API of the model, under the names that the build gives it. */
#define MODEL(name) __typeof__(name) model_##name
MODEL(zoo_acreate);
MODEL(zoo_acreate2);
MODEL(zoo_adelete);
MODEL(zoo_aexists);
MODEL(zoo_aget);
MODEL(zoo_aget_acl);
MODEL(zoo_aget_children);
MODEL(zoo_aget_children2);
MODEL(zoo_amulti);
MODEL(zoo_aremove_all_watches);
MODEL(zoo_aset);
MODEL(zoo_async);
MODEL(zoo_awexists);
MODEL(zoo_awget);
MODEL(zoo_awget_children);
MODEL(zoo_awget_children2);
MODEL(zookeeper_init2);
MODEL(zookeeper_close);

/* A connection's bytes that are not a whole frame yet. */
static struct wire {
    unsigned number;
    bool greeted;
    char *bytes;
    size_t n, room;
} wires[CLIENTS_MAX];

static int64_t zxid_now; /* of the answer at hand */

static const struct answer *greetings[CLIENTS_MAX]; /* of the last connection that has one */

/* A request of the client's. */
struct call {
    struct client *client;
    unsigned wire;
    int32_t xid, type;
    char path[PATH_ROOM];
    int n_ops; /* of a transaction */
    zoo_op_t *ops;
    zoo_op_result_t *results;
};

/* --- to the client ------------------------------------------------------------------------------------------------ */

static void give(struct client *c, struct oarchive *oa)
{
    uint32_t size = htonl((uint32_t)get_buffer_len(oa));
    wired_give(c, &size, sizeof size);
    wired_give(c, get_buffer(oa), (size_t)get_buffer_len(oa));
    close_buffer_oarchive(&oa, 1);
}

static struct oarchive *begin_reply(int32_t xid, int64_t zxid, int rc)
{
    struct oarchive *oa = create_buffer_oarchive();
    struct ReplyHeader header = {.xid = xid, .zxid = zxid, .err = rc};
    serialize_ReplyHeader(oa, "header", &header);
    return oa;
}

static bool is_current(const struct call *k) { return wires[k->client->id].number == k->wire; }

static struct oarchive *answer(const struct call *k, int rc) { return begin_reply(k->xid, zxid_now, rc); }

static void end(const struct call *k, struct oarchive *oa)
{
    if (is_current(k))
        give(k->client, oa);
    else
        close_buffer_oarchive(&oa, 1);
}

static void with_nothing(int rc, const void *call) { end(call, answer(call, rc)); }

static void put_path(struct oarchive *oa, const char *path)
{
    char *text = (char *)(uintptr_t)path;
    oa->serialize_String(oa, "path", &text);
}

static void put_stat(struct oarchive *oa, const struct Stat *stat)
{
    struct Stat copy = *stat;
    serialize_Stat(oa, "stat", &copy);
}

static void with_path(int rc, const char *value, const void *call)
{
    const struct call *k = call;
    struct oarchive *oa = answer(k, rc);
    (void)value;
    if (rc == ZOK)
        put_path(oa, k->path);
    end(k, oa);
}

static void with_path_and_stat(int rc, const char *path, const struct Stat *stat, const void *call)
{
    struct oarchive *oa = answer(call, rc);
    if (rc == ZOK) {
        put_path(oa, path);
        put_stat(oa, stat);
    }
    end(call, oa);
}

static void with_stat(int rc, const struct Stat *stat, const void *call)
{
    struct oarchive *oa = answer(call, rc);
    if (rc == ZOK)
        put_stat(oa, stat);
    end(call, oa);
}

static void with_names_and_stat(int rc, const struct String_vector *names, const struct Stat *stat, const void *call)
{
    struct oarchive *oa = answer(call, rc);
    if (rc == ZOK) {
        struct String_vector copy = *names;
        serialize_String_vector(oa, "children", &copy);
        if (stat != NULL)
            put_stat(oa, stat);
    }
    end(call, oa);
}

static void with_names(int rc, const struct String_vector *names, const void *call)
{
    with_names_and_stat(rc, names, NULL, call);
}

static void with_data(int rc, const char *value, int size, const struct Stat *stat, const void *call)
{
    struct oarchive *oa = answer(call, rc);
    if (rc == ZOK) {
        struct buffer data = {.len = size, .buff = (char *)(uintptr_t)value};
        oa->serialize_Buffer(oa, "data", &data);
        put_stat(oa, stat);
    }
    end(call, oa);
}

static void with_acl(int rc, struct ACL_vector *acl, struct Stat *stat, const void *call)
{
    struct oarchive *oa = answer(call, rc);
    if (rc == ZOK) {
        serialize_ACL_vector(oa, "acl", acl);
        put_stat(oa, stat);
    }
    end(call, oa);
}

static void put_header(struct oarchive *oa, int type, bool done, int rc)
{
    struct MultiHeader header = {.type = type, .done = done, .err = rc};
    serialize_MultiHeader(oa, "header", &header);
}

/* If one is refused, all have an error: those before it none, those after it another. */
static void put_result(struct oarchive *oa, const struct call *k, int i, bool refused)
{
    const zoo_op_result_t *result = &k->results[i];
    int type = k->ops[i].type;
    if (refused) {
        int32_t rc = result->err;
        put_header(oa, -1, false, rc);
        oa->serialize_Int(oa, "err", &rc);
        return;
    }
    bool creates = type != ZOO_DELETE_OP && type != ZOO_SETDATA_OP && type != ZOO_CHECK_OP;
    put_header(oa, creates ? ZOO_CREATE_OP : type, false, 0);
    if (creates)
        put_path(oa, result->value != NULL ? result->value : k->ops[i].create_op.path);
    if (type == ZOO_SETDATA_OP)
        put_stat(oa, k->ops[i].set_op.stat);
}

static void with_results(int rc, const void *call)
{
    const struct call *k = call;
    bool whole = rc == ZSESSIONEXPIRED || rc == ZSESSIONMOVED;
    struct oarchive *oa = answer(k, whole ? rc : ZOK);
    for (int i = 0; i < k->n_ops && !whole; i++)
        put_result(oa, k, i, rc != ZOK);
    if (!whole)
        put_header(oa, -1, true, -1);
    end(k, oa);
}

/* --- the session -------------------------------------------------------------------------------------------------- */

const struct answer *frames_greeting(const struct client *c) { return greetings[c->id]; }

static void greet(struct client *c, int64_t session, int32_t timeout_ms)
{
    static char password[16] = {[15] = 1};
    struct oarchive *oa = create_buffer_oarchive();
    int32_t version = 0, read_only = 0;
    struct buffer passwd = {.len = sizeof password, .buff = password};
    oa->serialize_Int(oa, "version", &version);
    oa->serialize_Int(oa, "timeout", &timeout_ms);
    oa->serialize_Long(oa, "session", &session);
    oa->serialize_Buffer(oa, "passwd", &passwd);
    oa->serialize_Bool(oa, "readOnly", &read_only);
    give(c, oa);
}

static void notify(struct client *c, const struct answer *a)
{
    static const int types[] = {1, 2, 3, 4};
    char path[PATH_ROOM];
    struct oarchive *oa = begin_reply(XID_EVENT, wired_mark(a), 0);
    model_path(path, a->path, a->name);
    struct WatcherEvent event = {.type = types[a->event], .state = 3, .path = path};
    serialize_WatcherEvent(oa, "event", &event);
    give(c, oa);
}

static void reply(struct client *c, const struct answer *a, const struct message *m)
{
    zxid_now = a->zxid;
    if (a->request->kind == REQ_SET_WATCHES) {
        give(c, begin_reply(XID_WATCHES, zxid_now, 0));
        return;
    }
    if (m->a != 0)
        wired_answered(((const struct call *)c->tickets[m->a - 1].data)->xid, a);
    zookeeper_complete(c, m);
}

void wired_hand_over(struct client *c, enum in_kind kind, uint64_t ticket, const void *body)
{
    const struct answer *a = body;
    struct message m = {.kind = (int)kind, .a = ticket, .b = c->handle, .body = body};
    switch (kind) {
    case IN_CONNECTED:
        greetings[c->id] = a;
        greet(c, world_session_id(c->session), (int32_t)a->timeout_ms);
        break;
    case IN_EXPIRED:
        greet(c, a != NULL ? world_session_id(a->owner) : 0, 0);
        break;
    case IN_DISCONNECTED:
        wired_hang_up(c, false);
        break;
    case IN_AUTH_FAILED:
        give(c, begin_reply(XID_AUTH, 0, ZAUTHFAILED));
        break;
    case IN_REPLY:
        reply(c, a, &m);
        break;
    case IN_UNKNOWN:
        zookeeper_drop(c, ticket);
        break;
    case IN_EVENT:
        notify(c, a);
        break;
    }
}

void wired_pong(struct client *c) { give(c, begin_reply(XID_PING, zxid_now, 0)); }

/* --- from the client ---------------------------------------------------------------------------------------------- */

static char *text_of(struct iarchive *ia)
{
    char *text = NULL;
    ia->deserialize_String(ia, "text", &text);
    return text;
}

static int32_t number_of(struct iarchive *ia)
{
    int32_t n = 0;
    ia->deserialize_Int(ia, "number", &n);
    return n;
}

static bool flag_of(struct iarchive *ia)
{
    int32_t flag = 0;
    ia->deserialize_Bool(ia, "flag", &flag);
    return flag != 0;
}

static void nothing(zhandle_t *zh, int type, int state, const char *path, void *context)
{
    (void)zh, (void)type, (void)state, (void)path, (void)context;
}

static void take_create(struct call *k, struct iarchive *ia)
{
    struct CreateRequest r = {0};
    deserialize_CreateRequest(ia, "request", &r);
    snprintf(k->path, sizeof k->path, "%s", r.path);
    if (k->type != ZOO_CREATE2_OP)
        model_zoo_acreate(k->client->zh, r.path, r.data.buff, r.data.len, &r.acl, r.flags, with_path, k);
    else
        model_zoo_acreate2(k->client->zh, r.path, r.data.buff, r.data.len, &r.acl, r.flags, with_path_and_stat, k);
}

static void take_op(zoo_op_t *op, int32_t type, char *made, struct Stat *stat, struct iarchive *ia)
{
    struct CreateRequest create = {0};
    struct DeleteRequest delete = {0};
    struct SetDataRequest set = {0};
    struct CheckVersionRequest check = {0};
    struct ACL_vector *acl;
    switch (type) {
    case ZOO_DELETE_OP:
        deserialize_DeleteRequest(ia, "request", &delete);
        zoo_delete_op_init(op, delete.path, delete.version);
        break;
    case ZOO_SETDATA_OP:
        deserialize_SetDataRequest(ia, "request", &set);
        zoo_set_op_init(op, set.path, set.data.buff, set.data.len, set.version, stat);
        break;
    case ZOO_CHECK_OP:
        deserialize_CheckVersionRequest(ia, "request", &check);
        zoo_check_op_init(op, check.path, check.version);
        break;
    default:
        deserialize_CreateRequest(ia, "request", &create);
        acl = real_malloc(sizeof *acl);
        *acl = create.acl;
        zoo_create_op_init(op, create.path, create.data.buff, create.data.len, acl, create.flags, made, PATH_ROOM);
        op->type = create.flags;
    }
}

static void take_multi(struct call *k, struct iarchive *ia)
{
    struct MultiHeader header;
    struct Stat *stats = real_calloc(OPS_MAX, sizeof *stats);
    char *made = real_calloc(OPS_MAX, PATH_ROOM);
    k->ops = real_calloc(OPS_MAX, sizeof *k->ops);
    k->results = real_calloc(OPS_MAX, sizeof *k->results);
    for (;;) {
        deserialize_MultiHeader(ia, "header", &header);
        if (header.done || k->n_ops == OPS_MAX)
            break;
        take_op(&k->ops[k->n_ops], header.type, made + k->n_ops * PATH_ROOM, &stats[k->n_ops], ia);
        k->n_ops++;
    }
    model_zoo_amulti(k->client->zh, k->n_ops, k->ops, k->results, with_results, k);
}

static void take_list(struct call *k, struct iarchive *ia)
{
    zhandle_t *zh = k->client->zh;
    char *path = text_of(ia);
    bool watch = flag_of(ia);
    if (k->type == ZOO_GETCHILDREN_OP && watch)
        model_zoo_awget_children(zh, path, nothing, NULL, with_names, k);
    else if (k->type == ZOO_GETCHILDREN_OP)
        model_zoo_aget_children(zh, path, 0, with_names, k);
    else if (watch)
        model_zoo_awget_children2(zh, path, nothing, NULL, with_names_and_stat, k);
    else
        model_zoo_aget_children2(zh, path, 0, with_names_and_stat, k);
}

static void take_read(struct call *k, struct iarchive *ia)
{
    zhandle_t *zh = k->client->zh;
    char *path = text_of(ia);
    bool watch = flag_of(ia);
    if (k->type == ZOO_EXISTS_OP && watch)
        model_zoo_awexists(zh, path, nothing, NULL, with_stat, k);
    else if (k->type == ZOO_EXISTS_OP)
        model_zoo_aexists(zh, path, 0, with_stat, k);
    else if (watch)
        model_zoo_awget(zh, path, nothing, NULL, with_data, k);
    else
        model_zoo_aget(zh, path, 0, with_data, k);
}

static void take_set(struct call *k, struct iarchive *ia)
{
    struct SetDataRequest r = {0};
    deserialize_SetDataRequest(ia, "request", &r);
    model_zoo_aset(k->client->zh, r.path, r.data.buff, r.data.len, r.version, with_stat, k);
}

static int split(struct watched *out, int n, enum watch_kind kind, const struct String_vector *paths)
{
    for (int i = 0; i < paths->count && n < CLIENT_WATCHES_MAX; i++, n++) {
        out[n].kind = kind;
        out[n].path = zookeeper_path(paths->data[i]);
        snprintf(out[n].name, sizeof out[n].name, "%s", model_name(paths->data[i]));
    }
    return n;
}

static void take_set_watches(struct client *c, struct iarchive *ia)
{
    struct SetWatches r = {0};
    struct watched *all = c->world->ensemble.scratch(c->world, CLIENT_WATCHES_MAX * sizeof *all);
    deserialize_SetWatches(ia, "request", &r);
    int n = split(all, 0, WATCH_DATA, &r.dataWatches);
    n = split(all, n, WATCH_EXISTS, &r.existWatches);
    n = split(all, n, WATCH_CHILDREN, &r.childWatches);
    io_set_watches(c, r.relativeZxid, all, n);
}

static void take_request(struct client *c, struct iarchive *ia)
{
    struct RequestHeader header = {0};
    deserialize_RequestHeader(ia, "header", &header);
    struct call *k = c->world->ensemble.scratch(c->world, sizeof *k);
    *k = (struct call){.client = c, .wire = wires[c->id].number, .xid = header.xid, .type = header.type};
    char *path = NULL;
    switch (header.type) {
    case ZOO_PING_OP:
        io_ping(c);
        break;
    case ZOO_CLOSE_OP:
        io_end_session(c);
        break;
    case ZOO_SETWATCHES_OP:
        take_set_watches(c, ia);
        break;
    case ZOO_SETAUTH_OP:
        c->authenticated = true;
        give(c, begin_reply(XID_AUTH, 0, 0));
        break;
    case ZOO_CREATE_OP:
    case ZOO_CREATE2_OP:
    case ZOO_CREATE_CONTAINER_OP:
        take_create(k, ia);
        break;
    case ZOO_MULTI_OP:
        take_multi(k, ia);
        break;
    case ZOO_GETCHILDREN_OP:
    case ZOO_GETCHILDREN2_OP:
        take_list(k, ia);
        break;
    case ZOO_EXISTS_OP:
    case ZOO_GETDATA_OP:
        take_read(k, ia);
        break;
    case ZOO_SETDATA_OP:
        take_set(k, ia);
        break;
    case ZOO_DELETE_OP:
        path = text_of(ia);
        model_zoo_adelete(c->zh, path, number_of(ia), with_nothing, k);
        break;
    case ZOO_GETACL_OP:
        path = text_of(ia);
        model_zoo_aget_acl(c->zh, path, with_acl, k);
        break;
    case ZOO_SYNC_OP:
        path = text_of(ia);
        snprintf(k->path, sizeof k->path, "%s", path);
        model_zoo_async(c->zh, path, with_path, k);
        break;
    case ZOO_CHECK_WATCHES: /* of which nothing is removed */
        give(c, begin_reply(k->xid, zxid_now, 0));
        break;
    case ZOO_REMOVE_WATCHES:
        path = text_of(ia);
        model_zoo_aremove_all_watches(c->zh, path, (ZooWatcherType)number_of(ia), 0, (void_completion_t *)with_nothing,
                                      k);
        break;
    default:
        world_break(c->world, "model", "client %d sends a request of type %d", c->id, header.type);
    }
}

static session_index session_of(int64_t id) { return id != 0 ? (session_index)(id - world_session_id(0)) : -1; }

static void take_hello(struct client *c, struct iarchive *ia)
{
    int32_t version, timeout_ms;
    int64_t zxid, session;
    ia->deserialize_Int(ia, "version", &version);
    ia->deserialize_Long(ia, "zxid", &zxid);
    ia->deserialize_Int(ia, "timeout", &timeout_ms);
    ia->deserialize_Long(ia, "session", &session);
    io_hello(c, zxid, session_of(session), timeout_ms);
}

bool frames_open(struct client *c, const char *hosts, int timeout_ms)
{
    return model_zookeeper_init2(hosts, nothing, timeout_ms, NULL, NULL, 0, NULL) != NULL && c->zh != NULL;
}

void frames_close(struct client *c) { model_zookeeper_close(c->zh); }

void frames_begin(struct client *c)
{
    struct wire *w = &wires[c->id];
    w->number++;
    w->greeted = false;
    w->n = 0;
}

void frames_end(struct client *c) { wires[c->id].number++; }

static void take_frame(struct client *c, char *bytes, int size)
{
    struct iarchive *ia = create_buffer_iarchive(bytes, size);
    bool greeted = wires[c->id].greeted;
    wires[c->id].greeted = true;
    if (greeted)
        take_request(c, ia);
    else
        take_hello(c, ia);
    close_buffer_iarchive(&ia);
}

void frames_take(struct client *c, const char *bytes, size_t size)
{
    struct wire *w = &wires[c->id];
    unsigned number = w->number;
    if (w->n + size > w->room && (w->bytes = realloc(w->bytes, w->room = 2 * (w->n + size))) == NULL)
        abort();
    memcpy(w->bytes + w->n, bytes, size);
    w->n += size;
    while (w->number == number && w->n >= 4) {
        uint32_t length;
        memcpy(&length, w->bytes, 4);
        length = ntohl(length);
        if (w->n < 4 + (size_t)length)
            break;
        char *frame = real_malloc(length);
        memcpy(frame, w->bytes + 4, length);
        w->n -= 4 + length;
        memmove(w->bytes, w->bytes + 4 + length, w->n);
        take_frame(c, frame, (int)length);
    }
}
