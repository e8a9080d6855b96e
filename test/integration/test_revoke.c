/* Asking for a lock that is held: the word in the holder's node, and who is told of it. */
#include "test/lib/actor.h"
#include "test/lib/field.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static struct {
    _Atomic int n;
    _Atomic int64_t token;
} told;

static void note(pdk_mutex *m, int64_t token, void *arg)
{
    (void)arg;
    told.token = token;
    told.n++;
    pdk_mutex_state(m); /* of any use inside, and not in the way */
}

static struct pdk__peer holder;

static void begin(void)
{
    pdk__field_begin();
    holder = pdk__peer_new(0);
    told.n = 0;
    told.token = 0;
    CHECK_RC(pdk_mutex_on_revoke(holder.mutex, note, NULL), PDK_OK);
}

static void write_to(const char *node, const char *data)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", pdk__field.path, node);
    CHECK_EQ(zoo_set(pdk__field.zh, path, data, (int)strlen(data), -1), ZOK);
}

static void write_to_node_of(const struct pdk__peer *p, const char *data)
{
    char node[128];
    CHECK(pdk_mutex_node(p->mutex, node, sizeof node) > 0);
    write_to(node, data);
}

static void write_to_last(const char *data)
{
    struct String_vector names;
    pdk__observe_sync(pdk__field.zh, pdk__field.path);
    CHECK_EQ(zoo_get_children(pdk__field.zh, pdk__field.path, 0, &names), ZOK);
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
    CHECK_WITHIN(PDK__LONG_MS, told.n == 1);
    CHECK_EQ(told.token, pdk__peer_token(&holder));
    CHECK_EQ(pdk_mutex_state(holder.mutex), PDK_HELD);
    CHECK_RC(pdk_mutex_unlock(holder.mutex), PDK_OK);
    pdk__peer_free(&holder);
}

/* Whatever else is written is nobody's request: neither the word with something behind it, nor the half of it. */
static void exactly_the_word(void)
{
    static const char *const others[] = {"", "__REVOKE", "__REVOKE__\n", "__revoke__", "{}"};
    begin();
    struct pdk__peer watched = pdk__peer_proxied();
    CHECK_RC(pdk_mutex_on_revoke(watched.mutex, note, NULL), PDK_OK);
    CHECK_RC(pdk_mutex_lock(watched.mutex), PDK_OK);
    int n = 1;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++, n++) {
        CHECK_WITHIN(PDK__LONG_MS, pdk__proxy_replies(watched.proxy, PDK__OP_GET) == n);
        write_to_node_of(&watched, others[i]);
    }
    CHECK_WITHIN(PDK__LONG_MS, pdk__proxy_replies(watched.proxy, PDK__OP_GET) == n);
    CHECK_EQ(told.n, 0);
    write_to_node_of(&watched, "__REVOKE__");
    CHECK_WITHIN(PDK__LONG_MS, told.n == 1);
    CHECK_RC(pdk_mutex_unlock(watched.mutex), PDK_OK);
    pdk__peer_free(&watched);
    pdk__peer_free(&holder);
}

static void once_per_grant(void)
{
    begin();
    for (int grant = 1; grant <= 2; grant++) {
        CHECK_RC(pdk_mutex_lock(holder.mutex), PDK_OK);
        write_to_node_of(&holder, "__REVOKE__");
        CHECK_WITHIN(PDK__LONG_MS, told.n == grant);
        write_to_node_of(&holder, "");
        write_to_node_of(&holder, "__REVOKE__");
        CHECK_EQ(told.token, pdk__peer_token(&holder));
        CHECK_RC(pdk_mutex_unlock(holder.mutex), PDK_OK);
        CHECK_EQ(told.n, grant);
    }
    pdk__peer_free(&holder);
}

static void waiter_is_told_with_its_grant(void)
{
    static struct pdk__want want;
    begin();
    struct pdk__peer first = pdk__peer_new(0);
    CHECK_RC(pdk_mutex_lock(first.mutex), PDK_OK);
    pdk__want(&want, &holder, PDK_FOREVER, 2);
    write_to_last("__REVOKE__");
    CHECK_EQ(told.n, 0);
    CHECK_RC(pdk_mutex_unlock(first.mutex), PDK_OK);
    pdk__want_told(&want, 0);
    CHECK_WITHIN(PDK__LONG_MS, told.n == 1);
    CHECK_EQ(told.token, pdk__peer_token(&holder));
    pdk__want_end(&want, 0);
    pdk__peer_free(&first);
    pdk__peer_free(&holder);
}

/* The word is there before the holder's first look at its own node: what it reads when it sets its watch counts. */
static void before_the_watch(void)
{
    static struct pdk__want want;
    begin();
    struct pdk__peer late = pdk__peer_proxied();
    CHECK_RC(pdk_mutex_on_revoke(late.mutex, note, NULL), PDK_OK);
    int rule = pdk__proxy_rule(late.proxy, &(struct pdk__rule){.op = PDK__OP_GET, .act = PDK__HOLD_REQUEST});
    pdk__want(&want, &late, PDK_FOREVER, 1);
    CHECK_WITHIN(PDK__LONG_MS, pdk__proxy_hits(late.proxy, rule) == 1);
    write_to_last("__REVOKE__");
    pdk__proxy_release(late.proxy, rule);
    pdk__want_told(&want, 0);
    CHECK_WITHIN(PDK__LONG_MS, told.n == 1);
    pdk__want_end(&want, 0);
    pdk__peer_free(&late);
    pdk__peer_free(&holder);
}

static void leader_is_asked(void)
{
    pdk_leader *l;
    pdk_leader_change change;
    int64_t token, asked;
    char node[128];
    begin();
    CHECK_RC(pdk_leader_new(&l, holder.client, pdk__field.path, NULL), PDK_OK);
    CHECK(pdk_leader_fd(l) >= 0);
    CHECK_RC(pdk_leader_start(l), PDK_OK);
    CHECK_RC(pdk_leader_wait(l, PDK__LONG_MS), PDK_OK);
    CHECK_EQ(pdk_leader_next_change(l, &change, &token), 1);
    CHECK_EQ(change, PDK_ELECTED);
    pdk_leader_node(l, node, sizeof node);
    write_to(node, "__REVOKE__");
    CHECK_WITHIN(PDK__LONG_MS, pdk_leader_next_change(l, &change, &asked) == 1);
    CHECK_EQ(change, PDK_REVOKED);
    CHECK_EQ(asked, token);
    CHECK(pdk_leader_is_leader(l));
    CHECK_RC(pdk_leader_resign(l), PDK_OK);
    CHECK_RC(pdk_leader_free(l), PDK_OK);
    pdk__peer_free(&holder);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a holder is asked, and goes on holding", holder_is_asked},
        {"exactly the word asks", exactly_the_word},
        {"each grant is asked once", once_per_grant},
        {"a waiter is told with its grant", waiter_is_told_with_its_grant},
        {"a word written before the watch was set is seen", before_the_watch},
        {"a leader is asked, and goes on leading", leader_is_asked},
        {0},
    };
    return pdk__field_main(argc, argv, "revoke", tests, PDK__ON_ONE | PDK__ON_THREE | PDK__OWN);
}
