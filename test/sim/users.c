/*
 * The users: threads of a client that lock, hold a while, unlock; some try, some have a deadline, some lose patience, and
 * some close the client while others wait. The answers of the library are judged here, at once.
 */
#include "test/sim/shim.h"
#include "test/sim/world.h"
#include <paddock.h>
#include <zookeeper/zookeeper.h>

enum { SPRINTS_MAX = 60 };

static const char law[] = "caller";

static instant ms(int64_t n) { return n * 1000; }

/* Mostly short, sometimes long. */
static int a_while(struct world *w, int least, int most)
{
    return between(&w->random, least, chance(&w->random, 700) ? least + most / 20 : most);
}

static void sleep_for(struct user *u, instant time) { fiber_block(u, time); }

/* --- what is answered ---------------------------------------------------------------------------------------------- */

static const struct claim *claim_of(const struct client *c, int64_t token)
{
    for (int i = 0; i < c->n_claims; i++)
        if (c->claims[i].granted && c->claims[i].token == token)
            return &c->claims[i];
    return NULL;
}

/* A caller without a grant of its own asks for any of the object's. There are two where one holder has not noticed yet
 * that another client deleted its node. */
static bool has_two(const struct client *c, int64_t token)
{
    const struct claim *one = claim_of(c, token);
    for (int i = 0; one != NULL && i < c->n_claims; i++) {
        const struct claim *other = &c->claims[i];
        if (other != one && other->used && other->granted && !other->released && other->path == one->path)
            return true;
    }
    return false;
}

/* The turns of one node have one owner at a time, in their order. */
static void judge_turn(const struct user *u, const pdk_mutex *m)
{
    struct world *w = u->client->world;
    if (u->turn == 0 || (u->turn > 1 && w->budget == 0 && w->idle_ms == 0))
        world_break(w, law, "client %d has turn %llu", u->client->id, (unsigned long long)u->turn);
    for (int i = 0; i < u->client->n_users; i++) {
        const struct user *other = &u->client->users[i];
        if (other == u || other->token != u->token)
            continue;
        if (has_two(u->client, u->token)) {
            excuse(EXCUSE_TWO_GRANTS);
            return;
        }
        if (other->holds)
            world_break(w, law, "two threads of client %d hold one grant", u->client->id);
        if (other->turn >= u->turn)
            world_break(w, law, "turn %llu of client %d comes late", (unsigned long long)u->turn, u->client->id);
        see(w->budget > 0 ? SIGHT_HANDED_ON : SIGHT_RESUMED);
        if (other->mutex != m)
            see(SIGHT_HANDED_ACROSS);
    }
}

static pdk_state ask(const struct user *u, pdk_mutex *m)
{
    return u->grant != NULL ? pdk_grant_state(u->grant) : pdk_lock_state(m);
}

/* No time passes in here: the answer is judged as it stands. */
static void judge_grant(struct user *u, pdk_mutex *m)
{
    struct world *w = u->client->world;
    fiber_now->n_locks++;
    pdk_state state = ask(u, m);
    int64_t valid_ms = u->grant != NULL ? pdk_grant_valid_ms(u->grant) : pdk_lock_valid_ms(m), token = 0;
    if (u->grant != NULL) {
        pdk_grant_token(u->grant, &token, NULL);
        pdk_grant_token(u->grant, NULL, &u->turn);
    } else {
        pdk_lock_token(m, &token, NULL);
        pdk_lock_token(m, NULL, &u->turn);
    }
    fiber_now->n_locks--;
    u->token = token;
    if (u->client->closes)
        return;
    judge_turn(u, m);
    if (state == PDK_LOST)
        world_break(w, law, "client %d is answered 0 for a grant that has ended", u->client->id);
    else if (valid_ms <= 0)
        world_break(w, law, "client %d holds, and for no time", u->client->id);
    if (token <= 0)
        world_break(w, law, "client %d holds without a token", u->client->id);
}

/* The state as the library answers it. A lock that it calls HELD is of a client that is connected, and that has at least
 * the promised time left: also when no thread of the library has run since the connection broke, or since that time
 * began. */
static pdk_state state_of(struct user *u, pdk_mutex *m)
{
    const struct client *c = u->client;
    bool apart = c->io != IO_CONNECTED; /* the call itself may leave a silent server */
    fiber_now->n_locks++;               /* no time passes in here */
    pdk_state state = ask(u, m);
    fiber_now->n_locks--;
    const struct pdk__session *s = client_session(c);
    if (state != PDK_HELD || c->closes)
        return state;
    if (apart && c->io != IO_CONNECTED)
        world_break(c->world, law, "client %d is told HELD, and is not connected", c->id);
    if (pdk__session_deadline_ms(s) - client_now_ms(c) < s->limits.min_valid_ms)
        world_break(c->world, law, "client %d is told HELD, and has too little time left", c->id);
    return state;
}

/* It was handed on to another thread, or is idle, and may be lost by now; or its delete is under way. */
static bool may_stay(const struct world *w, const struct claim *claim, bool later)
{
    bool handed = w->budget > 0 && (!claim->released || later);
    return handed || w->idle_ms > 0 || (w->nowait && !later);
}

/* After a flush the node is gone, if it was released at all. */
static void flush(struct user *u)
{
    struct client *c = u->client;
    struct world *w = c->world;
    const struct claim *claim = claim_of(c, u->token);
    bool released = claim != NULL && claim->released;
    int rc = pdk_client_flush(c->library, PDK_FOREVER);
    if (rc != 0 && !c->closes)
        world_break(w, law, "client %d cannot flush: %s", c->id, pdk_strerrorname(rc));
    if (rc != 0 || !released || claim != claim_of(c, u->token))
        return;
    const struct node *node = world_node(w, claim);
    if (node != NULL && world_session_id(node->owner) != client_session(c)->id)
        node = NULL; /* the session was given up, and takes it along */
    if (node != NULL && (w->ending >> node->owner & 1) != 0)
        excuse(EXCUSE_ENDING_NODE);
    else if (node != NULL)
        world_break(w, law, "client %d has flushed, and %s is there", c->id, claim->machine->node.name);
    see(SIGHT_FLUSHED);
}

/* Answered 0 it left no node; and a loss that was known is not hidden. */
static void judge_unlock(struct user *u, int rc, bool lost, bool last, bool later)
{
    struct world *w = u->client->world;
    const struct claim *claim = claim_of(u->client, u->token);
    if (lost && rc == 0)
        world_break(w, law, "client %d unlocks what is lost, and is answered 0", u->client->id);
    const struct node *node = claim != NULL ? world_node(w, claim) : NULL;
    bool goes = node != NULL &&
                (w->ending >> node->owner & 1) != 0; /* a client can hear of it before it is committed */
    if (rc == 0 && last && goes)
        excuse(EXCUSE_ENDING_NODE);
    else if (rc == 0 && last && node != NULL && !may_stay(w, claim, later))
        world_break(w, law, "client %d has unlocked, and %s is there", u->client->id, claim->machine->node.name);
    if (rc == PDK_EPERM || rc == PDK_EINVAL)
        world_break(w, law, "client %d may not unlock its own lock", u->client->id);
}

static void unlocked(int rc, void *arg)
{
    struct user *u = arg;
    if (u->answered)
        world_break(u->client->world, law, "a callback comes twice");
    u->answered = true;
    u->answer = rc;
    fiber_wake_all(&u->answered);
}

/* Of a handle or of the thread; the handle ends. */
static int unlock_now(struct user *u, pdk_mutex *m)
{
    pdk_grant *g = u->grant;
    u->grant = NULL;
    return g != NULL ? pdk_grant_release(g) : pdk_mutex_unlock(m);
}

static int unlock_later(struct user *u, pdk_mutex *m)
{
    pdk_grant *g = u->grant;
    u->grant = NULL;
    u->answered = false;
    int rc = g != NULL ? pdk_grant_release_async(g, unlocked, u) : pdk_mutex_unlock_async(m, unlocked, u);
    if (rc != 0)
        return rc;
    while (!u->answered)
        fiber_block(&u->answered, -1);
    return u->answer;
}

static void unlock(struct user *u, pdk_mutex *m, bool last)
{
    struct world *w = u->client->world;
    bool lost = state_of(u, m) == PDK_LOST;
    bool later = chance(&w->random, 100), handle = u->grant != NULL;
    int rc = later ? unlock_later(u, m) : unlock_now(u, m);
    if (later && rc == PDK_ENOMEM && !handle) /* and nothing has happened */
        rc = pdk_mutex_unlock(m);
    STORY(w, "client %d user %d: unlock answers %s%s", u->client->id, u->index, pdk_strerrorname(rc),
          later ? ", later" : "");
    judge_unlock(u, rc, lost, last, later);
    if (w->nowait && last && chance(&w->random, 200))
        flush(u);
}

/* --- locking ------------------------------------------------------------------------------------------------------- */

static void answered(int rc, void *arg)
{
    struct user *u = arg;
    if (u->answered)
        world_break(u->client->world, law, "a callback comes twice");
    u->answered = true;
    u->answer = rc;
    if (rc == 0)
        judge_grant(u, u->mutex);
    fiber_wake_all(&u->answered);
}

/* Without waiting in the call; and perhaps not for as long as it takes. */
static int lock_later(struct user *u, pdk_mutex *m, bool patient)
{
    struct world *w = u->client->world;
    u->answered = false;
    u->mutex = m;
    u->holds = false;
    int rc = pdk_mutex_lock_async(m, PDK_FOREVER, answered, u, &u->grant);
    if (rc != 0)
        return rc;
    if (!u->answered && !patient && !fiber_block(&u->answered, ms(a_while(w, 1, 1500))))
        pdk_grant_cancel(u->grant);
    while (!u->answered)
        fiber_block(&u->answered, -1);
    if (u->answer != 0)
        unlock_now(u, m); /* nothing, or what is lost */
    return u->answer;
}

/* A deadline counts suspended time. */
static int lock_in_time(struct user *u, pdk_mutex *m, int timeout_ms)
{
    const struct client *c = u->client;
    struct world *w = c->world;
    int64_t end_ms = client_now_ms(c) + timeout_ms, late_ms = 20 + (w->late_permille > 0 ? w->late_delay / 100 : 0);
    int rc = pdk_mutex_timedlock(m, timeout_ms);
    if (client_now_ms(c) - end_ms > late_ms && w->agenda.now - c->resumed > late_ms * 1000)
        world_break(w, law, "client %d is answered %lld ms after its deadline", c->id,
                    (long long)(client_now_ms(c) - end_ms));
    return rc;
}

static int lock(struct user *u, pdk_mutex *m, int *kind)
{
    struct world *w = u->client->world;
    *kind = w->healed ? 0 : below(&w->random, 10);
    if (*kind == 9)
        return pdk_mutex_trylock(m);
    if (*kind >= 6)
        return lock_in_time(u, m, a_while(w, 20, 4000));
    if (*kind >= 4)
        return lock_later(u, m, *kind == 4);
    return pdk_mutex_lock(m);
}

static int hold_ms(const struct user *u)
{
    struct world *w = u->client->world;
    if (u->sprints)
        return between(&w->random, 1, 10);
    if (w->tense && !w->healed && chance(&w->random, 700))
        return between(&w->random, 1000, 8000);
    return a_while(w, 1, w->calm && !w->healed ? 8000 : 3000);
}

/* At most once per grant, of a lock that it had. */
void user_asked(pdk_mutex *m, const pdk_event *event, void *arg)
{
    struct client *c = arg;
    int64_t token = event->token;
    if (event->kind != PDK_EVENT_REVOKED)
        return;
    const struct claim *claim = claim_of(c, token);
    if (claim != NULL && !claim->revoked)
        world_break(c->world, law, "client %d is asked for its lock, and nobody wants it", c->id);
    see(SIGHT_ASKED_BACK);
    for (int i = 0; i < c->n_users; i++) {
        struct user *u = &c->users[i];
        if (!u->holds || u->mutex != m || u->token != token)
            continue;
        if (u->wanted)
            world_break(c->world, law, "client %d is asked twice for its lock", c->id);
        u->wanted = true;
        fiber_wake_all(&u->wanted);
    }
}

/* The child of a holder holds nothing, and touches nothing of its parent's. It takes no time. */
static void fork_child(struct user *u, pdk_mutex *m)
{
    struct client *c = u->client;
    struct world *w = c->world;
    int64_t token;
    uint64_t turn;
    pdk_contender_list *list;
    c->child = fiber_now;
    if (pdk_lock_state(m) == PDK_HELD || pdk_lock_valid_ms(m) > 0)
        world_break(w, law, "the child of client %d holds", c->id);
    if (pdk_lock_token(m, &token, NULL) != PDK_EFORKED || pdk_mutex_trylock(m) != PDK_EFORKED ||
        pdk_mutex_unlock(m) != PDK_EFORKED || pdk_lock_token(m, NULL, &turn) != PDK_EFORKED ||
        pdk_client_flush(c->library, 0) != PDK_EFORKED || pdk_lock_free(m) != PDK_EFORKED ||
        pdk_contenders(c->library, "/0", PDK_CONTENDERS_ALL, 0, &list) != PDK_EFORKED ||
        pdk_client_free(c->library) != PDK_EFORKED)
        world_break(w, law, "the child of client %d may do something", c->id);
    c->child = NULL;
    see(SIGHT_FORKED);
}

/* A grant that is lost cannot be guarded. */
static void guard(struct user *u, pdk_mutex *m)
{
    zoo_op_t op;
    int rc = u->grant != NULL ? pdk_grant_guard(u->grant, 0, &op) : pdk_lock_guard(m, 0, &op);
    if (rc != 0 && rc != PDK_ELOST && rc != PDK_ENOMEM && !u->client->closes)
        world_break(u->client->world, law, "client %d cannot guard its grant: %s", u->client->id, pdk_strerrorname(rc));
    see(SIGHT_GUARDED);
}

/* Until its work is done; often shorter when another wants the lock. */
static void hold(struct user *u, pdk_mutex *m)
{
    struct world *w = u->client->world;
    bool yields = chance(&w->random, 700);
    if (chance(&w->random, 20))
        fork_child(u, m);
    if (u->client->curious)
        guard(u, m);
    if (yields && !u->wanted)
        fiber_block(&u->wanted, ms(hold_ms(u)));
    else
        sleep_for(u, ms(hold_ms(u)));
}

/* A request that the servers do not take is given up in the end, and makes no node. */
static void judge_large(struct user *u, int rc)
{
    if (!u->client->oversized || u->path != 0)
        return;
    if (rc == 0)
        world_break(u->client->world, law, "client %d is granted a lock that the servers do not take", u->client->id);
    if (rc == PDK_EREFUSED)
        see(SIGHT_TOO_LARGE_REFUSED);
}

/* NULL: the client is closed. */
static pdk_mutex *begin_work(struct user *u)
{
    struct client *c = u->client;
    struct world *w = c->world;
    u->path = u->sprints ? w->n_paths - 1 : below(&w->random, w->n_paths);
    if (!w->apart || u->index % 2 == 0)
        return c->mutexes[u->path];
    while (client_make_mutex(c, u->path, &u->own) != 0 && !c->closes)
        fiber_block(c, ms(10));
    return u->own;
}

/* Its node may be another thread's by now, through another object. */
static void end_work(struct user *u)
{
    pdk_mutex *own = u->own;
    u->own = NULL;
    int rc = pdk_lock_free(own);
    if (rc != 0)
        world_break(u->client->world, law, "client %d cannot free a mutex: %s", u->client->id, pdk_strerrorname(rc));
}

static void use(struct user *u, pdk_mutex *m)
{
    struct world *w = u->client->world;
    int kind;
    int rc = lock(u, m, &kind);
    STORY(w, "client %d user %d: lock of kind %d answers %s", u->client->id, u->index, kind, pdk_strerrorname(rc));
    judge_large(u, rc);
    if (rc != 0)
        return;
    bool of_thread = kind < 4 || kind >= 6;
    u->mutex = m;
    u->wanted = false;
    u->holds = true;
    if (of_thread)
        judge_grant(u, m);
    bool twice = of_thread && chance(&w->random, 100) && pdk_mutex_lock(m) == 0;
    hold(u, m);
    u->holds = false;
    if (twice)
        unlock(u, m, false);
    unlock(u, m, true);
}

static void work(struct user *u)
{
    pdk_mutex *m = begin_work(u);
    if (m != NULL)
        use(u, m);
    end_work(u);
}

void *user_run(void *arg)
{
    struct user *u = arg;
    struct world *w = u->client->world;
    struct random *r = &w->random;
    u->sprints = u->index == 1 && w->sprints;
    for (u->rounds = u->sprints ? between(r, 1, SPRINTS_MAX) : between(r, 1, 4); u->rounds > 0; u->rounds--) {
        sleep_for(u, ms(between(r, 1, u->sprints ? 20 : 300)));
        work(u);
        if ((u->sprints && w->healed) || u->client->closes)
            u->rounds = 1;
    }
    return NULL;
}

/* --- dispatching --------------------------------------------------------------------------------------------------- */

void *client_dispatch(void *arg)
{
    struct client *c = arg;
    struct pollfd polled = {.fd = pdk_client_fd(c->library), .events = POLLIN};
    c->dispatching = true;
    while (!c->closes) {
        if (polled.fd >= 0 && sim_poll(&polled, 1, 1000) > 0 && !c->closes)
            pdk_client_dispatch(c->library);
    }
    c->dispatching = false;
    return NULL;
}

/* --- closing ------------------------------------------------------------------------------------------------------- */

static bool at_work(const struct client *c)
{
    for (int i = 0; i < c->n_users; i++)
        if (c->users[i].rounds > 0)
            return true;
    for (int i = 0; i < SHARERS_MAX; i++)
        if (c->sharers[i].rounds > 0)
            return true;
    for (int i = 0; i < TAKERS_MAX; i++)
        if (c->takers[i].rounds > 0)
            return true;
    for (int i = 0; i < GATHERERS_MAX; i++)
        if (c->gatherers[i].rounds > 0)
            return true;
    for (int i = 0; i < ATTENDANTS; i++)
        if (c->attendants[i].rounds > 0)
            return true;
    return c->candidate.rounds > 0 || c->onlooker.rounds > 0;
}

/* A client that was closed with 0 has left no node in the session, which goes on, and no watcher on the handle. One that
 * was told of the session's end cannot know better: a deposed leader that has not noticed says so of a new session. */
static void take_back(struct client *c, int rc)
{
    struct world *w = c->world;
    if (zoo_set_watcher(c->lent, client_watch_own) != client_watch_own)
        world_break(w, law, "client %d keeps its watcher on a handle that was lent", c->id);
    for (int p = 0; p < PATHS && rc == 0 && !c->expired; p++)
        for (int i = 0; i < w->ensemble.truth.dirs[p].n; i++)
            if (c->session >= 0 && w->ensemble.truth.dirs[p].nodes[i].owner == c->session &&
                (w->ending >> c->session & 1) == 0)
                world_break(w, law, "client %d is closed, and %s is there", c->id,
                            w->ensemble.truth.dirs[p].nodes[i].name);
    zookeeper_close(c->lent);
}

/* While its users wait, or when they are done; then nothing of it is left. The world and the client itself may begin it at
 * the same instant: once is enough. */
void *client_end(void *arg)
{
    struct client *c = arg;
    struct world *w = c->world;
    if (c->closes)
        return NULL;
    c->closes = true;
    STORY(w, "client %d is closed", c->id);
    while (c->dispatching || c->asking) /* its descriptor goes with the client */
        fiber_block(c, ms(10));
    int rc = pdk_client_close(c->library);
    if (rc != 0 && !(c->adopts && rc == PDK_EUNKNOWN)) /* a session that goes on may keep its nodes */
        world_break(w, law, "client %d cannot be closed: %s", c->id, pdk_strerrorname(rc));
    if (c->lent != NULL)
        take_back(c, rc);
    while (at_work(c))
        fiber_block(c, ms(10));
    sharers_end(c);
    takers_end(c);
    gatherers_end(c);
    attendants_end(c);
    if (c->candidate.leader != NULL)
        candidate_end(&c->candidate);
    if (c->onlooker.observer != NULL)
        onlooker_end(&c->onlooker);
    for (int p = 0; p < w->n_paths; p++)
        if ((rc = pdk_lock_free(c->mutexes[p])) != 0)
            world_break(w, law, "client %d cannot free a mutex: %s", c->id, pdk_strerrorname(rc));
    if ((rc = pdk_client_free(c->library)) != 0)
        world_break(w, law, "client %d cannot be freed: %s", c->id, pdk_strerrorname(rc));
    c->closed = true;
    STORY(w, "client %d is freed", c->id);
    return NULL;
}
