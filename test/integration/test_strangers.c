/* Children of a lock's path that we did not create: which count as ahead, which block no contender, what they may
 * carry. */
#include "test/lib/fixture.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static pdk_client *c;
static pdk_mutex *m;
static const char *path;

static void begin(void)
{
    path = fixture_path();
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    c = fixture_client(NULL);
    m = fixture_mutex(c, path);
}

static void end(void)
{
    fixture_end(c, m);
    fixture_delete_all(path);
}

/* We wait for a child of this NAME and DATA, and get the lock when it goes. */
static void wait_for(const char *name, const char *data)
{
    struct locker l;
    begin();
    fixture_make_below(path, name, data);
    CHECK_RC(pdk_mutex_trylock(m), PDK_EBUSY);
    CHECK_EQ(fixture_children(path), 1);
    locker_start(&l, m);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 2);
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(fixture.proxy, PDK__OP_GET) > 0);
    CHECK(!l.settled);
    fixture_delete_below(path, name);
    CHECK_WITHIN(LONG_MS, l.settled);
    CHECK_RC(l.rc, 0);
    locker_finish(&l);
    CHECK_RC(l.unlock_rc, 0);
    end();
}

/* A child of this NAME is no reason to wait, nor to be refused. */
static void pass_by(const char *name)
{
    begin();
    fixture_make_below(path, name, "");
    CHECK_RC(pdk_mutex_trylock(m), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_mutex_timedlock(m, LONG_MS), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_EQ(fixture_children(path), 1);
    end();
}

static void curator(void)
{
    wait_for("_c_0c6c1bd6-7b31-4ad2-9d2c-0c2f0a4a1f6c-lock-0000000000", "10.0.0.1");
    wait_for("lock-0000000000", "");
}

static void kazoo(void) { wait_for("8c2b5c1f1d4b4a2f9a7f0f2f6f1f9a3e__lock__0000000000", ""); }

static void no_data(void) { wait_for("_c_0c6c1bd6-7b31-4ad2-9d2c-0c2f0a4a1f6c-lock-0000000000", NULL); }

static void wrapped(void) { wait_for("x-lock--000000003", ""); }

static void junk(void)
{
    pass_by("config");
    pass_by("backup-123456789");
    pass_by("0");
    pass_by("lock-");
}

/* Another's number may be far ahead of ours, and its name sort before ours. */
static void behind(void)
{
    begin();
    fixture_make_below(path, "0-lock-0000000500", "");
    struct locker l;
    locker_start(&l, m);
    CHECK_WITHIN(LONG_MS, l.settled);
    CHECK_RC(l.rc, 0);
    locker_finish(&l);
    end();
}

static void queue_of_strangers(void)
{
    struct locker l;
    begin();
    fixture_make_below(path, "b__lock__0000000000", "");
    fixture_make_below(path, "z-0000000001", "");
    fixture_make_below(path, "a-lock-0000000002", "");
    locker_start(&l, m);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 4);
    fixture_delete_below(path, "a-lock-0000000002");
    fixture_delete_below(path, "b__lock__0000000000");
    CHECK_WITHIN(LONG_MS, pdk__ask_watchers(fixture.e->server[0], "/none") == 0 && !l.settled);
    char last[64];
    strcat(strcpy(last, path), "/z-0000000001");
    CHECK_WITHIN(LONG_MS, pdk__ask_watchers(fixture.e->server[0], last) == 1);
    CHECK(!l.settled);
    fixture_delete_below(path, "z-0000000001");
    CHECK_WITHIN(LONG_MS, l.settled);
    locker_finish(&l);
    end();
}

/* Curator asks for a revocation by writing to the holder's node; a contender that waits for that node goes on
 * waiting. */
static void changes(void)
{
    struct locker l;
    char node[64];
    begin();
    fixture_make_below(path, "a-lock-0000000000", "");
    strcat(strcpy(node, path), "/a-lock-0000000000");
    locker_start(&l, m);
    for (int i = 0; i < 3; i++) {
        CHECK_WITHIN(LONG_MS, pdk__ask_watchers(fixture.e->server[0], node) == 1);
        CHECK_EQ(zoo_set(fixture.zh, node, "__REVOKE__", 10, -1), ZOK);
    }
    CHECK_WITHIN(LONG_MS, pdk__ask_watchers(fixture.e->server[0], node) == 1);
    CHECK(!l.settled);
    fixture_delete_below(path, "a-lock-0000000000");
    CHECK_WITHIN(LONG_MS, l.settled);
    locker_finish(&l);
    end();
}

static void listed(void)
{
    pdk_contender_list *list;
    size_t size;
    begin();
    fixture_make_below(path, "b__lock__0000000000", "");
    fixture_make_below(path, "a-lock-0000000001", NULL);
    fixture_make_below(path, "config", NULL);
    CHECK_RC(pdk_contenders(c, path, PDK_CONTENDERS_ALL, LONG_MS, &list), 0);
    CHECK_EQ(pdk_contender_list_size(list), 3);
    CHECK_EQ(pdk_contender_number(list, 0, PDK_CONTENDER_DIALECT), PDK_DIALECT_FOREIGN);
    CHECK_EQ(pdk_contender_number(list, 1, PDK_CONTENDER_DIALECT), PDK_DIALECT_CURATOR);
    CHECK_EQ(pdk_contender_number(list, 1, PDK_CONTENDER_SEQUENCE), 1);
    CHECK_STR(pdk_contender_data(list, 1, &size), "");
    CHECK_EQ(size, 0);
    CHECK_EQ(pdk_contender_number(list, 2, PDK_CONTENDER_DIALECT), PDK_DIALECT_JUNK);
    CHECK_STR(pdk_contender_text(list, 2, PDK_CONTENDER_NAME), "config");
    pdk_contender_list_free(list);
    end();
}

/* --- a predecessor that may not be read -------------------------------------------------------------------------- */

/* Servers from 3.8.4 on refuse exists, too. For an older one its answer is made to look so: this takes the place of
 * the function of ZooKeeper's client for the library, which is linked statically. */
static atomic_bool refuse_exists;

struct veiled {
    stat_completion_t completion;
    const void *data;
};

static void veil(int rc, const struct Stat *stat, const void *data)
{
    struct veiled v = *(const struct veiled *)data;
    (void)rc, (void)stat;
    free((void *)(uintptr_t)data);
    v.completion(ZNOAUTH, NULL, v.data);
}

int zoo_awexists(zhandle_t *zh, const char *node, watcher_fn watcher, void *context, stat_completion_t completion,
                 const void *data)
{
    int (*real)(zhandle_t *, const char *, watcher_fn, void *, stat_completion_t, const void *);
    *(void **)&real = dlsym(RTLD_NEXT, "zoo_awexists");
    if (!refuse_exists || watcher == NULL) /* the blocking zoo_exists comes through here, too */
        return real(zh, node, watcher, context, completion, data);
    struct veiled *v = malloc(sizeof *v);
    *v = (struct veiled){completion, data};
    return real(zh, node, NULL, NULL, veil, v);
}

static void unreadable(void)
{
    struct ACL nobody[] = {{ZOO_PERM_WRITE, {"world", "anyone"}}};
    struct locker l;
    char node[64];
    begin();
    strcat(strcpy(node, path), "/a-lock-0000000000");
    fixture_make(node, "", ZOO_EPHEMERAL, &(struct ACL_vector){1, nobody});
    bool refused = refuse_exists || zoo_exists(fixture.zh, node, 0, NULL) == ZNOAUTH;
    locker_start(&l, m);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 2);
    if (!refused)
        CHECK_WITHIN(LONG_MS, pdk__ask_watchers(fixture.e->server[0], node) == 1);
    pdk__proxy_reset_counters(fixture.proxy);
    if (refused)
        CHECK_WITHIN(LONG_MS, pdk__proxy_replies(fixture.proxy, PDK__OP_LIST) > 2);
    CHECK(!l.settled);
    CHECK_EQ(zoo_delete(fixture.zh, node, -1), ZOK);
    CHECK_WITHIN(LONG_MS, l.settled);
    CHECK_RC(l.rc, 0);
    locker_finish(&l);
    CHECK_RC(l.unlock_rc, 0);
    end();
}

static void unwatchable(void)
{
    refuse_exists = true;
    unreadable();
    refuse_exists = false;
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a contender of Curator's is waited for", curator},
        {"a contender of kazoo's with a lower number is waited for", kazoo},
        {"a predecessor without data is waited for", no_data},
        {"a predecessor whose number has wrapped is waited for", wrapped},
        {"children that no lock library made block nobody", junk},
        {"a stranger with a higher number is behind us", behind},
        {"a queue of strangers is waited for to its end, in whatever order they leave", queue_of_strangers},
        {"a predecessor whose data changes is still waited for", changes},
        {"strangers are listed in their order, junk last, also without data", listed},
        {"a predecessor that may not be read is waited for, by a watch where the server allows it", unreadable},
        {"a predecessor that may not even be watched is looked for at intervals", unwatchable},
        {0},
    };
    return fixture_main(argc, argv, "strangers", tests, ON_ONE);
}
