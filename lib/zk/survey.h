/*
 * A look at a path: one listing, then the size of each node's data, then the data. A window bounds what is under way at
 * a time, so that the client's own requests (a holder's renewals among them) wait for a few answers and not for
 * thousands.
 */
#ifndef PDK__SURVEY_H
#define PDK__SURVEY_H

#include "lib/zk/client.h"
#include "paddock/contenders.h"

/* Requests under way at a time, and bytes of data that they ask for (one node's may be more). */
enum { PDK__SURVEY_REQUESTS = 64, PDK__SURVEY_BYTES = 256 * 1024 };

struct pdk__question {
    const char *path;
    size_t n_read;   /* how many of the first are looked at; of the others only the names are known */
    bool first_only; /* the others are left out */
    int64_t deadline_ms;
};

/* With the client's lock, which is let go while the caller waits, and while names are sorted. On success *LIST is the
 * caller's; identities are not parsed yet. PDK_EUNKNOWN when the connection was lost, or what was asked for has changed
 * meanwhile: ask again. PDK_ETIMEDOUT, and the errors of pdk_contenders(). */
int pdk__survey(struct pdk_client *c, const struct pdk__question *q, pdk_contender_list **list);

#endif
