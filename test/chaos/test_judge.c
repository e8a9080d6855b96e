/*
 * The judge of histories is judged: from a lawful history each test breaks one thing, and the law that forbids it must
 * say so, and no other. An event that no client can know of must be counted and not condemned.
 */
#include "test/chaos/findings.h"
#include "test/lib/check.h"
#include "test/lib/history.h"
#include <paddock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)

static struct evidence e;
static struct findings *f;

/* --- a lawful history -------------------------------------------------------------------------------------------- */

static struct znode *add_node(int process, int64_t czxid, int64_t created_ms, int64_t gone_ms)
{
    struct znode *z = evidence_grow((void **)&e.truth.nodes, &e.truth.n, &e.truth.cap, sizeof *z);
    *z = (struct znode){.is_contender = true,
                        .owner = 0xa0 + process,
                        .czxid = czxid,
                        .rank = czxid,
                        .created_ms = created_ms,
                        .gone_zxid = czxid + 12,
                        .gone_ms = gone_ms,
                        .ending = BY_OWNER};
    snprintf(z->name, sizeof z->name, "%016x-%08x-lock-%010d", 0xa0 + process, (int)czxid, (int)czxid);
    return z;
}

static void question(struct request *r, int64_t ms, int state)
{
    struct told *t = evidence_grow((void **)&r->told, &r->n_told, &r->cap_told, sizeof *t);
    *t = (struct told){.ns = ms * MS, .state = state, .valid_ms = state != PDK_LOST, .is_question = true};
}

/* A whole round, with a question every ten milliseconds. */
static void add_round(int process, int64_t token, int64_t asked_ms, int64_t granted_ms, int64_t unlocking_ms)
{
    const struct znode *z = add_node(process, token, asked_ms, unlocking_ms + 1);
    struct request *r = &PUSH(&e.requests);
    *r = (struct request){.process = process,
                          .number = (int)token,
                          .timeout_ms = -1,
                          .asked_ns = asked_ms * MS,
                          .answered_ns = granted_ms * MS,
                          .n_answers = 1,
                          .token = token,
                          .session = z->owner,
                          .valid_ms = 1,
                          .lost_ns = NEVER,
                          .unlocking_ns = unlocking_ms * MS,
                          .unlocked_ns = (unlocking_ms + 2) * MS,
                          .n_unlocked = 1};
    snprintf(r->node, sizeof r->node, "%.60s", z->name);
    for (int64_t ms = granted_ms; ms < unlocking_ms; ms += 10)
        question(r, ms, PDK_HELD);
}

/* Two clients take turns: 10 to the first, 20 to the second, 30 to the first; all is healed at 10 s; 40, 50. */
static void lawful(void)
{
    evidence_free(&e);
    findings_free(f);
    e = (struct evidence){
        .n_clients = 2, .session_ms = 2000, .tick_ms = 200, .healed_ns = 10000 * MS, .end_ns = 12000 * MS};
    for (int i = 0; i < 2; i++)
        PUSH(&e.processes) = (struct process){
            .place = i, .generation = 1, .pid = 100 + i, .killed_ns = NEVER, .ended_ns = 11000 * MS};
    PUSH(&e.clocks) = (struct clock_pair){.ns = 0, .wall_ns = 0};
    add_round(0, 10, 100, 110, 200);
    add_round(1, 20, 120, 205, 300);
    add_round(0, 30, 250, 305, 400);
    add_round(0, 40, 10100, 10110, 10120);
    add_round(1, 50, 10110, 10125, 10140);
}

static struct request *round_of(int64_t token)
{
    for (size_t i = 0; i < e.requests.n; i++)
        if (e.requests.list[i].number == (int)token)
            return &e.requests.list[i];
    pdk__test_fail(__FILE__, __LINE__, "no round %d", (int)token);
}

static struct znode *node_of(int64_t czxid)
{
    return (struct znode *)(uintptr_t)truth_find(&e.truth, LANE_LOCK, czxid);
}

/* A client's requests lie together: as evidence_read() has them. */
static int by_process(const void *a, const void *b)
{
    const struct request *x = a, *y = b;
    return x->process != y->process ? x->process - y->process
                                    : (x->asked_ns > y->asked_ns) - (x->asked_ns < y->asked_ns);
}

static int by_czxid(const void *a, const void *b)
{
    const struct znode *x = a, *y = b;
    return (x->czxid > y->czxid) - (x->czxid < y->czxid);
}

static void judged(void)
{
    qsort(e.truth.nodes, e.truth.n, sizeof *e.truth.nodes, by_czxid);
    qsort(e.requests.list, e.requests.n, sizeof *e.requests.list, by_process);
    evidence_settle(&e);
    judge_evidence(&e, f);
}

/* LAW is broken, and only that. */
static void breaks(const char *law)
{
    judged();
    CHECK(f->n_breaches > 0);
    for (int i = 0; i < f->n_breaches; i++)
        if (strncmp(f->breach[i], law, strlen(law)) != 0)
            pdk__test_fail(__FILE__, __LINE__, "not %s: %s", law, f->breach[i]);
}

/* LAW is broken, whatever else. */
static void condemns(const char *law)
{
    bool is_told = false;
    judged();
    for (int i = 0; i < f->n_breaches; i++)
        is_told |= strncmp(f->breach[i], law, strlen(law)) == 0;
    CHECK(is_told);
}

static void is_known(enum known known)
{
    judged();
    if (f->n_breaches > 0)
        pdk__test_fail(__FILE__, __LINE__, "%s", f->breach[0]);
    CHECK_EQ(f->n_known[known], 1);
}

static void a_lawful_history_is_not_condemned(void)
{
    lawful();
    judged();
    CHECK_EQ(f->n_breaches, 0);
    CHECK_EQ(f->n_known[KNOWN_ORDERED] + f->n_known[KNOWN_DEPOSED], 0);
    CHECK_EQ(f->hand_over.n, 5);
    CHECK_EQ(quantile(&f->hand_over, 0), 4 * MS);
    CHECK_EQ(f->served_ns, 125 * MS);
}

/* --- belief ------------------------------------------------------------------------------------------------------ */

/* The first holder goes on believing until 230 ms, its node being gone at 201 ms. */
static struct request *outlives(enum ending ending)
{
    lawful();
    struct request *r = round_of(10);
    for (int64_t ms = 200; ms < 230; ms += 10)
        question(r, ms, PDK_HELD);
    r->unlocking_ns = NEVER;
    r->n_unlocked = 1;
    r->unlocked_ns = 231 * MS;
    r->unlock_rc = PDK_ELOST;
    r->lost_ns = 230 * MS;
    question(r, 230, PDK_LOST);
    r->unlocking_ns = 230 * MS + 1;
    node_of(10)->ending = ending;
    return r;
}

static void two_that_believe_while_both_nodes_live(void)
{
    lawful();
    round_of(20)->answered_ns = 150 * MS;
    judged();
    CHECK(f->n_breaches >= 2);
    CHECK(strncmp(f->breach[0], "belief", 6) == 0);
    CHECK(strncmp(f->breach[f->n_breaches - 1], "order", 5) == 0);
}

static void belief_after_an_expiry(void)
{
    outlives(BY_EXPIRY);
    condemns("belief");
    outlives(BY_EXPIRY);
    condemns("margins");
}

static void belief_after_an_expiry_behind_any_fault(void)
{
    for (int id = 0; id < N_FAULTS; id++) {
        outlives(BY_EXPIRY);
        PUSH(&e.strikes) = (struct strike){
            .id = (enum fault_id)id, .victim = 0, .from_ns = 50 * MS, .until_ns = 220 * MS, .took = true};
        judged();
        CHECK(f->n_breaches > 1);
        CHECK(strncmp(f->breach[0], "belief", 6) == 0);
        CHECK(strncmp(f->breach[f->n_breaches - 1], "margins", 7) == 0);
    }
}

static void belief_after_waking(void)
{
    outlives(BY_EXPIRY);
    PUSH(&e.stops) = (struct stop){.pid = 100, .from_ns = 105 * MS, .until_ns = 215 * MS};
    condemns("belief");
    outlives(BY_EXPIRY);
    PUSH(&e.stops) = (struct stop){.pid = 100, .from_ns = 105 * MS, .until_ns = 215 * MS};
    condemns("margins");
}

/* Granted at 150 ms, stopped before it could look at it, and woken when the second one holds. */
static struct request *sleeps_through_its_grant(int64_t valid_ms)
{
    lawful();
    struct request *r = round_of(10);
    r->answered_ns = 250 * MS;
    r->valid_ms = valid_ms;
    r->n_told = 0;
    question(r, 251, PDK_LOST);
    r->lost_ns = 251 * MS;
    r->unlocking_ns = 252 * MS;
    r->unlocked_ns = 253 * MS;
    r->unlock_rc = PDK_ELOST;
    node_of(10)->ending = BY_EXPIRY;
    return r;
}

static void belief_in_a_grant_that_is_over(void)
{
    sleeps_through_its_grant(0);
    judged();
    CHECK_EQ(f->n_breaches, 0);
    sleeps_through_its_grant(1);
    condemns("belief");
    sleeps_through_its_grant(1);
    condemns("margins");
}

static void belief_in_a_stop_is_none(void)
{
    struct request *r = outlives(BY_EXPIRY);
    r->n_told = 0;
    question(r, 110, PDK_HELD);
    question(r, 280, PDK_LOST);
    r->lost_ns = 280 * MS;
    r->unlocking_ns = 281 * MS;
    r->unlocked_ns = 282 * MS;
    judged();
    CHECK_EQ(f->n_breaches, 0);
}

static void belief_after_an_order(void)
{
    outlives(BY_ANOTHER);
    is_known(KNOWN_ORDERED);
    outlives(BY_CLOSE);
    node_of(10)->gone_cxid = 1;
    is_known(KNOWN_ORDERED);
}

static void an_order_excuses_nobody_who_was_let_in_before(void)
{
    outlives(BY_ANOTHER);
    node_of(10)->gone_ms = 210;
    condemns("belief");
}

static void belief_after_ones_own_doing(void)
{
    outlives(BY_OWNER);
    breaks("belief");
    outlives(BY_CLOSE);
    node_of(10)->gone_cxid = 1700000000;
    breaks("belief");
}

static void belief_ends_with_the_process(void)
{
    lawful();
    struct request *r = round_of(30);
    r->unlocking_ns = r->unlocked_ns = NEVER;
    r->n_unlocked = 0;
    e.processes.list[0].killed_ns = 390 * MS;
    for (size_t i = 0; i < e.requests.n; i++)
        if (e.requests.list[i].number == 40)
            e.requests.list[i].process = 1;
    node_of(30)->ending = BY_EXPIRY;
    node_of(40)->owner = 0xa1;
    round_of(40)->session = 0xa1;
    PUSH(&e.processes) = (struct process){
        .place = 0, .generation = 2, .pid = 102, .killed_ns = NEVER, .ended_ns = 11000 * MS};
    add_round(2, 60, 10130, 10145, 10150);
    judged();
    CHECK_EQ(f->n_breaches, 0);
}

/* --- tokens ------------------------------------------------------------------------------------------------------ */

static void a_token_of_no_node(void)
{
    lawful();
    round_of(20)->token = 21;
    breaks("tokens");
}

static void a_token_of_another_node(void)
{
    lawful();
    snprintf(round_of(20)->node, sizeof round_of(20)->node, "x-lock-0000000020");
    breaks("tokens");
}

static void a_node_of_another_session(void)
{
    lawful();
    round_of(30)->session = 0xdead;
    breaks("tokens");
}

static void a_token_granted_twice(void)
{
    lawful();
    round_of(30)->token = 20;
    snprintf(round_of(30)->node, sizeof round_of(30)->node, "%.55s", round_of(20)->node);
    round_of(30)->session = 0xa1;
    judged();
    CHECK(f->n_breaches > 0 && strncmp(f->breach[0], "tokens", 6) == 0);
}

static void a_token_that_falls(void)
{
    lawful();
    round_of(20)->answered_ns = 310 * MS;
    round_of(20)->unlocking_ns = 311 * MS;
    round_of(20)->unlocked_ns = 315 * MS;
    round_of(20)->n_told = 0;
    node_of(20)->gone_ms = 312;
    judged();
    CHECK(f->n_breaches > 0);
    bool is_told = false;
    for (int i = 0; i < f->n_breaches; i++)
        is_told |= strncmp(f->breach[i], "tokens", 6) == 0;
    CHECK(is_told);
}

/* --- turns under one node ---------------------------------------------------------------------------------------- */

/* The second client's round is two: another thread of it has the node from 252 to 299 ms. */
static struct request *shares_its_node(void)
{
    lawful();
    struct request later = *round_of(20), *first = round_of(20);
    later.number = THREAD_NUMBERS;
    later.turn = 2;
    later.asked_ns = 130 * MS;
    later.answered_ns = 252 * MS;
    later.told = NULL;
    later.n_told = later.cap_told = 0;
    first->turn = 1;
    first->may_stay = later.may_stay = true;
    first->unlocking_ns = 250 * MS;
    first->unlocked_ns = 253 * MS; /* it returns when the other is granted */
    first->n_told = 0;
    question(first, 240, PDK_HELD);
    question(&later, 260, PDK_HELD);
    PUSH(&e.requests) = later;
    return round_of(THREAD_NUMBERS);
}

static void turns_of_one_node_are_lawful(void)
{
    shares_its_node();
    judged();
    if (f->n_breaches > 0)
        pdk__test_fail(__FILE__, __LINE__, "%s", f->breach[0]);
    CHECK_EQ(f->hand_over.n, 5);
}

static void turns_that_do_not_rise(void)
{
    shares_its_node()->turn = 1;
    breaks("tokens");
    shares_its_node()->turn = 0;
    breaks("tokens");
}

static void turns_of_two_processes(void)
{
    struct request *r = shares_its_node();
    r->process = 0;
    r->session = 0xa0;
    condemns("tokens");
}

static void two_owners_at_once(void)
{
    shares_its_node();
    question(round_of(20), 251, PDK_HELD);
    question(round_of(20), 270, PDK_HELD);
    round_of(20)->unlocking_ns = 280 * MS;
    round_of(20)->unlocked_ns = 281 * MS;
    breaks("belief");
}

/* Another client is there when it is unlocked; or none is, and its time ends. */
static struct request *keeps(int64_t gone_ms, int64_t rival_ms)
{
    lawful();
    struct request *r = round_of(50);
    r->may_stay = true;
    e.session_ms = 100;
    node_of(50)->gone_ms = gone_ms;
    if (rival_ms != NEVER)
        add_node(0, 70, rival_ms, gone_ms + 1);
    return r;
}

static void a_kept_node_that_goes_in_time(void)
{
    keeps(10142 + KEPT_MS + 15000, NEVER);
    judged();
    CHECK_EQ(f->n_breaches, 0);
    keeps(10500 + 15000, 10500);
    judged();
    CHECK_EQ(f->n_breaches, 0);
    keeps(40000, 39000)->unlock_rc = PDK_EUNKNOWN;
    judged();
    CHECK_EQ(f->n_breaches, 0);
    keeps(10142 + KEPT_MS + 16000, NEVER);
    PUSH(&e.truth.elections) = (struct election){.from_ms = 20000, .until_ms = 21000};
    judged();
    CHECK_EQ(f->n_breaches, 0);
}

static void a_kept_node_that_does_not_go(void)
{
    keeps(10142 + KEPT_MS + 15300, NEVER);
    breaks("service");
    keeps(10500 + 15300, 10500);
    breaks("service");
}

/* --- holders, without the truth of the servers ------------------------------------------------------------------- */

/* The first breach is of LAW; NULL: there is none. */
static void holders_break(const char *law)
{
    truth_free(&e.truth);
    evidence_settle(&e);
    const char *breach = judge_holders(&e);
    if (law == NULL ? breach != NULL : breach == NULL || strncmp(breach, law, strlen(law)) != 0)
        pdk__test_fail(__FILE__, __LINE__, "not %s: %s", law != NULL ? law : "lawful", breach != NULL ? breach : "-");
}

static void holders_one_after_another(void)
{
    evidence_free(&e);
    holders_break(NULL);
    lawful();
    holders_break(NULL);
}

static void a_doubt_is_no_second_grant(void)
{
    for (int late_ms = 130; late_ms <= 304; late_ms += 87) {
        lawful();
        struct request *r = round_of(10);
        r->n_told = 0;
        r->unlocking_ns = r->unlocked_ns = (late_ms + 1) * MS;
        question(r, 120, PDK_SUSPECT);
        question(r, late_ms, PDK_HELD);
        holders_break(late_ms < 205 ? NULL : late_ms < 300 ? "belief" : "return");
    }
}

static void holders_that_overlap(void)
{
    lawful();
    round_of(20)->answered_ns = 199 * MS;
    holders_break("belief");
    lawful();
    round_of(10)->unlocking_ns = round_of(10)->unlocked_ns = NEVER;
    question(round_of(10), 210, PDK_HELD);
    holders_break("belief");
}

static void a_hold_that_outlasts_its_neighbour(void)
{
    lawful();
    struct request *r = round_of(10);
    r->unlocking_ns = r->unlocked_ns = NEVER;
    round_of(20)->answered_ns = 401 * MS; /* only 30 is overlapped */
    round_of(20)->unlocking_ns = 402 * MS;
    round_of(20)->n_told = 0;
    for (int64_t ms = 200; ms < 330; ms += 10)
        question(r, ms, PDK_HELD);
    holders_break("belief");
}

static void tokens_of_holders(void)
{
    lawful();
    round_of(30)->token = 20;
    holders_break("tokens");
    lawful();
    round_of(30)->token = 15;
    holders_break("tokens");
    lawful();
    round_of(10)->token = 0;
    holders_break("tokens");
}

/* --- outcomes ---------------------------------------------------------------------------------------------------- */

static struct request *refused(int way, int rc)
{
    lawful();
    PUSH(&e.requests) = (struct request){.process = 1,
                                         .number = 99,
                                         .way = way,
                                         .timeout_ms = way == BY_TIMEDLOCK ? 50 : -1,
                                         .asked_ns = 320 * MS,
                                         .answered_ns = 370 * MS,
                                         .n_answers = 1,
                                         .rc = rc,
                                         .lost_ns = NEVER,
                                         .unlocking_ns = NEVER,
                                         .unlocked_ns = NEVER};
    return round_of(99);
}

static void refusals_that_are_allowed(void)
{
    refused(BY_TIMEDLOCK, PDK_ETIMEDOUT);
    judged();
    CHECK_EQ(f->n_breaches, 0);
    refused(BY_TRYLOCK, PDK_EBUSY);
    judged();
    CHECK_EQ(f->n_breaches, 0);
    refused(BY_ASYNC, PDK_ECANCELED);
    judged();
    CHECK_EQ(f->n_breaches, 0);
    refused(BY_ASYNC, PDK_ELOST);
    PUSH(&e.strikes) = (struct strike){
        .id = FAULT_PATH_DELETED, .from_ns = 330 * MS, .until_ns = 331 * MS, .took = true};
    judged();
    CHECK_EQ(f->n_breaches, 0);
}

static void refusals_that_are_not(void)
{
    refused(BY_LOCK, PDK_ETIMEDOUT);
    breaks("outcomes");
    refused(BY_TIMEDLOCK, PDK_EBUSY);
    breaks("outcomes");
    refused(BY_ASYNC, PDK_ETIMEDOUT);
    breaks("outcomes");
    refused(BY_ASYNC, PDK_ELOST); /* nothing was wrong */
    breaks("outcomes");
}

static void a_call_with_two_outcomes_or_none(void)
{
    refused(BY_TRYLOCK, PDK_EBUSY)->n_answers = 2;
    breaks("outcomes");
    refused(BY_TRYLOCK, PDK_EBUSY)->n_answers = 0;
    breaks("outcomes");
    lawful();
    e.processes.list[0].n_strays = 1;
    breaks("outcomes");
}

static void a_call_long_past_its_deadline(void)
{
    refused(BY_TIMEDLOCK, PDK_ETIMEDOUT)->answered_ns = 20000 * MS;
    breaks("outcomes");
}

static void an_unlock_too_many_or_too_few(void)
{
    lawful();
    round_of(30)->n_unlocked = 2;
    breaks("outcomes");
    lawful();
    round_of(30)->n_unlocked = 0;
    breaks("outcomes");
    lawful();
    round_of(30)->unlock_rc = PDK_EPERM;
    breaks("outcomes");
}

static void an_unlock_that_left_the_node(void)
{
    lawful();
    node_of(50)->gone_ms = 10200;
    breaks("outcomes");
}

static void an_unlock_after_a_deposed_leaders_word(void)
{
    lawful();
    node_of(50)->gone_ms = 10200;
    node_of(50)->ending = BY_EXPIRY;
    breaks("outcomes");
    lawful();
    node_of(50)->gone_ms = 10200;
    node_of(50)->ending = BY_EXPIRY;
    PUSH(&e.strikes) = (struct strike){
        .id = FAULT_LEADER_PAUSED, .victim = 1, .from_ns = 9000 * MS, .until_ns = 9900 * MS, .took = true};
    is_known(KNOWN_DEPOSED);
    CHECK_EQ(f->longest_known_ns[KNOWN_DEPOSED], 58 * MS);
}

static void an_unlock_that_hides_a_loss(void)
{
    outlives(BY_ANOTHER)->unlock_rc = 0;
    breaks("outcomes");
}

static void a_client_that_vanished(void)
{
    lawful();
    e.processes.list[1].ended_ns = NEVER;
    breaks("outcomes");
}

/* --- order, nodes, service, deadline, margins -------------------------------------------------------------------- */

static void a_grant_past_somebody(void)
{
    lawful();
    add_node(7, 25, 240, 500);
    breaks("order");
}

static void a_grant_past_junk_is_lawful(void)
{
    lawful();
    add_node(7, 25, 240, 500)->is_contender = false;
    judged();
    CHECK_EQ(f->n_breaches, 0);
}

static void a_grant_before_its_node(void)
{
    lawful();
    node_of(30)->created_ms = 330;
    breaks("order");
}

static void an_attempt_with_two_nodes(void)
{
    lawful();
    struct znode *z = add_node(0, 31, 260, 262);
    memcpy(z->name, node_of(30)->name, strlen(z->name) - 10);
    z->gone_zxid = 32;
    z->is_contender = true;
    round_of(30)->answered_ns = 306 * MS;
    breaks("nodes");
}

static void something_left_behind(void)
{
    lawful();
    node_of(50)->ending = STAYED;
    breaks("nodes");
    lawful();
    e.truth.n_contradictions = 1;
    breaks("nodes");
    lawful();
    e.n_children = 1;
    breaks("nodes");
    lawful();
    e.n_ephemerals = 1;
    breaks("nodes");
    lawful();
    e.n_watches = 1;
    breaks("nodes");
    lawful();
    e.n_watches = -1; /* not recorded */
    breaks("nodes");
}

static void servers_that_differ(void)
{
    lawful();
    e.n_ephemerals = e.n_watches = 1;
    e.n_clients = 3;
    e.n_dissenters = 1;
    is_known(KNOWN_DISSENT);
    lawful();
    e.n_dissenters = 1;
    node_of(50)->ending = STAYED; /* in the logs */
    breaks("nodes");
}

static void somebody_not_served(void)
{
    lawful();
    e.n_clients = 3;
    breaks("service");
    lawful();
    e.healed_ns = NEVER;
    breaks("service");
}

static void a_hand_over_that_takes_for_ever(void)
{
    lawful();
    for (int64_t token = 40; token <= 50; token += 10) {
        struct request *r = round_of(token);
        r->n_told = 0;
        r->answered_ns += 20000 * MS;
        r->unlocking_ns += 20000 * MS;
        r->unlocked_ns += 20000 * MS;
        node_of(token)->gone_ms += 20000;
        question(r, r->answered_ns / MS, PDK_HELD);
    }
    breaks("service");
}

static void a_node_that_nobody_holds_and_nobody_removes(void)
{
    lawful();
    add_node(1, 35, 410, 9900)->ending = BY_EXPIRY;
    judged();
    CHECK_EQ(f->n_breaches, 0);
    lawful();
    e.session_ms = 100;
    add_node(1, 5, -20000, 50)->ending = BY_EXPIRY;
    breaks("service");
}

static void an_orphan_during_an_election(void)
{
    lawful();
    e.session_ms = 100;
    add_node(1, 5, -20000, 50)->ending = BY_EXPIRY;
    PUSH(&e.truth.elections) = (struct election){.from_ms = -25000, .until_ms = -14900};
    PUSH(&e.truth.elections) = (struct election){.from_ms = 0, .until_ms = 300};
    judged();
    CHECK_EQ(f->n_breaches, 0);
    lawful();
    e.session_ms = 100;
    add_node(1, 5, -20000, 50)->ending = BY_EXPIRY;
    PUSH(&e.truth.elections) = (struct election){.from_ms = -35000, .until_ms = -20000};
    PUSH(&e.truth.elections) = (struct election){.from_ms = 50, .until_ms = 9000};
    breaks("service");
}

/* The last holder of all is killed, so that no other law is in question. Its session ends at 10.3 s. */
static struct request *dies(enum ending ending)
{
    lawful();
    struct request *r = round_of(50);
    e.processes.list[r->process].killed_ns = 10139 * MS;
    r->unlocking_ns = r->unlocked_ns = NEVER;
    r->n_unlocked = 0;
    node_of(50)->ending = ending;
    node_of(50)->gone_ms = 10300;
    return r;
}

static void a_deadline_past_the_sessions_end(void)
{
    dies(BY_EXPIRY)->told[1].valid_ms = 200;
    breaks("deadline");
    dies(BY_EXPIRY)->valid_ms = 200;
    breaks("deadline");
}

static void a_deadline_before_the_sessions_end(void)
{
    dies(BY_EXPIRY)->told[0].valid_ms = 120;
    judged();
    CHECK_EQ(f->n_breaches, 0);
    CHECK_EQ(f->deadline.n, 1);
    CHECK_EQ(quantile(&f->deadline, 0), 55 * MS);
}

static void a_deadline_is_not_asked_to_foresee_an_order(void)
{
    dies(BY_ANOTHER)->told[0].valid_ms = 200;
    judged();
    CHECK_EQ(f->n_breaches, 0);
    CHECK_EQ(f->deadline.n, 0);
}

static void a_deadline_that_disagrees_with_the_state(void)
{
    lawful();
    round_of(30)->told[2].valid_ms = 0;
    breaks("deadline");
    outlives(BY_ANOTHER)->told[0].valid_ms = 0;
    breaks("deadline");
    struct request *r = outlives(BY_ANOTHER);
    r->told[r->n_told - 1].valid_ms = 1;
    breaks("deadline");
}

static void a_deadline_that_passes_in_a_stop(void)
{
    lawful();
    round_of(30)->told[2].valid_ms = 0;
    PUSH(&e.stops) = (struct stop){.pid = 100, .from_ns = 326 * MS, .until_ns = 334 * MS};
    judged();
    CHECK_EQ(f->n_breaches, 0);
    lawful();
    struct request *r = round_of(30);
    r->n_told = 3;
    r->told[2].valid_ms = 0;
    r->unlocking_ns = 430 * MS;
    r->unlocked_ns = 435 * MS;
    node_of(30)->gone_ms = 432;
    judged();
    CHECK_EQ(f->n_breaches, 0);
}

/* The last holder is stopped at 10.132 s, for STOP_MS, and then says STATE. */
static void wakes(int64_t stop_ms, int state)
{
    lawful();
    struct request *r = round_of(50);
    int64_t woken_ms = 10132 + stop_ms;
    PUSH(&e.stops) = (struct stop){.pid = 101, .from_ns = 10132 * MS, .until_ns = woken_ms * MS};
    question(r, woken_ms + 1, state);
    r->lost_ns = state == PDK_LOST ? (woken_ms + 1) * MS : NEVER;
    r->unlock_rc = state == PDK_LOST ? PDK_ELOST : 0;
    r->unlocking_ns = (woken_ms + 2) * MS;
    r->unlocked_ns = (woken_ms + 4) * MS;
    node_of(50)->gone_ms = woken_ms + 3;
}

static void belief_after_a_stop_longer_than_the_session(void)
{
    wakes(2101, PDK_HELD);
    breaks("deadline");
    wakes(2101, PDK_SUSPECT);
    breaks("deadline");
    wakes(2101, PDK_LOST);
    judged();
    CHECK_EQ(f->n_breaches, 0);
    wakes(1900, PDK_HELD);
    judged();
    CHECK_EQ(f->n_breaches, 0);
}

static void belief_beside_a_stop_longer_than_the_session(void)
{
    wakes(2101, PDK_HELD);
    e.stops.list[0].pid = 100;
    judged();
    CHECK_EQ(f->n_breaches, 0);
    wakes(2101, PDK_HELD);
    e.stops.list[0].from_ns = 10124 * MS; /* before the grant: it was waiting */
    judged();
    CHECK_EQ(f->n_breaches, 0);
}

static void belief_past_the_sessions_end(void)
{
    lawful();
    struct request *r = round_of(50);
    question(r, 10140, PDK_HELD);
    question(r, 10150, PDK_HELD);
    question(r, 10160, PDK_LOST);
    r->lost_ns = 10160 * MS;
    r->unlocking_ns = 10161 * MS;
    r->unlocked_ns = 10162 * MS;
    r->unlock_rc = PDK_ELOST;
    node_of(50)->ending = BY_EXPIRY;
    node_of(50)->gone_ms = 10147;
    r->told[r->n_told - 2].valid_ms = 0; /* and nothing more; it slept, before it could ask */
    PUSH(&e.stops) = (struct stop){.pid = 101, .from_ns = 10151 * MS, .until_ns = 10159 * MS};
    breaks("margins");
}

static void belief_long_after_an_order(void)
{
    wakes(1900, PDK_HELD);
    node_of(50)->ending = BY_ANOTHER;
    node_of(50)->gone_ms = 10140;
    judged();
    CHECK_EQ(f->n_breaches, 0);
    wakes(2010, PDK_HELD);
    node_of(50)->ending = BY_ANOTHER;
    node_of(50)->gone_ms = 10140;
    breaks("margins");
    wakes(2010, PDK_HELD);
    node_of(50)->ending = BY_CLOSE;
    node_of(50)->gone_cxid = 1;
    node_of(50)->gone_ms = 10140;
    breaks("margins");
}

static void lost_before_the_sessions_end(void)
{
    lawful();
    struct request *r = round_of(50);
    question(r, 10140, PDK_LOST);
    r->lost_ns = 10140 * MS;
    r->unlocking_ns = 10141 * MS;
    r->unlock_rc = PDK_ELOST;
    node_of(50)->ending = BY_EXPIRY;
    node_of(50)->gone_ms = 10340;
    judged();
    CHECK_EQ(f->n_breaches, 0);
    CHECK_EQ(f->margin.n, 1);
    CHECK_EQ(quantile(&f->margin, 0), 200 * MS);
    PUSH(&e.stops) = (struct stop){.pid = 101, .from_ns = 10136 * MS, .until_ns = 10139 * MS};
    f->margin.n = 0;
    judged();
    CHECK_EQ(f->margin.n, 0);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a lawful history is not condemned", a_lawful_history_is_not_condemned},
        {"belief: two believe while both nodes live", two_that_believe_while_both_nodes_live},
        {"belief: after an expiry", belief_after_an_expiry},
        {"belief: no fault excuses it", belief_after_an_expiry_behind_any_fault},
        {"belief: nor does a stop", belief_after_waking},
        {"belief: a grant that was over before one could look is none", belief_in_a_grant_that_is_over},
        {"belief: while it is stopped a process believes nothing", belief_in_a_stop_is_none},
        {"belief: after somebody's order it is known", belief_after_an_order},
        {"belief: an order excuses nobody who was let in before", an_order_excuses_nobody_who_was_let_in_before},
        {"belief: after one's own delete or close", belief_after_ones_own_doing},
        {"belief: it ends with the process", belief_ends_with_the_process},
        {"tokens: of no node", a_token_of_no_node},
        {"tokens: of another node", a_token_of_another_node},
        {"tokens: of another session's node", a_node_of_another_session},
        {"tokens: granted twice", a_token_granted_twice},
        {"tokens: a lower one after a higher one", a_token_that_falls},
        {"turns: of one node, one after another, are lawful", turns_of_one_node_are_lawful},
        {"turns: numbers that do not rise", turns_that_do_not_rise},
        {"turns: of two processes", turns_of_two_processes},
        {"turns: two owners at once", two_owners_at_once},
        {"turns: a node that is kept and goes in time", a_kept_node_that_goes_in_time},
        {"turns: a node that is kept and does not go", a_kept_node_that_does_not_go},
        {"holders: grants one after another are lawful", holders_one_after_another},
        {"holders: a doubt in the middle of a grant is no second grant", a_doubt_is_no_second_grant},
        {"holders: grants that overlap are a flaw", holders_that_overlap},
        {"holders: a hold that outlasts its neighbour is still seen", a_hold_that_outlasts_its_neighbour},
        {"holders: tokens that do not grow are a flaw", tokens_of_holders},
        {"outcomes: refusals that are allowed", refusals_that_are_allowed},
        {"outcomes: refusals that are not", refusals_that_are_not},
        {"outcomes: two of one call, none, or of no call", a_call_with_two_outcomes_or_none},
        {"outcomes: long past the deadline", a_call_long_past_its_deadline},
        {"outcomes: unlocked twice, never, or with a strange answer", an_unlock_too_many_or_too_few},
        {"outcomes: unlock said that the node was gone", an_unlock_that_left_the_node},
        {"outcomes: unlock after a deposed leader's word is known", an_unlock_after_a_deposed_leaders_word},
        {"outcomes: unlock hid a loss", an_unlock_that_hides_a_loss},
        {"outcomes: a client vanished", a_client_that_vanished},
        {"order: a grant past a node that was first", a_grant_past_somebody},
        {"order: junk is nobody to wait for", a_grant_past_junk_is_lawful},
        {"order: a grant before its node", a_grant_before_its_node},
        {"nodes: two of one attempt", an_attempt_with_two_nodes},
        {"nodes: something stayed behind", something_left_behind},
        {"nodes, service: servers whose data differ in the end are known for it", servers_that_differ},
        {"service: somebody was not served after the last fault", somebody_not_served},
        {"service: a hand-over took for ever, and nothing was wrong", a_hand_over_that_takes_for_ever},
        {"service: a node that nobody holds and nobody removes", a_node_that_nobody_holds_and_nobody_removes},
        {"service: without a leader no node is removed", an_orphan_during_an_election},
        {"deadline: past the session's end", a_deadline_past_the_sessions_end},
        {"deadline: what lies between it and the session's end is measured", a_deadline_before_the_sessions_end},
        {"deadline: somebody's order it cannot foresee", a_deadline_is_not_asked_to_foresee_an_order},
        {"deadline: disagrees with the state", a_deadline_that_disagrees_with_the_state},
        {"deadline: it can pass in a stop between two questions", a_deadline_that_passes_in_a_stop},
        {"deadline: belief after a stop longer than the session", belief_after_a_stop_longer_than_the_session},
        {"deadline: belief beside such a stop", belief_beside_a_stop_longer_than_the_session},
        {"margins: belief past the session's end", belief_past_the_sessions_end},
        {"margins: belief for more than a session after somebody's order", belief_long_after_an_order},
        {"margins: lost before the session's end is measured", lost_before_the_sessions_end},
        {0}};
    static struct findings all;
    f = &all;
    int rc = pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "judge", .tests = tests});
    evidence_free(&e);
    findings_free(f);
    return rc;
}
