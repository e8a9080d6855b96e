#include "cli/mixture.h"

#include "cli/owner.h"
#include "cli/say.h"

void pdk__cli_mixture_add_own(struct pdk__cli_mixture *m, bool confirmed, bool delayed)
{
    *(confirmed ? &m->confirmed : &m->unconfirmed) = true;
    *(delayed ? &m->delayed : &m->undelayed) = true;
}

void pdk__cli_mixture_add(struct pdk__cli_mixture *m, const pdk_contender_list *list, size_t i)
{
    pdk_dialect dialect = pdk_contender_dialect(list, i);
    m->kazoo = m->kazoo || pdk__cli_is_kazoo(list, i);
    /* Data of a program's own do not show how it is granted the lock; an identity, which has a process, does. */
    bool known = dialect == PDK_DIALECT_CURATOR || (dialect == PDK_DIALECT_PADDOCK && pdk_contender_pid(list, i) != 0);
    if (known)
        pdk__cli_mixture_add_own(m, pdk_contender_confirmed(list, i), pdk_contender_lock_delay_ms(list, i) > 0);
}

void pdk__cli_mixture_say(const struct pdk__cli_mixture *m, struct pdk__cli_mixture *told, const char *path)
{
    if (m->confirmed && m->unconfirmed && !told->confirmed)
        pdk__cli_say("%s: some contenders confirm their grants and some do not: tokens may come out of order", path);
    if (m->delayed && m->undelayed && !told->delayed)
        pdk__cli_say("%s: some contenders have a lock delay and some have none: a lost holder may be followed at once",
                     path);
    if (m->kazoo && !told->kazoo)
        pdk__cli_say("%s: a kazoo Lock or Election contends here, and may hold beside others: see paddock(1), CAVEATS",
                     path);
    told->confirmed = told->confirmed || (m->confirmed && m->unconfirmed);
    told->delayed = told->delayed || (m->delayed && m->undelayed);
    told->kazoo = told->kazoo || m->kazoo;
}
