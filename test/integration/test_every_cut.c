/*
 * Every request of a round of lock and unlock is cut: before the server sees it, after it was forwarded, and before its
 * reply; one at a time, and in pairs. Whatever was cut, the round ends as it does without: one grant, a larger token
 * than the last, unlock answers 0, no node and no watch is left.
 *
 * An uncut round is run first, to learn how many requests there are to cut. Of a pair, the second can be one of those
 * that only the recovery from the first sends.
 */
#include "test/lib/fixture.h"
#include "test/lib/recorder.h"

#include <stdio.h>
#include <string.h>

/* BEYOND: how many requests after the end of the uncut round the second cut of a pair is tried. */
enum { SESSION_MS = 30000, BEYOND = 4, N_ACTS = 3, N_CUTS = 2, N_HOSTS = 64 };

static const pdk__act acts[N_ACTS] = {PDK__CUT_BEFORE, PDK__CUT_AFTER_FORWARD, PDK__CUT_BEFORE_REPLY};
static const char *const act_names[N_ACTS] = {"before", "after forwarding", "before the reply"};

/* A kind of round. */
struct kind {
    const char *name;
    bool fresh;   /* the path and its parents are not there yet */
    bool held;    /* another client holds the lock at first */
    bool leaves;  /* and releases it: after the cut, or else when we wait for it */
    bool patient; /* and releases it only when we wait for it */
    bool try;
    bool cancelled; /* while it waits for the holder */
    bool recorded;  /* with grants confirmed by a write, and a lock delay */
};

struct cut {
    int nth; /* request; 0: none */
    int act;
};

static struct recorder recorder;
static pdk__proxy *proxy;
static int64_t last_token;
static int n_requests; /* of the last round */
static char holder[192];
static char doing[256]; /* the round that is under way; still there when a check in it has failed */

static void close_recorder(void)
{
    if (*doing != '\0')
        printf("# the last failure was in: %s\n", doing);
    *doing = '\0';
    recorder_close(&recorder);
}

static void begin(void)
{
    close_recorder();
    fixture_begin();
    proxy = fixture.e->proxy[0];
    CHECK_EQ(zoo_create(fixture.zh, fixture.path, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, NULL, 0), ZOK);
    /* The only server, several times: ZooKeeper's client rests for a sixtieth of the session when it has tried all. */
    char hosts[N_HOSTS * sizeof fixture.e->address[0]] = "";
    for (int i = 0; i < N_HOSTS; i++)
        strcat(strcat(hosts, i > 0 ? "," : ""), fixture.e->address[0]);
    recorder_open(&recorder, hosts, SESSION_MS, fixture.path);
    last_token = 0;
}

/* --- one round --------------------------------------------------------------------------------------------------- */

/* A path of its own for each round of the first-ever lock, two levels below what is there. */
static void freshen(void)
{
    static int n;
    pdk_lock_free(recorder.mutex);
    recorder.mutex = NULL;
    snprintf(recorder.path, sizeof recorder.path, "%.40s/%d/lock", fixture.path, n++);
    CHECK_RC(pdk_mutex_new(&recorder.mutex, recorder.client, recorder.path, NULL), PDK_OK);
}

/* A record that is left, or not known for our own, keeps the lock longer than any contender waits. */
static void impose(void)
{
    pdk_lock_options *o = pdk_lock_options_new();
    CHECK_RC(pdk_lock_options_set_confirmed(o, true), PDK_OK);
    CHECK_RC(pdk_lock_options_set_lock_delay_ms(o, 3600000), PDK_OK);
    CHECK_RC(pdk_lock_free(recorder.mutex), PDK_OK);
    recorder.mutex = NULL;
    CHECK_RC(pdk_mutex_new(&recorder.mutex, recorder.client, recorder.path, o), PDK_OK);
    pdk_lock_options_free(o);
}

static void check_record(const char *owner, const char *node)
{
    char text[256], expected[256];
    int length = sizeof text - 1;
    snprintf(expected, sizeof expected, "%s%s", owner, node);
    CHECK_EQ(zoo_get(fixture.zh, recorder.path, 0, text, &length, NULL), ZOK);
    text[length > 0 ? length : 0] = '\0';
    CHECK_STR(text, expected);
}

/* As pdk__check_grant(); but the token is the last write of the node, and the path carries its record. */
static int64_t check_recorded_grant(void)
{
    char node[128];
    struct Stat stat;
    int64_t token;
    token = recorder_token(&recorder);
    CHECK(pdk__observe_first(fixture.zh, recorder.path, node, &stat));
    CHECK_EQ(stat.ephemeralOwner, pdk_client_session_id(recorder.client));
    CHECK_EQ(stat.mzxid, token);
    check_record("held ", node);
    return token;
}

static void hold(void)
{
    char asked[192];
    snprintf(asked, sizeof asked, "%s/somebody-lock-", recorder.path);
    CHECK_EQ(
        zoo_create(fixture.zh, asked, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL_SEQUENTIAL, holder, sizeof holder),
        ZOK);
}

static void leave(void) { CHECK_EQ(zoo_delete(fixture.zh, holder, -1), ZOK); }

static int hits(const struct cut *cuts)
{
    int n = 0;
    for (int i = 0; i < N_CUTS && cuts[i].nth > 0; i++)
        n += pdk__proxy_hits(proxy, i);
    return n;
}

static bool waited_for(void) { return pdk__ask_watchers(fixture.e->server[0], holder) > 0; }

/* It ends with its connection, which a cut has ended, or the client, since the server was silent for a fifth of the
 * session timeout: there are others, as far as it knows. Once nothing of it is left, another one may follow. */
static int try(const struct cut *cuts)
{
    int rc, n_before;
    bool left;
    do {
        int64_t from_ms = pdk__test_now_ms();
        n_before = hits(cuts);
        rc = pdk_mutex_trylock(recorder.mutex);
        left = pdk__test_now_ms() - from_ms >= SESSION_MS / 5;
        CHECK_RC(pdk_client_wait(recorder.client, LONG_MS), 0);
        CHECK_RC(pdk_client_flush(recorder.client, LONG_MS), 0);
    } while (rc == PDK_EDISCONNECTED && (left || hits(cuts) > n_before));
    return rc;
}

static void lock(const struct kind *k, const struct cut *cuts)
{
    if (k->try) {
        CHECK_RC(try(cuts), k->held ? PDK_EBUSY : PDK_OK);
        return;
    }
    int before = atomic_load(&recorder.n_answers);
    recorder_queue(&recorder, PDK_FOREVER);
    if (k->leaves) {
        CHECK_WITHIN(LONG_MS, (!k->patient && hits(cuts) > 0) || waited_for());
        CHECK_RC(recorder.rc, PDK__PENDING);
        leave();
    }
    if (k->cancelled) {
        CHECK_WITHIN(LONG_MS, waited_for());
        CHECK_RC(pdk_grant_cancel(recorder.grant), PDK_OK);
    }
    CHECK_RC(recorder_outcome(&recorder), k->cancelled ? PDK_ECANCELED : PDK_OK);
    CHECK_EQ(recorder.n_answers, before + 1);
}

/* The answer to a request comes after those to all earlier requests of the client. */
static void settle(void)
{
    pdk_contender_list *list;
    CHECK_RC(pdk_contenders(recorder.client, recorder.path, PDK_CONTENDERS_ALL, LONG_MS, &list), PDK_OK);
    pdk_contender_list_free(list);
}

static void nothing_is_left(void)
{
    CHECK_EQ(pdk__observe_nodes(fixture.zh, recorder.path, pdk_client_session_id(recorder.client)), 0);
    CHECK_EQ(recorder_state(&recorder), PDK_FREE);
    CHECK_EQ(recorder_told_ms(&recorder, PDK_LOST), -1);
    CHECK_WITHIN(LONG_MS, pdk__ask_number(fixture.e->server[0], "zk_watch_count") == 0);
}

static void describe(const struct kind *k, const struct cut *cuts)
{
    int n = snprintf(doing, sizeof doing, "%s", k->name);
    for (int i = 0; i < N_CUTS && cuts[i].nth > 0; i++)
        n += snprintf(doing + n, sizeof doing - (size_t)n, ", request %d cut %s", cuts[i].nth, act_names[cuts[i].act]);
}

static void check_and_unlock(const struct kind *k)
{
    int64_t token = k->recorded ? check_recorded_grant() : pdk__check_grant(&recorder, fixture.zh);
    CHECK_LAW(token > last_token);
    last_token = token;
    CHECK_RC(recorder_unlock(&recorder), PDK_OK);
    if (k->recorded)
        check_record("free", "");
}

/* Returns how many of the cuts were made. */
static int run(const struct kind *k, const struct cut *cuts)
{
    int64_t session = pdk_client_session_id(recorder.client);
    describe(k, cuts);
    pdk__proxy_clear(proxy);
    if (k->fresh)
        freshen();
    if (k->held)
        hold();
    settle();
    pdk__proxy_reset_counters(proxy);
    for (int i = 0; i < N_CUTS && cuts[i].nth > 0; i++)
        pdk__proxy_rule(proxy, &(struct pdk__proxy_rule){.nth = cuts[i].nth, .act = acts[cuts[i].act]});
    lock(k, cuts);
    if (k->cancelled)
        CHECK_WITHIN(LONG_MS, pdk__observe_nodes(fixture.zh, recorder.path, session) == 0);
    else if (!k->try || !k->held)
        check_and_unlock(k);
    n_requests = pdk__proxy_requests(proxy, 0);
    settle();
    int made = hits(cuts);
    pdk__proxy_clear(proxy);
    nothing_is_left();
    if (k->held && !k->leaves)
        leave();
    CHECK_EQ(pdk_client_session_id(recorder.client), session);
    doing[0] = '\0';
    return made;
}

/* --- all of them ------------------------------------------------------------------------------------------------- */

/* How many requests an uncut round has. */
static int measure(const struct kind *k)
{
    begin();
    if (k->recorded)
        impose();
    CHECK_EQ(run(k, (struct cut[N_CUTS]){{0}}), 0);
    return n_requests;
}

static void singly(const struct kind *k)
{
    int n = measure(k);
    for (int nth = 1; nth <= n; nth++)
        for (int act = 0; act < N_ACTS; act++)
            CHECK_EQ(run(k, (struct cut[N_CUTS]){{nth, act}}), 1);
    printf("# %s: %d requests\n", k->name, n);
}

/* Not every second cut can be made: the round may be over by then, or its request be lost with the first. The first
 * round of a path is long, and so is a recorded one: a third of its pairs is tried, in which every two requests and
 * every two acts occur. */
static void in_pairs(const struct kind *k)
{
    int n = measure(k), n_both = 0, n_runs = 0, step = k->fresh || k->recorded ? 3 : 1;
    for (int i = 1; i <= n; i++)
        for (int j = i + 1; j <= n + BEYOND; j++)
            for (int a = (i + j) % step; a < N_ACTS * N_ACTS; a += step, n_runs++)
                n_both += run(k, (struct cut[N_CUTS]){{i, a / N_ACTS}, {j, a % N_ACTS}}) == 2;
    printf("# %s: %d pairs, both cuts made in %d\n", k->name, n_runs, n_both);
    CHECK(n_both >= n * N_ACTS * N_ACTS / step);
}

static const struct kind kinds[] = {
    {.name = "lock"},
    {.name = "first lock of a path", .fresh = true},
    {.name = "trylock", .try = true},
    {.name = "trylock of a held lock", .try = true, .held = true},
    {.name = "lock behind a holder that leaves", .held = true, .leaves = true},
    {.name = "lock behind a holder that leaves late", .held = true, .leaves = true, .patient = true},
    {.name = "lock given up behind a holder", .held = true, .cancelled = true},
    {.name = "recorded lock", .recorded = true},
    {.name = "recorded lock behind a holder that leaves late",
     .held = true,
     .leaves = true,
     .patient = true,
     .recorded = true},
};

#define ROUND(name, i)                                                                                                 \
    static void name##_singly(void) { singly(&kinds[i]); }                                                             \
    static void name##_in_pairs(void) { in_pairs(&kinds[i]); }

ROUND(free, 0)
ROUND(fresh, 1)
ROUND(try, 2)
ROUND(busy, 3)
ROUND(held, 4)
ROUND(held_late, 5)
ROUND(given_up, 6)
ROUND(recorded, 7)
ROUND(recorded_late, 8)

/* --- what is no request of the round ----------------------------------------------------------------------------- */

static void handshake(void)
{
    begin();
    for (int lost = 0; lost < N_ACTS; lost++)
        for (int act = 0; act < N_ACTS; act++) {
            snprintf(doing, sizeof doing, "create cut %s, handshake cut %s", act_names[lost], act_names[act]);
            pdk__proxy_clear(proxy);
            int a = pdk__proxy_rule(proxy, &(struct pdk__proxy_rule){.op = PDK__OP_CREATE2, .act = acts[lost]});
            int b = pdk__proxy_rule(proxy, &(struct pdk__proxy_rule){.op = PDK__OP_CONNECT, .act = acts[act]});
            lock(&kinds[0], NULL);
            CHECK_EQ(pdk__proxy_hits(proxy, a), 1);
            CHECK_EQ(pdk__proxy_hits(proxy, b), 1);
            check_and_unlock(&kinds[0]);
            nothing_is_left();
            doing[0] = '\0';
        }
}

/* The server has sent the event that the holder's node is deleted, and the connection ends before it arrives. */
static void news(void)
{
    begin();
    hold();
    pdk__proxy_reset_counters(proxy);
    recorder_queue(&recorder, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, waited_for());
    settle();
    pdk__proxy_hold(proxy, PDK__TO_CLIENT, true);
    leave();
    CHECK_WITHIN(LONG_MS, pdk__proxy_events(proxy, 2, holder) == 1);
    CHECK_RC(recorder.rc, PDK__PENDING);
    pdk__proxy_cut(proxy);
    pdk__proxy_hold(proxy, PDK__TO_CLIENT, false);
    CHECK_RC(recorder_outcome(&recorder), PDK_OK);
    check_and_unlock(&kinds[0]);
    nothing_is_left();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a round ends right, whichever request is cut", free_singly},
        {"the first round of a path ends right, whichever request is cut", fresh_singly},
        {"a try ends right, whichever request is cut", try_singly},
        {"a try of a held lock ends right, whichever request is cut", busy_singly},
        {"a round behind a holder ends right, whichever request is cut", held_singly},
        {"a round behind a late holder ends right, whichever request is cut", held_late_singly},
        {"a round that is given up leaves nothing, whichever request is cut", given_up_singly},
        {"a recorded and confirmed round ends right, whichever request is cut", recorded_singly},
        {"a recorded and confirmed round behind a holder ends right, whichever request is cut", recorded_late_singly},
        {"a round ends right when the handshake after a cut is cut", handshake},
        {"a release whose news is cut off is heard of after the reconnect", news},
        {"all of it can be closed", close_recorder},
        {0},
    };
    static const struct pdk__test proof[] = {
        {"a round ends right, whichever two requests are cut", free_in_pairs},
        {"the first round of a path ends right, whichever two requests are cut", fresh_in_pairs},
        {"a try ends right, whichever two requests are cut", try_in_pairs},
        {"a try of a held lock ends right, whichever two requests are cut", busy_in_pairs},
        {"a round behind a holder ends right, whichever two requests are cut", held_in_pairs},
        {"a round behind a late holder ends right, whichever two requests are cut", held_late_in_pairs},
        {"a round that is given up leaves nothing, whichever two requests are cut", given_up_in_pairs},
        {"a recorded and confirmed round ends right, whichever two requests are cut", recorded_in_pairs},
        {"a recorded and confirmed round behind a holder ends right, whichever two requests are cut",
         recorded_late_in_pairs},
        {0},
    };
    return fixture_run(argc, argv, &(struct pdk__test_suite){.name = "every_cut", .tests = tests, .proof = proof},
                       ON_ONE | ON_OWN);
}
