#include "test/lib/register.h"

#include "lib/zk/client.h"
#include <stdlib.h>

static const char path[] = "/register";

static struct history *history;
static pdk_client *client;
static register_guard *guard_grant;
static atomic_bool exists;
static _Atomic int64_t in_flight; /* the token of its grant; 0: none */

/* A write that ZooKeeper's client forgets to complete stays allocated. */
struct write {
    int request;
    int64_t token, number;
    zoo_op_t ops[2];
    zoo_op_result_t results[2];
    struct Stat stat;
};

void register_begin(struct history *h, pdk_client *c, register_guard *fill)
{
    history = h;
    client = c;
    guard_grant = fill;
}

static void created(int rc, const char *name, const void *data)
{
    (void)name, (void)data;
    if (rc == ZOK || rc == ZNODEEXISTS)
        atomic_store(&exists, true);
}

/* The client's lock keeps its handle from being replaced meanwhile; here, and for a write. */
void register_create(pdk_client *c)
{
    pdk__client_lock(c);
    if (!atomic_load(&exists) && c->zh != NULL)
        zoo_acreate(c->zh, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, created, NULL);
    pdk__client_leave(c);
}

bool register_exists(void) { return atomic_load(&exists); }

static void record(enum event event, const struct write *w, int rc)
{
    history_write(history, &(struct record){.event = event,
                                            .rc = rc,
                                            .kind = w->request,
                                            .token = w->token,
                                            .session = w->number,
                                            .valid_ms = w->stat.version});
}

static void answered(int rc, const void *data)
{
    struct write *w = (struct write *)data;
    int64_t token = w->token;
    record(WROTE, w, rc);
    free(w);
    atomic_compare_exchange_strong(&in_flight, &token, 0);
}

/* A multi on a handle that is not connected can abort the process: see pdk_lock_guard(). */
static int commit(struct write *w)
{
    pdk__client_lock(client);
    zhandle_t *zh = client->zh;
    int rc = ZINVALIDSTATE;
    if (zh != NULL && zoo_state(zh) == ZOO_CONNECTED_STATE)
        rc = zoo_amulti(zh, 2, w->ops, w->results, answered, w);
    pdk__client_leave(client);
    return rc;
}

/* The guard of the last grant that wrote: its path stays until the mutex is freed. */
static zoo_op_t guard;
static int64_t guarded; /* its token */

static void start(int request)
{
    static int64_t n_writes;
    struct write *w = calloc(1, sizeof *w);
    if (w == NULL)
        abort();
    *w = (struct write){.request = request, .token = guarded, .number = ++n_writes, .ops = {guard}};
    zoo_set_op_init(&w->ops[1], path, "", 0, -1, &w->stat);
    atomic_store(&in_flight, guarded);
    record(WRITING, w, 0);
    int rc = commit(w);
    if (rc != ZOK)
        answered(rc, w);
}

void register_write(int request, int64_t token)
{
    if (!atomic_load(&exists) || atomic_load(&in_flight) == token || guard_grant(&guard) != 0)
        return;
    guarded = token;
    start(request);
}

int64_t register_token(void) { return guarded; }

void register_write_late(int request, int64_t token)
{
    if (guarded == token && token != 0 && atomic_load(&in_flight) != token)
        start(request);
}
