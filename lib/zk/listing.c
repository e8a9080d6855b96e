#include "lib/zk/listing.h"
#include "lib/alloc.h"
#include "lib/core/rule.h"
#include <stdio.h>
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
    pdk__free(list->lacking);
    pdk__free(list);
}

/* --- the path's ACL ---------------------------------------------------------------------------------------------- */

static bool is_anyone(const struct Id *id) { return strcmp(id->scheme, "world") == 0 && strcmp(id->id, "anyone") == 0; }

static int perms_of_anyone(const struct ACL_vector *acl)
{
    int perms = 0;
    for (int i = 0; i < acl->count; i++)
        if (is_anyone(&acl->data[i].id))
            perms |= acl->data[i].perms;
    return perms;
}

/* The servers show the hash of a password after a user's name. */
static char *name_of(const struct Id *id)
{
    char text[256];
    int shown = strcmp(id->scheme, "digest") == 0 ? (int)strcspn(id->id, ":") : (int)strlen(id->id);
    snprintf(text, sizeof text, "%s:%.*s", id->scheme, shown, id->id);
    return pdk__strdup(text);
}

bool pdk__listing_judge_acl(struct pdk_contender_list *list, const struct ACL_vector *acl)
{
    int anyone = perms_of_anyone(acl), all = 0;
    for (int i = 0; i < acl->count; i++) {
        int perms = acl->data[i].perms | anyone;
        all |= perms;
        if ((perms & ZOO_PERM_CREATE) == 0 || (~perms & (ZOO_PERM_READ | ZOO_PERM_DELETE)) == 0)
            continue;
        list->lacks = ~perms & (ZOO_PERM_READ | ZOO_PERM_DELETE);
        list->lacking = name_of(&acl->data[i].id);
        return list->lacking != NULL;
    }
    list->lacks = ~all & ZOO_PERM_CREATE;
    return true;
}

/* --- the list ---------------------------------------------------------------------------------------------------- */

size_t pdk_contender_list_size(const pdk_contender_list *list) { return list->n; }

/* ZooKeeper shows twice the number of creates, less the nodes that are there, in 32 bits (DataNode.copyStat). The sum
 * is even, and less than 2^32 as the number of creates is less than 2^31. */
static uint32_t created_in(const struct Stat *stat)
{
    uint32_t twice = (uint32_t)stat->cversion + (uint32_t)stat->numChildren;
    return twice / 2;
}

int64_t pdk_contender_list_number(const pdk_contender_list *list, pdk_list_property property)
{
    switch (property) {
    case PDK_LIST_CREATED:
        return created_in(&list->stat);
    case PDK_LIST_SINCE_MS:
        return list->stat.ctime;
    case PDK_LIST_LACKS:
        return list->lacks;
    default:
        return 0;
    }
}

const char *pdk_contender_list_text(const pdk_contender_list *list, pdk_list_property property)
{
    return property == PDK_LIST_LACKING && list->lacking != NULL ? list->lacking : "";
}

/* --- a contender ------------------------------------------------------------------------------------------------- */

static pdk_dialect dialect_of(const struct pdk__name *name)
{
    static const pdk_dialect dialects[] = {[PDK__NAME_OURS] = PDK_DIALECT_PADDOCK,
                                           [PDK__NAME_CURATOR] = PDK_DIALECT_CURATOR,
                                           [PDK__NAME_FOREIGN] = PDK_DIALECT_FOREIGN,
                                           [PDK__NAME_JUNK] = PDK_DIALECT_JUNK};
    return dialects[name->kind];
}

static pdk_mode mode_of(const struct pdk__name *name)
{
    static const pdk_mode modes[PDK__N_TAGS] = {
        [PDK__TAG_READ] = PDK_MODE_READ, [PDK__TAG_WRITE] = PDK_MODE_WRITE, [PDK__TAG_PERMIT] = PDK_MODE_PERMIT};
    if (name->kind == PDK__NAME_JUNK)
        return PDK_MODE_NONE;
    return name->kind == PDK__NAME_FOREIGN ? PDK_MODE_EXCLUSIVE : modes[name->tag];
}

/* Junk, of which there may be much, is last. So where it is first there is nothing else: then the path tells. */
static bool has_permits(const pdk_contender_list *list)
{
    size_t length = strlen(list->path), tail = strlen("/leases");
    for (size_t i = 0; i < list->n && list->items[i].parsed.kind != PDK__NAME_JUNK; i++)
        if (mode_of(&list->items[i].parsed) == PDK_MODE_PERMIT)
            return true;
    return list->n > 0 && list->items[0].parsed.kind == PDK__NAME_JUNK && length > tail &&
           strcmp(list->path + length - tail, "/leases") == 0;
}

static struct pdk__rule rule_of(const pdk_contender_list *list, size_t i)
{
    const struct pdk__name *own = &list->items[i].parsed;
    bool permit = own->kind == PDK__NAME_JUNK && has_permits(list);
    return pdk__rule_of(own, list->items[i].identity.limit, permit);
}

/* The list is in the order of the contenders, with junk last; but what the rule has ahead of all is, wherever it
 * stands. */
static bool blocks(const pdk_contender_list *list, const struct pdk__rule *rule, size_t k, size_t i)
{
    const struct pdk__name *other = &list->items[k].parsed;
    bool ahead = k < i || pdk__rule_position(rule, other) == INT64_MIN;
    return k != i && ahead && pdk__rule_blocks(rule, &list->items[i].parsed, other);
}

bool pdk_contender_blocks(const pdk_contender_list *list, size_t k, size_t i)
{
    struct pdk__rule rule = rule_of(list, i);
    return list->items[i].parsed.kind != PDK__NAME_JUNK && blocks(list, &rule, k, i);
}

bool pdk_contender_holds(const pdk_contender_list *list, size_t i)
{
    struct pdk__rule rule = rule_of(list, i);
    size_t blocking = 0;
    if (pdk__rule_admits(&rule, list->n)) /* whatever they are; they may be many */
        return true;
    for (size_t k = 0; k < list->n && pdk__rule_admits(&rule, blocking); k++)
        blocking += blocks(list, &rule, k, i);
    return pdk__rule_admits(&rule, blocking);
}

const char *pdk_contender_data(const pdk_contender_list *list, size_t i, size_t *size)
{
    const struct pdk__listing_item *item = &list->items[i];
    if (size != NULL)
        *size = item->size - item->foreign;
    return item->data != NULL ? item->data + item->foreign : "";
}

/* A container's owner is a number with the highest bit alone, and a node with a time to live has its two highest bytes
 * set: neither is a session. */
static int64_t session_of(const struct pdk__listing_item *item)
{
    int64_t owner = item->stat.ephemeralOwner;
    bool special = owner == INT64_MIN || ((uint64_t)owner >> 56) == 0xff;
    return special ? 0 : owner;
}

int64_t pdk_contender_number(const pdk_contender_list *list, size_t i, pdk_contender_property property)
{
    const struct pdk__listing_item *item = &list->items[i];
    switch (property) {
    case PDK_CONTENDER_SEQUENCE:
        return item->parsed.kind != PDK__NAME_JUNK ? item->parsed.sequence : -1;
    case PDK_CONTENDER_DIALECT:
        return dialect_of(&item->parsed);
    case PDK_CONTENDER_MODE:
        return mode_of(&item->parsed);
    case PDK_CONTENDER_SESSION:
        return session_of(item);
    case PDK_CONTENDER_TOKEN:
        return item->stat.czxid;
    case PDK_CONTENDER_SINCE_MS:
        return item->stat.ctime;
    case PDK_CONTENDER_REVOKED:
        return item->foreign > 0;
    case PDK_CONTENDER_READABLE:
        return !item->refused;
    case PDK_CONTENDER_DATA_OMITTED:
        return (int64_t)item->omitted;
    case PDK_CONTENDER_PID:
        return item->identity.pid;
    case PDK_CONTENDER_THREAD:
        return item->identity.thread;
    case PDK_CONTENDER_CONFIRMED:
        return item->identity.confirmed;
    case PDK_CONTENDER_LOCK_DELAY_MS:
        return item->identity.lock_delay_ms;
    case PDK_CONTENDER_LIMIT:
        return item->identity.limit;
    case PDK_CONTENDER_DEAD:
        return pdk__identity_dead(&item->identity);
    default:
        return 0;
    }
}

const char *pdk_contender_text(const pdk_contender_list *list, size_t i, pdk_contender_property property)
{
    const struct pdk__identity *identity = &list->items[i].identity;
    switch (property) {
    case PDK_CONTENDER_NAME:
        return list->items[i].name;
    case PDK_CONTENDER_HOST:
        return identity->host;
    case PDK_CONTENDER_LABEL:
        return identity->label;
    case PDK_CONTENDER_MACHINE:
        return identity->machine;
    case PDK_CONTENDER_UNDER:
        return identity->under;
    default:
        return "";
    }
}
