/*
 * Stories by chance: members of a double barrier that go round after round, beside a model of the servers. Requests and
 * answers are lost with their connections; sessions end, callers give up, an administrator deletes nodes, creates take
 * effect late. After each seed the disturbances end, and the members must come to an end.
 */
#include "lib/core/double_barrier.h"
#include "test/lib/check.h"
#include "test/lib/dice.h"
#include <paddock/error.h>
#include <stdio.h>
#include <string.h>

enum { MEMBERS = 3, ROUNDS = 3, QUEUE = 32, NODES = 24, WATCHES = 8, SEEDS = 10000, STEPS = 600, HEALED = 40000 };

struct node {
    char name[PDK__NAME_MAX];
    int64_t owner; /* a session; 0: none */
    int64_t czxid;
};

struct request {
    struct pdk__action action;
    char name[PDK__NAME_MAX];
};

struct reply {
    struct pdk__event event;
    char name[PDK__NAME_MAX]; /* of the watch that fired, or is set */
    char children[NODES][PDK__NAME_MAX];
};

/* A watch is registered with the handle once its answer has come; the handle sets it again on the next connection. */
struct watch {
    char name[PDK__NAME_MAX];
    int64_t czxid; /* of the node; 0: its creation is watched */
    bool at_server, registered;
};

enum program { OUTSIDE, ENTERING, INSIDE, LEAVING, FINISHED };

struct member {
    struct pdk__double_barrier machine;
    bool at_work, connected;
    int64_t session;
    enum program program;
    int round;
    struct request requests[QUEUE];
    int n_requests;
    struct reply replies[QUEUE];
    int n_replies;
    struct watch watches[WATCHES];
    int n_watches;
    char last_read[PDK__NAME_MAX];
};

/* A create that is still stuck somewhere; and a name that strays look for. */
struct late {
    char name[PDK__NAME_MAX];
    int64_t session;
};

static struct {
    struct dice dice;
    bool wild;
    uint64_t ops;
    int64_t now_ms, zxid;
    uint32_t attempts;
    int64_t sessions;
    struct node nodes[NODES];
    int n_nodes;
    struct member members[MEMBERS];
    struct late late[NODES], strays[NODES];
    int n_late, n_strays;
    int entering[ROUNDS], leaving[ROUNDS]; /* how many members have begun that */
} w;

static bool visited_entered, visited_passed, visited_failed, visited_lost, visited_stray, visited_late;

/* --- the servers ------------------------------------------------------------------------------------------------- */

static int find(const char *name)
{
    for (int i = 0; i < w.n_nodes; i++)
        if (strcmp(w.nodes[i].name, name) == 0)
            return i;
    return -1;
}

static struct reply *answer(struct member *m, enum pdk__event_kind kind, uint64_t op)
{
    CHECK(m->n_replies < QUEUE);
    struct reply *r = &m->replies[m->n_replies++];
    *r = (struct reply){.event = {.kind = kind, .op = op}};
    return r;
}

static void fire(struct member *m, struct watch *watch, bool deleted)
{
    watch->at_server = false;
    struct reply *r = answer(m, PDK__EV_FIRED, 0);
    r->event.deleted = deleted;
    strcpy(r->name, watch->name);
}

static void fire_all(const char *name, bool deleted)
{
    for (struct member *m = w.members; m < w.members + MEMBERS; m++)
        for (int i = 0; i < m->n_watches; i++)
            if (m->watches[i].at_server && strcmp(m->watches[i].name, name) == 0)
                fire(m, &m->watches[i], deleted);
}

static void delete_at(int i)
{
    char name[PDK__NAME_MAX];
    strcpy(name, w.nodes[i].name);
    w.nodes[i] = w.nodes[--w.n_nodes];
    w.zxid++;
    fire_all(name, true);
}

static enum pdk__outcome create_node(const char *name, int64_t owner)
{
    w.zxid++;
    if (find(name) >= 0)
        return PDK__REFUSED;
    CHECK(w.n_nodes < NODES);
    struct node *n = &w.nodes[w.n_nodes++];
    *n = (struct node){.owner = owner, .czxid = w.zxid};
    strcpy(n->name, name);
    fire_all(name, false);
    return PDK__OK;
}

static void set_watch(struct member *m, const char *name, int64_t czxid)
{
    int i = 0;
    while (i < m->n_watches && strcmp(m->watches[i].name, name) != 0)
        i++;
    CHECK(i < WATCHES);
    if (i == m->n_watches)
        m->watches[m->n_watches++] = (struct watch){0};
    strcpy(m->watches[i].name, name);
    m->watches[i].czxid = czxid;
    m->watches[i].at_server = true;
}

static void drop_watch(struct member *m, int i) { m->watches[i] = m->watches[--m->n_watches]; }

static void list_children(struct reply *r)
{
    r->event.n_children = (size_t)w.n_nodes;
    for (int i = 0; i < w.n_nodes; i++)
        strcpy(r->children[i], w.nodes[i].name);
}

/* The answer's kind is that of the action. */
static void execute(struct member *m, const struct request *q)
{
    static const enum pdk__event_kind kinds[] = {
        [PDK__ACT_CREATE] = PDK__EV_CREATED,      [PDK__ACT_LIST] = PDK__EV_LISTED,
        [PDK__ACT_WATCH] = PDK__EV_WATCHED,       [PDK__ACT_DELETE] = PDK__EV_DELETED,
        [PDK__ACT_IDENTIFY] = PDK__EV_IDENTIFIED, [PDK__ACT_PARENTS] = PDK__EV_MADE_PARENTS};
    const struct pdk__action *a = &q->action;
    int at = find(q->name);
    enum pdk__outcome outcome = at >= 0 ? PDK__OK : PDK__NO_NODE;
    struct reply r = {.event = {.kind = kinds[a->kind], .op = a->op}};
    strcpy(r.name, q->name);
    if (at >= 0) {
        r.event.owner = w.nodes[at].owner;
        r.event.token = w.nodes[at].czxid;
    }
    if (a->kind == PDK__ACT_CREATE) {
        outcome = create_node(q->name, a->attempt != 0 ? m->session : 0);
        r.event.token = w.zxid;
        r.event.error = PDK_EEXHAUSTED;
    } else if (a->kind == PDK__ACT_LIST) {
        outcome = PDK__OK;
        list_children(&r);
    } else if (a->kind == PDK__ACT_WATCH && (at >= 0 || a->by_exists)) {
        set_watch(m, q->name, at >= 0 ? w.nodes[at].czxid : 0);
    } else if (a->kind == PDK__ACT_DELETE && at >= 0) {
        delete_at(at);
    }
    r.event.outcome = outcome;
    if (outcome == PDK__NO_NODE)
        r.event.error = PDK_ENOENT;
    CHECK(m->n_replies < QUEUE); /* after what it has fired */
    m->replies[m->n_replies++] = r;
}

/* --- the members ------------------------------------------------------------------------------------------------- */

static void begins(int *counts, const struct member *m) { counts[m->round]++; }

/* All have begun what one has done. */
static void law(const int *counts, const struct member *m)
{
    if (!w.wild)
        CHECK_EQ(counts[m->round], MEMBERS);
}

/* Without a connection the request is lost, and the handle sets the watch again. */
static void unwatch(struct member *m)
{
    for (int i = 0; i < m->n_watches && m->connected; i++)
        if (strcmp(m->watches[i].name, m->last_read) == 0) {
            drop_watch(m, i);
            return;
        }
}

static void next_round(struct member *m) { m->program = ++m->round < ROUNDS ? OUTSIDE : FINISHED; }

static void take(struct member *m, const struct pdk__action *a)
{
    switch (a->kind) {
    case PDK__ACT_GRANTED:
        CHECK_EQ(m->program, ENTERING);
        CHECK(find(PDK__READY) >= 0 || w.wild);
        law(w.entering, m);
        m->program = INSIDE;
        visited_entered = true;
        break;
    case PDK__ACT_FAILED:
        CHECK(w.wild && a->error != 0);
        visited_failed = true;
        break;
    case PDK__ACT_LOST:
        CHECK(w.wild && m->program == INSIDE);
        visited_lost = true;
        break;
    case PDK__ACT_DONE:
        CHECK_EQ(a->error, 0);
        m->at_work = false;
        if (!w.wild)
            CHECK_EQ(m->program, LEAVING);
        law(w.leaving, m);
        next_round(m);
        break;
    case PDK__ACT_UNWATCH:
        unwatch(m);
        break;
    case PDK__ACT_STRAY:
        CHECK(w.n_strays < NODES);
        pdk__name_format_member(w.strays[w.n_strays].name, m->machine.session, a->attempt);
        w.strays[w.n_strays++].session = m->machine.session;
        visited_stray = true;
        break;
    default:
        break;
    }
}

static void feed(struct member *m, struct pdk__event event)
{
    struct pdk__actions actions;
    if (!m->at_work)
        return;
    event.now_ms = w.now_ms;
    if (m->machine.spare == 0)
        m->machine.spare = ++w.attempts;
    bool passing = m->machine.passing;
    pdk__double_barrier_step(&m->machine, &event, &actions);
    visited_passed |= !passing && m->machine.passing;
    for (size_t i = 0; i < actions.n; i++) {
        const struct pdk__action *a = &actions.list[i];
        if (a->kind == PDK__ACT_WATCH && a->name != NULL)
            snprintf(m->last_read, sizeof m->last_read, "%s", a->name);
        if (a->op != 0) {
            CHECK(m->connected && m->n_requests < QUEUE);
            struct request *q = &m->requests[m->n_requests++];
            q->action = *a;
            snprintf(q->name, sizeof q->name, "%s",
                     a->name != NULL             ? a->name
                     : a->kind == PDK__ACT_WATCH ? m->last_read
                                                 : "");
        }
        take(m, a);
    }
}

static int64_t some_deadline(void)
{
    return w.wild && dice_chance(&w.dice, 30) ? w.now_ms + dice_below(&w.dice, 500) : PDK__NEVER;
}

static void go_on(struct member *m)
{
    struct pdk__event event = {.deadline_ms = some_deadline(), .try_only = w.wild && dice_chance(&w.dice, 5)};
    if (m->program == OUTSIDE && !m->at_work) {
        begins(w.entering, m);
        m->program = ENTERING;
        m->at_work = true;
        pdk__double_barrier_init(&m->machine, &w.ops, MEMBERS, ++w.attempts, dice_throw(&w.dice), m->session,
                                 m->connected);
        event.kind = PDK__EV_ACQUIRE;
        feed(m, event);
    } else if (m->program == INSIDE) {
        begins(w.leaving, m);
        m->program = LEAVING;
        event.kind = PDK__EV_RELEASE;
        feed(m, event);
    }
}

/* --- connections and sessions ------------------------------------------------------------------------------------ */

/* Some of what is under way still reaches the servers; a create of the rest may do so later. */
static void disconnect(struct member *m)
{
    int reaches = m->n_requests > 0 ? dice_below(&w.dice, m->n_requests + 1) : 0;
    for (int i = 0; i < m->n_requests; i++) {
        const struct request *q = &m->requests[i];
        if (i < reaches)
            execute(m, q);
        else if (w.wild && q->action.kind == PDK__ACT_CREATE && q->action.attempt != 0 && w.n_late < NODES) {
            strcpy(w.late[w.n_late].name, q->name);
            w.late[w.n_late++].session = m->session;
        }
    }
    m->connected = false;
    m->n_requests = m->n_replies = 0;
    for (int i = m->n_watches - 1; i >= 0; i--) {
        m->watches[i].at_server = false;
        if (!m->watches[i].registered)
            drop_watch(m, i);
    }
    feed(m, (struct pdk__event){.kind = PDK__EV_SESSION_DOWN});
}

static void reconnect(struct member *m)
{
    m->connected = true;
    for (int i = 0; i < m->n_watches; i++) {
        int at = find(m->watches[i].name);
        m->watches[i].at_server = true;
        if ((at >= 0 ? w.nodes[at].czxid : 0) != m->watches[i].czxid)
            fire(m, &m->watches[i], at < 0);
    }
    feed(m, (struct pdk__event){.kind = PDK__EV_SESSION_UP, .session = m->session});
}

static void forget_late(struct late *list, int *n, int64_t session)
{
    for (int i = *n - 1; i >= 0; i--)
        if (list[i].session == session)
            list[i] = list[--*n];
}

/* A session that its client gives up lives on, with its node. */
static void expire(struct member *m)
{
    int error = dice_chance(&w.dice, 30) ? PDK_EUNKNOWN : 0;
    if (m->connected)
        disconnect(m);
    for (int i = w.n_nodes - 1; i >= 0 && error == 0; i--)
        if (w.nodes[i].owner == m->session)
            delete_at(i);
    forget_late(w.late, &w.n_late, m->session);
    forget_late(w.strays, &w.n_strays, m->session);
    m->session = ++w.sessions;
    m->n_watches = 0;
    feed(m, (struct pdk__event){.kind = PDK__EV_SESSION_EXPIRED, .error = error});
}

static void deliver(struct member *m)
{
    const char *children[NODES];
    struct reply r = m->replies[0];
    memmove(m->replies, m->replies + 1, (size_t)--m->n_replies * sizeof r);
    for (size_t i = 0; i < r.event.n_children; i++)
        children[i] = r.children[i];
    r.event.children = children;
    r.event.name = m->last_read;
    bool read = r.event.kind == PDK__EV_WATCHED, ours = strcmp(r.name, m->last_read) == 0;
    for (int i = m->n_watches - 1; i >= 0 && (read || r.event.kind == PDK__EV_FIRED); i--)
        if (strcmp(m->watches[i].name, r.name) != 0)
            continue;
        else if (read)
            m->watches[i].registered = true;
        else if (!m->watches[i].at_server)
            drop_watch(m, i);
    if (r.event.kind != PDK__EV_FIRED || ours)
        feed(m, r.event);
}

/* --- the world --------------------------------------------------------------------------------------------------- */

static void land(void)
{
    int i = dice_below(&w.dice, w.n_late);
    struct late late = w.late[i];
    w.late[i] = w.late[--w.n_late];
    visited_late = true;
    create_node(late.name, late.session);
}

/* The strays look. */
static void sweep(void)
{
    for (int i = 0; i < w.n_strays; i++)
        if (find(w.strays[i].name) >= 0)
            delete_at(find(w.strays[i].name));
}

static void disturb(struct member *m)
{
    if (m->connected)
        disconnect(m);
    else if (w.wild && dice_chance(&w.dice, 20))
        expire(m);
    if (w.wild && w.n_nodes > 0 && dice_chance(&w.dice, 10))
        delete_at(dice_below(&w.dice, w.n_nodes));
    if (w.n_late > 0)
        land();
}

static void step(bool healed)
{
    struct member *m = &w.members[dice_below(&w.dice, MEMBERS)];
    switch (dice_below(&w.dice, 6)) {
    case 0:
        if (m->n_requests > 0) {
            struct request q = m->requests[0];
            memmove(m->requests, m->requests + 1, (size_t)--m->n_requests * sizeof q);
            execute(m, &q);
        }
        break;
    case 1:
        if (m->n_replies > 0)
            deliver(m);
        break;
    case 2:
        w.now_ms += dice_below(&w.dice, 100);
        if (m->at_work && w.now_ms >= pdk__double_barrier_wake_ms(&m->machine))
            feed(m, (struct pdk__event){.kind = PDK__EV_TIMER});
        sweep();
        break;
    case 3:
        go_on(m);
        break;
    case 4:
        if (!m->connected)
            reconnect(m);
        break;
    default:
        if (!healed && dice_chance(&w.dice, 25))
            disturb(m);
    }
}

static bool finished(void)
{
    for (int i = 0; i < MEMBERS; i++)
        if (w.members[i].program != FINISHED || w.members[i].at_work)
            return false;
    return true;
}

/* In a wild world a member may be left alone: the others have had their rounds. It gives up. */
static void give_up(void)
{
    for (int i = 0; i < MEMBERS; i++)
        if (w.members[i].program == ENTERING || w.members[i].program == LEAVING)
            feed(&w.members[i], (struct pdk__event){.kind = PDK__EV_RELEASE, .deadline_ms = PDK__NEVER});
}

static void run_seed(uint64_t seed, bool wild)
{
    memset(&w, 0, sizeof w);
    w.wild = wild;
    w.now_ms = 1000;
    w.zxid = 1;
    dice_seed(&w.dice, seed);
    for (int i = 0; i < MEMBERS; i++)
        w.members[i] = (struct member){.connected = true, .session = ++w.sessions};
    for (int i = 0; i < STEPS; i++)
        step(false);
    while (w.n_late > 0)
        land();
    for (int i = 0; i < HEALED && !finished(); i++) {
        step(true);
        if (wild && i % 2000 == 1999)
            give_up();
    }
    if (!finished())
        fprintf(stderr, "seed %ju\n", (uintmax_t)seed);
    CHECK(finished());
    sweep();
    for (int i = 0; i < MEMBERS; i++)
        CHECK_EQ(w.members[i].n_watches, 0);
    for (int i = 0; i < w.n_nodes; i++)
        CHECK(wild && strcmp(w.nodes[i].name, PDK__READY) == 0);
}

static void rounds_do_not_mix(void)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        run_seed(seed, false);
    CHECK(visited_entered && visited_passed);
}

static void nothing_is_left_whatever_happens(void)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        run_seed(seed, true);
    CHECK(visited_failed && visited_lost && visited_stray && visited_late);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"rounds do not mix, whichever connections are lost", rounds_do_not_mix},
        {"no node and no watch is left, whatever happens", nothing_is_left_whatever_happens},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "rounds (by chance)", .tests = tests});
}
