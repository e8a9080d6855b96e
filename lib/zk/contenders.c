/*
 * A snapshot of a lock's contenders, or of the first of them.
 */
#include "paddock/contenders.h"
#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/core/contender.h"
#include "lib/core/path.h"
#include "lib/revocation.h"
#include "lib/zk/client.h"
#include "lib/zk/listing.h"
#include "lib/zk/survey.h"
#include "paddock/leader.h"

void pdk_contender_list_free(pdk_contender_list *list)
{
    if (list == NULL)
        return;
    for (size_t i = 0; i < list->n; i++) {
        pdk__free(list->items[i].name);
        pdk__free(list->items[i].data);
    }
    pdk__free(list->items);
    pdk__free(list->path);
    pdk__free(list);
}

/* --- asking ------------------------------------------------------------------------------------------------------ */

static int connect_and_survey(struct pdk_client *c, const struct pdk__question *q, struct pdk_contender_list **list)
{
    int rc;
    while ((rc = pdk__client_may_wait(c)) == 0) {
        if (c->session.phase == PDK__SESSION_CONNECTED) {
            rc = pdk__survey(c, q, list);
            if (rc != PDK_EUNKNOWN)
                return rc; /* else the connection was lost, and the session will report it */
        }
        if (pdk__now_ms() >= q->deadline_ms)
            return PDK_ETIMEDOUT;
        int64_t soon_ms = pdk__now_ms() + 100;
        pdk__client_await(c, &c->changed, q->deadline_ms < soon_ms ? q->deadline_ms : soon_ms, false);
    }
    return rc;
}

static int ask_locked(struct pdk_client *c, const struct pdk__question *q, struct pdk_contender_list **list)
{
    int rc = pdk__client_enter(c);
    if (rc != 0)
        return rc;
    rc = connect_and_survey(c, q, list);
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

static int ask(struct pdk_client *c, struct pdk__question q, struct pdk_contender_list **list)
{
    int before;
    if (c == NULL || q.path == NULL || list == NULL)
        return PDK_EINVAL;
    if (!pdk__path_valid(q.path))
        return PDK_EPATH;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before); /* no cancellation point, with the lock or without */
    int rc = ask_locked(c, &q, list);
    if (rc == 0)
        parse(*list);
    pthread_setcancelstate(before, NULL);
    return rc;
}

int pdk_contenders(pdk_client *c, const char *path, int64_t timeout_ms, pdk_contender_list **list)
{
    return pdk_contenders_first(c, path, SIZE_MAX, timeout_ms, list);
}

int pdk_contenders_first(pdk_client *c, const char *path, size_t n, int64_t timeout_ms, pdk_contender_list **list)
{
    int64_t deadline_ms = pdk__deadline_ms(pdk__now_ms(), timeout_ms);
    return ask(c, (struct pdk__question){.path = path, .n_read = n, .deadline_ms = deadline_ms}, list);
}

int pdk_leader_current(pdk_client *c, const char *path, int64_t timeout_ms, pdk_contender_list **list)
{
    int64_t deadline_ms = pdk__deadline_ms(pdk__now_ms(), timeout_ms);
    return ask(c, (struct pdk__question){.path = path, .n_read = 1, .first_only = true, .deadline_ms = deadline_ms},
               list);
}

/* --- what it says ------------------------------------------------------------------------------------------------ */

size_t pdk_contender_list_size(const pdk_contender_list *list) { return list->n; }

const char *pdk_contender_name(const pdk_contender_list *list, size_t i) { return list->items[i].name; }

pdk_dialect pdk_contender_dialect(const pdk_contender_list *list, size_t i)
{
    static const pdk_dialect dialects[] = {[PDK__NAME_OURS] = PDK_DIALECT_PADDOCK,
                                           [PDK__NAME_CURATOR] = PDK_DIALECT_CURATOR,
                                           [PDK__NAME_FOREIGN] = PDK_DIALECT_FOREIGN,
                                           [PDK__NAME_JUNK] = PDK_DIALECT_JUNK};
    return dialects[list->items[i].parsed.kind];
}

int64_t pdk_contender_sequence(const pdk_contender_list *list, size_t i)
{
    const struct pdk__name *name = &list->items[i].parsed;
    return name->kind != PDK__NAME_JUNK ? name->sequence : -1;
}

/* A container's owner is a number with the highest bit alone, and a node with a time to live has its two highest bytes
 * set: neither is a session. */
int64_t pdk_contender_session(const pdk_contender_list *list, size_t i)
{
    int64_t owner = list->items[i].stat.ephemeralOwner;
    bool special = owner == INT64_MIN || ((uint64_t)owner >> 56) == 0xff;
    return special ? 0 : owner;
}

int64_t pdk_contender_token(const pdk_contender_list *list, size_t i) { return list->items[i].stat.czxid; }

int64_t pdk_contender_since_ms(const pdk_contender_list *list, size_t i) { return list->items[i].stat.ctime; }

const char *pdk_contender_data(const pdk_contender_list *list, size_t i, size_t *size)
{
    const struct pdk__listing_item *item = &list->items[i];
    if (size != NULL)
        *size = item->size - item->foreign;
    return item->data != NULL ? item->data + item->foreign : "";
}

bool pdk_contender_revoked(const pdk_contender_list *list, size_t i) { return list->items[i].foreign > 0; }

size_t pdk_contender_data_omitted(const pdk_contender_list *list, size_t i) { return list->items[i].omitted; }

const char *pdk_contender_host(const pdk_contender_list *list, size_t i) { return list->items[i].identity.host; }

int64_t pdk_contender_pid(const pdk_contender_list *list, size_t i) { return list->items[i].identity.pid; }

int64_t pdk_contender_thread(const pdk_contender_list *list, size_t i) { return list->items[i].identity.thread; }

const char *pdk_contender_label(const pdk_contender_list *list, size_t i) { return list->items[i].identity.label; }

bool pdk_contender_confirmed(const pdk_contender_list *list, size_t i) { return list->items[i].identity.confirmed; }

int64_t pdk_contender_lock_delay_ms(const pdk_contender_list *list, size_t i)
{
    return list->items[i].identity.lock_delay_ms;
}
