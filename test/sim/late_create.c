/*
 * A create that lands late, brought about as test/integration/test_late_create.c does it on real servers. A follower
 * has been asked twice for one session, and the answer to its first question has let the client go on. The client's
 * create comes after the second question on the link, and waits there until the client has looked for its node by
 * another server.
 */
#include "test/sim/world.h"
#include <stdio.h>

enum { LOOK_US = 500 };

static const struct pipe *link_up(const struct world *w) { return &w->ensemble.links[w->late.server][w->late.leader]; }

static const struct pipe *link_down(const struct world *w)
{
    return &w->ensemble.links[w->late.leader][w->late.server];
}

static bool follows(const struct server *s, int leader)
{
    const struct server *l = &s->e->servers[leader];
    return s->state == SERVER_FOLLOWING && s->following == leader && l->state == SERVER_LEADING &&
           l->acked[s->id] >= 0 && !s->paused && !l->paused;
}

static bool goes_on(const struct world *w)
{
    const struct client *c = w->late.client;
    return !w->healed && w->agenda.now < w->late.until && link_up(w)->n < PIPE_MAX / 2 && !c->dead &&
           c->io != IO_IDLE && c->session == w->late.session &&
           follows(&w->ensemble.servers[w->late.server], w->late.leader);
}

static void end(struct world *w)
{
    w->late.stage = LATE_NOT;
    ensemble_mend(&w->ensemble, w->late.server, w->late.leader);
    ensemble_mend(&w->ensemble, w->late.leader, w->late.server);
}

/* The client loses its connection, and tries the same server next. The server gets what was sent to it. */
static void come_again(struct world *w)
{
    int n = w->ensemble.n;
    client_cut(w->late.client, true, false, true);
    w->late.client->server = (w->late.server + n - 1) % n;
}

/* The client has not found the node. */
static bool looked_for(const struct world *w)
{
    const struct client *c = w->late.client;
    for (int i = 0; i < c->n_strays; i++)
        if (c->strays[i].machine != NULL && pdk__name_is(w->late.name, c->strays[i].session, c->strays[i].attempt))
            return true;
    return false;
}

static void proceed(struct world *w)
{
    uint32_t session = (uint32_t)w->late.session;
    if (w->late.stage == LATE_ASKED && pipe_carries(link_down(w), LINK_REVALIDATED, session)) {
        w->late.stage = LATE_ASKED_TWICE;
        ensemble_cut(&w->ensemble, w->late.server, w->late.leader, false);
        come_again(w);
    } else if (w->late.stage == LATE_ASKED_TWICE && pipe_carries(link_up(w), LINK_REVALIDATE, session)) {
        w->late.stage = LATE_ANSWERED;
        ensemble_mend(&w->ensemble, w->late.leader, w->late.server);
    } else if (w->late.stage == LATE_CREATED && looked_for(w)) {
        end(w);
    }
}

static void look(void *subject, uint64_t detail)
{
    struct world *w = subject;
    (void)detail;
    if (goes_on(w))
        proceed(w);
    else
        end(w);
    if (w->late.stage != LATE_NOT)
        agenda_add(&w->agenda, LOOK_US, look, w, 0);
}

bool late_create_may_begin(const struct world *w, const struct client *c)
{
    const struct ensemble *e = &w->ensemble;
    return w->late.stage == LATE_NOT && e->leader >= 0 && c->io == IO_CONNECTED &&
           follows(&e->servers[c->server], e->leader) && !e->links[c->server][e->leader].blocked &&
           !e->links[e->leader][c->server].blocked;
}

void late_create_begin(struct world *w, struct client *c)
{
    const struct ensemble *e = &w->ensemble;
    w->late.stage = LATE_ASKED;
    w->late.client = c;
    w->late.session = c->session;
    w->late.server = c->server;
    w->late.leader = e->leader;
    w->late.until = w->agenda.now + w->session_ms * 1000;
    ensemble_cut(&w->ensemble, w->late.leader, w->late.server, true);
    come_again(w);
    agenda_add(&w->agenda, LOOK_US, look, w, 0);
}

void late_create_sent(struct world *w, struct client *c, const struct request *r)
{
    if (w->late.stage != LATE_ANSWERED || c != w->late.client || c->server != w->late.server || r->kind != REQ_CREATE)
        return;
    w->late.stage = LATE_CREATED;
    snprintf(w->late.name, sizeof w->late.name, "%.40s0000000000", r->name); /* as its node might be called */
    client_cut(c, true, false, true);
}
