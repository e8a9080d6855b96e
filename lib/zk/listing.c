#include "lib/zk/listing.h"
#include "lib/alloc.h"
#include "lib/core/rule.h"
#include <string.h>

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

size_t pdk_contender_list_size(const pdk_contender_list *list) { return list->n; }

/* ZooKeeper shows twice the number of creates, less the nodes that are there, in 32 bits (DataNode.copyStat). The sum is
 * even, and less than 2^32 as the number of creates is less than 2^31. */
int64_t pdk_contender_list_created(const pdk_contender_list *list)
{
    uint32_t twice = (uint32_t)list->stat.cversion + (uint32_t)list->stat.numChildren;
    return twice / 2;
}

int64_t pdk_contender_list_since_ms(const pdk_contender_list *list) { return list->stat.ctime; }

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

pdk_mode pdk_contender_mode(const pdk_contender_list *list, size_t i)
{
    static const pdk_mode modes[PDK__N_TAGS] = {
        [PDK__TAG_READ] = PDK_MODE_READ, [PDK__TAG_WRITE] = PDK_MODE_WRITE, [PDK__TAG_LEASE] = PDK_MODE_PERMIT};
    const struct pdk__name *name = &list->items[i].parsed;
    if (name->kind == PDK__NAME_JUNK)
        return PDK_MODE_NONE;
    return name->kind == PDK__NAME_FOREIGN ? PDK_MODE_EXCLUSIVE : modes[name->tag];
}

/* Junk is last, so where it is first there is nothing else: then the path tells. */
static bool has_permits(const pdk_contender_list *list)
{
    size_t length = strlen(list->path), tail = strlen("/leases");
    for (size_t i = 0; i < list->n; i++)
        if (pdk_contender_mode(list, i) == PDK_MODE_PERMIT)
            return true;
    return list->n > 0 && pdk_contender_mode(list, 0) == PDK_MODE_NONE && length > tail &&
           strcmp(list->path + length - tail, "/leases") == 0;
}

/* The list is in the order of the contenders, with junk last; but what the rule has ahead of all is, wherever it stands. */
bool pdk_contender_holds(const pdk_contender_list *list, size_t i)
{
    const struct pdk__name *own = &list->items[i].parsed;
    bool permit = own->kind == PDK__NAME_JUNK && has_permits(list);
    struct pdk__rule rule = pdk__rule_of(own, pdk_contender_limit(list, i), permit);
    size_t blocking = 0;
    for (size_t k = 0; k < list->n && pdk__rule_admits(&rule, blocking); k++) {
        const struct pdk__name *other = &list->items[k].parsed;
        bool ahead = k < i || pdk__rule_position(&rule, other) == INT64_MIN;
        blocking += k != i && ahead && pdk__rule_blocks(&rule, own, other);
    }
    return pdk__rule_admits(&rule, blocking);
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

bool pdk_contender_readable(const pdk_contender_list *list, size_t i) { return !list->items[i].refused; }

const char *pdk_contender_host(const pdk_contender_list *list, size_t i) { return list->items[i].identity.host; }

int64_t pdk_contender_pid(const pdk_contender_list *list, size_t i) { return list->items[i].identity.pid; }

int64_t pdk_contender_thread(const pdk_contender_list *list, size_t i) { return list->items[i].identity.thread; }

const char *pdk_contender_label(const pdk_contender_list *list, size_t i) { return list->items[i].identity.label; }

bool pdk_contender_confirmed(const pdk_contender_list *list, size_t i) { return list->items[i].identity.confirmed; }

int64_t pdk_contender_lock_delay_ms(const pdk_contender_list *list, size_t i)
{
    return list->items[i].identity.lock_delay_ms;
}

int64_t pdk_contender_limit(const pdk_contender_list *list, size_t i) { return list->items[i].identity.limit; }

const char *pdk_contender_machine(const pdk_contender_list *list, size_t i) { return list->items[i].identity.machine; }

const char *pdk_contender_under(const pdk_contender_list *list, size_t i) { return list->items[i].identity.under; }

bool pdk_contender_dead(const pdk_contender_list *list, size_t i)
{
    return pdk__identity_dead(&list->items[i].identity);
}
