#include "test/chaos/nemesis.h"

#include "test/lib/check.h"
#include <stdio.h>

enum { WELL_MS = 90000 };

const struct fault_kind *fault_kind(enum fault_id id)
{
    enum fault_sort sort = fault_sort(id);
    return sort == SORT_CLIENT ? &client_faults[id] : sort == SORT_SERVER ? &server_faults[id] : &admin_faults[id];
}

/* --- a seed's character ------------------------------------------------------------------------------------------ */

/* Some kinds not at all, others often: what always comes together hides what comes alone. */
static void weigh(struct nemesis *n)
{
    for (int i = 0; i < N_FAULTS; i++) {
        bool left_out = dice_chance(&n->dice, 20);
        int weight = left_out ? 0 : fault_kind((enum fault_id)i)->weight * dice_between(&n->dice, 1, 4);
        n->weight[i] = n->workers->secure && fault_needs_messages((enum fault_id)i) ? 0 : weight;
    }
}

void nemesis_begin(struct nemesis *n, struct workers *workers, struct history *log, uint64_t seed)
{
    *n = (struct nemesis){.workers = workers, .e = workers->e, .log = log};
    dice_seed(&n->dice, seed);
    weigh(n);
    admin_open(n);
}

void nemesis_end(struct nemesis *n)
{
    if (n->zh != NULL)
        zookeeper_close(n->zh);
    n->zh = NULL;
}

/* --- one fault --------------------------------------------------------------------------------------------------- */

static void note(struct nemesis *n, const struct fault *f, enum event event)
{
    struct record r = {.event = event, .kind = (int32_t)f->id, .token = f->serial, .rc = f->victim, .session = f->took};
    r.valid_ms = (int64_t)f->lane;
    if (fault_sort(f->id) == SORT_CLIENT)
        r.pid = (int32_t)n->workers->places[f->victim].program.pid;
    snprintf(r.node, sizeof r.node, "%.55s", f->node);
    history_write(n->log, &r);
}

/* Holders do not unlock while a fault is active that they should live through. */
static void linger(struct nemesis *n, bool more)
{
    int lingers = more;
    for (int i = 0; i < n->n_active; i++)
        lingers |= n->active[i].lingers;
    for (int i = 0; i < n->workers->n; i++)
        atomic_store(&n->workers->places[i].history->linger, lingers);
}

static bool busy(const struct nemesis *n, enum fault_sort sort, int victim)
{
    for (int i = 0; i < n->n_active; i++)
        if (fault_sort(n->active[i].id) == sort && (sort != SORT_CLIENT || n->active[i].victim == victim))
            return true;
    return false;
}

static int holder(const struct nemesis *n)
{
    for (int i = 0; i < n->workers->n; i++)
        if (atomic_load(&n->workers->places[i].history->holding))
            return i;
    return -1;
}

/* In 65 of 100 cases a holder, if there is one within 200 ms, for faults against holders find more; else any place. */
static int choose_place(struct nemesis *n)
{
    int i = dice_below(&n->dice, n->workers->n), found = -1;
    int64_t until = now_ns() + 200 * INT64_C(1000000);
    if (dice_chance(&n->dice, 65))
        while ((found = holder(n)) < 0 && now_ns() < until)
            pdk__test_nap();
    return found >= 0 ? found : i;
}

static void begin_chosen(struct nemesis *n, struct fault *f)
{
    const struct fault_kind *k = fault_kind(f->id);
    int64_t pm = dice_between(&n->dice, k->low_pm, k->high_pm);
    note(n, f, FAULT_BEGINS);
    n->serial++;
    if (!k->begin(n, f)) {
        f->took = false;
        note(n, f, FAULT_ENDS);
        return;
    }
    f->until_ns = now_ns() + pm * n->workers->session_ms * INT64_C(1000);
    n->active[n->n_active++] = *f;
    if (fault_sort(f->id) == SORT_SERVER)
        n->well_ns = 0;
}

/* A holder that is to live through the fault must not unlock while the fault begins. */
static void begin(struct nemesis *n, enum fault_id id)
{
    struct fault f = {.id = id, .victim = -1, .serial = n->serial + 1};
    f.lingers = fault_kind(id)->lingers && dice_chance(&n->dice, 75);
    linger(n, f.lingers);
    if (fault_sort(id) == SORT_CLIENT)
        f.victim = choose_place(n);
    if (n->n_active < ACTIVE_MAX && !busy(n, fault_sort(id), f.victim))
        begin_chosen(n, &f);
    linger(n, false);
}

static void end(struct nemesis *n, int i)
{
    struct fault f = n->active[i];
    const struct fault_kind *k = fault_kind(f.id);
    if (k->end != NULL)
        k->end(n, &f);
    n->active[i] = n->active[--n->n_active];
    note(n, &f, FAULT_ENDS);
    linger(n, false);
}

/* --- all of them ------------------------------------------------------------------------------------------------- */

static enum fault_id choose_kind(struct nemesis *n, enum fault_sort sort)
{
    int sum = 0;
    for (int i = 0; i < N_FAULTS; i++)
        sum += fault_sort((enum fault_id)i) == sort ? n->weight[i] : 0;
    int roll = sum > 0 ? dice_below(&n->dice, sum) : 0;
    for (int i = 0; i < N_FAULTS; i++)
        if (fault_sort((enum fault_id)i) == sort && (roll -= n->weight[i]) < 0)
            return (enum fault_id)i;
    return sort == SORT_CLIENT ? FAULT_CUT : sort == SORT_SERVER ? FAULT_FOLLOWER_CUT : FAULT_NODE_DELETED;
}

/* Servers that were hurt get a while to be well again, or nothing would ever be granted. */
static void look_after(struct nemesis *n)
{
    for (int i = 0; i < n->e->n; i++)
        if (!pdk__server_running(n->e->server[i]) || pdk__server_ask_role(n->e->server[i]) == PDK__SERVER_NONE)
            return;
    n->well_ns = now_ns();
}

/* An administrator's work needs servers that answer. */
static bool may_end(const struct nemesis *n, int i)
{
    return fault_sort(n->active[i].id) != SORT_ADMIN || n->well_ns != 0;
}

static void turn(struct nemesis *n)
{
    for (int i = n->n_active - 1; i >= 0; i--) {
        const struct fault_kind *k = fault_kind(n->active[i].id);
        if (now_ns() >= n->active[i].until_ns && may_end(n, i))
            end(n, i);
        else if (k->again != NULL)
            k->again(n, &n->active[i]);
    }
    if (n->well_ns == 0 && !busy(n, SORT_SERVER, -1))
        look_after(n);
    admin_mend(n, n->well_ns != 0 && !busy(n, SORT_SERVER, -1));
    if (n->unsure && n->well_ns != 0 && !busy(n, SORT_ADMIN, -1))
        admin_renew(n);
    workers_check(n->workers);
}

static void strike(struct nemesis *n)
{
    int roll = dice_below(&n->dice, 100);
    enum fault_sort sort = roll < 70 ? SORT_CLIENT : roll < 88 ? SORT_SERVER : SORT_ADMIN;
    if (sort != SORT_SERVER || n->well_ns != 0)
        begin(n, choose_kind(n, sort));
}

/* Six pauses in 100 are a calm of 4 to 7 s, in which hand-overs can be measured. */
static int pause_ms(struct nemesis *n)
{
    return dice_chance(&n->dice, 6) ? dice_between(&n->dice, 4000, 7000) : dice_between(&n->dice, 50, 1200);
}

void nemesis_run(struct nemesis *n, int64_t ms)
{
    int64_t until = now_ns() + ms * 1000000, next = now_ns();
    while (now_ns() < until) {
        turn(n);
        if (now_ns() >= next) {
            strike(n);
            next = now_ns() + pause_ms(n) * INT64_C(1000000);
            history_write(n->log, &(struct record){.event = WALL, .token = wall_ns()});
        }
        pdk__test_nap();
        pdk__test_nap();
        pdk__test_nap();
    }
}

void nemesis_heal(struct nemesis *n)
{
    for (int i = n->n_active - 1; i >= 0; i--)
        if (fault_sort(n->active[i].id) != SORT_ADMIN)
            end(n, i);
    pdk__ensemble_heal(n->e);
    n->well_ns = now_ns();
    CHECK_WITHIN(WELL_MS, zoo_state(n->zh) == ZOO_CONNECTED_STATE);
    while (n->n_active > 0)
        end(n, n->n_active - 1);
    admin_renew(n);
    history_write(n->log, &(struct record){.event = HEALED});
}
