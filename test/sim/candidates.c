/*
 * The candidates: what an actor does that stands for leader, and the events of its terms. They are judged here, at
 * once.
 */
#include "test/sim/actor.h"

static const char law[] = "leader";

/* --- what is reported -------------------------------------------------------------------------------------------- */

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

/* Events in the middle can be lost, where many wait: 16 at least are kept. */
void candidate_told(pdk_leader *l, const pdk_event *event, void *client)
{
    struct client *c = client;
    struct world *w = c->world;
    STORY(w, "client %d candidate: event %d", c->id, (int)event->kind);
    if (!may_follow(&c->term, event))
        world_break(w, law, "event %d of state %d is reported after %d of state %d", (int)event->kind,
                    (int)event->state, (int)c->term.kind, (int)c->term.state);
    if (event->kind == PDK_EVENT_ELECTED && event->token <= c->elected)
        world_break(w, law, "a term has token %llx after %llx", (unsigned long long)event->token,
                    (unsigned long long)c->elected);
    if (event->kind == PDK_EVENT_WITHDRAWN && !c->closes)
        judge_withdrawal(c, pdk_leader_wait(l, 0));
    if (event->kind == PDK_EVENT_ELECTED)
        c->elected = event->token;
    if (event->kind != PDK_EVENT_REVOKED && event->kind != PDK_EVENT_QUEUED)
        c->term = *event;
}

/* --- what it does ------------------------------------------------------------------------------------------------ */

int candidate_make(pdk_lock **l, pdk_client *c, const char *path, const pdk_lock_options *o)
{
    return pdk_leader_new(l, c, path, fiber_now->owner->world->turns ? PDK_IN_TURNS : PDK_LATCH, o);
}

static int stand_for(pdk_lock *l, int64_t timeout_ms)
{
    int rc = pdk_leader_start(l);
    return rc == 0 ? pdk_leader_wait(l, timeout_ms) : rc;
}

static int stand(pdk_lock *l) { return stand_for(l, PDK_FOREVER); }

const struct verbs candidate_verbs = {
    "stand", stand, NULL, stand_for, NULL, pdk_leader_resign, pdk_leader_resign_async};

/* It stays a candidate, at the end of the queue. */
static bool take_turn(struct actor *a)
{
    struct world *w = a->client->world;
    int64_t before = 0, token = 0;
    pdk_lock_token(a->lock, &before, NULL);
    int rc = pdk_leader_yield(a->lock);
    STORY(w, "client %d candidate: yields: %s", a->client->id, pdk_strerrorname(rc));
    if (rc != 0 || pdk_leader_wait(a->lock, between(&w->random, 10, 3000)) != 0)
        return false;
    see(SIGHT_TURN);
    if (pdk_lock_token(a->lock, &token, NULL) == 0 && token <= before)
        world_break(w, law, "client %d leads again, by the token of its last turn", a->client->id);
    judge_grant(a);
    return true;
}

/* In turns with the others; and where it leads is looked at twice. */
void candidate_go_on(struct actor *a)
{
    struct world *w = a->client->world;
    int n = w->turns && !w->healed ? below(&w->random, 3) : 0;
    do {
        hold(a);
        judge_grant(a);
    } while (n-- > 0 && take_turn(a));
}
