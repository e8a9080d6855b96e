#include "test/sim/agenda.h"
#include <stdio.h>
#include <stdlib.h>

void agenda_clear(struct agenda *a)
{
    a->now = 0;
    a->orders = 0;
    a->n = 0;
}

static bool sooner(const struct entry *a, const struct entry *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

void agenda_add(struct agenda *a, instant delay, happening *what, void *subject, uint64_t detail)
{
    if (a->n == AGENDA_MAX) {
        fputs("sim: the agenda is full\n", stderr);
        abort();
    }
    struct entry entry = {a->now + delay, a->orders++, what, subject, detail};
    size_t i = a->n++;
    for (; i > 0 && sooner(&entry, &a->heap[(i - 1) / 2]); i = (i - 1) / 2)
        a->heap[i] = a->heap[(i - 1) / 2];
    a->heap[i] = entry;
}

static struct entry take(struct agenda *a)
{
    struct entry first = a->heap[0], last = a->heap[--a->n];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < a->n; i = child) {
        if (child + 1 < a->n && sooner(&a->heap[child + 1], &a->heap[child]))
            child++;
        if (!sooner(&a->heap[child], &last))
            break;
        a->heap[i] = a->heap[child];
    }
    a->heap[i] = last;
    return first;
}

bool agenda_next(struct agenda *a, instant end)
{
    if (a->n == 0 || a->heap[0].at > end)
        return false;
    struct entry entry = take(a);
    a->now = entry.at;
    entry.what(entry.subject, entry.detail);
    return true;
}
