#include "lib/zk/patrol.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/zk/member.h"

static int64_t pause_ms(const struct pdk_client *c)
{
    unsigned turns = c->n_patrolled < PDK__PATROL_MAX ? c->n_patrolled : PDK__PATROL_MAX;
    return c->session.timeout_ms / (int64_t)turns;
}

static bool connected(const struct pdk_client *c) { return c->session.phase == PDK__SESSION_CONNECTED && !c->closing; }

/* Has it had its turn? It goes to the end of the line. */
static bool next_looks(struct pdk_client *c, unsigned *n_asked)
{
    struct pdk__member *m = PDK__MEMBER(c->members.next, struct pdk__member, link);
    pdk__list_remove(&m->link);
    pdk__list_append(&c->members, &m->link);
    if (m->calls->look_again == NULL)
        return false;
    ++*n_asked;
    return m->calls->look_again(m);
}

/* One that watches something. */
static void look(struct pdk_client *c)
{
    unsigned n_asked = 0;
    while (n_asked < c->n_patrolled && !next_looks(c, &n_asked))
        ;
}

void pdk__patrol_arm(struct pdk_client *c)
{
    if (c->n_patrolled > 0 && connected(c))
        pdk__client_arm(c, c->patrol_ms);
}

void pdk__patrol_join(struct pdk_client *c)
{
    c->n_patrolled++;
    int64_t first_ms = pdk__now_ms() + pause_ms(c);
    if (c->n_patrolled == 1 || first_ms < c->patrol_ms)
        c->patrol_ms = first_ms;
    pdk__patrol_arm(c);
}

void pdk__patrol_tick(struct pdk_client *c)
{
    int64_t now_ms = pdk__now_ms();
    assert(pdk__client_locked(c));
    if (c->n_patrolled > 0 && now_ms >= c->patrol_ms && connected(c)) {
        c->patrol_ms = now_ms + pause_ms(c);
        look(c);
    }
    pdk__patrol_arm(c);
}
