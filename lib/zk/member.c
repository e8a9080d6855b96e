#include "lib/zk/member.h"
#include "lib/assert.h"
#include "lib/zk/attempt.h"
#include "lib/zk/patrol.h"
#include <string.h>

/*
 * Two limits of ZooKeeper's, one budget. A client re-sends the paths of all its watches in one packet when it
 * reconnects: over jute.maxbuffer, 1,048,575 bytes, the server drops the connection, each time (ZOOKEEPER-706). A
 * session whose ephemeral nodes' paths exceed about 2 MB leaves, when it closes, a log that no standalone server can
 * read (ZOOKEEPER-4306). Its own nodes are watched: they are within the first limit, and so within the second.
 *
 * An adopted handle sends watches and a chroot of the application's as well, which we do not know.
 */
enum { PATH_BUDGET = 1000000, PATH_BUDGET_ADOPTED = PATH_BUDGET / 2 };

/* Each path is sent after its length. */
enum { LENGTH_BYTES = 4 };

static size_t budget(const struct pdk_client *c) { return c->adopted ? PATH_BUDGET_ADOPTED : PATH_BUDGET; }

static size_t path_cost(const struct pdk_client *c, size_t length)
{
    return LENGTH_BYTES + c->members.chroot_bytes + length;
}

size_t pdk__member_node_cost(const struct pdk_client *c, const char *path)
{
    return path_cost(c, strlen(path) + 1 + PDK__NAME_LENGTH_MAX);
}

size_t pdk__member_watch_cost(const struct pdk_client *c, const char *path) { return path_cost(c, strlen(path)); }

/* A node of its own, and the watch on another. */
static size_t entrance(const struct pdk_client *c, const char *path)
{
    return path != NULL ? 2 * pdk__member_node_cost(c, path) : 0;
}

static struct pdk__member *member_of(struct pdk__list *link) { return PDK__MEMBER(link, struct pdk__member, link); }

int pdk__member_may_join(const struct pdk_client *c, const char *path)
{
    assert(pdk__client_locked(c));
    if (c->closing)
        return PDK_ECLOSED;
    if (c->over != 0)
        return c->over;
    return c->members.path_bytes + entrance(c, path) > budget(c) ? PDK_ELIMIT : 0;
}

void pdk__member_join(struct pdk_client *c, struct pdk__member *m, const struct pdk__member_calls *calls,
                      const char *path)
{
    assert(calls != NULL && m->cost == 0);
    m->calls = calls;
    pdk__member_charge(c, m, entrance(c, path));
    pdk__list_append(&c->members.list, &m->link);
    if (calls->look_again != NULL)
        pdk__patrol_join(c);
}

void pdk__member_charge(struct pdk_client *c, struct pdk__member *m, size_t cost)
{
    assert(c->members.path_bytes >= m->cost);
    c->members.path_bytes += cost - m->cost;
    m->cost = cost;
}

void pdk__member_leave(struct pdk_client *c, struct pdk__member *m)
{
    assert(pdk__client_locked(c) && m->calls != NULL);
    bool awaited = m->calls->awaited;
    pdk__list_remove(&m->link);
    c->patrol.n -= m->calls->look_again != NULL;
    m->calls = NULL;
    pdk__member_charge(c, m, 0);
    if (awaited && !pdk__members_awaited(c))
        pthread_cond_broadcast(&c->changed);
}

static bool in_use(const struct pdk_client *c, uint32_t attempt)
{
    PDK__LIST_EACH (link, &c->members.list) {
        const struct pdk__member *m = member_of(link);
        if (m->calls->uses != NULL && m->calls->uses(m, attempt))
            return true;
    }
    return false;
}

uint32_t pdk__members_attempt(const struct pdk_client *c)
{
    uint32_t attempt;
    bool again;
    assert(pdk__client_locked(c));
    do
        attempt = pdk__attempt_next(&again);
    while (again && in_use(c, attempt));
    return attempt;
}

bool pdk__members_awaited(const struct pdk_client *c)
{
    assert(pdk__client_locked(c));
    PDK__LIST_EACH (link, &c->members.list)
        if (member_of(link)->calls->awaited)
            return true;
    return false;
}

/* --- telling all of them ----------------------------------------------------------------------------------------- */

void pdk__members_session(struct pdk_client *c, const struct pdk__event *event)
{
    assert(pdk__client_locked(c));
    PDK__LIST_EACH (link, &c->members.list) {
        struct pdk__member *m = member_of(link);
        if (m->calls->session != NULL)
            m->calls->session(m, event);
    }
}

void pdk__members_changed(struct pdk_client *c)
{
    assert(pdk__client_locked(c));
    PDK__LIST_EACH (link, &c->members.list) {
        struct pdk__member *m = member_of(link);
        if (m->calls->changed != NULL)
            m->calls->changed(m);
    }
}

void pdk__members_tick(struct pdk_client *c)
{
    assert(pdk__client_locked(c));
    PDK__LIST_EACH (link, &c->members.list) {
        struct pdk__member *m = member_of(link);
        if (m->calls->tick != NULL)
            m->calls->tick(m);
    }
}

void pdk__members_fired(struct pdk_client *c, const char *path, enum pdk__node_change change)
{
    assert(pdk__client_locked(c));
    struct pdk__index_walk walk;
    struct pdk__member *m;
    pdk__index_walk(&c->index, &walk, path);
    while ((m = pdk__index_next(&c->index, &walk)) != NULL)
        m->calls->fired(m, path, change);
}

void pdk__members_hindered(struct pdk_client *c, enum pdk__hindrance what, const char *why)
{
    assert(pdk__client_locked(c));
    PDK__LIST_EACH (link, &c->members.list) {
        struct pdk__member *m = member_of(link);
        if (m->calls->hindered != NULL)
            m->calls->hindered(m, what, why);
    }
}

/* --- asking them ------------------------------------------------------------------------------------------------- */

bool pdk__members_watch(struct pdk_client *c, const char *path, const struct pdk__member *except)
{
    const struct pdk__index_entry *entry = NULL;
    assert(pdk__client_locked(c));
    while ((entry = pdk__index_find(&c->index, path, entry)) != NULL)
        if (entry->member != except && entry->member->calls->watches(entry->member, path))
            return true;
    return false;
}

char *pdk__members_vacant_path(struct pdk_client *c)
{
    char *path = NULL;
    PDK__LIST_EACH (link, &c->members.list) {
        struct pdk__member *m = member_of(link);
        if (m->calls->vacant_path != NULL && (path = m->calls->vacant_path(m)) != NULL)
            break;
    }
    return path;
}
