#include "cli/conflicts.h"

#include "cli/look/site.h"
#include "cli/message.h"
#include "cli/owner.h"
#include "lib/core/rule.h"

const char *const pdk__cli_conflict_texts[N_CONFLICTS] = {
    [CONFLICT_RECIPES] = "contenders of different recipes, which may hold beside each other",
    [CONFLICT_CONFIRMED] = "some contenders confirm their grants and some do not: tokens may come out of order",
    [CONFLICT_DELAY] = "some contenders have a lock delay and some have none: a lost holder may be followed at once",
    [CONFLICT_LIMITS] = "contenders have different limits: more permits may be held than some of them allow",
    [CONFLICT_KAZOO] = "a kazoo Lock or Election contends here, and may hold beside others: see paddock(1), CAVEATS"};

void pdk__cli_conflicts_add_own(struct pdk__cli_conflicts *m, bool confirmed, bool delayed)
{
    *(confirmed ? &m->confirmed : &m->unconfirmed) = true;
    *(delayed ? &m->delayed : &m->undelayed) = true;
}

static void add_recipe(struct pdk__cli_conflicts *m, const char *name)
{
    struct pdk__name parsed = pdk__name_parse(name);
    if (parsed.kind != PDK__NAME_OURS && parsed.kind != PDK__NAME_CURATOR)
        return;
    struct pdk__rule rule = pdk__rule_of(&parsed, 0, false);
    m->recipe = m->recipe != NULL ? m->recipe : name;
    m->recipes = m->recipes || pdk__rule_misfit(&rule, &m->recipe, 1) != NULL;
}

static void add(struct pdk__cli_conflicts *m, const pdk_contender_list *list, size_t i)
{
    pdk_dialect dialect = (pdk_dialect)pdk_contender_number(list, i, PDK_CONTENDER_DIALECT);
    add_recipe(m, pdk_contender_text(list, i, PDK_CONTENDER_NAME));
    m->kazoo = m->kazoo || pdk__cli_is_kazoo(list, i);
    int64_t limit = pdk_contender_number(list, i, PDK_CONTENDER_LIMIT);
    m->limits = m->limits || (limit > 0 && m->limit > 0 && limit != m->limit);
    m->limit = limit > 0 ? limit : m->limit;
    /* Data of a program's own do not show how it is granted the lock; an identity, which has a process, does. */
    bool known = dialect == PDK_DIALECT_CURATOR ||
                 (dialect == PDK_DIALECT_PADDOCK && pdk_contender_number(list, i, PDK_CONTENDER_PID) != 0);
    if (known)
        pdk__cli_conflicts_add_own(m, pdk_contender_number(list, i, PDK_CONTENDER_CONFIRMED),
                                   pdk_contender_number(list, i, PDK_CONTENDER_LOCK_DELAY_MS) > 0);
}

/* A lock's path may also be that of a semaphore, whose permits stand below it. */
void pdk__cli_conflicts_add(struct pdk__cli_conflicts *m, const pdk_contender_list *list)
{
    for (size_t i = 0; i < pdk_contender_list_size(list); i++)
        add(m, list, i);
    m->recipes = m->recipes || (m->recipe != NULL && pdk__cli_has_leases(list));
}

unsigned pdk__cli_conflicts_found(const struct pdk__cli_conflicts *m)
{
    return (unsigned)m->recipes << CONFLICT_RECIPES | (unsigned)(m->confirmed && m->unconfirmed) << CONFLICT_CONFIRMED |
           (unsigned)(m->delayed && m->undelayed) << CONFLICT_DELAY | (unsigned)m->limits << CONFLICT_LIMITS |
           (unsigned)m->kazoo << CONFLICT_KAZOO;
}

void pdk__cli_conflicts_report(const struct pdk__cli_conflicts *m, unsigned *reported, const char *path)
{
    unsigned found = pdk__cli_conflicts_found(m);
    for (int i = 0; i < N_CONFLICTS; i++)
        if ((found & ~*reported & 1U << i) != 0)
            pdk__cli_message("%s: %s", path, pdk__cli_conflict_texts[i]);
    *reported |= found;
}
