/*
 * The judge of histories is judged, for recipes with readers, permits, several paths and turns: from lawful grants each
 * test breaks one thing, and the law that forbids it must say so. test_judge.c has what all recipes share.
 */
#include "test/chaos/findings.h"
#include "test/lib/check.h"
#include "test/lib/history.h"
#include <paddock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)

enum { CLIENTS = 4 };

static struct evidence e;
static struct findings *f;

/* --- grants ------------------------------------------------------------------------------------------------------ */

static void begin(void)
{
    evidence_free(&e);
    findings_free(f);
    e = (struct evidence){.n_dissenters = 1, .session_ms = 2000, .tick_ms = 200, .end_ns = 12000 * MS};
    for (int i = 0; i < CLIENTS; i++)
        PUSH(&e.processes) = (struct process){
            .place = i, .generation = 1, .pid = 100 + i, .killed_ns = NEVER, .ended_ns = 11000 * MS};
    PUSH(&e.clocks) = (struct clock_pair){.ns = 0, .wall_ns = 0};
}

static struct znode *add_node(int process, enum lane lane, const char *tag, int64_t czxid, int64_t from_ms,
                              int64_t until_ms)
{
    struct znode *z = evidence_grow((void **)&e.truth.nodes, &e.truth.n, &e.truth.cap, sizeof *z);
    *z = (struct znode){.lane = lane,
                        .is_contender = true,
                        .owner = 0xa0 + process,
                        .czxid = czxid,
                        .rank = czxid,
                        .created_ms = from_ms,
                        .gone_zxid = until_ms * 1000,
                        .gone_ms = until_ms,
                        .ending = BY_OWNER};
    snprintf(z->name, sizeof z->name, "%016x-%08x-%s%010d", 0xa0 + process, (int)e.truth.n, tag, (int)czxid);
    return z;
}

static const char *tag_of(enum recipe recipe)
{
    return recipe == RECIPE_WRITE                                ? "__WRIT__"
           : recipe == RECIPE_READ || recipe == RECIPE_DOWNGRADE ? "__READ__"
           : recipe == RECIPE_PERMITS                            ? "lease-"
                                                                 : "lock-";
}

static void add_part(struct request *r, const struct znode *z, int64_t token)
{
    struct part *p = &r->parts[r->n_parts++];
    *p = (struct part){.lane = z->lane, .token = token};
    snprintf(p->node, sizeof p->node, "%.60s", z->name);
}

static struct request *add_request(int process, enum recipe recipe, int64_t token, int64_t from_ms, int64_t until_ms)
{
    struct request *r = &PUSH(&e.requests);
    *r = (struct request){.process = process,
                          .recipe = recipe,
                          .number = (int)token,
                          .timeout_ms = -1,
                          .asked_ns = (from_ms - 1) * MS,
                          .answered_ns = from_ms * MS,
                          .n_answers = 1,
                          .token = token,
                          .session = 0xa0 + process,
                          .valid_ms = 1,
                          .lost_ns = NEVER,
                          .unlocking_ns = until_ms * MS,
                          .unlocked_ns = (until_ms + 2) * MS,
                          .n_unlocked = 1};
    for (int64_t ms = from_ms; ms < until_ms; ms += 10) {
        struct told *t = evidence_grow((void **)&r->told, &r->n_told, &r->cap_told, sizeof *t);
        *t = (struct told){.ns = ms * MS, .state = PDK_HELD, .valid_ms = 1, .is_question = true};
    }
    return r;
}

/* N nodes in the lane of the recipe, or in as many of the multi-locks' from LANE on. TOKEN is that of the last; a
 * multi-lock's nodes have one. The nodes are there from 50 ms on. */
static void hold_in(int process, enum recipe recipe, enum lane lane, int n, int64_t token, int64_t from_ms,
                    int64_t until_ms)
{
    bool is_multi = recipe == RECIPE_MULTI;
    struct request *r = add_request(process, recipe, token, from_ms, until_ms);
    r->n_wanted = n;
    for (int i = 0; i < n; i++) {
        enum lane at = is_multi ? (enum lane)(lane + i) : lane;
        int64_t czxid = is_multi ? token : token - n + 1 + i;
        add_part(r, add_node(process, at, tag_of(recipe), czxid, 50, until_ms + 1),
                 recipe == RECIPE_PERMITS ? 0 : czxid);
    }
}

static void hold(int process, enum recipe recipe, int64_t token, int64_t from_ms, int64_t until_ms)
{
    hold_in(process, recipe, recipe_lane(recipe), 1, token, from_ms, until_ms);
}

static struct request *request_of(int64_t token)
{
    for (size_t i = 0; i < e.requests.n; i++)
        if (e.requests.list[i].number == (int)token)
            return &e.requests.list[i];
    pdk__test_fail(__FILE__, __LINE__, "no request %d", (int)token);
}

static struct znode *node_of(enum lane lane, int64_t czxid)
{
    return (struct znode *)(uintptr_t)truth_find(&e.truth, lane, czxid);
}

/* --- verdicts ---------------------------------------------------------------------------------------------------- */

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

/* Service and leftovers are not asked for. */
static void judged(void)
{
    e.healed_ns = 0;
    qsort(e.truth.nodes, e.truth.n, sizeof *e.truth.nodes, by_czxid);
    qsort(e.requests.list, e.requests.n, sizeof *e.requests.list, by_process);
    evidence_settle(&e);
    judge_evidence(&e, f);
}

static void is_lawful(void)
{
    judged();
    if (f->n_breaches > 0)
        pdk__test_fail(__FILE__, __LINE__, "%s", f->breach[0]);
}

/* Each of LAWS (two at most) is broken, and no other. */
static void break_both(const char *one, const char *other)
{
    bool told_one = false, told_other = false;
    judged();
    for (int i = 0; i < f->n_breaches; i++) {
        bool is_one = strncmp(f->breach[i], one, strlen(one)) == 0;
        if (!is_one && strncmp(f->breach[i], other, strlen(other)) != 0)
            pdk__test_fail(__FILE__, __LINE__, "not %s or %s: %s", one, other, f->breach[i]);
        told_one |= is_one;
        told_other |= strncmp(f->breach[i], other, strlen(other)) == 0;
    }
    CHECK(told_one && told_other);
}

static void breaks(const char *law) { break_both(law, law); }

/* --- readers and writers ----------------------------------------------------------------------------------------- */

static void readers_share(void)
{
    begin();
    hold(0, RECIPE_READ, 10, 100, 200);
    hold(1, RECIPE_READ, 11, 90, 180); /* granted before the one with the smaller token */
    hold(2, RECIPE_WRITE, 12, 205, 300);
    hold(3, RECIPE_READ, 13, 305, 400);
    is_lawful();
}

static void a_writer_beside_a_reader(void)
{
    begin();
    hold(0, RECIPE_READ, 10, 100, 200);
    hold(2, RECIPE_WRITE, 12, 150, 300);
    break_both("belief", "order");
}

static void a_reader_beside_a_writer(void)
{
    begin();
    hold(0, RECIPE_WRITE, 10, 100, 200);
    hold(2, RECIPE_READ, 12, 150, 300);
    break_both("belief", "order");
}

static void a_reader_that_passes_a_waiting_writer(void)
{
    begin();
    hold(0, RECIPE_READ, 10, 100, 200);
    hold(1, RECIPE_READ, 12, 150, 180);
    hold(2, RECIPE_WRITE, 11, 205, 300);
    break_both("order", "tokens");
}

static void writers_out_of_order(void)
{
    begin();
    hold(0, RECIPE_WRITE, 11, 100, 200);
    hold(1, RECIPE_WRITE, 10, 205, 300);
    break_both("order", "tokens");
}

static void a_writers_token_below_a_readers(void)
{
    begin();
    hold(0, RECIPE_READ, 11, 100, 200);
    hold(1, RECIPE_WRITE, 10, 205, 300);
    break_both("order", "tokens");
}

/* The writer with 10 reads from 150 ms on, under its number; the next writer has 12. */
static void downgrades(int64_t next_from_ms)
{
    begin();
    hold(0, RECIPE_WRITE, 10, 100, 150);
    struct znode *z = add_node(0, LANE_RWLOCK, "__READ__", 14, 140, 251);
    z->rank = 10;
    struct request *r = add_request(0, RECIPE_DOWNGRADE, 10, 152, 250);
    snprintf(r->node, sizeof r->node, "%.60s", z->name);
    r->asked_ns = 145 * MS;
    hold(1, RECIPE_WRITE, 12, next_from_ms, 400);
}

static void a_writer_goes_on_as_a_reader(void)
{
    downgrades(255);
    is_lawful();
}

static void a_writer_comes_between(void)
{
    downgrades(160);
    break_both("belief", "order");
}

static void a_downgrade_under_another_number(void)
{
    downgrades(255);
    node_of(LANE_RWLOCK, 14)->rank = 9;
    break_both("tokens", "order");
}

/* --- permits ----------------------------------------------------------------------------------------------------- */

static void permits_up_to_the_limit(void)
{
    begin();
    hold_in(0, RECIPE_PERMITS, LANE_PERMITS, 2, 11, 100, 200);
    hold_in(1, RECIPE_PERMITS, LANE_PERMITS, 1, 12, 110, 300);
    hold_in(2, RECIPE_PERMITS, LANE_PERMITS, 2, 14, 205, 300);
    is_lawful();
}

/* No two of the three are too many. */
static void permits_above_the_limit(void)
{
    begin();
    hold_in(0, RECIPE_PERMITS, LANE_PERMITS, 1, 10, 100, 200);
    hold_in(1, RECIPE_PERMITS, LANE_PERMITS, 1, 11, 110, 200);
    hold_in(2, RECIPE_PERMITS, LANE_PERMITS, 2, 14, 150, 200);
    break_both("belief", "order");
}

static void permits_that_were_taken_away(void)
{
    begin();
    hold_in(0, RECIPE_PERMITS, LANE_PERMITS, 1, 10, 100, 200);
    hold_in(1, RECIPE_PERMITS, LANE_PERMITS, 1, 11, 110, 200);
    hold_in(2, RECIPE_PERMITS, LANE_PERMITS, 2, 14, 150, 200);
    struct znode *z = node_of(LANE_PERMITS, 10);
    z->gone_ms = 140;
    z->ending = BY_ANOTHER;
    is_lawful();
}

/* Of the younger, before all of them were granted. */
static void a_permit_that_was_taken_away_from_a_request(void)
{
    for (int gone_ms = 140; gone_ms <= 160; gone_ms += 20) {
        begin();
        hold_in(0, RECIPE_PERMITS, LANE_PERMITS, 1, 10, 100, 200);
        hold_in(1, RECIPE_PERMITS, LANE_PERMITS, 3, 13, 150, 250);
        struct znode *z = node_of(LANE_PERMITS, 11);
        z->gone_ms = gone_ms;
        z->ending = BY_ANOTHER;
        if (gone_ms == 140)
            is_lawful();
        else
            break_both("belief", "order");
    }
}

static void two_requests_above_the_limit(void)
{
    begin();
    hold_in(0, RECIPE_PERMITS, LANE_PERMITS, 2, 11, 100, 200);
    hold_in(1, RECIPE_PERMITS, LANE_PERMITS, 2, 13, 150, 250);
    break_both("belief", "order");
}

static void a_grant_without_all_its_nodes(void)
{
    begin();
    hold_in(0, RECIPE_PERMITS, LANE_PERMITS, 2, 11, 100, 200);
    request_of(11)->n_wanted = 3;
    breaks("parts");
    for (int i = 0; i < 2; i++) {
        begin();
        hold_in(0, RECIPE_PERMITS, LANE_PERMITS, 2, 11, 100, 200);
        strcpy(request_of(11)->parts[i].node, "nowhere");
        breaks("tokens");
    }
}

static void a_permit_that_stays_after_the_release(void)
{
    begin();
    hold_in(0, RECIPE_PERMITS, LANE_PERMITS, 2, 11, 100, 200);
    node_of(LANE_PERMITS, 11)->gone_ms = 300;
    breaks("outcomes");
}

/* --- multi-locks ------------------------------------------------------------------------------------------------- */

static void multi_locks_in_turn(void)
{
    begin();
    hold_in(0, RECIPE_MULTI, LANE_A, 2, 10, 100, 200); /* A and B */
    hold_in(1, RECIPE_MULTI, LANE_B, 2, 11, 205, 300); /* B and C */
    is_lawful();
    begin();
    hold_in(0, RECIPE_MULTI, LANE_A, 1, 10, 100, 200); /* A; B and C beside it */
    hold_in(1, RECIPE_MULTI, LANE_B, 2, 11, 105, 300);
    is_lawful();
}

static void multi_locks_that_share_a_path(void)
{
    begin();
    hold_in(0, RECIPE_MULTI, LANE_A, 2, 10, 100, 200);
    hold_in(1, RECIPE_MULTI, LANE_B, 2, 11, 150, 300);
    break_both("belief", "order");
}

static void a_multi_lock_that_is_second_on_one_path(void)
{
    begin();
    hold_in(0, RECIPE_MULTI, LANE_A, 3, 10, 100, 200);
    add_node(3, LANE_C, "lock-", 5, 10, 150);
    breaks("order");
}

static void a_multi_lock_held_in_part_at_its_end(void)
{
    begin();
    hold_in(0, RECIPE_MULTI, LANE_A, 3, 10, 100, 200);
    node_of(LANE_B, 10)->gone_ms = 300;
    breaks("outcomes");
}

static void a_multi_lock_without_one_of_its_paths(void)
{
    begin();
    hold_in(0, RECIPE_MULTI, LANE_A, 2, 10, 100, 200);
    request_of(10)->n_wanted = 3;
    breaks("parts");
}

/* --- turns ------------------------------------------------------------------------------------------------------- */

/* The first leads and yields, the second leads, then the first again. */
static void take_turns(int64_t again)
{
    begin();
    hold(0, RECIPE_TURN, 10, 100, 200);
    request_of(10)->is_yield = true;
    hold(1, RECIPE_TURN, 11, 205, 300);
    hold(0, RECIPE_TURN, again, 305, 400);
    node_of(LANE_TURNS, again)->created_ms = 201;
}

static void candidates_in_turns(void)
{
    take_turns(12);
    is_lawful();
    take_turns(12);
    node_of(LANE_TURNS, 10)->gone_ms = 206; /* a yield does not wait */
    is_lawful();
}

static void two_leaders(void)
{
    take_turns(12);
    request_of(11)->answered_ns = 150 * MS;
    break_both("belief", "order");
}

static void yields_and_goes(void)
{
    take_turns(12);
    node_of(LANE_TURNS, 12)->owner = request_of(12)->session = 0xa2;
    request_of(12)->process = 2;
}

static void strike(enum fault_id id, int victim)
{
    PUSH(&e.strikes) = (struct strike){
        .id = id, .victim = victim, .from_ns = 150 * MS, .until_ns = 160 * MS, .took = true};
}

static void a_candidate_that_yields_and_goes(void)
{
    yields_and_goes();
    breaks("turns");
    yields_and_goes();
    strike(FAULT_CUT, 1);
    breaks("turns");
    yields_and_goes();
    strike(FAULT_CUT, 0);
    is_lawful();
    yields_and_goes();
    strike(FAULT_LEADER_PAUSED, 1);
    is_lawful();
}

/* The one that waited is passed. */
static void a_candidate_that_yields_to_nobody(void)
{
    take_turns(12);
    request_of(12)->answered_ns = 203 * MS;
    request_of(12)->unlocking_ns = 204 * MS;
    request_of(12)->unlocked_ns = 500 * MS;
    request_of(12)->n_told = 0;
    break_both("order", "tokens");
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"readers: they share, in any order", readers_share},
        {"readers: a writer beside one", a_writer_beside_a_reader},
        {"readers: one beside a writer", a_reader_beside_a_writer},
        {"readers: one that passes a waiting writer", a_reader_that_passes_a_waiting_writer},
        {"writers: not in their order", writers_out_of_order},
        {"writers: a token below a reader's", a_writers_token_below_a_readers},
        {"writers: one goes on as a reader", a_writer_goes_on_as_a_reader},
        {"writers: one comes between that and its reading", a_writer_comes_between},
        {"writers: a downgrade under another number", a_downgrade_under_another_number},
        {"permits: up to the limit", permits_up_to_the_limit},
        {"permits: more than the limit, by three holders", permits_above_the_limit},
        {"permits: more than the limit, by two holders", two_requests_above_the_limit},
        {"permits: taken away by somebody's order, they do not count", permits_that_were_taken_away},
        {"permits: taken away before the grant, they do not count", a_permit_that_was_taken_away_from_a_request},
        {"permits: a grant without all its nodes", a_grant_without_all_its_nodes},
        {"permits: a node stays after the release", a_permit_that_stays_after_the_release},
        {"multi-locks: in turn, and beside each other", multi_locks_in_turn},
        {"multi-locks: two that share a path", multi_locks_that_share_a_path},
        {"multi-locks: second on one path", a_multi_lock_that_is_second_on_one_path},
        {"multi-locks: held in part when the end was told", a_multi_lock_held_in_part_at_its_end},
        {"multi-locks: without one of the paths", a_multi_lock_without_one_of_its_paths},
        {"turns: one after the other", candidates_in_turns},
        {"turns: two leaders", two_leaders},
        {"turns: who yields is no candidate any more", a_candidate_that_yields_and_goes},
        {"turns: who yields leads again before the others", a_candidate_that_yields_to_nobody},
        {0}};
    static struct findings all;
    f = &all;
    int rc = pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "lanes", .tests = tests});
    evidence_free(&e);
    findings_free(f);
    return rc;
}
