/* Curator's LeaderLatch and ours. */
#include "interop.h"
#include "peer.h"
#include "test/lib/check.h"

#include <string.h>

static pdk_leader *new_leader(const char *path, const char *id)
{
    pdk_leader *l = NULL;
    pdk_lock_options *o = pdk_lock_options_new();
    CHECK_RC(pdk_lock_options_set_data(o, id, strlen(id)), PDK_OK);
    CHECK_RC(pdk_leader_new(&l, ours, path, PDK_LATCH, o), PDK_OK);
    pdk_lock_options_free(o);
    return l;
}

static void ask_peer(const char *question, const char *answer)
{
    program_say(&peer, "%s", question);
    CHECK_STR(program_hear(&peer), answer);
}

static void check_current(const char *path, const char *id, pdk_dialect dialect)
{
    size_t size;
    pdk_contender_list *l = NULL;
    CHECK_RC(pdk_contenders(ours, path, 1, LIMIT_MS, &l), PDK_OK);
    CHECK(pdk_contender_list_size(l) > 0);
    CHECK_EQ(pdk_contender_number(l, 0, PDK_CONTENDER_DIALECT), dialect);
    CHECK_STR(pdk_contender_data(l, 0, &size), id);
    CHECK_EQ(size, strlen(id));
    pdk_contender_list_free(l);
}

void ours_stands_while_curator_leads(void)
{
    const char *path = "/interop/latch-curator-first";
    pdk_leader *l = new_leader(path, "ours-1");
    peer_start(pdk__server_port(server), path, LONG_SESSION_MS);
    ask_peer("0 stand curator-0", "0 stands");
    ask_peer("0 await", "0 leads");
    CHECK_RC(pdk_leader_start(l), PDK_OK);
    CHECK_WITHIN(LIMIT_MS, count(path) == 2);
    CHECK_RC(pdk_leader_wait(l, 0), PDK_ETIMEDOUT);
    check_current(path, "curator-0", PDK_DIALECT_CURATOR);
    ask_peer("0 participants", "0 participants curator-0* ours-1");
    ask_peer("0 leads", "0 yes");
    ask_peer("0 resign", "0 resigned");
    CHECK_RC(pdk_leader_wait(l, LIMIT_MS), PDK_OK);
    CHECK_EQ(count(path), 1);
    CHECK_RC(pdk_leader_resign(l), PDK_OK);
    CHECK_RC(pdk_lock_free(l), PDK_OK);
}

void curator_stands_while_ours_leads(void)
{
    const char *path = "/interop/latch-ours-first";
    pdk_leader *l = new_leader(path, "ours-1"), *last = new_leader(path, "ours-2");
    peer_start(pdk__server_port(server), path, LONG_SESSION_MS);
    CHECK_RC(pdk_leader_start(l), PDK_OK);
    CHECK_RC(pdk_leader_wait(l, LIMIT_MS), PDK_OK);
    ask_peer("0 stand curator-0", "0 stands");
    CHECK_WITHIN(LIMIT_MS, count(path) == 2);
    CHECK_RC(pdk_leader_start(last), PDK_OK);
    CHECK_WITHIN(LIMIT_MS, count(path) == 3);
    ask_peer("0 leads", "0 no");
    ask_peer("0 leader", "0 leader ours-1");
    ask_peer("0 participants", "0 participants ours-1* curator-0 ours-2");
    check_current(path, "ours-1", PDK_DIALECT_PADDOCK);
    CHECK_RC(pdk_leader_resign(l), PDK_OK);
    ask_peer("0 await", "0 leads");
    ask_peer("0 leader", "0 leader curator-0");
    CHECK_RC(pdk_leader_wait(last, 0), PDK_ETIMEDOUT);
    ask_peer("0 resign", "0 resigned");
    CHECK_RC(pdk_leader_wait(last, LIMIT_MS), PDK_OK);
    CHECK_RC(pdk_leader_resign(last), PDK_OK);
    CHECK_RC(pdk_lock_free(l), PDK_OK);
    CHECK_RC(pdk_lock_free(last), PDK_OK);
}

void a_killed_curator_leader_is_followed_by_ours(void)
{
    const char *path = "/interop/latch-killed-curator";
    pdk_leader *l = new_leader(path, "ours-1");
    peer_start(pdk__server_port(server), path, SHORT_SESSION_MS);
    ask_peer("0 stand curator-0", "0 stands");
    ask_peer("0 await", "0 leads");
    CHECK_RC(pdk_leader_start(l), PDK_OK);
    CHECK_WITHIN(LIMIT_MS, count(path) == 2);
    program_kill(&peer);
    CHECK_RC(pdk_leader_wait(l, LIMIT_MS), PDK_OK);
    CHECK_EQ(count(path), 1);
    CHECK_RC(pdk_leader_resign(l), PDK_OK);
    CHECK_RC(pdk_lock_free(l), PDK_OK);
}

void ours_and_curators_selector_take_turns(void)
{
    const char *path = "/interop/turns";
    pdk_leader *l = NULL;
    pdk_lock_options *o = pdk_lock_options_new();
    CHECK_RC(pdk_lock_options_set_data(o, "ours", 4), PDK_OK);
    CHECK_RC(pdk_leader_new(&l, ours, path, PDK_IN_TURNS, o), PDK_OK);
    pdk_lock_options_free(o);
    peer_start(pdk__server_port(server), path, LONG_SESSION_MS);
    CHECK_RC(pdk_leader_start(l), PDK_OK);
    CHECK_RC(pdk_leader_wait(l, LIMIT_MS), PDK_OK);
    ask_peer("0 select curator", "0 selects");
    CHECK_WITHIN(LIMIT_MS, count(path) == 2);
    for (int turn = 0; turn < 3; turn++) {
        check_current(path, "ours", PDK_DIALECT_PADDOCK);
        CHECK(program_silent(&peer));
        CHECK_RC(pdk_leader_yield(l), PDK_OK);
        CHECK_STR(program_hear(&peer), "0 turn");
        CHECK_WITHIN(LIMIT_MS, count(path) == 2);
        CHECK_RC(pdk_leader_wait(l, 0), PDK_ETIMEDOUT);
        check_current(path, "curator", PDK_DIALECT_CURATOR);
        ask_peer("0 yield", "0 yields");
        CHECK_RC(pdk_leader_wait(l, LIMIT_MS), PDK_OK);
        CHECK_WITHIN(LIMIT_MS, count(path) == 2);
    }
    CHECK_RC(pdk_lock_free(l), PDK_OK);
    CHECK_STR(program_hear(&peer), "0 turn");
}
