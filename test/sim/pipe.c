#include "test/sim/pipe.h"
#include <stdio.h>
#include <stdlib.h>

static void pump(void *subject, uint64_t detail);

static bool flows(const struct pipe *p)
{
    bool passes = !p->blocked || p->passing > 0;
    return p->n > 0 && passes && (p->paused == NULL || !*p->paused);
}

static void schedule(struct pipe *p)
{
    if (p->pumping || !flows(p))
        return;
    instant at = p->ring[p->first].at;
    p->pumping = true;
    agenda_add(p->agenda, at > p->agenda->now ? at - p->agenda->now : 0, pump, p, 0);
}

static void pump(void *subject, uint64_t detail)
{
    (void)detail;
    struct pipe *p = subject;
    p->pumping = false;
    /* One at a time: a delivery may empty the pipe, or pause its receiver. The pipe may also have been emptied and
     * filled again since this was scheduled. Then its first message is not due yet. */
    if (flows(p) && p->ring[p->first].at <= p->agenda->now) {
        struct message m = p->ring[p->first];
        p->n--;
        p->first = p->n > 0 ? (p->first + 1) % PIPE_MAX : 0; /* what was used last is in the processor's cache */
        p->passing -= p->passing > 0;
        p->deliver(p->receiver, &m);
    }
    schedule(p);
}

void pipe_init(struct pipe *p, struct agenda *agenda, void (*deliver)(void *, const struct message *), void *receiver,
               const bool *paused)
{
    p->agenda = agenda;
    p->deliver = deliver;
    p->receiver = receiver;
    p->paused = paused;
    p->blocked = p->pumping = false;
    p->first = p->n = p->passing = 0;
    p->last = p->spacing = 0;
}

void pipe_send(struct pipe *p, instant delay, int kind, uint64_t a, uint64_t b, const void *body)
{
    if (p->n == PIPE_MAX) {
        fprintf(stderr, "sim: a pipe is full of %d\n", p->ring[p->first].kind);
        abort();
    }
    instant at = p->agenda->now + delay;
    if (at < p->last + p->spacing)
        at = p->last + p->spacing;
    p->last = at;
    p->ring[(p->first + p->n++) % PIPE_MAX] = (struct message){kind, a, b, body, at};
    schedule(p);
}

void pipe_empty(struct pipe *p) { p->n = p->passing = 0; }

void pipe_block(struct pipe *p, bool what_is_in_it_passes)
{
    p->blocked = true;
    p->passing = what_is_in_it_passes ? p->n : 0;
}

bool pipe_carries(const struct pipe *p, int kind, uint32_t a)
{
    for (unsigned i = 0; i < p->n; i++) {
        const struct message *m = &p->ring[(p->first + i) % PIPE_MAX];
        if (m->kind == kind && (uint32_t)m->a == a)
            return true;
    }
    return false;
}

void pipe_pump(struct pipe *p) { schedule(p); }
