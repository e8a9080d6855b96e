#include "test/sim/agenda.h"
#include <stdio.h>
#include <stdlib.h>

void agenda_clear(struct agenda *a)
{
    a->now = 0;
    a->n = 0;
}

/* Most happenings are added for soon, so few entries are moved. */
void agenda_add(struct agenda *a, instant delay, happening *what, void *subject, uint64_t detail)
{
    if (a->n == AGENDA_MAX) {
        fputs("sim: the agenda is full\n", stderr);
        abort();
    }
    instant at = a->now + delay;
    size_t i = a->n++;
    for (; i > 0 && a->entries[i - 1].at <= at; i--)
        a->entries[i] = a->entries[i - 1];
    a->entries[i] = (struct entry){at, what, subject, detail};
}

bool agenda_next(struct agenda *a, instant end)
{
    if (a->n == 0 || a->entries[a->n - 1].at > end)
        return false;
    struct entry entry = a->entries[--a->n];
    a->now = entry.at;
    entry.what(entry.subject, entry.detail);
    return true;
}
