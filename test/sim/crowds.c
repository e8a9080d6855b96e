/*
 * A crowd: a thread of a client that has many requests for one lock at a time, each with a callback. They come in
 * bursts, wait behind the actors and each other while faults go on, and are given up little by little. Once all is
 * healed those that are left are given up soon.
 */
#include "test/sim/actor.h"

enum { LEAST = 50, BURSTS = 4 };

static instant pause_us(struct world *w, int most_ms) { return ms(between(&w->random, 1, most_ms)); }

/* --- a member ---------------------------------------------------------------------------------------------------- */

static void answered(int rc, void *member)
{
    struct actor *a = member;
    actor_granted(rc, a);
    fiber_wake_all(&a->client->crowd);
}

static void end(struct actor *a)
{
    a->rounds = 0;
    a->client->crowd.n_left--;
}

static void ask(struct actor *a)
{
    struct world *w = a->client->world;
    a->recipe = &recipes[a->of];
    a->mode = a->recipe->rarely != NULL && chance(&w->random, 350) ? a->recipe->rarely : a->recipe->mode;
    a->lock = a->client->locks[a->of];
    int rc = a->mode->request(a->lock, chance(&w->random, 900) ? PDK_FOREVER : 4000, answered, a, &a->grant);
    a->rounds = 1;
    if (rc == 0)
        return;
    judge_answer(a, rc);
    end(a);
}

/* It is asked to give up, or its handle is given back. The answer may come meanwhile. */
static void give_up(struct actor *a)
{
    pdk_grant *g = a->grant;
    if (chance(&a->client->world->random, 700)) {
        pdk_grant_cancel(g);
        return;
    }
    pdk_grant_release_async(g, NULL, NULL);
    a->grant = NULL;
}

/* A grant is released soon. */
static void finish(struct actor *a)
{
    struct world *w = a->client->world;
    bool granted = a->answer == 0 && a->grant != NULL;
    if (!granted && a->grant != NULL) {
        pdk_grant_release(a->grant); /* nothing, or what is lost */
        a->grant = NULL;
    }
    judge_answer(a, granted || a->answer != 0 ? a->answer : PDK_ECANCELED);
    a->holds = granted;
    if (granted) {
        fiber_block(a, pause_us(w, 50));
        leave(a, true);
        see(SIGHT_CROWD_SERVED);
    }
    end(a);
}

/* --- the crowd --------------------------------------------------------------------------------------------------- */

static bool is_waiting(const struct actor *a) { return a->rounds > 0 && !a->answered && a->grant != NULL; }

/* Was there any with an answer? Meanwhile others get theirs. */
static bool finish_all(struct crowd *k)
{
    int n = k->n_left;
    for (int i = 0; i < k->n_asked; i++)
        if (k->members[i].rounds > 0 && k->members[i].answered)
            finish(&k->members[i]);
    return k->n_left < n;
}

/* Some of them, anywhere in the queue. */
static void thin_out(struct crowd *k, int permille)
{
    for (int i = 0; i < k->n_asked; i++)
        if (is_waiting(&k->members[i]) && chance(&k->client->world->random, permille))
            give_up(&k->members[i]);
}

static void gather(struct crowd *k, int until)
{
    while (k->n_asked < until)
        ask(&k->members[k->n_asked++]);
}

void *crowd_run(void *arg)
{
    struct crowd *k = arg;
    struct world *w = k->client->world;
    int burst = w->service > 0 ? k->n : between(&w->random, 1, k->n / BURSTS);
    while (k->n_left > 0) {
        bool all = w->healed || k->client->closes;
        if (k->n_asked < k->n)
            gather(k, !all && k->n_asked + burst < k->n ? k->n_asked + burst : k->n);
        else if (all || chance(&w->random, 200))
            thin_out(k, all ? 500 : 50);
        if (!finish_all(k) && k->n_left > 0)
            fiber_block(k, pause_us(w, 500));
    }
    return NULL;
}

void crowd_begin(struct client *c)
{
    struct crowd *k = &c->crowd;
    struct world *w = c->world;
    k->client = c;
    k->members = c->members;
    if (c->id >= w->crowds || c->oversized)
        return;
    k->n = k->n_left = between(&w->random, LEAST, CROWD_MAX);
    enum recipe_of of = w->shares && chance(&w->random, 500) ? RECIPE_RWLOCK : RECIPE_MUTEX;
    for (int i = 0; i < k->n; i++)
        k->members[i] = (struct actor){.client = c, .of = of, .index = i, .later = true};
}
