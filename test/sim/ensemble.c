/* The servers' protocol with each other: elections, proposals, commits, and the leader's sessions. */
#include "test/sim/world.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static instant ms(int64_t n) { return n * 1000; }

static int quorum(const struct ensemble *e) { return e->n_voters / 2 + 1; }

struct request *ensemble_request(struct ensemble *e)
{
    if (e->n_requests == REQUESTS_MAX) {
        fputs("sim: too many requests\n", stderr);
        abort();
    }
    struct request *r = &e->requests[e->n_requests++];
    *r = (struct request){.number = (uint64_t)e->n_requests, .session = -1, .version = -1};
    return r;
}

/* --- links ------------------------------------------------------------------------------------------------------- */

void link_send(struct ensemble *e, int from, int to, enum link_kind kind, uint64_t a, uint64_t b, const void *body)
{
    if (to < 0)
        return;
    instant delay = 1 + below(e->random, e->link_delay);
    if (kind == LINK_COMMIT && chance(e->random, e->lag_permille)) /* a server that lags */
        delay += below(e->random, e->lag_delay);
    if (chance(e->random, e->hiccup_permille))
        delay += below(e->random, e->hiccup_delay);
    /* Which leader it speaks to or for, so that nothing of an earlier reign is heard. */
    pipe_send(&e->links[from][to], delay, kind, a, b | (uint64_t)from << 56, body);
}

static void empty_links_to(struct ensemble *e, int i)
{
    for (int j = 0; j < e->n; j++)
        pipe_empty(&e->links[j][i]);
}

static void empty_links_from(struct ensemble *e, int i)
{
    for (int j = 0; j < e->n; j++)
        pipe_empty(&e->links[i][j]);
}

/* Its connections to its peers end. Its earlier messages arrive first, if they are not lost. */
static void hang_up_on_peers(struct server *s)
{
    empty_links_to(s->e, s->id);
    for (int j = 0; j < s->e->n; j++)
        if (j == s->following || (s->state == SERVER_LEADING && j != s->id && s->acked[j] >= 0))
            link_send(s->e, s->id, j, LINK_CLOSED, 0, 0, NULL);
}

void ensemble_cut(struct ensemble *e, int from, int to, bool what_is_on_its_way_passes)
{
    pipe_block(&e->links[from][to], what_is_on_its_way_passes);
}

void ensemble_mend(struct ensemble *e, int from, int to)
{
    e->servers[from].mute_at_pong = false;
    e->links[from][to].blocked = false;
    pipe_pump(&e->links[from][to]);
}

static bool reaches(const struct ensemble *e, int a, int b)
{
    return !e->links[a][b].blocked && !e->links[b][a].blocked && !e->servers[a].paused && !e->servers[b].paused;
}

/* --- the log ----------------------------------------------------------------------------------------------------- */

static void apply_until(struct server *s, int n_committed)
{
    while (s->n_committed < n_committed) {
        uint32_t txn = s->log[s->n_committed++];
        if (txn != s->e->agreed[s->n_committed - 1]) {
            world_break(s->e->world, "model", "server %d applies what was not agreed on", s->id);
            return;
        }
        server_apply(s, &s->e->txns[txn]);
    }
}

static bool deletes(const struct txn *txn, int path, const struct node *node)
{
    for (int i = 0; txn->kind == TXN_DELETE && i <= txn->n_also; i++) {
        struct txn part = txn_part(txn, i);
        if (part.path == path && strcmp(part.name, node->name) == 0)
            return true;
    }
    return txn->kind == TXN_CLOSE_SESSION && node->owner == txn->session;
}

/* The newest leader has committed N_COMMITTED transactions: they are the truth from now on. */
static void tell_truth(struct server *s, int n_committed)
{
    struct ensemble *e = s->e;
    while (e->n_committed < n_committed) {
        const struct txn *txn = &e->txns[s->log[e->n_committed]];
        e->agreed[e->n_committed] = s->log[e->n_committed];
        e->n_committed++;
        for (int p = 0; p < PATHS; p++)
            for (int i = 0; i < e->truth.dirs[p].n; i++) {
                struct node *node = &e->truth.dirs[p].nodes[i];
                if (deletes(txn, p, node))
                    e->deleting(e->world, p, node);
            }
        tree_apply(&e->truth, txn);
        for (int i = 0; i <= txn->n_also; i++) {
            struct txn part = txn_part(txn, i);
            e->committed(e->world, &part);
        }
    }
}

static void answer_syncs(struct server *s)
{
    int kept = 0;
    for (int i = 0; i < s->n_waiting_syncs; i++) {
        if (s->waiting_syncs[i].after > s->n_committed) {
            s->waiting_syncs[kept++] = s->waiting_syncs[i];
            continue;
        }
        const struct request *r = s->waiting_syncs[i].request;
        if (r->server == s->id)
            server_synced(s, r);
        else
            link_send(s->e, s->id, r->server, LINK_SYNCED, 0, 0, r);
    }
    s->n_waiting_syncs = kept;
}

/* One by one: a sync is answered before the later requests of its client. */
static void commit_until(struct server *s, int upto)
{
    struct ensemble *e = s->e;
    for (int i = s->n_committed + 1; i <= upto; i++) {
        tell_truth(s, i);
        apply_until(s, i);
        for (int j = 0; j < e->n; j++)
            if (j != s->id && s->acked[j] >= 0)
                link_send(e, s->id, j, LINK_COMMIT, (uint64_t)i, 0, NULL);
        answer_syncs(s);
    }
}

/* Commit the transactions that a quorum has logged. */
static void leader_commit(struct server *s)
{
    struct ensemble *e = s->e;
    for (int upto = s->n_log; upto > s->n_committed; upto--) {
        int votes = s->n_logged >= upto;
        for (int i = 0; i < e->n_voters; i++)
            votes += i != s->id && s->acked[i] >= upto;
        if (votes < quorum(e))
            continue;
        commit_until(s, upto);
        return;
    }
}

static void logged(void *subject, uint64_t detail)
{
    struct server *s = subject;
    int upto = (int)(detail & 0xffffffff);
    if ((unsigned)(detail >> 32) != s->reign || upto <= s->n_logged)
        return;
    if (s->paused) {
        s->logged_paused = upto;
        return;
    }
    s->n_logged = upto;
    if (s->state == SERVER_LEADING)
        leader_commit(s);
    else if (s->state == SERVER_FOLLOWING)
        link_send(s->e, s->id, s->following, LINK_ACK, (uint64_t)upto, 0, NULL);
}

static void append(struct server *s, uint32_t txn)
{
    if (s->n_log == LOG_MAX) {
        fputs("sim: the log is full\n", stderr);
        abort();
    }
    s->log[s->n_log++] = txn;
    instant done = s->e->agenda->now + 1 + below(s->e->random, s->e->disk_delay);
    if (done < s->log_free)
        done = s->log_free;
    s->log_free = done;
    agenda_add(s->e->agenda, done - s->e->agenda->now, logged, s, (uint64_t)s->reign << 32 | (uint64_t)s->n_log);
}

/* --- the leader's part ------------------------------------------------------------------------------------------- */

static instant clock_of(const struct server *s)
{
    instant now = s->e->agenda->now;
    return s->phase + now + now * s->rate_ppm / 1000000;
}

static void propose(struct server *s, struct txn txn)
{
    struct ensemble *e = s->e;
    if (e->n_txns == LOG_MAX) {
        fputs("sim: too many transactions\n", stderr);
        abort();
    }
    txn.zxid = ++s->next_zxid;
    txn.time_ms = s->date_ms + clock_of(s) / 1000;
    uint32_t index = (uint32_t)e->n_txns++;
    e->txns[index] = txn;
    tree_apply(&s->prep, &txn);
    append(s, index);
    for (int i = 0; i < e->n; i++)
        if (i != s->id && s->acked[i] >= 0)
            link_send(e, s->id, i, LINK_PROPOSE, index, (uint64_t)s->n_log, NULL);
}

/* --- the leader's sessions --------------------------------------------------------------------------------------- */

/* The world's time in which BY_ITS_CLOCK passes on the server's clock. */
static instant lasting(const struct server *s, instant by_its_clock)
{
    return by_its_clock * 1000000 / (1000000 + s->rate_ppm);
}

static instant expiry(const struct server *s, session_index session)
{
    instant tick = ms(s->e->tick_ms), clock = clock_of(s), at = clock + ms(s->e->timeout_ms[session]);
    if (s->e->rounds)
        at = at / tick * tick + tick;
    return s->e->agenda->now + lasting(s, at - clock);
}

static bool tracked(const struct server *s, session_index session)
{
    return tree_alive(&s->prep, session) && (s->closing >> session & 1) == 0;
}

static void end_session(void *subject, uint64_t detail)
{
    struct server *s = subject;
    session_index session = (session_index)(detail & 0xffffffff);
    if ((unsigned)(detail >> 32) != s->reign || !tree_alive(&s->prep, session))
        return;
    if (s->paused)
        agenda_add(s->e->agenda, ms(20), end_session, s, detail);
    else
        propose(s, (struct txn){.kind = TXN_CLOSE_SESSION, .session = session, .origin = -1});
}

/* The session is refused from now on, also to its client. Its close is a request and takes its turn. */
static void close_session(struct server *s, session_index session)
{
    s->closing |= UINT64_C(1) << session;
    s->e->expiring(s->e->world, s, session);
    agenda_add(s->e->agenda, 1 + below(s->e->random, 500), end_session, s,
               (uint64_t)s->reign << 32 | (uint64_t)session);
}

static void track_sessions(void *subject, uint64_t number);

/* Wait for the first session to expire: one opened or touched later cannot expire before it. */
static void await_expiry(struct server *s)
{
    instant now = s->e->agenda->now, next = now + ms(s->e->tick_ms);
    for (session_index i = 0; i < SESSIONS_MAX; i++)
        if (tracked(s, i) && s->expires[i] < next)
            next = s->expires[i];
    agenda_add(s->e->agenda, next > now ? next - now : 0, track_sessions, s, ++s->expiries);
}

static void track_sessions(void *subject, uint64_t number)
{
    struct server *s = subject;
    if (number != s->expiries || s->state != SERVER_LEADING || s->paused)
        return;
    for (session_index i = 0; i < SESSIONS_MAX; i++)
        if (tracked(s, i) && s->expires[i] <= s->e->agenda->now)
            close_session(s, i);
    await_expiry(s);
}

void leader_expire(struct server *s, session_index session)
{
    s->expires[session] = 0;
    await_expiry(s);
}

void leader_touch(struct server *s, session_index session)
{
    if (tracked(s, session))
        s->expires[session] = expiry(s, session);
}

bool leader_revalidate(struct server *s, session_index session, int origin, unsigned attempt, int64_t timeout_ms)
{
    if (!tracked(s, session))
        return false;
    if (s->owner[session] != origin)
        world_moved(s->e->world, session, attempt);
    s->owner[session] = origin;
    s->e->timeout_ms[session] = timeout_ms;
    leader_touch(s, session);
    return true;
}

/* --- the leader's requests --------------------------------------------------------------------------------------- */

/* The server adds the number. */
static void number(char out[PDK__NAME_MAX], const char *name, const struct dir *dir)
{
    snprintf(out, PDK__NAME_MAX, "%.40s%010d", name, dir->counter);
}

static enum zerror create_error(struct server *s, int path, const char *name)
{
    if (!s->prep.dirs[path].exists)
        return Z_NONODE;
    return tree_find(&s->prep, path, name) != NULL ? Z_EXISTS : Z_OK;
}

static enum zerror delete_error(struct server *s, int path, const char *name)
{
    return tree_find(&s->prep, path, name) != NULL ? Z_OK : Z_NONODE;
}

/* The others of a transaction: all creates or deletes, or none (PrepRequestProcessor). */
static void prepare_also(struct server *s, const struct request *r, struct txn *txn)
{
    struct also *also = s->e->scratch(s->e->world, (size_t)r->n_also * sizeof *also);
    for (int i = 0; i < r->n_also && txn->error == Z_OK; i++) {
        bool creates = txn->kind == TXN_CREATE;
        also[i] = r->also[i];
        if (creates)
            number(also[i].name, r->also[i].name, &s->prep.dirs[also[i].path]);
        txn->error = (creates ? create_error : delete_error)(s, also[i].path, also[i].name);
        txn->refused = i + 1;
    }
    txn->also = also;
    txn->n_also = r->n_also;
}

static void prepare_create(struct server *s, const struct request *r, struct txn *txn)
{
    txn->kind = r->kind == REQ_LEAVE_WORD ? TXN_LEAVE_WORD : TXN_CREATE;
    txn->secret = r->secret;
    if (r->kind == REQ_CREATE)
        number(txn->name, r->name, &s->prep.dirs[r->path]);
    txn->error = create_error(s, r->path, txn->name);
    if (r->n_also > 0 && txn->error == Z_OK)
        prepare_also(s, r, txn);
}

static void prepare_plant(struct server *s, const struct request *r, struct txn *txn)
{
    txn->kind = TXN_PLANT;
    if (!s->prep.dirs[r->path].exists)
        txn->error = Z_NONODE;
    else if (tree_find(&s->prep, r->path, r->name) != NULL)
        txn->error = Z_EXISTS;
}

static enum zerror refusal(const struct node *node, const struct request *r, bool may)
{
    if (node == NULL)
        return Z_NONODE;
    if (!may)
        return Z_NOAUTH;
    if (r->version != -1 && r->version != node->version)
        return Z_BADVERSION;
    return r->kind == REQ_DELETE && r->session >= 0 && node->parent ? Z_NOTEMPTY : Z_OK;
}

/* The write itself comes after the checks of the guards. */
static void prepare_guarded(struct server *s, const struct request *r, struct txn *txn)
{
    const struct dir *dir = &s->prep.dirs[r->path];
    for (int i = 0; i < r->n_also && txn->error == Z_OK; i++) {
        txn->refused = i;
        if (tree_find(&s->prep, r->also[i].path, r->also[i].name) == NULL)
            txn->error = Z_NONODE;
    }
    if (txn->error != Z_OK)
        return;
    txn->refused = r->n_also;
    txn->kind = r->kind == REQ_GUARDED_DELETE ? TXN_REMOVE_DIR : TXN_WRITE;
    txn->text = r->text;
    txn->size = r->size;
    if (r->kind == REQ_GUARDED_CREATE)
        txn->error = dir->exists ? Z_EXISTS : Z_OK;
    else
        txn->error = !dir->exists ? Z_NONODE : r->version != -1 && r->version != dir->version ? Z_BADVERSION : Z_OK;
}

static void prepare(struct server *s, const struct request *r, struct txn *txn)
{
    struct dir *dir = &s->prep.dirs[r->path];
    const struct node *node;
    bool may;
    strcpy(txn->name, r->name);
    switch (r->kind) {
    case REQ_CREATE:
    case REQ_CREATE_AT:
    case REQ_LEAVE_WORD:
        prepare_create(s, r, txn);
        break;
    case REQ_PLANT:
        prepare_plant(s, r, txn);
        break;
    case REQ_MAKE_DIR:
        txn->kind = TXN_MAKE_DIR;
        txn->counter = dir->mzxid == 0 ? s->e->counter : 0; /* made again it counts from 0 */
        txn->wraps = s->e->counter % 2 != 0;
        txn->error = dir->exists ? Z_EXISTS : Z_OK;
        break;
    case REQ_DELETE:
    case REQ_SET:
    case REQ_REVOKE:
    case REQ_REVOKE_BARE:
        txn->kind = r->kind == REQ_DELETE ? TXN_DELETE : TXN_SET;
        txn->data = r->kind == REQ_REVOKE ? DATA_REVOKED : r->kind == REQ_REVOKE_BARE ? DATA_REVOKED_BARE : DATA_OWN;
        node = tree_find(&s->prep, r->path, r->name);
        may = r->kind == REQ_DELETE || r->session < 0 || node == NULL || server_permits(s, r->session, node);
        txn->error = refusal(node, r, may);
        if (r->n_also > 0 && txn->error == Z_OK)
            prepare_also(s, r, txn);
        break;
    case REQ_RECORD:
        txn->kind = TXN_RECORD;
        txn->error = !dir->exists ? Z_NONODE : dir->version != r->version ? Z_BADVERSION : Z_OK;
        break;
    case REQ_GUARDED_SET:
    case REQ_GUARDED_CREATE:
    case REQ_GUARDED_DELETE:
        prepare_guarded(s, r, txn);
        break;
    case REQ_REMAKE_DIR:
        txn->kind = TXN_MAKE_DIR;
        txn->error = !dir->exists                 ? Z_NONODE
                     : dir->n > 0                 ? Z_NOTEMPTY
                     : dir->version != r->version ? Z_BADVERSION
                                                  : Z_OK;
        break;
    case REQ_REMOVE_DIR:
        txn->kind = TXN_REMOVE_DIR;
        txn->error = dir->n > 0 ? Z_NOTEMPTY : dir->exists ? Z_OK : Z_NONODE;
        break;
    case REQ_OPEN:
        txn->kind = TXN_OPEN_SESSION;
        break;
    default:
        txn->kind = TXN_CLOSE_SESSION;
    }
}

static void sync(struct server *s, const struct request *r, int origin)
{
    int i = s->n_waiting_syncs++;
    if (i == PENDING_MAX) {
        fputs("sim: too many syncs\n", stderr);
        abort();
    }
    s->e->requests[r->number - 1].server = origin;
    s->waiting_syncs[i].request = r;
    s->waiting_syncs[i].after = s->n_log; /* its own proposals so far; a deposed leader lacks the newer ones */
    answer_syncs(s);
}

static enum zerror check_session(struct server *s, session_index session, int origin)
{
    if (!tracked(s, session))
        return Z_EXPIRED;
    if (s->owner[session] < 0)
        s->owner[session] = origin;
    return s->owner[session] == origin ? Z_OK : Z_MOVED;
}

void leader_prepare(struct server *s, const struct request *r, int origin)
{
    struct txn txn = {.session = r->session, .origin = origin, .request = r->number, .path = r->path};
    if (r->kind == REQ_SYNC) {
        sync(s, r, origin);
        return;
    }
    if (r->session >= 0 && r->kind != REQ_OPEN)
        txn.error = check_session(s, r->session, origin);
    if (txn.error == Z_EXPIRED && (origin == s->id || r->kind == REQ_CLOSE))
        return; /* its own clients' requests are dropped silently (ZooKeeperServer.submitRequest) */
    if (r->kind == REQ_CLOSE && txn.error == Z_OK)
        s->closing |= UINT64_C(1) << r->session;
    if (txn.error == Z_OK)
        prepare(s, r, &txn);
    if (txn.error != Z_OK) {
        txn.kind = TXN_ERROR;
        txn.n_also = 0;
    }
    propose(s, txn);
    if (txn.kind == TXN_OPEN_SESSION) {
        s->owner[r->session] = origin;
        s->e->timeout_ms[r->session] = r->timeout_ms;
        leader_touch(s, r->session);
    }
}

/* NULL where there is no leader, or where the leader cannot commit: requests would pile up at it. */
static struct request *order(struct ensemble *e, enum request_kind kind, int path)
{
    if (e->leader < 0 || e->servers[e->leader].state != SERVER_LEADING)
        return NULL;
    const struct server *leader = &e->servers[e->leader];
    if (leader->n_log - leader->n_committed > 50 ||
        ((kind == REQ_CREATE || kind == REQ_PLANT) && leader->prep.dirs[path].n > NODES_MANY))
        return NULL;
    struct request *r = ensemble_request(e);
    r->kind = kind;
    r->path = path;
    return r;
}

bool ensemble_administrate(struct ensemble *e, enum request_kind kind, int path, const char *name)
{
    const struct world *w = e->world;
    struct request *r = order(e, kind, path);
    if (r == NULL)
        return false;
    r->secret = w->secretive && !w->finale;
    strcpy(r->name, name);
    leader_prepare(&e->servers[e->leader], r, -1);
    return true;
}

void ensemble_write(struct ensemble *e, int path, const char *text, int size)
{
    struct request *r = order(e, REQ_GUARDED_SET, path);
    if (r == NULL)
        return;
    if (!e->servers[e->leader].prep.dirs[path].exists)
        r->kind = REQ_GUARDED_CREATE;
    r->text = text;
    r->size = size;
    leader_prepare(&e->servers[e->leader], r, -1);
}

/* --- messages between servers ------------------------------------------------------------------------------------ */

static void look(struct server *s);

static void follow(struct server *s, const struct message *m, int from)
{
    struct ensemble *e = s->e;
    if (from != s->following)
        return; /* a leader it has left */
    s->heard = e->agenda->now;
    switch ((enum link_kind)m->kind) {
    case LINK_PROPOSE:
        if ((int)(m->b & 0xffffffff) == s->n_log + 1)
            append(s, (uint32_t)m->a);
        break;
    case LINK_COMMIT:
        if ((int)m->a <= s->n_log)
            apply_until(s, (int)m->a);
        break;
    case LINK_PING:
        if (s->mute_at_pong)
            ensemble_cut(e, s->id, from, true);
        link_send(e, s->id, from, LINK_PONG, s->touched, 0, NULL);
        s->touched = 0;
        break;
    case LINK_SYNCED:
        server_synced(s, m->body);
        break;
    case LINK_REVALIDATED:
        server_established(s, (session_index)m->a, (m->b & 1) != 0);
        break;
    case LINK_CLOSED:
        look(s);
        break;
    default:
        break;
    }
}

/* A server's question about a session, by a connection of the client's. */
static bool revalidate(struct server *s, const struct message *m, int from)
{
    return leader_revalidate(s, (session_index)(m->a & 0xffffffff), from, (unsigned)(m->a >> 32),
                             (int64_t)(m->b & 0xffffffff));
}

static void lead(struct server *s, const struct message *m, int from)
{
    s->heard_at[from] = s->half_ticks;
    switch ((enum link_kind)m->kind) {
    case LINK_ACK:
        if ((int)m->a > s->acked[from])
            s->acked[from] = (int)m->a;
        leader_commit(s);
        break;
    case LINK_PONG:
        for (session_index i = 0; i < SESSIONS_MAX; i++)
            if ((m->a >> i & 1) != 0)
                leader_touch(s, i);
        break;
    case LINK_REQUEST:
        leader_prepare(s, m->body, from);
        break;
    case LINK_REVALIDATE:
        link_send(s->e, s->id, from, LINK_REVALIDATED, m->a & 0xffffffff, revalidate(s, m, from) ? 1 : 0, NULL);
        break;
    case LINK_CLOSED:
        s->acked[from] = -1;
        break;
    default:
        break;
    }
}

static void deliver(void *receiver, const struct message *m)
{
    struct server *s = receiver;
    int from = (int)(m->b >> 56);
    if (s->state == SERVER_FOLLOWING)
        follow(s, m, from);
    else if (s->state == SERVER_LEADING && s->acked[from] >= 0)
        lead(s, m, from);
}

/* --- elections --------------------------------------------------------------------------------------------------- */

static void look(struct server *s)
{
    STORY((struct world *)s->e->world, "server %d looks for a leader", s->id);
    hang_up_on_peers(s);
    s->state = SERVER_LOOKING;
    s->reign++;
    s->following = -1;
    if (s->n_log > s->n_logged) /* transactions not yet on its disk are lost, unless a quorum of others had them */
        s->n_log = s->n_logged > s->n_committed ? s->n_logged : s->n_committed;
    s->n_logged = s->n_log;
    s->logged_paused = 0;
    s->n_waiting_syncs = 0;
    server_close_all(s);
}

/* Take over the leader's log as it is, and join its quorum. */
static void join(struct server *s, struct server *leader)
{
    s->reign++;
    STORY((struct world *)s->e->world, "server %d follows server %d", s->id, leader->id);
    memcpy(s->log, leader->log, (size_t)leader->n_log * sizeof *s->log);
    s->n_log = s->n_logged = leader->n_log;
    s->log_free = 0;
    s->state = SERVER_FOLLOWING;
    s->following = leader->id;
    s->epoch = leader->epoch;
    s->touched = 0;
    s->heard = s->e->agenda->now;
    leader->heard_at[s->id] = leader->half_ticks;
    empty_links_to(s->e, s->id);
    empty_links_from(s->e, s->id);
    leader->acked[s->id] = s->n_log;
    apply_until(s, leader->n_committed);
    leader_commit(leader);
}

static void reign(struct server *s, const bool *voters)
{
    struct ensemble *e = s->e;
    e->epoch++;
    STORY((struct world *)e->world, "server %d leads, with %d transactions", s->id, s->n_log);
    e->leader = s->id;
    if (e->n_voters == 5)
        see(SIGHT_FIVE_SERVERS);
    s->epoch = e->epoch;
    s->reign++;
    s->state = SERVER_LEADING;
    s->next_zxid = e->epoch << 32;
    s->n_logged = s->n_log;
    s->log_free = 0;
    s->n_waiting_syncs = 0;
    s->half_ticks = 0;
    s->closing = 0;
    /* A quorum has its log, so all of it is committed. */
    tell_truth(s, s->n_log);
    apply_until(s, s->n_log);
    tree_copy(&s->prep, &s->tree);
    for (int i = 0; i < e->n; i++)
        s->acked[i] = -1;
    for (session_index i = 0; i < SESSIONS_MAX; i++) {
        s->owner[i] = -1;
        leader_touch(s, i); /* all sessions get a fresh timeout */
    }
    await_expiry(s);
    for (int i = 0; i < e->n; i++)
        if (i != s->id && voters[i])
            join(&e->servers[i], s);
}

static bool better(const struct server *a, const struct server *b)
{
    if (a->epoch != b->epoch)
        return a->epoch > b->epoch;
    int64_t za = a->n_log > 0 ? a->e->txns[a->log[a->n_log - 1]].zxid : 0;
    int64_t zb = b->n_log > 0 ? b->e->txns[b->log[b->n_log - 1]].zxid : 0;
    return za != zb ? za > zb : a->id > b->id;
}

/* Every LOOKING server votes. A candidate needs a quorum of voters that it reaches, and the newest log among them. */
static bool elect(struct ensemble *e)
{
    for (int i = 0; i < e->n_voters; i++) {
        bool voters[SERVERS_MAX] = {false};
        int n = 0;
        bool best = e->servers[i].state == SERVER_LOOKING;
        for (int j = 0; j < e->n_voters && best; j++) {
            voters[j] = e->servers[j].state == SERVER_LOOKING && (i == j ? !e->servers[i].paused : reaches(e, i, j));
            n += voters[j];
            best = !(voters[j] && j != i && better(&e->servers[j], &e->servers[i]));
        }
        if (best && n >= quorum(e)) {
            reign(&e->servers[i], voters);
            return true;
        }
    }
    return false;
}

/* By the leader's own count of ticks, which does not advance while it is stopped (LearnerHandler.synced). */
static bool synced(const struct server *s, int i)
{
    return s->acked[i] >= 0 && s->half_ticks / 2 <= s->heard_at[i] / 2 + s->e->sync_limit;
}

static void ping_learners(struct server *s)
{
    for (int i = 0; i < s->e->n; i++) {
        if (i == s->id || s->acked[i] < 0)
            continue;
        link_send(s->e, s->id, i, synced(s, i) ? LINK_PING : LINK_CLOSED, 0, 0, NULL);
        if (!synced(s, i))
            s->acked[i] = -1;
    }
}

static void lead_on(struct server *s)
{
    int voters = 1;
    s->half_ticks++;
    for (int i = 0; i < s->e->n_voters; i++)
        voters += i != s->id && synced(s, i);
    if (s->half_ticks % 2 == 0 && voters < quorum(s->e))
        look(s);
    else
        ping_learners(s);
}

static void find_leader(struct server *s)
{
    struct ensemble *e = s->e;
    struct server *leader = e->leader >= 0 ? &e->servers[e->leader] : NULL;
    if (leader != NULL && leader != s && leader->state == SERVER_LEADING && reaches(e, s->id, leader->id))
        join(s, leader);
    else if (chance(e->random, 300)) /* an election takes several half ticks */
        elect(e);
}

static void beat(struct server *s)
{
    instant limit = ms(s->e->tick_ms) * s->e->sync_limit;
    if (s->state == SERVER_LEADING)
        lead_on(s);
    else if (s->state == SERVER_FOLLOWING && s->e->agenda->now - s->heard > limit)
        look(s);
    else if (s->state == SERVER_LOOKING)
        find_leader(s);
}

static void half_tick(void *subject, uint64_t detail)
{
    struct server *s = subject;
    (void)detail;
    if (!s->paused)
        beat(s);
    instant late = below(s->e->random, s->e->ping_delay);
    agenda_add(s->e->agenda, lasting(s, ms(s->e->tick_ms) / 2) + late, half_tick, s, 0);
}

/* --- faults ------------------------------------------------------------------------------------------------------ */

/* The process dies, and its system notifies the peers; or the machine dies, and the peers notice by timeouts. */
void server_crash(struct server *s)
{
    if (s->state == SERVER_DOWN)
        return;
    look(s);
    if (chance(s->e->random, 500))
        empty_links_from(s->e, s->id);
    s->state = SERVER_DOWN;
    if (s->e->leader == s->id)
        s->e->leader = -1;
    server_pause(s, false);
}

void server_leave(struct server *s)
{
    if (s->state == SERVER_FOLLOWING && !s->paused)
        look(s);
}

void server_start(struct server *s)
{
    if (s->state == SERVER_DOWN)
        s->state = SERVER_LOOKING;
}

/* The leader's timers for the next ping and for session expiry are due before any message that came meanwhile can be
 * proposed and agreed on. */
static void go_on(struct server *s)
{
    if (s->state == SERVER_LEADING) {
        beat(s);
        await_expiry(s);
    }
    if (s->logged_paused > 0)
        logged(s, (uint64_t)s->reign << 32 | (uint64_t)s->logged_paused);
    s->logged_paused = 0;
}

void server_pause(struct server *s, bool paused)
{
    bool was = s->paused;
    s->paused = paused;
    if (was && !paused) {
        s->resumed = s->e->agenda->now;
        go_on(s);
    }
    for (int i = 0; i < s->e->n && !paused; i++)
        pipe_pump(&s->e->links[i][s->id]);
}

/* --- birth ------------------------------------------------------------------------------------------------------- */

static void server_begin(struct ensemble *e, int i)
{
    struct server *s = &e->servers[i];
    s->e = e;
    s->id = i;
    s->state = SERVER_LOOKING;
    s->paused = false;
    s->resumed = 0;
    s->following = -1;
    s->epoch = 0;
    s->n_log = s->n_logged = s->n_committed = s->logged_paused = 0;
    s->log_free = 0;
    s->phase = below(e->random, (int)ms(e->tick_ms));
    s->closing = 0;
    s->expiries = 0;
    s->mute_at_pong = false;
    s->touched = 0;
    s->n_watches = s->n_waiting_syncs = 0;
    s->reign = 0;
    tree_clear(&s->tree);
    for (int c = 0; c < CLIENTS_MAX; c++)
        s->connections[c].open = false;
    agenda_add(e->agenda, below(e->random, (int)ms(e->tick_ms) / 2), half_tick, s, 0);
}

void ensemble_begin(struct ensemble *e, int n, int n_voters)
{
    e->n = n;
    e->n_voters = n_voters;
    e->epoch = 0;
    e->leader = -1;
    e->n_txns = e->n_requests = e->n_committed = 0;
    tree_clear(&e->truth);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            pipe_init(&e->links[i][j], e->agenda, deliver, &e->servers[j], &e->servers[j].paused);
    for (int i = 0; i < n; i++)
        server_begin(e, i);
    elect(e);
}
