/* Locks of every kind: each fact is the same for a mutex, a reader, a writer, permits, a multi-lock and a leader. Where
 * not every kind has all that a fact needs, the others are skipped. */
#include "lib/clock.h"
#include "lib/zk/client.h"
#include "lib/zk/session_driver.h"
#include "test/integration/kinds.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { N_CHANGES = 16, SESSION_MS = 10000, SHORT_MS = 2000 };

/* A client with a lock, and the changes of its grants. A loss of a leader's is the end of its term. */
static struct side {
    pdk_client *client;
    pdk_lock *lock;
    atomic_int n_changes;
    pdk_event changes[N_CHANGES];
} a, b;

static char names[2][96];
static const char *const paths[2] = {names[0], names[1]};

static void note_change(pdk_lock *l, const pdk_event *event, void *arg)
{
    struct side *s = arg;
    if (l != s->lock) /* of a test that has failed */
        return;
    bool is_change = event->kind == PDK_EVENT_STATE || (event->kind == PDK_EVENT_DEPOSED && event->state == PDK_LOST);
    if (is_change && s->n_changes < N_CHANGES)
        s->changes[s->n_changes] = *event;
    s->n_changes += is_change;
}

static void check_change(struct side *s, int i, pdk_state state, int64_t token)
{
    CHECK_WITHIN(LONG_MS, s->n_changes > i);
    CHECK_EQ(s->changes[i].state, state);
    CHECK_EQ(s->changes[i].token, token);
}

static pdk_lock *make(const struct kind *k, pdk_client *c)
{
    pdk_lock *l;
    CHECK_RC(k->new (&l, c, paths, NULL), 0);
    return l;
}

static void open_side(struct side *s, const struct kind *k, pdk_client_options *o)
{
    memset(s, 0, sizeof *s);
    s->client = fixture_client(o);
    s->lock = make(k, s->client);
    CHECK_RC(pdk_lock_on_event(s->lock, note_change, s), 0);
}

static void close_side(struct side *s)
{
    CHECK_RC(pdk_lock_free(s->lock), 0);
    CHECK_RC(pdk_client_close(s->client), 0);
    CHECK_RC(pdk_client_free(s->client), 0);
}

static void choose_paths(const struct kind *k)
{
    pdk__test_note("%s", k->is);
    for (int i = 0; i < 2; i++)
        snprintf(names[i], sizeof names[i], "%s", fixture_path());
}

/* Beside what kinds have. */
enum { MESSAGES = 1 << 8 }; /* which the proxies read, but for those of TLS */

/* Run FACT for each kind that has what it NEEDS, on paths of its own. In the end no node is left, and the locks can be
 * freed. */
static void over(unsigned needs, void (*fact)(const struct kind *k))
{
    if ((needs & MESSAGES) != 0 && fixture.e->secure)
        SKIP("the proxies read no message");
    needs &= ~(unsigned)MESSAGES;
    fixture_begin();
    for (const struct kind *k = kinds; k < kinds + N_KINDS; k++) {
        if ((k->has & needs) != needs)
            continue;
        choose_paths(k);
        open_side(&a, k, fixture_options(SESSION_MS));
        open_side(&b, k, fixture_options(SESSION_MS));
        fact(k);
        CHECK_WITHIN(LONG_MS, kind_nodes(k, paths) == 0);
        close_side(&a);
        close_side(&b);
    }
}

/* A test of that name, whose body is the fact about K. */
#define FACT(name, needs)                                                                                              \
    static void name##_of(const struct kind *k);                                                                       \
    static void name(void) { over(needs, name##_of); }                                                                 \
    static void name##_of(const struct kind *k)

static const struct kind *rival(const struct kind *k) { return &kinds[k->rival]; }

static bool nodes_are(const struct kind *k, int n) { return kind_nodes(k, paths) == n; }

/* Ask, and be in the queue behind the one grant of a K. */
static void ask_behind(struct hold *w, const struct kind *k, pdk_lock *l)
{
    hold_ask(w, rival(k), l, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, nodes_are(k, (int)k->n_nodes + rival(k)->n_nodes_asked));
    CHECK_EQ(hold_told(w), 1);
}

static void hold_answers(pdk__proxy *p) { pdk__proxy_hold(p, PDK__TO_CLIENT, true); }
static void let_answers(pdk__proxy *p) { pdk__proxy_hold(p, PDK__TO_CLIENT, false); }

static void expire(struct side *s) { fixture_expire(pdk__client_zh(s->client)); }

/* --- options ----------------------------------------------------------------------------------------------------- */

static void set_min_token(pdk_lock_options *o) { CHECK_RC(pdk_lock_options_set_min_token(o, 1), 0); }
static void set_confirmed(pdk_lock_options *o) { CHECK_RC(pdk_lock_options_set_confirmed(o, true), 0); }
static void set_lock_delay(pdk_lock_options *o) { CHECK_RC(pdk_lock_options_set_lock_delay_ms(o, 1), 0); }
static void set_nowait(pdk_lock_options *o) { CHECK_RC(pdk_lock_options_set_unlock_nowait(o, true), 0); }
static void set_handover(pdk_lock_options *o) { CHECK_RC(pdk_lock_options_set_keep(o, 1, 0), 0); }
static void set_idle(pdk_lock_options *o) { CHECK_RC(pdk_lock_options_set_keep(o, 0, 1), 0); }
static void set_look_ahead(pdk_lock_options *o) { CHECK_RC(pdk_lock_options_set_look_ahead(o, true), 0); }
static void set_data(pdk_lock_options *o) { CHECK_RC(pdk_lock_options_set_data(o, "d", 1), 0); }
static void set_unmixed(pdk_lock_options *o) { CHECK_RC(pdk_lock_options_set_refuse_mixed(o, true), 0); }

enum { M = 1 << MUTEX, RW = 1 << READER | 1 << WRITER, S = 1 << SEMAPHORE, ML = 1 << MULTILOCK, L = 1 << LEADER };

FACT(options, 0)
{
    static const struct {
        void (*set)(pdk_lock_options *o);
        unsigned of; /* the kinds that have it */
    } cases[] = {{set_data, M | RW | S | ML | L},
                 {set_unmixed, M | RW | S | ML | L},
                 {set_min_token, M | RW | S | ML},
                 {set_confirmed, M | RW | S | ML},
                 {set_nowait, M | RW | S | ML},
                 {set_lock_delay, M},
                 {set_handover, M},
                 {set_idle, M | RW},
                 {set_look_ahead, M | RW | ML}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        bool fits = (cases[i].of & 1u << (k - kinds)) != 0;
        pdk_lock *lock = NULL;
        pdk_lock_options *o = pdk_lock_options_new();
        cases[i].set(o);
        CHECK_RC(k->new (&lock, a.client, paths, o), fits ? 0 : PDK_ENOTSUP);
        CHECK((lock != NULL) == fits);
        pdk_client_last_error(a.client, text, sizeof text);
        CHECK(fits ? text[0] == '\0' : strstr(text, ": not supported") != NULL);
        CHECK_RC(pdk_lock_free(lock), 0);
        pdk_lock_options_free(o);
    }
}

/* Make the lock of A anew, with O, which is freed. */
static void make_with(const struct kind *k, pdk_lock_options *o)
{
    CHECK_RC(pdk_lock_free(a.lock), 0);
    CHECK_RC(k->new (&a.lock, a.client, paths, o), 0);
    pdk_lock_options_free(o);
}

FACT(least_token, HANDLED)
{
    struct hold h;
    pdk_lock_options *o = pdk_lock_options_new();
    CHECK_RC(pdk_lock_options_set_min_token(o, INT64_MAX), 0);
    make_with(k, o);
    hold_ask(&h, k, a.lock, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, hold_told(&h) == PDK_ESTALE);
    CHECK_RC(hold_release(&h), PDK_EPERM);
    CHECK_RC(pdk_client_flush(a.client, LONG_MS), 0);
}

FACT(confirmed, HANDLED | MESSAGES)
{
    struct hold h;
    pdk_lock_options *o = pdk_lock_options_new();
    CHECK_RC(pdk_lock_options_set_confirmed(o, true), 0);
    make_with(k, o);
    int before = fixture_requests(PDK__OP_SET);
    hold_ask(&h, k, a.lock, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, hold_told(&h) == 0);
    CHECK_EQ(fixture_requests(PDK__OP_SET) - before, k->n_nodes);
    CHECK_RC(hold_release(&h), 0);
}

/* The answers to the deletes are held back meanwhile. */
FACT(not_awaited, HANDLED)
{
    struct hold h;
    pdk_lock_options *o = pdk_lock_options_new();
    CHECK_RC(pdk_lock_options_set_unlock_nowait(o, true), 0);
    make_with(k, o);
    hold_ask(&h, k, a.lock, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, hold_told(&h) == 0);
    fixture_each_proxy(hold_answers);
    CHECK_RC(hold_release(&h), 0);
    fixture_each_proxy(let_answers);
    CHECK_RC(pdk_client_flush(a.client, LONG_MS), 0);
}

/* --- wrong requests ---------------------------------------------------------------------------------------------- */

static void check_refused(const struct kind *k, int rc)
{
    char text[512];
    CHECK_RC(rc, PDK_EINVAL);
    pdk_lock_last_error(a.lock, text, sizeof text);
    const char *is = strstr(text, "invalid argument: it is ");
    CHECK(is != NULL && strcmp(is + strlen("invalid argument: it is "), k->is) == 0);
    CHECK_RC(pdk_lock_on_event(a.lock, NULL, NULL), 0);
}

static void nothing(int rc, void *arg)
{
    (void)rc;
    (void)arg;
}

FACT(another_kind, 0)
{
    pdk_grant *none = NULL;
    struct zoo_op op;
    int64_t token;
    uint64_t turn;
    unsigned is = 1u << (k - kinds);
    if ((is & (M | ML)) == 0) {
        check_refused(k, pdk_mutex_lock(a.lock));
        check_refused(k, pdk_mutex_trylock(a.lock));
        check_refused(k, pdk_mutex_unlock(a.lock));
        check_refused(k, pdk_mutex_lock_async(a.lock, 0, nothing, NULL, &none));
    }
    if ((is & RW) == 0) {
        check_refused(k, pdk_rwlock_rdlock(a.lock));
        check_refused(k, pdk_rwlock_timedwrlock(a.lock, 0));
        check_refused(k, pdk_rwlock_unlock_async(a.lock, NULL, NULL));
    }
    if ((is & S) == 0) {
        check_refused(k, pdk_semaphore_acquire(a.lock, 1, &none));
        check_refused(k, pdk_semaphore_acquire_async(a.lock, 1, 0, nothing, NULL, &none));
        check_refused(k, pdk_semaphore_set_limit(a.lock, 3));
        check_refused(k, pdk_semaphore_follow(a.lock, "/limit"));
        CHECK_EQ(pdk_semaphore_limit(a.lock), 0);
    } else {
        check_refused(k, pdk_lock_token(a.lock, &token, NULL));
        check_refused(k, pdk_lock_token(a.lock, NULL, &turn));
        check_refused(k, pdk_lock_guard(a.lock, 0, &op));
    }
    if ((is & L) == 0) {
        check_refused(k, pdk_leader_start(a.lock));
        check_refused(k, pdk_leader_resign(a.lock));
        check_refused(k, pdk_leader_wait(a.lock, 0));
    }
    CHECK_EQ(pdk_lock_count(a.lock), k->n_paths);
    for (unsigned i = 0; i < k->n_paths; i++)
        CHECK_STR(pdk_lock_path(a.lock, i), paths[i]);
    CHECK(pdk_lock_path(a.lock, k->n_paths) == NULL);
    CHECK(none == NULL);
}

FACT(wrong_requests, 0)
{
    static const char *const relative[] = {"no path", "no path"}, *const no_paths[] = {NULL, NULL};
    pdk_lock *l = NULL;
    pdk_grant *g = NULL;
    CHECK_RC(k->new (NULL, a.client, paths, NULL), PDK_EINVAL);
    CHECK_RC(k->new (&l, NULL, paths, NULL), PDK_EINVAL);
    CHECK_RC(k->new (&l, a.client, no_paths, NULL), k->n_paths == 1 ? PDK_EINVAL : PDK_EPATH);
    CHECK_RC(k->new (&l, a.client, relative, NULL), PDK_EPATH);
    CHECK(l == NULL);
    CHECK_RC(k->lock(NULL, &g), PDK_EINVAL);
    CHECK_RC(k->timed(NULL, 0, &g), PDK_EINVAL);
    CHECK_RC(k->async(NULL, 0, nothing, NULL, &g), PDK_EINVAL);
    CHECK_RC(k->try != NULL ? k->try(NULL, &g) : PDK_EINVAL, PDK_EINVAL);
    CHECK_RC(k->unlock != NULL ? k->unlock(NULL) : PDK_EINVAL, PDK_EINVAL);
    CHECK_RC(k->unlock_async != NULL ? k->unlock_async(NULL, NULL, NULL) : PDK_EINVAL, PDK_EINVAL);
    if ((k->has & HANDLED) != 0) {
        CHECK_RC(k->async(a.lock, 0, NULL, NULL, &g), PDK_EINVAL);
        CHECK_RC(k->async(a.lock, PDK_FOREVER, nothing, NULL, NULL), PDK_EINVAL);
    }
    CHECK(g == NULL);
}

static void no_lock(void)
{
    struct zoo_op op;
    pdk_event event;
    uint64_t turn;
    int64_t token;
    char text[8];
    CHECK_RC(pdk_lock_free(NULL), 0);
    CHECK(pdk_lock_path(NULL, 0) == NULL);
    CHECK_EQ(pdk_lock_state(NULL), PDK_FREE);
    CHECK_EQ(pdk_lock_valid_ms(NULL), 0);
    CHECK_RC(pdk_lock_token(NULL, &token, NULL), PDK_EINVAL);
    CHECK_RC(pdk_lock_token(NULL, NULL, &turn), PDK_EINVAL);
    CHECK_RC(pdk_lock_ahead(NULL, &token), PDK_EINVAL);
    CHECK_RC(pdk_lock_guard(NULL, 0, &op), PDK_EINVAL);
    CHECK_EQ(pdk_lock_node(NULL, 0, text, sizeof text), 0);
    CHECK_EQ(pdk_lock_last_error(NULL, text, sizeof text), 0);
    CHECK_RC(pdk_lock_on_event(NULL, NULL, NULL), PDK_EINVAL);
    CHECK_RC(pdk_lock_fd(NULL), PDK_EINVAL);
    CHECK_RC(pdk_lock_next_event(NULL, &event), PDK_EINVAL);
    CHECK_EQ(pdk_lock_count(NULL), 0);
    CHECK_EQ(pdk_semaphore_limit(NULL), 0);
}

static void no_handle(void)
{
    struct zoo_op op;
    uint64_t turn;
    int64_t token;
    CHECK_RC(pdk_grant_release(NULL), PDK_EINVAL);
    CHECK_RC(pdk_grant_release_async(NULL, NULL, NULL), PDK_EINVAL);
    CHECK_RC(pdk_grant_cancel(NULL), PDK_EINVAL);
    CHECK_RC(pdk_grant_token(NULL, &token, NULL), PDK_EINVAL);
    CHECK_RC(pdk_grant_token(NULL, NULL, &turn), PDK_EINVAL);
    CHECK_RC(pdk_grant_ahead(NULL, &token), PDK_EINVAL);
    CHECK_RC(pdk_grant_guard(NULL, 0, &op), PDK_EINVAL);
    CHECK_EQ(pdk_grant_state(NULL), PDK_FREE);
    CHECK_EQ(pdk_grant_valid_ms(NULL), 0);
    CHECK_EQ(pdk_grant_count(NULL), 0);
    CHECK_EQ(pdk_grant_node(NULL, 0, NULL, 0), 0);
}

/* --- a grant ----------------------------------------------------------------------------------------------------- */

static void check_in_use(void)
{
    char text[512];
    CHECK_RC(pdk_lock_free(a.lock), PDK_EBUSY);
    pdk_lock_last_error(a.lock, text, sizeof text);
    CHECK(strstr(text, ": in use: a grant or a request of it remains") != NULL);
}

FACT(held, 0)
{
    struct hold h;
    int64_t token;
    bool asked = k->unlock != NULL;
    CHECK_EQ(pdk_lock_state(a.lock), PDK_FREE);
    CHECK_EQ(pdk_lock_valid_ms(a.lock), 0);
    CHECK_RC(pdk_lock_token(a.lock, &token, NULL), asked ? PDK_EPERM : PDK_EINVAL);
    CHECK_EQ(pdk_lock_node(a.lock, 0, NULL, 0), 0);
    CHECK_RC(hold_lock(&h, k, a.lock), 0);
    if ((k->has & HANDLED) != 0)
        check_in_use();
    CHECK_EQ(pdk_lock_state(a.lock), asked ? PDK_HELD : PDK_FREE);
    CHECK((pdk_lock_valid_ms(a.lock) > 0) == asked);
    CHECK_RC(pdk_lock_token(a.lock, &token, NULL), asked ? 0 : PDK_EINVAL);
    for (unsigned i = 0; i < 3; i++)
        CHECK((pdk_lock_node(a.lock, i, NULL, 0) > 0) == (asked && i < k->n_paths));
    CHECK_RC(hold_release(&h), 0);
    CHECK_EQ(pdk_lock_state(a.lock), PDK_FREE);
    CHECK_RC(pdk_lock_token(a.lock, &token, NULL), asked ? PDK_EPERM : PDK_EINVAL);
}

/* A rival that tries, and one that waits for a time, leave nothing. */
static void check_excluded(const struct kind *k)
{
    struct hold try;
    if ((k->has & HANDLED) == 0)
        return;
    CHECK_RC(hold_try(&try, k, b.lock), PDK_EBUSY);
    CHECK_RC(hold_timed(&try, k, b.lock, 0), PDK_EBUSY);
    CHECK_RC(hold_timed(&try, k, b.lock, 100), PDK_ETIMEDOUT);
    CHECK(try.grant == NULL);
}

FACT(handed_over, 0)
{
    struct hold h, w;
    CHECK_RC(hold_lock(&h, k, a.lock), 0);
    hold_check(&h, a.client);
    int64_t token = hold_token(&h);
    check_excluded(rival(k));
    CHECK_WITHIN(LONG_MS, nodes_are(k, (int)k->n_nodes));
    ask_behind(&w, k, b.lock);
    CHECK_EQ(hold_state(&h), PDK_HELD);
    CHECK_EQ(hold_state(&w), PDK_FREE);
    CHECK_RC(hold_release(&h), 0);
    CHECK_EQ(pdk_lock_state(a.lock), PDK_FREE);
    CHECK_WITHIN(LONG_MS, hold_told(&w) == 0);
    hold_check(&w, b.client);
    CHECK_LAW(hold_token(&w) > token);
    CHECK_EQ(kind_nodes(k, paths), rival(k)->n_nodes);
    if ((k->has & HANDLED) != 0)
        CHECK_RC(hold_try(&h, k, a.lock), PDK_EBUSY);
    CHECK_RC(hold_release(&w), 0);
    if ((k->has & HANDLED) == 0)
        return;
    CHECK_WITHIN(LONG_MS, hold_try(&h, k, a.lock) == 0); /* its server may lag */
    CHECK_RC(hold_release(&h), 0);
}

static int64_t token_of_a_round(const struct kind *k, struct side *s)
{
    struct hold h;
    CHECK_RC(hold_lock(&h, k, s->lock), 0);
    hold_check(&h, s->client);
    int64_t token = hold_token(&h);
    CHECK_RC(hold_release(&h), 0);
    return token;
}

/* Begun again with the number 0, whose node had a token, too. */
FACT(tokens_rise, 0)
{
    struct hold h;
    int64_t last = 0;
    for (int i = 0; i < 2; i++) {
        CHECK_RC(hold_lock(&h, k, a.lock), 0);
        const char *node = hold_node(&h, 0);
        CHECK_STR(node + strlen(node) - 10, "0000000000");
        CHECK_LAW(hold_token(&h) > last);
        last = hold_token(&h);
        CHECK_RC(hold_release(&h), 0);
        int64_t next = token_of_a_round(k, &b);
        CHECK_LAW(next > last);
        last = next;
        CHECK_WITHIN(LONG_MS, nodes_are(k, 0));
        kind_delete(k, paths);
    }
}

static void guard_all(const struct hold *h, zoo_op_t *checks)
{
    for (unsigned i = 0; i < h->kind->n_nodes; i++) {
        CHECK_RC(hold_guard(h, i, &checks[i]), 0);
        CHECK_STR(checks[i].check_op.path, hold_node(h, i));
    }
}

/* Commit the CHECKS before a write, in one transaction. */
static int commit(const struct kind *k, const zoo_op_t *checks)
{
    zoo_op_t ops[3];
    zoo_op_result_t results[3] = {{0}};
    memcpy(ops, checks, k->n_nodes * sizeof *ops);
    zoo_set_op_init(&ops[k->n_nodes], "/", "", 0, -1, NULL);
    int rc = zoo_multi(fixture.zh, (int)k->n_nodes + 1, ops, results);
    CHECK_EQ(results[0].err, rc);
    return rc;
}

FACT(guarded, 0)
{
    zoo_op_t checks[2], later[2], none;
    char path[512];
    struct hold h, next;
    bool asked = k->unlock != NULL;
    CHECK_RC(pdk_lock_guard(a.lock, 0, &none), asked ? PDK_EPERM : PDK_EINVAL);
    CHECK_RC(hold_lock(&h, k, a.lock), 0);
    guard_all(&h, checks);
    CHECK_RC(hold_guard(&h, k->n_nodes, &none), PDK_EINVAL);
    CHECK_RC(hold_guard(&h, 0, NULL), PDK_EINVAL);
    snprintf(path, sizeof path, "%s", checks[0].check_op.path);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(commit(k, checks), ZOK);
    CHECK_RC(hold_release(&h), 0);
    CHECK_EQ(commit(k, checks), ZNONODE);
    CHECK_RC(pdk_lock_guard(a.lock, 0, &none), asked ? PDK_EPERM : PDK_EINVAL);
    CHECK_RC(hold_lock(&next, k, a.lock), 0);
    guard_all(&next, later);
    CHECK_STR(checks[0].check_op.path, path);
    CHECK_EQ(commit(k, checks), ZNONODE);
    CHECK_EQ(commit(k, later), ZOK);
    CHECK_RC(hold_release(&next), 0);
}

/* --- a thread's -------------------------------------------------------------------------------------------------- */

/* One call, by a thread of its own. */
struct call {
    const struct kind *kind; /* NULL: to unlock */
    bool waits;
    pthread_t thread;
    atomic_int rc; /* 1: not back yet */
};

static const struct kind *unlocks;

static void *make_call(void *arg)
{
    struct call *call = arg;
    struct hold h;
    int rc = call->kind == NULL ? unlocks->unlock(a.lock)
             : call->waits      ? hold_lock(&h, call->kind, a.lock)
                                : hold_try(&h, call->kind, a.lock);
    if (call->kind != NULL && rc == 0)
        CHECK_RC(hold_release(&h), 0);
    atomic_store(&call->rc, rc);
    return NULL;
}

static void begin_call(struct call *call, const struct kind *k, bool waits)
{
    *call = (struct call){.kind = k, .waits = waits};
    atomic_store(&call->rc, 1);
    CHECK_EQ(pthread_create(&call->thread, NULL, make_call, call), 0);
}

static int end_call(struct call *call)
{
    CHECK_WITHIN(LONG_MS, atomic_load(&call->rc) != 1);
    pthread_join(call->thread, NULL);
    return call->rc;
}

static int try_elsewhere(const struct kind *k)
{
    struct call call;
    begin_call(&call, k, false);
    return end_call(&call);
}

static int unlock_elsewhere(const struct kind *k)
{
    unlocks = k;
    return try_elsewhere(NULL);
}

static void check_nothing_to_unlock(const struct kind *k)
{
    int64_t token;
    CHECK_RC(k->unlock(a.lock), PDK_EPERM);
    CHECK_RC(k->unlock_async(a.lock, NULL, NULL), PDK_EPERM);
    CHECK_RC(pdk_lock_token(a.lock, &token, NULL), PDK_EPERM);
}

FACT(entered_again, OWNED)
{
    struct hold h;
    struct call other;
    check_nothing_to_unlock(k);
    CHECK_RC(hold_lock(&h, k, a.lock), 0);
    int64_t token = hold_token(&h);
    CHECK_RC(hold_try(&h, k, a.lock), 0);
    CHECK_RC(hold_timed(&h, k, a.lock, 0), 0);
    CHECK(nodes_are(k, (int)k->n_nodes));
    CHECK_RC(try_elsewhere(rival(k)), PDK_EBUSY);
    begin_call(&other, rival(k), true);
    CHECK_WITHIN(LONG_MS, nodes_are(k, 2 * (int)k->n_nodes));
    for (int left = 3; left > 0; left--) {
        CHECK_EQ(hold_token(&h), token);
        CHECK_EQ(pdk_lock_state(a.lock), PDK_HELD);
        CHECK_RC(rival(k)->try(b.lock, NULL), PDK_EBUSY); /* a round trip, in which the other could be granted */
        CHECK_EQ(other.rc, 1);
        CHECK_RC(k->unlock(a.lock), 0);
    }
    CHECK_RC(end_call(&other), 0);
    CHECK_EQ(pdk_lock_state(a.lock), PDK_FREE);
    CHECK_EQ(kind_nodes(k, paths), 0);
    check_nothing_to_unlock(k);
}

FACT(levels_unlocked_later, OWNED)
{
    struct hold h;
    for (int i = 0; i < 2; i++)
        CHECK_RC(hold_lock(&h, k, a.lock), 0);
    CHECK_RC(hold_release_async(&h), 0);
    CHECK_WITHIN(LONG_MS, hold_told(&h) == 0);
    CHECK_EQ(pdk_lock_state(a.lock), PDK_HELD);
    CHECK(nodes_are(k, (int)k->n_nodes));
    CHECK_RC(k->unlock_async(a.lock, NULL, NULL), 0);
    CHECK_WITHIN(LONG_MS, nodes_are(k, 0));
    check_nothing_to_unlock(k);
}

FACT(strangers, OWNED)
{
    struct hold h, other;
    CHECK_RC(hold_lock(&h, k, a.lock), 0);
    CHECK_RC(unlock_elsewhere(k), PDK_EPERM);
    CHECK_RC(k->unlock(b.lock), PDK_EPERM);
    CHECK_EQ(pdk_lock_state(a.lock), PDK_HELD);
    CHECK_RC(hold_try(&other, rival(k), b.lock), PDK_EBUSY);
    CHECK_RC(hold_release(&h), 0);
}

/* Granted to a handle: no thread enters it, and any may release it. */
FACT(no_threads, OWNED)
{
    struct hold h, other;
    hold_ask(&h, k, a.lock, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, hold_told(&h) == 0);
    hold_check(&h, a.client);
    CHECK_EQ(pdk_lock_state(a.lock), PDK_FREE);
    CHECK_RC(hold_try(&other, rival(k), a.lock), PDK_EBUSY);
    CHECK_RC(unlock_elsewhere(k), PDK_EPERM);
    check_nothing_to_unlock(k);
    CHECK(nodes_are(k, (int)k->n_nodes));
    CHECK_RC(hold_release(&h), 0);
    CHECK_EQ(kind_nodes(k, paths), 0);
}

FACT(two_objects, OWNED)
{
    struct hold h, other;
    pdk_lock *twin = make(k, a.client);
    CHECK_RC(hold_lock(&h, k, a.lock), 0);
    CHECK_RC(hold_try(&other, rival(k), twin), PDK_EBUSY);
    CHECK_RC(hold_timed(&other, rival(k), twin, 200), PDK_ETIMEDOUT);
    CHECK_RC(k->unlock(twin), PDK_EPERM);
    CHECK_RC(hold_release(&h), 0);
    CHECK_RC(hold_lock(&h, k, twin), 0);
    CHECK_RC(hold_try(&other, rival(k), a.lock), PDK_EBUSY);
    CHECK_RC(hold_release(&h), 0);
    CHECK_RC(pdk_lock_free(twin), 0);
}

static void *release_it(void *arg) { return (void *)(intptr_t)hold_release(arg); }

FACT(any_thread, 0)
{
    struct hold h;
    pthread_t thread;
    void *rc;
    if ((k->has & OWNED) != 0) {
        hold_ask(&h, k, a.lock, PDK_FOREVER);
        CHECK_WITHIN(LONG_MS, hold_told(&h) == 0);
    } else {
        CHECK_RC(hold_lock(&h, k, a.lock), 0);
    }
    CHECK_EQ(pthread_create(&thread, NULL, release_it, &h), 0);
    CHECK_EQ(pthread_join(thread, &rc), 0);
    CHECK_RC((int)(intptr_t)rc, 0);
    CHECK_EQ(kind_nodes(k, paths), 0);
}

/* --- handles ----------------------------------------------------------------------------------------------------- */

static void check_no_grant(pdk_grant *g)
{
    struct zoo_op op;
    int64_t token;
    CHECK_EQ(pdk_grant_state(g), PDK_FREE);
    CHECK_EQ(pdk_grant_valid_ms(g), 0);
    CHECK_RC(pdk_grant_token(g, &token, NULL), PDK_EPERM);
    CHECK_RC(pdk_grant_guard(g, 0, &op), PDK_EPERM);
    CHECK_EQ(pdk_grant_node(g, 0, NULL, 0), 0);
    check_in_use();
}

/* One that is granted, one that has failed, and one that waits, and is taken back. */
FACT(handles, HANDLED)
{
    char text[512];
    uint64_t turn;
    struct hold h, failed, waits;
    hold_ask(&h, k, a.lock, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, hold_told(&h) == 0);
    hold_check(&h, a.client);
    CHECK_EQ(pdk_lock_state(a.lock), PDK_FREE);
    CHECK_EQ(pdk_grant_count(h.grant), k->n_nodes);
    CHECK_EQ(pdk_grant_node(h.grant, k->n_nodes, NULL, 0), 0);
    CHECK_RC(pdk_grant_token(h.grant, NULL, &turn), 0);
    CHECK_EQ(turn, 1);
    hold_ask(&failed, rival(k), a.lock, 0);
    CHECK_WITHIN(LONG_MS, hold_told(&failed) == PDK_EBUSY);
    CHECK_WITHIN(LONG_MS, nodes_are(k, (int)k->n_nodes));
    ask_behind(&waits, k, a.lock);
    check_no_grant(waits.grant);
    CHECK_RC(hold_release(&waits), PDK_EPERM);
    CHECK_WITHIN(LONG_MS, hold_told(&waits) == PDK_ECANCELED);
    CHECK_WITHIN(LONG_MS, nodes_are(k, (int)k->n_nodes));
    CHECK_EQ(hold_state(&h), PDK_HELD);
    CHECK_RC(hold_release(&h), 0);
    check_no_grant(failed.grant); /* it alone keeps the lock */
    CHECK_RC(pdk_grant_cancel(failed.grant), 0);
    CHECK_RC(pdk_grant_release_async(failed.grant, nothing, NULL), PDK_EPERM);
    pdk_lock_last_error(a.lock, text, sizeof text);
    CHECK(strstr(text, ": nothing was granted") != NULL);
}

FACT(cancelled, HANDLED)
{
    struct hold h, w, last;
    CHECK_RC(hold_lock(&h, k, a.lock), 0);
    ask_behind(&w, k, b.lock);
    hold_ask(&last, k, a.lock, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, kind_nodes(k, paths) > (int)k->n_nodes + rival(k)->n_nodes_asked);
    for (int i = 0; i < 3; i++)
        CHECK_RC(pdk_grant_cancel(w.grant), 0);
    CHECK_WITHIN(LONG_MS, hold_told(&w) == PDK_ECANCELED);
    if (rival(k) == k) { /* a reader behind the writer now holds beside the other */
        CHECK_WITHIN(LONG_MS, nodes_are(k, (int)k->n_nodes + k->n_nodes_asked));
        CHECK_EQ(hold_told(&last), 1);
    }
    CHECK_RC(pdk_grant_cancel(w.grant), 0);
    CHECK_RC(hold_release(&h), 0);
    CHECK_WITHIN(LONG_MS, hold_told(&last) == 0);
    CHECK_RC(pdk_grant_cancel(last.grant), 0); /* too late */
    hold_check(&last, a.client);
    CHECK_RC(hold_release(&last), 0);
    CHECK_RC(hold_release(&w), PDK_EPERM);
    CHECK_EQ(w.n_told, 1);
    CHECK_EQ(last.n_told, 1);
}

/* It may have been granted, or not: what counts is one answer and no node. */
FACT(cancelled_at_once, HANDLED)
{
    for (int i = 0; i < 20; i++) {
        struct hold h;
        hold_ask(&h, k, a.lock, PDK_FOREVER);
        CHECK_RC(pdk_grant_cancel(h.grant), 0);
        CHECK_WITHIN(LONG_MS, h.n_told > 0);
        CHECK(hold_told(&h) == 0 || hold_told(&h) == PDK_ECANCELED);
        CHECK_RC(hold_release(&h), hold_told(&h) == 0 ? 0 : PDK_EPERM);
        CHECK_EQ(h.n_told, 1);
    }
}

FACT(timed_out, HANDLED)
{
    struct hold h, w;
    CHECK_RC(hold_lock(&h, k, a.lock), 0);
    hold_ask(&w, rival(k), b.lock, 200);
    CHECK_WITHIN(LONG_MS, hold_told(&w) == PDK_ETIMEDOUT);
    CHECK_WITHIN(LONG_MS, nodes_are(k, (int)k->n_nodes));
    CHECK_RC(hold_release(&w), PDK_EPERM);
    CHECK_RC(hold_release(&h), 0);
    CHECK_EQ(w.n_told, 1);
}

FACT(released_later, 0)
{
    struct hold h;
    CHECK_RC(hold_lock(&h, k, a.lock), 0);
    CHECK_RC(hold_release_async(&h), 0);
    CHECK_WITHIN(LONG_MS, ((k->has & HANDLED) != 0 ? hold_told(&h) : atomic_load(&h.rc)) != 1);
    CHECK_RC(atomic_load(&h.rc), 0);
    CHECK_EQ(h.n_told, 1);
    CHECK_EQ(kind_nodes(k, paths), 0);
    CHECK_EQ(pdk_lock_state(a.lock), PDK_FREE);
}

/* The program dispatches, and so a callback comes as late as it likes. */
FACT(called_late, HANDLED)
{
    pdk_client_options *o = fixture_options(SESSION_MS);
    struct hold h;
    CHECK_RC(pdk_client_options_set_dispatch(o, true), 0);
    close_side(&a);
    open_side(&a, k, o);
    hold_ask(&h, k, a.lock, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, hold_state(&h) == PDK_HELD);
    CHECK_EQ(zoo_delete(fixture.zh, hold_node(&h, k->n_nodes - 1), -1), ZOK);
    CHECK_WITHIN(LONG_MS, hold_state(&h) == PDK_LOST);
    CHECK_EQ(h.n_told, 0);
    CHECK_WITHIN(LONG_MS, pdk_client_dispatch(a.client) >= 0 && h.n_told == 1);
    CHECK_RC(hold_told(&h), PDK_ELOST);
    CHECK_RC(hold_release(&h), PDK_ELOST);
    hold_ask(&h, k, a.lock, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, hold_state(&h) == PDK_HELD);
    CHECK_RC(hold_release(&h), 0);
    CHECK_EQ(h.n_told, 0);
    CHECK_WITHIN(LONG_MS, pdk_client_dispatch(a.client) >= 0 && h.n_told == 1);
    CHECK_RC(hold_told(&h), PDK_ECANCELED);
}

/* --- places ------------------------------------------------------------------------------------------------------ */

static _Atomic int64_t place;
static atomic_int n_places;

static void placed(pdk_lock *l, const pdk_event *event, void *arg)
{
    CHECK(arg == l);
    if (event->kind != PDK_EVENT_QUEUED)
        return;
    atomic_store(&place, event->ahead);
    atomic_fetch_add(&n_places, 1);
}

/* One holds, and two wait: the second of them is told of the first. */
FACT(places, HANDLED)
{
    struct hold h[3];
    int64_t ahead;
    k = rival(k);
    bool permits = k == &kinds[SEMAPHORE];
    atomic_store(&n_places, 0);
    CHECK_RC(pdk_lock_on_event(a.lock, placed, a.lock), 0);
    CHECK_RC(pdk_lock_ahead(a.lock, &ahead), PDK_EPERM);
    hold_ask(&h[0], k, a.lock, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, hold_told(&h[0]) == 0);
    CHECK_EQ(atomic_load(&n_places), 0); /* it did not wait */
    int64_t first = permits ? 3 : 1;     /* two permits, and one of its own is ahead of the other */
    int64_t second = permits ? 1 : 2;    /* the other request */
    for (int i = 1; i < 3; i++) {
        hold_ask(&h[i], k, a.lock, PDK_FOREVER);
        CHECK_WITHIN(LONG_MS, atomic_load(&n_places) == i);
        CHECK_EQ(atomic_load(&place), i == 1 ? first : second);
    }
    CHECK_RC(pdk_grant_ahead(h[1].grant, &ahead), 0);
    CHECK_EQ(ahead, first);
    CHECK_RC(pdk_lock_ahead(a.lock, &ahead), 0);
    CHECK_EQ(ahead, first);
    CHECK_RC(pdk_grant_ahead(h[2].grant, &ahead), 0);
    CHECK_EQ(ahead, second);
    CHECK_RC(pdk_lock_on_event(a.lock, NULL, NULL), 0);
    for (int i = 2; i >= 0; i--)
        CHECK_RC(hold_release(&h[i]), i == 0 ? 0 : PDK_EPERM);
}

/* --- doubt, and loss --------------------------------------------------------------------------------------------- */

static void check_polled(pdk_state state, int64_t token)
{
    struct pollfd p = {.fd = pdk_lock_fd(a.lock), .events = POLLIN};
    pdk_event event = {.state = PDK_FREE};
    do { /* a leader's election is told, too */
        CHECK_EQ(poll(&p, 1, LONG_MS), 1);
        CHECK_EQ(pdk_lock_next_event(a.lock, &event), 1);
    } while (event.kind == PDK_EVENT_ELECTED);
    CHECK_EQ(event.state, state);
    CHECK_EQ(event.token, token);
}

/* By the callback, and by the descriptor beside it. */
FACT(in_doubt, 0)
{
    struct hold h;
    zoo_op_t checks[2];
    pdk_event event;
    struct pollfd p = {.fd = pdk_lock_fd(a.lock), .events = POLLIN};
    CHECK(p.fd >= 0);
    CHECK_RC(pdk_lock_next_event(a.lock, NULL), PDK_EINVAL);
    CHECK_RC(hold_lock(&h, k, a.lock), 0);
    int64_t token = hold_token(&h);
    fixture_cut_off(true);
    check_change(&a, 0, PDK_SUSPECT, token);
    check_polled(PDK_SUSPECT, token);
    CHECK_EQ(hold_state(&h), PDK_SUSPECT);
    CHECK(hold_valid_ms(&h) > 0);
    CHECK_EQ(hold_token(&h), token);
    guard_all(&h, checks);
    CHECK_EQ(commit(k, checks), ZOK); /* doubtful to the holder; the servers know */
    fixture_cut_off(false);
    check_change(&a, 1, PDK_HELD, token);
    check_polled(PDK_HELD, token);
    hold_check(&h, a.client);
    CHECK_EQ(hold_token(&h), token);
    CHECK_EQ(poll(&p, 1, 0), 0);
    CHECK_EQ(pdk_lock_next_event(a.lock, &event), 0);
    CHECK_RC(pdk_lock_on_event(a.lock, NULL, NULL), 0);
    CHECK_RC(pdk_client_close(a.client), 0);
    check_polled(PDK_LOST, token);
    CHECK_EQ(a.n_changes, 2);
}

/* The loss is told once, and last; before it doubts, each of which ended. */
static void check_doubt_and_loss(int64_t token)
{
    CHECK_WITHIN(LONG_MS, a.n_changes > 0 && a.changes[a.n_changes - 1].state == PDK_LOST);
    for (int i = 0; i < a.n_changes - 1; i++)
        check_change(&a, i, i % 2 == 0 ? PDK_SUSPECT : PDK_HELD, token);
    CHECK_EQ(a.changes[a.n_changes - 1].token, token);
}

/* The grant is lost for each question, and for the thread that owns it until it is released. */
static void check_lost(const struct hold *h, struct side *s, int i, int64_t token)
{
    zoo_op_t check;
    const struct kind *k = h->kind;
    check_change(s, i, PDK_LOST, token);
    if (k == &kinds[LEADER])
        return;
    CHECK_EQ(hold_state(h), PDK_LOST);
    CHECK_EQ(hold_valid_ms(h), 0);
    CHECK_EQ(hold_token(h), token);
    CHECK_RC(hold_guard(h, 0, &check), PDK_ELOST);
    if ((k->has & OWNED) != 0) {
        CHECK_RC(k->lock(s->lock, NULL), PDK_ELOST);
        CHECK_RC(k->try(s->lock, NULL), PDK_ELOST);
    }
}

/* The lost grant is released, and all begins afresh: of a leader unasked, after W. W has, or gets, the lock. LATER:
 * that release comes last. */
static void begin_afresh(struct hold *h, struct hold *w, int64_t token, bool later)
{
    struct hold again;
    const struct kind *k = h->kind;
    bool unasked = k == &kinds[LEADER];
    if (!unasked && !later)
        CHECK_RC(hold_release(h), PDK_ELOST);
    if ((k->has & OWNED) != 0) {
        CHECK_EQ(pdk_lock_state(a.lock), PDK_FREE);
        check_nothing_to_unlock(k);
    }
    CHECK_WITHIN(LONG_MS, hold_told(w) == 0);
    hold_check(w, b.client);
    int64_t next = hold_token(w);
    CHECK_LAW(next > token);
    if (unasked) {
        CHECK_WITHIN(LONG_MS, nodes_are(k, 2));
        CHECK_EQ(hold_state(h), PDK_FREE);
        CHECK_EQ(hold_valid_ms(h), 0);
        CHECK_EQ(hold_told(h), 1);
    }
    CHECK_RC(hold_release(w), 0);
    CHECK_RC(hold_lock(&again, k, a.lock), 0);
    hold_check(&again, a.client);
    CHECK_LAW(hold_token(&again) > next);
    CHECK_RC(hold_release(&again), 0);
    if (later)
        CHECK_RC(hold_release(h), PDK_ELOST);
}

FACT(node_deleted, 0)
{
    struct hold h, w;
    CHECK_RC(hold_lock(&h, k, a.lock), 0);
    int64_t token = hold_token(&h);
    ask_behind(&w, k, b.lock);
    CHECK_EQ(zoo_delete(fixture.zh, hold_node(&h, k->n_nodes - 1), -1), ZOK);
    check_lost(&h, &a, 0, token);
    CHECK_EQ(pdk_client_state(a.client), PDK_SESSION_CONNECTED);
    if (k->n_nodes == 1) /* else the other nodes keep it waiting */
        CHECK_WITHIN(LONG_MS, hold_told(&w) == 0);
    begin_afresh(&h, &w, token, false);
    CHECK_EQ(a.n_changes, 1); /* a grant and a release are not told to the caller that asked */
}

static const char *waiting_node(const struct kind *k, const char *last)
{
    static char node[512];
    char session[32], path[160];
    snprintf(session, sizeof session, "%016llx", (unsigned long long)pdk_client_session_id(b.client));
    snprintf(path, sizeof path, "%s%s", paths[k->n_paths - 1], k == &kinds[SEMAPHORE] ? "/leases" : "");
    const char *name = fixture_find(path, session);
    snprintf(node, sizeof node, "%s/%s", path, name);
    return name[0] != '\0' && strcmp(node, last) != 0 ? node : NULL;
}

FACT(place_deleted, 0)
{
    struct hold h, w;
    char last[512] = "";
    const char *node;
    CHECK_RC(hold_lock(&h, k, a.lock), 0);
    ask_behind(&w, k, b.lock);
    for (int i = 0; i < 3; i++) {
        CHECK_WITHIN(LONG_MS, (node = waiting_node(rival(k), last)) != NULL);
        snprintf(last, sizeof last, "%s", node);
        CHECK_EQ(zoo_delete(fixture.zh, last, -1), ZOK);
        CHECK_WITHIN(LONG_MS, waiting_node(rival(k), last) != NULL);
        CHECK_WITHIN(LONG_MS, nodes_are(k, (int)k->n_nodes + rival(k)->n_nodes_asked));
        CHECK_EQ(hold_told(&w), 1);
    }
    CHECK_RC(hold_release(&h), 0);
    CHECK_WITHIN(LONG_MS, hold_told(&w) == 0);
    hold_check(&w, b.client);
    CHECK_RC(hold_release(&w), 0);
    CHECK_EQ(b.n_changes, 0);
}

/* Of the waiter, and then of the holder. */
FACT(sessions_end, 0)
{
    struct hold h, w;
    zoo_op_t checks[2];
    CHECK_RC(hold_lock(&h, k, a.lock), 0);
    guard_all(&h, checks);
    int64_t token = hold_token(&h), session = pdk_client_session_id(a.client), other = pdk_client_session_id(b.client);
    ask_behind(&w, k, b.lock);
    expire(&b);
    CHECK_WITHIN(LONG_MS, pdk_client_state(b.client) == PDK_SESSION_CONNECTED &&
                              pdk_client_session_id(b.client) != other &&
                              nodes_are(k, (int)k->n_nodes + rival(k)->n_nodes_asked));
    CHECK_EQ(hold_told(&w), 1);
    CHECK_EQ(b.n_changes, 0);
    expire(&a);
    CHECK_EQ(commit(k, checks), ZNONODE);
    check_doubt_and_loss(token);
    check_lost(&h, &a, a.n_changes - 1, token);
    CHECK_WITHIN(LONG_MS, hold_told(&w) == 0);
    begin_afresh(&h, &w, token, k == &kinds[SEMAPHORE]);
    CHECK(pdk_client_session_id(a.client) != session);
}

/* No thread of the library runs, as in a process that is stopped, until nothing is certain any more. */
static void sleep_through_the_deadline(void)
{
    CHECK_RC(pdk__client_enter(a.client), 0);
    while (pdk__now_ms() < pdk__session_deadline_ms(&a.client->session))
        usleep(10000);
    pdk__client_leave(a.client);
}

static uint64_t count_losses(void)
{
    pdk_stats *s;
    CHECK_RC(pdk_client_stats(a.client, &s), 0);
    uint64_t n = pdk_stats_count(s, PDK_STAT_LOSSES);
    pdk_stats_free(s);
    return n;
}

/* The release is the first to see it. */
FACT(lost_unseen, HANDLED)
{
    struct hold h;
    close_side(&a);
    open_side(&a, k, fixture_options(SHORT_MS));
    hold_ask(&h, k, a.lock, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, hold_told(&h) == 0);
    int64_t token = hold_token(&h);
    sleep_through_the_deadline();
    CHECK_RC(hold_release(&h), PDK_ELOST);
    check_doubt_and_loss(token);
    CHECK_EQ(count_losses(), 1);
    CHECK_RC(pdk_client_flush(a.client, LONG_MS), 0);
}

/* --- ends -------------------------------------------------------------------------------------------------------- */

static void cut_deletes(pdk__proxy *p)
{
    static const int ops[] = {PDK__OP_DELETE, PDK__OP_MULTI};
    for (int i = 0; i < 2; i++)
        pdk__proxy_rule(p, &(struct pdk__proxy_rule){.op = ops[i], .act = PDK__CUT_BEFORE, .every = true});
}

/* One by a call that waits, and one beside it, on other paths, by a call that does not. */
FACT(released_in_vain, MESSAGES)
{
    char other_names[2][96];
    const char *const other_paths[2] = {other_names[0], other_names[1]};
    struct hold h, other;
    pdk_lock *l;
    for (int i = 0; i < 2; i++)
        snprintf(other_names[i], sizeof other_names[i], "%s", fixture_path());
    close_side(&a);
    open_side(&a, k, fixture_options(SHORT_MS));
    CHECK_RC(k->new (&l, a.client, other_paths, NULL), 0);
    CHECK_RC(hold_lock(&h, k, a.lock), 0);
    CHECK_RC(hold_lock(&other, k, l), 0);
    fixture_each_proxy(cut_deletes);
    CHECK_RC(hold_release_async(&other), 0);
    CHECK_RC(hold_release(&h), PDK_EUNKNOWN);
    CHECK_WITHIN(LONG_MS, other.n_told == 1);
    CHECK_RC(atomic_load(&other.rc), PDK_EUNKNOWN);
    CHECK_EQ(pdk_lock_state(a.lock), PDK_FREE);
    CHECK_EQ(pdk_lock_state(l), PDK_FREE);
    fixture_each_proxy(pdk__proxy_clear);
    CHECK_WITHIN(LONG_MS, kind_nodes(k, paths) == 0 && kind_nodes(k, other_paths) == 0);
    CHECK_RC(pdk_client_flush(a.client, LONG_MS), 0);
    CHECK_RC(pdk_lock_free(l), 0);
    CHECK_EQ(other.n_told, 1);
}

static void check_closed(const struct kind *k)
{
    struct hold h;
    pdk_lock *l = NULL;
    pdk_grant *g = NULL;
    CHECK_RC(hold_lock(&h, k, a.lock), PDK_ECLOSED);
    CHECK_RC(hold_timed(&h, k, a.lock, 100), PDK_ECLOSED);
    CHECK_RC(hold_timed(&h, k, a.lock, 0), PDK_ECLOSED);
    CHECK_RC(k->try != NULL ? hold_try(&h, k, a.lock) : PDK_ECLOSED, PDK_ECLOSED);
    CHECK_RC(k->async(a.lock, PDK_FOREVER, nothing, NULL, &g), PDK_ECLOSED);
    CHECK_RC(k->new (&l, a.client, paths, NULL), PDK_ECLOSED);
    CHECK(l == NULL && h.grant == NULL && g == NULL);
}

/* Of two objects of one client one holds, and the other waits. */
FACT(closed, 0)
{
    struct hold h, w;
    zoo_op_t checks[2];
    pdk_lock *twin = make(k, a.client);
    CHECK_RC(hold_lock(&h, k, a.lock), 0);
    if ((k->has & OWNED) != 0)
        CHECK_RC(hold_lock(&h, k, a.lock), 0);
    int64_t token = hold_token(&h);
    ask_behind(&w, k, twin);
    guard_all(&h, checks);
    CHECK_RC(pdk_client_close(a.client), 0);
    CHECK_EQ(commit(k, checks), ZNONODE);
    CHECK_RC(hold_told(&w), PDK_ECLOSED);
    CHECK_EQ(kind_nodes(k, paths), 0);
    CHECK_EQ(a.changes[a.n_changes - 1].state, PDK_LOST);
    CHECK_EQ(a.changes[a.n_changes - 1].token, token);
    if (k != &kinds[LEADER]) {
        CHECK_EQ(hold_state(&h), PDK_LOST);
        CHECK_EQ(hold_token(&h), token);
    }
    check_closed(k);
    if ((k->has & OWNED) != 0)
        CHECK_RC(k->unlock(a.lock), PDK_ELOST);
    CHECK_RC(hold_release(&h), k == &kinds[LEADER] ? 0 : PDK_ELOST);
    if ((k->has & OWNED) != 0)
        CHECK_RC(k->unlock(a.lock), PDK_ECLOSED);
    CHECK_RC(pdk_lock_free(twin), 0); /* and the handle of what waited ends with it */
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"an option without a meaning for a kind of lock is refused", options},
        {"a lock of each kind has a least token", least_token},
        {"a lock of each kind is confirmed by a write of each of its nodes", confirmed},
        {"a grant of each kind is released without waiting, where its lock says so", not_awaited},
        {"a verb of another kind of lock is refused, and says of which kind it is", another_kind},
        {"wrong requests are refused", wrong_requests},
        {"the common verbs take NULL", no_lock},
        {"the verbs of a handle take NULL", no_handle},
        {"the common verbs take each kind of lock, held; and what is held is not freed", held},
        {"two sessions never hold at once, and a release hands over", handed_over},
        {"tokens rise, also after the path was deleted and made anew", tokens_rise},
        {"there is a guard for each node, and none without a grant", guarded},
        {"an owner locks three deep, and another thread waits until the last unlock", entered_again},
        {"a nested unlock without waiting", levels_unlocked_later},
        {"a stranger may not unlock", strangers},
        {"a lock granted to a callback belongs to no thread", no_threads},
        {"two objects on one path exclude each other in one thread", two_objects},
        {"any thread may release what is no thread's", any_thread},
        {"a handle keeps its lock, whatever becomes of its request", handles},
        {"a request cancelled in the queue is told so once, and its node goes", cancelled},
        {"a cancel at once ends in one answer and no node", cancelled_at_once},
        {"a request without waiting times out, and its node goes", timed_out},
        {"a release without waiting reports that all is deleted", released_later},
        {"a callback that comes late is not told 0 for what is lost, or was released", called_late},
        {"a request that waits is told its place", places},
        {"a grant whose connection is cut is suspect, and held again: told, and polled for", in_doubt},
        {"a holder whose node is deleted has lost all, and begins afresh", node_deleted},
        {"a waiter whose node is deleted queues anew, and is served in the end", place_deleted},
        {"an ended session loses it, and who waits begins again in the next", sessions_end},
        {"a loss that the release is the first to see is told and counted", lost_unseen},
        {"a release that nobody confirms is unknown, now or later, and goes on", released_in_vain},
        {"a closed client ends all", closed},
        {0},
    };
    return fixture_main(argc, argv, "lock", tests, ON_ONE | ON_THREE);
}
