/* Lists of thousands of contenders, and of large ones, by the client of a holder. */
#include "lib/zk/client.h"
#include "lib/zk/survey.h"
#include "test/lib/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CROWD = 5000, BATCH = 250 };

static pdk_client *c;
static pdk_mutex *m;
static const char *crowded, *lock;
static atomic_int n_changes;

static void note_change(pdk_mutex *mutex, const pdk_event *event, void *arg)
{
    (void)mutex, (void)arg;
    n_changes += event->kind == PDK_EVENT_STATE;
}

/* A client that holds a lock, and an empty path beside it. */
static void begin(void)
{
    pdk__proxy_clear(fixture.proxy);
    crowded = fixture_path();
    lock = fixture_path();
    fixture_make(crowded, "", ZOO_PERSISTENT, NULL);
    c = fixture_client(NULL);
    m = fixture_mutex(c, lock);
    n_changes = 0;
    CHECK_RC(pdk_lock_on_event(m, note_change, NULL), 0);
    CHECK_RC(pdk_mutex_lock(m), 0);
}

static void finish(void)
{
    CHECK_EQ(pdk_lock_state(m), PDK_HELD);
    CHECK_EQ(n_changes, 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
}

static void create_batch(int first, int n, const char *data, int size)
{
    static char paths[BATCH][96];
    zoo_op_t ops[BATCH];
    zoo_op_result_t results[BATCH];
    for (int i = 0; i < n; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/crowd-lock-%010d", crowded, first + i);
        zoo_create_op_init(&ops[i], paths[i], data, size, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0);
    }
    CHECK_EQ(zoo_multi(fixture.zh, n, ops, results), ZOK);
}

static void create_crowd(int first, int n, const char *data)
{
    for (int i = 0; i < n; i += BATCH)
        create_batch(first + i, n - i < BATCH ? n - i : BATCH, data, (int)strlen(data));
}

/* N nodes of SIZE bytes. */
static void create_large(int first, int n, size_t size)
{
    char *data = malloc(size);
    CHECK(data != NULL);
    memset(data, 'x', size);
    for (int i = 0; i < n; i++)
        create_batch(first + i, 1, data, (int)size);
    free(data);
}

/* --- a thread that lists ----------------------------------------------------------------------------------------- */

struct lister {
    pthread_t thread;
    pdk_contender_list *list;
    int rc;
};

static void *list_crowd(void *arg)
{
    struct lister *l = arg;
    l->rc = pdk_contenders(c, crowded, PDK_CONTENDERS_ALL, PDK_FOREVER, &l->list);
    return NULL;
}

static void lister_start(struct lister *l)
{
    *l = (struct lister){0};
    CHECK_EQ(pthread_create(&l->thread, NULL, list_crowd, l), 0);
}

static void lister_finish(struct lister *l, size_t n)
{
    CHECK_EQ(pthread_join(l->thread, NULL), 0);
    CHECK_RC(l->rc, 0);
    CHECK_EQ(pdk_contender_list_size(l->list), n);
    pdk_contender_list_free(l->list);
}

/* --- what is under way ------------------------------------------------------------------------------------------- */

static void ignore(int rc, const struct Stat *stat, const void *data) { (void)rc, (void)stat, (void)data; }

/* All that the client had to send has gone through the proxy when this returns. */
static void flush(void)
{
    int rule = pdk__proxy_rule(fixture.proxy,
                               &(struct pdk__proxy_rule){.path = "/flush", .act = PDK__COUNT, .every = true});
    CHECK_EQ(zoo_aexists(pdk__client_zh(c), "/flush", 0, ignore, NULL), ZOK);
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(fixture.proxy, rule) == 1);
}

/* How many requests of OP (0: any) about the crowd are sent, by a client that lists N of them, before the first of
 * their answers comes; AT_LEAST so many are waited for. */
static int count_unanswered(int op, size_t n, int at_least)
{
    struct lister l;
    struct pdk__proxy_rule hold = {.op = op, .path = "crowd-lock-", .act = PDK__HOLD_REPLY};
    struct pdk__proxy_rule count = {.op = op, .path = "crowd-lock-", .act = PDK__COUNT, .every = true};
    int held = pdk__proxy_rule(fixture.proxy, &hold), others = pdk__proxy_rule(fixture.proxy, &count);
    lister_start(&l);
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(fixture.proxy, held) == 1);
    CHECK_WITHIN(LONG_MS, 1 + SEEN(pdk__proxy_hits(fixture.proxy, others)) >= at_least);
    flush();
    int sent = 1 + pdk__proxy_hits(fixture.proxy, others);
    pdk__proxy_release(fixture.proxy, held);
    lister_finish(&l, n);
    return sent;
}

static void requests_bounded(void)
{
    begin();
    create_crowd(0, 300, "data");
    CHECK_EQ(count_unanswered(0, 300, PDK__SURVEY_REQUESTS), PDK__SURVEY_REQUESTS);
    finish();
}

static void bytes_bounded(void)
{
    enum { SIZE = 60000 };
    begin();
    create_large(0, 12, SIZE);
    CHECK_EQ(count_unanswered(PDK__OP_GET, 12, PDK__SURVEY_BYTES / SIZE), PDK__SURVEY_BYTES / SIZE);
    finish();
}

/* --- what is left out -------------------------------------------------------------------------------------------- */

static void check_data(const pdk_contender_list *list, size_t i, size_t size, size_t omitted)
{
    size_t n;
    const char *data = pdk_contender_data(list, i, &n);
    CHECK_EQ(n, size);
    CHECK_EQ(strlen(data), size);
    CHECK_EQ(pdk_contender_number(list, i, PDK_CONTENDER_DATA_OMITTED), omitted);
    CHECK_EQ(pdk_contender_number(list, i, PDK_CONTENDER_SEQUENCE), i);
    CHECK(pdk_contender_number(list, i, PDK_CONTENDER_TOKEN) > 0);
}

static int count_reads(void)
{
    return pdk__proxy_rule(
        fixture.proxy,
        &(struct pdk__proxy_rule){.op = PDK__OP_GET, .path = "crowd-lock-", .every = true, .act = PDK__COUNT});
}

static void large_left_out(void)
{
    enum { LARGE = 1000000 };
    pdk_contender_list *list = NULL;
    begin();
    create_large(0, 6, LARGE);
    create_large(6, 1, PDK_CONTENDER_DATA_MAX + 1);
    create_large(7, 1, PDK_CONTENDER_DATA_MAX);
    create_crowd(8, 1, "");
    int reads = count_reads();
    CHECK_RC(pdk_contenders(c, crowded, PDK_CONTENDERS_ALL, PDK_FOREVER, &list), 0);
    CHECK_EQ(pdk__proxy_hits(fixture.proxy, reads), 1);
    CHECK_EQ(pdk_contender_list_size(list), 9);
    for (size_t i = 0; i < 6; i++)
        check_data(list, i, 0, LARGE);
    check_data(list, 6, 0, PDK_CONTENDER_DATA_MAX + 1);
    check_data(list, 7, PDK_CONTENDER_DATA_MAX, 0);
    check_data(list, 8, 0, 0);
    pdk_contender_list_free(list);
    finish();
}

/* All of them together are more than is read of one list; the small one at the end still fits. */
static void sum_bounded(void)
{
    enum { SIZE = 60000, N = PDK_CONTENDERS_DATA_MAX / SIZE };
    pdk_contender_list *list = NULL;
    begin();
    create_large(0, N + 2, SIZE);
    create_crowd(N + 2, 1, "data");
    CHECK_RC(pdk_contenders(c, crowded, PDK_CONTENDERS_ALL, PDK_FOREVER, &list), 0);
    CHECK_EQ(pdk_contender_list_size(list), N + 3);
    check_data(list, 0, SIZE, 0);
    check_data(list, N - 1, SIZE, 0);
    check_data(list, N, 0, SIZE);
    check_data(list, N + 1, 0, SIZE);
    check_data(list, N + 2, 4, 0);
    pdk_contender_list_free(list);
    finish();
}

/* --- the holder -------------------------------------------------------------------------------------------------- */

static void stays_held(void)
{
    pdk_contender_list *list = NULL;
    begin();
    create_crowd(0, CROWD, "{\"host\":\"db7\",\"pid\":4711,\"thread\":4715,\"label\":\"nightly\"}");
    CHECK_RC(pdk_contenders(c, crowded, PDK_CONTENDERS_ALL, PDK_FOREVER, &list), 0);
    CHECK_EQ(pdk_contender_list_size(list), CROWD);
    for (size_t i = 0; i < CROWD; i++) {
        CHECK_EQ(pdk_contender_number(list, i, PDK_CONTENDER_SEQUENCE), i);
        CHECK_EQ(pdk_contender_number(list, i, PDK_CONTENDER_PID), 4711);
    }
    pdk_contender_list_free(list);
    finish();
}

/* After the caller has given up, no requests are sent but those that were under way. */
static void left_early(void)
{
    pdk_contender_list *list = NULL;
    begin();
    create_crowd(0, 300, "data");
    int hold = pdk__proxy_rule(fixture.proxy, &(struct pdk__proxy_rule){.path = "crowd-lock-", .act = PDK__HOLD_REPLY});
    struct pdk__proxy_rule count = {.path = "crowd-lock-", .act = PDK__COUNT, .every = true};
    int others = pdk__proxy_rule(fixture.proxy, &count);
    CHECK_RC(pdk_contenders(c, crowded, PDK_CONTENDERS_ALL, 500, &list), PDK_ETIMEDOUT);
    pdk__proxy_release(fixture.proxy, hold);
    CHECK_RC(pdk_contenders(c, lock, 1, PDK_FOREVER, &list), 0); /* answered after them */
    CHECK(1 + pdk__proxy_hits(fixture.proxy, others) <= PDK__SURVEY_REQUESTS);
    pdk_contender_list_free(list);
    finish();
}

static void observed(const char *id, int64_t token, void *arg)
{
    (void)token;
    *(_Atomic size_t *)arg = id != NULL ? strlen(id) : 0;
}

static void observed_id_cut(void)
{
    pdk_leader_observer *o;
    _Atomic size_t length = 0;
    begin();
    create_large(0, 1, PDK_CONTENDER_DATA_MAX + 100);
    CHECK_RC(pdk_leader_observe(&o, c, crowded, observed, &length), 0);
    CHECK_WITHIN(LONG_MS, length == PDK_CONTENDER_DATA_MAX);
    CHECK_RC(pdk_leader_observer_free(o), 0);
    finish();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a list has at most 64 requests under way", requests_bounded},
        {"and at most 256 KiB of data", bytes_bounded},
        {"large data are not read, and their size is told", large_left_out},
        {"nor is more than 16 MiB of one list", sum_bounded},
        {"a holder that lists 5,000 contenders stays HELD", stays_held},
        {"a list that was given up asks for nothing more", left_early},
        {"an observer is told at most 65,536 bytes of an id", observed_id_cut},
        {0},
    };
    return fixture_main(argc, argv, "crowd", tests, ON_ONE);
}
