/* A snapshot of a lock's contenders: a survey (survey.h), repeated until it succeeds or its deadline has come. */
#include "lib/clock.h"
#include "lib/core/contender.h"
#include "lib/core/path.h"
#include "lib/revocation.h"
#include "lib/zk/account.h"
#include "lib/zk/exchange.h"
#include "lib/zk/listing.h"
#include "lib/zk/survey.h"
#include <string.h>

struct asking {
    struct pdk_client *client;
    const struct pdk__question *question;
    struct pdk_contender_list **list;
};

static int attempt(void *arg, int64_t deadline_ms)
{
    const struct asking *i = arg;
    (void)deadline_ms; /* the question has it */
    if (i->client->session.phase != PDK__SESSION_CONNECTED)
        return PDK_EDISCONNECTED;
    int rc = pdk__survey(i->client, i->question, i->list);
    return rc == PDK_EUNKNOWN ? PDK_EDISCONNECTED : rc;
}

static int ask_locked(struct pdk_client *c, const struct pdk__question *q, struct pdk_contender_list **list)
{
    int rc = pdk__client_enter(c);
    if (rc != 0)
        return rc;
    rc = pdk__exchange_until(c, q->deadline_ms, attempt, &(struct asking){c, q, list});
    pdk__client_end(c, "list", q->path, rc);
    pdk__client_leave(c);
    return rc;
}

/* Data may be anything, and large: it is parsed without the lock, which the client's renewals need. */
static void parse(struct pdk_contender_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        struct pdk__listing_item *item = &list->items[i];
        if (item->data == NULL)
            continue;
        item->foreign = pdk__revocation_prefix(item->data, item->size);
        pdk__identity_parse(&item->identity, item->data + item->foreign, item->size - item->foreign);
    }
}

int pdk_contenders(pdk_client *c, const char *path, size_t n, int64_t timeout_ms, pdk_contender_list **list)
{
    struct pdk__question q = {.path = path, .n_read = n, .deadline_ms = pdk__deadline_ms(pdk__now_ms(), timeout_ms)};
    int before;
    if (c == NULL || path == NULL || list == NULL)
        return PDK_EINVAL;
    if (!pdk__path_valid(path) && strcmp(path, "/") != 0)
        return PDK_EPATH;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before); /* no cancellation point, with the lock or without */
    int rc = ask_locked(c, &q, list);
    if (rc == 0)
        parse(*list);
    pthread_setcancelstate(before, NULL);
    return rc;
}
