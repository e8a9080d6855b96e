/*
 * The sharers: threads of a client that read and write under a read/write lock, on a path of their own. A reader asks in
 * vain to write; a writer may go on as a reader. The answers of the library are judged here, at once.
 */
#include "test/sim/world.h"
#include <paddock.h>
#include <stdio.h>

static const char law[] = "sharer";

static instant ms(int64_t n) { return n * 1000; }

/* The turns of one node have one owner at a time, in their order. */
static void judge_turn(const struct sharer *s)
{
    struct world *w = s->client->world;
    if (s->turn == 0 || (s->turn > 1 && w->idle_ms == 0))
        world_break(w, law, "client %d has turn %llu", s->client->id, (unsigned long long)s->turn);
    for (int i = 0; i < SHARERS_MAX; i++) {
        const struct sharer *other = &s->client->sharers[i];
        if (other == s || other->token != s->token)
            continue;
        if (other->holds)
            world_break(w, law, "two threads of client %d hold one grant", s->client->id);
        if (other->turn >= s->turn)
            world_break(w, law, "turn %llu of client %d comes late", (unsigned long long)s->turn, s->client->id);
        see(SIGHT_RESUMED);
    }
}

/* No time passes in here. */
static void judge_grant(struct sharer *s)
{
    struct world *w = s->client->world;
    int64_t token = 0;
    fiber_now->n_locks++;
    pdk_state state = pdk_lock_state(s->client->shared);
    int64_t valid_ms = pdk_lock_valid_ms(s->client->shared);
    pdk_lock_token(s->client->shared, &token, NULL);
    pdk_lock_token(s->client->shared, NULL, &s->turn);
    fiber_now->n_locks--;
    s->token = token;
    s->holds = true;
    if (s->client->closes)
        return;
    judge_turn(s);
    if (state == PDK_LOST || state == PDK_FREE)
        world_break(w, law, "client %d is answered 0, and its state is %d", s->client->id, (int)state);
    if (valid_ms <= 0 || token <= 0)
        world_break(w, law, "client %d holds for %lld ms, by token %lld", s->client->id, (long long)valid_ms,
                    (long long)token);
}

static int take(struct sharer *s, bool write)
{
    struct world *w = s->client->world;
    pdk_rwlock *l = s->client->shared;
    int kind = w->healed ? 0 : below(&w->random, 10), timeout_ms = between(&w->random, 20, 4000);
    if (kind == 9)
        return write ? pdk_rwlock_trywrlock(l) : pdk_rwlock_tryrdlock(l);
    if (kind >= 6)
        return write ? pdk_rwlock_timedwrlock(l, timeout_ms) : pdk_rwlock_timedrdlock(l, timeout_ms);
    return write ? pdk_rwlock_wrlock(l) : pdk_rwlock_rdlock(l);
}

static void give_back(struct sharer *s, int (*verb)(pdk_rwlock *l), bool last)
{
    s->holds &= !last;
    int rc = verb(s->client->shared);
    STORY(s->client->world, "client %d sharer %d: unlock answers %s", s->client->id, s->index, pdk_strerrorname(rc));
    if (rc == PDK_EPERM || rc == PDK_EINVAL || rc == PDK_EDEADLK)
        world_break(s->client->world, law, "client %d may not unlock its own lock: %s", s->client->id,
                    pdk_strerrorname(rc));
}

static void work(struct sharer *s)
{
    struct random *r = &s->client->world->random;
    fiber_block(s, ms(between(r, 1, chance(r, 700) ? 200 : 3000)));
}

/* Its own grant may be lost by now, and its client closed. */
static void read_on(struct sharer *s)
{
    struct world *w = s->client->world;
    if (chance(&w->random, 200)) {
        int rc = pdk_rwlock_timedwrlock(s->client->shared, 1000);
        if (rc != PDK_EDEADLK && rc != PDK_ELOST && !pdk_err_fatal(rc) && !s->client->closes)
            world_break(w, law, "client %d reads, and asks to write: %s", s->client->id, pdk_strerrorname(rc));
    }
    bool twice = chance(&w->random, 200) && pdk_rwlock_rdlock(s->client->shared) == 0;
    work(s);
    if (twice)
        give_back(s, pdk_rwlock_unlock, false);
    give_back(s, pdk_rwlock_unlock, true);
}

/* A writer's read lock waits for nobody; it fails with the writer's own, or for want of time, memory or a connection. */
static void judge_refusal(const struct sharer *s, int rc)
{
    struct world *w = s->client->world;
    bool numberless = rc == PDK_EEXHAUSTED && !w->hostile;
    if ((rc == PDK_EDEADLK || rc == PDK_EPERM || rc == PDK_EINVAL || numberless) && !s->client->closes)
        world_break(w, law, "client %d writes, and may not read: %s", s->client->id, pdk_strerrorname(rc));
}

/* The token stays. */
static void write_on(struct sharer *s)
{
    struct world *w = s->client->world;
    work(s);
    if (chance(&w->random, 250) && take(s, false) == 0)
        give_back(s, pdk_rwlock_unlock, false);
    int rc = chance(&w->random, 500) ? pdk_rwlock_downgrade(s->client->shared) : PDK_EBUSY;
    STORY(w, "client %d sharer %d: a writer goes on as a reader: %s", s->client->id, s->index, pdk_strerrorname(rc));
    if (rc == PDK_EUNKNOWN)
        rc = 0;
    if (rc == 0) {
        int64_t token = s->token;
        judge_grant(s);
        if (s->token != token && !s->client->closes)
            world_break(w, law, "client %d reads under its write lock with another token", s->client->id);
        see(SIGHT_DOWNGRADED);
    } else {
        judge_refusal(s, rc);
    }
    if (rc == 0)
        read_on(s);
    else
        give_back(s, pdk_rwlock_unlock, true);
}

static void share(struct sharer *s)
{
    struct world *w = s->client->world;
    bool write = chance(&w->random, 350);
    int rc = take(s, write);
    STORY(w, "client %d sharer %d: %s lock answers %s", s->client->id, s->index, write ? "write" : "read",
          pdk_strerrorname(rc));
    if (rc != 0)
        return;
    judge_grant(s);
    if (write)
        write_on(s);
    else
        read_on(s);
}

void *sharer_run(void *arg)
{
    struct sharer *s = arg;
    struct random *r = &s->client->world->random;
    for (s->rounds = between(r, 1, 4); s->rounds > 0 && !s->client->closes; s->rounds--) {
        fiber_block(s, ms(between(r, 1, 300)));
        share(s);
    }
    s->rounds = 0;
    return NULL;
}

int sharers_begin(struct client *c)
{
    char path[] = {'/', '0' + SHARED_PATH, '\0'};
    if (c->shared != NULL)
        return 0;
    pdk_lock_options *o = pdk_lock_options_new();
    if (o == NULL)
        return PDK_ENOMEM;
    pdk_lock_options_set_keep(o, 0, c->world->idle_ms);
    pdk_lock_options_set_confirmed(o, c->world->confirmed);
    pdk_lock_options_set_look_ahead(o, c->looks_ahead);
    pdk_lock_options_set_refuse_mixed(o, c->refuses_mixed);
    int rc = pdk_rwlock_new(&c->shared, c->library, path, o);
    pdk_lock_options_free(o);
    return rc;
}

void sharers_end(struct client *c)
{
    if (c->shared != NULL && pdk_lock_free(c->shared) != 0)
        world_break(c->world, law, "client %d cannot free its read/write lock", c->id);
    c->shared = NULL;
}
