#include "lib/zk/wire.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/core/path.h"
#include "lib/identity.h"
#include "lib/revocation.h"
#include "lib/zk/handle.h"
#include "lib/zk/request.h"
#include "lib/zk/standing.h"
#include "lib/zk/window.h"
#include <stdio.h>
#include <string.h>

/* The subject of a question that others may join. */
enum about { THE_NAMES, THE_NAMES_WATCHED, A_NODE_MADE, THE_NEAREST_PARENTS, ALL_PARENTS };

/* One request, in flight. Its contender may end before it. */
struct question {
    struct pdk__request base;
    struct pdk__wire *wire; /* NULL: no contender waits for the reply */
    struct pdk__list link;  /* among those of the wire */
    uint64_t op;
    int worst;       /* of a chain of parents: the first real failure so far */
    int n_parents;   /* how many of the chain are still to come */
    char *made;      /* the name of a node that a transaction has made; owned */
    char *path;      /* of one that others may join, or whose watch is removed where there is no node; owned */
    uint64_t number; /* of all that the client has sent */
    unsigned weight; /* in the window */

    /* of one that others may join */
    enum about about;
    struct pdk__index_entry under_way; /* by its path */
    uint64_t turn;                     /* it was sent in */
    struct question *joined;           /* the first of those that wait for its answer, too; each has the next */
    struct question *following;        /* the same, for the answer to the listing after it */
};

static void end(struct question *q)
{
    struct pdk_client *c = q->base.client;
    pdk__window_answered(c, q->weight, pdk__now_ms() - q->base.sent_ms);
    pdk__index_drop(&c->joinable.under_way, &q->under_way);
    pdk__list_remove(&q->link);
    pdk__free(q->made);
    pdk__free(q->path);
    pdk__request_end(&q->base);
}

static void forget(struct pdk__request *base) { end(PDK__MEMBER(base, struct question, base)); }

static struct question *begin(struct pdk__wire *wire, uint64_t op, bool writes)
{
    struct question *q = pdk__request_begin(wire->client, sizeof *q, forget);
    if (q == NULL)
        return NULL;
    assert(wire->reply != NULL);
    q->wire = wire;
    pdk__list_append(&wire->questions, &q->link);
    q->op = op;
    q->base.writes = writes;
    return q;
}

/* No contender waits for its reply. */
static void leave(struct question *q)
{
    q->wire = NULL;
    pdk__list_remove(&q->link);
}

/* A write whose reply no contender waits for. */
static struct question *begin_alone(struct pdk__wire *wire)
{
    struct question *q = begin(wire, 0, true);
    if (q != NULL)
        leave(q);
    return q;
}

void pdk__wire_begin(struct pdk__wire *wire, struct pdk_client *c, pdk__wire_replied *reply)
{
    *wire = (struct pdk__wire){.client = c, .reply = reply};
    pdk__list_init(&wire->questions);
}

void pdk__wire_end(struct pdk__wire *wire)
{
    assert(pdk__client_locked(wire->client));
    PDK__LIST_EACH (link, &wire->questions)
        leave(PDK__MEMBER(link, struct question, link));
}

static void note_sent(struct question *q, unsigned weight)
{
    q->number = ++q->base.client->joinable.n_sent;
    q->weight = weight;
    pdk__window_asked(q->base.client, weight);
}

/* The call was made: 0, or the request is taken back. */
static int sent(struct question *q, int zrc)
{
    if (zrc != ZOK) {
        end(q);
        return pdk__error_of(zrc);
    }
    note_sent(q, q->base.writes);
    if (q->wire != NULL)
        q->wire->asked = q->number;
    return 0;
}

static void deliver(const struct question *q, enum pdk__event_kind kind, int zrc, struct pdk__wire_reply reply)
{
    if (q->wire == NULL)
        return;
    assert(q->wire->client == q->base.client && q->op != 0);
    if (q->made != NULL)
        reply.event.name = q->made;
    reply.event.kind = kind;
    reply.event.op = q->op;
    reply.event.outcome = pdk__outcome_of(zrc);
    reply.event.error = pdk__error_of(zrc);
    reply.event.code = zrc;
    q->wire->reply(q->wire, &reply);
}

static void complete(struct question *q, enum pdk__event_kind kind, int zrc, struct pdk__wire_reply reply)
{
    struct pdk_client *c = pdk__request_arrive(&q->base, zrc);
    deliver(q, kind, zrc, reply);
    end(q);
    pdk__request_depart(c);
}

static struct pdk__event event_of(int zrc, const struct Stat *stat)
{
    if (zrc != ZOK)
        return (struct pdk__event){0};
    return (struct pdk__event){.owner = stat->ephemeralOwner,
                               .token = stat->czxid,
                               .version = stat->version,
                               .has_children = stat->numChildren > 0};
}

/* --- shared questions ----------------------------------------------------------------------------------------------
 *
 * One change, answer or limit reaches many waiters of a path at once, and each has the same question. Those that ask
 * while the client's lock is kept have one request: whatever made the last of them ask had happened before the first
 * did. A later one has a later request. So nothing depends on the order in which a server sends what it has read and
 * what it notifies of.
 */

static void deliver_all(struct question *q, enum pdk__event_kind kind, int zrc, struct pdk__wire_reply reply)
{
    while (q != NULL) {
        struct question *next = q->joined;
        deliver(q, kind, zrc, reply);
        end(q);
        q = next;
    }
}

static void complete_shared(struct question *q, enum pdk__event_kind kind, int zrc, struct pdk__wire_reply reply)
{
    struct pdk_client *c = pdk__request_arrive(&q->base, zrc);
    deliver_all(q, kind, zrc, reply);
    pdk__request_depart(c);
}

/* Have Q answered with FIRST. */
static void join(struct question *q, struct question *first)
{
    q->wire->asked = first->number;
    q->joined = first->joined;
    first->joined = q;
}

/* The last one about PATH that is under way, or NULL. */
static struct question *find_under_way(struct pdk_client *c, const char *path, enum about about)
{
    const struct pdk__index_entry *entry = NULL;
    while ((entry = pdk__index_find(&c->joinable.under_way, path, entry)) != NULL) {
        struct question *q = PDK__MEMBER(entry, struct question, under_way);
        if (q->about == about)
            return q;
    }
    return NULL;
}

/* Q was sent, about its path: until it is answered, or another is sent, others find it. */
static void note_under_way(struct question *q, enum about about)
{
    struct pdk_client *c = q->base.client;
    struct question *last = find_under_way(c, q->path, about);
    if (last != NULL)
        pdk__index_drop(&c->joinable.under_way, &last->under_way);
    q->about = about;
    q->turn = c->guard.turn;
    pdk__index_note(&c->joinable.under_way, &q->under_way, NULL, q->path);
}

static bool of_this_turn(const struct question *q) { return q->turn == q->base.client->guard.turn; }

/* As sent(), also where Q is NULL for want of memory. ASK sends it, where no other has the same question. */
static int share(struct question *q, const char *path, enum about about, int (*ask)(zhandle_t *zh, struct question *q))
{
    if (q == NULL)
        return PDK_ENOMEM;
    struct question *first = find_under_way(q->base.client, path, about);
    if (first != NULL && of_this_turn(first)) {
        join(q, first);
        return 0;
    }
    q->path = pdk__strdup(path);
    int rc = sent(q, q->path != NULL ? ask(q->base.client->zh, q) : ZSYSTEMERROR);
    if (rc == 0)
        note_under_way(q, about);
    return rc;
}

/* --- create ------------------------------------------------------------------------------------------------------ */

static void created(int zrc, const char *path, const struct Stat *stat, const void *data)
{
    struct pdk__event event = event_of(zrc, stat);
    const char *slash = zrc == ZOK && path != NULL ? strrchr(path, '/') : NULL;
    event.name = slash != NULL ? slash + 1 : NULL;
    complete((struct question *)data, PDK__EV_CREATED, zrc, (struct pdk__wire_reply){.event = event});
}

static int create(struct pdk__wire *wire, uint64_t op, const char *path, struct pdk__node_data data, int mode)
{
    struct pdk_client *c = wire->client;
    struct question *q = begin(wire, op, true);
    if (q == NULL)
        return PDK_ENOMEM;
    struct ACL_vector acl = pdk__options_acl(&c->options);
    /* create2, because the czxid is the token. */
    return sent(q, zoo_acreate2(c->zh, path, data.data, (int)data.size, &acl, mode, created, q));
}

int pdk__wire_create(struct pdk__wire *wire, uint64_t op, const char *path, struct pdk__node_data data, bool sequential)
{
    return create(wire, op, path, data, sequential ? ZOO_EPHEMERAL_SEQUENTIAL : ZOO_EPHEMERAL);
}

int pdk__wire_create_persistent(struct pdk__wire *wire, uint64_t op, const char *path, struct pdk__node_data data)
{
    return create(wire, op, path, data, ZOO_PERSISTENT);
}

static void made(int zrc, const struct Stat *stat, const void *data)
{
    complete_shared((struct question *)data, PDK__EV_CREATED, zrc,
                    (struct pdk__wire_reply){.event = event_of(zrc, stat)});
}

static int ask_made(zhandle_t *zh, struct question *q) { return zoo_aexists(zh, q->path, 0, made, q); }

int pdk__wire_made(struct pdk__wire *wire, uint64_t op, const char *path, const char *any)
{
    struct question *q = begin(wire, op, false);
    if (q != NULL)
        q->made = pdk__strdup(strrchr(path, '/') + 1);
    if (q == NULL || q->made != NULL)
        return share(q, any, A_NODE_MADE, ask_made);
    end(q);
    return PDK_ENOMEM;
}

/* --- the lock path and its ancestors ----------------------------------------------------------------------------- */

/* Only the last reply of a chain decides. An ancestor's create may answer "not permitted" although the ancestor
 * exists. */
static void made_parent(int zrc, const char *path, const void *data)
{
    (void)path;
    struct question *q = (struct question *)data;
    struct pdk_client *c = pdk__request_arrive(&q->base, zrc);
    assert(q->n_parents > 0);
    if (q->worst == ZOK && zrc != ZOK && zrc != ZNODEEXISTS)
        q->worst = zrc;
    if (zrc == ZNODEEXISTS)
        zrc = ZOK;
    else if (zrc == ZNONODE) /* because an ancestor could not be created, and that is the reason to report */
        zrc = q->worst;
    if (--q->n_parents == 0)
        deliver_all(q, PDK__EV_MADE_PARENTS, zrc, (struct pdk__wire_reply){0});
    pdk__request_depart(c);
}

static int make_parent(struct question *q, const char *path, struct ACL_vector *acl, int mode)
{
    /* Containers, so that the servers reap them when no client uses them. And one by one, because a container inside
     * a multi aborts the process (an assertion of ZooKeeper's client). */
    int zrc = zoo_acreate(q->base.client->zh, path, "", 0, acl, mode, made_parent, q);
    q->n_parents += zrc == ZOK;
    return zrc;
}

/* The length of the ancestor before the nearest; 0 if there are no more than those. */
static size_t before_nearest(const char *path)
{
    size_t lengths[PDK__NEAREST_MAX + 1] = {0};
    for (size_t length = 0; (length = pdk__path_next(path, length)) != 0;) {
        memmove(lengths, lengths + 1, PDK__NEAREST_MAX * sizeof *lengths);
        lengths[PDK__NEAREST_MAX] = length;
    }
    return lengths[0];
}

/* Q has a copy of the path. Where no call was made, the code of the last. */
static int make_parents(struct question *q, bool persistent, bool all)
{
    struct ACL_vector acl = pdk__options_acl(&q->base.client->options);
    /* the chroot's own node, if it has one; refused as existing otherwise */
    int zrc = all ? make_parent(q, "/", &acl, ZOO_CONTAINER) : ZOK;
    for (size_t length = all ? 0 : before_nearest(q->path); (length = pdk__path_next(q->path, length)) != 0;) {
        char after = q->path[length];
        q->path[length] = '\0';
        zrc = make_parent(q, q->path, &acl, after == '\0' && persistent ? ZOO_PERSISTENT : ZOO_CONTAINER);
        q->path[length] = after;
    }
    return q->n_parents > 0 ? ZOK : zrc;
}

/* A node for which the path was missing was asked for before those that are under way: they are as good as others. */
int pdk__wire_parents(struct pdk__wire *wire, uint64_t op, const char *path, bool persistent, bool all)
{
    enum about about = all ? ALL_PARENTS : THE_NEAREST_PARENTS;
    struct question *first = find_under_way(wire->client, path, about), *q = begin(wire, op, true);
    if (q == NULL)
        return PDK_ENOMEM;
    if (first != NULL && !persistent) {
        join(q, first);
        return 0;
    }
    q->path = pdk__strdup(path);
    int rc = sent(q, q->path != NULL ? make_parents(q, persistent, all) : ZSYSTEMERROR);
    if (rc == 0 && !persistent)
        note_under_way(q, about);
    return rc;
}

/* --- the barrier ------------------------------------------------------------------------------------------------- */

/* Whatever the reason of the refusal, a quorum agreed on it. */
static void refused(int zrc, const void *data)
{
    bool agreed = pdk__outcome_of(zrc) != PDK__UNKNOWN;
    complete((struct question *)data, PDK__EV_BARRIER, agreed ? ZOK : zrc, (struct pdk__wire_reply){0});
}

int pdk__wire_barrier(struct pdk__wire *wire, uint64_t op, const char *path)
{
    struct question *q = begin(wire, op, true);
    return q != NULL ? sent(q, zoo_adelete(wire->client->zh, path, -1, refused, q)) : PDK_ENOMEM;
}

/* --- listing -------------------------------------------------------------------------------------------------------
 *
 * Of a path one listing is under way, and one follows it, for all that have asked meanwhile: a listing costs as much as
 * there are names, and five hundred that join at once would ask for five hundred times as many. One that follows is
 * sent after all their questions, and after the writes before those. A wire alone never waits.
 */

static struct pdk__event children_of(int zrc, const struct String_vector *names)
{
    if (zrc != ZOK)
        return (struct pdk__event){0};
    return (struct pdk__event){.children = (const char *const *)names->data, .n_children = (size_t)names->count};
}

static void listed(int zrc, const struct String_vector *names, const void *data);

/* So many names weigh as much as a write. But one large path must not close the window for its own creates. */
enum { NAMES_OF_WEIGHT = 512, LISTING_MAX = 4 };

static unsigned weight_of_listing(const struct pdk_client *c)
{
    unsigned weight = 1 + c->joinable.n_names / NAMES_OF_WEIGHT;
    return weight < LISTING_MAX ? weight : LISTING_MAX;
}

static int send_listing(struct question *q)
{
    struct pdk_client *c = q->base.client;
    q->base.sent_ms = pdk__now_ms(); /* it may have waited */
    int zrc = zoo_aget_children(c->zh, q->path, 0, listed, q);
    if (zrc != ZOK)
        return zrc;
    note_sent(q, weight_of_listing(c));
    note_under_way(q, THE_NAMES);
    return ZOK;
}

/* Q is answered with ZRC. None follows where that is no word of the servers: the connection is lost, or the handle is
 * being closed. */
static void send_following(struct question *q, int zrc)
{
    struct question *next = q->following;
    pdk__index_drop(&q->base.client->joinable.under_way, &q->under_way);
    q->following = NULL;
    if (next == NULL)
        return;
    next->path = q->path;
    q->path = NULL;
    if (q->base.client->zh == NULL)
        zrc = ZCLOSING;
    else if (pdk__outcome_of(zrc) != PDK__UNKNOWN)
        zrc = send_listing(next);
    if (next->under_way.path == NULL)
        deliver_all(next, PDK__EV_LISTED, zrc, (struct pdk__wire_reply){0});
}

static void listed(int zrc, const struct String_vector *names, const void *data)
{
    struct question *q = (struct question *)data;
    struct pdk_client *c = pdk__request_arrive(&q->base, zrc);
    struct pdk__wire_reply reply = {.event = children_of(zrc, names)};
    c->joinable.n_names = (unsigned)reply.event.n_children;
    send_following(q, zrc);
    deliver_all(q, PDK__EV_LISTED, zrc, reply);
    pdk__request_depart(c);
}

/* It was sent in this turn, and after all that the wire of Q has asked. */
static bool answers(const struct question *listing, const struct question *q)
{
    return of_this_turn(listing) && listing->number > q->wire->asked;
}

static void follow(struct question *q, struct question *listing)
{
    q->joined = listing->following;
    listing->following = q;
}

int pdk__wire_list(struct pdk__wire *wire, uint64_t op, const char *path)
{
    struct question *listing = find_under_way(wire->client, path, THE_NAMES), *q = begin(wire, op, false);
    if (q == NULL)
        return PDK_ENOMEM;
    if (listing != NULL) {
        (answers(listing, q) ? join : follow)(q, listing);
        return 0;
    }
    q->path = pdk__strdup(path);
    int zrc = q->path != NULL ? send_listing(q) : ZSYSTEMERROR;
    if (zrc != ZOK)
        end(q);
    return pdk__error_of(zrc);
}

static void listed_dated(int zrc, const struct String_vector *names, const struct Stat *stat, const void *data)
{
    struct pdk__event event = children_of(zrc, names);
    event.token = zrc == ZOK ? stat->pzxid : 0;
    complete((struct question *)data, PDK__EV_LISTED, zrc, (struct pdk__wire_reply){.event = event});
}

int pdk__wire_list_dated(struct pdk__wire *wire, uint64_t op, const char *path)
{
    struct question *q = begin(wire, op, false);
    return q != NULL ? sent(q, zoo_aget_children2(wire->client->zh, path, 0, listed_dated, q)) : PDK_ENOMEM;
}

static void identified(int zrc, const struct Stat *stat, const void *data)
{
    complete((struct question *)data, PDK__EV_IDENTIFIED, zrc, (struct pdk__wire_reply){.event = event_of(zrc, stat)});
}

/* By exists, which older servers answer without READ. */
int pdk__wire_identify(struct pdk__wire *wire, uint64_t op, const char *node)
{
    struct question *q = begin(wire, op, false);
    return q != NULL ? sent(q, zoo_aexists(wire->client->zh, node, 0, identified, q)) : PDK_ENOMEM;
}

static void identified_data(int zrc, const char *value, int length, const struct Stat *stat, const void *data)
{
    struct pdk__identity id = {0};
    if (zrc == ZOK && length > 0 && length <= PDK__IDENTITY_MAX)
        pdk__identity_parse(&id, value, (size_t)length);
    complete((struct question *)data, PDK__EV_IDENTIFIED, zrc,
             (struct pdk__wire_reply){.event = event_of(zrc, stat), .limit = id.limit});
}

int pdk__wire_identify_data(struct pdk__wire *wire, uint64_t op, const char *node)
{
    struct question *q = begin(wire, op, false);
    return q != NULL ? sent(q, zoo_aget(wire->client->zh, node, 0, identified_data, q)) : PDK_ENOMEM;
}

/* --- watches ----------------------------------------------------------------------------------------------------- */

/* By getData where it can be: on a deleted node it sets no watch, where exists would leave one for its creation. */
static int get(struct pdk__wire *wire, uint64_t op, const char *node, data_completion_t got)
{
    struct pdk_client *c = wire->client;
    struct question *q = begin(wire, op, false);
    return q != NULL ? sent(q, zoo_awget(c->zh, node, pdk__handle_watch_nodes, (void *)c->id, got, q)) : PDK_ENOMEM;
}

static int exists(struct pdk__wire *wire, uint64_t op, const char *node, stat_completion_t seen)
{
    struct pdk_client *c = wire->client;
    struct question *q = begin(wire, op, false);
    if (q == NULL)
        return PDK_ENOMEM;
    q->path = wire->awaits_nodes ? NULL : pdk__strdup(node);
    if (q->path != NULL || wire->awaits_nodes)
        return sent(q, zoo_awexists(c->zh, node, pdk__handle_watch_nodes, (void *)c->id, seen, q));
    end(q);
    return PDK_ENOMEM;
}

/* Where there is no node, no contender relies on a watch; and the one that asked may have gone on, or ended, before. */
static void complete_exists(struct question *q, enum pdk__event_kind kind, int zrc, struct pdk__wire_reply reply)
{
    struct pdk_client *c = pdk__request_arrive(&q->base, zrc);
    deliver(q, kind, zrc, reply);
    if (zrc == ZNONODE && q->path != NULL && !c->adopted)
        pdk__request_unwatch(c, q->path);
    end(q);
    pdk__request_depart(c);
}

static void watched_by_get(int zrc, const char *value, int length, const struct Stat *stat, const void *data)
{
    char who[192];
    pdk__standing_owner(who, sizeof who, value, zrc == ZOK ? length : 0); /* without the lock */
    complete((struct question *)data, PDK__EV_WATCHED, zrc,
             (struct pdk__wire_reply){.event = event_of(zrc, stat), .who = who});
}

static void watched_by_exists(int zrc, const struct Stat *stat, const void *data)
{
    complete_exists((struct question *)data, PDK__EV_WATCHED, zrc,
                    (struct pdk__wire_reply){.event = event_of(zrc, stat), .who = ""});
}

int pdk__wire_watch(struct pdk__wire *wire, uint64_t op, const char *node, bool by_exists)
{
    return by_exists ? exists(wire, op, node, watched_by_exists) : get(wire, op, node, watched_by_get);
}

static void own_by_get(int zrc, const char *value, int length, const struct Stat *stat, const void *data)
{
    size_t size = zrc == ZOK && length > 0 ? (size_t)length : 0;
    struct pdk__wire_reply reply = {.event = event_of(zrc, stat), .bare = pdk__revocation_bare(value, size)};
    reply.event.revoked = pdk__revocation_asks(value, size);
    complete((struct question *)data, PDK__EV_OWN, zrc, reply);
}

static void own_by_exists(int zrc, const struct Stat *stat, const void *data)
{
    complete_exists((struct question *)data, PDK__EV_OWN, zrc, (struct pdk__wire_reply){.event = event_of(zrc, stat)});
}

int pdk__wire_own(struct pdk__wire *wire, uint64_t op, const char *node, bool by_exists)
{
    return by_exists ? exists(wire, op, node, own_by_exists) : get(wire, op, node, own_by_get);
}

static void watched_children(int zrc, const struct String_vector *names, const void *data)
{
    struct pdk__wire_reply reply = {.event = children_of(zrc, names), .who = ""};
    complete_shared((struct question *)data, PDK__EV_WATCHED, zrc, reply);
}

static int ask_watch(zhandle_t *zh, struct question *q)
{
    void *id = (void *)q->base.client->id;
    return zoo_awget_children(zh, q->path, pdk__handle_watch_nodes, id, watched_children, q);
}

int pdk__wire_watch_children(struct pdk__wire *wire, uint64_t op, const char *path)
{
    return share(begin(wire, op, false), path, THE_NAMES_WATCHED, ask_watch);
}

/* --- writes of our own node -------------------------------------------------------------------------------------- */

static void restored(int zrc, const struct Stat *stat, const void *data)
{
    struct question *q = (struct question *)data;
    struct pdk_client *c = pdk__request_arrive(&q->base, zrc);
    (void)stat;
    end(q);
    pdk__request_depart(c);
}

/* The machine remembers the word, so it does not matter whether this write arrives. It is for the version that was
 * read, and overwrites nothing newer. */
void pdk__wire_restore(struct pdk__wire *wire, const char *node, struct pdk__node_data data, int32_t version)
{
    size_t size;
    struct question *q = begin_alone(wire);
    char *text = q != NULL ? pdk__revocation_with(data.data, data.size, &size) : NULL;
    if (text != NULL)
        sent(q, zoo_aset(wire->client->zh, node, text, (int)size, version, restored, q));
    else if (q != NULL)
        end(q);
    pdk__free(text);
}

static void confirmed(int zrc, const struct Stat *stat, const void *data)
{
    struct pdk__event event = event_of(zrc, stat);
    if (zrc == ZOK)
        event.token = stat->mzxid;
    complete((struct question *)data, PDK__EV_CONFIRMED, zrc, (struct pdk__wire_reply){.event = event});
}

int pdk__wire_confirm(struct pdk__wire *wire, uint64_t op, const char *node, struct pdk__node_data data,
                      int32_t version, bool revoked)
{
    struct question *q = begin(wire, op, true);
    if (q == NULL)
        return PDK_ENOMEM;
    size_t size = data.size;
    char *text = revoked ? pdk__revocation_with(data.data, data.size, &size) : NULL;
    if (revoked && text == NULL) {
        end(q);
        return PDK_ENOMEM;
    }
    const char *value = revoked ? text : data.data;
    int rc = sent(q, zoo_aset(wire->client->zh, node, value, (int)size, version, confirmed, q));
    pdk__free(text);
    return rc;
}

/* --- the record of a lock delay ---------------------------------------------------------------------------------- */

/* Any other data there are no client's record. */
static const char *record_of(const char *value, int length, char name[PDK__NAME_MAX])
{
    int n = (int)strlen(PDK__HELD_BY);
    if (length <= n || memcmp(value, PDK__HELD_BY, (size_t)n) != 0)
        return NULL;
    snprintf(name, PDK__NAME_MAX, "%.*s", length - n, value + n);
    return name;
}

static void record_read(int zrc, const char *value, int length, const struct Stat *stat, const void *data)
{
    char name[PDK__NAME_MAX];
    struct pdk__event event = {0};
    if (zrc == ZOK) {
        event.name = record_of(value, length, name);
        event.token = stat->mzxid;
        event.version = stat->version;
    }
    complete((struct question *)data, PDK__EV_RECORD_READ, zrc, (struct pdk__wire_reply){.event = event});
}

int pdk__wire_read(struct pdk__wire *wire, uint64_t op, const char *path)
{
    struct question *q = begin(wire, op, false);
    return q != NULL ? sent(q, zoo_aget(wire->client->zh, path, 0, record_read, q)) : PDK_ENOMEM;
}

static void recorded(int zrc, const struct Stat *stat, const void *data)
{
    struct pdk__event event = {.version = zrc == ZOK ? stat->version : 0};
    complete((struct question *)data, PDK__EV_RECORDED, zrc, (struct pdk__wire_reply){.event = event});
}

int pdk__wire_record(struct pdk__wire *wire, uint64_t op, const char *path, const char *name, int32_t version)
{
    char record[sizeof PDK__HELD_BY + PDK__NAME_MAX];
    struct question *q = begin(wire, op, true);
    if (q == NULL)
        return PDK_ENOMEM;
    int length = snprintf(record, sizeof record, PDK__HELD_BY "%s", name);
    assert(length < (int)sizeof record);
    return sent(q, zoo_aset(wire->client->zh, path, record, length, version, recorded, q));
}

static void cleared(int zrc, const struct Stat *stat, const void *data)
{
    (void)stat;
    complete((struct question *)data, PDK__EV_CLEARED, zrc, (struct pdk__wire_reply){0});
}

int pdk__wire_clear(struct pdk__wire *wire, uint64_t op, const char *path, int32_t version)
{
    struct question *q = begin(wire, op, true);
    if (q == NULL)
        return PDK_ENOMEM; /* the record stays, and a successor waits in vain */
    return sent(q, zoo_aset(wire->client->zh, path, PDK__FREE, (int)strlen(PDK__FREE), version, cleared, q));
}

/* --- delete ------------------------------------------------------------------------------------------------------ */

static void deleted(int zrc, const void *data)
{
    complete((struct question *)data, PDK__EV_DELETED, zrc, (struct pdk__wire_reply){0});
}

int pdk__wire_delete(struct pdk__wire *wire, uint64_t op, const char *node)
{
    struct question *q = begin(wire, op, true);
    return q != NULL ? sent(q, zoo_adelete(wire->client->zh, node, -1, deleted, q)) : PDK_ENOMEM;
}
