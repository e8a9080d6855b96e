#include "lib/zk/patrol.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/zk/member.h"

static int64_t pause_ms(const struct pdk_client *c)
{
    unsigned turns = c->patrol.n < PDK__PATROL_MAX ? c->patrol.n : PDK__PATROL_MAX;
    return c->session.timeout_ms / (int64_t)turns;
}

static bool connected(const struct pdk_client *c) { return c->session.phase == PDK__SESSION_CONNECTED && !c->closing; }

/* Has it had its turn? It goes to the end of the line. */
static bool next_looks(struct pdk_client *c, unsigned *n_asked)
{
    struct pdk__member *m = PDK__MEMBER(c->members.list.next, struct pdk__member, link);
    pdk__list_remove(&m->link);
    pdk__list_append(&c->members.list, &m->link);
    if (m->calls->look_again == NULL)
        return false;
    ++*n_asked;
    return m->calls->look_again(m);
}

/* One that watches something. */
static void look(struct pdk_client *c)
{
    unsigned n_asked = 0;
    while (n_asked < c->patrol.n && !next_looks(c, &n_asked))
        ;
}

void pdk__patrol_arm(struct pdk_client *c)
{
    if (c->patrol.n > 0 && connected(c))
        pdk__client_arm(c, c->patrol.at_ms);
}

void pdk__patrol_join(struct pdk_client *c)
{
    c->patrol.n++;
    int64_t first_ms = pdk__now_ms() + pause_ms(c);
    if (c->patrol.n == 1 || first_ms < c->patrol.at_ms)
        c->patrol.at_ms = first_ms;
    pdk__patrol_arm(c);
}

void pdk__patrol_tick(struct pdk_client *c)
{
    int64_t now_ms = pdk__now_ms();
    assert(pdk__client_locked(c));
    if (c->patrol.n > 0 && now_ms >= c->patrol.at_ms && connected(c)) {
        c->patrol.at_ms = now_ms + pause_ms(c);
        look(c);
    }
    pdk__patrol_arm(c);
}
