#include "cli/conflicts.h"

#include "cli/message.h"
#include "cli/owner.h"

void pdk__cli_conflicts_add_own(struct pdk__cli_conflicts *m, bool confirmed, bool delayed)
{
    *(confirmed ? &m->confirmed : &m->unconfirmed) = true;
    *(delayed ? &m->delayed : &m->undelayed) = true;
}

void pdk__cli_conflicts_add(struct pdk__cli_conflicts *m, const pdk_contender_list *list, size_t i)
{
    pdk_dialect dialect = pdk_contender_dialect(list, i);
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

void pdk__cli_conflicts_report(const struct pdk__cli_conflicts *m, struct pdk__cli_conflicts *reported,
                               const char *path)
{
    if (m->confirmed && m->unconfirmed && !reported->confirmed)
        pdk__cli_message("%s: some contenders confirm their grants and some do not: tokens may come out of order",
                         path);
    if (m->delayed && m->undelayed && !reported->delayed)
        pdk__cli_message(
            "%s: some contenders have a lock delay and some have none: a lost holder may be followed at once", path);
    if (m->kazoo && !reported->kazoo)
        pdk__cli_message(
            "%s: a kazoo Lock or Election contends here, and may hold beside others: see paddock(1), CAVEATS", path);
    if (m->limits && !reported->limits)
        pdk__cli_message("%s: contenders have different limits: more permits may be held than some of them allow",
                         path);
    reported->limits = reported->limits || m->limits;
    reported->confirmed = reported->confirmed || (m->confirmed && m->unconfirmed);
    reported->delayed = reported->delayed || (m->delayed && m->undelayed);
    reported->kazoo = reported->kazoo || m->kazoo;
}
