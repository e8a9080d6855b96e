#include "lib/zk/member.h"
#include "lib/assert.h"
#include <string.h>

/*
 * Two limits of ZooKeeper's, one budget. A client re-sends the paths of all its watches in one packet when it
 * reconnects: over 1 MB the server drops the connection, each time (ZOOKEEPER-706). A session whose ephemeral nodes'
 * paths exceed about 2 MB leaves, when it closes, a log that no standalone server can read (ZOOKEEPER-4306). A member
 * has at most one node and two watches, each under its path.
 */
enum { PATH_BUDGET = 900 * 1024 };

static size_t cost(const char *path) { return path != NULL ? 2 * (strlen(path) + 1 + PDK__NAME_MAX) : 0; }

static struct pdk__member *member_of(struct pdk__list *link) { return PDK__MEMBER(link, struct pdk__member, link); }

int pdk__member_may_join(const struct pdk_client *c, const char *path)
{
    assert(pdk__client_locked(c));
    if (c->closing)
        return PDK_ECLOSED;
    if (c->over != 0)
        return c->over;
    return c->path_bytes + cost(path) > PATH_BUDGET ? PDK_ELIMIT : 0;
}

void pdk__member_join(struct pdk_client *c, struct pdk__member *m, const struct pdk__member_calls *calls,
                      const char *path)
{
    c->path_bytes += cost(path);
    assert(calls != NULL && c->path_bytes <= PATH_BUDGET);
    m->calls = calls;
    pdk__list_append(&c->members, &m->link);
}

void pdk__member_leave(struct pdk_client *c, struct pdk__member *m, const char *path)
{
    assert(pdk__client_locked(c) && m->calls != NULL && c->path_bytes >= cost(path));
    bool awaited = m->calls->awaited;
    pdk__list_remove(&m->link);
    m->calls = NULL;
    c->path_bytes -= cost(path);
    if (awaited && !pdk__members_awaited(c))
        pthread_cond_broadcast(&c->changed);
}

bool pdk__members_awaited(const struct pdk_client *c)
{
    assert(pdk__client_locked(c));
    PDK__LIST_EACH (link, &c->members)
        if (member_of(link)->calls->awaited)
            return true;
    return false;
}

/* --- telling all of them ----------------------------------------------------------------------------------------- */

void pdk__members_session(struct pdk_client *c, const struct pdk__event *event)
{
    assert(pdk__client_locked(c));
    PDK__LIST_EACH (link, &c->members) {
        struct pdk__member *m = member_of(link);
        if (m->calls->session != NULL)
            m->calls->session(m, event);
    }
}

void pdk__members_changed(struct pdk_client *c)
{
    assert(pdk__client_locked(c));
    PDK__LIST_EACH (link, &c->members) {
        struct pdk__member *m = member_of(link);
        if (m->calls->changed != NULL)
            m->calls->changed(m);
    }
}

void pdk__members_tick(struct pdk_client *c)
{
    assert(pdk__client_locked(c));
    PDK__LIST_EACH (link, &c->members) {
        struct pdk__member *m = member_of(link);
        if (m->calls->tick != NULL)
            m->calls->tick(m);
    }
}

void pdk__members_fired(struct pdk_client *c, const char *path, enum pdk__node_change change)
{
    assert(pdk__client_locked(c));
    PDK__LIST_EACH (link, &c->members) {
        struct pdk__member *m = member_of(link);
        if (m->calls->fired != NULL)
            m->calls->fired(m, path, change);
    }
}

void pdk__members_hindered(struct pdk_client *c, enum pdk__hindrance what, const char *why)
{
    assert(pdk__client_locked(c));
    PDK__LIST_EACH (link, &c->members) {
        struct pdk__member *m = member_of(link);
        if (m->calls->hindered != NULL)
            m->calls->hindered(m, what, why);
    }
}

/* --- asking them ------------------------------------------------------------------------------------------------- */

bool pdk__members_watch(struct pdk_client *c, const char *path, const struct pdk__member *except)
{
    PDK__LIST_EACH (link, &c->members) {
        struct pdk__member *m = member_of(link);
        if (m != except && m->calls->watches != NULL && m->calls->watches(m, path))
            return true;
    }
    return false;
}

char *pdk__members_vacant_path(struct pdk_client *c)
{
    char *path = NULL;
    PDK__LIST_EACH (link, &c->members) {
        struct pdk__member *m = member_of(link);
        if (path == NULL && m->calls->vacant_path != NULL)
            path = m->calls->vacant_path(m);
    }
    return path;
}
