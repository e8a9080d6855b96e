/*
 * A barrier keeps its word. A member has entered: at one moment of the call its node and the word "ready" were there,
 * which was created after it had come, by a member that had seen the nodes of enough members and no "ready" of a round
 * before. Fewer than enough came before it; one that is refused came after enough of them. A member has left: its node
 * is gone, and so are those of all members that came before the "ready" of its round. A wait has ended, a barrier was
 * set, or removed: at one moment of the call it was not there, or was, or was not.
 */
#include "test/sim/laws.h"
#include <string.h>

#define READY "ready"

static bool is_of(const struct world *w, const struct node *node, const struct client *c)
{
    return node->owner >= 0 && w->session_client[node->owner] == c->id;
}

/* Its node is there, and the word, or enough members. */
static void look_inside(const struct world *w, struct attendant *a)
{
    const struct dir *dir = &w->ensemble.truth.dirs[MEETING_PATH];
    const struct node *own = NULL, *ready = NULL;
    int members = 0, older = 0;
    for (int i = 0; i < dir->n; i++) {
        if (is_of(w, &dir->nodes[i], a->client))
            own = &dir->nodes[i];
        else if (strcmp(dir->nodes[i].name, READY) == 0)
            ready = &dir->nodes[i];
        members += dir->nodes[i].owner >= 0;
    }
    for (int i = 0; i < dir->n && own != NULL; i++)
        older += dir->nodes[i].owner >= 0 && dir->nodes[i].czxid < own->czxid;
    if (own != NULL && a->came == 0)
        a->came = own->czxid;
    bool old = own != NULL && ready != NULL && ready->czxid < a->came;
    if (own != NULL && ready != NULL && !old && a->round == 0)
        a->round = ready->czxid;
    a->enough |= own != NULL && members >= w->members && !old;
    a->met |= a->round != 0;
    a->room |= own != NULL && older < w->members;
    a->crowded |= older >= w->members;
}

static void look(struct world *w, struct attendant *a)
{
    bool set = w->ensemble.truth.dirs[BARRIER_PATH].n > 0;
    if (a->task == TASK_ENTER)
        look_inside(w, a);
    else if (a->task != TASK_LEAVE)
        a->met |= set == (a->task == TASK_SET);
}

/* The word may come late: it is judged when it is sent. */
void law_barriers_word(struct client *c)
{
    if (!c->attendants[0].enough)
        world_break(c->world, law_barriers.name, "client %d lets all in, and there are not enough", c->id);
}

static void committed(struct world *w, const struct txn *txn)
{
    (void)txn;
    for (int i = 0; i < w->n_clients && w->members > 0; i++)
        for (int j = 0; j < ATTENDANTS; j++)
            if (w->clients[i].attendants[j].calls)
                look(w, &w->clients[i].attendants[j]);
}

void law_barriers_begin(struct attendant *a, enum barrier_task task)
{
    struct world *w = a->client->world;
    a->task = task;
    a->calls = true;
    a->met = false;
    if (task == TASK_ENTER) {
        a->enough = a->room = a->crowded = false;
        a->came = a->round = 0;
    }
    look(w, a);
}

/* A member that was there has not left. */
static void judge_left(struct world *w, const struct attendant *a)
{
    const struct dir *dir = &w->ensemble.truth.dirs[MEETING_PATH];
    for (int i = 0; i < dir->n; i++)
        if (dir->nodes[i].owner < 0 || dir->nodes[i].czxid > a->round)
            continue;
        else if ((w->ending >> dir->nodes[i].owner & 1) != 0)
            excuse(EXCUSE_ENDING_NODE);
        else
            world_break(w, law_barriers.name, "client %d has left, and %s is there", a->client->id, dir->nodes[i].name);
}

void law_barriers_end(struct attendant *a, int rc)
{
    struct world *w = a->client->world;
    a->calls = false;
    a->ended = w->agenda.now;
    if (a->task == TASK_ENTER && ((rc == 0 && !a->room) || (rc == PDK_EBUSY && !a->crowded)))
        world_break(w, law_barriers.name, "client %d is answered %d, and there is %s room", a->client->id, rc,
                    rc == 0 ? "no" : "still");
    if (rc == 0 && a->task == TASK_LEAVE)
        judge_left(w, a);
    else if (rc == 0 && !a->met)
        world_break(w, law_barriers.name, "client %d is answered 0, and task %d was not done", a->client->id,
                    (int)a->task);
}

const struct law law_barriers = {.name = "barriers", .committed = committed};
