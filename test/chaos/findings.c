#include "test/chaos/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void breach(struct findings *f, const char *law, const char *format, ...)
{
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (f->n_breaches < TEXTS_MAX)
        snprintf(f->breach[f->n_breaches], sizeof f->breach[0], "%s: %s", law, text);
    f->n_breaches++;
}

void note(struct findings *f, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (f->n_notes < TEXTS_MAX)
        vsnprintf(f->note[f->n_notes], sizeof f->note[0], format, args);
    f->n_notes++;
    va_end(args);
}

void sample(struct samples *s, int64_t ns)
{
    *(int64_t *)evidence_grow((void **)&s->ns, &s->n, &s->cap, sizeof ns) = ns;
}

void count_known(struct findings *f, enum known known, int64_t ns)
{
    f->n_known[known]++;
    if (ns > f->longest_known_ns[known])
        f->longest_known_ns[known] = ns;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int64_t quantile(struct samples *s, int per_mille)
{
    if (s->n == 0)
        return 0;
    qsort(s->ns, s->n, sizeof *s->ns, by_value);
    return s->ns[(s->n - 1) * (size_t)per_mille / 1000];
}

void findings_free(struct findings *f)
{
    free(f->hand_over.ns);
    free(f->calm_hand_over.ns);
    free(f->deadline.ns);
    free(f->margin.ns);
    free(f->regrant.ns);
    free(f->lateness.ns);
    *f = (struct findings){0};
}

const char *known_name(enum known known)
{
    static const char *const names[N_KNOWN] = {
        "belief outlived the node: deleted, or its session ended, by somebody's order",
        "the node outlived its unlock: a deposed leader had told the client that its session was over",
        "leftovers, and waiters not served: a server has lost a committed transaction, and its data differ"};
    return names[known];
}

const char *who(const struct evidence *e, const struct request *r)
{
    static char text[4][96];
    static int turn;
    const struct process *p = &e->processes.list[r->process];
    char *to = text[turn = (turn + 1) % 4];
    snprintf(to, sizeof text[0], "client %d.%d (pid %d), request %d (%s)", p->place, p->generation, (int)p->pid,
             r->number, recipe_name(r->recipe));
    return to;
}

double at(const struct evidence *e, int64_t ns) { return ns == NEVER ? -1 : (double)(ns - e->begin_ns) / 1e9; }

static void count(const struct evidence *e, struct tally *t)
{
    *t = (struct tally){.seconds = at(e, e->end_ns),
                        .processes = e->processes.n,
                        .requests = e->requests.n,
                        .grants = e->n_grants,
                        .nodes = e->truth.n,
                        .txns = e->truth.n_txns,
                        .discarded = e->truth.n_discarded};
    for (size_t i = 0; i < e->strikes.n; i++)
        t->faults[e->strikes.list[i].id] += e->strikes.list[i].took;
    for (size_t i = 0; i < e->n_grants; i++)
        t->granted[e->requests.list[e->grants[i]].recipe]++;
}

const char *judge_holders(const struct evidence *e)
{
    static struct findings f;
    f = (struct findings){0};
    law_belief(e, &f);
    law_return(e, &f);
    law_tokens(e, &f);
    return f.n_breaches > 0 ? f.breach[0] : NULL;
}

void judge_evidence(const struct evidence *e, struct findings *f)
{
    count(e, &f->tally);
    law_belief(e, f);
    law_tokens(e, f);
    law_origins(e, f);
    law_outcomes(e, f);
    law_order(e, f);
    law_nodes(e, f);
    law_turns(e, f);
    law_service(e, f);
    law_deadline(e, f);
    law_margins(e, f);
    law_jobs(e, f);
}
