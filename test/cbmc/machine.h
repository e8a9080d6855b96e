/*
 * The proofs of the machines share this: times, short names, any event, and the actions of a step by their kind, which
 * needs no index that may be any. It is included once, by the proof.
 */
#ifndef MACHINE_H
#define MACHINE_H

#include "lib/core/event.h"
#include "lib/core/retry.h"
#include "test/cbmc/prove.h"
#include <string.h>

/* The part of the proof is a kind of event. */
#define KIND PART_OF(PDK__EV_)

/* A clock in milliseconds for longer than thirty million years, and what is added to it. */
#define NOW_MAX (INT64_C(1) << 60)
#define LATER_MAX (NOW_MAX + INT_MAX)

static int64_t any_time_ms(void) { return any_between(0, NOW_MAX); }

/* A variable of an enum type whose last value is LAST. */
#define ANY(last) any_between(0, last)

/* A random delay is any that its own proof leaves open. */
void pdk__retry_init(struct pdk__retry *r, uint64_t seed) { r->random = seed; }

int64_t pdk__retry_delay_ms(struct pdk__retry *r, int64_t floor_ms, int64_t ceiling_ms)
{
    return any_between(floor_ms, floor_ms + ceiling_ms);
}

void pdk__retry_reset(struct pdk__retry *r) { r->failures = 0; }

/* --- names ------------------------------------------------------------------------------------------------------- */

/* Names are short: a machine only compares them. */
enum { SHORT = 2 };

static char child[SHORT + 1], second[SHORT + 1];
static const char *const children[] = {child, second};

static void any_text(char text[SHORT + 1])
{
    for (int i = 0; i < SHORT; i++)
        text[i] = nondet_char();
    text[SHORT] = '\0';
}

static void any_children(void)
{
    any_text(child);
    any_text(second);
    ASSUME(child[0] != '\0' && second[0] != '\0');
}

char *strncpy(char *to, const char *from, size_t n)
{
    for (int i = 0; i <= SHORT; i++)
        to[i] = from[i];
    return to;
}

int strcmp(const char *a, const char *b)
{
    for (int i = 0; i <= SHORT; i++)
        if (a[i] != b[i] || a[i] == '\0')
            return a[i] - b[i];
    return 0;
}

/* --- the actions, by kind: that each comes at most once is proved, too -------------------------------------------- */

#define pdk__actions_add unused_actions_add
#include "lib/core/event.c"
#undef pdk__actions_add

static struct pdk__action actions[PDK__ACT_DONE + 1];
static int place[PDK__ACT_DONE + 1]; /* from 1 */

struct pdk__action *pdk__actions_add(struct pdk__actions *out, struct pdk__action action)
{
    PROVE(out->n < PDK__ACTIONS_MAX, "a step has so many actions at most");
    PROVE(place[action.kind] == 0, "a step has one action of a kind at most");
    place[action.kind] = (int)++out->n;
    actions[action.kind] = action;
    return &actions[action.kind];
}

static bool acted(enum pdk__action_kind kind) { return place[kind] > 0; }

/* --- events ------------------------------------------------------------------------------------------------------ */

static struct pdk__event any_event(enum pdk__event_kind kind)
{
    static char name[SHORT + 1];
    any_text(name);
    return (struct pdk__event){.kind = kind,
                               .now_ms = any_time_ms(),
                               .op = nondet_uint64(),
                               .outcome = ANY(PDK__CHANGED),
                               .error = any_between(INT_MIN, 0),
                               .try_only = nondet_bool(),
                               .deleted = nondet_bool(),
                               .first = nondet_bool(),
                               .revoked = nondet_bool(),
                               .has_children = nondet_bool(),
                               .deadline_ms = nondet_bool() ? PDK__NEVER : any_time_ms(),
                               .session = nondet_int64(),
                               .timeout_ms = any_between(0, INT_MAX),
                               .owner = nondet_int64(),
                               .token = nondet_int64(),
                               .version = nondet_int(),
                               .name = nondet_bool() ? name : NULL,
                               .children = children,
                               .n_children = any_between(0, 2)};
}

#endif
