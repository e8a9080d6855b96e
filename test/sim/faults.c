/* The faults. Each seed draws which kinds happen, and how often. Each fault has a number, by which shrinking can omit
 * it. */
#include "test/sim/world.h"
#include <string.h>

static instant ms(int64_t n) { return n * 1000; }

static const char *const names[N_FAULTS] = {"cuts the connection of client",
                                            "holds packets of client",
                                            "isolates client",
                                            "crashes server",
                                            "pauses server",
                                            "parts server",
                                            "pauses client",
                                            "kills client",
                                            "deletes a node of path",
                                            "writes to a node of path",
                                            "contends on path",
                                            "ends the session of client",
                                            "reaps path",
                                            "takes back what was told to client",
                                            "deposes",
                                            "pauses the leader; not server",
                                            "strands the server of client",
                                            "brings about a late create of client",
                                            "forges a name on path",
                                            "leaves junk on path",
                                            "asks for the lock of path",
                                            "replaces a node of path",
                                            "forges the record of the job, by way"};

static int a_while(struct world *w) { return between(&w->fault_random, 1, (int)w->session_ms * 3); }

/* --- the ends of faults ------------------------------------------------------------------------------------------ */

static void hold_link(struct client *c, int server, bool up, bool down, bool held)
{
    if (up)
        c->up[server].blocked = held;
    if (down)
        c->down[server].blocked = held;
    if (!held) {
        pipe_pump(&c->up[server]);
        pipe_pump(&c->down[server]);
    }
}

static void end_blackhole(void *subject, uint64_t server) { hold_link(subject, (int)server, true, true, false); }

static void end_isolation(void *subject, uint64_t detail)
{
    struct client *c = subject;
    (void)detail;
    for (int i = 0; i < c->world->ensemble.n; i++)
        hold_link(c, i, true, true, false);
}

/* Deliver the messages that waited for a paused server. */
static void pump_clients(struct world *w, int server)
{
    for (int i = 0; i < w->n_clients; i++)
        pipe_pump(&w->clients[i].up[server]);
}

static void end_crash(void *subject, uint64_t detail)
{
    (void)detail;
    server_start(subject);
}

static void end_pause(void *subject, uint64_t detail)
{
    struct server *s = subject;
    (void)detail;
    server_pause(s, false);
    pump_clients(s->e->world, s->id);
}

static void end_partition(void *subject, uint64_t a)
{
    struct ensemble *e = &((struct world *)subject)->ensemble;
    for (int b = 0; b < e->n; b++) {
        ensemble_mend(e, (int)a, b);
        ensemble_mend(e, b, (int)a);
    }
}

static void end_client_pause(void *subject, uint64_t detail)
{
    (void)detail;
    client_pause(subject, false);
}

/* A contender of another library leaves. After the healing all of them leave, also those not yet committed. */
static void end_foreign(void *subject, uint64_t path)
{
    struct world *w = subject;
    const struct dir *dir = &w->ensemble.truth.dirs[path];
    bool left = false;
    if (w->finale)
        return;
    for (int i = 0; i < dir->n && !left; i++)
        left = dir->nodes[i].owner < 0 &&
               ensemble_administrate(&w->ensemble, REQ_DELETE, (int)path, dir->nodes[i].name);
    if (w->healed || (!left && dir->n > 0))
        agenda_add(&w->agenda, ms(300), end_foreign, w, path);
}

/* --- the faults -------------------------------------------------------------------------------------------------- */

static void isolate(struct world *w, struct client *c)
{
    for (int i = 0; i < w->ensemble.n; i++)
        hold_link(c, i, true, true, true);
    agenda_add(&w->agenda, ms(a_while(w)), end_isolation, c, 0);
}

static void crash_one(struct world *w, struct server *s, int for_ms)
{
    server_crash(s);
    for (int i = 0; i < w->n_clients; i++)
        if (w->clients[i].server == s->id && w->clients[i].io == IO_CONNECTED)
            client_cut(&w->clients[i], false, true, chance(&w->fault_random, 500));
    agenda_add(&w->agenda, ms(for_ms), end_crash, s, 0);
}

/* Crash one server, or the whole ensemble. When the ensemble is back, all sessions get a fresh timeout, also those that
 * their clients have given up by then. */
static void crash(struct world *w, struct server *s)
{
    int for_ms = a_while(w);
    bool all = chance(&w->fault_random, 300);
    for (int i = 0; i < w->ensemble.n; i++)
        if (all || i == s->id)
            crash_one(w, &w->ensemble.servers[i], for_ms);
}

/* The links between two servers: one direction, or both. */
enum { TO = 1, FROM = 2 };

static void cut(struct world *w, int a, int b, int which)
{
    bool passes = chance(&w->fault_random, 500);
    if ((which & TO) != 0)
        ensemble_cut(&w->ensemble, a, b, passes);
    if ((which & FROM) != 0)
        ensemble_cut(&w->ensemble, b, a, passes);
}

static void partition(struct world *w, int a)
{
    int all = below(&w->fault_random, 2), which = between(&w->fault_random, TO, TO | FROM);
    int b = (a + 1) % w->ensemble.n;
    for (int i = 0; i < w->ensemble.n; i++)
        if (i != a && (all || i == b))
            cut(w, a, i, which);
    agenda_add(&w->agenda, ms(a_while(w)), end_partition, w, (uint64_t)a);
}

/* The server that a client is connected to is cut off from its leader; if it is the leader, from all its followers. In
 * both directions, or in one. */
static void strand(struct world *w, const struct client *c)
{
    struct server *s = &w->ensemble.servers[c->server];
    int which = between(&w->fault_random, TO, TO | FROM);
    s->mute_at_pong = s->state == SERVER_FOLLOWING && chance(&w->fault_random, 600);
    for (int i = 0; i < w->ensemble.n && !s->mute_at_pong; i++)
        if (i != s->id && (s->state == SERVER_LEADING || s->following == i))
            cut(w, s->id, i, which);
    agenda_add(&w->agenda, ms(a_while(w)), end_partition, w, (uint64_t)s->id);
}

/* The followers leave the leader and elect another. The old leader notices nothing until syncLimit has passed. */
static void depose(struct world *w)
{
    struct ensemble *e = &w->ensemble;
    int leader = e->leader;
    if (leader < 0 || e->n_voters == 1 || e->servers[leader].state != SERVER_LEADING)
        return;
    for (int i = 0; i < e->n; i++)
        if (i != leader) {
            cut(w, leader, i, TO | FROM);
            server_leave(&e->servers[i]);
        }
    agenda_add(&w->agenda, ms(a_while(w)), end_partition, w, (uint64_t)leader);
}

static void stop_server(struct world *w, struct server *s)
{
    server_pause(s, true);
    agenda_add(&w->agenda, ms(a_while(w)), end_pause, s, 0);
}

static void meddle(struct world *w, enum request_kind kind, int path)
{
    const struct dir *dir = &w->ensemble.truth.dirs[path];
    bool all = chance(&w->fault_random, 500);
    int one = below(&w->fault_random, dir->n > 0 ? dir->n : 1);
    for (int i = 0; i < dir->n; i++)
        if (all || i == one)
            ensemble_administrate(&w->ensemble, kind, path, dir->nodes[i].name);
}

static void contend(struct world *w, int path)
{
    char name[PDK__NAME_MAX];
    snprintf(name, sizeof name, "_c_%08x-lock-", (unsigned)draw(&w->fault_random));
    if (w->ensemble.truth.dirs[path].n < NODES_MANY / 2 && ensemble_administrate(&w->ensemble, REQ_CREATE, path, name))
        agenda_add(&w->agenda, ms(a_while(w)), end_foreign, w, (uint64_t)path);
}

/* --- the hostile contender --------------------------------------------------------------------------------------- */

/* A contender's node, borrowed; NULL when there is none. */
static const struct node *victim(struct world *w, int path)
{
    const struct dir *dir = &w->ensemble.truth.dirs[path];
    for (int i = 0, from = dir->n > 0 ? below(&w->fault_random, dir->n) : 0; i < dir->n; i++)
        if (dir->nodes[(from + i) % dir->n].owner >= 0)
            return &dir->nodes[(from + i) % dir->n];
    return NULL;
}

static void plant(struct world *w, int path, const char *name)
{
    if (ensemble_administrate(&w->ensemble, REQ_PLANT, path, name))
        agenda_add(&w->agenda, ms(a_while(w)), end_foreign, w, (uint64_t)path);
}

/* The number of a forged node: below, equal to or above its victim's, or one of the two highest. */
static int64_t forged_sequence(struct world *w, int64_t sequence)
{
    struct random *r = &w->fault_random;
    switch (below(r, 5)) {
    case 0:
        return 0;
    case 1:
        return sequence > 0 ? below(r, (int)sequence) : 0;
    case 2:
        see(SIGHT_FORGED_TIE);
        return sequence;
    case 3:
        return sequence + between(r, 1, 5);
    default:
        return chance(r, 500) ? INT32_MAX : INT32_MAX - 1;
    }
}

/* A name of the victim's session and attempt, or of an attempt soon to come: attempts are counted, and can be
 * guessed. */
static void forge(struct world *w, int path)
{
    static const char *const words[] = {"lock", "latch"};
    const struct node *node = victim(w, path);
    char name[PDK__NAME_MAX];
    if (node == NULL)
        return;
    struct pdk__name parsed = pdk__name_parse(node->name);
    unsigned attempt = parsed.attempt + (unsigned)(chance(&w->fault_random, 500) ? below(&w->fault_random, 6) : 0);
    int64_t sequence = forged_sequence(w, parsed.sequence);
    snprintf(name, sizeof name, "%016llx-%08x-%s-%010lld", (unsigned long long)parsed.session, attempt,
             words[below(&w->fault_random, 4) == 0], (long long)sequence);
    see(SIGHT_FORGED);
    plant(w, path, name);
}

static void litter(struct world *w, int path)
{
    static const char *const junk[] = {"config", "lock-", "notes-000000012", "_c_-lock-0000000000", "-0000000001"};
    plant(w, path, junk[below(&w->fault_random, sizeof junk / sizeof *junk)]);
}

/* A node of the name that a victim's renewals ask for: its own without the number. */
static void occupy(struct world *w, int path)
{
    const struct node *node = victim(w, path);
    char name[PDK__NAME_MAX];
    size_t n = node != NULL ? strlen(node->name) : 0;
    if (n <= 10)
        return;
    snprintf(name, sizeof name, "%.*s", (int)n - 10, node->name);
    plant(w, path, name);
}

/* Delete a contender's node, and create another of its name. */
static void replace(struct world *w, int path)
{
    const struct node *node = victim(w, path);
    char name[PDK__NAME_MAX];
    if (node == NULL)
        return;
    strcpy(name, node->name);
    see(SIGHT_REPLACED);
    if (ensemble_administrate(&w->ensemble, REQ_DELETE, path, name))
        plant(w, path, name);
}

static void kill_session(struct world *w, const struct client *c)
{
    struct ensemble *e = &w->ensemble;
    if (c->session < 0 || e->leader < 0 || !tree_alive(&e->truth, c->session))
        return;
    w->ended_by_order |= UINT64_C(1) << c->session;
    leader_expire(&e->servers[e->leader], c->session);
}

static void hold_packets(struct world *w, struct client *c)
{
    int which = between(&w->fault_random, 1, 3);
    hold_link(c, c->server, (which & 1) != 0, (which & 2) != 0, true);
    agenda_add(&w->agenda, ms(a_while(w)), end_blackhole, c, (uint64_t)c->server);
}

/* The servers were restored from a backup older than the state that the client has seen: they always refuse it. */
static void outrun(struct client *c)
{
    if (c->io == IO_IDLE || c->adopts) /* its program would open another handle */
        return;
    client_cut(c, true, true, true);
    c->seen_zxid = INT64_MAX;
}

static void stop(struct world *w, struct client *c)
{
    if (w->suspends && chance(&w->fault_random, 700))
        client_suspend(c);
    else
        client_pause(c, true);
    agenda_add(&w->agenda, ms(a_while(w)), end_client_pause, c, 0);
}

/* Those of the mutexes, then the leader's, then the read/write lock's, then the two of the semaphore. */
static int faults_paths(const struct world *w)
{
    return (w->elects ? ELECTION_PATH + 1 : w->n_paths) + w->shares + (w->permits > 0 ? 2 : 0);
}

static int fault_path(const struct world *w, int whom)
{
    int path = whom % faults_paths(w);
    int from_end = faults_paths(w) - 1 - path;
    if (w->permits > 0)
        return from_end == 0 ? LEASE_PATH : from_end == 1 ? GATE_PATH : path;
    return w->shares && from_end == 0 ? SHARED_PATH : path;
}

/* Throws in one list of arguments would come in the order that a compiler chooses: other machines, other histories. */
static void cut_somehow(struct client *c, struct random *r)
{
    bool lose_down = chance(r, 700), lose_up = chance(r, 500), told = chance(r, 500);
    client_cut(c, told, lose_up, lose_down);
}

static void happen(struct world *w, enum fault fault, int whom)
{
    struct random *r = &w->fault_random;
    struct client *c = &w->clients[whom % w->n_clients];
    struct server *s = &w->ensemble.servers[whom % w->ensemble.n];
    int path = fault_path(w, whom);
    switch (fault) {
    case FAULT_CUT:
        cut_somehow(c, r);
        break;
    case FAULT_BLACKHOLE:
        hold_packets(w, c);
        break;
    case FAULT_ISOLATE:
        isolate(w, c);
        break;
    case FAULT_LATE_CREATE:
        late_create_begin(w, c);
        break;
    case FAULT_CRASH:
        crash(w, s);
        break;
    case FAULT_PAUSE:
        stop_server(w, s);
        break;
    case FAULT_PAUSE_LEADER:
        stop_server(w, w->ensemble.leader >= 0 ? &w->ensemble.servers[w->ensemble.leader] : s);
        break;
    case FAULT_STRAND:
        strand(w, c);
        break;
    case FAULT_PARTITION:
        partition(w, s->id);
        break;
    case FAULT_CLIENT_PAUSE:
        stop(w, c);
        break;
    case FAULT_CLIENT_CRASH:
        client_crash(c);
        break;
    case FAULT_DELETE:
        meddle(w, REQ_DELETE, path);
        break;
    case FAULT_WRITE:
        meddle(w, REQ_SET, path);
        break;
    case FAULT_FOREIGN:
        contend(w, path);
        break;
    case FAULT_KILL_SESSION:
        kill_session(w, c);
        break;
    case FAULT_DEPOSE:
        depose(w);
        break;
    case FAULT_AHEAD:
        outrun(c);
        break;
    case FAULT_FORGE:
        forge(w, path);
        break;
    case FAULT_JUNK:
        if (chance(r, 500))
            litter(w, path);
        else
            occupy(w, path);
        break;
    case FAULT_REVOKE:
        meddle(w, chance(r, 500) ? REQ_REVOKE : REQ_REVOKE_BARE, path);
        break;
    case FAULT_REPLACE:
        replace(w, path);
        break;
    case FAULT_RECORD:
        forgeries_write(w, (enum forgery)(whom % N_FORGERIES));
        break;
    default:
        if (w->ensemble.truth.dirs[path].used && w->lock_delay_ms == 0) /* with a lock delay the path is no container */
            ensemble_administrate(&w->ensemble, REQ_REMOVE_DIR, path, "");
    }
}

/* --- the process of them ----------------------------------------------------------------------------------------- */

static enum fault pick(struct world *w)
{
    int sum = 0, i = 0;
    for (int f = 0; f < N_FAULTS; f++)
        sum += w->weights[f];
    for (int at = below(&w->fault_random, sum); i < N_FAULTS - 1 && at >= w->weights[i]; i++)
        at -= w->weights[i];
    return (enum fault)i;
}

static void strike(struct world *w, enum fault fault, int whom)
{
    int number = w->n_faults++;
    struct random after = {draw(&w->fault_random)};
    if (w->plan.spared == NULL || !w->plan.spared[number]) {
        static const int modulus[] = {0, 0, 0, 1, 1, 1, 0, 0, 2, 2, 2, 0, 2, 0, 1, 1, 0, 0, 2, 2, 2, 2, 3};
        int n[] = {w->n_clients, w->ensemble.n, faults_paths(w), N_FORGERIES};
        STORY(w, "fault %d %s %d", number, names[fault], whom % n[modulus[fault]]);
        w->faults_done[fault]++;
        w->n_faults_then += fault == FAULT_JUNK; /* no news: with it all happens as without it */
        happen(w, fault, whom);
    }
    w->fault_random = after;
}

/* No more faults when the sessions left may not suffice for every client to come back. */
static bool enough(const struct world *w)
{
    return w->healed || w->n_faults == FAULTS_MAX || w->n_sessions > SESSIONS_MAX - 8 * CLIENTS_MAX;
}

static void go_wrong(void *subject, uint64_t detail)
{
    struct world *w = subject;
    (void)detail;
    if (enough(w))
        return;
    enum fault fault = pick(w);
    strike(w, fault, below(&w->fault_random, 60));
    agenda_add(&w->agenda, ms(between(&w->fault_random, 1, 2 * w->fault_gap_ms)), go_wrong, w, 0);
}

static void cut_later(void *subject, uint64_t client)
{
    if (!enough(subject))
        strike(subject, FAULT_CUT, (int)client);
}

static bool hunts(struct world *w, int permille)
{
    return permille > 0 && !enough(w) && chance(&w->fault_random, permille);
}

/* The worst moment: the last touch is proven, and no newer one is in transit. Then the server is stranded or its leader
 * deposed, and the client's connection may break within a session timeout. */
void faults_at_proof(struct world *w, const struct client *c)
{
    if (!hunts(w, w->hunt_proof_permille))
        return;
    bool astray = chance(&w->fault_random, 700);
    bool cut_too = chance(&w->fault_random, 300);
    instant soon = 1 + below(&w->fault_random, (int)w->session_ms * 1000);
    strike(w, astray ? FAULT_STRAND : FAULT_DEPOSE, c->id);
    if (cut_too)
        agenda_add(&w->agenda, soon, cut_later, w, (uint64_t)c->id);
}

/* Or the moment when a write is in transit that may become proof. */
void faults_at_write(struct world *w, const struct client *c)
{
    if (hunts(w, w->hunt_write_permille))
        strike(w, FAULT_STRAND, c->id);
}

/* Or the moment after an unlock: the user's next create is to land late. */
void faults_at_deletion(struct world *w, const struct client *c)
{
    if (late_create_may_begin(w, c) && hunts(w, w->hunt_late_permille))
        strike(w, FAULT_LATE_CREATE, c->id);
}

/* Or the moment when a holder writes the record of its job: it has read an older one. */
void faults_at_record(struct world *w)
{
    if (hunts(w, w->hunt_record_permille))
        strike(w, FAULT_RECORD, below(&w->fault_random, N_FORGERIES));
}

static bool may_happen(const struct world *w, enum fault f)
{
    static const enum fault tense[] = {FAULT_CUT,   FAULT_BLACKHOLE,    FAULT_STRAND,      FAULT_DEPOSE,
                                       FAULT_PAUSE, FAULT_PAUSE_LEADER, FAULT_CLIENT_PAUSE};
    bool may = !w->tense;
    if (w->cuts)
        return f == FAULT_CUT;
    for (size_t i = 0; i < sizeof tense / sizeof *tense; i++)
        may |= f == tense[i];
    return may && !w->calm;
}

/* Half of the hostile contenders may delete as well as create. */
static bool may_be_hostile(const struct world *w, int fault, bool deletes)
{
    return (fault != FAULT_REPLACE || deletes) && (fault != FAULT_RECORD || w->jobs);
}

/* Their faults come on top of the seed's others. */
static int hostility(struct world *w)
{
    struct random *r = &w->fault_random;
    int sum = 0;
    for (int f = FAULT_FORGE; f < N_FAULTS; f++)
        w->weights[f] = 0;
    if (!w->hostile)
        return 0;
    bool deletes = chance(r, 500);
    for (int f = FAULT_FORGE; f < N_FAULTS; f++)
        sum += w->weights[f] = may_be_hostile(w, f, deletes) ? between(r, 1, 10) : 0;
    w->weights[FAULT_WRITE] += 2;
    w->weights[FAULT_DELETE] += deletes ? 2 : 0;
    return sum + 2 + (deletes ? 2 : 0);
}

void faults_begin(struct world *w)
{
    struct random *r = &w->fault_random;
    int sum = 0;
    for (int f = 0; f < FAULT_LATE_CREATE; f++)
        sum += w->weights[f] = (w->cuts || chance(r, 400)) && may_happen(w, (enum fault)f) ? between(r, 1, 10) : 0;
    if (w->suspends && may_happen(w, FAULT_CLIENT_PAUSE)) {
        sum += 5;
        w->weights[FAULT_CLIENT_PAUSE] += 5;
    }
    if (w->weights[FAULT_CLIENT_CRASH] > 1)
        w->weights[FAULT_CLIENT_CRASH] = 1;
    w->fault_gap_ms = between(r, 20, 2000);
    if (w->cuts)
        w->fault_gap_ms = between(r, 20, 120);
    sum += hostility(w);
    if (sum > 0 && !w->plan.exhaustive)
        agenda_add(&w->agenda, ms(between(r, 1, 500)), go_wrong, w, 0);
}

void faults_heal(struct world *w)
{
    w->healed = true;
    STORY(w, "everything is healed");
    if (w->tense)
        world_calm_down(w);
    for (int i = 0; i < w->ensemble.n; i++) {
        server_start(&w->ensemble.servers[i]);
        end_pause(&w->ensemble.servers[i], 0);
        end_partition(w, (uint64_t)i);
    }
    for (int i = 0; i < w->n_clients; i++) {
        end_isolation(&w->clients[i], 0);
        client_pause(&w->clients[i], false);
    }
    for (int p = 0; p < PATHS; p++)
        end_foreign(w, (uint64_t)p);
}

/* --- exhaustively ------------------------------------------------------------------------------------------------ */

static enum act act_now(const struct world *w)
{
    for (int i = 0; i < 2 && w->plan.exhaustive; i++)
        if (w->plan.act[i] != ACT_NONE && w->n_requests == w->plan.act_at[i])
            return (enum act)w->plan.act[i];
    return ACT_NONE;
}

/* The reply and all messages after it are lost. Then the client connects to the same server, or to another. */
static void lose_reply(void *subject, uint64_t detail)
{
    struct client *c = subject;
    int server = c->server, n = c->world->ensemble.n;
    c->down[server].blocked = false;
    if (c->attempts != (unsigned)(detail >> 1))
        return;
    client_cut(c, true, false, true);
    if ((detail & 1) != 0)
        c->server = (server + n - 1) % n;
}

void faults_at_request(struct world *w, struct client *c, bool before)
{
    enum act act = act_now(w);
    if (act == ACT_NONE || before != (act == ACT_LOSE_REQUEST))
        return;
    STORY(w, "request %d of client %d: %s", w->n_requests, c->id, before ? "lost" : "its reply lost");
    w->n_faults++;
    if (before) {
        client_cut(c, true, false, false);
        return;
    }
    if (act == ACT_EXPIRE)
        kill_session(w, c);
    c->down[c->server].blocked = true;
    agenda_add(&w->agenda, ms(40), lose_reply, c, (uint64_t)c->attempts << 1 | (act == ACT_LOSE_REPLY));
}
