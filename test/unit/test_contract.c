/* The functions by which a step asserts its state and its event answer false where these are wrong. Stories and
 * histories see the true answers alone. */
#include "lib/core/barrier.h"
#include "lib/core/contender.h"
#include "lib/core/contract.h"
#include "lib/core/double_barrier.h"
#include "lib/core/session.h"
#include "lib/core/stray.h"
#include "test/lib/check.h"

static uint64_t ops;

static void a_barrier(void)
{
    struct pdk__barrier whole, b;
    pdk__barrier_init(&whole, &ops, PDK__BARRIER_WAIT, 1, true);
    CHECK(pdk__barrier_allowed(&whole));
    static const enum pdk__barrier_phase connected[] = {PDK__BARRIER_ASKING, PDK__BARRIER_PARENTS,
                                                        PDK__BARRIER_WATCHING, PDK__BARRIER_BACKOFF};
    for (size_t i = 0; i < sizeof connected / sizeof *connected; i++) {
        b = whole;
        b.phase = connected[i], b.connected = false, b.op = 1, b.watched = true;
        CHECK(!pdk__barrier_allowed(&b));
    }
    b = whole, b.phase = PDK__BARRIER_ASKING; /* no request is under way */
    CHECK(!pdk__barrier_allowed(&b));
    b = whole, b.watched = true;
    CHECK(!pdk__barrier_allowed(&b));
    b = whole, b.task = PDK__BARRIER_SET, b.op = 1, b.phase = PDK__BARRIER_WATCHING;
    CHECK(!pdk__barrier_allowed(&b));
    b = whole, b.op = 1, b.begun = true; /* one that waits writes nothing */
    CHECK(!pdk__barrier_allowed(&b));
    b = whole, b.op = 1, b.phase = PDK__BARRIER_PARENTS;
    CHECK(!pdk__barrier_allowed(&b));
    b = whole, b.op = 1, b.phase = PDK__BARRIER_WATCHING; /* what for? */
    CHECK(!pdk__barrier_allowed(&b));

    struct pdk__event created = {.kind = PDK__EV_CREATED, .op = 1};
    b = whole, b.op = 1, b.phase = PDK__BARRIER_ASKING, b.watched = true;
    CHECK(pdk__barrier_allowed(&b) && !pdk__contract_allows_barrier(&b, &created));
    b.task = PDK__BARRIER_SET;
    CHECK(pdk__contract_allows_barrier(&b, &created));
    b.task = PDK__BARRIER_WAIT, b.phase = PDK__BARRIER_WATCHING; /* late: it changes nothing */
    CHECK(pdk__contract_allows_barrier(&b, &created));
}

enum { N_REPLIES = 5 };
static const enum pdk__event_kind replies[N_REPLIES] = {PDK__EV_CREATED, PDK__EV_MADE_PARENTS, PDK__EV_DELETED,
                                                        PDK__EV_IDENTIFIED, PDK__EV_WATCHED};

/* One letter for each of the replies that its request can have. */
static void a_barriers_replies(void)
{
    static const struct {
        enum pdk__barrier_task task;
        bool once;
        enum pdk__barrier_phase phase;
        const char *allowed;
    } cases[] = {
        {PDK__BARRIER_SET, false, PDK__BARRIER_ASKING, "C--I-"},
        {PDK__BARRIER_SET, false, PDK__BARRIER_PARENTS, "-P---"},
        {PDK__BARRIER_SET, false, PDK__BARRIER_FADING, "-----"},
        {PDK__BARRIER_REMOVE, false, PDK__BARRIER_ASKING, "--D--"},
        {PDK__BARRIER_REMOVE, false, PDK__BARRIER_FADING, "-----"},
        {PDK__BARRIER_WAIT, false, PDK__BARRIER_ASKING, "----W"},
        {PDK__BARRIER_WAIT, true, PDK__BARRIER_ASKING, "---I-"},
        {PDK__BARRIER_WAIT, false, PDK__BARRIER_WATCHING, "CPDIW"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pdk__barrier b = {.task = cases[i].task, .once = cases[i].once, .phase = cases[i].phase, .op = 1};
        char allowed[N_REPLIES + 1] = "";
        for (int k = 0; k < N_REPLIES; k++) {
            struct pdk__event ev = {.kind = replies[k], .op = 1};
            allowed[k] = pdk__contract_allows_barrier(&b, &ev) ? "CPDIW"[k] : '-';
            ev.outcome = PDK__REFUSED; /* without an error for the caller */
            CHECK(!pdk__contract_allows_barrier(&b, &ev));
            ev.op = 2, ev.outcome = PDK__OK; /* of another request */
            CHECK(pdk__contract_allows_barrier(&b, &ev));
        }
        CHECK_STR(allowed, cases[i].allowed);
    }
    struct pdk__barrier b = {.phase = PDK__BARRIER_APART};
    CHECK(pdk__contract_allows_barrier(&b, &(struct pdk__event){.kind = PDK__EV_ACQUIRE}));
    CHECK(!pdk__contract_allows_barrier(&b, &(struct pdk__event){.kind = PDK__EV_SESSION_OVER}));
    b.op = 1;
    CHECK(!pdk__contract_allows_barrier(&b, &(struct pdk__event){.kind = PDK__EV_ACQUIRE}));
    b.op = 0, b.phase = PDK__BARRIER_OVER;
    CHECK(!pdk__contract_allows_barrier(&b, &(struct pdk__event){.kind = PDK__EV_ACQUIRE}));
}

static void a_double_barrier(void)
{
    struct pdk__double_barrier whole, b;
    pdk__double_barrier_init(&whole, &ops, 2, 1, 1, 0x5, true);
    CHECK(pdk__double_barrier_allowed(&whole));
    b = whole, b.outlived = true, b.node = PDK__NODE_NO, b.op = 1, b.phase = PDK__MEMBER_COUNTING;
    CHECK(!pdk__double_barrier_allowed(&b));
    b.phase = PDK__MEMBER_REMOVING;
    CHECK(pdk__double_barrier_allowed(&b));
    b = whole, b.aim = PDK__AIM_INSIDE; /* without a node */
    CHECK(!pdk__double_barrier_allowed(&b));
    b = whole, b.phase = PDK__MEMBER_CREATING, b.node = PDK__NODE_MAYBE;
    CHECK(!pdk__double_barrier_allowed(&b));
    b.op = 1;
    CHECK(pdk__double_barrier_allowed(&b));
    b.connected = false;
    CHECK(!pdk__double_barrier_allowed(&b));
    b = whole, b.watched = true;
    CHECK(!pdk__double_barrier_allowed(&b));

    struct pdk__event ev = {.kind = PDK__EV_ACQUIRE};
    CHECK(pdk__contract_allows_member(&whole, &ev) == (whole.phase == PDK__MEMBER_APART));
    b = whole, b.phase = PDK__MEMBER_INSIDE;
    CHECK(!pdk__contract_allows_member(&b, &ev));
    b = whole, b.phase = PDK__MEMBER_APART, b.aim = PDK__AIM_LEAVE;
    CHECK(!pdk__contract_allows_member(&b, &ev));
    b.aim = PDK__AIM_ENTER, b.op = 1;
    CHECK(!pdk__contract_allows_member(&b, &ev));
    static const struct pdk__event wrong[] = {{.kind = PDK__EV_SESSION_UP},
                                              {.kind = PDK__EV_SESSION_OVER},
                                              {.kind = PDK__EV_SESSION_LEFT, .error = 1},
                                              {.kind = PDK__EV_CREATED, .outcome = PDK__REFUSED}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(!pdk__contract_allows_member(&whole, &wrong[i]));
}

static void a_stray(void)
{
    struct pdk__stray s;
    pdk__stray_init(&s, &ops, 0x5, 1, 1, 100);
    CHECK(pdk__stray_allowed(&s));
    struct pdk__event ev = {.kind = PDK__EV_TIMER, .now_ms = 99};
    CHECK(!pdk__contract_allows_stray(&s, &ev)); /* time goes back */
    ev.now_ms = 100;
    CHECK(pdk__contract_allows_stray(&s, &ev));
    ev.kind = PDK__EV_ACQUIRE;
    CHECK(pdk__contract_allows_stray(&s, &ev)); /* nothing happens */
    ev = (struct pdk__event){.kind = PDK__EV_DELETED, .now_ms = 100, .op = 7};
    s.op = 7, s.phase = PDK__STRAY_IDENTIFYING;
    CHECK(!pdk__stray_allowed(&s) && !pdk__contract_allows_stray(&s, &ev));
    static const enum pdk__event_kind answers[] = {PDK__EV_LISTED, PDK__EV_IDENTIFIED, PDK__EV_DELETED};
    static const enum pdk__stray_phase asks[] = {PDK__STRAY_LISTING, PDK__STRAY_IDENTIFYING, PDK__STRAY_DELETING};
    for (int answer = 0; answer < 3; answer++)
        for (int phase = 0; phase < 3; phase++) {
            s.phase = asks[phase];
            ev = (struct pdk__event){.kind = answers[answer], .now_ms = 100, .op = 7};
            CHECK_EQ(pdk__contract_allows_stray(&s, &ev), answer == phase);
            ev.op = 6; /* of an earlier request */
            CHECK(pdk__contract_allows_stray(&s, &ev));
            ev.op = 0;
            CHECK(pdk__contract_allows_stray(&s, &ev));
        }
    s.phase = PDK__STRAY_LISTING, s.connected = false;
    CHECK(!pdk__stray_allowed(&s));
    s.connected = true;
    CHECK(pdk__stray_allowed(&s));
    s.op = 0;
    CHECK(!pdk__stray_allowed(&s));
    ev = (struct pdk__event){.kind = PDK__EV_SESSION_UP, .now_ms = 100};
    CHECK(!pdk__contract_allows_stray(&s, &ev));
}

static void a_contender(void)
{
    struct pdk__contender c = {.now_ms = 100, .op = 7, .phase = PDK__CREATING};
    struct pdk__event ev = {.kind = PDK__EV_TIMER, .now_ms = 99};
    CHECK(!pdk__contract_allows(&c, &ev)); /* time goes back */
    ev = (struct pdk__event){.kind = PDK__EV_TIMER, .now_ms = 100, .error = 1};
    CHECK(!pdk__contract_allows(&c, &ev)); /* errors are negative */
    ev.error = 0;
    CHECK(pdk__contract_allows(&c, &ev));
    ev = (struct pdk__event){.kind = PDK__EV_ACQUIRE, .now_ms = 100};
    CHECK(!pdk__contract_allows(&c, &ev));
    ev = (struct pdk__event){.kind = PDK__EV_DELETED, .now_ms = 100, .op = 7};
    CHECK(!pdk__contract_allows(&c, &ev)); /* it asked for a create */
    ev.kind = PDK__EV_BARRIER;
    CHECK(!pdk__contract_allows(&c, &ev));
    ev.kind = (enum pdk__event_kind)(PDK__EV_DELETED + 1); /* no answer that there is */
    CHECK(!pdk__contract_allows(&c, &ev));
    ev.op = 6; /* of an earlier request: it may be anything */
    CHECK(pdk__contract_allows(&c, &ev));

    static const struct {
        enum pdk__event_kind answer;
        enum pdk__phase asks;
    } pairs[] = {{PDK__EV_BARRIER, PDK__RECOVERING},      {PDK__EV_IDENTIFIED, PDK__IDENTIFYING},
                 {PDK__EV_CONFIRMED, PDK__CONFIRMING},    {PDK__EV_RECORD_READ, PDK__READING_HOLDER},
                 {PDK__EV_RECORDED, PDK__WRITING_HOLDER}, {PDK__EV_DELETED, PDK__DELETING}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (c.phase = 0; c.phase < PDK__N_PHASES; c.phase++) {
            ev = (struct pdk__event){.kind = pairs[i].answer, .now_ms = 100, .op = 7};
            CHECK_EQ(pdk__contract_allows(&c, &ev), c.phase == pairs[i].asks);
        }
    c.phase = PDK__IDLE;
    static const struct pdk__event wrong[] = {
        {.kind = PDK__EV_IDLE},
        {.kind = PDK__EV_SESSION_UP, .timeout_ms = 1},
        {.kind = PDK__EV_SESSION_UP, .session = 1, .timeout_ms = -1},
        {.kind = PDK__EV_SESSION_OVER},
        {.kind = PDK__EV_CREATED, .op = 6, .outcome = PDK__REFUSED},
        {.kind = PDK__EV_CREATED, .op = 7},
        {.kind = PDK__EV_LISTED, .op = 7},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ev = wrong[i];
        ev.now_ms = 100;
        CHECK(!pdk__contract_allows(&c, &ev));
    }
    c.phase = PDK__CREATING, c.node.exists = PDK__NODE_YES;
    ev = (struct pdk__event){.kind = PDK__EV_CREATED, .now_ms = 100, .op = 7};
    CHECK(!pdk__contract_allows(&c, &ev)); /* twice */
    c.phase = PDK__HELD, c.requested = false;
    ev.kind = PDK__EV_IDLE;
    CHECK(!pdk__contract_allows(&c, &ev));
}

static void a_session(void)
{
    struct pdk__session whole, s;
    pdk__session_init(&whole, true, (struct pdk__session_policy){0}, 7, 4000, 100);
    CHECK(pdk__session_allowed(&whole));
    s = whole, s.id = 0x5; /* before it is connected */
    CHECK(!pdk__session_allowed(&s));
    s = whole, s.timeout_ms = 0;
    CHECK(!pdk__session_allowed(&s));
    s = whole, s.timeout_ms++; /* its parts are of another timeout */
    CHECK(!pdk__session_allowed(&s));
    s = whole, s.silence.n_left = -1;
    CHECK(!pdk__session_allowed(&s));
    s = whole, s.silence.n_passed = -1;
    CHECK(!pdk__session_allowed(&s));
    s = whole, s.n_asked = 1; /* without a server */
    CHECK(!pdk__session_allowed(&s));
    s = whole, s.flowing = true;
    CHECK(!pdk__session_allowed(&s));
    s = whole, s.lease_low = false, s.lease_expired = true;
    CHECK(!pdk__session_allowed(&s));
    s = whole, s.chain.proven_ms = 1; /* a proof of no session */
    CHECK(!pdk__session_allowed(&s));
    s = whole, s.id = 0x5, s.phase = PDK__SESSION_SUSPENDED, s.away_ms = PDK__NEVER;
    CHECK(!pdk__session_allowed(&s));

    struct pdk__session up = whole;
    struct pdk__session_actions out;
    pdk__session_step(
        &up,
        &(struct pdk__session_event){.kind = PDK__SEV_CONNECTED, .now_ms = 100, .session = 0x5, .timeout_ms = 4000},
        &out);
    CHECK(up.phase == PDK__SESSION_CONNECTED && pdk__session_allowed(&up));
    s = up, s.n_asked = -1;
    CHECK(!pdk__session_allowed(&s));
    s = up, s.n_asked = PDK__ASKED_MAX + 1;
    CHECK(!pdk__session_allowed(&s));
    s = up, s.flowing = true, s.lease_needed = false; /* for no holder */
    CHECK(!pdk__session_allowed(&s));
    s = up, s.chain.proven_ms = s.chain.latest_ms + 1;
    CHECK(!pdk__session_allowed(&s));

    struct pdk__session_event ev = {.kind = PDK__SEV_OPEN_FAILED, .now_ms = 100};
    CHECK(pdk__contract_allows_session(&whole, &ev) && !pdk__contract_allows_session(&up, &ev));
    ev = (struct pdk__session_event){.kind = PDK__SEV_OPENED, .now_ms = 100, .since_ms = 101};
    CHECK(!pdk__contract_allows_session(&whole, &ev));
    ev = (struct pdk__session_event){.kind = PDK__SEV_ANSWERED, .now_ms = 100, .sent_ms = 101};
    CHECK(!pdk__contract_allows_session(&up, &ev));
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {{"a barrier's states and events", a_barrier},
                                             {"the replies of a barrier", a_barriers_replies},
                                             {"those of a member of a double barrier", a_double_barrier},
                                             {"those of a stray", a_stray},
                                             {"the events of a contender", a_contender},
                                             {"the states and events of a session", a_session},
                                             {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "contract", .tests = tests});
}
