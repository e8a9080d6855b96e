/*
 * The agenda: a queue of happenings in virtual time. Happenings of one instant run in the order in which they were
 * added, so a schedule is the same every time.
 */
#ifndef SIM_AGENDA_H
#define SIM_AGENDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Microseconds of virtual time. */
typedef int64_t instant;

typedef void happening(void *subject, uint64_t detail);

struct entry {
    instant at;
    happening *what;
    void *subject;
    uint64_t detail;
};

enum { AGENDA_MAX = 4096 };

struct agenda {
    instant now;
    size_t n;
    struct entry entries[AGENDA_MAX]; /* the last is the next */
};

void agenda_clear(struct agenda *a);

/* WHAT happens to SUBJECT after DELAY. */
void agenda_add(struct agenda *a, instant delay, happening *what, void *subject, uint64_t detail);

/* Run the next happening; false when there is none before END. */
bool agenda_next(struct agenda *a, instant end);

#endif
