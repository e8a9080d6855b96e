#include "lib/zk/request.h"
#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/core/path.h"
#include "lib/revocation.h"
#include "lib/zk/claim.h"
#include "lib/zk/stray.h"
#include <stdio.h>
#include <string.h>

/* One request of a claim, in flight. Its claim may end before it. */
struct request {
    struct pdk__request base;
    struct pdk__claim *claim;
    uint64_t op;
    int worst;     /* of a chain of parents: the first real failure so far */
    int n_parents; /* how many of the chain are still to come */
};

/* --- what every request has in common ---------------------------------------------------------------------------- */

void pdk__request_track(struct pdk__request *request, struct pdk_client *c, void (*forget)(struct pdk__request *))
{
    request->client = c;
    request->forget = forget;
    request->sent_ms = pdk__now_ms();
    pdk__client_ref(c);
    pdk__list_append(&c->requests, &request->link);
}

void pdk__request_untrack(struct pdk__request *request)
{
    pdk__list_remove(&request->link);
    if (request->client->closing && pdk__list_empty(&request->client->requests))
        pthread_cond_broadcast(&request->client->changed);
    pdk__client_unref(request->client);
}

/* The codes that only a leader answers, once a quorum has agreed. Not "no auth": with enableEagerACLCheck the server
 * that we are connected to answers so on its own (ZooKeeperServer.authWriteRequest). */
static bool agreed(int zrc) { return zrc == ZOK || zrc == ZNONODE || zrc == ZBADVERSION || zrc == ZNODEEXISTS; }

/* The codes that no server answers without having noted the session. */
static bool noted(int zrc, bool writes) { return agreed(zrc) || (zrc == ZNOAUTH && !writes); }

static void tell_session(const struct pdk__request *request, int zrc)
{
    struct pdk__session_event event = {.kind = PDK__SEV_TIMER, .now_ms = pdk__now_ms()};
    if (request->asked && request->writes)
        pdk__account_renewal(request->client, request->path, zrc);
    if (noted(zrc, request->writes)) {
        event.kind = PDK__SEV_ANSWERED;
        event.sent_ms = request->sent_ms;
        event.agreed = request->writes && agreed(zrc);
        event.asked = request->asked;
        event.wrote = request->writes;
    } else if (request->asked) {
        event.kind = PDK__SEV_UNASKED;
    }
    pdk__client_session(request->client, &event);
}

struct pdk_client *pdk__request_arrive(struct pdk__request *request, int zrc)
{
    struct pdk_client *c = request->client;
    pdk__client_ref(c);
    pdk__client_lock(c);
    pdk__client_serve(c);
    tell_session(request, zrc);
    return c;
}

void pdk__request_depart(struct pdk_client *c)
{
    pdk__client_leave(c);
    pdk__client_unref(c);
}

void pdk__request_drop_all(struct pdk_client *c)
{
    PDK__LIST_EACH (link, &c->requests) {
        struct pdk__request *request = PDK__MEMBER(link, struct pdk__request, link);
        request->forget(request);
    }
}

/* --- those of a claim -------------------------------------------------------------------------------------------- */

static void end(struct request *r)
{
    pdk__request_untrack(&r->base);
    pdk__free(r);
}

static void forget(struct pdk__request *base) { end(PDK__MEMBER(base, struct request, base)); }

static struct request *begin(struct pdk_client *c, struct pdk__claim *claim, uint64_t op, bool writes)
{
    if (c->zh == NULL)
        return NULL;
    struct request *r = pdk__alloc(sizeof *r);
    if (r == NULL)
        return NULL;
    r->claim = claim;
    r->op = op;
    pdk__request_track(&r->base, c, forget);
    r->base.writes = writes;
    return r;
}

void pdk__request_orphan(struct pdk__claim *claim)
{
    PDK__LIST_EACH (link, &claim->client->requests) {
        struct pdk__request *base = PDK__MEMBER(link, struct pdk__request, link);
        struct request *r = PDK__MEMBER(base, struct request, base);
        if (base->forget == forget && r->claim == claim)
            r->claim = NULL;
    }
}

/* The call was made: 0, or the request is taken back. */
static int sent(struct request *r, int zrc)
{
    if (zrc == ZOK)
        return 0;
    end(r);
    return pdk__error_of(zrc);
}

static void deliver(const struct request *r, enum pdk__event_kind kind, int zrc, struct pdk__event event)
{
    if (r->claim == NULL)
        return;
    event.kind = kind;
    event.op = r->op;
    event.outcome = pdk__outcome_of(zrc);
    event.error = pdk__error_of(zrc);
    pdk__claim_feed(r->claim, event);
}

static void complete(struct request *r, enum pdk__event_kind kind, int zrc, struct pdk__event event)
{
    struct pdk_client *c = pdk__request_arrive(&r->base, zrc);
    deliver(r, kind, zrc, event);
    end(r);
    pdk__request_depart(c);
}

/* --- create ------------------------------------------------------------------------------------------------------ */

static void created(int zrc, const char *path, const struct Stat *stat, const void *data)
{
    struct request *r = (struct request *)data;
    struct pdk__event event = {0};
    if (zrc == ZOK) {
        event.name = strrchr(path, '/') + 1;
        event.owner = stat->ephemeralOwner;
        event.token = stat->czxid;
    }
    complete(r, PDK__EV_CREATED, zrc, event);
}

/* The path of the create, to which the server adds the sequence number. */
char *pdk__request_asked_path(struct pdk__claim *claim)
{
    char name[PDK__NAME_MAX];
    pdk__name_format(name, claim->machine.session, claim->machine.attempt, claim->spec.word);
    return pdk__join(claim->spec.path, name);
}

int pdk__request_create(struct pdk__claim *claim, uint64_t op)
{
    struct pdk_client *c = claim->client;
    char *path = pdk__request_asked_path(claim);
    struct request *r = path != NULL ? begin(c, claim, op, true) : NULL;
    if (r == NULL) {
        pdk__free(path);
        return PDK_ENOMEM;
    }
    struct ACL_vector acl = pdk__options_acl(&c->options);
    /* create2, because the czxid is the token. Data of length 0 and not NULL: Curator's getParticipants dies of the
     * latter. */
    int zrc = zoo_acreate2(c->zh, path, claim->spec.data, (int)claim->spec.data_size, &acl, ZOO_EPHEMERAL_SEQUENTIAL,
                           created, r);
    pdk__free(path);
    return sent(r, zrc);
}

/* --- the lock path and its ancestors ----------------------------------------------------------------------------- */

/* Only the last reply of a chain decides. An ancestor's create may answer "not permitted" although the ancestor
 * exists. */
static void made_parent(int zrc, const char *path, const void *data)
{
    (void)path;
    struct request *r = (struct request *)data;
    struct pdk_client *c = pdk__request_arrive(&r->base, zrc);
    if (r->worst == ZOK && zrc != ZOK && zrc != ZNODEEXISTS)
        r->worst = zrc;
    if (zrc == ZNODEEXISTS)
        zrc = ZOK;
    else if (zrc == ZNONODE) /* because an ancestor could not be created, and that is the reason to report */
        zrc = r->worst;
    if (--r->n_parents == 0) {
        deliver(r, PDK__EV_MADE_PARENTS, zrc, (struct pdk__event){0});
        end(r);
    }
    pdk__request_depart(c);
}

static int make_parent(struct pdk_client *c, struct request *r, const char *path, struct ACL_vector *acl, int mode)
{
    /* Containers, so that the servers reap them when no client uses them. And one by one, because a container inside
     * a multi aborts the process (an assertion of ZooKeeper's client). */
    int zrc = zoo_acreate(c->zh, path, "", 0, acl, mode, made_parent, r);
    r->n_parents += zrc == ZOK;
    return zrc;
}

int pdk__request_parents(struct pdk__claim *claim, uint64_t op)
{
    struct pdk_client *c = claim->client;
    char *path = pdk__strdup(claim->spec.path);
    struct request *r = path != NULL ? begin(c, claim, op, true) : NULL;
    if (r == NULL) {
        pdk__free(path);
        return PDK_ENOMEM;
    }
    struct ACL_vector acl = pdk__options_acl(&c->options);
    int zrc = make_parent(c, r, "/", &acl,
                          ZOO_CONTAINER); /* the chroot's own node, if it has one; refused as existing otherwise */
    for (size_t length = 0; (length = pdk__path_next(claim->spec.path, length)) != 0;) {
        path[length] = '\0';
        bool stays = claim->spec.path[length] == '\0' && claim->spec.conditions.lock_delay_ms > 0; /* with its mark */
        zrc = make_parent(c, r, path, &acl, stays ? ZOO_PERSISTENT : ZOO_CONTAINER);
        path[length] = claim->spec.path[length];
    }
    pdk__free(path);
    if (r->n_parents > 0)
        return 0; /* the requests under way will be answered */
    return sent(r, zrc);
}

/* --- the barrier, and listing ------------------------------------------------------------------------------------ */

/* Whatever the reason of the refusal, a quorum agreed on it. */
static void refused(int zrc, const void *data)
{
    bool agreed = pdk__outcome_of(zrc) != PDK__UNKNOWN;
    complete((struct request *)data, PDK__EV_BARRIER, agreed ? ZOK : zrc, (struct pdk__event){0});
}

int pdk__request_barrier(struct pdk__claim *claim, uint64_t op)
{
    char *path = pdk__request_asked_path(claim);
    struct request *r = path != NULL ? begin(claim->client, claim, op, true) : NULL;
    int rc = r != NULL ? sent(r, zoo_adelete(claim->client->zh, path, -1, refused, r)) : PDK_ENOMEM;
    pdk__free(path);
    return rc;
}

static void listed(int zrc, const struct String_vector *names, const void *data)
{
    struct pdk__event event = {0};
    if (zrc == ZOK) {
        event.children = (const char *const *)names->data;
        event.n_children = (size_t)names->count;
    }
    struct request *r = (struct request *)data;
    struct pdk_client *c = pdk__request_arrive(&r->base, zrc);
    if (zrc == ZOK && r->claim != NULL) /* first, because the claim may end with its event */
        pdk__stray_listed(c, r->claim->spec.path, event.children, event.n_children);
    deliver(r, PDK__EV_LISTED, zrc, event);
    end(r);
    pdk__request_depart(c);
}

int pdk__request_list(struct pdk__claim *claim, uint64_t op)
{
    struct request *r = begin(claim->client, claim, op, false);
    return r != NULL ? sent(r, zoo_aget_children(claim->client->zh, claim->spec.path, 0, listed, r)) : PDK_ENOMEM;
}

static void identified(int zrc, const struct Stat *stat, const void *data)
{
    struct pdk__event event = {0};
    if (zrc == ZOK) {
        event.owner = stat->ephemeralOwner;
        event.token = stat->czxid;
        event.version = stat->version;
    }
    complete((struct request *)data, PDK__EV_IDENTIFIED, zrc, event);
}

/* By exists, which older servers answer without READ. */
int pdk__request_identify(struct pdk__claim *claim, uint64_t op, const char *name)
{
    char *path = pdk__join(claim->spec.path, name);
    struct request *r = path != NULL ? begin(claim->client, claim, op, false) : NULL;
    int rc = r != NULL ? sent(r, zoo_aexists(claim->client->zh, path, 0, identified, r)) : PDK_ENOMEM;
    pdk__free(path);
    return rc;
}

/* --- watches ----------------------------------------------------------------------------------------------------- */

static void watched(struct request *r, int zrc, const char *who)
{
    struct pdk_client *c = pdk__request_arrive(&r->base, zrc);
    if (r->claim != NULL)
        pdk__account_predecessor(r->claim, who);
    const char *name = r->claim != NULL ? r->claim->predecessor : NULL;
    deliver(r, PDK__EV_WATCHED, zrc, (struct pdk__event){.name = name});
    end(r);
    pdk__request_depart(c);
}

static void watched_by_get(int zrc, const char *value, int length, const struct Stat *stat, const void *data)
{
    char who[192];
    (void)stat;
    pdk__account_owner(who, sizeof who, value, zrc == ZOK ? length : 0); /* without the lock */
    watched((struct request *)data, zrc, who);
}

static void watched_by_exists(int zrc, const struct Stat *stat, const void *data)
{
    (void)stat;
    watched((struct request *)data, zrc, "");
}

int pdk__request_watch(struct pdk__claim *claim, uint64_t op, bool by_exists)
{
    struct pdk_client *c = claim->client;
    struct request *r = begin(c, claim, op, false);
    void *id = (void *)c->id;
    if (r == NULL)
        return PDK_ENOMEM;
    /* By getData: on a deleted node it sets no watch, where exists would leave one for its creation. */
    return sent(r, by_exists
                       ? zoo_awexists(c->zh, claim->predecessor, pdk__handle_watch_nodes, id, watched_by_exists, r)
                       : zoo_awget(c->zh, claim->predecessor, pdk__handle_watch_nodes, id, watched_by_get, r));
}

static void own_was_read(struct request *r, int zrc, const struct Stat *stat, bool revoked)
{
    struct pdk__event event = {.revoked = revoked};
    if (zrc == ZOK) {
        event.owner = stat->ephemeralOwner;
        event.token = stat->czxid;
        event.version = stat->version;
    }
    deliver(r, PDK__EV_OWN, zrc, event);
    end(r);
}

static void unheard(struct request *r, int zrc)
{
    struct pdk_client *c = pdk__request_arrive(&r->base, zrc);
    end(r);
    pdk__request_depart(c);
}

static void nothing(int zrc, const struct Stat *stat, const void *data)
{
    (void)stat;
    unheard((struct request *)data, zrc);
}

/* Curator's revoker has overwritten the identity in our node with the word: write both. The machine remembers the
 * word, so it does not matter whether this write arrives. It is for the version that was read, and overwrites
 * nothing newer. */
static void restore_identity(const struct pdk__claim *claim, const char *path, int32_t version)
{
    size_t size;
    struct request *r = begin(claim->client, NULL, 0, true);
    char *data = r != NULL ? pdk__revocation_with(claim->spec.data, claim->spec.data_size, &size) : NULL;
    if (data != NULL)
        sent(r, zoo_aset(claim->client->zh, path, data, (int)size, version, nothing, r));
    else if (r != NULL)
        end(r);
    pdk__free(data);
}

static void own_by_get(int zrc, const char *value, int length, const struct Stat *stat, const void *data)
{
    struct request *r = (struct request *)data;
    struct pdk_client *c = pdk__request_arrive(&r->base, zrc);
    struct pdk__claim *claim = r->claim;
    size_t size = zrc == ZOK && length > 0 ? (size_t)length : 0;
    const char *path = claim != NULL ? pdk__claim_own(claim) : NULL;
    if (path != NULL && claim->spec.data_size > 0 && pdk__revocation_bare(value, size))
        restore_identity(claim, path, stat->version);
    own_was_read(r, zrc, stat, pdk__revocation_asks(value, size));
    pdk__request_depart(c);
}

static void own_by_exists(int zrc, const struct Stat *stat, const void *data)
{
    struct request *r = (struct request *)data;
    struct pdk_client *c = pdk__request_arrive(&r->base, zrc);
    own_was_read(r, zrc, stat, false);
    pdk__request_depart(c);
}

int pdk__request_own(struct pdk__claim *claim, uint64_t op, bool by_exists)
{
    struct pdk_client *c = claim->client;
    const char *path = pdk__claim_own(claim);
    struct request *r = path != NULL ? begin(c, claim, op, false) : NULL;
    void *id = (void *)c->id;
    if (r == NULL)
        return PDK_ENOMEM;
    return sent(r, by_exists ? zoo_awexists(c->zh, path, pdk__handle_watch_nodes, id, own_by_exists, r)
                             : zoo_awget(c->zh, path, pdk__handle_watch_nodes, id, own_by_get, r));
}

static void unwatched(int zrc, const void *data) { unheard((struct request *)data, zrc); }

void pdk__request_nothing(struct pdk_client *c)
{
    struct request *r = begin(c, NULL, 0, false);
    if (r != NULL)
        sent(r, zoo_aexists(c->zh, "/", 0, nothing, r));
}

void pdk__request_unwatch(struct pdk_client *c, const char *path)
{
    struct request *r = begin(c, NULL, 0, false);
    if (r == NULL)
        return; /* it stays until the node is deleted */
    /* remove_watches would remove it on our side only (ZOOKEEPER-1910). The header declares a pointer to a
     * completion where the code takes the completion. */
    sent(r, zoo_aremove_all_watches(c->zh, path, ZWATCHTYPE_DATA, 0, (void_completion_t *)unwatched, r));
}

/* --- a write of our own node ------------------------------------------------------------------------------------- */

static void confirmed(int zrc, const struct Stat *stat, const void *data)
{
    struct pdk__event event = {0};
    if (zrc == ZOK) {
        event.owner = stat->ephemeralOwner;
        event.token = stat->mzxid;
        event.version = stat->version;
    }
    complete((struct request *)data, PDK__EV_CONFIRMED, zrc, event);
}

int pdk__request_confirm(struct pdk__claim *claim, uint64_t op, int32_t version, bool revoked)
{
    const char *path = pdk__claim_own(claim);
    struct request *r = path != NULL ? begin(claim->client, claim, op, true) : NULL;
    if (r == NULL)
        return PDK_ENOMEM;
    size_t size = claim->spec.data_size;
    char *word = revoked ? pdk__revocation_with(claim->spec.data, claim->spec.data_size, &size) : NULL;
    if (revoked && word == NULL) {
        end(r);
        return PDK_ENOMEM;
    }
    const char *data = revoked ? word : claim->spec.data;
    int rc = sent(r, zoo_aset(claim->client->zh, path, data, (int)size, version, confirmed, r));
    pdk__free(word);
    return rc;
}

/* --- the mark of a lock delay ------------------------------------------------------------------------------------ */

/* Any other data there are no client's mark. */
static const char *mark_of(const char *value, int length, char name[PDK__NAME_MAX])
{
    int n = (int)strlen(PDK__HELD_BY);
    if (length <= n || memcmp(value, PDK__HELD_BY, (size_t)n) != 0)
        return NULL;
    snprintf(name, PDK__NAME_MAX, "%.*s", length - n, value + n);
    return name;
}

static void read_mark(int zrc, const char *value, int length, const struct Stat *stat, const void *data)
{
    char name[PDK__NAME_MAX];
    struct pdk__event event = {0};
    if (zrc == ZOK) {
        event.name = mark_of(value, length, name);
        event.token = stat->mzxid;
        event.version = stat->version;
    }
    complete((struct request *)data, PDK__EV_READ, zrc, event);
}

int pdk__request_read(struct pdk__claim *claim, uint64_t op)
{
    struct request *r = begin(claim->client, claim, op, false);
    return r != NULL ? sent(r, zoo_aget(claim->client->zh, claim->spec.path, 0, read_mark, r)) : PDK_ENOMEM;
}

static void marked(int zrc, const struct Stat *stat, const void *data)
{
    complete((struct request *)data, PDK__EV_MARKED, zrc,
             (struct pdk__event){.version = zrc == ZOK ? stat->version : 0});
}

int pdk__request_mark(struct pdk__claim *claim, uint64_t op, int32_t version)
{
    char mark[sizeof PDK__HELD_BY + PDK__NAME_MAX];
    struct request *r = begin(claim->client, claim, op, true);
    if (r == NULL)
        return PDK_ENOMEM;
    int length = snprintf(mark, sizeof mark, PDK__HELD_BY "%s", claim->machine.name);
    return sent(r, zoo_aset(claim->client->zh, claim->spec.path, mark, length, version, marked, r));
}

static void unmarked(int zrc, const struct Stat *stat, const void *data)
{
    (void)stat;
    complete((struct request *)data, PDK__EV_UNMARKED, zrc, (struct pdk__event){0});
}

void pdk__request_unmark(struct pdk__claim *claim, uint64_t op, int32_t version)
{
    struct request *r = begin(claim->client, claim, op, true);
    if (r != NULL) /* else the mark stays, and a successor waits in vain */
        sent(r, zoo_aset(claim->client->zh, claim->spec.path, PDK__FREE, (int)strlen(PDK__FREE), version, unmarked, r));
}

/* --- delete ------------------------------------------------------------------------------------------------------ */

static void deleted(int zrc, const void *data)
{
    complete((struct request *)data, PDK__EV_DELETED, zrc, (struct pdk__event){0});
}

int pdk__request_delete(struct pdk__claim *claim, uint64_t op)
{
    const char *path = pdk__claim_own(claim);
    struct request *r = path != NULL ? begin(claim->client, claim, op, true) : NULL;
    return r != NULL ? sent(r, zoo_adelete(claim->client->zh, path, -1, deleted, r)) : PDK_ENOMEM;
}
