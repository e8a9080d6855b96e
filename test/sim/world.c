#include "test/sim/laws.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { SCRATCH = 16 << 20 };

/* How long faults happen; how long after the healing all clients may take to finish, and then to leave no trace. */
enum { LOCK_DELAY_MS = 1500, DISTURBED_MS = 25000, SERVED_MS = 60000, SLOWLY_SERVED_MS = 300000, GONE_MS = 45000 };

uint64_t sights[N_SIGHTS];
uint64_t total_grants, total_faults, total_requests;
int64_t total_virtual_ms;

#define NAME(name, text) text,
const char *const sight_names[N_SIGHTS] = {SIGHTS(NAME)};
#undef NAME

const struct law *const laws[] = {&law_exclusion, &law_belief,  &law_tokens, &law_order,    &law_completion,
                                  &law_nodes,     &law_watches, &law_herd,   &law_presence, &law_service,
                                  &law_steady,    &law_delay,   NULL};

#define EACH_LAW(w, hook, ...)                                                                                         \
    for (const struct law *const *law = laws; *law != NULL; law++)                                                     \
        if ((*law)->hook != NULL)                                                                                      \
    (*law)->hook(w, ##__VA_ARGS__)

/* --- the story --------------------------------------------------------------------------------------------------- */

void world_tell(struct world *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(w->plan.story, "%10.3f  ", (double)w->agenda.now / 1000);
    vfprintf(w->plan.story, format, args);
    fputc('\n', w->plan.story);
    va_end(args);
}

void world_break(struct world *w, const char *law, const char *format, ...)
{
    if (w->broken != NULL)
        return;
    va_list args;
    va_start(args, format);
    w->broken = law;
    vsnprintf(w->how, sizeof w->how, format, args);
    va_end(args);
    STORY(w, "BROKEN: %s: %s", law, w->how);
}

/* --- what the ensemble calls ------------------------------------------------------------------------------------- */

static void *scratch(void *world, size_t size)
{
    struct world *w = world;
    size = (size + 15) & ~(size_t)15;
    if (w->used + size > SCRATCH) {
        fputs("sim: scratch memory is out\n", stderr);
        abort();
    }
    void *memory = w->scratch + w->used;
    w->used += size;
    return memory;
}

static void answer(void *world, int client, int server, enum answer_kind kind, const struct answer *a)
{
    struct world *w = world;
    client_answer(&w->clients[client], server, w->attached[server][client], kind, a);
}

static void tell_txn(struct world *w, const struct txn *txn)
{
    static const char *const kinds[] = {"refused", "create", "plant",  "delete",       "set",
                                        "mark",    "make",   "remove", "open session", "close session"};
    STORY(w, "committed %llx: %s %s path %d session %d%s", (unsigned long long)txn->zxid, kinds[txn->kind], txn->name,
          txn->path, txn->session, txn->error == Z_MOVED ? " (moved)" : "");
}

static void committed(void *world, const struct txn *txn)
{
    struct world *w = world;
    tell_txn(w, txn);
    EACH_LAW(w, committed, txn);
}

static void expiring(void *world, const struct server *s, session_index session)
{
    struct world *w = world;
    STORY(w, "server %d finds session %d expired", s->id, session);
    EACH_LAW(w, expiring, s, session);
}

static void deleting(void *world, int path, const struct node *node)
{
    struct world *w = world;
    const struct txn *txn = &w->ensemble.txns[w->ensemble.agreed[w->ensemble.n_committed - 1]];
    bool by_order = txn->session < 0 ||
                    (txn->kind == TXN_CLOSE_SESSION && (w->ended_by_order >> txn->session & 1) != 0);
    w->deleted[w->n_deleted].zxid = txn->zxid;
    w->deleted[w->n_deleted].by_order = by_order;
    w->deleted[w->n_deleted].planted = node->planted;
    w->deleted[w->n_deleted].path = path;
    strcpy(w->deleted[w->n_deleted++].name, node->name);
    EACH_LAW(w, deleting, path, node);
}

/* --- sessions ---------------------------------------------------------------------------------------------------- */

session_index world_session(struct world *w, int client)
{
    if (w->n_sessions == SESSIONS_MAX) {
        fputs("sim: too many sessions\n", stderr);
        abort();
    }
    w->session_client[w->n_sessions] = client;
    w->session_asked[w->n_sessions] = false;
    w->ensemble.timeout_ms[w->n_sessions] = w->session_ms;
    return w->n_sessions++;
}

void world_owned_by(struct world *w, session_index session, int server)
{
    if (w->clients[w->session_client[session]].server != server)
        w->moved_back |= UINT64_C(1) << session;
}

int64_t world_session_id(session_index s) { return INT64_C(0x100000) + s; }

struct node *world_node(struct world *w, const struct claim *claim)
{
    struct node *node = tree_find(&w->ensemble.truth, claim->path, claim->machine.name);
    return node != NULL && node->owner >= 0 ? node : NULL;
}

bool world_node_there(struct world *w, const struct claim *claim) { return world_node(w, claim) != NULL; }

/* A node of a contender's, not one that was planted under its name. */
static int find_deleted(const struct world *w, int path, const char *name)
{
    int i = w->n_deleted - 1;
    while (i >= 0 && (w->deleted[i].planted || w->deleted[i].path != path || strcmp(w->deleted[i].name, name) != 0))
        i--;
    return i;
}

int world_deletions(const struct world *w, int path, const char *name)
{
    int n = 0;
    for (int i = 0; i < w->n_deleted; i++)
        n += w->deleted[i].path == path && strcmp(w->deleted[i].name, name) == 0;
    return n;
}

int64_t world_deleted(const struct world *w, int path, const char *name)
{
    int i = find_deleted(w, path, name);
    return i >= 0 ? w->deleted[i].zxid : 0;
}

bool world_deleted_by_order(const struct world *w, int path, const char *name)
{
    int i = find_deleted(w, path, name);
    return i >= 0 && w->deleted[i].by_order;
}

/* --- a run ------------------------------------------------------------------------------------------------------- */

static bool client_done(const struct client *c)
{
    for (int i = 0; i < c->n_users && !c->dead; i++)
        if (c->users[i].rounds > 0)
            return false;
    for (int i = 0; i < CLAIMS_MAX && !c->dead; i++)
        if (c->claims[i].used)
            return false;
    return true;
}

bool world_all_done(const struct world *w)
{
    for (int i = 0; i < w->n_clients; i++)
        if (!client_done(&w->clients[i]))
            return false;
    return true;
}

static void draw_policy(struct world *w, int tick_ms)
{
    struct random *r = &w->random;
    w->policy = (struct pdk__session_policy){.tick_ms = chance(r, 500) ? tick_ms : 0};
    w->renews_by_sync = chance(r, 50);
}

void world_calm_down(struct world *w)
{
    struct ensemble *e = &w->ensemble;
    e->link_delay = e->disk_delay = w->up_delay = w->down_delay = 2000;
    e->lag_permille = e->hiccup_permille = 0;
    w->inbox_delay = 500;
    w->starved_permille = 0;
}

/* Sessions as short as they may be, and delays that matter to them. */
static void strain(struct world *w)
{
    struct ensemble *e = &w->ensemble;
    struct random *r = &w->random;
    w->session_ms = (int64_t)e->tick_ms * between(r, 2, 3);
    w->policy.tick_ms = chance(r, 500) ? e->tick_ms : 0;
    w->policy.min_valid_ms = between(r, 1, (int)w->session_ms / 10);
    w->sprints = chance(r, 500);
    w->hunt_proof_permille = chance(r, 600) ? between(r, 20, 300) : 0;
    w->hunt_write_permille = chance(r, 400) ? between(r, 5, 100) : 0;
    w->renews_by_sync = chance(r, 100);
    e->rounds = false;
    e->sync_limit = between(r, 4, 8);
    e->link_delay = chance(r, 700) ? 2000 : e->tick_ms * between(r, 20, 200);
    e->hiccup_permille = chance(r, 600) ? between(r, 10, 300) : 0;
    e->hiccup_delay = e->tick_ms * between(r, 50, 600);
    w->up_delay = w->down_delay = 2000;
    if (chance(r, 500))
        w->down_delay = (int)w->session_ms * between(r, 20, 200);
    if (chance(r, 250))
        w->up_delay = w->down_delay;
    w->starved_permille = 0;
}

static void draw_delays(struct world *w)
{
    struct ensemble *e = &w->ensemble;
    struct random *r = &w->random;
    e->link_delay = between(r, 200, chance(r, 200) ? 50000 : 3000);
    e->hiccup_permille = 0;
    e->disk_delay = between(r, 200, chance(r, 200) ? 100000 : 5000);
    e->lag_permille = chance(r, 300) ? between(r, 1, 200) : 0;
    e->lag_delay = between(r, 10000, 1000000);
    w->up_delay = w->down_delay = between(r, 200, chance(r, 200) ? 50000 : 3000);
    w->inbox_delay = between(r, 10, chance(r, 100) ? 100000 : 500);
    w->starved_permille = chance(r, 150) ? between(r, 1, 50) : 0;
}

static int to_the_limit(struct random *r, int limit) { return chance(r, 500) ? limit : -limit; }

static void draw_clocks(struct world *w)
{
    struct random *r = &w->random;
    w->drift_ppm = chance(r, 20) ? DRIFT_BEYOND_PPM : chance(r, 250) ? DRIFT_WITHIN_PPM : 500;
    if (w->tense || w->calm)
        w->drift_ppm = chance(r, 400) ? DRIFT_WITHIN_PPM : 500;
    if (w->tense && w->drift_ppm < DRIFT_WITHIN_PPM) /* twice as much between two, and a millisecond for each reading */
        w->policy.margin_ms = w->session_ms / 900 + 3;
    for (int i = 0; i < SERVERS_MAX + CLIENTS_MAX; i++) {
        int rate = w->tense ? to_the_limit(r, w->drift_ppm) : between(r, -w->drift_ppm, w->drift_ppm);
        if (i < SERVERS_MAX)
            w->ensemble.servers[i].rate_ppm = rate;
        else
            w->clients[i - SERVERS_MAX].drift_ppm = rate;
    }
}

static void connect_ensemble(struct world *w)
{
    struct ensemble *e = &w->ensemble;
    e->agenda = &w->agenda;
    e->random = &w->random;
    e->world = w;
    e->answer = answer;
    e->committed = committed;
    e->expiring = expiring;
    e->deleting = deleting;
    e->scratch = scratch;
}

/* One seed in ten each, so that the others keep their histories. */
static void draw_regime(struct world *w)
{
    struct ensemble *e = &w->ensemble;
    bool chosen = w->plan.cuts || w->plan.hostile;
    w->hostile = chosen ? w->plan.hostile : w->plan.seed % 10 == 4 && !w->plan.exhaustive;
    w->cuts = chosen ? w->plan.cuts : w->plan.seed % 10 == 9 && !w->plan.exhaustive;
    if (w->cuts) {
        w->tense = true;
        w->calm = e->silent = false;
        e->tick_ms = e->tick_ms < 500 ? 500 : e->tick_ms;
    }
    w->calm &= !w->hostile;
}

/* A slow link on which nothing is lost: a round trip of up to a tenth of the timeout, or, with a short tick that the
 * clients know, of up to 0.15. */
enum { SLOW_LEAST_MS = 2500 }; /* a client writes ten times a second at most */

static int draw_way(struct world *w)
{
    bool known = w->policy.tick_ms > 0 && w->policy.tick_ms * 5 <= w->session_ms;
    return (int)w->session_ms * between(&w->random, 1, known ? 75 : 50);
}

static void draw_ensemble(struct world *w)
{
    struct ensemble *e = &w->ensemble;
    struct random *r = &w->random;
    static const int ticks[] = {200, 500, 1000, 2000};
    e->tick_ms = ticks[below(r, 4)];
    e->sync_limit = between(r, 2, 5);
    e->silent = chance(r, 50);
    e->rounds = chance(r, 500);
    e->ping_delay = e->tick_ms * 10; /* a hundredth of a tick: the time of the leader's round */
    w->session_ms = (int64_t)e->tick_ms * between(r, e->tick_ms < 500 ? 5 : 2, e->tick_ms < 500 ? 10 : 6);
    w->calm = chance(r, 60) && !w->plan.exhaustive;
    e->silent &= !w->calm;
    w->tense = chance(r, 400) && !w->calm && !w->plan.exhaustive && e->tick_ms >= 500;
    draw_regime(w);
    w->hunt_proof_permille = w->hunt_write_permille = 0;
    w->sprints = false;
    draw_policy(w, e->tick_ms);
    draw_delays(w);
    if (w->calm)
        world_calm_down(w);
    w->way = w->calm && chance(r, 500) && w->session_ms >= SLOW_LEAST_MS ? draw_way(w) : 0;
    if (w->tense)
        strain(w);
    if (w->cuts) {
        w->hunt_proof_permille = w->hunt_write_permille = 0;
        e->hiccup_permille = between(r, 100, 300);
        e->hiccup_delay = e->tick_ms * between(r, 50, 600);
    }
    draw_clocks(w);
    ensemble_begin(e, chance(r, 200) && !w->tense ? 1 : 3);
}

static void begin(struct world *w, const struct plan *plan)
{
    w->plan = *plan;
    w->confirmed = plan->seed % 8 == 3;
    w->lock_delay_ms = plan->seed % 8 == 5 ? LOCK_DELAY_MS : 0;
    w->random.state = plan->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    w->fault_random.state = draw(&w->random);
    w->used = 0;
    w->n_sessions = w->n_requests = w->n_faults = w->n_deleted = 0;
    w->healed = false;
    w->n_claims = 0;
    w->ended_by_order = w->moved_back = 0;
    w->broken = NULL;
    memset(w->attached, 0, sizeof w->attached);
    memset(w->faults_done, 0, sizeof w->faults_done);
    agenda_clear(&w->agenda);
    connect_ensemble(w);
    draw_ensemble(w);
    w->n_paths = chance(&w->random, w->tense ? 500 : 150) ? 2 : 1;
    w->n_clients = between(&w->random, 2, 4);
    EACH_LAW(w, begin);
    for (int i = 0; i < w->n_clients; i++)
        client_begin(&w->clients[i], w, i);
    faults_begin(w);
}

/* Nothing is left that breaks a law. */
static bool all_gone(const struct world *w)
{
    const struct ensemble *e = &w->ensemble;
    for (int i = 0; i < e->n; i++)
        if (e->servers[i].n_watches > 0)
            return false;
    for (int p = 0; p < PATHS; p++)
        if (e->truth.dirs[p].n > 0)
            return false;
    return true;
}

/* Checking for the end at each step would take longer than the step. */
enum { STEPS = 16 };

static void run_until(struct world *w, instant end, bool (*done)(const struct world *))
{
    for (int i = 0; w->broken == NULL && agenda_next(&w->agenda, end); i++)
        if (i % STEPS == 0 && done(w))
            return;
}

/* Three round trips and the gap, which a proof takes, leave little of the timeout: grants are a matter of luck, or
 * slow. */
static bool slowly(const struct world *w)
{
    const struct ensemble *e = &w->ensemble;
    int64_t trip_us = (w->up_delay + w->down_delay + w->inbox_delay + e->disk_delay) / 2 + e->link_delay +
                      (int64_t)e->lag_permille * e->lag_delay / 2000;
    int64_t tick_us = (w->policy.tick_ms > 0 ? w->policy.tick_ms : w->session_ms / 2) * 1000;
    return w->way > 0 || 3 * trip_us + tick_us / 2 > w->session_ms * 1000 * 3 / 5;
}

const char *world_run(struct world *w, const struct plan *plan)
{
    begin(w, plan);
    run_until(w, (instant)DISTURBED_MS * 1000, world_all_done);
    faults_heal(w);
    instant healed = w->agenda.now;
    int served_ms = slowly(w) ? SLOWLY_SERVED_MS : SERVED_MS;
    run_until(w, healed + (instant)served_ms * 1000, world_all_done);
    if (w->broken == NULL && !world_all_done(w))
        world_break(w, law_service.name, "somebody is not served %d ms after healing", served_ms);
    run_until(w, w->agenda.now + (instant)GONE_MS * 1000, all_gone);
    if (w->broken == NULL) {
        EACH_LAW(w, finished);
    }
    total_virtual_ms += w->agenda.now / 1000;
    total_requests += (uint64_t)w->n_requests;
    total_faults += (uint64_t)w->n_faults;
    return w->broken;
}

struct world *world_new(void)
{
    struct world *w = calloc(1, sizeof *w);
    if (w != NULL && (w->scratch = malloc(SCRATCH)) != NULL)
        return w;
    fputs("sim: no memory\n", stderr);
    exit(99);
}

void world_free(struct world *w)
{
    free(w->scratch);
    free(w);
}
