/*
 * The actors: one for each use of a recipe by a thread. It takes with patience, by a try, by a deadline, or by a
 * request that it may take back; it holds for a while; and it leaves, or has lost what it had. Others may close the
 * client meanwhile.
 */
#include "test/sim/actor.h"
#include "recipes/lockable.h"
#include "test/sim/laws.h"
#include <stdio.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

enum { SPRINTS_MAX = 60 };

static const char law[] = "caller";

instant ms(int64_t n) { return n * 1000; }

/* Mostly short, sometimes long. */
static int a_while(struct world *w, int least, int most)
{
    return between(&w->random, least, chance(&w->random, 700) ? least + most / 20 : most);
}

/* --- the recipes ------------------------------------------------------------------------------------------------- */

/* The actor that calls. */
static struct actor *self(void) { return fiber_now->arg; }

static int acquire(pdk_lock *l) { return pdk_semaphore_acquire(l, self()->n_permits, &self()->grant); }

static int tryacquire(pdk_lock *l) { return pdk_semaphore_tryacquire(l, self()->n_permits, &self()->grant); }

static int timedacquire(pdk_lock *l, int64_t timeout_ms)
{
    return pdk_semaphore_timedacquire(l, self()->n_permits, timeout_ms, &self()->grant);
}

static int acquire_async(pdk_lock *l, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_grant **g)
{
    return pdk_semaphore_acquire_async(l, self()->n_permits, timeout_ms, cb, arg, g);
}

static int make_semaphore(pdk_lock **l, pdk_client *c, const char *path, const pdk_lock_options *o)
{
    return pdk_semaphore_new(l, c, path, (unsigned)fiber_now->owner->world->permits, o);
}

static int make_several(pdk_lock **l, pdk_client *c, const char *path, const pdk_lock_options *o)
{
    const char *paths[] = {path, "/0"}; /* not sorted */
    return pdk_mutex_new_several(l, c, paths, 2, o);
}

#define VERBS(name, of, verb)                                                                                          \
    {                                                                                                                  \
        name, of##_##verb, of##_try##verb, of##_timed##verb, of##_##verb##_async, of##_unlock, of##_unlock_async       \
    }
static const struct verbs mutex = VERBS("lock", pdk_mutex, lock);
static const struct verbs reader = VERBS("read lock", pdk_rwlock, rdlock);
static const struct verbs writer = VERBS("write lock", pdk_rwlock, wrlock);
static const struct verbs permits = {"acquire", acquire, tryacquire, timedacquire, acquire_async, NULL, NULL};

static void read_and_write(struct actor *a);

/* Its options are those that its laws know. */
#define OF_MUTEX                                                                                                       \
    (HAS_DATA | HAS_CONFIRMED | HAS_TURNS | HAS_IDLE | HAS_NOWAIT | HAS_DELAY | HAS_LOOK_AHEAD | HAS_REFUSE_MIXED)
const struct recipe recipes[RECIPES] = {
    [RECIPE_MUTEX] = {"mutex", "/0", 0, OF_MUTEX, pdk_mutex_new, judge_event, &mutex},
    [RECIPE_SECOND] = {"mutex", "/1", 1, OF_MUTEX, pdk_mutex_new, judge_event, &mutex},
    [RECIPE_LEADER] = {"leader", "/2", ELECTION_PATH, HAS_DATA | HAS_TERMS, candidate_make, candidate_told,
                       &candidate_verbs, .go_on = candidate_go_on},
    [RECIPE_RWLOCK] = {"read/write lock", "/3", SHARED_PATH,
                       HAS_CONFIRMED | HAS_IDLE | HAS_LOOK_AHEAD | HAS_REFUSE_MIXED, pdk_rwlock_new, NULL, &reader,
                       &writer, .go_on = read_and_write},
    [RECIPE_SEMAPHORE] = {"semaphore", SEMAPHORE, LEASE_PATH,
                          HAS_CONFIRMED | HAS_NOWAIT | HAS_REFUSE_MIXED | HAS_PERMITS, make_semaphore, NULL, &permits},
    [RECIPE_SEVERAL] = {"multi-lock", "/1", 1, HAS_CONFIRMED | HAS_LOOK_AHEAD | HAS_REFUSE_MIXED | HAS_ALL_PATHS,
                        make_several, NULL, &mutex},
    [RECIPE_BARRIERS] = {"barrier", .act = attendant_act}};

bool recipe_used(const struct world *w, enum recipe_of recipe)
{
    const bool used[RECIPES] = {true, w->n_paths > 1, w->elects, w->shares, w->permits > 0, w->gathers, w->members > 0};
    return used[recipe];
}

int recipe_make(struct client *c, enum recipe_of recipe, pdk_lock **out)
{
    const struct recipe *r = &recipes[recipe];
    struct world *w = c->world;
    pdk_lock_options *o = pdk_lock_options_new();
    if (o == NULL)
        return PDK_ENOMEM;
    int rc = has(r, HAS_DATA) && !c->curious ? pdk_lock_options_set_data(o, "sim", 3) : 0;
    pdk_lock_options_set_confirmed(o, has(r, HAS_CONFIRMED) && w->confirmed);
    pdk_lock_options_set_keep(o, has(r, HAS_TURNS) ? w->budget : 0, has(r, HAS_IDLE) ? w->idle_ms : 0);
    pdk_lock_options_set_unlock_nowait(o, has(r, HAS_NOWAIT) && w->nowait);
    pdk_lock_options_set_look_ahead(o, has(r, HAS_LOOK_AHEAD) && c->looks_ahead);
    pdk_lock_options_set_refuse_mixed(o, has(r, HAS_REFUSE_MIXED) && c->refuses_mixed);
    if (has(r, HAS_DELAY) && w->lock_delay_ms > 0)
        pdk_lock_options_set_lock_delay_ms(o, w->lock_delay_ms);
    if (rc == 0)
        rc = r->make(out, c->library, r->path, o);
    if (rc == 0 && r->told != NULL && (rc = pdk_lock_on_event(*out, r->told, c)) != 0) {
        pdk_lock_free(*out);
        *out = NULL;
    }
    pdk_lock_options_free(o);
    return rc;
}

/* --- taking ------------------------------------------------------------------------------------------------------ */

static void answer(struct actor *a, int rc)
{
    if (a->answered)
        world_break(a->client->world, law, "a callback comes twice");
    a->answered = true;
    a->answer = rc;
    fiber_wake_all(&a->answered);
}

static void released(int rc, void *arg) { answer(arg, rc); }

/* It may come while the actor is on its way to take the request back. */
void actor_granted(int rc, void *arg)
{
    struct actor *a = arg;
    if (rc == 0 && a->grant == NULL)
        world_break(a->client->world, law, "client %d is granted a request that it took back", a->client->id);
    else if (rc == 0)
        judge_grant(a);
    answer(a, rc);
}

static int await_answer(struct actor *a)
{
    while (!a->answered)
        fiber_block(&a->answered, -1);
    return a->answer;
}

/* Of the handle or of the thread; the handle ends. */
static int release(struct actor *a)
{
    pdk_grant *g = a->grant;
    int rc = g != NULL ? pdk_grant_release(g) : a->mode->release(a->lock);
    a->grant = NULL;
    return rc;
}

static int release_later(struct actor *a)
{
    pdk_grant *g = a->grant;
    a->grant = NULL;
    a->answered = false;
    int rc = g != NULL ? pdk_grant_release_async(g, released, a) : a->mode->release_later(a->lock, released, a);
    return rc != 0 ? rc : await_answer(a);
}

/* Without waiting in the call; and perhaps not for as long as it takes. */
static int take_later(struct actor *a, bool patient)
{
    struct world *w = a->client->world;
    bool takes_back = !patient && chance(&w->random, 500);
    a->answered = false;
    int rc = a->mode->request(a->lock, chance(&w->random, 500) ? PDK_FOREVER : 4000, actor_granted, a, &a->grant);
    if (rc != 0)
        return rc;
    if (takes_back) {
        fiber_block(a, ms(a_while(w, 1, 1500)));
        release(a);
        await_answer(a);
        return PDK_ECANCELED;
    }
    if (!a->answered && !patient && !fiber_block(&a->answered, ms(a_while(w, 1, 1500))))
        pdk_grant_cancel(a->grant);
    if (await_answer(a) != 0)
        release(a); /* nothing, or what is lost */
    return a->answer;
}

/* A deadline counts suspended time. */
static int take_in_time(struct actor *a)
{
    int timeout_ms = a_while(a->client->world, 20, 4000);
    int64_t began_ms = client_now_ms(a->client);
    int rc = a->mode->wait_until(a->lock, timeout_ms);
    judge_time(a, began_ms, timeout_ms);
    return rc;
}

int take(struct actor *a, int kind)
{
    a->later = (kind == 4 || kind == 5) && a->mode->request != NULL;
    if (kind == 9 && a->mode->attempt != NULL)
        return a->mode->attempt(a->lock);
    if (kind >= 6)
        return take_in_time(a);
    return a->later ? take_later(a, kind == 4) : a->mode->wait(a->lock);
}

/* --- holding ----------------------------------------------------------------------------------------------------- */

static int hold_ms(const struct actor *a)
{
    struct world *w = a->client->world;
    if (a->sprints)
        return between(&w->random, 1, 10);
    if (w->tense && !w->healed && chance(&w->random, 700))
        return between(&w->random, 1000, 8000);
    return a_while(w, 1, w->calm && !w->healed ? 8000 : 3000);
}

/* A grant that is lost cannot be guarded. */
static void guard(struct actor *a)
{
    zoo_op_t op;
    int rc = a->grant != NULL ? pdk_grant_guard(a->grant, 0, &op) : pdk_lock_guard(a->lock, 0, &op);
    bool ended = has(a->recipe, HAS_TERMS) && rc == PDK_EPERM;
    if (rc != 0 && rc != PDK_ELOST && rc != PDK_ENOMEM && !ended && !a->client->closes)
        world_break(a->client->world, law, "client %d cannot guard its grant: %s", a->client->id, pdk_strerrorname(rc));
    see(SIGHT_GUARDED);
}

/* A write that no thread waits for. */
struct note {
    struct client *client;
    int number;
    bool deletes; /* its number is not written */
};

static void written(int rc, void *arg)
{
    const struct note *note = arg;
    law_notes_end(note->client->world, note->number, note->deletes && rc == 0 ? PDK_EUNKNOWN : rc);
}

/* To the note that all write. No other holds the path, unless the lock is shared, or a forged node replaces one. */
static void write_note(struct actor *a)
{
    struct world *w = a->client->world;
    bool alone = !has(a->recipe, HAS_PERMITS | HAS_TERMS) && a->mode != &reader && !w->hostile;
    struct note *note = w->ensemble.scratch(w, sizeof *note);
    char text[32];
    int kind = below(&w->random, 10), patience = below(&w->random, 10);
    int64_t timeout_ms = patience < 3 ? 0 : patience < 6 ? PDK_FOREVER : a_while(w, 20, 4000);
    int number = law_notes_begin(a->client, alone ? a->recipe->nodes : -1, a->token);
    *note = (struct note){a->client, number, kind == 9};
    snprintf(text, sizeof text, "%d", note->number);
    pdk_write write = {.kind = kind < 6   ? PDK_WRITE_SET
                               : kind < 9 ? PDK_WRITE_CREATE
                                          : PDK_WRITE_DELETE,
                       .path = "/8",
                       .data = text,
                       .size = strlen(text),
                       .version = -1};
    bool later = chance(&w->random, 300);
    int rc = later && a->grant != NULL        ? pdk_grant_write_async(a->grant, &write, written, note)
             : later                          ? pdk_guarded_write_async(a->lock, &write, written, note)
             : a->grant != NULL               ? pdk_grant_write(a->grant, &write, timeout_ms)
             : write.kind == PDK_WRITE_SET    ? pdk_guarded_set(a->lock, "/8", text, write.size, -1, timeout_ms)
             : write.kind == PDK_WRITE_CREATE ? pdk_guarded_create(a->lock, "/8", text, write.size, timeout_ms)
                                              : pdk_guarded_delete(a->lock, "/8", -1, timeout_ms);
    STORY(w, "client %d actor %d: note %d: %s%s", a->client->id, a->index, note->number, pdk_strerrorname(rc),
          later ? ", later" : "");
    if (rc == PDK_EINVAL || rc == PDK_EPATH || rc == PDK_EDEADLK)
        world_break(w, law, "client %d may not write under its grant: %s", a->client->id, pdk_strerrorname(rc));
    if (!later || rc != 0)
        written(rc, note);
}

/* Until its work is done; often shorter when another wants the lock. */
void hold(struct actor *a)
{
    struct world *w = a->client->world;
    bool yields = chance(&w->random, 700);
    if (chance(&w->random, 20))
        judge_child(a);
    if (a->client->curious)
        guard(a);
    if (w->writes && chance(&w->random, 500))
        write_note(a);
    if (w->jobs && a->recipe->nodes == 0 && chance(&w->random, 700))
        job_do(a);
    fiber_block(yields && !a->wanted ? (void *)&a->wanted : a, ms(hold_ms(a)));
}

/* A reader asks in vain to write. Its own grant may be lost by now, and its client closed. */
static void ask_to_write(struct actor *a)
{
    int rc = pdk_rwlock_timedwrlock(a->lock, 1000);
    if (rc != PDK_EDEADLK && rc != PDK_ELOST && !pdk_err_fatal(rc) && !a->client->closes)
        world_break(a->client->world, law, "client %d reads, and asks to write: %s", a->client->id,
                    pdk_strerrorname(rc));
}

/* A writer's read lock waits for no other; it fails with the writer's own, or for want of time, memory or a
 * connection. */
static void judge_refusal(const struct actor *a, int rc)
{
    struct world *w = a->client->world;
    bool numberless = rc == PDK_EEXHAUSTED && !w->hostile;
    if ((rc == PDK_EDEADLK || rc == PDK_EPERM || rc == PDK_EINVAL || numberless) && !a->client->closes)
        world_break(w, law, "client %d writes, and may not read: %s", a->client->id, pdk_strerrorname(rc));
}

/* The token stays. */
static void downgrade(struct actor *a)
{
    struct world *w = a->client->world;
    int64_t token = a->token;
    int rc = pdk_rwlock_downgrade(a->lock);
    STORY(w, "client %d actor %d: a writer goes on as a reader: %s", a->client->id, a->index, pdk_strerrorname(rc));
    if (rc != 0 && rc != PDK_EUNKNOWN) {
        judge_refusal(a, rc);
        return;
    }
    a->mode = &reader;
    judge_grant(a);
    if (a->token != token && !a->client->closes)
        world_break(w, law, "client %d reads under its write lock with another token", a->client->id);
    see(SIGHT_DOWNGRADED);
}

/* Was the write lock lost when the read lock under it was answered 0? No other thread has run since. */
static void judge_base(const struct actor *a)
{
    const struct pdk__lockable *k = PDK__MEMBER(a->lock, struct pdk__lockable, lock);
    PDK__EACH_ACQUISITION (op, k)
        if (op->base != NULL && op->count > 0 && op->base->token == a->token && !pdk__hold_valid(op->base))
            world_break(a->client->world, law, "client %d may read under a write lock that is lost", a->client->id);
}

/* A writer may read, and may go on as a reader. */
static void read_and_write(struct actor *a)
{
    struct random *r = &a->client->world->random;
    if (a->mode == &writer && chance(r, 250)) {
        a->mode = &reader;
        if (take(a, a->client->world->healed ? 0 : between(r, 6, 12) % 10) == 0) {
            judge_base(a);
            leave(a, false);
        }
        a->mode = &writer;
    }
    if (a->mode == &writer && chance(r, 500)) {
        hold(a);
        downgrade(a);
    }
    if (a->mode == &reader && chance(r, 200))
        ask_to_write(a);
}

/* --- leaving ----------------------------------------------------------------------------------------------------- */

/* Within one session timeout, however many nodes they are. */
static int release_in_time(struct actor *a)
{
    int64_t began_ms = client_now_ms(a->client);
    int rc = release(a);
    judge_time(a, began_ms, a->client->world->session_ms);
    return rc;
}

void leave(struct actor *a, bool last)
{
    struct world *w = a->client->world;
    struct nodes nodes;
    bool under = a->mode == &reader && !last; /* the lock is asked about the writer's */
    actor_nodes(a, &nodes);
    bool lost = judge_state(a) == PDK_LOST && !under;
    bool later = chance(&w->random, 200), handle = a->grant != NULL;
    a->holds &= !last;
    int rc = later ? release_later(a) : release_in_time(a);
    if (later && rc == PDK_ENOMEM && !handle) /* and nothing has happened */
        rc = release(a);
    STORY(w, "client %d actor %d: %s: release answers %s%s", a->client->id, a->index, a->recipe->name,
          pdk_strerrorname(rc), later ? ", later" : "");
    judge_release(a, &nodes, rc, lost, last, later);
    if (has(a->recipe, HAS_NOWAIT) && w->nowait && last && chance(&w->random, 200))
        judge_flush(a, &nodes);
}

/* --- the thread -------------------------------------------------------------------------------------------------- */

static void use(struct actor *a)
{
    struct world *w = a->client->world;
    int kind = w->healed ? 0 : below(&w->random, 10);
    a->holds = a->wanted = false;
    int rc = take(a, kind);
    STORY(w, "client %d actor %d: %s of kind %d answers %s", a->client->id, a->index, a->mode->name, kind,
          pdk_strerrorname(rc));
    judge_answer(a, rc);
    bool stands = has(a->recipe, HAS_TERMS);
    if (rc != 0 && !stands)
        return;
    a->holds = rc == 0;
    if (rc == 0 && !a->later)
        judge_grant(a);
    if (rc == 0 && a->grant == NULL && a->recipe->go_on != NULL)
        a->recipe->go_on(a);
    bool twice = a->grant == NULL && !stands && chance(&w->random, 100) && a->mode->wait(a->lock) == 0;
    if (rc == 0 && !stands)
        hold(a);
    if (twice)
        leave(a, false);
    leave(a, true);
}

/* False: the client is closed. */
static bool choose(struct actor *a)
{
    struct client *c = a->client;
    struct world *w = c->world;
    enum recipe_of recipe = a->of;
    if (recipe == RECIPE_MUTEX && w->n_paths > 1 && (a->sprints || chance(&w->random, 500)))
        recipe = RECIPE_SECOND;
    a->recipe = &recipes[recipe];
    a->mode = a->recipe->rarely != NULL && chance(&w->random, 350) ? a->recipe->rarely : a->recipe->mode;
    a->n_permits = (unsigned)between(&w->random, 1, w->permits > 0 ? w->permits : 1);
    a->lock = c->locks[recipe];
    if (!w->apart || !has(a->recipe, HAS_TURNS) || a->index % 2 == 0)
        return true;
    while (recipe_make(c, recipe, &a->own) != 0 && !c->closes)
        fiber_block(c, ms(10));
    a->lock = a->own;
    return a->own != NULL;
}

/* A node of its own object may be another thread's by now, through another object. */
static void act(struct actor *a)
{
    if (choose(a))
        use(a);
    pdk_lock *own = a->own;
    a->own = NULL;
    int rc = pdk_lock_free(own);
    if (rc != 0)
        world_break(a->client->world, law, "client %d cannot free a mutex: %s", a->client->id, pdk_strerrorname(rc));
}

void *actor_run(void *arg)
{
    struct actor *a = arg;
    struct world *w = a->client->world;
    struct random *r = &w->random;
    for (a->rounds = between(r, 1, a->sprints ? SPRINTS_MAX : 4); a->rounds > 0; a->rounds--) {
        fiber_block(a, ms(between(r, 1, a->sprints ? 20 : 300)));
        recipes[a->of].act != NULL ? recipes[a->of].act(a) : act(a);
        if ((a->sprints && w->healed) || a->client->closes)
            a->rounds = 1;
    }
    return NULL;
}

void actors_begin(struct client *c)
{
    struct world *w = c->world;
    const int n[RECIPES] = {[RECIPE_MUTEX] = between(&w->random, 1, 2),
                            [RECIPE_LEADER] = 1,
                            [RECIPE_RWLOCK] = 2,
                            [RECIPE_SEMAPHORE] = 2,
                            [RECIPE_SEVERAL] = 2,
                            [RECIPE_BARRIERS] = 2};
    for (int i = 0; i < RECIPES; i++)
        for (int j = 0; j < n[i] && recipe_used(w, (enum recipe_of)i); j++)
            c->actors[c->n_actors++] = (struct actor){.client = c,
                                                      .of = (enum recipe_of)i,
                                                      .index = j,
                                                      .rounds = 1,
                                                      .sprints = i == RECIPE_MUTEX && j == 1 && w->sprints};
}
