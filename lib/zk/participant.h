/*
 * A participant of a barrier: a machine of lib/core/barrier.h or lib/core/double_barrier.h at work for a client, by an
 * agent. It owns the machine, sends its requests, and reports to a listener.
 */
#ifndef PDK__PARTICIPANT_H
#define PDK__PARTICIPANT_H

#include "lib/core/barrier.h"
#include "lib/core/double_barrier.h"
#include "lib/zk/agent.h"

struct pdk__participant;
struct pdk__participant_machine;

/* Called with the client's lock held; must not call back into the participant. After done() it is not touched again. */
struct pdk__participant_listener {
    void (*entered)(struct pdk__participant *p);
    void (*failed)(struct pdk__participant *p, int rc);
    void (*lost)(struct pdk__participant *p);
    void (*done)(struct pdk__participant *p, int rc); /* the last call, always */
};

struct pdk__participant {
    struct pdk__agent agent;
    const struct pdk__participant_listener *listener;
    const struct pdk__participant_machine *kind;
    union {
        struct pdk__barrier barrier;
        struct pdk__double_barrier double_barrier;
    } machine;
    struct pdk__node_data data;    /* of the nodes that it creates; borrowed until done */
    char *watched;                 /* the path of the node that was read last */
    struct pdk__index_entry entry; /* of it */
    bool watching;                 /* it was asked for, and its removal was not */
    char **names;                  /* of the last listing, while a member asks for the others' ages; or NULL */
    size_t n_names;
};

/* A request of the caller. */
struct pdk__participant_wish {
    bool once; /* look, and do not wait */
    int64_t deadline_ms;
};

/*
 * Begin, with the client's lock held. PATH and DATA are borrowed until done. The listener is notified later or from
 * inside the call. PDK_ELIMIT, PDK_ECLOSED, or why the session is over: the listener is never called.
 */
int pdk__participant_call(struct pdk__participant *p, struct pdk_client *c,
                          const struct pdk__participant_listener *listener, const char *path,
                          struct pdk__node_data data, enum pdk__barrier_task task,
                          const struct pdk__participant_wish *wish);
int pdk__participant_enter(struct pdk__participant *p, struct pdk_client *c,
                           const struct pdk__participant_listener *listener, const char *path,
                           struct pdk__node_data data, size_t count, const struct pdk__participant_wish *wish);

/* It leaves; or, before it has entered, and while it leaves, the caller waits no more. WISH may be NULL for the
 * latter. */
void pdk__participant_release(struct pdk__participant *p, const struct pdk__participant_wish *wish);

/* Time has passed; and when that is next of use, PDK__NEVER for never. */
void pdk__participant_tick(struct pdk__participant *p);
int64_t pdk__participant_wake_ms(const struct pdk__participant *p);

#endif
