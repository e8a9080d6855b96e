/*
 * The trace that steps.pml replays: what contenders were told and did, as test/lib/trace_contender.c writes it. Read
 * from the file of the environment variable TRACE; with TORN the last line may be of a process that was killed. For the
 * verifier that spin makes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REQUESTS_MAX = 6 };

struct step {
    int msg, number, data;
    int own, near, before, ahead, ours, replaced;
    int phase, wanted, node, granted, lost;
    int n_requests;
    struct {
        int kind, op, node;
    } requests[REQUESTS_MAX];
    int next;   /* of the same contender; -1: the last one */
    char *text; /* for people */
};

struct contender {
    unsigned long long seed;
    int connected, low, tries, looks;
    int first, last;
    int reached; /* how many steps some run of the model has followed, and where it went instead */
    int is_done;
    int n_steps;
    char *left; /* why it is outside from there on */
};

static struct step *steps;
static struct contender *contenders;
static int n_steps, n_contenders;

static void *steps_grow(void *list, int n, size_t size)
{
    if ((n & (n - 1)) != 0)
        return list;
    list = realloc(list, (n > 0 ? 2 * (size_t)n : 1) * size);
    if (list == NULL)
        exit(99);
    return list;
}

static void steps_wrong(const char *line)
{
    fprintf(stderr, "steps: not a line of a trace: %s", line);
    exit(99);
}

static void steps_contender(const char *line)
{
    contenders = steps_grow(contenders, n_contenders, sizeof *contenders);
    struct contender *c = &contenders[n_contenders];
    int serial;
    *c = (struct contender){.first = -1, .last = -1};
    if (sscanf(line, "C %d %llu %d %d %d %d", &serial, &c->seed, &c->connected, &c->low, &c->tries, &c->looks) != 6 ||
        serial != n_contenders++)
        steps_wrong(line);
}

/* Where the line has no more, the code's step did not end: its numbers are not the model's. */
static int steps_number(char **p)
{
    char *end;
    long n = strtol(*p, &end, 10);
    if (end == *p && **p == '\0')
        return -1;
    if (end == *p)
        steps_wrong(*p);
    *p = end;
    return (int)n;
}

static void steps_step(char *line)
{
    char *p = line + 1;
    steps = steps_grow(steps, n_steps, sizeof *steps);
    struct step *s = &steps[n_steps];
    int which = steps_number(&p);
    int *const fields[] = {&s->msg,    &s->number, &s->data,    &s->own,      &s->near,
                           &s->before, &s->ahead,  &s->ours,    &s->replaced, &s->phase,
                           &s->wanted, &s->node,   &s->granted, &s->lost,     &s->n_requests};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        *fields[i] = steps_number(&p);
    if (which < 0 || which >= n_contenders || s->n_requests > REQUESTS_MAX)
        steps_wrong(line);
    for (int i = 0; i < s->n_requests; i++) {
        s->requests[i].kind = steps_number(&p);
        s->requests[i].op = steps_number(&p);
        s->requests[i].node = steps_number(&p);
    }
    s->text = strdup(*p != '\0' ? p + strspn(p, " ") : "the code aborts\n");
    s->next = -1;
    struct contender *c = &contenders[which];
    if (c->last < 0)
        c->first = n_steps;
    else
        steps[c->last].next = n_steps;
    c->last = n_steps++;
    c->n_steps++;
}

static void steps_left(char *line)
{
    int which, at = 0;
    if (sscanf(line, "X %d %n", &which, &at) != 1 || at == 0 || which < 0 || which >= n_contenders)
        steps_wrong(line);
    contenders[which].left = strdup(line + at);
}

/* Some run has followed so many steps of a contender; and all. */
static void steps_note(int which, int n)
{
    if (n > contenders[which].reached)
        contenders[which].reached = n;
}

static void steps_finish(int which) { contenders[which].is_done = 1; }

/* --- the verdict -------------------------------------------------------------------------------------------------- */

static const char *const phase_names[] = {
    "idle",           "disconnected", "looking", "creating", "recovering", "listing",     "watching", "waiting",
    "verifying node", "held",         "suspect", "deleting", "done",       "identifying", "backoff",  "awaiting lease"};

/* The shortest prefix of a contender's steps that is not the model's. */
static void steps_deviation(int which)
{
    struct contender *c = &contenders[which];
    int i = 0;
    printf("not ok - seed %llu, contender %d: step %d of %d is not the model's\n", c->seed, which, c->reached + 1,
           c->n_steps);
    for (int s = c->first; s >= 0 && i <= c->reached; s = steps[s].next, i++)
        if (i + 12 > c->reached)
            printf("  %s%s", i == c->reached ? "--> " : "    ", steps[s].text);
}

static void steps_judge(void)
{
    int n = 0, bad = 0, partly = 0;
    for (int i = 0; i < n_contenders; i++) {
        struct contender *c = &contenders[i];
        n += c->is_done ? c->n_steps : c->reached;
        partly += c->left != NULL;
        if (!c->is_done && bad++ < 3)
            steps_deviation(i);
    }
    printf("%s - %d steps of %d contenders (%d of them in part: the rest of each is outside the model)\n",
           bad > 0 ? "not ok" : "ok", n, n_contenders, partly);
    fflush(stdout);
    if (bad > 0)
        _exit(1);
}

static void steps_read(void)
{
    static char line[4096];
    const char *file = getenv("TRACE");
    FILE *in = file != NULL ? fopen(file, "r") : NULL;
    if (in == NULL) {
        fprintf(stderr, "steps: TRACE names no file that can be read\n");
        exit(99);
    }
    while (fgets(line, sizeof line, in) != NULL) {
        if (getenv("TORN") != NULL && strchr(line, '\n') == NULL)
            break;
        if (line[0] == 'C')
            steps_contender(line);
        else if (line[0] == 'S')
            steps_step(line);
        else if (line[0] == 'X')
            steps_left(line);
    }
    fclose(in);
    atexit(steps_judge);
}
