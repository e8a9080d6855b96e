/*
 * The administrator of a run. Each call ends after CALL_MS at the latest, whatever the servers do. An ensemble of
 * ZooKeeper 3.8.0 can, after a leader change, keep its connections and answer pings, and commit nothing any more.
 */
#include "test/chaos/nemesis.h"

#include "test/lib/check.h"
#include "test/lib/zk.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALL_MS = 5000, STALL_MS = 10000, LOOK_MS = 1000, LOST_MAX = 64 };

/* --- calls ------------------------------------------------------------------------------------------------------- */

struct call {
    _Atomic bool done;
    int rc;
    char made[256];
};

/* Calls that were given up: their answers may still come. */
static struct call *lost[LOST_MAX];
static size_t n_lost;

static void created(int rc, const char *value, const void *data)
{
    struct call *call = (struct call *)(uintptr_t)data;
    call->rc = rc;
    snprintf(call->made, sizeof call->made, "%s", rc == ZOK && value != NULL ? value : "");
    atomic_store(&call->done, true);
}

static void deleted(int rc, const void *data) { created(rc, NULL, data); }

static int await(struct nemesis *n, struct call *call, int rc, char made[256])
{
    int64_t until = now_ns() + CALL_MS * INT64_C(1000000);
    while (rc == ZOK && !atomic_load(&call->done) && now_ns() < until)
        pdk__test_nap();
    if (rc == ZOK && !atomic_load(&call->done)) {
        CHECK(n_lost < LOST_MAX);
        lost[n_lost++] = call;
        n->unsure = true;
        return ZOPERATIONTIMEOUT;
    }
    rc = rc == ZOK ? call->rc : rc;
    if (made != NULL)
        snprintf(made, 256, "%s", call->made);
    free(call);
    return rc;
}

static struct call *begin(void)
{
    struct call *call = calloc(1, sizeof *call);
    CHECK(call != NULL);
    return call;
}

int admin_create(struct nemesis *n, const char *path, int mode, char made[256])
{
    struct call *call = begin();
    return await(n, call, zoo_acreate(n->zh, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, mode, created, call), made);
}

int admin_delete(struct nemesis *n, const char *path)
{
    struct call *call = begin();
    return await(n, call, zoo_adelete(n->zh, path, -1, deleted, call), NULL);
}

/* A call that was given up may have created a node. That node is deleted with the session. */
void admin_renew(struct nemesis *n)
{
    if (!n->unsure)
        return;
    zookeeper_close(n->zh);
    n->zh = NULL;
    admin_open(n);
    n->unsure = false;
}

void admin_open(struct nemesis *n)
{
    char direct[PDK__SERVER_MAX * 32] = "";
    for (int i = 0; i < n->e->n; i++)
        snprintf(direct + strlen(direct), 32, "%s127.0.0.1:%d", i > 0 ? "," : "", pdk__server_port(n->e->server[i]));
    n->zh = pdk__zk_open(direct, 600000);
}

/* --- an ensemble that commits nothing ---------------------------------------------------------------------------- */

/* The last transaction of any server: there is one many times a second, by the beat. */
static int64_t newest(const struct nemesis *n)
{
    int64_t zxid = 0;
    for (int i = 0; i < n->e->n; i++) {
        char text[1024];
        const char *at = NULL;
        if (pdk__server_4lw("127.0.0.1", pdk__server_port(n->e->server[i]), "srvr", text, sizeof text) > 0)
            at = strstr(text, "Zxid: ");
        int64_t mine = at != NULL ? strtoll(at + 6, NULL, 16) : 0;
        zxid = mine > zxid ? mine : zxid;
    }
    return zxid;
}

static void restart_leader(struct nemesis *n)
{
    struct record r = {.event = FAULT_BEGINS, .kind = FAULT_STALLED, .token = ++n->serial, .rc = -1};
    history_write(n->log, &r);
    r.rc = pdk__ensemble_leader(n->e, n->e->n);
    pdk__server_kill(n->e->server[r.rc]);
    CHECK_EQ(pdk__server_start(n->e->server[r.rc]), 0);
    r.event = FAULT_ENDS;
    r.session = 1;
    history_write(n->log, &r);
    n->well_ns = 0;
}

void admin_mend(struct nemesis *n, bool is_well)
{
    int64_t now = now_ns();
    if (!is_well)
        n->moved_ns = now;
    if (!is_well || now - n->looked_ns < LOOK_MS * INT64_C(1000000))
        return;
    n->looked_ns = now;
    int64_t zxid = newest(n);
    if (zxid != n->zxid)
        n->moved_ns = now;
    n->zxid = zxid;
    if (now - n->moved_ns > STALL_MS * INT64_C(1000000)) {
        restart_leader(n);
        n->moved_ns = now_ns();
    }
}
