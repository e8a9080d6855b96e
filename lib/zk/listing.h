/* A list of contenders, inside. */
#ifndef PDK__LISTING_H
#define PDK__LISTING_H

#include "lib/core/name.h"
#include "lib/identity.h"
#include "paddock/contenders.h"
#include <zookeeper/zookeeper.h>

struct pdk__listing_item {
    char *name;
    char *data;
    size_t size;
    size_t foreign; /* bytes at the beginning of the data that are a revocation request */
    size_t omitted; /* bytes of data that were not read */
    bool refused;   /* the ACL does not permit to look at the node, or to read its data */
    struct Stat stat;
    struct pdk__name parsed;
    struct pdk__identity identity;
    bool vanished;
};

struct pdk_contender_list {
    char *path;       /* the one that was listed; "" for the root */
    int lacks;        /* permissions, ZOO_PERM_*, that the path's ACL does not give to LACKING; 0: none, or not known */
    char *lacking;    /* whom: "scheme:id"; or NULL */
    struct Stat stat; /* the path's own, from the answer that has the names; all 0 when it does not exist */
    size_t n;
    struct pdk__listing_item *items;
};

/* Judge the path's ACL: see PDK_LIST_LACKS. False when memory is out. */
bool pdk__listing_judge_acl(struct pdk_contender_list *list, const struct ACL_vector *acl);

#endif
