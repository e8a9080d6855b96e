/*
 * Members of a client: claims, participants, followers and strays, registered alike. A member takes part in the
 * client's session, and is notified of its changes, of fired watches and of time. The client knows its members by this
 * table alone.
 *
 * All with the client's lock held. A function may remove its own member, and no other.
 */
#ifndef PDK__MEMBER_H
#define PDK__MEMBER_H

#include "lib/core/contender.h"
#include "lib/zk/client.h"

struct pdk__member;

enum pdk__node_change { PDK__NODE_CHANGED, PDK__NODE_DELETED, PDK__NODE_OTHER };

enum pdk__hindrance {
    PDK__LINK_SLOW, /* too slow for the session (c->told.unfit), at the moment this is found */
    PDK__NO_RENEWAL /* the path of the renewals does not permit them */
};

/* NULL: the member does not want to know. */
struct pdk__member_calls {
    void (*session)(struct pdk__member *m, const struct pdk__event *event); /* an event of the session machine */
    void (*changed)(struct pdk__member *m); /* the session has changed: after all events of one step */
    void (*tick)(struct pdk__member *m);    /* time has passed */

    /* Only for a member of the index, about a path that it has noted there; neither is NULL then. */
    void (*fired)(struct pdk__member *m, const char *path, enum pdk__node_change change); /* a watch on PATH */
    bool (*watches)(struct pdk__member *m, const char *path); /* PATH or its data; the index must not change */

    /* Look again at all that it watches (patrol.h). False: it watches nothing now, and has done nothing. */
    bool (*look_again)(struct pdk__member *m);

    void (*hindered)(struct pdk__member *m, enum pdk__hindrance what, const char *why);

    /* The path of a node that cannot exist, for the write by which the session is renewed; the caller frees. Only
     * where the member needs the lease, else NULL. */
    char *(*vacant_path)(struct pdk__member *m);

    bool (*uses)(const struct pdk__member *m, uint32_t attempt); /* for a node, or for the next one */

    bool awaited; /* a client that leaves its session, which goes on, waits for the member's end */
};

struct pdk__member {
    struct pdk__list link;
    const struct pdk__member_calls *calls;
    size_t cost; /* its part of the budget of paths */
};

/* May a member join whose watches and nodes are under PATH? PDK_ELIMIT when the session carries as many paths as
 * ZooKeeper can bear; PDK_ECLOSED, or why the session is over. */
int pdk__member_may_join(const struct pdk_client *c, const char *path);

/* Register a member; PATH as above, or NULL for one without watches and nodes that last. */
void pdk__member_join(struct pdk_client *c, struct pdk__member *m, const struct pdk__member_calls *calls,
                      const char *path);
void pdk__member_leave(struct pdk_client *c, struct pdk__member *m);

/* A member joins at the cost of two nodes under its path: its own, which is watched, and one that it may watch. From
 * now on its cost is COST. */
void pdk__member_charge(struct pdk_client *c, struct pdk__member *m, size_t cost);

/* The cost of a node of ours under PATH, and of a watch on PATH itself. */
size_t pdk__member_node_cost(const struct pdk_client *c, const char *path);
size_t pdk__member_watch_cost(const struct pdk_client *c, const char *path);

/* Call the function of all members; `fired` only of those that have noted PATH in the index. */
void pdk__members_session(struct pdk_client *c, const struct pdk__event *event);
void pdk__members_changed(struct pdk_client *c);
void pdk__members_tick(struct pdk_client *c);
void pdk__members_fired(struct pdk_client *c, const char *path, enum pdk__node_change change);
void pdk__members_hindered(struct pdk_client *c, enum pdk__hindrance what, const char *why);

/* Does any member but EXCEPT watch PATH? The servers know one watch per path and session, not one per member. */
bool pdk__members_watch(struct pdk_client *c, const char *path, const struct pdk__member *except);

/* The path of a node that cannot exist, by any member that needs the lease; the caller frees. NULL: none, or no
 * memory. */
char *pdk__members_vacant_path(struct pdk_client *c);

/* A number of an attempt that no member of the client uses. Two nodes of one session with one number could be taken for
 * each other. */
uint32_t pdk__members_attempt(const struct pdk_client *c);

/* Is there a member whose end is awaited? */
bool pdk__members_awaited(const struct pdk_client *c);

#endif
