/* ZooKeeper's C client, as the driver meets it. */
#include "test/sim/laws.h"
#include "test/sim/wired.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static instant ms(int64_t n) { return n * 1000; }

enum up_kind { UP_CONNECT, UP_REQUEST, UP_CLOSED };

static instant travel(struct client *c, int delay)
{
    const struct ensemble *e = &c->world->ensemble;
    instant takes = c->world->way + 1 + below(&c->world->random, delay);
    return chance(e->random, e->hiccup_permille) ? takes + below(e->random, e->hiccup_delay) : takes;
}

/* --- messages that arrive at the server -------------------------------------------------------------------------- */

struct hello {
    struct client *client;
    unsigned attempt;
    session_index session, offered;
    int64_t seen_zxid, timeout_ms;
};

static void arrive(void *receiver, const struct message *m)
{
    struct server *s = receiver;
    struct client *c = &((struct world *)s->e->world)->clients[m->b >> 32];
    unsigned attempt = (unsigned)m->b;
    unsigned *attached = &c->world->attached[s->id][c->id];
    if (m->kind == UP_CONNECT) {
        const struct hello *hello = m->body;
        *attached = attempt;
        server_connect(s, c->id, hello->session, hello->offered, hello->seen_zxid, hello->timeout_ms);
    } else if (attempt != *attached) {
        return;
    } else if (m->kind == UP_REQUEST) {
        server_receive(s, c->id, m->body);
    } else {
        server_disconnect(s, c->id);
    }
}

/* A read takes a server a twentieth of the time of a write. */
static instant service(const struct client *c, enum up_kind kind, const void *body)
{
    const struct request *r = body;
    bool writes = kind != UP_REQUEST || is_write(r->kind);
    return writes ? c->world->service : c->world->service / 20;
}

static void send_up(struct client *c, enum up_kind kind, const void *body)
{
    c->up[c->server].spacing = service(c, kind, body);
    pipe_send(&c->up[c->server], travel(c, c->world->up_delay), kind, 0, (uint64_t)c->id << 32 | c->attempts, body);
}

void client_answer(struct client *c, int server, unsigned attempt, enum answer_kind kind, const struct answer *a)
{
    pipe_send(&c->down[server], travel(c, c->world->down_delay), kind, attempt, 0, a);
}

/* --- to the completion thread ------------------------------------------------------------------------------------ */

static void hand_over(struct client *c, enum in_kind kind, uint64_t ticket, const void *body)
{
    if (client_is_real) {
        wired_hand_over(c, kind, ticket, body);
        return;
    }
    instant late = 1 + below(&c->world->random, c->world->inbox_delay);
    pipe_send(&c->inbox, late, kind, ticket, c->handle, body);
}

static void fail_all(struct client *c)
{
    for (int i = 0; i < c->n_outstanding; i++)
        if (c->outstanding[i]->kind != REQ_SET_WATCHES)
            hand_over(c, IN_UNKNOWN, c->outstanding[i]->ticket, c->outstanding[i]);
    for (int i = 0; i < c->n_queued; i++)
        hand_over(c, IN_UNKNOWN, c->queued[i]->ticket, c->queued[i]);
    c->n_outstanding = c->n_queued = 0;
}

/* --- requests ---------------------------------------------------------------------------------------------------- */

static void put(struct client *c, const struct request *r)
{
    if (c->n_outstanding == OUTSTANDING_MAX)
        abort();
    c->outstanding[c->n_outstanding++] = r;
    c->sent = c->world->agenda.now;
    send_up(c, UP_REQUEST, r);
}

static void tell_request(struct client *c, const struct request *r)
{
    static const char *const kinds[] = {"create",
                                        "create at",
                                        "leave word",
                                        "plant",
                                        "make path",
                                        "delete",
                                        "set",
                                        "revoke",
                                        "revoke barely",
                                        "record",
                                        "set under guard",
                                        "create under guard",
                                        "delete under guard",
                                        "remove path",
                                        "remake path",
                                        "close",
                                        "open",
                                        "sync",
                                        "list",
                                        "look at path",
                                        "get",
                                        "read record",
                                        "exists",
                                        "unwatch"};
    STORY(c->world, "client %d asks server %d: %s %s%s", c->id, c->server, kinds[r->kind], r->name,
          c->io != IO_CONNECTED ? " (waits for a connection)" : "");
}

static struct request *make(struct client *c, enum request_kind kind, int path, const char *name)
{
    struct request *r = ensemble_request(&c->world->ensemble);
    r->kind = kind;
    r->session = c->session;
    r->path = path;
    strcpy(r->name, name);
    return r;
}

/* The request is sent, waits for a connection, or fails with the next attempt to connect. */
static void put_or_queue(struct client *c, struct request *r)
{
    tell_request(c, r);
    if (c->io == IO_CONNECTED) {
        put(c, r);
        if (is_write(r->kind) && r->path == JOB_PATH)
            faults_at_record(c->world);
        if (is_write(r->kind))
            faults_at_write(c->world, c);
        late_create_sent(c->world, c, r);
        return;
    }
    if (c->n_queued == OUTSTANDING_MAX)
        abort();
    c->queued[c->n_queued++] = r;
}

static void disturb_and_put(struct client *c, struct request *r, uint64_t ticket)
{
    struct world *w = c->world;
    bool connected = c->io == IO_CONNECTED;
    r->ticket = ticket;
    w->n_requests++;
    if (connected)
        faults_at_request(w, c, true);
    if (connected && c->io != IO_CONNECTED) {
        hand_over(c, IN_UNKNOWN, ticket, r);
        return;
    }
    put_or_queue(c, r);
    if (connected)
        faults_at_request(w, c, false);
}

bool io_send(struct client *c, const struct request *asked, uint64_t ticket)
{
    if (c->io == IO_IDLE || (!client_is_real && world_starves(c->world)))
        return false;
    struct request *r = make(c, asked->kind, asked->path, asked->name);
    r->watch = asked->watch;
    r->version = asked->version;
    r->also = asked->also;
    r->n_also = asked->n_also;
    r->text = asked->text;
    r->size = asked->size;
    r->secret = c->secretive && (r->kind == REQ_CREATE || r->kind == REQ_CREATE_AT);
    r->large = c->oversized && r->kind == REQ_CREATE && r->path == 0;
    c->world->well &= !r->large; /* the connection will break */
    disturb_and_put(c, r, ticket);
    return true;
}

/* --- connecting -------------------------------------------------------------------------------------------------- */

static int next_host(const struct client *c)
{
    int i = c->server;
    do
        i = (i + 1) % c->world->ensemble.n;
    while ((c->hosts >> i & 1) == 0);
    return i;
}

/* Some sessions must be left for the end. */
static bool must_wait(const struct client *c)
{
    const struct world *w = c->world;
    return c->session < 0 && !w->healed && w->n_sessions > SESSIONS_MAX - 4 * CLIENTS_MAX;
}

static void say_hello(struct client *c, int64_t seen_zxid, int64_t timeout_ms)
{
    struct world *w = c->world;
    if (c->session < 0 && (c->offered < 0 || w->session_asked[c->offered]))
        c->offered = world_session(w, c->id);
    struct hello *hello = w->ensemble.scratch(w, sizeof *hello);
    *hello = (struct hello){c, c->attempts, c->session, c->offered, seen_zxid, timeout_ms};
    send_up(c, UP_CONNECT, hello);
}

static void attempt(void *subject, uint64_t handle)
{
    struct client *c = subject;
    struct world *w = c->world;
    if (handle != c->handle || c->dead || c->io != IO_CONNECTING)
        return;
    if (must_wait(c)) {
        agenda_add(&w->agenda, ms(w->session_ms), attempt, c, c->handle);
        return;
    }
    c->server = next_host(c);
    c->attempts++;
    c->received = w->agenda.now;
    if (!server_serves(&w->ensemble.servers[c->server])) { /* refused at once */
        fail_all(c);
        agenda_add(&w->agenda, ms(w->session_ms) / 60 + 1, attempt, c, c->handle);
        return;
    }
    say_hello(c, c->seen_zxid, c->timeout_ms);
}

static void reconnect(struct client *c, bool at_once)
{
    c->io = IO_CONNECTING;
    c->attempts++; /* messages still coming down belong to no connection */
    c->received = c->world->agenda.now;
    if (client_is_real)
        return; /* it tries by itself */
    instant pause = at_once ? 0 : ms(c->world->session_ms) / 60;
    agenda_add(&c->world->agenda, pause + 1 + below(&c->world->random, 3000), attempt, c, c->handle);
}

static void lose(struct client *c, bool by_silence)
{
    c->by_silence = by_silence;
    bool was = c->io == IO_CONNECTED;
    EACH_LAW(c->world, parted, c);
    STORY(c->world, "client %d loses server %d", c->id, c->server);
    if (was || client_is_real)
        hand_over(c, IN_DISCONNECTED, 0, NULL);
    fail_all(c);
    reconnect(c, was);
}

/* --- of a client that is not the model's ------------------------------------------------------------------------- */

bool io_connect(struct client *c, int server)
{
    c->server = server;
    c->attempts++;
    c->received = c->world->agenda.now;
    c->io = IO_CONNECTING;
    return !must_wait(c) && server_serves(&c->world->ensemble.servers[server]);
}

void io_hello(struct client *c, int64_t seen_zxid, session_index session, int timeout_ms)
{
    if (session != c->session || (seen_zxid != c->seen_zxid && c->seen_zxid != INT64_MAX))
        world_break(c->world, "model", "client %d has session %d and has seen %lld, the model %d and %lld", c->id,
                    session, (long long)seen_zxid, c->session, (long long)c->seen_zxid);
    say_hello(c, c->seen_zxid, timeout_ms); /* which a fault may have changed */
}

void io_hung_up(struct client *c)
{
    if (c->io == IO_IDLE || c->dead)
        return;
    send_up(c, UP_CLOSED, NULL);
    lose(c, false);
}

void client_cut(struct client *c, bool told, bool lose_up, bool lose_down)
{
    if (c->io == IO_IDLE || c->dead)
        return;
    if (lose_up)
        pipe_empty(&c->up[c->server]);
    if (lose_down)
        pipe_empty(&c->down[c->server]);
    if (told)
        send_up(c, UP_CLOSED, NULL);
    lose(c, false);
}

/* Closing a handle that is connected closes its session. */
static void close_session(struct client *c)
{
    struct request *r = ensemble_request(&c->world->ensemble);
    r->kind = REQ_CLOSE;
    r->session = c->session;
    send_up(c, UP_REQUEST, r);
}

void io_end_session(struct client *c)
{
    if (c->io == IO_CONNECTED)
        close_session(c);
}

void io_close(struct client *c)
{
    if (c->io == IO_CONNECTED && !client_is_real)
        close_session(c);
    c->io = IO_IDLE;
    c->attempts++;
    c->handle++;
    c->n_watches = c->n_outstanding = c->n_queued = 0;
    pipe_empty(&c->inbox);
}

void io_open(struct client *c)
{
    c->handle++;
    c->expired = c->authenticated = c->auth_failed = c->auth_told = false;
    c->session = -1;
    c->timeout_ms = c->heard_timeout_ms = c->world->session_ms;
    c->seen_zxid = 0;
    c->n_watches = c->n_outstanding = c->n_queued = 0;
    pipe_empty(&c->inbox);
    c->server = below(&c->world->random, c->world->ensemble.n); /* the next is tried first */
    reconnect(c, true);
}

static void set_watches(struct client *c)
{
    if (c->n_watches == 0)
        return;
    struct request *r = ensemble_request(&c->world->ensemble);
    struct watched *copy = c->world->ensemble.scratch(c->world, sizeof c->watches);
    memcpy(copy, c->watches, (size_t)c->n_watches * sizeof *copy);
    r->kind = REQ_SET_WATCHES;
    r->session = c->session;
    r->since_zxid = c->seen_zxid;
    r->n_watched = c->n_watches;
    r->watched = copy;
    put(c, r);
}

static bool is_on(const struct watched *w, int path, const char *name)
{
    return w->path == path && strcmp(w->name, name) == 0;
}

static bool watches(const struct client *c, const struct watched *watched)
{
    for (int i = 0; i < c->n_watches; i++)
        if (c->watches[i].kind == watched->kind && is_on(&c->watches[i], watched->path, watched->name))
            return true;
    return false;
}

void io_set_watches(struct client *c, int64_t seen_zxid, const struct watched *watched, int n)
{
    for (int i = 0; i < n; i++)
        if (!watches(c, &watched[i]))
            world_break(c->world, "model", "client %d sets a watch on \"%s\", and the model does not", c->id,
                        watched[i].name);
    if (n != c->n_watches || (seen_zxid != c->seen_zxid && c->seen_zxid != INT64_MAX))
        world_break(c->world, "model", "client %d sets %d watches, since %lld, the model %d, since %lld", c->id, n,
                    (long long)seen_zxid, c->n_watches, (long long)c->seen_zxid);
    struct request *r = ensemble_request(&c->world->ensemble);
    r->kind = REQ_SET_WATCHES;
    r->session = c->session;
    r->since_zxid = seen_zxid;
    r->n_watched = n;
    r->watched = watched;
    put(c, r);
}

/* A server of the ensemble has other credentials, or none at hand. */
static void refuse(void *subject, uint64_t attempt)
{
    struct client *c = subject;
    if (c->dead || c->io != IO_CONNECTED || c->attempts != attempt || !c->authenticated) /* it answers */
        return;
    STORY(c->world, "client %d is not let in by server %d", c->id, c->server);
    see(SIGHT_AUTH_FAILED);
    send_up(c, UP_CLOSED, NULL);
    c->io = IO_IDLE;
    c->auth_failed = true;
    hand_over(c, IN_AUTH_FAILED, 0, NULL);
    fail_all(c);
}

/* The server has no session for it; or in INSTEAD another one, as some servers do, and the client compares the two. */
static void expired(struct client *c, const struct answer *instead)
{
    STORY(c->world, "client %d hears that session %d is over", c->id, c->session);
    c->io = IO_IDLE;
    c->expired = true;
    hand_over(c, IN_EXPIRED, 0, instead);
    if (chance(&c->world->random, 500)) /* it may forget to complete outstanding requests (ZOOKEEPER-2802) */
        fail_all(c);
    c->n_outstanding = c->n_queued = 0;
}

static void connected(struct client *c, const struct answer *a)
{
    session_index session = a->owner;
    if (c->session >= 0 && c->session != session) {
        see(SIGHT_CHANGED_SILENTLY);
        send_up(c, UP_CLOSED, NULL);
        expired(c, a);
        return;
    }
    if (a->timeout_ms < c->timeout_ms)
        see(SIGHT_GRANTED_LESS);
    c->timeout_ms = a->timeout_ms;
    c->session = session;
    c->io = IO_CONNECTED;
    c->apart = c->world->agenda.now;
    c->n_outstanding = 0;
    STORY(c->world, "client %d is connected to server %d, session %d", c->id, c->server, c->session);
    hand_over(c, IN_CONNECTED, (uint64_t)c->session, a);
    if (c->secretive && chance(&c->world->random, 40))
        agenda_add(&c->world->agenda, 1 + below(&c->world->random, 20000), refuse, c, c->attempts);
    if (client_is_real)
        return; /* and sends what it has by itself */
    set_watches(c);
    int n = c->n_queued;
    c->n_queued = 0;
    for (int i = 0; i < n; i++) {
        struct request *r = &c->world->ensemble.requests[c->queued[i]->number - 1];
        r->session = c->session;
        put(c, r);
    }
}

/* --- what comes down --------------------------------------------------------------------------------------------- */

static enum watch_kind kind_of(const struct answer *a)
{
    if (a->request->kind == REQ_LIST)
        return WATCH_CHILDREN;
    return a->error == Z_OK ? WATCH_DATA : WATCH_EXISTS;
}

static void remember_watch(struct client *c, const struct answer *a)
{
    const struct request *r = a->request;
    for (int i = 0; i < c->n_watches; i++)
        if (c->watches[i].kind == kind_of(a) && is_on(&c->watches[i], r->path, r->name))
            return;
    if (c->n_watches == CLIENT_WATCHES_MAX)
        abort();
    struct watched *w = &c->watches[c->n_watches++];
    w->kind = kind_of(a);
    w->path = r->path;
    strcpy(w->name, r->name);
}

/* The kinds of watches that an event consumes (zk_hashtable.c, collectWatchers). */
static bool consumes(enum event_kind event, enum watch_kind kind)
{
    return event == EVENT_DELETED || (kind == WATCH_CHILDREN) == (event == EVENT_CHILDREN);
}

static void forget_watch(struct client *c, int path, const char *name, enum event_kind event)
{
    int kept = 0;
    for (int i = 0; i < c->n_watches; i++)
        if (!consumes(event, c->watches[i].kind) || !is_on(&c->watches[i], path, name))
            c->watches[kept++] = c->watches[i];
    c->n_watches = kept;
}

void io_read_reply(struct client *c, const struct answer *a)
{
    const struct request *r = a->request;
    if (a->zxid > c->seen_zxid)
        c->seen_zxid = a->zxid;
    if (r->watch && (a->error == Z_OK || r->kind == REQ_EXISTS))
        remember_watch(c, a);
    if (r->kind == REQ_UNWATCH || r->kind == REQ_FORSAKE)
        forget_watch(c, r->path, r->name, r->kind == REQ_FORSAKE ? EVENT_DELETED : EVENT_CHANGED);
}

void io_read_event(struct client *c, const struct answer *a) { forget_watch(c, a->path, a->name, a->event); }

static void replied(struct client *c, const struct answer *a)
{
    const struct request *r = a->request;
    if (r->kind == REQ_CLOSE) /* no client waits for its answer */
        return;
    if (c->n_outstanding == 0 || c->outstanding[0] != r) { /* the client checks it, and hangs up (zookeeper.c) */
        world_break(c->world, "model", "a reply out of order");
        return;
    }
    memmove(c->outstanding, c->outstanding + 1, (size_t)--c->n_outstanding * sizeof *c->outstanding);
    if (!client_is_real) /* which has yet to read it */
        io_read_reply(c, a);
    if (r->kind != REQ_SET_WATCHES || client_is_real)
        hand_over(c, IN_REPLY, r->ticket, a);
    if (r->kind == REQ_DELETE)
        faults_at_deletion(c->world, c);
}

static void read_down(void *receiver, const struct message *m)
{
    struct client *c = receiver;
    const struct answer *a = m->body;
    if ((unsigned)m->a != c->attempts || c->dead || c->io == IO_IDLE)
        return;
    c->received = c->world->agenda.now;
    switch ((enum answer_kind)m->kind) {
    case ANSWER_CONNECTED:
        connected(c, a);
        break;
    case ANSWER_EXPIRED:
        expired(c, NULL);
        break;
    case ANSWER_REPLY:
        replied(c, a);
        break;
    case ANSWER_EVENT:
        if (!client_is_real)
            io_read_event(c, a);
        hand_over(c, IN_EVENT, 0, a);
        break;
    case ANSWER_CLOSED:
        lose(c, false);
        break;
    case ANSWER_PONG:
        if (client_is_real)
            wired_pong(c);
        break;
    }
}

/* --- its clock --------------------------------------------------------------------------------------------------- */

static void ping(struct client *c)
{
    struct request *r = ensemble_request(&c->world->ensemble);
    r->kind = REQ_PING;
    r->session = c->session;
    c->sent = c->world->agenda.now;
    send_up(c, UP_REQUEST, r);
}

void io_ping(struct client *c) { ping(c); }

/* When the end of the silence or the next ping is due; at most THIRD / 4, for either may become due earlier. A client
 * without a handle has neither. */
static instant next_look(const struct client *c, instant third)
{
    instant now = c->world->agenda.now, left = third / 4;
    if (c->io == IO_IDLE)
        return left;
    if (c->received + 2 * third - now < left)
        left = c->received + 2 * third - now;
    if (c->io == IO_CONNECTED && c->n_outstanding == 0 && c->sent + third - now < left)
        left = c->sent + third - now;
    return left > ms(1) ? left : ms(1);
}

static void io_clock(void *subject, uint64_t detail)
{
    struct client *c = subject;
    struct world *w = c->world;
    instant third = ms(c->timeout_ms) / 3;
    (void)detail;
    c->clock_stands = c->paused;
    if (c->dead || c->paused || client_is_real)
        return;
    if (c->io != IO_IDLE) {
        if (w->agenda.now - c->received >= 2 * third)
            lose(c, true);
        else if (c->io == IO_CONNECTED && c->n_outstanding == 0 && w->agenda.now - c->sent >= third)
            ping(c);
    }
    agenda_add(&w->agenda, next_look(c, third), io_clock, c, 0);
}

/* After a pause the client first reads the messages that have arrived. */
void io_resume(struct client *c)
{
    if (c->clock_stands)
        agenda_add(&c->world->agenda, ms(1), io_clock, c, 0);
    c->clock_stands = false;
}

/* --- birth and pause --------------------------------------------------------------------------------------------- */

void client_begin(struct client *c, struct world *w, int id)
{
    int drift_ppm = c->drift_ppm;
    memset(c, 0, offsetof(struct client, claims));
    c->drift_ppm = drift_ppm;
    c->world = w;
    c->id = id;
    c->session = c->offered = -1;
    c->clock_ms = between(&w->random, 1000, 1000000);
    c->hosts = UINT_MAX;
    c->timeout_ms = w->session_ms;
    if (!w->plan.exhaustive && chance(&w->random, w->tense ? 400 : 100)) /* its configuration may omit servers */
        c->hosts = 1U << below(&w->random, w->ensemble.n);
    for (int i = 0; i < w->ensemble.n; i++) {
        struct server *s = &w->ensemble.servers[i];
        pipe_init(&c->up[i], &w->agenda, arrive, s, &s->paused);
        pipe_init(&c->down[i], &w->agenda, read_down, c, &c->paused);
    }
    pipe_init(&c->inbox, &w->agenda, client_receive, c, &c->paused);
    c->dispatches = chance(&w->random, 200);
    c->refuses_mixed = !w->hostile && (w->plan.seed / 11 >> id & 1) != 0; /* strangers may be of any recipe */
    c->looks_ahead = w->plan.seed % 7 < 3 && (w->plan.seed / 7 >> id & 1) != 0;
    c->curious = w->plan.seed % 19 == 4 && !w->plan.exhaustive;
    c->log_level = (pdk_log_level)(PDK_LOG_ERROR + w->plan.seed / 19 % 4);
    c->one_name = chance(&w->random, 400);
    c->secretive = w->secretive && (!w->lends || id != 0) && chance(&w->random, 600);
    c->oversized = id == 0 && w->plan.seed % 41 == 17 && !w->calm && !w->plan.exhaustive;
    actors_begin(c);
    crowd_begin(c);
    for (int i = 0; i < ATTENDANTS; i++)
        c->attendants[i].client = c;
    c->adopts = w->lends && id == 0;
    c->onlooker.rounds = !c->adopts && w->observed >= 0 && chance(&w->random, 600);
    agenda_add(&w->agenda, ms(w->session_ms) / 12, io_clock, c, 0);
    client_start(c);
}

void client_crash(struct client *c)
{
    c->dead = true;
    STORY(c->world, "client %d dies", c->id);
    if (c->io != IO_IDLE && chance(&c->world->fault_random, 500))
        send_up(c, UP_CLOSED, NULL); /* closing the connection does not end the session */
    pipe_empty(&c->inbox);
}
