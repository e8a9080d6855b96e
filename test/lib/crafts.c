#include "test/lib/crafts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static told_cb tell;

/* The end of a leader's term is a loss, too, and its beginning a state. */
static void on_event(pdk_lock *l, const pdk_event *event, void *arg)
{
    (void)l, (void)arg;
    if (event->kind == PDK_EVENT_DEPOSED)
        tell(PDK_LOST, event->token);
    else if (event->kind == PDK_EVENT_ELECTED || event->kind == PDK_EVENT_STATE)
        tell(event->state, event->token);
}

static void put_part(struct record *part, enum lane lane, int64_t token)
{
    part->rc = (int)lane;
    part->token = token;
}

/* --- a read/write lock ------------------------------------------------------------------------------------------- */

static pdk_rwlock *rwlock;

static int make_rwlock(pdk_client *c, told_cb cb, const struct craft_options *options)
{
    tell = cb;
    pdk_lock_options *o = pdk_lock_options_new();
    int rc = o != NULL ? pdk_lock_options_set_keep(o, 0, options->idle ? KEPT_MS : 0) : PDK_ENOMEM;
    if (rc == 0)
        rc = pdk_lock_options_set_unlock_nowait(o, options->nowait);
    if (rc == 0)
        rc = pdk_rwlock_new(&rwlock, c, lane_rules[LANE_RWLOCK].path, o);
    pdk_lock_options_free(o);
    return rc != 0 ? rc : pdk_lock_on_event(rwlock, on_event, NULL);
}

static void choose_side(struct dice *dice, struct wish *wish)
{
    wish->recipe = dice_chance(dice, 65) ? RECIPE_READ : RECIPE_WRITE;
}

static int lock_rwlock(const struct wish *wish)
{
    bool reads = wish->recipe == RECIPE_READ;
    switch (wish->way) {
    case BY_TIMEDLOCK:
        return (reads ? pdk_rwlock_timedrdlock : pdk_rwlock_timedwrlock)(rwlock, wish->timeout_ms);
    case BY_TRYLOCK:
        return (reads ? pdk_rwlock_tryrdlock : pdk_rwlock_trywrlock)(rwlock);
    default:
        return (reads ? pdk_rwlock_rdlock : pdk_rwlock_wrlock)(rwlock);
    }
}

static int unlock_rwlock(bool yields)
{
    (void)yields;
    return pdk_rwlock_unlock(rwlock);
}

static pdk_state rwlock_state(void) { return pdk_lock_state(rwlock); }
static int64_t rwlock_valid_ms(void) { return pdk_lock_valid_ms(rwlock); }

static int64_t rwlock_token(void)
{
    int64_t token;
    return pdk_lock_token(rwlock, &token, NULL) == 0 ? token : 0;
}

static uint64_t rwlock_turn(void)
{
    uint64_t turn;
    return pdk_lock_token(rwlock, NULL, &turn) == 0 ? turn : 0;
}

static int rwlock_parts(struct record parts[PARTS_MAX])
{
    put_part(&parts[0], LANE_RWLOCK, rwlock_token());
    pdk_lock_node(rwlock, 0, parts[0].node, sizeof parts[0].node);
    return 1;
}

static int free_rwlock(void) { return pdk_lock_free(rwlock); }

int craft_downgrade(void) { return pdk_rwlock_downgrade(rwlock); }

/* --- a semaphore ------------------------------------------------------------------------------------------------- */

static pdk_semaphore *semaphore;
static pdk_grant *permit;

static int make_semaphore(pdk_client *c, told_cb cb, const struct craft_options *options)
{
    (void)options;
    tell = cb;
    int rc = pdk_semaphore_new(&semaphore, c, "/chaos/permits", PERMITS_LIMIT, NULL);
    return rc != 0 ? rc : pdk_lock_on_event(semaphore, on_event, NULL);
}

static void choose_permits(struct dice *dice, struct wish *wish)
{
    wish->recipe = RECIPE_PERMITS;
    wish->n_nodes = dice_chance(dice, 60) ? 1 : dice_between(dice, 2, PERMITS_LIMIT);
}

static int acquire(const struct wish *wish)
{
    unsigned n = (unsigned)wish->n_nodes;
    switch (wish->way) {
    case BY_TIMEDLOCK:
        return pdk_semaphore_timedacquire(semaphore, n, wish->timeout_ms, &permit);
    case BY_TRYLOCK:
        return pdk_semaphore_tryacquire(semaphore, n, &permit);
    default:
        return pdk_semaphore_acquire(semaphore, n, &permit);
    }
}

static int release(bool yields)
{
    (void)yields;
    int rc = pdk_grant_release(permit);
    permit = NULL;
    return rc;
}

static pdk_state permit_state(void) { return pdk_grant_state(permit); }
static int64_t permit_valid_ms(void) { return pdk_grant_valid_ms(permit); }

static int64_t permit_token(void)
{
    int64_t token;
    return pdk_grant_token(permit, &token, NULL) == 0 ? token : 0;
}

static int permit_parts(struct record parts[PARTS_MAX])
{
    unsigned n = pdk_grant_count(permit);
    for (unsigned i = 0; i < n && i < PARTS_MAX; i++) {
        put_part(&parts[i], LANE_PERMITS, 0);
        pdk_grant_node(permit, i, parts[i].node, sizeof parts[i].node);
    }
    return (int)(n < PARTS_MAX ? n : PARTS_MAX);
}

static int free_semaphore(void) { return pdk_lock_free(semaphore); }

/* --- multi-locks: from each of the paths on two, four, six or all of them ---------------------------------------- */

enum { CHOICES = MULTI_PATHS };

static pdk_mutex *multilocks[CHOICES];
static int chosen;

/* The I-th path of a choice: an object is made with them in this order. */
static enum lane multi_lane(int choice, unsigned i) { return (enum lane)(LANE_A + (choice + i) % MULTI_PATHS); }

static int n_paths(int choice) { return 2 + choice * 2 % MULTI_PATHS; }

static int make_multilocks(pdk_client *c, told_cb cb, const struct craft_options *options)
{
    tell = cb;
    pdk_lock_options *o = pdk_lock_options_new();
    int rc = o != NULL ? pdk_lock_options_set_unlock_nowait(o, options->nowait) : PDK_ENOMEM;
    for (int choice = 0; choice < CHOICES && rc == 0; choice++) {
        const char *paths[MULTI_PATHS];
        for (unsigned i = 0; i < MULTI_PATHS; i++)
            paths[i] = lane_rules[multi_lane(choice, i)].path;
        rc = pdk_mutex_new_several(&multilocks[choice], c, paths, (unsigned)n_paths(choice), o);
        if (rc == 0)
            rc = pdk_lock_on_event(multilocks[choice], on_event, NULL);
    }
    pdk_lock_options_free(o);
    return rc;
}

static void choose_paths(struct dice *dice, struct wish *wish)
{
    chosen = dice_below(dice, CHOICES);
    wish->recipe = RECIPE_MULTI;
    wish->n_nodes = n_paths(chosen);
}

static int lock_multi(const struct wish *wish)
{
    switch (wish->way) {
    case BY_TIMEDLOCK:
        return pdk_mutex_timedlock(multilocks[chosen], wish->timeout_ms);
    case BY_TRYLOCK:
        return pdk_mutex_trylock(multilocks[chosen]);
    default:
        return pdk_mutex_lock(multilocks[chosen]);
    }
}

static int unlock_multi(bool yields)
{
    (void)yields;
    return pdk_mutex_unlock(multilocks[chosen]);
}

static pdk_state multi_state(void) { return pdk_lock_state(multilocks[chosen]); }
static int64_t multi_valid_ms(void) { return pdk_lock_valid_ms(multilocks[chosen]); }

static int64_t multi_token(void)
{
    int64_t token;
    return pdk_lock_token(multilocks[chosen], &token, NULL) == 0 ? token : 0;
}

static int multi_parts(struct record parts[PARTS_MAX])
{
    unsigned n = pdk_lock_count(multilocks[chosen]);
    for (unsigned i = 0; i < n; i++) {
        put_part(&parts[i], multi_lane(chosen, i), multi_token());
        pdk_lock_node(multilocks[chosen], i, parts[i].node, sizeof parts[i].node);
    }
    return (int)n;
}

static int free_multilocks(void)
{
    int rc = 0;
    for (int i = 0; i < CHOICES && rc == 0; i++)
        rc = pdk_lock_free(multilocks[i]);
    return rc;
}

/* --- leaders in turns, or of a latch ----------------------------------------------------------------------------- */

static pdk_leader *leader;
static int64_t term; /* the token of the one that was granted; and its node */
static char term_node[56];
static bool stands; /* it is a candidate, as far as this client has asked for it */

static int make_leader(pdk_client *c, told_cb cb, pdk_leader_mode mode)
{
    tell = cb;
    int rc = pdk_leader_new(&leader, c, lane_rules[LANE_TURNS].path, mode, NULL);
    return rc != 0 ? rc : pdk_lock_on_event(leader, on_event, NULL);
}

static int make_turns(pdk_client *c, told_cb cb, const struct craft_options *options)
{
    (void)options;
    return make_leader(c, cb, PDK_IN_TURNS);
}

static int make_latch(pdk_client *c, told_cb cb, const struct craft_options *options)
{
    (void)options;
    return make_leader(c, cb, PDK_LATCH);
}

static void choose_turn(struct dice *dice, struct wish *wish)
{
    (void)dice;
    wish->recipe = RECIPE_TURN;
}

static int64_t leader_token(void)
{
    int64_t token;
    return pdk_lock_token(leader, &token, NULL) == 0 ? token : 0;
}

/* A term can be over when the wait for it returns. */
static int lead(const struct wish *wish)
{
    int64_t until = now_ns() + wish->timeout_ms * INT64_C(1000000);
    int rc = stands ? 0 : pdk_leader_start(leader);
    stands = true;
    term = 0;
    while (rc == 0 && term == 0) {
        int64_t left_ms = wish->way == BY_TRYLOCK ? 0 : PDK_FOREVER;
        if (wish->timeout_ms >= 0)
            left_ms = until > now_ns() ? (until - now_ns()) / 1000000 : 0;
        rc = pdk_leader_wait(leader, left_ms);
        term = rc == 0 ? leader_token() : 0;
        pdk_lock_node(leader, 0, term_node, sizeof term_node);
        if (leader_token() != term)
            term = 0;
    }
    return rc == PDK_ETIMEDOUT && wish->way == BY_TRYLOCK ? PDK_EBUSY : rc;
}

static int end_term(bool yields)
{
    if (leader_token() != term)
        return PDK_ELOST;
    stands = yields;
    int rc = yields ? pdk_leader_yield(leader) : pdk_leader_resign(leader);
    return rc == PDK_EPERM ? PDK_ELOST : rc;
}

/* Of the term that was granted, and not of the next one. */
static pdk_state leader_state(void)
{
    pdk_state state = pdk_lock_state(leader);
    return leader_token() == term && state != PDK_FREE ? state : PDK_LOST;
}

static int64_t leader_valid_ms(void)
{
    int64_t left_ms = pdk_lock_valid_ms(leader);
    return leader_token() == term ? left_ms : 0;
}

static int leader_parts(struct record parts[PARTS_MAX])
{
    put_part(&parts[0], LANE_TURNS, term);
    memcpy(parts[0].node, term_node, sizeof term_node);
    return 1;
}

static int64_t leader_term(void) { return term; }
static int free_leader(void) { return pdk_lock_free(leader); }

/* --- all of them ------------------------------------------------------------------------------------------------- */

static const struct craft rwlock_craft = {.name = "rwlock",
                                          .lanes = 1U << LANE_RWLOCK,
                                          .make = make_rwlock,
                                          .choose = choose_side,
                                          .lock = lock_rwlock,
                                          .unlock = unlock_rwlock,
                                          .state = rwlock_state,
                                          .valid_ms = rwlock_valid_ms,
                                          .token = rwlock_token,
                                          .turn = rwlock_turn,
                                          .parts = rwlock_parts,
                                          .free = free_rwlock};

static const struct craft permits_craft = {.name = "permits",
                                           .lanes = 1U << LANE_PERMITS | 1U << LANE_GATE,
                                           .make = make_semaphore,
                                           .choose = choose_permits,
                                           .lock = acquire,
                                           .unlock = release,
                                           .state = permit_state,
                                           .valid_ms = permit_valid_ms,
                                           .token = permit_token,
                                           .parts = permit_parts,
                                           .free = free_semaphore};

static const struct craft multi_craft = {.name = "multi-lock",
                                         .lanes = ((1U << MULTI_PATHS) - 1) << LANE_A,
                                         .make = make_multilocks,
                                         .choose = choose_paths,
                                         .lock = lock_multi,
                                         .unlock = unlock_multi,
                                         .state = multi_state,
                                         .valid_ms = multi_valid_ms,
                                         .token = multi_token,
                                         .parts = multi_parts,
                                         .free = free_multilocks};

static const struct craft turns_craft = {.name = "turns",
                                         .lanes = 1U << LANE_TURNS,
                                         .make = make_turns,
                                         .choose = choose_turn,
                                         .lock = lead,
                                         .unlock = end_term,
                                         .state = leader_state,
                                         .valid_ms = leader_valid_ms,
                                         .token = leader_term,
                                         .parts = leader_parts,
                                         .free = free_leader,
                                         .yields = true};

static const struct craft latch_craft = {.name = "latch",
                                         .lanes = 1U << LANE_TURNS,
                                         .make = make_latch,
                                         .choose = choose_turn,
                                         .lock = lead,
                                         .unlock = end_term,
                                         .state = leader_state,
                                         .valid_ms = leader_valid_ms,
                                         .token = leader_term,
                                         .parts = leader_parts,
                                         .free = free_leader};

const struct craft *const crafts[] = {&rwlock_craft, &permits_craft, &multi_craft, &turns_craft, &latch_craft, NULL};

const struct craft *craft_find(const char *name)
{
    for (int i = 0; crafts[i] != NULL; i++)
        if (strcmp(crafts[i]->name, name) == 0)
            return crafts[i];
    return NULL;
}

static bool read_option(const char *word, size_t size, struct craft_options *options)
{
    const struct {
        const char *name;
        bool *value;
    } all[] = {{"handover", &options->handover},
               {"idle", &options->idle},
               {"nowait", &options->nowait},
               {"brief", &options->brief},
               {"jobs", &options->jobs}};
    if (size > 0 && strspn(word, "0123456789") == size)
        return (options->threads = atoi(word)) >= 1 && options->threads <= CRAFT_THREADS_MAX;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strlen(all[i].name) == size && strncmp(all[i].name, word, size) == 0)
            return *all[i].value = true;
    return false;
}

bool craft_read(const char *text, char name[32], struct craft_options *options)
{
    size_t size = strcspn(text, "+");
    *options = (struct craft_options){0};
    snprintf(name, 32, "%.*s", (int)size, text);
    for (const char *word = text + size; *word == '+'; word += 1 + size)
        if (!read_option(word + 1, size = strcspn(word + 1, "+"), options))
            return false;
    return true;
}
