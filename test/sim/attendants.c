/*
 * The attendants: actors at barriers. In each client one enters a double barrier and leaves it, and another sets a
 * barrier, removes it, and waits at it. A barrier grants nothing: the answers are judged by law_barriers.c.
 */
#include "test/sim/actor.h"
#include "test/sim/laws.h"

static const char law[] = "attendant";

enum { LONG_MS = 20000 };

/* In time, at once, or however long it takes. */
static int64_t patience(struct attendant *a, int64_t longest_ms)
{
    struct random *r = &a->client->world->random;
    int kind = below(r, 10);
    if (a->client->world->healed && longest_ms != PDK_FOREVER)
        longest_ms = 4000;
    return kind == 0 ? 0 : kind <= 5 ? between(r, 20, 4000) : longest_ms;
}

static int end(struct attendant *a, int rc)
{
    static const char *const names[] = {"enter", "leave", "wait", "set", "remove"};
    struct world *w = a->client->world;
    STORY(w, "client %d attendant %d: %s answers %s", a->client->id, a->task >= TASK_WAIT, names[a->task],
          pdk_strerrorname(rc));
    if ((rc == PDK_EPERM && !a->client->closes) || (rc == PDK_EBUSY && a->task != TASK_ENTER) || rc == PDK_EINVAL ||
        rc == PDK_EDEADLK || rc == PDK_EEXHAUSTED || rc == PDK_EACCES)
        world_break(w, law, "client %d: %s answers %s", a->client->id, names[a->task], pdk_strerrorname(rc));
    law_barriers_end(a, rc);
    return rc;
}

static void judge_place(struct attendant *a, bool inside)
{
    fiber_now->n_locks++;
    pdk_state state = pdk_barrier_state(a->client->meeting);
    fiber_now->n_locks--;
    if (a->client->closes)
        return;
    if (inside != (state == PDK_HELD || state == PDK_LOST))
        world_break(a->client->world, law, "client %d is %s, and the state is %d", a->client->id,
                    inside ? "inside" : "outside", (int)state);
}

static void stay(struct attendant *a)
{
    struct random *r = &a->client->world->random;
    fiber_block(a, ms(between(r, 1, chance(r, 700) ? 200 : 3000)));
}

/* No time passes between the answer and its judgement. */
static void meet(struct attendant *a)
{
    pdk_barrier *b = a->client->meeting;
    law_barriers_begin(a, TASK_ENTER);
    int rc = end(a, pdk_barrier_enter(b, patience(a, LONG_MS)));
    judge_place(a, rc == 0);
    if (rc == PDK_EBUSY)
        see(SIGHT_CROWDED);
    if (rc != 0)
        return;
    see(SIGHT_MET);
    stay(a);
    law_barriers_begin(a, TASK_LEAVE);
    rc = end(a, pdk_barrier_leave(b, patience(a, PDK_FOREVER)));
    judge_place(a, false);
    if (rc == 0)
        see(SIGHT_PARTED);
}

/* A thread that sets it removes it in the end. */
static void guard(struct attendant *a)
{
    struct world *w = a->client->world;
    pdk_barrier *b = a->client->barrier;
    int kind = w->healed ? 0 : below(&w->random, 3);
    if (kind == 0) {
        law_barriers_begin(a, TASK_WAIT);
        if (end(a, pdk_barrier_wait(b, patience(a, PDK_FOREVER))) == 0)
            see(SIGHT_PASSED_BARRIER);
    } else if (kind == 1) {
        law_barriers_begin(a, TASK_SET);
        end(a, pdk_barrier_set(b, patience(a, LONG_MS)));
    }
    if (kind != 0) {
        stay(a);
        law_barriers_begin(a, TASK_REMOVE);
        end(a, pdk_barrier_remove(b, kind == 2 ? patience(a, PDK_FOREVER) : PDK_FOREVER));
    }
}

void attendant_act(struct actor *actor)
{
    struct attendant *a = &actor->client->attendants[actor->index];
    actor->index == 0 ? meet(a) : guard(a);
}

int attendants_begin(struct client *c)
{
    static const char meeting[] = {'/', '0' + MEETING_PATH, '\0'};
    static const char barrier[] = {'/', '0' + BARRIER_PATH, '/', 's', 'e', 't', '\0'};
    int rc = 0;
    if (c->meeting == NULL)
        rc = pdk_barrier_new_double(&c->meeting, c->library, meeting, (unsigned)c->world->members);
    if (rc == 0 && c->barrier == NULL)
        rc = pdk_barrier_new(&c->barrier, c->library, barrier);
    return rc;
}

void attendants_end(struct client *c)
{
    if (c->meeting != NULL && pdk_barrier_free(c->meeting) != 0)
        world_break(c->world, law, "client %d cannot free its double barrier", c->id);
    if (c->barrier != NULL && pdk_barrier_free(c->barrier) != 0)
        world_break(c->world, law, "client %d cannot free its barrier", c->id);
    c->meeting = NULL;
    c->barrier = NULL;
}
