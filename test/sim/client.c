/* A process: the library as it ships, its threads, and what the laws can see of it. */
#include "lib/clock.h"
#include "lib/core/order.h"
#include "lib/process.h"
#include "lib/zk/claim.h"
#include "lib/zk/leave.h"
#include "recipes/lockable.h"
#include "test/sim/laws.h"
#include "test/sim/wired.h"
#include <stdlib.h>
#include <string.h>

int64_t client_now_us(const struct client *c)
{
    instant now = c->world->agenda.now;
    return c->clock_ms * 1000 + now + now * c->drift_ppm / 1000000;
}

int64_t client_monotonic_us(const struct client *c)
{
    int64_t now_us = client_now_us(c), since_us = c->asleep_us != 0 ? now_us - c->asleep_us : 0;
    return now_us - c->slept_us - since_us;
}

int64_t client_now_ms(const struct client *c) { return client_now_us(c) / 1000; }

bool client_is_dead(const struct client *c) { return c->dead; }

bool client_is_paused(const struct client *c) { return c->paused; }

const struct pdk__session *client_session(const struct client *c)
{
    static const struct pdk__session none = {.phase = PDK__SESSION_OVER, .lease_expired = true, .lease_low = true};
    return c->machine != NULL ? c->machine : &none;
}

bool claim_believes(const struct claim *claim)
{
    return claim->used && claim->granted && !claim->released &&
           (claim->machine->phase == PDK__HELD || claim->machine->phase == PDK__SUSPECT) &&
           pdk__session_lease_valid(client_session(claim->client), client_now_ms(claim->client));
}

/* --- the process ------------------------------------------------------------------------------------------------- */

struct pdk__process pdk__process_self(void)
{
    const struct client *c = fiber_now->owner;
    return (struct pdk__process){.pid = c->id + (c->child == fiber_now ? 1000 : 1)};
}

bool pdk__process_is_self(struct pdk__process process) { return process.pid == pdk__process_self().pid; }

void pdk__leave(struct pdk_client *library)
{
    struct client *c = fiber_now->owner;
    if (!client_is_real && (library->session.phase == PDK__SESSION_CONNECTED) != (c->io == IO_CONNECTED))
        world_break(c->world, "driver", "client %d leaves server %d, which is not the silent one", c->id, c->server);
    see(c->io == IO_CONNECTED ? SIGHT_LEFT_SERVER : SIGHT_PASSED_SERVER);
    STORY(c->world, "client %d leaves server %d", c->id, c->server);
    client_cut(c, true, false, false);
}

/* --- the driver's claims, as the laws know them ------------------------------------------------------------------ */

static struct claim *find_claim(struct client *c, const struct pdk__contender *machine)
{
    for (int i = 0; i < c->n_claims; i++)
        if (c->claims[i].used && c->claims[i].machine == machine)
            return &c->claims[i];
    return NULL;
}

static struct claim *new_claim(struct client *c, const struct pdk__contender *machine)
{
    const struct pdk__claim *real = PDK__MEMBER(machine, struct pdk__claim, machine);
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &c->claims[i];
        if (i < c->n_claims && claim->used)
            continue;
        c->n_claims += i == c->n_claims;
        *claim = (struct claim){
            .client = c, .used = true, .turned = true, .path = zookeeper_path(real->agent.path), .machine = machine};
        claim->number = ++c->world->n_claims;
        claim->confirmed = real->wish->conditions->confirmed;
        claim->tag = real->wish->rule->tag;
        claim->delays = real->wish->conditions->lock_delay_ms > 0;
        STORY(c->world, "client %d claim %llu: asks for path %d", c->id, (unsigned long long)claim->number,
              claim->path);
        return claim;
    }
    fputs("sim: too many claims\n", stderr);
    abort();
}

static const char *last_part(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash != NULL ? slash + 1 : name;
}

/* The events that matter to the laws. */
static void note_event(struct claim *claim, const struct pdk__event *ev)
{
    if (ev->kind == PDK__EV_SESSION_EXPIRED || ev->kind == PDK__EV_FIRED ||
        (ev->kind == PDK__EV_WATCHED && ev->outcome == PDK__NO_NODE))
        claim->armed = false;
    if (ev->kind != PDK__EV_RELEASE)
        return;
    STORY(claim->client->world, "client %d claim %llu: lets go", claim->client->id, (unsigned long long)claim->number);
    if (claim->settled == 0)
        see(SIGHT_CANCELLED);
    claim->settled += claim->settled == 0; /* the caller knows: it asked for it */
    claim->released = claim->turned = true;
}

static void told(struct claim *claim, const struct pdk__action *a)
{
    struct world *w = claim->client->world;
    static const char *const words[] = {
        [PDK__ACT_STRAY] = "keeps a stray", [PDK__ACT_GRANTED] = "granted", [PDK__ACT_FAILED] = "failed",
        [PDK__ACT_SUSPECT] = "suspect",     [PDK__ACT_HELD] = "held",       [PDK__ACT_LOST] = "lost",
        [PDK__ACT_CONTENDED] = "contended", [PDK__ACT_REVOKED] = "revoked", [PDK__ACT_DONE] = "done"};
    STORY(w, "client %d claim %llu: %s%s%s", claim->client->id, (unsigned long long)claim->number, words[a->kind],
          a->kind == PDK__ACT_FAILED ? " " : "", a->kind == PDK__ACT_FAILED ? pdk_strerrorname(a->error) : "");
    EACH_LAW(w, told, claim, a->kind);
}

static void note_grant(struct claim *claim, const struct pdk__action *a)
{
    claim->settled++;
    claim->granted = claim->turned = true;
    claim->token = a->token;
    total_grants++;
    EACH_LAW(claim->client->world, granted, claim);
}

static void note_failure(struct claim *claim, const struct pdk__action *a)
{
    claim->settled++;
    claim->released = true;
    if (a->error == PDK_EBUSY)
        see(claim->machine->queue.looked && claim->machine->node.token != 0 ? SIGHT_BUSY_LATE : SIGHT_BUSY);
    if (a->error == PDK_ETIMEDOUT)
        see(SIGHT_TIMED_OUT);
    if (a->error == PDK_EEXHAUSTED && !claim->client->world->hostile)
        see(SIGHT_EXHAUSTED);
    law_service_judge(claim->client->world, claim, a->error);
}

static void note_action(struct claim *claim, const struct pdk__action *a)
{
    if (a->kind == PDK__ACT_LIST)
        claim->lists_since = claim->client->world->agenda.now;
    if (a->kind == PDK__ACT_WATCH) {
        claim->has_predecessor = claim->armed = true;
        claim->unwatched = false;
        claim->predecessor.path = claim->path;
        if (a->by_children || a->name != NULL) /* else the same as before */
            strncpy(claim->predecessor.name, a->by_children ? "" : last_part(a->name), PDK__NAME_MAX - 1);
    } else if (a->kind == PDK__ACT_UNWATCH) {
        claim->unwatched = true;
        claim->armed = false;
    } else if (a->kind == PDK__ACT_STRAY) {
        claim->stray_attempt = a->attempt;
    } else if (a->kind == PDK__ACT_DELETE && claim->machine->queue.leaves) {
        see(SIGHT_CAME_BACK);
        claim->client->stray_path = claim->path;
    }
    if (a->kind < PDK__ACT_STRAY)
        return;
    told(claim, a);
    if (a->kind == PDK__ACT_GRANTED) {
        note_grant(claim, a);
    } else if (a->kind == PDK__ACT_FAILED) {
        note_failure(claim, a);
    } else if (a->kind == PDK__ACT_LOST) {
        claim->released = true;
    } else if (a->kind == PDK__ACT_REVOKED) {
        see(SIGHT_REVOKED);
        claim->revoked = true;
    } else if (a->kind == PDK__ACT_CONTENDED) {
        see(SIGHT_CONTENDED);
    } else if (a->kind == PDK__ACT_HELD) {
        see(SIGHT_HELD_AGAIN);
    } else if (a->kind == PDK__ACT_DONE) {
        claim->done++;
        claim->used = false;
        claim->ended = *claim->machine;
        claim->machine = &claim->ended;
    }
}

/* --- coverage ---------------------------------------------------------------------------------------------------- */

static void see_grant(enum pdk__phase before, enum pdk__phase after)
{
    if (after != PDK__HELD)
        return;
    if (before == PDK__CREATING)
        see(SIGHT_GRANTED_AT_ONCE);
    else if (before == PDK__WAITING)
        see(SIGHT_GRANTED_BY_WATCH);
    else if (before == PDK__VERIFYING_NODE)
        see(SIGHT_GRANTED_BY_CHECK);
    else if (before == PDK__AWAITING_LEASE)
        see(SIGHT_GRANTED_BY_PROOF);
}

static void see_recovery(const struct claim *claim, const struct pdk__event *ev, enum pdk__phase before)
{
    enum pdk__phase after = claim->machine->phase;
    bool nothing = before == PDK__RECOVERING && after != before && after != PDK__IDENTIFYING;
    bool found = before == PDK__IDENTIFYING && claim->machine->node.exists == PDK__NODE_YES;
    if (before == PDK__IDENTIFYING && after == PDK__RECOVERING)
        see(SIGHT_RECOVERY_FOUND_ANOTHERS);
    if ((ev->kind != PDK__EV_LISTED || !nothing) && (ev->kind != PDK__EV_IDENTIFIED || !found))
        return;
    see(found ? SIGHT_RECOVERY_FOUND : SIGHT_RECOVERY_FOUND_NOTHING);
    if (!claim->machine->requested)
        see(SIGHT_RECOVERY_FOR_NOBODY);
}

static void see_end(const struct claim *claim, const struct pdk__event *ev, enum pdk__phase before, bool unsure)
{
    bool waits = before == PDK__WAITING || before == PDK__WATCHING || before == PDK__LISTING;
    bool holds = before == PDK__HELD || before == PDK__SUSPECT;
    if (ev->kind == PDK__EV_SESSION_EXPIRED && (waits || before == PDK__DISCONNECTED))
        see(SIGHT_EXPIRED_WAITING);
    if (ev->kind == PDK__EV_SESSION_EXPIRED && holds)
        see(SIGHT_EXPIRED_HOLDING);
    if (ev->kind == PDK__EV_SESSION_EXPIRED && unsure)
        see(SIGHT_EXPIRED_CREATING);
    if (ev->kind == PDK__EV_LEASE_EXPIRED && holds)
        see(claim->machine->session.connected ? SIGHT_PRESUMED_CONNECTED : SIGHT_PRESUMED);
    if (ev->kind == PDK__EV_LEASE_LOW && before == PDK__HELD)
        see(SIGHT_DOUBTED_CONNECTED);
    if (ev->kind == PDK__EV_OWN_FIRED && ev->deleted && waits)
        see(SIGHT_VANISHED_WAITING);
    if (ev->kind == PDK__EV_OWN_FIRED && ev->deleted && before == PDK__HELD)
        see(SIGHT_VANISHED_HOLDING);
}

static void see_branch(const struct claim *claim, const struct pdk__event *ev, enum pdk__phase before, bool unsure)
{
    enum pdk__phase after = claim->machine->phase;
    see_grant(before, after);
    see_recovery(claim, ev, before);
    see_end(claim, ev, before, unsure);
    if (ev->kind == PDK__EV_FIRED && before == PDK__WATCHING && after != before)
        see(SIGHT_FIRED_EARLY);
    if (ev->kind == PDK__EV_DELETED && ev->outcome == PDK__NO_NODE)
        see(SIGHT_DELETE_FOUND_NOTHING);
    if (after == PDK__DELETING && (before == PDK__DISCONNECTED || before == PDK__BACKOFF))
        see(SIGHT_DELETE_REPEATED);
}

/* --- the machines' steps ----------------------------------------------------------------------------------------- */

void sim_contender_step(struct pdk__contender *machine, const struct pdk__event *ev, struct pdk__actions *actions)
{
    struct client *c = fiber_now->owner;
    struct claim *claim = find_claim(c, machine);
    if (claim == NULL)
        claim = new_claim(c, machine);
    const struct pdk__contender before = *machine;
    bool unsure = machine->node.exists == PDK__NODE_MAYBE;
    if (ev->op != 0 && ev->op != machine->op && ev->op != machine->node.watch_op)
        see(SIGHT_STALE_REPLY);
    note_event(claim, ev);
    pdk__contender_step(machine, ev, actions);
    see_branch(claim, ev, before.phase, unsure);
    EACH_LAW(c->world, stepped, claim, &before, ev, actions);
    for (size_t i = 0; i < actions->n; i++)
        note_action(claim, &actions->list[i]);
}

void sim_session_step(struct pdk__session *s, const struct pdk__session_event *ev, struct pdk__session_actions *actions)
{
    struct client *c = fiber_now->owner;
    int64_t deadline_ms = pdk__session_deadline_ms(s);
    c->machine = s;
    pdk__session_step(s, ev, actions);
    for (size_t i = 0; i < actions->n; i++)
        if (actions->list[i].kind == PDK__SACT_EXPIRED && c->io != IO_IDLE)
            see(SIGHT_GIVEN_UP_HANDLE);
    if (s->phase == PDK__SESSION_OVER)
        c->machine = NULL;
    else if (pdk__session_deadline_ms(s) > deadline_ms)
        faults_at_proof(c->world, c);
}

void sim_stray_init(struct pdk__stray *s, uint64_t *ops, int64_t session, uint32_t attempt, uint64_t seed,
                    int64_t now_ms)
{
    struct client *c = fiber_now->owner;
    pdk__stray_init(s, ops, session, attempt, seed, now_ms);
    for (int i = 0; i < STRAYS_MAX; i++)
        if (i == c->n_strays || c->strays[i].machine == NULL || c->strays[i].machine == s) {
            c->n_strays += i == c->n_strays;
            c->strays[i] = (struct stray){.machine = s, .path = c->stray_path, .session = session, .attempt = attempt};
            return;
        }
}

void sim_stray_step(struct pdk__stray *s, const struct pdk__event *ev, struct pdk__actions *actions)
{
    struct client *c = fiber_now->owner;
    pdk__stray_step(s, ev, actions);
    for (size_t i = 0; i < actions->n; i++) {
        const struct pdk__action *a = &actions->list[i];
        if (a->kind == PDK__ACT_DELETE) {
            STORY(c->world, "client %d deletes its stray %s", c->id, a->name);
            see(SIGHT_STRAY_FOUND);
        }
        for (int j = 0; j < c->n_strays && a->kind == PDK__ACT_DONE; j++)
            if (c->strays[j].machine == s)
                c->strays[j].machine = NULL;
    }
}

/* --- the thread that completes ----------------------------------------------------------------------------------- */

void client_receive(void *receiver, const struct message *m)
{
    struct client *c = receiver;
    if (c->dead)
        return;
    if (c->n_completions == COMPLETIONS_MAX) {
        fputs("sim: too many completions\n", stderr);
        abort();
    }
    c->completions[(c->first_completion + c->n_completions++) % COMPLETIONS_MAX] = *m;
    fiber_wake_all(&c->completions);
}

/* The newest state is the one of this server: it may not know that of an earlier one. */
static void join(struct client *c, int64_t zxid)
{
    c->heard_zxid = c->joined_zxid = zxid;
    c->replied = false;
    for (int i = 0; i < c->n_claims; i++)
        c->claims[i].gone_since = 0; /* a watch that was not kept is asked for from here on */
    c->n_starved_before = c->n_starved;
}

void client_hear(struct client *c, enum in_kind kind, const struct answer *a)
{
    if (kind == IN_CONNECTED)
        join(c, a->zxid);
    else if (a->zxid > c->heard_zxid)
        c->heard_zxid = a->zxid;
    c->replied |= kind == IN_REPLY;
    if (kind == IN_EVENT)
        EACH_LAW(c->world, hearing, c, a);
}

void client_heard(struct client *c, enum in_kind kind, const struct answer *a)
{
    if (kind == IN_CONNECTED && a->timeout_ms < c->heard_timeout_ms)
        c->heard_timeout_ms = a->timeout_ms;
    if (kind != IN_CONNECTED)
        EACH_LAW(c->world, received, c);
}

static void complete(struct client *c, const struct message *m)
{
    bool tells = m->kind == IN_REPLY || m->kind == IN_EVENT || m->kind == IN_CONNECTED;
    if ((unsigned)m->b != c->handle || c->zh == NULL)
        return;
    if (tells)
        client_hear(c, (enum in_kind)m->kind, m->body);
    c->completes = true;
    zookeeper_complete(c, m);
    c->completes = false;
    if (tells)
        client_heard(c, (enum in_kind)m->kind, m->body);
}

static void *complete_all(void *arg)
{
    struct client *c = arg;
    for (;;) {
        while (c->n_completions == 0)
            fiber_block(&c->completions, -1);
        struct message m = c->completions[c->first_completion];
        c->n_completions--;
        c->first_completion = c->n_completions > 0 ? (c->first_completion + 1) % COMPLETIONS_MAX : 0;
        complete(c, &m);
    }
    return NULL;
}

void client_start(struct client *c)
{
    if (!client_is_real) /* which has a thread of its own */
        c->completer = fiber_start(c, complete_all, c);
    fiber_start(c, client_run, c);
}

/* --- pauses ------------------------------------------------------------------------------------------------------ */

void client_suspend(struct client *c)
{
    if (c->paused || c->dead)
        return;
    see(SIGHT_SUSPENDED);
    STORY(c->world, "the machine of client %d is suspended", c->id);
    client_pause(c, true);
    c->asleep_us = client_now_us(c);
    c->asleep_since = c->world->agenda.now;
}

/* ZooKeeper's client has not noticed that time has passed. */
static void wake_machine(struct client *c)
{
    instant slept = c->world->agenda.now - c->asleep_since;
    c->slept_us += client_now_us(c) - c->asleep_us;
    c->asleep_us = 0;
    c->sent += slept;
    c->received += slept;
}

void client_pause(struct client *c, bool paused)
{
    if (!paused && c->asleep_us != 0)
        wake_machine(c);
    c->resumed = c->apart = c->world->agenda.now;
    c->paused = paused;
    if (paused || c->dead)
        return;
    for (int i = 0; i < c->world->ensemble.n; i++)
        pipe_pump(&c->down[i]);
    pipe_pump(&c->inbox);
    io_resume(c);
    fibers_resume(c);
}
