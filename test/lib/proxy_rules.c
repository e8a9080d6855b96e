#include "test/lib/proxy_state.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- book-keeping ------------------------------------------------------------------------------------------------ */

/* Types are small, some are negative: as bytes they are all different. */
static int *count(int counters[N_OPS], int type) { return &counters[(unsigned char)type]; }

static void tell(struct pdk__proxy *p, const char *mark, const char *word, int error)
{
    char text[64];
    int n = error == 0 ? snprintf(text, sizeof text, "%s%s ", mark, word)
                       : snprintf(text, sizeof text, "%s%s:%d ", mark, word, error);
    p->story = pdk__test_grow(p->story, p->n_story + (size_t)n + 1, &p->cap_story, 1);
    memcpy(p->story + p->n_story, text, (size_t)n + 1);
    p->n_story += (size_t)n;
}

static void note_event(struct pdk__proxy *p, const struct pdk__reply *r)
{
    static const char *const words[] = {"session", "created", "deleted", "changed", "children"};
    p->events = pdk__test_grow(p->events, p->n_events + 1, &p->cap_events, sizeof *p->events);
    char *path = strndup(r->path != NULL ? r->path : "", r->path_size);
    if (path == NULL)
        abort();
    p->events[p->n_events++] = (struct event){.type = r->event, .path = path};
    tell(p, "!", r->event >= 1 && r->event <= 4 ? words[r->event] : "session", 0);
}

static void expect(struct connection *c, const struct pdk__request *r, int rule, int error)
{
    c->pending = pdk__test_grow(c->pending, c->n_pending + 1, &c->cap_pending, sizeof *c->pending);
    c->pending[c->n_pending++] = (struct pending){.xid = r->xid, .type = r->type, .rule = rule, .error = error};
}

/* Find the request that the reply with XID answers: the oldest, when several have the same special xid. */
static struct pending answered(struct connection *c, int32_t xid)
{
    for (size_t i = 0; i < c->n_pending; i++)
        if (c->pending[i].xid == xid) {
            struct pending found = c->pending[i];
            memmove(c->pending + i, c->pending + i + 1, (--c->n_pending - i) * sizeof found);
            return found;
        }
    return (struct pending){.xid = xid, .rule = NO_RULE};
}

/* --- answers of our own ------------------------------------------------------------------------------------------ */

/* Send a read in place of the request: it changes nothing, and its reply keeps the order of replies. */
static void push_substitute(struct pdk__proxy *p, struct connection *c, int32_t xid)
{
    enum { SIZE = 4 + 4 + 4 + 4 + 1 + 1 };
    unsigned char frame[SIZE] = {0};
    pdk__put32(frame, SIZE - 4);
    pdk__put32(frame + 4, xid);
    pdk__put32(frame + 8, PDK__OP_EXISTS);
    pdk__put32(frame + 12, 1);
    frame[16] = '/';
    pdk__proxy_push(p, c, PDK__TO_SERVER, frame, SIZE, 0, NO_RULE);
}

static void push_error(struct pdk__proxy *p, struct connection *c, const struct pdk__reply *r, int error)
{
    enum { SIZE = 4 + 4 + 8 + 4 };
    unsigned char frame[SIZE];
    pdk__put32(frame, SIZE - 4);
    pdk__put32(frame + 4, r->xid);
    pdk__put64(frame + 8, r->zxid);
    pdk__put32(frame + 16, error);
    pdk__proxy_push(p, c, PDK__TO_CLIENT, frame, SIZE, 0, NO_RULE);
}

/* --- requests ---------------------------------------------------------------------------------------------------- */

static bool matches(const struct pdk__proxy_rule *rule, const void *frame, size_t size, const struct pdk__request *r)
{
    if (rule->op == 0 ? r->type == PDK__OP_PING || r->type == PDK__OP_CONNECT : r->type != rule->op)
        return false;
    return pdk__frame_mentions(frame, size, r, rule->path);
}

/* Every matching rule counts the request; the first that is due acts. */
static int choose(struct pdk__proxy *p, const void *frame, size_t size, const struct pdk__request *r)
{
    int chosen = NO_RULE;
    for (int i = 0; i < p->n_rules; i++) {
        struct rule *rule = &p->rules[i];
        if (!rule->armed || !matches(&rule->is, frame, size, r))
            continue;
        rule->seen++;
        if (chosen == NO_RULE && (rule->seen == rule->is.nth || (rule->is.every && rule->seen > rule->is.nth)))
            chosen = i;
    }
    return chosen;
}

static void request(struct pdk__proxy *p, struct connection *c, const void *frame, size_t size)
{
    struct pdk__request r = {.xid = INT_MIN, .type = PDK__OP_CONNECT};
    if (c->way[PDK__TO_SERVER].greeted && !pdk__frame_request(frame, size, &r)) {
        pdk__proxy_end(p, c);
        return;
    }
    c->way[PDK__TO_SERVER].greeted = true;
    ++*count(p->requests, r.type);
    if (r.type != PDK__OP_PING)
        tell(p, "", pdk__op_name(r.type), 0);
    int i = choose(p, frame, size, &r);
    pdk__act act = i != NO_RULE ? p->rules[i].is.act : PDK__COUNT;
    bool at_once = act == PDK__CUT_BEFORE || act == PDK__CUT_AFTER_FORWARD || act == PDK__SWALLOW_REQUEST ||
                   act == PDK__HOLD_REQUEST || act == PDK__COUNT;
    if (i != NO_RULE && at_once)
        p->rules[i].hits++;
    if (i != NO_RULE && act == PDK__HOLD_REQUEST)
        p->rules[i].holding = true;
    if (act != PDK__CUT_BEFORE && act != PDK__SWALLOW_REQUEST) {
        expect(c, &r, at_once ? NO_RULE : i, act == PDK__ANSWER ? p->rules[i].is.error : 0);
        if (act == PDK__ANSWER)
            push_substitute(p, c, r.xid);
        else
            pdk__proxy_push(p, c, PDK__TO_SERVER, frame, size, 0, act == PDK__HOLD_REQUEST ? i : NO_RULE);
    }
    if (act == PDK__CUT_BEFORE || act == PDK__CUT_AFTER_FORWARD)
        pdk__proxy_end(p, c);
}

/* --- replies ----------------------------------------------------------------------------------------------------- */

/* The answer to a handshake: length, version, timeout, session, the password's length, the password, read-only. */
enum { PASSWORD_AT = 4 + 4 + 4 + 8 + 4, PASSWORD_SIZE = 16, GREETING_MAX = PASSWORD_AT + PASSWORD_SIZE + 1 };

static const void *without_password(const void *frame, size_t size, unsigned char copy[GREETING_MAX])
{
    assert(size >= PASSWORD_AT + PASSWORD_SIZE && size <= GREETING_MAX);
    memcpy(copy, frame, size);
    memset(copy + PASSWORD_AT, 0, PASSWORD_SIZE);
    return copy;
}

static void reply(struct pdk__proxy *p, struct connection *c, const void *frame, size_t size)
{
    struct pdk__reply r = {.xid = INT_MIN};
    unsigned char copy[GREETING_MAX];
    if (p->strips && !c->way[PDK__TO_CLIENT].greeted)
        frame = without_password(frame, size, copy);
    if (c->way[PDK__TO_CLIENT].greeted && !pdk__frame_reply(frame, size, &r)) {
        pdk__proxy_end(p, c);
        return;
    }
    c->way[PDK__TO_CLIENT].greeted = true;
    if (r.xid == PDK__XID_EVENT) {
        note_event(p, &r);
        pdk__proxy_push(p, c, PDK__TO_CLIENT, frame, size, 0, NO_RULE);
        return;
    }
    struct pending to = answered(c, r.xid);
    ++*count(p->replies, to.type);
    if (to.type != PDK__OP_PING)
        tell(p, "=", pdk__op_name(to.type), to.error != 0 ? to.error : r.error);
    struct rule *rule = to.rule != NO_RULE && p->rules[to.rule].armed ? &p->rules[to.rule] : NULL;
    pdk__act act = rule != NULL ? rule->is.act : PDK__COUNT;
    if (rule != NULL)
        rule->hits++;
    if (act == PDK__HOLD_REPLY)
        rule->holding = true;
    if (to.error != 0)
        push_error(p, c, &r, to.error);
    else if (act != PDK__CUT_BEFORE_REPLY && act != PDK__SWALLOW_REPLY)
        pdk__proxy_push(p, c, PDK__TO_CLIENT, frame, size, act == PDK__DELAY_REPLY ? rule->is.ms : 0,
                        act == PDK__HOLD_REPLY ? to.rule : NO_RULE);
    if (act == PDK__CUT_BEFORE_REPLY || act == PDK__CUT_AFTER_REPLY)
        pdk__proxy_end(p, c);
}

void pdk__proxy_frame(struct pdk__proxy *p, struct connection *c, pdk__direction d, const void *frame, size_t size)
{
    if (d == PDK__TO_SERVER)
        request(p, c, frame, size);
    else
        reply(p, c, frame, size);
}

/* Pending replies and waiting chunks may refer to a rule. */
void pdk__proxy_clear_rules(struct pdk__proxy *p)
{
    for (struct connection *c = p->connections; c != NULL; c = c->next) {
        for (size_t i = 0; i < c->n_pending; i++)
            c->pending[i].rule = NO_RULE;
        for (int d = 0; d < 2; d++)
            for (struct chunk *k = c->way[d].head; k != NULL; k = k->next)
                k->held_by = NO_RULE;
    }
    for (int i = 0; i < p->n_rules; i++)
        free(p->rules[i].path);
    p->n_rules = 0;
}
