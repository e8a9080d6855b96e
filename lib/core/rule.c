#include "lib/core/rule.h"
#include "lib/assert.h"
#include <string.h>

/* A writer that goes on as a reader is there before its writer's node goes. */
#define READ (1U << PDK__TAG_READ)
#define WRITE (1U << PDK__TAG_WRITE)
const struct pdk__rule pdk__rule_mutex = {.tag = PDK__TAG_LOCK, .replaced = WRITE, .admits = 1};
const struct pdk__rule pdk__rule_leader = {.tag = PDK__TAG_LATCH, .admits = 1};
const struct pdk__rule pdk__rule_reader = {.tag = PDK__TAG_READ, .passes = READ, .under = WRITE, .admits = 1};
const struct pdk__rule pdk__rule_writer = {.tag = PDK__TAG_WRITE, .replaced = WRITE, .admits = 1};

struct pdk__rule pdk__rule_permit(size_t limit)
{
    assert(limit >= 1);
    return (struct pdk__rule){.tag = PDK__TAG_PERMIT, .admits = limit, .by_children = true, .counts_junk = true};
}

struct pdk__rule pdk__rule_of(const struct pdk__name *name, int64_t limit, bool among_permits)
{
    static const struct pdk__rule *const rules[PDK__N_TAGS] = {[PDK__TAG_LOCK] = &pdk__rule_mutex,
                                                               [PDK__TAG_LATCH] = &pdk__rule_leader,
                                                               [PDK__TAG_READ] = &pdk__rule_reader,
                                                               [PDK__TAG_WRITE] = &pdk__rule_writer};
    if (name->kind == PDK__NAME_JUNK)
        return among_permits ? pdk__rule_permit(SIZE_MAX) : (struct pdk__rule){0};
    if (name->kind == PDK__NAME_FOREIGN)
        return pdk__rule_mutex;
    return name->tag == PDK__TAG_PERMIT ? pdk__rule_permit(limit > 0 ? (size_t)limit : SIZE_MAX) : *rules[name->tag];
}

static const char *find(const char *const *children, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(children[i], name) == 0)
            return children[i];
    return NULL;
}

static bool tagged(const struct pdk__name *name, unsigned tags)
{
    bool has_tag = name->kind == PDK__NAME_OURS || name->kind == PDK__NAME_CURATOR;
    return has_tag && (tags & 1U << name->tag) != 0;
}

/* Does a contender with this name block ours, if it is ahead? One of another recipe does. */
static bool blocks(const struct pdk__rule *rule, const struct pdk__name *name)
{
    return name->kind != PDK__NAME_JUNK ? !tagged(name, rule->passes) : rule->counts_junk;
}

/* A reader under a writer's number and that writer hold beside each other. kazoo's contenders see only each other. */
bool pdk__rule_blocks(const struct pdk__rule *rule, const struct pdk__name *own, const struct pdk__name *ahead)
{
    bool under = own->sequence == ahead->sequence && tagged(own, READ | WRITE);
    bool unseen = own->kazoo && !ahead->kazoo;
    return !under && !unseen && blocks(rule, ahead);
}

bool pdk__rule_admits_first(const struct pdk__rule *rule) { return rule->passes == 0 && rule->admits == 1; }

/* Junk is no contender; where it counts, it is ahead of all, and so is a node of another recipe there: ten digits at
 * the end of a random name are no number. */
int64_t pdk__rule_position(const struct pdk__rule *rule, const struct pdk__name *name)
{
    bool numbered = rule->counts_junk ? tagged(name, 1U << rule->tag) : name->kind != PDK__NAME_JUNK;
    return numbered ? name->sequence : rule->counts_junk ? INT64_MIN : INT64_MAX;
}

/* CHILD, at AT, blocks ours. NEAR has the positions of the two nearest that do. */
static void note_blocking(struct pdk__place *place, int64_t near[2], const char *child, int64_t at)
{
    place->blocking++;
    if (at >= near[0]) {
        near[1] = near[0];
        near[0] = at;
        place->before = place->predecessor;
        place->predecessor = child;
    } else if (at >= near[1]) {
        near[1] = at;
        place->before = child;
    }
}

static bool replaceable(const struct pdk__rule *rule, const char *child)
{
    struct pdk__name name = pdk__name_glance(child);
    return tagged(&name, rule->replaced);
}

struct pdk__place pdk__rule_place(const struct pdk__rule *rule, const char *const *children, size_t n, const char *own,
                                  const char *base)
{
    struct pdk__place place = {0};
    assert(rule->admits >= 1 && (base == NULL || rule->under != 0));
    own = find(children, n, own);
    if (own == NULL)
        return place;
    place.present = place.alone = true;
    place.baseless = base != NULL && find(children, n, base) == NULL;
    struct pdk__name ours = pdk__name_glance(own);
    int64_t near[2] = {INT64_MIN, INT64_MIN}, passed = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        struct pdk__name name = pdk__name_glance(children[i]);
        int64_t at = pdk__rule_position(rule, &name);
        if (children[i] == own || (base != NULL && strcmp(children[i], base) == 0))
            continue;
        place.alone &= at == INT64_MAX;
        place.tied |= at == ours.sequence && !(base != NULL && tagged(&name, rule->passes));
        if (at >= ours.sequence)
            continue;
        if (pdk__rule_blocks(rule, &ours, &name))
            note_blocking(&place, near, children[i], at);
        else
            passed = at > passed ? at : passed;
    }
    place.admitted = pdk__rule_admits(rule, place.blocking);
    place.next = place.blocking == rule->admits;
    place.replaceable = place.predecessor != NULL && replaceable(rule, place.predecessor);
    place.leads = place.next && near[0] > passed;
    assert((place.predecessor != NULL) == (place.blocking > 0) && place.blocking < n);
    assert((place.before != NULL) == (place.blocking > 1));
    return place;
}

bool pdk__rule_rival(const struct pdk__rule *rule, const char *name)
{
    struct pdk__name parsed = pdk__name_parse(name);
    return parsed.kind != PDK__NAME_JUNK && !tagged(&parsed, rule->passes);
}

const char *pdk__rule_misfit(const struct pdk__rule *rule, const char *const *children, size_t n)
{
    const unsigned locks = READ | WRITE | 1U << PDK__TAG_LOCK, own = 1U << rule->tag;
    for (size_t i = 0; i < n; i++) {
        struct pdk__name name = pdk__name_glance(children[i]);
        if (tagged(&name, ~((own & locks) != 0 ? locks : own)))
            return children[i];
    }
    return NULL;
}

bool pdk__rule_has_parts(const char *const *children, size_t n)
{
    return find(children, n, "leases") != NULL && find(children, n, "locks") != NULL;
}

bool pdk__rule_renewed(const struct pdk__rule *rule, const char *const *children, size_t n)
{
    bool vacant = true, low = false;
    for (size_t i = 0; i < n; i++) {
        struct pdk__name name = pdk__name_glance(children[i]);
        int64_t at = pdk__rule_position(rule, &name);
        vacant &= at == INT64_MAX;
        low |= at >= 0 && at < PDK__NAME_NEAR_END;
    }
    return vacant || low;
}

bool pdk__rule_free(const struct pdk__rule *rule, const char *const *children, size_t n, size_t places)
{
    size_t blocking = places - 1; /* the last of them is blocked by the others, too */
    assert(rule->admits >= 1 && places >= 1);
    for (size_t i = 0; i < n; i++) {
        struct pdk__name name = pdk__name_glance(children[i]);
        blocking += blocks(rule, &name);
    }
    return pdk__rule_admits(rule, blocking);
}
