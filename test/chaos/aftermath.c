/* After the run: the nodes and watches that stay on the servers, and the servers' logs. */
#include "test/chaos/nemesis.h"

#include "test/lib/check.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { DISSENT_MS = 3000 };

static void leave(struct nemesis *n, const char *what, int64_t count)
{
    struct record r = {.event = LEFTOVER, .token = count};
    snprintf(r.node, sizeof r.node, "%s", what);
    history_write(n->log, &r);
}

/* Over all servers; -1 while one of them does not answer, or is not serving. */
static long sum(const struct nemesis *n, const char *name)
{
    long all = 0;
    for (int i = 0; i < n->e->n; i++) {
        long own = pdk__ask_number(n->e->server[i], name);
        if (own < 0)
            return -1;
        all += own;
    }
    return all;
}

/* A server that does not answer differs from none. */
static bool differ(const pdk__server *a, const pdk__server *b)
{
    long x = pdk__ask_number(a, "zk_znode_count"), y = pdk__ask_number(b, "zk_znode_count");
    return x >= 0 && y >= 0 && x != y;
}

/* How many servers have another number of nodes than the first, each time that they are asked, though nothing is
 * written but the beat: a server has lost a committed transaction. */
static long dissenters(const struct nemesis *n)
{
    long count = 0;
    for (int i = 1; i < n->e->n; i++) {
        int64_t until = now_ns() + DISSENT_MS * INT64_C(1000000);
        bool always = true;
        while (always && now_ns() < until)
            if ((always = differ(n->e->server[0], n->e->server[i])))
                pdk__test_nap();
        count += always;
    }
    return count;
}

/* -1: they are not known. */
static int children(const struct nemesis *n)
{
    int count = 0;
    for (int lane = 0; lane < N_LANES; lane++) {
        struct String_vector names = {0};
        int rc = zoo_get_children(n->zh, lane_rules[lane].path, 0, &names);
        if (rc != ZOK && rc != ZNONODE)
            return -1;
        count += names.count;
        deallocate_String_vector(&names);
    }
    return count;
}

static bool clean(const struct nemesis *n)
{
    return sum(n, "zk_ephemerals_count") == 0 && sum(n, "zk_watch_count") == 0 && children(n) == 0;
}

/* The sessions of killed clients end when they time out; a server may still be on its way back. */
void nemesis_count_leftovers(struct nemesis *n)
{
    int64_t until = now_ns() + (4 * n->workers->session_ms + 10000) * INT64_C(1000000);
    while (!clean(n) && now_ns() < until) {
        admin_mend(n, true);
        pdk__test_nap();
    }
    leave(n, "children", children(n));
    leave(n, "ephemerals", sum(n, "zk_ephemerals_count"));
    leave(n, "watches", sum(n, "zk_watch_count"));
    leave(n, "dissenters", dissenters(n));
}

static void copy(const char *from, const char *to)
{
    char command[3 * PATH_MAX];
    CHECK_EQ(mkdir(to, 0700), 0);
    snprintf(command, sizeof command, "cp -p '%s'/data/version-2/log.* '%s'/data/version-2/snapshot.* '%s'/", from,
             from, to);
    CHECK_EQ(system(command), 0);
}

/* Their transaction logs are the ground truth. */
void nemesis_keep_logs(struct nemesis *n)
{
    char to[PATH_MAX + 32];
    for (int i = 0; i < n->e->n; i++) {
        pdk__server_stop(n->e->server[i], 5000);
        snprintf(to, sizeof to, "%s/server-%d", n->workers->dir, i);
        copy(pdk__server_dir(n->e->server[i]), to);
    }
}
