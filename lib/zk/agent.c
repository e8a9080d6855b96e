#include "lib/zk/agent.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/zk/request.h"
#include "lib/zk/stray.h"

static struct pdk__agent *agent_of(struct pdk__member *m) { return PDK__MEMBER(m, struct pdk__agent, member); }

/* --- what it keeps ----------------------------------------------------------------------------------------------- */

bool pdk__agent_reserve(struct pdk__agent *a)
{
    if (a->stray == NULL)
        a->stray = pdk__stray_reserve(a->path);
    return a->stray != NULL;
}

void pdk__agent_keep(struct pdk__agent *a, char **kept, struct pdk__index_entry *entry, char *path)
{
    pdk__index_note(&a->client->index, entry, &a->member, path);
    pdk__free(*kept);
    *kept = path;
}

/* An adopted handle may have watches of the application on the same node, and only all watches of a path can be
 * removed. */
void pdk__agent_unwatch(struct pdk__agent *a, const char *path)
{
    if (path != NULL && !a->client->adopted && !pdk__members_watch(a->client, path, &a->member))
        pdk__request_unwatch(a->client, path);
}

/* --- actions ----------------------------------------------------------------------------------------------------- */

/* Part of a request may have been sent, so the outcome is unknown. */
static struct pdk__event unsent(const struct pdk__action *action)
{
    static const enum pdk__event_kind reply[] = {
        [PDK__ACT_CREATE] = PDK__EV_CREATED,
        [PDK__ACT_PARENTS] = PDK__EV_MADE_PARENTS,
        [PDK__ACT_BARRIER] = PDK__EV_BARRIER,
        [PDK__ACT_LIST] = PDK__EV_LISTED,
        [PDK__ACT_IDENTIFY] = PDK__EV_IDENTIFIED,
        [PDK__ACT_WATCH] = PDK__EV_WATCHED,
        [PDK__ACT_OWN] = PDK__EV_OWN,
        [PDK__ACT_CONFIRM] = PDK__EV_CONFIRMED,
        [PDK__ACT_READ_RECORD] = PDK__EV_RECORD_READ,
        [PDK__ACT_RECORD] = PDK__EV_RECORDED,
        [PDK__ACT_RIVALS] = PDK__EV_RIVALS,
        [PDK__ACT_DELETE] = PDK__EV_DELETED,
    };
    return (struct pdk__event){.kind = reply[action->kind], .op = action->op, .outcome = PDK__UNKNOWN};
}

void pdk__agent_unsent(struct pdk__agent *a, const struct pdk__action *action)
{
    struct pdk__event event;
    bool known = a->machine->known != NULL && a->machine->known(a, action, &event);
    pdk__agent_feed(a, known ? event : unsent(action));
}

/* The machine may have gone on without it. */
static void take_turn(struct pdk__window_entry *turn)
{
    struct pdk__agent *a = PDK__MEMBER(turn, struct pdk__agent, turn);
    struct pdk__action action = a->waiting;
    if (a->machine->awaits(a, action.op) && !a->machine->put(a, &action))
        pdk__agent_unsent(a, &action);
}

static bool is_urgent(const struct pdk__agent *a, const struct pdk__action *action)
{
    return action->kind == PDK__ACT_DELETE || (a->machine->urgent != NULL && a->machine->urgent(a));
}

/* Send the request of an action that has one. False: nothing was sent, and no reply will come. */
static bool put(struct pdk__agent *a, const struct pdk__action *action)
{
    bool changes = action->kind == PDK__ACT_CREATE || action->kind == PDK__ACT_DELETE;
    if (!changes || pdk__window_open(a->client))
        return a->machine->put(a, action);
    a->waiting = *action; /* a name in it is the machine's own */
    pdk__window_wait(a->client, &a->turn, is_urgent(a, action));
    return true;
}

/* Without memory for a stray no create was sent. */
static void keep_stray(struct pdk__agent *a, uint32_t attempt)
{
    assert(attempt != 0);
    if (a->stray != NULL)
        pdk__stray_keep(a->client, a->stray, attempt);
    a->stray = NULL;
}

static void finish(struct pdk__agent *a, int error)
{
    pdk__wire_end(&a->wire);
    pdk__member_leave(a->client, &a->member);
    pdk__free(a->stray);
    a->stray = NULL;
    pdk__list_remove(&a->turn.link);
    a->machine->done(a, error);
}

static void tell(struct pdk__agent *a, const struct pdk__action *action)
{
    assert(action->kind != PDK__ACT_FAILED || action->error != 0);
    if (action->kind == PDK__ACT_STRAY)
        keep_stray(a, action->attempt);
    else if (action->kind == PDK__ACT_DONE)
        finish(a, action->error);
    else
        a->machine->tell(a, action);
}

void pdk__agent_feed(struct pdk__agent *a, struct pdk__event event)
{
    struct pdk__actions actions, failed = {0};
    assert(pdk__client_locked(a->client) && a->member.calls != NULL); /* it is not done */
    event.now_ms = a->stepped_ms = pdk__now_ms();
    a->machine->step(a, &event, &actions);
    pdk__client_arm(a->client, a->machine->wake_ms(a));
    for (size_t i = 0; i < actions.n; i++) {
        struct pdk__action *action = &actions.list[i];
        if (!put(a, action))
            failed.list[failed.n++] = *action;
        tell(a, action);
    }
    for (size_t i = 0; i < failed.n; i++) /* a machine that waits for a reply is not done, so the agent still exists */
        pdk__agent_unsent(a, &failed.list[i]);
}

void pdk__agent_session(struct pdk__member *m, const struct pdk__event *event) { pdk__agent_feed(agent_of(m), *event); }

/* Strays are told first, because the agent may end with its event. */
static void replied(struct pdk__wire *wire, const struct pdk__wire_reply *reply)
{
    struct pdk__agent *a = PDK__MEMBER(wire, struct pdk__agent, wire);
    struct pdk__event event = reply->event;
    assert(event.op != 0);
    if (event.children != NULL && event.outcome == PDK__OK)
        pdk__stray_listed(a->client, a->path, event.children, event.n_children);
    a->machine->complete(a, reply, &event);
    pdk__agent_feed(a, event);
}

/* --- its beginning ----------------------------------------------------------------------------------------------- */

int pdk__agent_join(struct pdk__agent *a, struct pdk_client *c, const struct pdk__agent_machine *machine,
                    const struct pdk__member_calls *calls, const char *path)
{
    int rc = pdk__member_may_join(c, path);
    if (rc != 0)
        return rc;
    assert(path[0] == '/');
    *a = (struct pdk__agent){.client = c, .machine = machine, .path = path, .turn.send = take_turn};
    pdk__list_init(&a->turn.link);
    pdk__wire_begin(&a->wire, c, replied);
    pdk__member_join(c, &a->member, calls, path);
    return 0;
}
