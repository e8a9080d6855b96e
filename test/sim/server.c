/* A server and its clients: requests in their order, watches, replies. */
#include "test/sim/world.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- down to the client ------------------------------------------------------------------------------------------ */

static struct answer *make(struct server *s, const struct request *r)
{
    struct answer *a = s->e->scratch(s->e->world, sizeof *a);
    *a = (struct answer){.request = r, .zxid = s->tree.zxid, .owner = -1};
    return a;
}

static void send_down(struct server *s, int client, enum answer_kind kind, const struct answer *a)
{
    s->e->answer(s->e->world, client, s->id, kind, a);
}

static void close_connection(struct server *s, int client)
{
    struct connection *c = &s->connections[client];
    if (!c->open)
        return;
    c->open = false;
    c->n_pending = 0;
    int kept = 0;
    for (int i = 0; i < s->n_watches; i++) /* a watch lives as long as its connection */
        if (s->watches[i].session != c->session)
            s->watches[kept++] = s->watches[i];
    s->n_watches = kept;
}

void server_disconnect(struct server *s, int client) { close_connection(s, client); }

static void hang_up(struct server *s, int client)
{
    if (!s->connections[client].open)
        return;
    close_connection(s, client);
    send_down(s, client, ANSWER_CLOSED, make(s, NULL));
}

void server_close_all(struct server *s)
{
    for (int i = 0; i < CLIENTS_MAX; i++)
        hang_up(s, i);
}

/* --- watches ----------------------------------------------------------------------------------------------------- */

static struct connection *connection_of(struct server *s, session_index session)
{
    for (int i = 0; i < CLIENTS_MAX; i++)
        if (s->connections[i].open && s->connections[i].established && s->connections[i].session == session)
            return &s->connections[i];
    return NULL;
}

static void notify(struct server *s, session_index session, int path, const char *name, enum event_kind event)
{
    struct connection *c = connection_of(s, session);
    if (c == NULL)
        return;
    struct answer *a = make(s, NULL);
    a->path = path;
    strcpy(a->name, name);
    a->event = event;
    send_down(s, c->client, ANSWER_EVENT, a);
}

/* One on a lock path has the name "". */
static bool is_on(const struct watch *w, int path, const char *name)
{
    return w->path == path && strcmp(w->name, name) == 0;
}

static void watch(struct server *s, session_index session, int path, const char *name, bool children, bool again)
{
    for (int i = 0; i < s->n_watches; i++)
        if (s->watches[i].session == session && s->watches[i].children == children && is_on(&s->watches[i], path, name))
            return;
    if (s->n_watches == WATCHES_MAX) {
        fputs("sim: too many watches\n", stderr);
        abort();
    }
    struct watch *w = &s->watches[s->n_watches++];
    w->session = session;
    w->path = path;
    w->children = children;
    w->again = again;
    strcpy(w->name, name);
}

/* By the ACL of the node. An administrator's is read by no client. */
bool server_permits(const struct server *s, session_index session, const struct node *node)
{
    const struct world *w = s->e->world;
    return !node->secret || (node->owner >= 0 && w->session_client[node->owner] == w->session_client[session]);
}

/* Servers with the mend of CVE-2024-23944 do not send an event to a client that may not read the node. */
static bool may_hear(struct server *s, session_index session, int path, const char *name)
{
    const struct node *node = *name != '\0' ? tree_find(&s->tree, path, name) : NULL;
    bool may = node == NULL || server_permits(s, session, node);
    if (!may)
        see(SIGHT_NOT_TOLD);
    return may;
}

/* Permission to read was taken, and given back. The client looks again within two session timeouts: by then it has had
 * its turn, whichever members have joined since. */
static bool swallows(struct server *s)
{
    struct world *w = s->e->world;
    if (w->swallowed_permille == 0 || w->healed || !chance(&w->fault_random, w->swallowed_permille))
        return false;
    see(SIGHT_SWALLOWED);
    w->deaf_until = w->agenda.now + 2 * w->session_ms * 1000;
    return true;
}

/* Watches are one-shot: one that fires is deleted. A deletion fires both kinds. */
static void fire(struct server *s, int path, const char *name, enum event_kind event)
{
    int kept = 0;
    for (int i = 0; i < s->n_watches; i++) {
        struct watch *w = &s->watches[i];
        bool fires = event == EVENT_DELETED || w->children == (event == EVENT_CHILDREN);
        if (!fires || !is_on(w, path, name))
            s->watches[kept++] = *w;
        else if (may_hear(s, w->session, path, name) && !swallows(s))
            notify(s, w->session, path, name, event);
    }
    s->n_watches = kept;
}

static void fire_all_of(struct server *s, session_index session)
{
    for (int p = 0; p < PATHS; p++)
        for (int i = 0; i < s->tree.dirs[p].n; i++)
            if (s->tree.dirs[p].nodes[i].owner == session) {
                fire(s, p, s->tree.dirs[p].nodes[i].name, EVENT_DELETED);
                fire(s, p, "", EVENT_CHILDREN);
            }
}

static void fire_by(struct server *s, const struct txn *txn);

static void fire_by_each(struct server *s, const struct txn *txn)
{
    for (int i = 0; i <= txn->n_also; i++) {
        struct txn part = txn_part(txn, i);
        fire_by(s, &part);
    }
}

/* The watches that a transaction fires (DataTree). */
static void fire_by(struct server *s, const struct txn *txn)
{
    if (s->n_watches == 0)
        return;
    if (txn->n_also > 0)
        fire_by_each(s, txn);
    else if (txn->kind == TXN_CLOSE_SESSION)
        fire_all_of(s, txn->session);
    else if (txn->kind == TXN_DELETE)
        fire(s, txn->path, txn->name, EVENT_DELETED);
    else if (txn->kind == TXN_SET)
        fire(s, txn->path, txn->name, EVENT_CHANGED);
    else if (txn->kind == TXN_CREATE || txn->kind == TXN_LEAVE_WORD || txn->kind == TXN_PLANT)
        fire(s, txn->path, txn->name, EVENT_CREATED);
    else if (txn->kind == TXN_RECORD)
        fire(s, txn->path, "", EVENT_CHANGED);
    else if (txn->kind == TXN_WRITE)
        fire(s, txn->path, "", s->tree.dirs[txn->path].exists ? EVENT_CHANGED : EVENT_CREATED);
    else if (txn->kind == TXN_MAKE_DIR)
        fire(s, txn->path, "", s->tree.dirs[txn->path].exists ? EVENT_DELETED : EVENT_CREATED);
    else if (txn->kind == TXN_REMOVE_DIR)
        fire(s, txn->path, "", EVENT_DELETED);
    if (txn->kind == TXN_DELETE || txn->kind == TXN_CREATE || txn->kind == TXN_LEAVE_WORD || txn->kind == TXN_PLANT)
        fire(s, txn->path, "", EVENT_CHILDREN);
}

int server_node_watches(const struct server *s)
{
    int n = 0;
    for (int i = 0; i < s->n_watches; i++)
        n += *s->watches[i].name != '\0';
    return n;
}

/* --- answers ----------------------------------------------------------------------------------------------------- */

static const char *const *copy_names(struct ensemble *e, const struct dir *dir)
{
    size_t size = 1;
    for (int i = 0; i < dir->n; i++)
        size += strlen(dir->nodes[i].name) + 1;
    char *text = e->scratch(e->world, size);
    const char **names = e->scratch(e->world, (size_t)dir->n * sizeof *names + 1);
    for (int i = 0; i < dir->n; i++) {
        names[i] = text;
        text = stpcpy(text, dir->nodes[i].name) + 1;
    }
    return names;
}

static void answer_list(struct server *s, const struct request *r, struct answer *a)
{
    struct dir *dir = &s->tree.dirs[r->path];
    if (!dir->exists) {
        a->error = Z_NONODE;
        return;
    }
    a->children = copy_names(s->e, dir);
    a->n_children = dir->n;
    a->changed = dir->pzxid;
    if (r->watch)
        watch(s, r->session, r->path, "", true, false);
}

/* Does the lock path exist? */
static void answer_path(struct server *s, const struct request *r, struct answer *a)
{
    if (!s->tree.dirs[r->path].exists)
        a->error = Z_NONODE;
    a->version = s->tree.dirs[r->path].version;
    a->mtime_ms = s->tree.dirs[r->path].mtime_ms;
    if (r->watch)
        watch(s, r->session, r->path, "", false, false);
}

static void answer_get(struct server *s, const struct request *r, struct answer *a)
{
    struct node *node = tree_find(&s->tree, r->path, r->name);
    if (node != NULL && r->kind == REQ_GET && !server_permits(s, r->session, node)) {
        see(SIGHT_NOT_READ);
        a->error = Z_NOAUTH;
        return;
    }
    if (node != NULL) {
        a->owner = node->owner;
        a->czxid = node->czxid;
        a->mzxid = node->mzxid;
        a->mtime_ms = node->mtime_ms;
        a->version = node->version;
        a->data = node->data;
    } else {
        a->error = Z_NONODE;
    }
    if (r->watch && (node != NULL || r->kind == REQ_EXISTS))
        watch(s, r->session, r->path, r->name, false, false);
}

static void answer_acl(struct server *s, const struct request *r, struct answer *a)
{
    const struct dir *dir = &s->tree.dirs[r->path];
    a->error = dir->exists ? Z_OK : Z_NONODE;
    a->version = dir->version;
    a->has_data = *dir->record != '\0';
    a->n_children = dir->n;
}

static void answer_record(struct server *s, const struct request *r, struct answer *a)
{
    const struct dir *dir = &s->tree.dirs[r->path];
    strcpy(a->name, dir->record);
    a->text = dir->text;
    a->size = dir->size;
    a->mtime_ms = dir->mtime_ms;
    a->czxid = dir->mzxid;
    a->version = dir->version;
    a->error = dir->exists ? Z_OK : Z_NONODE;
}

static void unwatch(struct server *s, const struct request *r)
{
    int kept = 0;
    for (int i = 0; i < s->n_watches; i++) {
        struct watch *w = &s->watches[i];
        if (w->session != r->session || (w->children && r->kind != REQ_FORSAKE) || !is_on(w, r->path, r->name))
            s->watches[kept++] = *w;
    }
    s->n_watches = kept;
}

/* The event that the client missed while it had no connection (DataTree.setWatches). */
static bool missed_event(struct server *s, const struct watched *w, int64_t since_zxid, enum event_kind *event)
{
    const struct dir *dir = &s->tree.dirs[w->path];
    const struct node *node = *w->name != '\0' ? tree_find(&s->tree, w->path, w->name) : NULL;
    bool there = *w->name != '\0' ? node != NULL : dir->exists;
    int64_t changed = w->kind == WATCH_CHILDREN ? dir->pzxid : node != NULL ? node->mzxid : dir->mzxid;
    if (w->kind == WATCH_EXISTS) {
        *event = EVENT_CREATED;
        return there;
    }
    *event = !there ? EVENT_DELETED : w->kind == WATCH_CHILDREN ? EVENT_CHILDREN : EVENT_CHANGED;
    return !there || changed > since_zxid;
}

static void set_watches(struct server *s, const struct request *r)
{
    for (int i = 0; i < r->n_watched; i++) {
        const struct watched *w = &r->watched[i];
        enum event_kind missed;
        if (missed_event(s, w, r->since_zxid, &missed))
            notify(s, r->session, w->path, w->name, missed);
        else
            watch(s, r->session, w->path, w->name, w->kind == WATCH_CHILDREN, true);
    }
}

static void answer_read(struct server *s, int client, const struct request *r)
{
    struct answer *a = make(s, r);
    if (r->kind == REQ_LIST)
        answer_list(s, r, a);
    else if (r->kind == REQ_GET_ACL)
        answer_acl(s, r, a);
    else if (r->kind == REQ_EXISTS && *r->name == '\0')
        answer_path(s, r, a);
    else if (r->kind == REQ_GET || r->kind == REQ_EXISTS)
        answer_get(s, r, a);
    else if (r->kind == REQ_READ_RECORD)
        answer_record(s, r, a);
    else if (r->kind == REQ_UNWATCH || r->kind == REQ_FORSAKE)
        unwatch(s, r);
    else if (r->kind == REQ_SET_WATCHES)
        set_watches(s, r);
    send_down(s, client, r->kind == REQ_PING ? ANSWER_PONG : ANSWER_REPLY, a);
}

/* --- in their order ---------------------------------------------------------------------------------------------- */

static void pop(struct connection *c)
{
    c->n_pending--;
    memmove(c->pending, c->pending + 1, (size_t)c->n_pending * sizeof *c->pending);
}

/* A read waits for the writes of its session before it. Answer the requests at the head of the queue that wait for no
 * other server. */
static void proceed(struct server *s, struct connection *c)
{
    while (c->open && c->n_pending > 0 && !is_write(c->pending[0]->kind) && c->pending[0]->kind != REQ_SYNC) {
        const struct request *r = c->pending[0];
        pop(c);
        answer_read(s, c->client, r);
    }
}

static void forward(struct server *s, const struct request *r)
{
    if (s->state == SERVER_LEADING)
        leader_prepare(s, r, s->id);
    else
        link_send(s->e, s->id, s->following, LINK_REQUEST, 0, 0, r);
}

void server_receive(struct server *s, int client, const struct request *r)
{
    struct connection *c = &s->connections[client];
    if (!server_serves(s) || !c->open || !c->established)
        return;
    if (s->state == SERVER_LEADING)
        leader_touch(s, r->session);
    else
        s->touched |= UINT64_C(1) << r->session;
    if (r->kind == REQ_PING) { /* pings overtake: they are answered from the front of the pipeline */
        answer_read(s, client, r);
        return;
    }
    if (r->large) { /* it ends the connection (NIOServerCnxn) */
        see(SIGHT_TOO_LARGE);
        hang_up(s, client);
        return;
    }
    if (c->n_pending == PENDING_MAX) {
        fputs("sim: too many requests pending\n", stderr);
        abort();
    }
    c->pending[c->n_pending++] = r;
    if (is_write(r->kind) || r->kind == REQ_SYNC)
        forward(s, r);
    proceed(s, c);
}

static void answer_head(struct server *s, const struct request *r, enum zerror error, const struct txn *txn)
{
    struct connection *c = connection_of(s, r->session);
    if (c == NULL || c->n_pending == 0 || c->pending[0] != r)
        return;             /* it came over an earlier connection */
    if (error == Z_MOVED) { /* no answer: the server ends the connection (FinalRequestProcessor, ZOOKEEPER-710) */
        see(SIGHT_MOVED);
        hang_up(s, c->client);
        return;
    }
    if (error == Z_EXPIRED)
        see(SIGHT_REFUSED_EXPIRED);
    pop(c);
    struct answer *a = make(s, r);
    a->error = error;
    a->refused = txn != NULL ? txn->refused : 0;
    if (txn != NULL && (txn->kind == TXN_CREATE || txn->kind == TXN_LEAVE_WORD)) {
        strcpy(a->name, txn->name);
        a->owner = txn->kind == TXN_CREATE ? txn->session : -1;
        a->czxid = txn->zxid;
        a->n_also = txn->n_also;
        a->also = txn->also;
    } else if (txn != NULL && txn->kind == TXN_SET) {
        const struct node *node = tree_find(&s->tree, txn->path, txn->name);
        a->owner = node->owner;
        a->czxid = node->czxid;
        a->mzxid = txn->zxid;
        a->version = node->version;
    } else if (txn != NULL && (txn->kind == TXN_RECORD || txn->kind == TXN_WRITE)) {
        a->version = s->tree.dirs[txn->path].version;
        a->mtime_ms = txn->time_ms;
    }
    send_down(s, c->client, ANSWER_REPLY, a);
    if (r->kind == REQ_CLOSE)
        hang_up(s, c->client);
    proceed(s, c);
}

void server_synced(struct server *s, const struct request *r) { answer_head(s, r, Z_OK, NULL); }

/* A committed transaction reaches this server. It fires watches first, then answers its request. */
void server_apply(struct server *s, const struct txn *txn)
{
    fire_by(s, txn);
    tree_apply(&s->tree, txn);
    if (txn->kind == TXN_OPEN_SESSION && txn->origin == s->id)
        server_established(s, txn->session, true);
    if (txn->origin == s->id && txn->request != 0 && txn->kind != TXN_OPEN_SESSION)
        answer_head(s, &s->e->requests[txn->request - 1], txn->error, txn);
    if (txn->kind == TXN_CLOSE_SESSION) {
        struct connection *c = connection_of(s, txn->session);
        if (c != NULL)
            hang_up(s, c->client);
    }
}

/* --- sessions ---------------------------------------------------------------------------------------------------- */

static void open_session(struct server *s, session_index session, int64_t timeout_ms)
{
    struct request *r = ensemble_request(s->e);
    r->kind = REQ_OPEN;
    r->session = session;
    r->timeout_ms = timeout_ms;
    ((struct world *)s->e->world)->session_asked[session] = true;
    forward(s, r);
}

void server_connect(struct server *s, int client, session_index session, session_index new_session, int64_t seen_zxid,
                    int64_t timeout_ms)
{
    close_connection(s, client); /* a connection that the client has given up, before this one is attached */
    /* A new session is not opened twice, by an earlier connection of the client and by this one. */
    bool taken = session < 0 && ((struct world *)s->e->world)->session_asked[new_session];
    if (!server_serves(s) || seen_zxid > s->tree.zxid || taken) {
        send_down(s, client, ANSWER_CLOSED, make(s, NULL));
        return;
    }
    struct connection *c = &s->connections[client];
    *c = (struct connection){.open = true, .client = client, .session = session >= 0 ? session : new_session};
    c->timeout_ms = timeout_ms < s->grants_ms ? timeout_ms : s->grants_ms;
    unsigned attempt = ((const struct world *)s->e->world)->attached[s->id][client];
    if (session < 0) {
        open_session(s, new_session, c->timeout_ms);
    } else if (s->state == SERVER_LEADING) {
        server_established(s, session, leader_revalidate(s, session, s->id, attempt, c->timeout_ms));
    } else {
        link_send(s->e, s->id, s->following, LINK_REVALIDATE, (uint64_t)attempt << 32 | (uint64_t)session,
                  (uint64_t)c->timeout_ms, NULL);
    }
}

void server_established(struct server *s, session_index session, bool alive)
{
    for (int i = 0; i < CLIENTS_MAX; i++) {
        struct connection *c = &s->connections[i];
        if (!c->open || c->established || c->session != session)
            continue;
        if (!alive && s->e->silent) {
            c->session = world_session(s->e->world, i);
            open_session(s, c->session, c->timeout_ms);
            continue;
        }
        c->established = alive;
        if (s->id >= s->e->n_voters)
            see(SIGHT_NON_VOTING);
        struct answer *a = make(s, NULL);
        a->owner = session;
        a->timeout_ms = c->timeout_ms;
        send_down(s, i, alive ? ANSWER_CONNECTED : ANSWER_EXPIRED, a);
        if (!alive)
            close_connection(s, i);
    }
}
