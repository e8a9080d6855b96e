#include "test/sim/laws.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { SCRATCH = 4 << 20 };

/* The time that faults have, the time that everybody has to finish in after healing, and to leave no trace. */
enum { DISTURBED_MS = 25000, SERVED_MS = 60000, GONE_MS = 45000 };

uint64_t sights[N_SIGHTS];
uint64_t total_grants, total_faults, total_requests;
int64_t total_virtual_ms, worst_false_belief_ms;

#define NAME(name, text) text,
const char *const sight_names[N_SIGHTS] = {SIGHTS(NAME)};
#undef NAME

const struct law *const laws[] = {&law_exclusion,  &law_belief,  &law_tokens,  &law_order,
                                  &law_completion, &law_nodes,   &law_watches, &law_herd,
                                  &law_presence,   &law_service, NULL};

#define EACH_LAW(w, hook, ...)                                                                                         \
    for (const struct law *const *law = laws; *law != NULL; law++)                                                     \
        if ((*law)->hook != NULL)                                                                                      \
    (*law)->hook(w, ##__VA_ARGS__)

/* --- telling ----------------------------------------------------------------------------------------------------- */

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
    static const char *const kinds[] = {"refused", "create", "delete",       "set",          "check",
                                        "make",    "remove", "open session", "close session"};
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
    w->deleted[w->n_deleted].zxid = w->ensemble.txns[w->ensemble.agreed[w->ensemble.n_committed - 1]].zxid;
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

int64_t world_session_id(session_index s) { return INT64_C(0x100000) + s; }

bool world_node_there(struct world *w, const struct claim *claim)
{
    return tree_find(&w->ensemble.truth, claim->path, claim->machine.name) != NULL;
}

int64_t world_deleted(const struct world *w, int path, const char *name)
{
    for (int i = w->n_deleted - 1; i >= 0; i--)
        if (w->deleted[i].path == path && strcmp(w->deleted[i].name, name) == 0)
            return w->deleted[i].zxid;
    return 0;
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

/* Between two clocks, twice as much: a twentieth is what the deadline allows for. Now and then they do what they must
 * not. */
static int draw_drift(struct random *r)
{
    return chance(r, 20) ? DRIFT_BEYOND_PPM : chance(r, 250) ? DRIFT_WITHIN_PPM : 500;
}

static void draw_ensemble(struct world *w)
{
    struct ensemble *e = &w->ensemble;
    struct random *r = &w->random;
    int ticks[] = {200, 500, 1000, 2000};
    int tick_ms = ticks[below(r, 4)];
    e->agenda = &w->agenda;
    e->random = r;
    e->world = w;
    e->answer = answer;
    e->committed = committed;
    e->expiring = expiring;
    e->deleting = deleting;
    e->scratch = scratch;
    e->link_delay = between(r, 200, chance(r, 200) ? 50000 : 3000);
    e->disk_delay = between(r, 200, chance(r, 200) ? 100000 : 5000);
    e->lag_permille = chance(r, 300) ? between(r, 1, 200) : 0;
    e->lag_delay = between(r, 10000, 1000000);
    w->session_ms = (int64_t)tick_ms * between(r, tick_ms < 500 ? 5 : 2, tick_ms < 500 ? 10 : 6);
    w->client_delay = between(r, 200, chance(r, 200) ? 50000 : 3000);
    w->inbox_delay = between(r, 10, chance(r, 100) ? 100000 : 500);
    w->starved_permille = chance(r, 150) ? between(r, 1, 50) : 0;
    e->silent = chance(r, 50);
    e->rounds = chance(r, 500);
    e->ping_delay = tick_ms * 10; /* a hundredth of a tick: what the leader's round takes it */
    w->drift_ppm = draw_drift(r);
    for (int i = 0; i < SERVERS_MAX; i++)
        e->servers[i].rate_ppm = between(r, -w->drift_ppm, w->drift_ppm);
    ensemble_begin(e, chance(r, 200) ? 1 : 3, tick_ms, between(r, 2, 5));
}

static void begin(struct world *w, const struct plan *plan)
{
    w->plan = *plan;
    w->confirmed = plan->seed % 8 == 3;
    w->random.state = plan->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    w->fault_random.state = draw(&w->random);
    w->used = 0;
    w->n_sessions = w->n_requests = w->n_faults = w->n_deleted = 0;
    w->healed = false;
    w->n_claims = 0;
    w->ended_by_order = 0;
    w->broken = NULL;
    memset(w->attached, 0, sizeof w->attached);
    memset(w->faults_done, 0, sizeof w->faults_done);
    agenda_clear(&w->agenda);
    draw_ensemble(w);
    w->n_paths = chance(&w->random, 150) ? 2 : 1;
    w->n_clients = between(&w->random, 2, 4);
    EACH_LAW(w, begin);
    for (int i = 0; i < w->n_clients; i++)
        client_begin(&w->clients[i], w, i);
    faults_begin(w);
}

/* Nothing is left that a law could complain of. */
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

/* To look for the end at each step would take longer than the step. */
enum { STEPS = 16 };

static void run_until(struct world *w, instant end, bool (*done)(const struct world *))
{
    for (int i = 0; w->broken == NULL && agenda_next(&w->agenda, end); i++)
        if (i % STEPS == 0 && done(w))
            return;
}

const char *world_run(struct world *w, const struct plan *plan)
{
    begin(w, plan);
    run_until(w, (instant)DISTURBED_MS * 1000, world_all_done);
    faults_heal(w);
    instant healed = w->agenda.now;
    run_until(w, healed + (instant)SERVED_MS * 1000, world_all_done);
    if (w->broken == NULL && !world_all_done(w))
        world_break(w, law_service.name, "somebody is not served %d ms after healing", SERVED_MS);
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
