/*
 * The takers: threads of a client that take permits of a semaphore, on a path of their own: one or several at once, with
 * patience, without, or with a deadline; and give them back, or take the request back. The answers of the library are
 * judged here, at once.
 */
#include "test/sim/world.h"
#include <paddock.h>
#include <stdio.h>

static const char law[] = "taker";

static instant ms(int64_t n) { return n * 1000; }

/* No time passes in here. */
static void judge_grant(struct taker *t, pdk_grant *p, unsigned n)
{
    struct world *w = t->client->world;
    int64_t token = 0;
    char node[PDK__NAME_MAX];
    fiber_now->n_locks++;
    pdk_state state = pdk_grant_state(p);
    int64_t valid_ms = pdk_grant_valid_ms(p);
    pdk_grant_token(p, &token, NULL);
    size_t length = pdk_grant_node(p, n - 1, node, sizeof node);
    fiber_now->n_locks--;
    if (t->client->closes)
        return;
    if (state == PDK_LOST || state == PDK_FREE || length == 0)
        world_break(w, law, "client %d is answered 0, and the state of its permits is %d", t->client->id, (int)state);
    if (valid_ms <= 0 || token <= 0)
        world_break(w, law, "client %d holds for %lld ms, by token %lld", t->client->id, (long long)valid_ms,
                    (long long)token);
}

static void answered(int rc, void *arg)
{
    struct taker *t = arg;
    if (t->answered)
        world_break(t->client->world, law, "a callback comes twice");
    t->answered = true;
    t->answer = rc;
    fiber_wake_all(&t->answered);
}

/* It may come while the taker is on its way to take the request back. */
static void granted(int rc, void *arg)
{
    struct taker *t = arg;
    if (rc == 0 && t->request == NULL)
        world_break(t->client->world, law, "client %d is granted a request that it took back", t->client->id);
    else if (rc == 0)
        judge_grant(t, t->request, pdk_grant_count(t->request));
    answered(rc, t);
}

static void await_answer(struct taker *t)
{
    while (!t->answered)
        fiber_block(&t->answered, -1);
}

/* A request that may be taken back. */
static int take_later(struct taker *t, unsigned n, pdk_grant **p)
{
    struct world *w = t->client->world;
    t->answered = false;
    int rc = pdk_semaphore_acquire_async(t->client->semaphore, n, w->healed ? PDK_FOREVER : 4000, granted, t,
                                         &t->request);
    if (rc != 0)
        return rc;
    if (chance(&w->random, 300) && !w->healed) {
        fiber_block(t, ms(between(&w->random, 1, 500)));
        pdk_grant_release(t->request);
        t->request = NULL;
        await_answer(t);
        return PDK_ECANCELED;
    }
    await_answer(t);
    pdk_grant *request = t->request;
    if (t->answer == 0)
        *p = request;
    else
        pdk_grant_release(request);
    return t->answer;
}

static int take(struct taker *t, unsigned n, pdk_grant **p, int kind)
{
    pdk_semaphore *s = t->client->semaphore;
    int timeout_ms = between(&t->client->world->random, 20, 4000);
    if (kind == 9)
        return pdk_semaphore_tryacquire(s, n, p);
    if (kind >= 6)
        return pdk_semaphore_timedacquire(s, n, timeout_ms, p);
    return pdk_semaphore_acquire(s, n, p);
}

static int take_and_judge(struct taker *t, unsigned n, pdk_grant **p)
{
    int kind = t->client->world->healed ? 0 : below(&t->client->world->random, 10);
    if (kind == 4 || kind == 5)
        return take_later(t, n, p);
    int rc = take(t, n, p, kind);
    if (rc == 0)
        judge_grant(t, *p, n);
    return rc;
}

static int give_back_later(struct taker *t, pdk_grant *p)
{
    t->answered = false;
    int rc = pdk_grant_release_async(p, answered, t);
    if (rc != 0)
        return rc;
    await_answer(t);
    return t->answer;
}

/* Answered 0 it left no node; a client can hear of the end of its session before that is committed. */
static void judge_release(struct taker *t, char names[][PDK__NAME_MAX], unsigned n)
{
    struct world *w = t->client->world;
    for (unsigned i = 0; i < n; i++) {
        const struct node *node = tree_find(&w->ensemble.truth, LEASE_PATH, names[i]);
        if (node == NULL || node->planted || world_session_id(node->owner) != client_session(t->client)->id)
            continue;
        if ((w->ending >> node->owner & 1) != 0)
            excuse(EXCUSE_ENDING_NODE);
        else
            world_break(w, law, "client %d has released its permits, and %s is there", t->client->id, names[i]);
    }
}

/* One session timeout, however many permits they are. A deadline counts suspended time. */
static int give_back_in_time(struct taker *t, pdk_grant *p)
{
    const struct client *c = t->client;
    struct world *w = c->world;
    int64_t end_ms = client_now_ms(c) + w->session_ms, late_ms = 20 + (w->late_permille > 0 ? w->late_delay / 100 : 0);
    int rc = pdk_grant_release(p);
    if (client_now_ms(c) - end_ms > late_ms && w->agenda.now - c->resumed > late_ms * 1000)
        world_break(w, law, "client %d has released its permits %lld ms after a session timeout", c->id,
                    (long long)(client_now_ms(c) - end_ms));
    return rc;
}

static void give_back(struct taker *t, pdk_grant *p)
{
    struct world *w = t->client->world;
    char names[PERMITS_MAX][PDK__NAME_MAX];
    unsigned n = pdk_grant_count(p);
    for (unsigned i = 0; i < n; i++)
        pdk_grant_node(p, i, names[i], sizeof names[i]);
    bool lost = pdk_grant_state(p) == PDK_LOST;
    int rc = chance(&w->random, 300) ? give_back_later(t, p) : give_back_in_time(t, p);
    STORY(w, "client %d taker %d: release answers %s", t->client->id, t->index, pdk_strerrorname(rc));
    if ((rc == PDK_EPERM && !t->client->closes) || rc == PDK_EINVAL || rc == PDK_EDEADLK || (lost && rc == 0))
        world_break(w, law, "client %d releases its permits: %s", t->client->id, pdk_strerrorname(rc));
    if (rc == 0)
        judge_release(t, names, n);
}

static void take_once(struct taker *t)
{
    struct world *w = t->client->world;
    struct random *r = &w->random;
    pdk_grant *p = NULL;
    unsigned n = (unsigned)between(r, 1, w->permits);
    int rc = take_and_judge(t, n, &p);
    STORY(w, "client %d taker %d: %u permits: %s", t->client->id, t->index, n, pdk_strerrorname(rc));
    if ((rc == 0) != (p != NULL))
        world_break(w, law, "client %d is answered %s, and has a handle or none", t->client->id, pdk_strerrorname(rc));
    if (rc == PDK_EEXHAUSTED && !w->hostile)
        world_break(w, law, "client %d is refused %u permits: the numbers are used up", t->client->id, n);
    if (rc == 0 && n > 1)
        see(SIGHT_SEVERAL_PERMITS);
    if (rc != 0)
        return;
    fiber_block(t, ms(between(r, 1, chance(r, 700) ? 200 : 3000)));
    give_back(t, p);
}

void *taker_run(void *arg)
{
    struct taker *t = arg;
    struct random *r = &t->client->world->random;
    for (t->rounds = between(r, 1, 4); t->rounds > 0 && !t->client->closes; t->rounds--) {
        fiber_block(t, ms(between(r, 1, 300)));
        take_once(t);
    }
    t->rounds = 0;
    return NULL;
}

int takers_begin(struct client *c)
{
    if (c->semaphore != NULL)
        return 0;
    pdk_lock_options *o = pdk_lock_options_new();
    if (o == NULL)
        return PDK_ENOMEM;
    pdk_lock_options_set_confirmed(o, c->world->confirmed);
    pdk_lock_options_set_unlock_nowait(o, c->world->nowait);
    pdk_lock_options_set_refuse_mixed(o, c->refuses_mixed);
    int rc = pdk_semaphore_new(&c->semaphore, c->library, SEMAPHORE, (unsigned)c->world->permits, o);
    pdk_lock_options_free(o);
    return rc;
}

void takers_end(struct client *c)
{
    if (c->semaphore != NULL && pdk_lock_free(c->semaphore) != 0)
        world_break(c->world, law, "client %d cannot free its semaphore", c->id);
    c->semaphore = NULL;
}
