/*
 * The candidates: threads of a client that stand for leader, lead for a while, and resign. The answers and reports
 * of the library are judged here, at once.
 */
#include "test/sim/world.h"
#include <paddock.h>

static const char law[] = "leader";

static instant ms(int64_t n) { return n * 1000; }

/* --- what is reported ---------------------------------------------------------------------------------------------- */

/* Which events can follow which; none before the first. */
static bool may_follow(const pdk_event *before, const pdk_event *event)
{
    bool in_term = before->state == PDK_HELD || before->state == PDK_SUSPECT;
    switch (event->kind) {
    case PDK_EVENT_ELECTED:
        return !in_term && event->state == PDK_HELD;
    case PDK_EVENT_STATE:
        return in_term && event->state != before->state && event->token == before->token &&
               (event->state == PDK_HELD || event->state == PDK_SUSPECT);
    case PDK_EVENT_DEPOSED:
        return in_term && (event->state == PDK_LOST || event->state == PDK_FREE) && event->token == before->token;
    default:
        return true;
    }
}

/* Its creates were lost again and again; or a hostile contender has taken its number. */
static void judge_withdrawal(const struct client *c, int reason)
{
    struct world *w = c->world;
    if (c->adopts && reason == PDK_EEXPIRED) /* its program would open another handle */
        return;
    if (c->auth_failed && reason == PDK_EAUTH)
        return;
    if (reason != PDK_EREFUSED && !(reason == PDK_EEXHAUSTED && w->hostile))
        world_break(w, law, "a candidate is withdrawn: %s", pdk_strerrorname(reason));
    else
        excuse(EXCUSE_WITHDRAWN);
}

static void judge_event(struct candidate *k, const pdk_event *event)
{
    struct world *w = k->client->world;
    if (!may_follow(&k->told, event))
        world_break(w, law, "event %d of state %d is reported after %d of state %d", (int)event->kind,
                    (int)event->state, (int)k->told.kind, (int)k->told.state);
    if (event->kind == PDK_EVENT_ELECTED && event->token <= k->token)
        world_break(w, law, "a term has token %llx after %llx", (unsigned long long)event->token,
                    (unsigned long long)k->token);
    if (event->kind == PDK_EVENT_WITHDRAWN && !k->client->closes)
        judge_withdrawal(k->client, pdk_leader_wait(k->leader, 0));
    if (event->kind == PDK_EVENT_ELECTED)
        k->token = event->token;
    if (event->kind != PDK_EVENT_REVOKED && event->kind != PDK_EVENT_QUEUED)
        k->told = *event;
}

/* Events in the middle can be lost, where many wait: 16 at least are kept. */
static void happened(pdk_leader *l, const pdk_event *event, void *arg)
{
    struct candidate *k = arg;
    (void)l;
    STORY(k->client->world, "client %d candidate: event %d", k->client->id, (int)event->kind);
    judge_event(k, event);
}

/* --- a term -------------------------------------------------------------------------------------------------------- */

/* No time passes in here. */
static void judge_term(struct candidate *k)
{
    struct world *w = k->client->world;
    int64_t token = 0;
    fiber_now->n_locks++;
    bool leads = pdk_lock_state(k->leader) == PDK_HELD;
    int64_t valid_ms = pdk_lock_valid_ms(k->leader);
    int rc = pdk_lock_token(k->leader, &token, NULL);
    fiber_now->n_locks--;
    if (leads && (valid_ms <= 0 || rc != 0 || token <= 0))
        world_break(w, law, "client %d leads for %lld ms, by token %lld", k->client->id, (long long)valid_ms,
                    (long long)token);
}

static void lead(struct candidate *k)
{
    struct world *w = k->client->world;
    judge_term(k);
    fiber_block(k, ms(between(&w->random, 1, chance(&w->random, 700) ? 200 : 4000)));
    judge_term(k);
}

static void resign(struct candidate *k)
{
    struct world *w = k->client->world;
    int rc = pdk_leader_resign(k->leader);
    if (rc == PDK_EDEADLK || rc == PDK_EINVAL)
        world_break(w, law, "client %d cannot resign: %s", k->client->id, pdk_strerrorname(rc));
    if (pdk_lock_state(k->leader) == PDK_HELD)
        world_break(w, law, "client %d has resigned, and leads", k->client->id);
}

/* It stays a candidate, at the end of the queue. */
static void take_turns(struct candidate *k)
{
    struct world *w = k->client->world;
    for (int i = below(&w->random, 3); i > 0; i--) {
        int64_t before = 0, token = 0;
        pdk_lock_token(k->leader, &before, NULL);
        int rc = pdk_leader_yield(k->leader);
        STORY(w, "client %d candidate: yields: %s", k->client->id, pdk_strerrorname(rc));
        if (rc != 0 || pdk_leader_wait(k->leader, between(&w->random, 10, 3000)) != 0)
            return;
        see(SIGHT_TURN);
        if (pdk_lock_token(k->leader, &token, NULL) == 0 && token <= before)
            world_break(w, law, "client %d leads again, by the token of its last turn", k->client->id);
        lead(k);
    }
}

void *candidate_run(void *arg)
{
    struct candidate *k = arg;
    struct world *w = k->client->world;
    struct random *r = &w->random;
    for (k->rounds = between(r, 1, 3); k->rounds > 0 && !k->client->closes; k->rounds--) {
        fiber_block(k, ms(between(r, 1, 300)));
        if (pdk_leader_start(k->leader) != 0)
            continue;
        if (pdk_leader_wait(k->leader, chance(r, 500) || w->healed ? PDK_FOREVER : between(r, 10, 3000)) == 0)
            lead(k);
        if (w->turns && !w->healed)
            take_turns(k);
        resign(k);
    }
    k->rounds = 0;
    return NULL;
}

/* --- birth and end -------------------------------------------------------------------------------------------------- */

int candidate_begin(struct candidate *k, struct client *c)
{
    pdk_lock_options *o = pdk_lock_options_new();
    if (o == NULL)
        return PDK_ENOMEM;
    k->client = c;
    int rc = pdk_lock_options_set_data(o, "sim", 3);
    if (rc == 0 && k->leader == NULL)
        rc = pdk_leader_new(&k->leader, c->library, "/2", c->world->turns ? PDK_IN_TURNS : PDK_LATCH, o);
    if (rc == 0)
        rc = pdk_lock_on_event(k->leader, happened, k);
    pdk_lock_options_free(o);
    return rc;
}

void candidate_end(struct candidate *k)
{
    struct world *w = k->client->world;
    if (pdk_lock_free(k->leader) != 0)
        world_break(w, law, "client %d cannot free its leader", k->client->id);
    k->leader = NULL;
}
