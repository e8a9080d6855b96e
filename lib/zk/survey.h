/*
 * A look at a path: one listing, then the size of each node's data, then the data. A window limits the requests under
 * way at a time. So the client's own requests (a holder's renewals among them) wait for at most PDK__SURVEY_REQUESTS
 * answers and not for thousands.
 */
#ifndef PDK__SURVEY_H
#define PDK__SURVEY_H

#include "lib/zk/client.h"
#include "paddock/contenders.h"

/* Requests under way at a time, and bytes of data that they ask for (one node's may be more). */
enum { PDK__SURVEY_REQUESTS = 64, PDK__SURVEY_BYTES = 256 * 1024 };

struct pdk__question {
    const char *path;
    size_t n_read; /* how many nodes are looked at, from the first; of the others only the names are known. With
                      PDK_CONTENDERS_ALL the path's ACL is judged, too */
    int64_t deadline_ms;
};

/* With the client's lock, which is released while the caller waits, and while names are sorted. On success *LIST is
 * the caller's; identities are not parsed yet. PDK_EUNKNOWN: the connection was lost, or the first nodes were deleted
 * meanwhile: ask again. PDK_ETIMEDOUT, and the errors of pdk_contenders(). */
int pdk__survey(struct pdk_client *c, const struct pdk__question *q, pdk_contender_list **list);

#endif
