/*
 * An agent: a machine of the core at work for a client, as a member of it. The agent feeds events to the machine, and
 * carries out what is alike for all machines: requests that wait or cannot be sent, strays, watches that end, the end.
 * The rest is in the table of its owner: a claim, or a participant of a barrier.
 *
 * All with the client's lock held.
 */
#ifndef PDK__AGENT_H
#define PDK__AGENT_H

#include "lib/core/event.h"
#include "lib/zk/client.h"
#include "lib/zk/member.h"
#include "lib/zk/window.h"
#include "lib/zk/wire.h"

struct pdk__agent;
struct pdk__stray_entry;

/* The machine, and its actions in the hands of the owner. */
struct pdk__agent_machine {
    /* One step. The owner notes here all that it must know of it. */
    void (*step)(struct pdk__agent *a, const struct pdk__event *event, struct pdk__actions *actions);
    int64_t (*wake_ms)(const struct pdk__agent *a);

    /* Send the request of an action that has one. False: nothing was sent, and no reply will come. */
    bool (*put)(struct pdk__agent *a, const struct pdk__action *action);

    /* Of a create or a delete that waits for its turn: does the machine still wait for its reply? And is it sent before
     * others? Deletes are; NULL: nothing else is. */
    bool (*awaits)(const struct pdk__agent *a, uint64_t op);
    bool (*urgent)(const struct pdk__agent *a);

    /* The event in place of the reply to a request that was not sent, if it is known. NULL: none is. */
    bool (*known)(struct pdk__agent *a, const struct pdk__action *action, struct pdk__event *event);

    /* Report an action to the caller. */
    void (*tell)(struct pdk__agent *a, const struct pdk__action *action);

    /* Complete the EVENT of a reply. */
    void (*complete)(struct pdk__agent *a, const struct pdk__wire_reply *reply, struct pdk__event *event);

    /* It has ended, with an error if its node may be left. The agent is not touched again. */
    void (*done)(struct pdk__agent *a, int error);
};

struct pdk__agent {
    struct pdk__member member;
    struct pdk__wire wire;
    struct pdk_client *client;
    const struct pdk__agent_machine *machine;
    const char *path;               /* under which its nodes are; borrowed until done */
    struct pdk__stray_entry *stray; /* memory for a stray, while a create may become one */
    struct pdk__window_entry turn;  /* of a create or a delete that waits */
    struct pdk__action waiting;
    int64_t stepped_ms; /* when the machine took its last event */
};

/* Join C as a member by CALLS, whose `session` is pdk__agent_session(). PDK_ELIMIT, PDK_ECLOSED, or why the session is
 * over: nothing has happened. */
int pdk__agent_join(struct pdk__agent *a, struct pdk_client *c, const struct pdk__agent_machine *machine,
                    const struct pdk__member_calls *calls, const char *path);

/* EVENT need not carry now_ms. The agent may end. */
void pdk__agent_feed(struct pdk__agent *a, struct pdk__event event);
void pdk__agent_session(struct pdk__member *m, const struct pdk__event *event);

/* The request of ACTION was not sent, and no reply will come. */
void pdk__agent_unsent(struct pdk__agent *a, const struct pdk__action *action);

/* Memory for the stray that the next create may become: without it nothing may be created. */
bool pdk__agent_reserve(struct pdk__agent *a);

/* Keep PATH, which is the agent's from now on, in place of *KEPT, and in the index. */
void pdk__agent_keep(struct pdk__agent *a, char **kept, struct pdk__index_entry *entry, char *path);

/* The watch on PATH, which may be NULL, is not wanted any more. */
void pdk__agent_unwatch(struct pdk__agent *a, const char *path);

#endif
