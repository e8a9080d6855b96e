/*
 * The onlookers: threads of a client that list a path, ask for its leader, and intervene in its contenders; and an
 * observer beside each. The answers and reports of the library are judged here, at once.
 */
#include "test/sim/laws.h"
#include <paddock.h>
#include <string.h>

static const char law[] = "onlooker";

static instant ms(int64_t n) { return n * 1000; }

/* --- what is reported -------------------------------------------------------------------------------------------- */

/* A node whose data were overwritten by a revocation request alone has no id. */
static void judge_report(struct onlooker *k, const char *id, int64_t token)
{
    struct world *w = k->client->world;
    if ((id == NULL) != (token == 0) || (id != NULL && strcmp(id, "sim") != 0 && *id != '\0'))
        world_break(w, law, "leader %llx is reported as %s", (unsigned long long)token, id != NULL ? id : "none");
    if (k->reported && token == k->token)
        world_break(w, law, "leader %llx is reported twice", (unsigned long long)token);
    if (k->stopped)
        world_break(w, law, "an observer reports that was freed in its callback");
    law_observers_judge(w, k->path, token);
}

static void free_observer(struct onlooker *k)
{
    if (pdk_leader_observer_free(k->observer) != 0)
        world_break(k->client->world, law, "client %d cannot free its observer", k->client->id);
    k->observer = NULL;
}

static void changed(const char *id, int64_t token, void *arg)
{
    struct onlooker *k = arg;
    struct world *w = k->client->world;
    pdk_contender_list *list;
    STORY(w, "client %d observer: path %d is led by %llx", k->client->id, k->path, (unsigned long long)token);
    judge_report(k, id, token);
    see(token != 0 ? SIGHT_OBSERVED : SIGHT_OBSERVED_NONE);
    k->reported = true;
    k->token = token;
    if (chance(&w->random, 50) && pdk_contenders(k->client->library, k->name, 1, 0, &list) != PDK_EDEADLK)
        world_break(w, law, "a callback may wait");
    if (w->healed || !chance(&w->random, 20))
        return;
    k->stopped = true;
    free_observer(k);
}

/* --- what is listed ---------------------------------------------------------------------------------------------- */

static bool is_junk(const pdk_contender_list *list, size_t i)
{
    return pdk_contender_number(list, i, PDK_CONTENDER_DIALECT) == PDK_DIALECT_JUNK;
}

/* Junk comes last. */
static bool is_led(const pdk_contender_list *list) { return pdk_contender_list_size(list) > 0 && !is_junk(list, 0); }

/* The token of the leader, from a list whose first node was read; 0: there is none, or it may not be looked at. */
static int64_t leader_in(const pdk_contender_list *list)
{
    return is_led(list) ? pdk_contender_number(list, 0, PDK_CONTENDER_TOKEN) : 0;
}

static const struct node *node_of(struct world *w, int path, int64_t token)
{
    const struct dir *dir = &w->ensemble.truth.dirs[path];
    for (int i = 0; i < dir->n; i++)
        if (dir->nodes[i].czxid == token)
            return &dir->nodes[i];
    return NULL;
}

/* The data of a node are "sim" alone, which is read as a host, or were not read. */
static void judge_properties(struct world *w, const pdk_contender_list *list, size_t i, const struct node *node)
{
    size_t size;
    const char *data = pdk_contender_data(list, i, &size);
    bool anonymous = strcmp(pdk_contender_text(list, i, PDK_CONTENDER_HOST), data) == 0 &&
                     *pdk_contender_text(list, i, PDK_CONTENDER_LABEL) == '\0' &&
                     pdk_contender_number(list, i, PDK_CONTENDER_PID) == 0 &&
                     pdk_contender_number(list, i, PDK_CONTENDER_THREAD) == 0 &&
                     !pdk_contender_number(list, i, PDK_CONTENDER_CONFIRMED) &&
                     pdk_contender_number(list, i, PDK_CONTENDER_LOCK_DELAY_MS) == 0;
    bool of_owner = pdk_contender_number(list, i, PDK_CONTENDER_SESSION) ==
                    (node->owner >= 0 ? world_session_id(node->owner) : 0);
    bool junk = is_junk(list, i), wrapped = strstr(node->name, "--") != NULL;
    if (!anonymous || !of_owner || (junk || wrapped) != (pdk_contender_number(list, i, PDK_CONTENDER_SEQUENCE) < 0) ||
        (size > 0 && strcmp(data, "sim") != 0) ||
        (pdk_contender_number(list, i, PDK_CONTENDER_DATA_OMITTED) > 0 && !node->secret))
        world_break(w, law, "%s is listed with properties that it has not", node->name);
}

/* A node of the list was there once. */
static void judge_item(struct onlooker *k, const pdk_contender_list *list, size_t i)
{
    struct world *w = k->client->world;
    int64_t token = pdk_contender_number(list, i, PDK_CONTENDER_TOKEN);
    if (token != 0 && !world_created(w, k->path, pdk_contender_text(list, i, PDK_CONTENDER_NAME), token))
        world_break(w, law, "%s is listed, which never was", pdk_contender_text(list, i, PDK_CONTENDER_NAME));
    const struct node *node = token != 0 ? node_of(w, k->path, token) : NULL;
    if (node != NULL)
        judge_properties(w, list, i, node);
}

/* One whose node may be looked at has a token. */
static void judge_leader(struct onlooker *k, const pdk_contender_list *list)
{
    struct world *w = k->client->world;
    int64_t token = leader_in(list);
    law_observers_judge(w, k->path, token);
    if (token == 0 && pdk_contender_number(list, 0, PDK_CONTENDER_READABLE))
        world_break(w, law, "%s leads, and was not read", pdk_contender_text(list, 0, PDK_CONTENDER_NAME));
}

/* A look at a path has no other answers; nor the removal of a node, but where a hostile contender's has a child. */
static void judge_rc(struct onlooker *k, int rc)
{
    bool closes = rc == PDK_ECLOSED && k->client->closes, refused = rc == PDK_EAUTH && k->client->auth_failed;
    bool parent = rc == PDK_EREFUSED && k->client->world->hostile;
    if (rc != 0 && rc != PDK_ETIMEDOUT && rc != PDK_ENOMEM && !closes && !refused && !parent)
        world_break(k->client->world, law, "client %d cannot look: %s", k->client->id, pdk_strerrorname(rc));
}

static int look(struct onlooker *k, pdk_contender_list **list)
{
    static const size_t n[] = {1, PDK_CONTENDERS_ALL, 2};
    struct world *w = k->client->world;
    pdk_client *library = k->client->library;
    int kind = below(&w->random, 3);
    instant since = w->agenda.now;
    int64_t timeout_ms = chance(&w->random, 300) ? PDK_FOREVER : between(&w->random, 1, 4000);
    int rc = pdk_contenders(library, k->name, n[kind], timeout_ms, list);
    STORY(w, "client %d onlooker: look of kind %d answers %s", k->client->id, kind, pdk_strerrorname(rc));
    judge_rc(k, rc);
    if (rc != 0)
        return rc;
    for (size_t i = 0; i < pdk_contender_list_size(*list); i++)
        judge_item(k, *list, i);
    if (kind == 0 && is_led(*list))
        judge_leader(k, *list);
    if (kind == 0 && !is_led(*list))
        law_observers_judge_none(w, since);
    see(SIGHT_SURVEYED);
    return 0;
}

/* --- interventions ----------------------------------------------------------------------------------------------- */

static void judge_removal(struct onlooker *k, int64_t token, int rc)
{
    if (rc == 0 && node_of(k->client->world, k->path, token) != NULL)
        world_break(k->client->world, law, "%llx is removed, and there", (unsigned long long)token);
    if (rc == 0)
        see(SIGHT_REMOVED);
}

/* Another may have overwritten the request. */
static void judge_revocation(struct onlooker *k, int64_t token, int rc)
{
    struct world *w = k->client->world;
    const struct node *node = node_of(w, k->path, token);
    if (rc == 0 && node != NULL && node->data == DATA_OWN && w->faults_done[FAULT_WRITE] == 0)
        world_break(w, law, "%s is asked for its lock, and carries no request", node->name);
    if (rc == 0)
        see(SIGHT_ASKED);
}

static void intervene(struct onlooker *k, const pdk_contender_list *list)
{
    struct world *w = k->client->world;
    size_t n = pdk_contender_list_size(list), i = chance(&w->random, 700) ? 0 : (size_t)below(&w->random, (int)n);
    int64_t token = pdk_contender_number(list, i, PDK_CONTENDER_TOKEN), timeout_ms = between(&w->random, 100, 4000);
    bool removes = chance(&w->random, 400);
    int rc;
    fiber_block(k, ms(chance(&w->random, 500) ? 0 : below(&w->random, 1000)));
    int64_t before_ms = client_now_ms(k->client);
    if (removes && token != 0)
        world_order_removal(w, token, pdk_contender_text(list, i, PDK_CONTENDER_NAME));
    if (removes)
        rc = pdk_contender_remove(k->client->library, list, i, timeout_ms);
    else
        rc = pdk_contender_revoke(k->client->library, list, i, timeout_ms);
    STORY(w, "client %d onlooker: %s %s answers %s", k->client->id, removes ? "remove" : "revoke",
          pdk_contender_text(list, i, PDK_CONTENDER_NAME), pdk_strerrorname(rc));
    if (removes)
        judge_removal(k, token, rc);
    else
        judge_revocation(k, token, rc);
    if (rc == PDK_EUNKNOWN && client_now_ms(k->client) < before_ms + timeout_ms && !k->client->closes)
        world_break(w, law, "client %d stops trying to intervene", k->client->id);
    if (rc != PDK_ENOENT && rc != PDK_EUNKNOWN && (rc != PDK_EACCES || (token != 0 && !w->secretive)))
        judge_rc(k, rc);
}

/* --- the thread -------------------------------------------------------------------------------------------------- */

static void look_once(struct onlooker *k)
{
    pdk_contender_list *list;
    if (look(k, &list) != 0)
        return;
    if (k->meddles && !k->client->world->healed && pdk_contender_list_size(list) > 0)
        intervene(k, list);
    pdk_contender_list_free(list);
}

void *onlooker_run(void *arg)
{
    struct onlooker *k = arg;
    struct random *r = &k->client->world->random;
    k->meddles = chance(r, 400) && !k->client->world->calm;
    for (k->rounds = between(r, 1, 4); k->rounds > 0 && !k->client->closes; k->rounds--) {
        fiber_block(k, ms(between(r, 1, chance(r, 500) ? 300 : 5000)));
        look_once(k);
    }
    k->rounds = 0;
    return NULL;
}

/* --- birth and end ----------------------------------------------------------------------------------------------- */

/* It is tried again until there is memory for it. A client that was not let in meanwhile has no observer. */
void onlooker_begin(struct onlooker *k, struct client *c)
{
    struct world *w = c->world;
    int rc;
    k->client = c;
    k->path = w->observed;
    k->name[0] = '/';
    k->name[1] = (char)('0' + k->path);
    while ((rc = pdk_leader_observe(&k->observer, c->library, k->name, changed, k)) == PDK_ENOMEM)
        fiber_block(c, 1000);
    if (rc != 0 && !(rc == PDK_EAUTH && c->auth_failed))
        world_break(w, law, "client %d cannot observe: %s", c->id, pdk_strerrorname(rc));
}

void onlooker_end(struct onlooker *k) { free_observer(k); }

/* --- the last look ----------------------------------------------------------------------------------------------- */

static bool observes(const struct client *c)
{
    return !c->dead && !c->closes && !c->auth_failed && c->ready && c->onlooker.observer != NULL;
}

static bool caught_up(const struct ensemble *e)
{
    for (int i = 0; i < e->n; i++)
        if (e->servers[i].n_committed < e->n_committed)
            return false;
    return true;
}

/* A node with a number that a client chose was first, and is there: a node that comes later may be ahead of it. */
static bool reports_planted(const struct world *w, const struct onlooker *k)
{
    const struct dir *dir = &w->ensemble.truth.dirs[k->path];
    for (int i = 0; i < dir->n; i++)
        if (dir->nodes[i].czxid == k->token && dir->nodes[i].planted)
            return true;
    return false;
}

static bool agrees(const struct world *w, const struct onlooker *k)
{
    if (k->reported && k->token == law_observers_leader(w))
        return true;
    bool planted = k->reported && reports_planted(w, k);
    if (planted || w->secretive)
        excuse(planted ? EXCUSE_PLANTED_LEADER : EXCUSE_SECRET_LEADER);
    return planted || w->secretive;
}

bool onlookers_agree(const struct world *w)
{
    if (!caught_up(&w->ensemble))
        return false;
    for (int i = 0; i < w->n_clients; i++)
        if (observes(&w->clients[i]) && !agrees(w, &w->clients[i].onlooker))
            return false;
    return true;
}

/* A client that is being closed may still change something, and a server may not know of it yet. */
static void *look_last(void *arg)
{
    struct onlooker *k = arg;
    struct world *w = k->client->world;
    pdk_contender_list *list;
    int n_committed = w->ensemble.n_committed;
    bool level = caught_up(&w->ensemble);
    int rc = pdk_contenders(k->client->library, k->name, 1, PDK_FOREVER, &list);
    int64_t token = rc == 0 ? leader_in(list) : 0;
    bool wrong = token != law_observers_leader(w) && level && n_committed == w->ensemble.n_committed;
    bool over = (rc == PDK_ECLOSED && k->client->closes) || (rc == PDK_EAUTH && k->client->auth_failed);
    if (rc == 0 ? wrong : !over)
        world_break(w, law, "client %d is answered %s, leader %llx", k->client->id, pdk_strerrorname(rc),
                    (unsigned long long)token);
    if (rc == 0)
        pdk_contender_list_free(list);
    k->rounds = 0;
    return NULL;
}

void onlookers_look_last(struct world *w)
{
    for (int i = 0; i < w->n_clients; i++)
        if (observes(&w->clients[i])) {
            w->clients[i].onlooker.rounds = 1;
            fiber_start(&w->clients[i], look_last, &w->clients[i].onlooker);
        }
}
