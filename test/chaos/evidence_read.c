#include "test/chaos/evidence.h"

#include "test/lib/history.h"
#include <dirent.h>
#include <limits.h>
#include <paddock/mutex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- a client's history ------------------------------------------------------------------------------------------ */

static void ask(struct evidence *e, int process, const struct record *r)
{
    PUSH(&e->requests) = (struct request){.process = process,
                                          .number = r->kind,
                                          .way = r->rc,
                                          .recipe = recipe_by_name(r->node),
                                          .n_wanted = (int)r->session,
                                          .timeout_ms = r->token,
                                          .asked_ns = r->ns,
                                          .answered_ns = NEVER,
                                          .lost_ns = NEVER,
                                          .unlocking_ns = NEVER,
                                          .unlocked_ns = NEVER};
}

static void answer(struct request *q, const struct record *r)
{
    if (q->n_answers++ > 0)
        return;
    q->answered_ns = r->ns;
    q->rc = r->rc;
    q->token = r->token;
    q->session = r->session;
    q->valid_ms = r->valid_ms;
    snprintf(q->node, sizeof q->node, "%.55s", r->node);
}

static bool is_of_job(const struct record *r) { return r->event >= JOB_BEGINS && r->event <= JOB_ENDED; }

static void follow_job(struct job_run *job, const struct record *r)
{
    if (r->event == JOB_BEGINS) {
        int n = job->n_begins;
        *job = (struct job_run){.n_begins = n + 1,
                                .period_ms = r->valid_ms,
                                .begins_ns = r->ns,
                                .begun_ns = NEVER,
                                .ends_ns = NEVER,
                                .ended_ns = NEVER};
        memcpy(job->key, r->node, sizeof job->key);
    } else if (r->event == JOB_BEGUN) {
        job->begun_ns = r->ns;
        job->begun_rc = r->rc;
    } else if (r->event == JOB_ENDS) {
        job->ends_ns = r->ns;
        job->status = r->rc;
    } else {
        job->ended_ns = r->ns;
        job->ended_rc = r->rc;
    }
}

static void add_part(struct request *q, const struct record *r)
{
    if (q->n_parts == PARTS_MAX || (unsigned)r->rc >= N_LANES)
        return; /* then there are fewer than were asked for */
    struct part *p = &q->parts[q->n_parts++];
    *p = (struct part){.lane = (enum lane)r->rc, .token = r->token};
    snprintf(p->node, sizeof p->node, "%.55s", r->node);
}

/* Mostly the last one. A writer reads before it returns the write lock, and threads ask at the same time. */
static struct request *find_request(struct evidence *e, size_t first, int number)
{
    for (size_t i = e->requests.n; i-- > first;)
        if (e->requests.list[i].number == number)
            return &e->requests.list[i];
    return NULL;
}

static void follow(struct evidence *e, int process, size_t first, const struct record *r)
{
    struct request *q = find_request(e, first, r->kind);
    if (r->event == ENDED)
        e->processes.list[process].ended_ns = r->ns;
    else if (q == NULL)
        e->processes.list[process].n_strays++;
    else if (r->event == GRANTED || r->event == FAILED)
        answer(q, r);
    else if (is_of_job(r))
        follow_job(&q->job, r);
    else if (r->event == PART)
        add_part(q, r);
    else if (r->event == TURN)
        q->turn = (uint64_t)r->token;
    else if (r->event == UNLOCKING) {
        q->unlocking_ns = r->ns;
        q->may_stay = r->session != 0;
        q->is_yield = r->rc != 0;
    } else if (q->n_unlocked++ == 0) {
        q->unlocked_ns = r->ns;
        q->unlock_rc = r->rc;
    }
}

/* A report may come before the call that it is about has returned, or after the next one. The token tells which; of the
 * turns of one node it is the last that was asked for by then. */
static void tell(struct evidence *e, size_t first, const struct record *r)
{
    for (size_t i = e->requests.n; i-- > first;) {
        struct request *q = &e->requests.list[i];
        if (q->token != r->token || q->token == 0 || q->asked_ns > r->ns ||
            (r->event == QUESTION && q->number != r->kind))
            continue;
        struct told *t = evidence_grow((void **)&q->told, &q->n_told, &q->cap_told, sizeof *t);
        *t = (struct told){.ns = r->ns, .state = r->rc, .valid_ms = r->valid_ms, .is_question = r->event == QUESTION};
        if (r->rc == PDK_LOST && r->ns < q->lost_ns)
            q->lost_ns = r->ns;
        return;
    }
}

/* Reports and sessions have a pass of their own; the writes are for test/porcupine. */
static bool is_step(const struct record *r)
{
    switch (r->event) {
    case BLANK:
    case QUESTION:
    case TOLD:
    case SESSION:
    case WRITING:
    case WROTE:
        return false;
    default:
        return true;
    }
}

void evidence_add(struct evidence *e, const struct history *h)
{
    size_t first = e->requests.n;
    int process = (int)e->processes.n;
    PUSH(&e->processes) = (struct process){
        .place = h->place, .generation = h->generation, .pid = h->pid, .killed_ns = NEVER, .ended_ns = NEVER};
    for (size_t i = 0; i < history_size(h); i++) {
        const struct record *r = &h->records[i];
        if (r->event == ASKED)
            ask(e, process, r);
        else if (is_step(r))
            follow(e, process, first, r);
    }
    for (size_t i = 0; i < history_size(h); i++)
        if (h->records[i].event == QUESTION || h->records[i].event == TOLD)
            tell(e, first, &h->records[i]);
}

/* --- the nemesis's ----------------------------------------------------------------------------------------------- */

static void read_setting(struct evidence *e, const struct record *r)
{
    const struct {
        const char *name;
        int64_t *value;
    } all[] = {{"seed", &e->seed},
               {"clients", &e->n_clients},
               {"session_ms", &e->session_ms},
               {"tick_ms", &e->tick_ms},
               {"sync_limit", &e->sync_limit},
               {"children", &e->n_children},
               {"ephemerals", &e->n_ephemerals},
               {"watches", &e->n_watches},
               {"dissenters", &e->n_dissenters}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(r->node, all[i].name) == 0)
            *all[i].value = r->token;
}

static void end_strike(struct evidence *e, const struct record *r)
{
    for (size_t i = e->strikes.n; i-- > 0;) {
        struct strike *s = &e->strikes.list[i];
        if (s->until_ns != NEVER || s->serial != r->token || s->id != (enum fault_id)r->kind)
            continue;
        s->until_ns = r->ns;
        s->victim = r->rc;
        s->took = r->session != 0;
        return;
    }
}

static void end_stop(struct evidence *e, const struct record *r)
{
    for (size_t i = e->stops.n; i-- > 0;)
        if (e->stops.list[i].pid == r->pid && e->stops.list[i].until_ns == NEVER)
            e->stops.list[i].until_ns = r->ns;
}

static void read_killed(struct evidence *e, const struct record *r)
{
    for (size_t i = 0; i < e->processes.n; i++)
        if (e->processes.list[i].pid == r->pid)
            e->processes.list[i].killed_ns = r->ns;
}

static void read_event(struct evidence *e, const struct record *r)
{
    if (r->event == FAULT_BEGINS)
        PUSH(&e->strikes) = (struct strike){.id = (enum fault_id)r->kind,
                                            .serial = r->token,
                                            .victim = r->rc,
                                            .pid = r->pid,
                                            .from_ns = r->ns,
                                            .until_ns = NEVER};
    else if (r->event == FAULT_ENDS)
        end_strike(e, r);
    else if (r->event == STOPPED)
        PUSH(&e->stops) = (struct stop){.pid = r->pid, .from_ns = r->ns, .until_ns = NEVER};
    else if (r->event == CONTINUED)
        end_stop(e, r);
    else if (r->event == KILLED)
        read_killed(e, r);
    else if (r->event == WALL)
        PUSH(&e->clocks) = (struct clock_pair){.ns = r->ns, .wall_ns = r->token};
    else if (r->event == HEALED)
        e->healed_ns = r->ns;
    else if (r->event == SETTING || r->event == LEFTOVER)
        read_setting(e, r);
}

static bool read_nemesis(struct evidence *e, const char *dir)
{
    char file[PATH_MAX];
    snprintf(file, sizeof file, "%s/nemesis.history", dir);
    struct history *h = history_open(file, true);
    if (h == NULL)
        return false;
    size_t n = history_size(h);
    for (size_t i = 0; i < n; i++)
        read_event(e, &h->records[i]);
    e->begin_ns = n > 0 ? h->records[0].ns : 0;
    e->end_ns = n > 0 ? h->records[n - 1].ns : 0;
    history_close(h);
    return n > 0;
}

/* --- all of it --------------------------------------------------------------------------------------------------- */

static int is_client(const struct dirent *d)
{
    return strncmp(d->d_name, "client-", 7) == 0 && strstr(d->d_name, ".history") != NULL;
}

static bool read_clients(struct evidence *e, const char *dir)
{
    struct dirent **names;
    bool is_good = true;
    int n = scandir(dir, &names, is_client, alphasort);
    for (int i = 0; i < n; i++) {
        char file[PATH_MAX];
        snprintf(file, sizeof file, "%s/%s", dir, names[i]->d_name);
        struct history *h = history_open(file, true);
        if (h != NULL)
            evidence_add(e, h);
        is_good = is_good && h != NULL;
        history_close(h);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
    return is_good && n > 0;
}

/* The clients first: the nemesis tells which of them it killed. */
bool evidence_read(struct evidence *e, const char *dir)
{
    *e = (struct evidence){.healed_ns = NEVER, .n_children = -1, .n_ephemerals = -1, .n_watches = -1};
    bool is_good = read_clients(e, dir) && read_nemesis(e, dir) && e->clocks.n > 0;
    if (!is_good)
        fprintf(stderr, "judge: no histories, or broken ones, in %s\n", dir);
    if (is_good && !(is_good = truth_read(&e->truth, dir)))
        fprintf(stderr, "judge: no transaction logs, or broken ones, in %s\n", dir);
    if (is_good)
        evidence_settle(e);
    return is_good;
}
