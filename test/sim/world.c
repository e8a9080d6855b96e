#include "test/sim/laws.h"
#include "test/sim/wired.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { SCRATCH = 256 << 20 };

/* One seed of so many has crowds: those with this rest. One in four of these has nothing else to disturb it, and
 * servers that are busy with the crowd. */
enum { CROWDS_EACH = 64, CROWDS_REST = 23 };

/* How long faults happen; how long after the healing all clients may take to finish, and then to leave no trace. */
enum {
    LOCK_DELAY_MS = 1500,
    DISTURBED_MS = 25000,
    SERVED_MS = 60000,
    SLOWLY_SERVED_MS = 300000,
    GONE_MS = 45000,
    CLOSED_MS = 60000
};

uint64_t sights[N_SIGHTS];
uint64_t total_grants, total_faults, total_requests;
int64_t total_virtual_ms;

#define NAME(name, text) text,
const char *const sight_names[N_SIGHTS] = {SIGHTS(NAME)};
#undef NAME

const struct law *const laws[] = {&law_exclusion, &law_belief,     &law_tokens,    &law_order,    &law_completion,
                                  &law_nodes,     &law_watches,    &law_herd,      &law_presence, &law_service,
                                  &law_steady,    &law_prompt,     &law_delay,     &law_silence,  &law_observers,
                                  &law_deletion,  &law_revocation, &law_permits,   &law_idle,     &law_barriers,
                                  &law_notes,     &law_jobs,       &law_reconnect, &law_listings, NULL};

static bool is_reader(const char *name)
{
    struct pdk__name other = pdk__name_parse(name);
    return (other.kind == PDK__NAME_OURS || other.kind == PDK__NAME_CURATOR) && other.tag == PDK__TAG_READ;
}

bool laws_blocks(const struct claim *claim, const char *name)
{
    bool readers = claim->tag == PDK__TAG_READ && is_reader(name);
    bool permits = claim->tag == PDK__TAG_PERMIT; /* law_permits.c */
    const char *base = claim->machine->wish->base;
    return !readers && !permits && (base == NULL || strcmp(base, name) != 0);
}

bool laws_writer_replaced(struct world *w, const struct claim *claim)
{
    const char *base = claim->machine->wish->base;
    return w->hostile && base != NULL && world_planted(w, claim->path, base);
}

/* Its timer may be a trip late, after a pause, too; and its clock counts milliseconds. */
bool laws_unwatched(const struct claim *claim, instant *since)
{
    const struct world *w = claim->client->world;
    instant now = w->agenda.now;
    int64_t late_ms = world_trips_ms(w, 1) + 1;
    int64_t ms = late_ms +
                 (claim->machine->wish->conditions->long_held ? 0 : client_session(claim->client)->timeout_ms / 20);
    *since = *since != 0 ? *since : now;
    bool soon = now - *since <= ms * 1000 || now - claim->client->resumed <= late_ms * 1000;
    return claim->machine->node.watch == PDK__OWN_UNWATCHED && soon;
}

#define EACH_LAW(w, hook, ...)                                                                                         \
    for (const struct law *const *law = laws; *law != NULL; law++)                                                     \
        if ((*law)->hook != NULL)                                                                                      \
    (*law)->hook(w, ##__VA_ARGS__)

uint64_t excuses[N_EXCUSES];

#define NAME(name, law, reason) law ": " reason,
const char *const excuse_texts[N_EXCUSES] = {EXCUSES(NAME)};
#undef NAME

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
    static const char *const kinds[] = {"refused", "create", "leave word", "plant",  "delete",       "set",
                                        "record",  "write",  "make",       "remove", "open session", "close session"};
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
    w->ending |= UINT64_C(1) << session;
    EACH_LAW(w, expiring, s, session);
}

bool world_removal_ordered(const struct world *w, int64_t token, const char *name)
{
    for (int i = 0; i < w->n_removals; i++)
        if (w->removals[i].token == token || (w->hostile && strcmp(w->removals[i].name, name) == 0))
            return true;
    return false;
}

void world_order_removal(struct world *w, int64_t token, const char *name)
{
    if (w->n_removals == REMOVALS_MAX)
        abort();
    w->removals[w->n_removals].token = token;
    snprintf(w->removals[w->n_removals++].name, PDK__NAME_MAX, "%s", name);
}

static bool makes(const struct txn *txn, int path, const char *name)
{
    for (int i = 0; i <= txn->n_also; i++) {
        struct txn part = txn_part(txn, i);
        if (part.path == path && strcmp(part.name, name) == 0)
            return true;
    }
    return false;
}

bool world_created(const struct world *w, int path, const char *name, int64_t token)
{
    for (int i = 0; i < w->ensemble.n_committed; i++) {
        const struct txn *txn = &w->ensemble.txns[w->ensemble.agreed[i]];
        if (txn->zxid == token)
            return (txn->kind == TXN_CREATE || txn->kind == TXN_PLANT) && makes(txn, path, name);
    }
    return false;
}

static void deleting(void *world, int path, const struct node *node)
{
    struct world *w = world;
    const struct txn *txn = &w->ensemble.txns[w->ensemble.agreed[w->ensemble.n_committed - 1]];
    bool by_order = txn->session < 0 ||
                    (txn->kind == TXN_DELETE && world_removal_ordered(w, node->czxid, node->name)) ||
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

void world_moved(struct world *w, session_index session, unsigned attempt)
{
    if (w->clients[w->session_client[session]].attempts != attempt)
        w->moved_back |= UINT64_C(1) << session;
}

int64_t world_session_id(session_index s) { return INT64_C(0x100000) + s; }

struct node *world_node(struct world *w, const struct claim *claim)
{
    struct node *node = tree_find(&w->ensemble.truth, claim->path, claim->machine->node.name);
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

bool world_planted(struct world *w, int path, const char *name)
{
    const struct node *node = tree_find(&w->ensemble.truth, path, name);
    bool any = node != NULL && node->planted;
    for (int i = 0; i < w->n_deleted && !any; i++)
        any = w->deleted[i].planted && w->deleted[i].path == path && strcmp(w->deleted[i].name, name) == 0;
    return any;
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

bool world_starves(struct world *w)
{
    if (w->starved_permille == 0 || w->healed || w->plan.exhaustive || !chance(&w->fault_random, w->starved_permille))
        return false;
    see(SIGHT_STARVED);
    w->disturbed = w->agenda.now;
    if (fiber_now != NULL)
        fiber_now->owner->n_starved++;
    return true;
}

static bool client_done(const struct client *c)
{
    if (!c->dead && client_at_work(c))
        return false;
    for (int i = 0; i < c->n_claims && !c->dead; i++)
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
}

void world_calm_down(struct world *w)
{
    struct ensemble *e = &w->ensemble;
    int slowest = (e->hiccup_permille > 0 ? e->hiccup_delay : 0) + (e->lag_permille > 0 ? e->lag_delay : 0);
    w->arrived = w->agenda.now + 2 * (slowest + e->link_delay + e->disk_delay + w->up_delay + w->down_delay);
    e->link_delay = e->disk_delay = w->up_delay = w->down_delay = 2000;
    e->lag_permille = e->hiccup_permille = 0;
    w->inbox_delay = 500;
    w->starved_permille = w->late_permille = w->preempt_permille = 0;
}

/* Sessions as short as they may be, and delays that matter to them. */
static void strain(struct world *w)
{
    struct ensemble *e = &w->ensemble;
    struct random *r = &w->random;
    w->session_ms = (int64_t)e->tick_ms * between(r, 2, 3);
    w->policy.tick_ms = chance(r, 500) ? e->tick_ms : 0;
    w->sprints = chance(r, 500);
    w->hunt_proof_permille = chance(r, 600) ? between(r, 20, 300) : 0;
    w->hunt_write_permille = chance(r, 400) ? between(r, 5, 100) : 0;
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
    w->late_permille = chance(r, 300) ? between(r, 1, 50) : 0;
    w->late_delay = between(r, 100, 20000);
    w->preempt_permille = chance(r, 500) ? between(r, 1, 200) : 0;
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

/* One seed in ten each, and one in fifty both, so that the others keep their histories. */
static void draw_regime(struct world *w)
{
    struct ensemble *e = &w->ensemble;
    bool chosen = w->plan.cuts || w->plan.hostile;
    w->hostile = chosen ? w->plan.hostile : (w->plan.seed % 10 == 4 || w->plan.seed % 50 == 29) && !w->plan.exhaustive;
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

/* The servers grant as much as the clients ask for; in one seed of eleven, less, but two ticks at the least. */
static void draw_grants(struct world *w)
{
    bool less = w->plan.seed % 11 == 6 && !w->tense && !w->calm && w->session_ms >= 1200;
    int least = w->session_ms / 2 > 1000 ? (int)w->session_ms / 2 : 1000;
    if (least < 2 * w->ensemble.tick_ms)
        least = 2 * w->ensemble.tick_ms;
    for (int i = 0; i < SERVERS_MAX; i++)
        w->ensemble.servers[i].grants_ms = less ? between(&w->random, least, (int)w->session_ms) : w->session_ms;
}

/* The servers' clocks show times of day that are apart by at most a quarter of the period; and a server's clock begins
 * within its tick. */
static void draw_dates(struct world *w)
{
    int apart_ms = w->period_ms / 4;
    for (int i = 0; i < SERVERS_MAX; i++) {
        uint64_t part = (w->plan.seed * UINT64_C(0x9e3779b97f4a7c15)) >> (8 * i) & 0xff;
        w->ensemble.servers[i].date_ms = DATE_MS + (int64_t)part * apart_ms / 255;
    }
    w->skew_ms = apart_ms + w->ensemble.tick_ms + 100;
}

int64_t world_date_ms(const struct world *w) { return DATE_MS + w->agenda.now / 1000; }

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
    bool busy = w->plan.seed % (4 * CROWDS_EACH) == CROWDS_REST;
    w->calm = (chance(r, 60) || busy) && !w->plan.exhaustive;
    w->lends = w->plan.seed % 17 == 3;
    w->writes = w->plan.seed % 5 == 2 && !w->plan.exhaustive;
    w->any = w->plan.seed / 5 % 3 == 1;
    w->period_ms = w->plan.seed / 5 % 2 == 0 ? 0 : 500 << w->plan.seed / 10 % 5;
    e->counter = w->plan.seed % 31 == 8 ? INT32_MAX - (int)(w->plan.seed / 31 % 30) : 0;
    w->suspends = w->plan.seed % 13 == 5 && !w->plan.exhaustive;
    w->secretive = w->plan.seed % 29 == 13 && !w->plan.exhaustive;
    e->silent &= !w->calm && !w->lends;
    w->swallowed_permille = w->plan.seed % 43 == 12 && !w->calm && !w->plan.exhaustive ? 100 : 0;
    w->tense = chance(r, 400) && !w->calm && !w->plan.exhaustive && e->tick_ms >= 500;
    draw_regime(w);
    w->jobs = (w->plan.seed % 5 == 3 || (w->hostile && w->plan.seed / 10 % 2 == 1)) && !w->plan.exhaustive;
    w->hunt_proof_permille = w->hunt_write_permille = 0;
    w->hunt_late_permille = w->plan.seed % 37 == 21 && !w->calm && !w->plan.exhaustive ? 300 : 0;
    w->hunt_record_permille = w->hostile && w->jobs ? (int)(w->plan.seed / 20 % 4) * 300 : 0;
    w->late.stage = LATE_NOT;
    w->sprints = false;
    draw_policy(w, e->tick_ms);
    draw_delays(w);
    if (w->calm)
        world_calm_down(w);
    w->way = w->calm && chance(r, 500) && w->session_ms >= SLOW_LEAST_MS ? draw_way(w) : 0;
    /* two hundred writes of a client take a session timeout */
    w->service = busy && w->calm ? (instant)w->session_ms * 1000 / 320 : 0;
    w->way = w->service == 0 ? w->way : 0;
    if (w->tense)
        strain(w);
    if (w->cuts) {
        w->hunt_proof_permille = w->hunt_write_permille = 0;
        e->hiccup_permille = between(r, 100, 300);
        e->hiccup_delay = e->tick_ms * between(r, 50, 600);
    }
    draw_clocks(w);
    draw_dates(w);
    draw_grants(w);
    int n_voters = chance(r, 200) && !w->tense ? 1 : 3;
    if (w->plan.seed % 19 == 7)
        n_voters = 5;
    ensemble_begin(e, n_voters < 5 && w->plan.seed % 23 == 11 ? n_voters + 1 : n_voters, n_voters);
}

static void begin(struct world *w, const struct plan *plan)
{
    w->plan = *plan;
    w->confirmed = plan->seed % 8 == 3;
    w->lock_delay_ms = plan->seed % 8 == 5 ? LOCK_DELAY_MS : 0;
    w->budget = plan->seed % 3 == 1 ? 1 + (unsigned)(plan->seed / 3 % 4) : 0;
    w->apart = w->budget > 0 && plan->seed % 2 == 0;
    w->nowait = plan->seed % 5 == 1;
    w->idle_ms = plan->seed % 4 != 2 ? 0 : plan->seed / 4 % 2 == 0 ? 200 : 5000;
    w->random.state = plan->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    w->fault_random.state = draw(&w->random);
    w->used = 0;
    w->n_sessions = w->n_requests = w->n_faults = w->n_deleted = w->n_removals = 0;
    w->healed = w->finale = false;
    w->disturbed = w->arrived = w->deaf_until = 0;
    w->well = false;
    w->n_faults_then = 0;
    w->epoch_then = 0;
    w->n_claims = 0;
    w->ended_by_order = w->moved_back = w->ending = 0;
    w->broken = NULL;
    memset(w->attached, 0, sizeof w->attached);
    memset(w->faults_done, 0, sizeof w->faults_done);
    agenda_clear(&w->agenda);
    connect_ensemble(w);
    fibers_begin(w);
    system_begin(w);
    memory_begin(w);
    registry_begin();
    log_begin();
    draw_ensemble(w);
    w->n_paths = chance(&w->random, w->tense ? 500 : 150) ? 2 : 1;
    w->n_clients = between(&w->random, 2, 4);
    w->elects = chance(&w->random, 250);
    w->observed = plan->seed % 7 != 2 ? -1 : w->elects && plan->seed % 2 == 0 ? ELECTION_PATH : 0;
    w->turns = plan->seed % 11 == 6;
    w->shares = plan->seed % 5 == 3 && !plan->exhaustive;
    w->permits = plan->seed % 5 == 4 && !plan->exhaustive ? 1 + (int)(plan->seed / 5 % PERMITS_MAX) : 0;
    w->gathers = plan->seed % 7 == 5 && w->lock_delay_ms == 0 && !plan->exhaustive;
    if (w->gathers)
        w->n_paths = 2;
    w->members = plan->seed % 9 == 7 && !plan->exhaustive ? between(&w->random, 1, w->n_clients) : 0;
    w->crowds = plan->seed % CROWDS_EACH == CROWDS_REST && !plan->exhaustive ? between(&w->random, 1, 2) : 0;
    EACH_LAW(w, begin);
    for (int i = 0; i < w->n_clients; i++)
        client_begin(&w->clients[i], w, i);
    faults_begin(w);
}

/* Nothing is left that breaks a law. */
static bool all_gone(const struct world *w)
{
    const struct ensemble *e = &w->ensemble;
    if (law_notes_unanswered() >= 0)
        return false;
    for (int i = 0; i < e->n; i++)
        if (server_node_watches(&e->servers[i]) > 0)
            return false;
    for (int p = 0; p < PATHS; p++)
        for (int i = 0; i < e->truth.dirs[p].n; i++)
            if (p < MEETING_PATH || e->truth.dirs[p].nodes[i].owner >= 0)
                return false;
    return true;
}

/* --- is anything wrong? ------------------------------------------------------------------------------------------ */

static bool at_work(const struct server *s)
{
    const struct ensemble *e = s->e;
    bool follows = s->state == SERVER_FOLLOWING && s->following == e->leader && s->epoch == e->epoch &&
                   e->servers[e->leader].acked[s->id] >= 0;
    return (follows || (s->state == SERVER_LEADING && s->id == e->leader)) && !s->paused && !s->mute_at_pong;
}

static bool ensemble_at_work(const struct ensemble *e)
{
    for (int i = 0; i < e->n; i++)
        if (!at_work(&e->servers[i]))
            return false;
    for (int i = 0; i < e->n * e->n; i++)
        if (e->links[i / e->n][i % e->n].blocked)
            return false;
    return true;
}

static bool reaches_servers(const struct client *c)
{
    for (int i = 0; i < c->world->ensemble.n; i++)
        if (c->up[i].blocked || c->down[i].blocked)
            return false;
    return true;
}

int64_t world_trips_ms(const struct world *w, int n)
{
    const struct ensemble *e = &w->ensemble;
    int64_t us = w->up_delay + w->down_delay + 2 * w->way + 2 * e->link_delay + e->disk_delay + w->inbox_delay;
    return (n * (us + 3 * w->late_delay * (w->late_permille > 0)) + 999) / 1000;
}

/* A trip may take a fiftieth of the timeout. */
static bool quick(const struct world *w)
{
    const struct ensemble *e = &w->ensemble;
    bool even = e->lag_permille == 0 && e->hiccup_permille == 0;
    return even && world_trips_ms(w, 50) < w->session_ms;
}

static bool all_well(const struct world *w)
{
    bool news = w->n_faults != w->n_faults_then || w->ensemble.epoch != w->epoch_then;
    if (news || !quick(w) || w->agenda.now < w->arrived || !ensemble_at_work(&w->ensemble))
        return false;
    for (int i = 0; i < w->n_clients; i++)
        if (!w->clients[i].dead && !reaches_servers(&w->clients[i]))
            return false;
    return true;
}

bool world_quiet(const struct world *w, int64_t for_ms)
{
    return w->agenda.now - w->disturbed > for_ms * 1000 && w->agenda.now - w->deaf_until > for_ms * 1000 && w->well &&
           all_well(w);
}

bool world_deaf(const struct world *w)
{
    bool deaf = w->agenda.now < w->deaf_until;
    if (deaf)
        excuse(EXCUSE_SWALLOWED_EVENT);
    return deaf;
}

static void look(struct world *w)
{
    bool before = w->well;
    w->well = all_well(w);
    if (!before || !w->well)
        w->disturbed = w->agenda.now;
    w->n_faults_then = w->n_faults;
    w->epoch_then = w->ensemble.epoch;
    for (int i = 0; i < w->n_clients; i++)
        if (w->clients[i].paused || w->clients[i].io != IO_CONNECTED)
            w->clients[i].apart = w->agenda.now;
    EACH_LAW(w, passed);
}

/* Looking at each step would take longer than the step. */
enum { STEPS = 16 };

static void run_until(struct world *w, instant end, bool (*done)(const struct world *))
{
    for (int i = 0; w->broken == NULL && agenda_next(&w->agenda, end); i++) {
        if (i % STEPS != 0)
            continue;
        look(w);
        if (done(w))
            return;
    }
}

static const char guest[] = "_c_guest-lock-";

static const struct node *find_guest(const struct world *w)
{
    const struct dir *dir = &w->ensemble.truth.dirs[w->observed];
    for (int i = 0; i < dir->n; i++)
        if (strncmp(dir->nodes[i].name, guest, strlen(guest)) == 0)
            return &dir->nodes[i];
    return NULL;
}

static bool made(const struct world *w) { return w->ensemble.truth.dirs[w->observed].exists; }

static bool came(const struct world *w) { return find_guest(w) != NULL; }

static bool left(const struct world *w) { return !came(w); }

/* Two rests after requests that failed, and the round trips. */
static int64_t told_ms(const struct world *w) { return 2000 + world_trips_ms(w, 10); }

static bool all_connected(const struct world *w, int64_t for_ms)
{
    for (int i = 0; i < w->n_clients; i++)
        if (!w->clients[i].dead && !w->clients[i].closes && w->agenda.now - w->clients[i].apart <= for_ms * 1000)
            return false;
    return world_quiet(w, for_ms);
}

/* Where nothing is wrong, a watch tells of a change: no observer waits for the patrol. */
static void tell_all(struct world *w)
{
    run_until(w, w->agenda.now + told_ms(w) * 1000, onlookers_agree);
    if (w->broken == NULL && !onlookers_agree(w) && all_connected(w, told_ms(w)))
        world_break(w, law_observers.name, "an observer is not told for %lld ms of leader %llx", (long long)told_ms(w),
                    (unsigned long long)law_observers_leader(w));
}

static void ask_all(struct world *w, instant limit)
{
    tell_all(w);
    run_until(w, w->agenda.now + limit, onlookers_agree);
    if (w->broken == NULL && !onlookers_agree(w))
        world_break(w, law_observers.name, "not every observer reports leader %llx",
                    (unsigned long long)law_observers_leader(w));
    onlookers_look_last(w);
    run_until(w, w->agenda.now + limit, world_all_done);
    if (w->broken == NULL && !world_all_done(w))
        world_break(w, law_observers.name, "a client is not told who leads");
}

/* A contender of another library comes, and leaves: the observers report it. */
static void observe(struct world *w)
{
    static const struct {
        enum request_kind kind;
        bool (*done)(const struct world *);
    } steps[] = {{REQ_MAKE_DIR, made}, {REQ_CREATE, came}, {REQ_DELETE, left}};
    instant limit = (instant)(20000 + 10 * w->session_ms) * 1000;
    w->finale = true;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && w->broken == NULL; i++) {
        ensemble_administrate(&w->ensemble, steps[i].kind, w->observed, came(w) ? find_guest(w)->name : guest);
        run_until(w, w->agenda.now + limit, steps[i].done);
        ask_all(w, limit);
    }
}

static void close_all(struct world *w)
{
    for (int i = 0; i < w->n_clients && w->broken == NULL; i++) {
        struct client *c = &w->clients[i];
        if (!c->dead && !c->closes)
            fiber_start(c, client_end, c);
    }
}

/* A process that dies takes all it had with it. A thread that resolves names can outlive the close. */
static bool leaves_something(const struct client *c)
{
    return !c->dead && (!c->closed || memory_live(c) > 0 || system_open(c) > 0);
}

static bool nothing_left(const struct world *w)
{
    for (int i = 0; i < w->n_clients; i++)
        if (leaves_something(&w->clients[i]))
            return false;
    return true;
}

static void judge_end(struct world *w, const struct client *c)
{
    bool dropped = client_is_real && c->adopts && c->closed; /* what was in flight on its handle (ZOOKEEPER-2894) */
    if (!leaves_something(c) || dropped)
        return;
    memory_tell(c);
    if (!c->closed)
        world_break(w, "leftover", "client %d is not closed after %d ms", c->id, CLOSED_MS);
    else
        world_break(w, "leftover", "client %d leaves %d pieces of memory and %d descriptors or threads", c->id,
                    memory_live(c), system_open(c));
}

/* The least timeout that a server grants. */
static int64_t granted_ms(const struct world *w)
{
    int64_t least = w->session_ms;
    for (int i = 0; i < w->ensemble.n; i++)
        if (w->ensemble.servers[i].grants_ms < least)
            least = w->ensemble.servers[i].grants_ms;
    return least;
}

/* The mean round trip of a write, in microseconds. A server that follows forwards it, and then it takes a proposal, the
 * acknowledgement and the commit: four delays between servers, each of half the longest in the mean. */
static int64_t trip_us(const struct world *w)
{
    const struct ensemble *e = &w->ensemble;
    int hops = e->n > 1 ? 4 : 0;
    int64_t longest = w->up_delay + w->down_delay + w->inbox_delay + e->disk_delay + (int64_t)hops * e->link_delay;
    int64_t late = 3 * (int64_t)w->late_permille * w->late_delay / 1000;
    return 2 * w->way + (longest + late + (int64_t)e->lag_permille * e->lag_delay / 1000) / 2;
}

/* The mean age of a proof that comes, in milliseconds: three round trips and the gap. */
static int64_t proof_ms(const struct world *w)
{
    return 3 * trip_us(w) / 1000 + pdk__limits(&w->policy, granted_ms(w)).gap_ms;
}

/* A proof leaves little of the timeout: grants are slow. */
static bool slowly(const struct world *w) { return w->way > 0 || 5 * proof_ms(w) > 3 * granted_ms(w); }

/* A grant takes a proof that is younger than most: above the least time, a tenth of the timeout has to be left. Grants
 * are a matter of luck, and no time is enough for all of them. */
static bool by_luck(const struct world *w)
{
    struct pdk__session_limits l = pdk__limits(&w->policy, granted_ms(w));
    return proof_ms(w) + l.margin_ms + l.min_valid_ms + l.timeout_ms / 10 > l.timeout_ms;
}

/* Contenders that had no luck are served once nothing is slow any more. */
static void serve_all(struct world *w)
{
    int served_ms = slowly(w) ? SLOWLY_SERVED_MS : SERVED_MS;
    run_until(w, w->agenda.now + (instant)served_ms * 1000, world_all_done);
    if (w->broken == NULL && !world_all_done(w) && by_luck(w)) {
        excuse(EXCUSE_LUCK);
        STORY(w, "nothing is slow any more");
        world_calm_down(w);
        served_ms += SERVED_MS;
        run_until(w, w->agenda.now + (instant)SERVED_MS * 1000, world_all_done);
    }
    if (w->broken == NULL && !world_all_done(w))
        world_break(w, law_service.name, "somebody is not served %d ms after healing", served_ms);
}

const char *world_run(struct world *w, const struct plan *plan)
{
    begin(w, plan);
    run_until(w, (instant)DISTURBED_MS * 1000, world_all_done);
    faults_heal(w);
    serve_all(w);
    run_until(w, w->agenda.now + (instant)GONE_MS * 1000, all_gone);
    if (w->broken == NULL) {
        EACH_LAW(w, finished);
    }
    if (w->observed >= 0 && w->broken == NULL)
        observe(w);
    close_all(w);
    run_until(w, w->agenda.now + (instant)CLOSED_MS * 1000, nothing_left);
    for (int i = 0; i < w->n_clients && w->broken == NULL; i++)
        judge_end(w, &w->clients[i]);
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
