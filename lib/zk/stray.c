#include "lib/zk/stray.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/core/stray.h"
#include "lib/zk/member.h"
#include "lib/zk/request.h"
#include <string.h>

/* At most this many are kept. Beyond that, the oldest is forgotten: it had the longest time to land. */
enum { STRAYS_MAX = 4096 };

struct request;

struct pdk__strays {
    struct pdk__member member;
    struct pdk_client *client;
    struct pdk__list list;
    unsigned n;
};

struct pdk__stray_entry {
    struct pdk__list link;
    struct pdk_client *client;
    struct pdk__stray machine;
    struct request *asked; /* in flight */
    char path[];
};

struct request {
    struct pdk__request base;
    struct pdk__stray_entry *entry; /* NULL: it has ended */
    enum pdk__event_kind reply;
    uint64_t op;
};

static void feed(struct pdk__stray_entry *entry, struct pdk__event event);

/* --- requests ---------------------------------------------------------------------------------------------------- */

static void end(struct request *r)
{
    assert(r->entry == NULL || r->entry->asked == r);
    if (r->entry != NULL)
        r->entry->asked = NULL;
    pdk__request_end(&r->base);
}

static void forget(struct pdk__request *base) { end(PDK__MEMBER(base, struct request, base)); }

static struct request *begin(struct pdk__stray_entry *entry, const struct pdk__action *action,
                             enum pdk__event_kind reply)
{
    struct request *r = pdk__request_begin(entry->client, sizeof *r, forget);
    if (r == NULL)
        return NULL;
    r->entry = entry;
    r->reply = reply;
    r->op = action->op;
    r->base.writes = action->kind == PDK__ACT_DELETE;
    if (entry->asked != NULL) /* a request from before a reconnect, still without an answer: do not wait for it */
        entry->asked->entry = NULL;
    entry->asked = r;
    return r;
}

/* EVENT carries the content of the reply. A listing is shared with the other strays of the path. */
static void complete(struct request *r, int zrc, struct pdk__event event)
{
    struct pdk_client *c = pdk__request_arrive(&r->base, zrc);
    struct pdk__stray_entry *entry = r->entry;
    event.kind = r->reply;
    event.op = r->op;
    event.outcome = pdk__outcome_of(zrc);
    end(r);
    if (entry != NULL) {
        bool shares = event.op == entry->machine.op && pdk__stray_shares(&entry->machine);
        feed(entry, event);
        if (shares && zrc == ZOK) /* a listing ends no stray, so `entry->path` is still valid */
            pdk__stray_listed(c, entry->path, event.children, event.n_children);
    }
    pdk__request_depart(c);
}

static void listed(int zrc, const struct String_vector *names, const void *data)
{
    struct pdk__event event = {0};
    if (zrc == ZOK) {
        event.children = (const char *const *)names->data;
        event.n_children = (size_t)names->count;
    }
    complete((struct request *)data, zrc, event);
}

static void identified(int zrc, const struct Stat *stat, const void *data)
{
    complete((struct request *)data, zrc, (struct pdk__event){.owner = zrc == ZOK ? stat->ephemeralOwner : 0});
}

static void deleted(int zrc, const void *data) { complete((struct request *)data, zrc, (struct pdk__event){0}); }

static int send_list(struct pdk__stray_entry *entry, const struct pdk__action *action)
{
    struct request *r = begin(entry, action, PDK__EV_LISTED);
    int zrc = r != NULL ? zoo_aget_children(entry->client->zh, entry->path, 0, listed, r) : ZSYSTEMERROR;
    if (zrc != ZOK && r != NULL)
        end(r);
    return zrc;
}

static int send_of_node(struct pdk__stray_entry *entry, const struct pdk__action *action)
{
    bool delete = action->kind == PDK__ACT_DELETE;
    char *path = pdk__join(entry->path, action->name);
    struct request *r = path != NULL ? begin(entry, action, delete ? PDK__EV_DELETED : PDK__EV_IDENTIFIED) : NULL;
    int zrc = ZSYSTEMERROR;
    if (r != NULL)
        zrc = delete ? zoo_adelete(entry->client->zh, path, -1, deleted, r)
                     : zoo_aexists(entry->client->zh, path, 0, identified, r);
    if (zrc != ZOK && r != NULL)
        end(r);
    pdk__free(path);
    return zrc;
}

/* --- the machines ------------------------------------------------------------------------------------------------ */

static void drop(struct pdk__stray_entry *entry)
{
    if (entry->asked != NULL)
        entry->asked->entry = NULL;
    assert(entry->client->strays->n > 0);
    entry->client->strays->n--;
    pdk__list_remove(&entry->link);
    pdk__free(entry);
}

/* False when nothing was sent, and no reply will come. */
static bool put(struct pdk__stray_entry *entry, const struct pdk__action *action)
{
    if (entry->client->closing)
        return false;
    return (action->kind == PDK__ACT_LIST ? send_list(entry, action) : send_of_node(entry, action)) == ZOK;
}

static void feed(struct pdk__stray_entry *entry, struct pdk__event event)
{
    static const enum pdk__event_kind replies[] = {[PDK__ACT_LIST] = PDK__EV_LISTED,
                                                   [PDK__ACT_IDENTIFY] = PDK__EV_IDENTIFIED,
                                                   [PDK__ACT_DELETE] = PDK__EV_DELETED};
    struct pdk__actions actions;
    assert(pdk__client_locked(entry->client));
    event.now_ms = pdk__now_ms();
    pdk__stray_step(&entry->machine, &event, &actions);
    if (actions.n == 0) {
        pdk__client_arm(entry->client, pdk__stray_wake_ms(&entry->machine));
        return;
    }
    const struct pdk__action *action = &actions.list[0]; /* one request at a time */
    assert(actions.n == 1);
    if (action->kind == PDK__ACT_DONE)
        drop(entry);
    else if (!put(entry, action))
        feed(entry, (struct pdk__event){.kind = replies[action->kind], .op = action->op, .outcome = PDK__UNKNOWN});
}

/* The session has changed, or time has passed. A feed may end the stray. */
static void refresh_one(struct pdk__stray_entry *entry, const struct pdk_client *c)
{
    bool connected = c->session.phase == PDK__SESSION_CONNECTED;
    struct pdk__event event = {.kind = PDK__EV_TIMER};
    if (connected && (!entry->machine.connected || entry->machine.session != c->session.id))
        event = (struct pdk__event){.kind = PDK__EV_SESSION_UP, .session = c->session.id};
    else if (!connected && entry->machine.connected)
        event.kind = PDK__EV_SESSION_DOWN;
    feed(entry, event);
}

static void refresh(struct pdk__member *m)
{
    struct pdk__strays *strays = PDK__MEMBER(m, struct pdk__strays, member);
    PDK__LIST_EACH (link, &strays->list)
        refresh_one(PDK__MEMBER(link, struct pdk__stray_entry, link), strays->client);
}

static bool uses(const struct pdk__member *m, uint32_t attempt)
{
    PDK__LIST_EACH (link, &PDK__MEMBER(m, struct pdk__strays, member)->list)
        if (PDK__MEMBER(link, struct pdk__stray_entry, link)->machine.attempt == attempt)
            return true;
    return false;
}

static const struct pdk__member_calls calls = {.changed = refresh, .tick = refresh, .uses = uses};

struct pdk__stray_entry *pdk__stray_reserve(const char *path)
{
    size_t size = strlen(path) + 1;
    struct pdk__stray_entry *entry = pdk__alloc(sizeof *entry + size);
    if (entry != NULL)
        memcpy(entry->path, path, size);
    return entry;
}

void pdk__stray_keep(struct pdk_client *c, struct pdk__stray_entry *entry, uint32_t attempt)
{
    assert(pdk__client_locked(c) && entry->client == NULL && c->strays->n <= STRAYS_MAX);
    if (c->strays->n == STRAYS_MAX)
        drop(PDK__MEMBER(c->strays->list.next, struct pdk__stray_entry, link));
    entry->client = c;
    pdk__stray_init(&entry->machine, &c->ops, c->session.id, attempt, c->seed ^ attempt, pdk__now_ms());
    pdk__list_append(&c->strays->list, &entry->link);
    c->strays->n++;
    pdk__client_arm(c, pdk__stray_wake_ms(&entry->machine));
}

void pdk__stray_listed(struct pdk_client *c, const char *path, const char *const *children, size_t n)
{
    PDK__LIST_EACH (link, &c->strays->list) {
        struct pdk__stray_entry *entry = PDK__MEMBER(link, struct pdk__stray_entry, link);
        if (strcmp(entry->path, path) == 0)
            feed(entry, (struct pdk__event){.kind = PDK__EV_LISTED, .children = children, .n_children = n});
    }
}

int pdk__strays_begin(struct pdk_client *c)
{
    struct pdk__strays *strays = pdk__alloc(sizeof *strays);
    if (strays == NULL)
        return PDK_ENOMEM;
    strays->client = c;
    pdk__list_init(&strays->list);
    pdk__member_join(c, &strays->member, &calls, NULL);
    c->strays = strays;
    return 0;
}

bool pdk__strays_leave(struct pdk_client *c)
{
    bool young = false;
    int64_t now_ms = pdk__now_ms();
    PDK__LIST_EACH (link, &c->strays->list) {
        struct pdk__stray_entry *entry = PDK__MEMBER(link, struct pdk__stray_entry, link);
        young |= now_ms - entry->machine.since_ms < c->session.timeout_ms;
        drop(entry);
    }
    assert(c->strays->n == 0);
    return young;
}

void pdk__strays_end(struct pdk_client *c)
{
    if (c->strays == NULL)
        return;
    PDK__LIST_EACH (link, &c->strays->list)
        drop(PDK__MEMBER(link, struct pdk__stray_entry, link));
    assert(c->strays->n == 0);
    pdk__free(c->strays);
}
