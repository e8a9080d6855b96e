/*
 * A pipe: messages in one direction, in order, each after a delay of its own. A pipe can be blocked (its messages wait;
 * or they pass, and the messages after them wait) and emptied (its messages are lost).
 */
#ifndef SIM_PIPE_H
#define SIM_PIPE_H

#include "test/sim/agenda.h"

enum { PIPE_MAX = 4096 };

struct message {
    int kind;
    uint64_t a, b;
    const void *body; /* lives as long as the run */
    instant at;
};

struct pipe {
    struct agenda *agenda;
    void (*deliver)(void *receiver, const struct message *m);
    void *receiver;
    const bool *paused; /* the receiver's own; NULL: never */
    bool blocked;
    bool pumping;
    unsigned first, n;
    unsigned passing; /* the number of messages that pass, though it is blocked */
    instant last;
    instant spacing; /* from the delivery before the next message to its own, at least */
    struct message ring[PIPE_MAX];
};

void pipe_init(struct pipe *p, struct agenda *agenda, void (*deliver)(void *, const struct message *), void *receiver,
               const bool *paused);
void pipe_send(struct pipe *p, instant delay, int kind, uint64_t a, uint64_t b, const void *body);
void pipe_empty(struct pipe *p);
void pipe_block(struct pipe *p, bool what_is_in_it_passes);

/* Is a message of this kind in it, with this in the lower half of its A? */
bool pipe_carries(const struct pipe *p, int kind, uint32_t a);

/* Deliver again: the pipe is no longer blocked, or its receiver resumes. */
void pipe_pump(struct pipe *p);

#endif
