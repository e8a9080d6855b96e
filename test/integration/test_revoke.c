/* Asking for a lock that is held: the word in the holder's node, and the callback for it. */
#include "lib/zk/client.h"
#include "test/lib/fixture.h"
#include "test/lib/recorder.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static struct {
    _Atomic int n;
    _Atomic int64_t token;
} told;

static void note(pdk_mutex *m, const pdk_event *event, void *arg)
{
    (void)arg;
    if (event->kind != PDK_EVENT_REVOKED)
        return;
    told.token = event->token;
    told.n++;
    pdk_lock_state(m); /* may be called inside, and does not block */
}

static struct peer holder;

static void begin(void)
{
    fixture_begin();
    holder = peer_new(0);
    told.n = 0;
    told.token = 0;
    CHECK_RC(pdk_lock_on_event(holder.mutex, note, NULL), PDK_OK);
}

static void write_to(const char *node, const char *data)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", fixture.path, node);
    CHECK_EQ(zoo_set(fixture.zh, path, data, (int)strlen(data), -1), ZOK);
}

static void write_to_node_of(const struct peer *p, const char *data)
{
    char node[128];
    CHECK(pdk_lock_node(p->mutex, 0, node, sizeof node) > 0);
    write_to(node, data);
}

static void write_to_last(const char *data)
{
    struct String_vector names;
    pdk__observe_flush(fixture.zh, fixture.path);
    CHECK_EQ(zoo_get_children(fixture.zh, fixture.path, 0, &names), ZOK);
    CHECK(names.count > 0);
    const char *last = names.data[0];
    for (int i = 1; i < names.count; i++)
        if (strcmp(strrchr(names.data[i], '-'), strrchr(last, '-')) > 0)
            last = names.data[i];
    write_to(last, data);
    deallocate_String_vector(&names);
}

static void holder_is_asked(void)
{
    begin();
    CHECK_RC(pdk_mutex_lock(holder.mutex), PDK_OK);
    write_to_node_of(&holder, "__REVOKE__");
    CHECK_WITHIN(LONG_MS, told.n == 1);
    CHECK_EQ(told.token, peer_token(&holder));
    CHECK_EQ(pdk_lock_state(holder.mutex), PDK_HELD);
    CHECK_RC(pdk_mutex_unlock(holder.mutex), PDK_OK);
    peer_free(&holder);
}

/* Any other data are no request: neither the word with something after it, nor the half of it. */
static void exactly_the_word(void)
{
    static const char *const others[] = {"", "__REVOKE", "__REVOKE__\n", "__revoke__", "{}"};
    begin();
    struct peer watched = peer_proxied();
    CHECK_RC(pdk_lock_on_event(watched.mutex, note, NULL), PDK_OK);
    CHECK_RC(pdk_mutex_lock(watched.mutex), PDK_OK);
    int n = 1;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++, n++) {
        CHECK_WITHIN(LONG_MS, pdk__proxy_replies(watched.proxy, PDK__OP_GET) == n);
        write_to_node_of(&watched, others[i]);
    }
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(watched.proxy, PDK__OP_GET) == n);
    CHECK_EQ(told.n, 0);
    write_to_node_of(&watched, "__REVOKE__");
    CHECK_WITHIN(LONG_MS, told.n == 1);
    CHECK_RC(pdk_mutex_unlock(watched.mutex), PDK_OK);
    peer_free(&watched);
    peer_free(&holder);
}

static void read_node_of(const struct peer *p, char *text, int size)
{
    char node[128], whole[256];
    CHECK(pdk_lock_node(p->mutex, 0, node, sizeof node) > 0);
    snprintf(whole, sizeof whole, "%s/%s", fixture.path, node);
    size--;
    pdk__observe_flush(fixture.zh, fixture.path);
    CHECK_EQ(zoo_get(fixture.zh, whole, 0, text, &size, NULL), ZOK);
    text[size > 0 ? size : 0] = '\0';
}

/* Curator's Revoker writes over what the node says of its owner; the holder writes that back, after the word. */
static void owner_is_still_told(void)
{
    char before[512], after[600], wanted[600];
    begin();
    CHECK_RC(pdk_mutex_lock(holder.mutex), PDK_OK);
    read_node_of(&holder, before, sizeof before);
    write_to_node_of(&holder, "__REVOKE__");
    snprintf(wanted, sizeof wanted, "__REVOKE__ %s", before);
    CHECK_WITHIN(LONG_MS, (read_node_of(&holder, after, sizeof after), strcmp(after, wanted) == 0));
    CHECK_WITHIN(LONG_MS, told.n == 1);
    CHECK_RC(pdk_mutex_unlock(holder.mutex), PDK_OK);
    CHECK_EQ(told.n, 1);
    peer_free(&holder);
}

static void once_per_grant(void)
{
    begin();
    for (int grant = 1; grant <= 2; grant++) {
        CHECK_RC(pdk_mutex_lock(holder.mutex), PDK_OK);
        write_to_node_of(&holder, "__REVOKE__");
        CHECK_WITHIN(LONG_MS, told.n == grant);
        write_to_node_of(&holder, "");
        write_to_node_of(&holder, "__REVOKE__");
        CHECK_EQ(told.token, peer_token(&holder));
        CHECK_RC(pdk_mutex_unlock(holder.mutex), PDK_OK);
        CHECK_EQ(told.n, grant);
    }
    peer_free(&holder);
}

static void waiter_is_told_with_its_grant(void)
{
    static struct request want;
    begin();
    struct peer first = peer_new(0);
    CHECK_RC(pdk_mutex_lock(first.mutex), PDK_OK);
    request_queued(&want, &holder, PDK_FOREVER, 2);
    write_to_last("__REVOKE__");
    CHECK_EQ(told.n, 0);
    CHECK_RC(pdk_mutex_unlock(first.mutex), PDK_OK);
    request_told(&want, 0);
    CHECK_WITHIN(LONG_MS, told.n == 1);
    CHECK_EQ(told.token, request_token(&want));
    request_end(&want, 0);
    peer_free(&first);
    peer_free(&holder);
}

/* The word is there before the holder's first look at its own node: what it reads when it sets its watch counts. */
static void before_the_watch(void)
{
    static struct request want;
    begin();
    struct peer late = peer_proxied();
    CHECK_RC(pdk_lock_on_event(late.mutex, note, NULL), PDK_OK);
    int rule = pdk__proxy_rule(late.proxy, &(struct pdk__proxy_rule){.op = PDK__OP_GET, .act = PDK__HOLD_REQUEST});
    request_queued(&want, &late, PDK_FOREVER, 1);
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(late.proxy, rule) == 1);
    write_to_last("__REVOKE__");
    pdk__proxy_release(late.proxy, rule);
    request_told(&want, 0);
    CHECK_WITHIN(LONG_MS, told.n == 1);
    request_end(&want, 0);
    peer_free(&late);
    peer_free(&holder);
}

static void leader_is_asked(void)
{
    pdk_leader *l;
    pdk_event elected, asked;
    char node[128];
    begin();
    CHECK_RC(pdk_leader_new(&l, holder.client, fixture.path, PDK_LATCH, NULL), PDK_OK);
    CHECK(pdk_lock_fd(l) >= 0);
    CHECK_RC(pdk_leader_start(l), PDK_OK);
    CHECK_RC(pdk_leader_wait(l, LONG_MS), PDK_OK);
    CHECK_EQ(pdk_lock_next_event(l, &elected), 1);
    CHECK_EQ(elected.kind, PDK_EVENT_ELECTED);
    pdk_lock_node(l, 0, node, sizeof node);
    write_to(node, "__REVOKE__");
    CHECK_WITHIN(LONG_MS, pdk_lock_next_event(l, &asked) == 1);
    CHECK_EQ(asked.kind, PDK_EVENT_REVOKED);
    CHECK_EQ(asked.token, elected.token);
    CHECK(pdk_lock_state(l) == PDK_HELD);
    CHECK_RC(pdk_leader_resign(l), PDK_OK);
    CHECK_RC(pdk_lock_free(l), PDK_OK);
    peer_free(&holder);
}

/* --- asking, and taking away ------------------------------------------------------------------------------------- */

/* Its server may have an older state than the one that we spoke to. */
static pdk_contender_list *list_by(const struct peer *p)
{
    pdk_contender_list *list = NULL;
    do {
        pdk_contender_list_free(list);
        CHECK_RC(pdk_contenders(p->client, fixture.path, PDK_CONTENDERS_ALL, LONG_MS, &list), PDK_OK);
    } while (pdk_contender_list_size(list) == 0);
    return list;
}

struct late_remove {
    pthread_t thread;
    pdk_client *client;
    pdk_contender_list *list;
    int rc;
};

static void *late_remove(void *arg)
{
    struct late_remove *r = arg;
    r->rc = pdk_contender_remove(r->client, r->list, 0, LONG_MS);
    return NULL;
}

static void asked_by_the_library(void)
{
    begin();
    struct peer other = peer_new(0);
    CHECK_RC(pdk_mutex_lock(holder.mutex), PDK_OK);
    pdk_contender_list *list = list_by(&other);
    CHECK_RC(pdk_contender_revoke(other.client, list, 1, LONG_MS), PDK_EINVAL);
    CHECK_RC(pdk_contender_revoke(other.client, list, 0, LONG_MS), PDK_OK);
    CHECK_WITHIN(LONG_MS, told.n == 1);
    CHECK_RC(pdk_contender_revoke(other.client, list, 0, LONG_MS), PDK_OK);
    CHECK_RC(pdk_mutex_unlock(holder.mutex), PDK_OK);
    CHECK_RC(pdk_contender_revoke(other.client, list, 0, LONG_MS), PDK_ENOENT);
    pdk_contender_list_free(list);
    peer_free(&other);
    peer_free(&holder);
}

static void removed_by_the_library(void)
{
    static struct request want;
    begin();
    struct peer other = peer_new(0);
    CHECK_RC(pdk_mutex_lock(holder.mutex), PDK_OK);
    request_queued(&want, &other, PDK_FOREVER, 2);
    pdk_contender_list *list = list_by(&other);
    CHECK_RC(pdk_contender_revoke(other.client, list, 0, LONG_MS), PDK_OK); /* the version listed is not the last */
    CHECK_RC(pdk_contender_remove(other.client, list, 0, LONG_MS), PDK_OK);
    request_told(&want, 0);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(holder.mutex) == PDK_LOST);
    CHECK_RC(pdk_contender_remove(other.client, list, 0, LONG_MS), PDK_ENOENT);
    CHECK_EQ(pdk_grant_state(want.grant), PDK_HELD);
    CHECK_RC(pdk_mutex_unlock(holder.mutex), PDK_ELOST);
    pdk_contender_list_free(list);
    request_end(&want, 0);
    peer_free(&other);
    peer_free(&holder);
}

/* Names can come back where the path was deleted in between: of other libraries, that are not as careful with them. */
static void a_node_that_came_after(void)
{
    char path[512];
    struct Stat stat;
    begin();
    snprintf(path, sizeof path, "%s/notes", fixture.path);
    CHECK_EQ(zoo_create(fixture.zh, fixture.path, "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0), ZOK);
    CHECK_EQ(zoo_create(fixture.zh, path, "1", 1, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0), ZOK);
    pdk_contender_list *list = list_by(&holder);
    CHECK_EQ(zoo_delete(fixture.zh, path, -1), ZOK);
    CHECK_EQ(zoo_create(fixture.zh, path, "2", 1, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0), ZOK);
    pdk__observe_flush(pdk__client_zh(holder.client), path); /* its server may lag */
    CHECK_RC(pdk_contender_revoke(holder.client, list, 0, LONG_MS), PDK_ENOENT);
    CHECK_RC(pdk_contender_remove(holder.client, list, 0, LONG_MS), PDK_ENOENT);
    CHECK_EQ(zoo_exists(fixture.zh, path, 0, &stat), ZOK);
    CHECK_EQ(stat.version, 0);
    CHECK_EQ(zoo_delete(fixture.zh, path, -1), ZOK);
    pdk_contender_list_free(list);
    peer_free(&holder);
}

/* The owner writes between the look and the delete: the delete is refused, and the look repeated. */
static void written_to_in_between(void)
{
    begin();
    struct peer other = peer_proxied();
    CHECK_RC(pdk_mutex_lock(holder.mutex), PDK_OK);
    pdk_contender_list *list = list_by(&other);
    struct late_remove r = {.client = other.client, .list = list};
    int rule = pdk__proxy_rule(other.proxy, &(struct pdk__proxy_rule){.op = PDK__OP_DELETE, .act = PDK__HOLD_REQUEST});
    CHECK_EQ(pthread_create(&r.thread, NULL, late_remove, &r), 0);
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(other.proxy, rule) == 1);
    write_to_node_of(&holder, "{}");
    pdk__proxy_release(other.proxy, rule);
    CHECK_EQ(pthread_join(r.thread, NULL), 0);
    CHECK_RC(r.rc, PDK_OK);
    CHECK_EQ(pdk__proxy_replies(other.proxy, PDK__OP_DELETE), 2);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(holder.mutex) == PDK_LOST);
    CHECK_RC(pdk_mutex_unlock(holder.mutex), PDK_ELOST);
    pdk_contender_list_free(list);
    peer_free(&other);
    peer_free(&holder);
}

/* The delete was done, and its answer was lost. */
static void answer_lost(void)
{
    begin();
    struct peer other = peer_proxied();
    CHECK_RC(pdk_mutex_lock(holder.mutex), PDK_OK);
    pdk_contender_list *list = list_by(&other);
    pdk__proxy_rule(other.proxy, &(struct pdk__proxy_rule){.op = PDK__OP_DELETE, .act = PDK__CUT_BEFORE_REPLY});
    CHECK_RC(pdk_contender_remove(other.client, list, 0, LONG_MS), PDK_OK);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(holder.mutex) == PDK_LOST);
    CHECK_RC(pdk_mutex_unlock(holder.mutex), PDK_ELOST);
    pdk_contender_list_free(list);
    peer_free(&other);
    peer_free(&holder);
}

/* In time, and with the truth: a write that was not answered may have happened. */
static void in_time(void)
{
    begin();
    struct peer other = peer_proxied();
    CHECK_RC(pdk_mutex_lock(holder.mutex), PDK_OK);
    pdk_contender_list *list = list_by(&other);
    int exists = pdk__proxy_rule(other.proxy,
                                 &(struct pdk__proxy_rule){.op = PDK__OP_EXISTS, .act = PDK__SWALLOW_REQUEST});
    CHECK_RC(pdk_contender_revoke(other.client, list, 0, 100), PDK_ETIMEDOUT);
    CHECK_EQ(pdk__proxy_hits(other.proxy, exists), 1);
    pdk__proxy_rule(other.proxy, &(struct pdk__proxy_rule){.op = PDK__OP_SET, .act = PDK__SWALLOW_REPLY});
    CHECK_RC(pdk_contender_revoke(other.client, list, 0, 1000), PDK_EUNKNOWN);
    CHECK_WITHIN(LONG_MS, told.n == 1);
    CHECK_RC(pdk_mutex_unlock(holder.mutex), PDK_OK);
    pdk_contender_list_free(list);
    peer_free(&other);
    peer_free(&holder);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a holder that Curator asked still tells its owner", owner_is_still_told},
        {"a holder is asked, and goes on holding", holder_is_asked},
        {"exactly the word asks", exactly_the_word},
        {"each grant is asked once", once_per_grant},
        {"a waiter is told with its grant", waiter_is_told_with_its_grant},
        {"a word written before the watch was set is seen", before_the_watch},
        {"a leader is asked, and goes on leading", leader_is_asked},
        {"who holds can be asked", asked_by_the_library},
        {"who holds can be removed, and the next is granted", removed_by_the_library},
        {"a node that came after is left alone", a_node_that_came_after},
        {"a node that is written to meanwhile is removed all the same", written_to_in_between},
        {"a removal whose answer was lost is known to have happened", answer_lost},
        {"an answer that does not come is not waited for", in_time},
        {0},
    };
    return fixture_main(argc, argv, "revoke", tests, ON_ONE | ON_THREE | ON_OWN);
}
