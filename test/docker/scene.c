#include "test/docker/scene.h"

#include <paddock.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char path[128];
static struct pdk__seen seen[PDK__LAB_SEEN_MAX];

size_t scene_nodes(void) { return pdk__lab_look(path, seen); }

void scene_begin(void)
{
    static int n;
    snprintf(path, sizeof path, "/paddock-faults/%d-%d", (int)getpid(), ++n);
    pdk__crew_begin(path);
    pdk__fault("recover");
}

int scene_hire_at(const char *server, bool at, int session_ms)
{
    for (;;) {
        int who = pdk__crew_hire(session_ms);
        if ((strcmp(pdk__lab_server_of(pdk__crew_last(who, "connected")->session), server) == 0) == at)
            return who;
        pdk__crew_dismiss(who);
    }
}

int scene_hire_only_at(const char *server, int session_ms)
{
    char host[64];
    pdk__lab_hosts(server, true, host, sizeof host);
    return pdk__crew_hire_to(host, session_ms);
}

int scene_queue_up(int who)
{
    size_t before = scene_nodes();
    pdk__crew_order(who, "lock");
    CHECK_WITHIN(SOON_MS, scene_nodes() == before + 1);
    return who;
}

struct pdk__event scene_granted(int who)
{
    struct pdk__event e = pdk__crew_await(who, "granted", pdk__crew_count(who, "released") + 1, SOON_MS);
    CHECK(scene_nodes() >= 1);
    CHECK_EQ(seen[0].token, e.token);
    CHECK_EQ(seen[0].session, e.session);
    return e;
}

struct pdk__event scene_lock(int who)
{
    pdk__crew_order(who, "lock");
    return scene_granted(who);
}

void scene_unlock(int who) { CHECK_RC(pdk__crew_do(who, "unlock", "released", SOON_MS).rc, PDK_OK); }

void scene_reconnected(int who)
{
    pdk__crew_await(who, "suspended", 1, SOON_MS);
    pdk__crew_await(who, "connected", 2, SOON_MS);
}

void scene_moved(int who, const char *server)
{
    int64_t session = pdk__crew_last(who, "connected")->session;
    const char *now;
    CHECK_WITHIN(SOON_MS, *(now = pdk__lab_server_of(session)) != '\0' && strcmp(now, server) != 0);
}

void scene_still_holds(int who, const struct pdk__event *grant, const int *others, size_t n)
{
    CHECK_WITHIN(SOON_MS, pdk__crew_do(who, "state", "state", SOON_MS).rc == PDK_HELD);
    CHECK_EQ(pdk__crew_last(who, "state")->token, grant->token);
    CHECK_EQ(pdk__crew_last(who, "state")->session, grant->session);
    CHECK_EQ(pdk__crew_count(who, "lost"), 0);
    CHECK(scene_nodes() >= 1);
    CHECK_EQ(seen[0].token, grant->token);
    CHECK_EQ(seen[0].session, grant->session);
    for (size_t i = 0; i < n; i++)
        CHECK_EQ(pdk__crew_count(others[i], "granted"), 0);
}

void scene_serve(const int *queue, size_t n)
{
    int64_t last = 0;
    for (size_t i = 0; i < n; i++) {
        struct pdk__event e = scene_granted(queue[i]);
        CHECK(e.token > last);
        last = e.token;
        scene_unlock(queue[i]);
    }
    CHECK_EQ(scene_nodes(), 0);
}

enum { ROUNDS = 5 };

void scene_contend(int n, int session_ms)
{
    for (int i = 0; i < n; i++)
        pdk__crew_hire(session_ms);
    for (int i = 0; i < n; i++)
        pdk__crew_order(i, "run");
    for (int i = 0; i < n; i++)
        pdk__crew_await(i, "released", ROUNDS, SOON_MS);
}

static void check_rounds(int who)
{
    CHECK_EQ(pdk__crew_count(who, "failed"), 0);
    CHECK_EQ(pdk__crew_count(who, "lost"), 0);
    CHECK_EQ(pdk__crew_count(who, "granted"), pdk__crew_count(who, "waiting"));
    CHECK_EQ(pdk__crew_count(who, "released"), pdk__crew_count(who, "waiting"));
}

void scene_contended(int n)
{
    for (int i = 0; i < n; i++)
        pdk__crew_await(i, "released", pdk__crew_count(i, "released") + ROUNDS, SOON_MS);
    for (int i = 0; i < n; i++)
        pdk__crew_order(i, "state");
    for (int i = 0; i < n; i++) {
        pdk__crew_await(i, "done", 1, SOON_MS);
        check_rounds(i);
    }
    CHECK_EQ(scene_nodes(), 0);
}

void scene_finish(int who)
{
    scene_lock(who);
    scene_unlock(who);
    pdk__crew_judge();
    pdk__crew_end();
}
