/* The users lock, hold, and unlock. Some try, some have a deadline, some cancel. */
#include "test/sim/world.h"

enum { SPRINTS_MAX = 60 };

static instant ms(int64_t n) { return n * 1000; }

/* Mostly short, sometimes long. */
static int a_while(struct world *w, int least, int most)
{
    return between(&w->random, least, chance(&w->random, 700) ? least + most / 20 : most);
}

/* The claim that an agenda entry of the user is about. */
static uint64_t about(const struct user *u) { return u->claim >= 0 ? u->client->claims[u->claim].number : 0; }

static struct claim *claim_about(struct user *u, uint64_t number)
{
    struct claim *claim = u->claim >= 0 ? &u->client->claims[u->claim] : NULL;
    return claim != NULL && claim->used && claim->number == number ? claim : NULL;
}

static void contend(void *subject, uint64_t detail);

static void rest(struct user *u)
{
    struct world *w = u->client->world;
    if (u->sprints && w->healed)
        u->rounds = 0;
    u->claim = -1;
    agenda_add(&w->agenda, ms(between(&w->random, 1, u->sprints ? 20 : 300)), contend, u, 0);
}

static void let_go(struct user *u, struct claim *claim)
{
    claim->released = true;
    client_feed(claim, (struct pdk__event){.kind = PDK__EV_RELEASE});
    u->rounds--;
    rest(u);
}

/* A stopped process does nothing; it continues with this when it resumes. */
static bool postponed(struct user *u, happening *what, uint64_t detail)
{
    if (u->client->paused && !u->client->dead)
        agenda_add(&u->client->world->agenda, ms(20), what, u, detail);
    return u->client->paused;
}

static void unlock(void *subject, uint64_t number)
{
    struct user *u = subject;
    if (u->client->dead || postponed(u, unlock, number))
        return;
    client_heed(u->client);
    struct claim *claim = claim_about(u, number);
    if (claim == NULL)
        return;
    STORY(u->client->world, "client %d claim %llu: unlocks", u->client->id, (unsigned long long)claim->number);
    let_go(u, claim);
}

static void lose_patience(void *subject, uint64_t number)
{
    struct user *u = subject;
    struct claim *claim = claim_about(u, number);
    if (claim == NULL || claim->settled > 0 || u->client->dead || postponed(u, lose_patience, number))
        return;
    STORY(u->client->world, "client %d claim %llu: gives up", u->client->id, (unsigned long long)claim->number);
    see(SIGHT_CANCELLED);
    claim->settled++; /* the caller's cancellation is the outcome */
    let_go(u, claim);
}

static void contend(void *subject, uint64_t detail)
{
    struct user *u = subject;
    struct world *w = u->client->world;
    if (u->client->dead || u->rounds <= 0 || postponed(u, contend, detail))
        return;
    client_heed(u->client);
    struct claim *claim = client_claim(u->client, u->index,
                                       u->sprints ? w->n_paths - 1 : below(&w->random, w->n_paths));
    if (claim == NULL) { /* all are still cleaning up */
        rest(u);
        return;
    }
    u->claim = claim->index;
    struct pdk__event event = {.kind = PDK__EV_ACQUIRE, .deadline_ms = PDK__NEVER};
    int kind = w->healed ? 0 : below(&w->random, 10);
    event.try_only = kind == 9;
    if (kind >= 6 && kind < 9)
        event.deadline_ms = client_now_ms(u->client) + a_while(w, 20, 4000);
    STORY(w, "client %d claim %llu: %s on path %d", u->client->id, (unsigned long long)claim->number,
          event.try_only ? "tries"
          : kind >= 6    ? "asks, for a while,"
                         : "asks",
          claim->path);
    uint64_t number = claim->number;
    client_feed(claim, event);
    if (kind == 5 && claim->used && claim->number == number && claim->settled == 0)
        agenda_add(&w->agenda, ms(a_while(w, 1, 1500)), lose_patience, u, number);
}

void user_granted(struct claim *claim)
{
    struct user *u = &claim->client->users[claim->user];
    struct world *w = claim->client->world;
    int hold_ms = a_while(w, 1, w->calm && !w->healed ? 8000 : 3000);
    if (u->sprints)
        hold_ms = between(&w->random, 1, 10);
    else if (w->tense && !w->healed && chance(&w->random, 700))
        hold_ms = between(&w->random, 1000, 8000);
    agenda_add(&w->agenda, ms(hold_ms), unlock, u, about(u));
}

void user_failed(struct claim *claim)
{
    struct user *u = &claim->client->users[claim->user];
    if (u->claim != claim->index)
        return; /* it was given up */
    u->rounds--;
    rest(u);
}

void user_lost(struct claim *claim)
{
    struct user *u = &claim->client->users[claim->user];
    if (u->claim != claim->index)
        return;
    u->rounds--;
    rest(u);
}

void user_begin(struct user *u)
{
    struct random *r = &u->client->world->random;
    u->sprints = u->index == 1 && u->client->world->sprints;
    u->rounds = u->sprints ? between(r, 1, SPRINTS_MAX) : between(r, 1, 4);
    rest(u);
}
