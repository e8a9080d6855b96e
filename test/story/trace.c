#include "test/story/trace.h"
#include "paddock/error.h"
#include "test/lib/check.h"
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 16, WAIT_MS = 10000, TESTS_MAX = 128 };

#define OTHER_SESSION INT64_C(0x3000)

/* The short names of nodes. A word with a hyphen is a whole name. */
struct name {
    const char *alias, *name;
};

static const struct name lock_names[] = {
    {"own", OURS},
    {"again", "0000000000001000-0000002b-lock-0000000007"},
    {"next", "0000000000001001-0000002a-lock-0000000009"}, /* in the session after ours */
    {"2", "0000000000002000-00000003-lock-0000000002"},
    {"3", "0000000000002000-00000001-lock-0000000003"},
    {"4", "_c_8612d63e-bf96-4b12-a950-74da4d73b8ee-lock-0000000004"}, /* as Curator names it */
    {"6", "0000000000002000-00000002-lock-0000000006"},
    {"own6", "0000000000001000-0000002a-lock-0000000006"},
    {"ours3", "0000000000001000-00000021-lock-0000000003"}, /* of this client */
    {"ours4", "0000000000001000-00000022-lock-0000000004"},
    /* With our session and attempt, which every client that may list the path can read. */
    {"forged0", "0000000000001000-0000002a-lock-0000000000"},
    {"forged3", "0000000000001000-0000002a-lock-0000000003"},
    {"forged9", "0000000000001000-0000002a-lock-0000000009"},
    /* Numbers that are no places in the queue. */
    {"tie", "0000000000002000-00000001-lock-0000000005"},
    {"last", "0000000000001000-0000002a-lock-2147483647"},
    {"last-again", "0000000000001000-0000002b-lock-2147483647"},
    {"wrapped", "0000000000001000-0000002a-lock--2147483648"},
    {"anew", "0000000000001000-0000002b-lock-0000000001"},
    {"other-last", "0000000000002000-00000003-lock-2147483647"},
    {"near", "0000000000002000-00000002-lock-2147483646"},
    {"reader", "0000000000001000-0000002a-__READ__0000000005"},
    {"reader3", "0000000000002000-00000001-__READ__0000000003"},
    {"reader4", "_c_8612d63e-bf96-4b12-a950-74da4d73b8ee-__READ__0000000004"},
    {"reader6", "0000000000002000-00000002-__READ__0000000006"},
    {"writer", "0000000000001000-0000002a-__WRIT__0000000005"},
    {"writer3", "0000000000002000-00000001-__WRIT__0000000003"},
    {"writer4", "_c_8612d63e-bf96-4b12-a950-74da4d73b8ee-__WRIT__0000000004"},
    {"writer6", "0000000000002000-00000002-__WRIT__0000000006"},
    {"writer7", "0000000000002000-00000003-__WRIT__0000000007"},
    {"base", "0000000000001000-00000029-__WRIT__0000000005"}, /* under whose number the read lock is made */
    {"lease", "0000000000001000-0000002a-lease-0000000005"},
    {"lease3", "0000000000002000-00000001-lease-0000000003"},
    {"lease4", "_c_8612d63e-bf96-4b12-a950-74da4d73b8ee-lease-0000000004"},
    {"lease6", "0000000000002000-00000002-lease-0000000006"},
    {"config", "config"}, /* of no contender */
    {0}};

static const struct name member_names[] = {{"own", "0000000000001000-0000002a-member"},
                                           {"again", "0000000000001000-0000002b-member"},
                                           {"third", "0000000000001000-0000002c-member"},
                                           {"next", "0000000000001001-0000002a-member"},
                                           {"low", "00-low"},
                                           {"lower", "00-a-low"}, /* before the low one */
                                           {"high", "_high"},
                                           {"higher", "_higher"},
                                           {"ready", PDK__READY},
                                           {"leases", "leases"},
                                           {"lock", "0000000000001000-0000002b-lock-0000000000"},
                                           {0}};

/* A machine whose events and actions are those of event.h. */
struct trace_machine {
    const struct name *names;
    void (*step)(struct trace *t, const struct pdk__event *event, struct pdk__actions *actions);
    uint64_t (*op)(const struct trace *t, enum pdk__event_kind kind); /* of the request that such an event answers */
    int64_t (*wake_ms)(const struct trace *t);
};

/* --- what came out ----------------------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void tell(struct trace *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t room = sizeof t->text - t->length;
    int n = vsnprintf(t->text + t->length, room, format, args);
    va_end(args);
    CHECK(n >= 0 && (size_t)n < room);
    t->length += (size_t)n;
}

static const char *alias_of(const struct trace *t, const char *name)
{
    for (const struct name *n = t->machine->names; n->alias != NULL; n++)
        if (strcmp(n->name, name) == 0)
            return n->alias;
    return name;
}

static void tell_action(struct trace *t, const struct pdk__action *a)
{
    static const char *const words[] = {"create",  "parents", "barrier+list", "list",      "identify", "watch",
                                        "unwatch", "own",     "confirm",      "read",      "record",   "clear",
                                        "rivals",  "delete",  "stray",        "renew",     "granted",  "failed",
                                        "suspect", "held",    "lost",         "contended", "revoked",  "done"};
    bool versioned = a->kind == PDK__ACT_CONFIRM || a->kind == PDK__ACT_RECORD || a->kind == PDK__ACT_CLEAR;
    bool other_token = a->kind == PDK__ACT_GRANTED && t->token != 0 && a->token != t->token;
    char version[32], token[32];
    snprintf(version, sizeof version, "version %d", (int)a->version);
    snprintf(token, sizeof token, "%" PRId64, a->token);
    bool named = a->name != NULL && a->kind != PDK__ACT_LIST && !a->by_children;
    const char *details[] = {named ? alias_of(t, a->name) : NULL,
                             a->by_children ? "children" : NULL,
                             a->by_exists ? "exists" : NULL,
                             a->all ? "all" : NULL,
                             a->kept ? "kept" : NULL,
                             a->revoked ? "revoked" : NULL,
                             versioned ? version : NULL,
                             other_token ? token : NULL,
                             a->error != 0 ? pdk_strerrorname(a->error) : NULL};
    bool more = false;
    tell(t, " %s", words[a->kind]);
    for (size_t i = 0; i < sizeof details / sizeof *details; i++)
        if (details[i] != NULL) {
            tell(t, "%s%s", more ? ", " : "(", details[i]);
            more = true;
        }
    tell(t, more ? ")" : "");
}

static void remember(struct trace *t, const struct pdk__action *a)
{
    if (a->op != 0) {
        t->requests[a->kind][1] = t->requests[a->kind][0];
        t->requests[a->kind][0] = a->op;
        if (a->kind != PDK__ACT_OWN && a->kind != PDK__ACT_CLEAR && a->kind != PDK__ACT_RIVALS)
            t->op = a->op;
    }
    if (a->kind == PDK__ACT_WATCH && a->name != NULL)
        snprintf(t->last_name, sizeof t->last_name, "%s", a->name);
}

static void step(struct trace *t, struct pdk__event *event)
{
    struct pdk__actions actions;
    event->now_ms = t->now_ms;
    t->machine->step(t, event, &actions);
    for (size_t i = 0; i < actions.n; i++) {
        tell_action(t, &actions.list[i]);
        remember(t, &actions.list[i]);
        CHECK(actions.list[i].kind != PDK__ACT_DONE || i == actions.n - 1);
    }
    tell(t, actions.n == 0 ? " -\n" : "\n");
}

/* --- the machines ------------------------------------------------------------------------------------------------ */

static bool says(const struct pdk__actions *actions, enum pdk__action_kind kind)
{
    for (size_t i = 0; i < actions->n; i++)
        if (actions->list[i].kind == kind)
            return true;
    return false;
}

static void step_contender(struct trace *t, const struct pdk__event *event, struct pdk__actions *actions)
{
    if (t->c.spare == 0)
        t->c.spare = ++t->attempts;
    pdk__contender_step(&t->c, event, actions);
    for (size_t i = 0; i < actions->n; i++)
        CHECK(actions->list[i].kind != PDK__ACT_GRANTED || actions->list[i].token != 0);
}

static uint64_t contender_op(const struct trace *t, enum pdk__event_kind kind)
{
    switch (kind) {
    case PDK__EV_OWN:
    case PDK__EV_OWN_FIRED:
        return t->requests[PDK__ACT_OWN][0];
    case PDK__EV_CLEARED:
        return t->requests[PDK__ACT_CLEAR][0];
    case PDK__EV_RIVALS:
    case PDK__EV_RIVALS_FIRED:
        return t->c.rivals.op;
    default:
        return t->op;
    }
}

static int64_t contender_wake_ms(const struct trace *t) { return pdk__contender_wake_ms(&t->c); }

static const struct trace_machine contender = {lock_names, step_contender, contender_op, contender_wake_ms};

void trace_begin(struct trace *t, bool connected) { trace_begin_as(t, &pdk__rule_mutex, connected); }

void trace_begin_as(struct trace *t, const struct pdk__rule *rule, bool connected)
{
    *t = (struct trace){.machine = &contender, .now_ms = 1000, .attempts = TRACE_ATTEMPT, .token = 77};
    t->wish = (struct pdk__wish){.rule = rule, .conditions = &t->conditions};
    pdk__contender_init(&t->c, &t->ops, &t->wish, TRACE_ATTEMPT, 7, connected ? TRACE_SESSION : 0, connected, true);
}

static void step_barrier(struct trace *t, const struct pdk__event *event, struct pdk__actions *actions)
{
    pdk__barrier_step(&t->barrier, event, actions);
    CHECK(!says(actions, PDK__ACT_DONE) || t->barrier.phase == PDK__BARRIER_OVER);
}

static uint64_t barrier_op(const struct trace *t, enum pdk__event_kind kind)
{
    return kind == PDK__EV_FIRED ? 0 : t->barrier.op;
}

static int64_t barrier_wake_ms(const struct trace *t) { return pdk__barrier_wake_ms(&t->barrier); }

static const struct trace_machine barrier = {lock_names, step_barrier, barrier_op, barrier_wake_ms};

void barrier_begin(struct trace *t, enum pdk__barrier_task task, bool connected)
{
    *t = (struct trace){.machine = &barrier, .now_ms = 1000};
    pdk__barrier_init(&t->barrier, &t->ops, task, 7, connected);
}

/* Of the nodes that a member makes its own is ephemeral: it has an attempt. */
static void step_member(struct trace *t, const struct pdk__event *event, struct pdk__actions *actions)
{
    if (t->member.spare == 0)
        t->member.spare = t->member.attempt + 1;
    pdk__double_barrier_step(&t->member, event, actions);
    CHECK(!says(actions, PDK__ACT_DONE) || t->member.phase == PDK__MEMBER_OVER);
    for (size_t i = 0; i < actions->n; i++) {
        const struct pdk__action *a = &actions->list[i];
        bool own = a->kind == PDK__ACT_CREATE && strcmp(a->name, PDK__READY) != 0;
        CHECK(own == (a->kind != PDK__ACT_STRAY && a->attempt != 0));
        if (a->kind == PDK__ACT_IDENTIFY)
            snprintf(t->last_name, sizeof t->last_name, "%s", a->name);
    }
}

static uint64_t member_op(const struct trace *t, enum pdk__event_kind kind)
{
    return kind == PDK__EV_FIRED ? 0 : t->member.op;
}

static int64_t member_wake_ms(const struct trace *t) { return pdk__double_barrier_wake_ms(&t->member); }

static const struct trace_machine member = {member_names, step_member, member_op, member_wake_ms};

void member_begin(struct trace *t, bool connected)
{
    *t = (struct trace){.machine = &member, .now_ms = 1000};
    pdk__double_barrier_init(&t->member, &t->ops, 2, TRACE_ATTEMPT, 7, connected ? TRACE_SESSION : 0, connected);
}

static void step_stray(struct trace *t, const struct pdk__event *event, struct pdk__actions *actions)
{
    pdk__stray_step(&t->stray, event, actions);
    CHECK(actions->n <= 1);
    CHECK(!says(actions, PDK__ACT_DONE) || t->stray.phase == PDK__STRAY_OVER);
}

static uint64_t stray_op(const struct trace *t, enum pdk__event_kind kind)
{
    (void)kind;
    return t->stray.op;
}

static int64_t stray_wake_ms(const struct trace *t) { return pdk__stray_wake_ms(&t->stray); }

static const struct trace_machine stray = {lock_names, step_stray, stray_op, stray_wake_ms};

void stray_begin(struct trace *t)
{
    *t = (struct trace){.machine = &stray, .now_ms = 1000};
    pdk__stray_init(&t->stray, &t->ops, TRACE_SESSION, TRACE_ATTEMPT, 7, t->now_ms);
}

/* --- the words of a line ----------------------------------------------------------------------------------------- */

struct line {
    struct trace *t;
    const char *text; /* the event, up to its colon */
    size_t length;
    char copy[512];
    char *words[WORDS];
    size_t n, next;
    const char *children[WORDS];
};

static noreturn void unreadable(const struct line *l, const char *why)
{
    pdk__test_fail(l->t->file, l->t->line, "\"%.*s\": %s", (int)l->length, l->text, why);
}

static void split(struct line *l)
{
    char *state;
    if (l->length >= sizeof l->copy)
        unreadable(l, "too long");
    memcpy(l->copy, l->text, l->length);
    l->copy[l->length] = '\0';
    for (char *w = strtok_r(l->copy, " ", &state); w != NULL; w = strtok_r(NULL, " ", &state)) {
        if (l->n == WORDS)
            unreadable(l, "too many words");
        l->words[l->n++] = w;
    }
}

static bool more(const struct line *l) { return l->next < l->n; }

static void finish(const struct line *l)
{
    if (more(l))
        unreadable(l, "a word too many");
}

static const char *next_word(struct line *l)
{
    if (!more(l))
        unreadable(l, "a word is missing");
    return l->words[l->next++];
}

/* The next word, if it is WORD, is read. */
static bool take(struct line *l, const char *word)
{
    bool found = more(l) && strcmp(l->words[l->next], word) == 0;
    l->next += found;
    return found;
}

static int64_t number_in(struct line *l, int base)
{
    char *end;
    const char *word = next_word(l);
    int64_t value = strtoll(word, &end, base);
    if (*end != '\0')
        unreadable(l, "no number");
    return value;
}

static int64_t number(struct line *l) { return number_in(l, 10); }

static int64_t number_or(struct line *l, int64_t otherwise) { return more(l) ? number(l) : otherwise; }

static const char *node(struct line *l)
{
    const char *word = next_word(l);
    for (const struct name *n = l->t->machine->names; n->alias != NULL; n++)
        if (strcmp(n->alias, word) == 0)
            return n->name;
    if (strchr(word, '-') == NULL)
        unreadable(l, "no such node");
    return word;
}

static int error(struct line *l)
{
    const char *word = next_word(l);
    for (int code = -1; strcmp(pdk_strerrorname(code), "PDK_E?") != 0; code--)
        if (strcmp(pdk_strerrorname(code), word) == 0)
            return code;
    unreadable(l, "no such error");
}

/* Whether the answer tells of no success. */
static bool failed(struct line *l, struct pdk__event *e)
{
    static const char *const words[] = {"", "no-node", "no-auth", "refused", "unknown", "changed"};
    static const int errors[] = {
        [PDK__NO_NODE] = PDK_ENOENT, [PDK__NO_AUTH] = PDK_EACCES, [PDK__CHANGED] = PDK_EREFUSED};
    for (int i = PDK__NO_NODE; i <= PDK__CHANGED; i++)
        if (take(l, words[i])) {
            e->outcome = (enum pdk__outcome)i;
            e->error = i == PDK__REFUSED ? error(l) : errors[i];
            return true;
        }
    return false;
}

static void nodes(struct line *l, struct pdk__event *e)
{
    e->children = l->children;
    if (take(l, "nothing"))
        return;
    while (more(l))
        l->children[e->n_children++] = node(l);
}

/* Whose the node is; in the words of a contender, ours where nothing is said. */
static int64_t owner(struct line *l)
{
    int64_t ours = l->t->machine == &contender ? l->t->c.session.id : TRACE_SESSION;
    if (!take(l, "by"))
        return l->t->machine == &contender ? ours : 0;
    if (take(l, "us"))
        return ours;
    if (take(l, "anew"))
        return TRACE_SESSION + 1;
    if (take(l, "other"))
        return OTHER_SESSION;
    unreadable(l, "by whom?");
}

static int64_t token(struct line *l) { return take(l, "token") ? number(l) : l->t->token; }

/* --- the events -------------------------------------------------------------------------------------------------- */

static void acquire(struct line *l, struct pdk__event *e)
{
    (void)e;
    l->t->wish.deadline_ms = more(l) ? l->t->now_ms + number(l) : PDK__NEVER;
}

static void try(struct line *l, struct pdk__event *e)
{
    l->t->wish.try_only = true;
    acquire(l, e);
}

/* The caller of a barrier tells with each call how long it waits. */
static void call(struct line *l, struct pdk__event *e)
{
    e->try_only = take(l, "once");
    e->deadline_ms = l->t->now_ms + WAIT_MS;
}

static void later(struct line *l, struct pdk__event *e)
{
    (void)e;
    l->t->now_ms += number(l);
}

/* The time at which it wants to wake. */
static void due(struct line *l, struct pdk__event *e)
{
    (void)e;
    int64_t wake_ms = l->t->machine->wake_ms(l->t);
    CHECK(wake_ms > l->t->now_ms && wake_ms != PDK__NEVER);
    l->t->now_ms = wake_ms;
}

static void up(struct line *l, struct pdk__event *e)
{
    e->session = TRACE_SESSION + take(l, "anew");
    e->timeout_ms = l->t->timeout_ms;
}

static void given_up(struct line *l, struct pdk__event *e)
{
    (void)l;
    e->error = PDK_EUNKNOWN;
}

static void ended(struct line *l, struct pdk__event *e) { e->error = error(l); }

static void reply(struct line *l, struct pdk__event *e)
{
    e->name = l->t->last_name;
    if (!failed(l, e) && take(l, "with-children"))
        e->has_children = true;
}

static void created(struct line *l, struct pdk__event *e)
{
    reply(l, e);
    if (e->outcome != PDK__OK)
        return;
    if (more(l) && strcmp(l->words[l->next], "token") != 0)
        e->name = node(l);
    e->owner = owner(l);
    e->token = token(l);
}

static void exists(struct line *l, struct pdk__event *e)
{
    (void)l;
    e->outcome = PDK__REFUSED;
    e->error = PDK_EEXHAUSTED;
}

static void listed(struct line *l, struct pdk__event *e)
{
    reply(l, e);
    if (e->outcome == PDK__OK)
        nodes(l, e);
}

static void watched(struct line *l, struct pdk__event *e)
{
    reply(l, e);
    e->token = token(l);
    if (!more(l))
        return;
    e->name = NULL;
    nodes(l, e);
}

static void identified(struct line *l, struct pdk__event *e)
{
    reply(l, e);
    if (e->outcome != PDK__OK)
        return;
    e->owner = owner(l);
    e->token = token(l);
    e->version = l->t->version;
}

static void own(struct line *l, struct pdk__event *e)
{
    identified(l, e);
    e->revoked = take(l, "asks");
}

static void confirmed(struct line *l, struct pdk__event *e)
{
    reply(l, e);
    if (e->outcome != PDK__OK || !more(l))
        return;
    e->owner = owner(l);
    e->token = token(l);
    e->version = l->t->c.node.version + 1;
}

static void read(struct line *l, struct pdk__event *e)
{
    if (failed(l, e))
        return;
    e->name = take(l, "nothing") ? NULL : node(l);
    e->token = token(l);
    if (!take(l, "version"))
        unreadable(l, "no version");
    l->t->record_version = e->version = (int32_t)number(l);
}

static void recorded(struct line *l, struct pdk__event *e)
{
    if (!failed(l, e))
        e->version = l->t->record_version + 1;
}

static void gone(struct line *l, struct pdk__event *e)
{
    (void)l;
    e->deleted = true;
}

static void first_gone(struct line *l, struct pdk__event *e)
{
    gone(l, e);
    e->first = true;
}

/* Of two rows whose words begin alike the longer comes first. */
struct row {
    const char *words;
    int kind;
    void (*read)(struct line *l, struct pdk__event *e);
};

static const struct row rows[] = {{"acquire", PDK__EV_ACQUIRE, acquire},
                                  {"try", PDK__EV_ACQUIRE, try},
                                  {"call", PDK__EV_ACQUIRE, call},
                                  {"enter", PDK__EV_ACQUIRE, call},
                                  {"leave", PDK__EV_RELEASE, call},
                                  {"release", PDK__EV_RELEASE, NULL},
                                  {"limit", PDK__EV_RULE, NULL},
                                  {"idle", PDK__EV_IDLE, NULL},
                                  {"used", PDK__EV_USED, NULL},
                                  {"look again", PDK__EV_LOOK_AGAIN, NULL},
                                  {"later", PDK__EV_TIMER, later},
                                  {"due", PDK__EV_TIMER, due},
                                  {"up", PDK__EV_SESSION_UP, up},
                                  {"down", PDK__EV_SESSION_DOWN, NULL},
                                  {"proven", PDK__EV_LEASE_OK, NULL},
                                  {"doubted", PDK__EV_LEASE_LOW, NULL},
                                  {"presumed", PDK__EV_LEASE_EXPIRED, NULL},
                                  {"expired", PDK__EV_SESSION_EXPIRED, NULL},
                                  {"given up", PDK__EV_SESSION_EXPIRED, given_up},
                                  {"over", PDK__EV_SESSION_OVER, ended},
                                  {"left", PDK__EV_SESSION_LEFT, ended},
                                  {"created", PDK__EV_CREATED, created},
                                  {"exists", PDK__EV_CREATED, exists},
                                  {"made parents", PDK__EV_MADE_PARENTS, reply},
                                  {"barrier", PDK__EV_BARRIER, reply},
                                  {"listed", PDK__EV_LISTED, listed},
                                  {"identified", PDK__EV_IDENTIFIED, identified},
                                  {"watched", PDK__EV_WATCHED, watched},
                                  {"gone", PDK__EV_FIRED, gone},
                                  {"first gone", PDK__EV_FIRED, first_gone},
                                  {"changed", PDK__EV_FIRED, NULL},
                                  {"own gone", PDK__EV_OWN_FIRED, gone},
                                  {"own changed", PDK__EV_OWN_FIRED, NULL},
                                  {"own", PDK__EV_OWN, own},
                                  {"confirmed", PDK__EV_CONFIRMED, confirmed},
                                  {"read", PDK__EV_RECORD_READ, read},
                                  {"recorded", PDK__EV_RECORDED, recorded},
                                  {"cleared", PDK__EV_CLEARED, reply},
                                  {"rivals changed", PDK__EV_RIVALS_FIRED, NULL},
                                  {"rivals", PDK__EV_RIVALS, listed},
                                  {"deleted", PDK__EV_DELETED, reply},
                                  {0}};

static const struct row session_rows[] = {{"connected", PDK__SEV_CONNECTED, NULL},
                                          {"disconnected", PDK__SEV_DISCONNECTED, NULL},
                                          {"expired", PDK__SEV_EXPIRED, NULL},
                                          {"auth failed", PDK__SEV_AUTH_FAILED, NULL},
                                          {"opened", PDK__SEV_OPENED, NULL},
                                          {"open failed", PDK__SEV_OPEN_FAILED, NULL},
                                          {"close", PDK__SEV_CLOSE, NULL},
                                          {"later", PDK__SEV_TIMER, NULL},
                                          {"due", PDK__SEV_TIMER, NULL},
                                          {"answered", PDK__SEV_ANSWERED, NULL},
                                          {"agreed", PDK__SEV_ANSWERED, NULL},
                                          {"synced", PDK__SEV_ANSWERED, NULL},
                                          {"unasked", PDK__SEV_UNASKED, NULL},
                                          {"wanted", PDK__SEV_LEASE_NEEDED, NULL},
                                          {0}};

static bool begins(struct line *l, const char *words)
{
    size_t n = strlen(words);
    if (l->length < n || strncmp(l->text, words, n) != 0 || (l->length > n && l->text[n] != ' '))
        return false;
    l->next = strchr(words, ' ') != NULL ? 2 : 1;
    return true;
}

static const struct row *row_of(struct line *l, const struct row *table)
{
    for (const struct row *row = table; row->words != NULL; row++)
        if (begins(l, row->words))
            return row;
    unreadable(l, "no such event");
}

/* "of watch", "of watch before" or "of another", at the end, says which request an event answers. */
static bool answers(struct line *l, uint64_t *op)
{
    static const struct {
        const char *word;
        enum pdk__action_kind kind;
    } requests[] = {{"create", PDK__ACT_CREATE},   {"list", PDK__ACT_LIST},   {"watch", PDK__ACT_WATCH},
                    {"confirm", PDK__ACT_CONFIRM}, {"clear", PDK__ACT_CLEAR}, {"rivals", PDK__ACT_RIVALS}};
    bool before = l->n > 2 && strcmp(l->words[l->n - 1], "before") == 0;
    size_t last = before ? l->n - 2 : l->n - 1;
    if (last < 2 || strcmp(l->words[last - 1], "of") != 0)
        return false;
    l->n = last - 1;
    *op = 0;
    if (strcmp(l->words[last], "another") == 0)
        return true;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        if (strcmp(requests[i].word, l->words[last]) == 0) {
            *op = l->t->requests[requests[i].kind][before];
            return true;
        }
    unreadable(l, "no such request");
}

static void feed_event(struct line *l)
{
    const struct row *row = row_of(l, rows);
    struct pdk__event event = {.kind = (enum pdk__event_kind)row->kind};
    if (!answers(l, &event.op) && event.kind >= PDK__EV_CREATED)
        event.op = l->t->machine->op(l->t, event.kind);
    if (row->read != NULL)
        row->read(l, &event);
    finish(l);
    step(l->t, &event);
}

/* --- the session ------------------------------------------------------------------------------------------------- */

void session_begin(struct trace *t, bool renewable)
{
    *t = (struct trace){.now_ms = 1000, .opening_ms = 1000};
    pdk__session_init(&t->s, renewable, (struct pdk__session_policy){.tick_ms = 1000}, 7, 3000, t->now_ms);
}

static void step_session(struct trace *t, struct pdk__session_event *event)
{
    static const char *const words[] = {"up",   "down", "proven", "doubted", "presumed", "expired",
                                        "over", "open", "probe",  "touch",   "sync",     "leave"};
    struct pdk__session_actions actions;
    event->now_ms = t->now_ms;
    event->since_ms = t->opening_ms;
    pdk__session_step(&t->s, event, &actions);
    for (size_t i = 0; i < actions.n; i++) {
        const struct pdk__session_action *a = &actions.list[i];
        tell(t, " %s", words[a->kind]);
        if (a->kind == PDK__SACT_OPEN)
            t->opening_ms = t->now_ms;
        if (a->kind == PDK__SACT_UP)
            tell(t, "(%" PRIx64 ")", a->session);
        if (a->kind == PDK__SACT_OVER)
            tell(t, "(%s)", pdk_strerrorname(a->error));
    }
    tell(t, actions.n == 0 ? " -\n" : "\n");
}

/* "agreed 5 after 600": after 600 ms a quorum answers a request that was sent 5 ms before. "answered": one server does.
 * "synced": the request was a sync. */
static void answer(struct line *l, struct pdk__session_event *e, const char *word)
{
    struct trace *t = l->t;
    int64_t late_ms = number(l);
    t->now_ms += take(l, "after") ? number(l) : 0;
    e->sent_ms = t->now_ms - late_ms;
    e->agreed = strcmp(word, "agreed") == 0;
    e->led = strcmp(word, "synced") == 0;
    e->asked = t->s.n_asked > 0;
    e->wrote = !e->led && t->s.renewed_ms == t->s.asked_ms;
}

static void feed_session(struct line *l)
{
    struct trace *t = l->t;
    const struct row *row = row_of(l, session_rows);
    struct pdk__session_event event = {.kind = (enum pdk__session_event_kind)row->kind};
    if (event.kind == PDK__SEV_CONNECTED) {
        event.session = number_in(l, 16);
        event.timeout_ms = number_or(l, 3000);
        event.unresumable = take(l, "unresumable");
    }
    if (event.kind == PDK__SEV_TIMER)
        t->now_ms = strcmp(row->words, "due") == 0 ? pdk__session_wake_ms(&t->s) : t->now_ms + number(l);
    if (event.kind == PDK__SEV_ANSWERED)
        answer(l, &event, row->words);
    finish(l);
    step_session(t, &event);
}

/* --- the questions ----------------------------------------------------------------------------------------------- */

static void tell_wakes(struct trace *t)
{
    int64_t wake_ms = t->machine != NULL ? t->machine->wake_ms(t) : pdk__session_wake_ms(&t->s);
    if (wake_ms == PDK__NEVER)
        tell(t, " never\n");
    else
        tell(t, " %" PRId64 "\n", wake_ms - t->now_ms);
}

static void tell_believed(struct trace *t)
{
    if (pdk__session_lease_valid(&t->s, t->now_ms))
        tell(t, " %" PRId64 "\n", pdk__session_deadline_ms(&t->s) - t->now_ms);
    else
        tell(t, " no\n");
}

static void tell_now(struct trace *t) { tell(t, " %" PRId64 "\n", t->now_ms); }

static void tell_wanted(struct trace *t) { tell(t, pdk__contender_needs_lease(&t->c) ? " yes\n" : " no\n"); }

static void tell_doubt(struct trace *t) { tell(t, t->s.lease_low ? " yes\n" : " no\n"); }

static void tell_attempt(struct trace *t)
{
    tell(t, " %" PRIx32 "\n", t->machine == &member ? t->member.attempt : t->c.attempt);
}

static void tell_phase(struct trace *t)
{
    static const char *const words[PDK__MEMBER_OVER + 1] = {[PDK__MEMBER_BACKOFF] = "resting",
                                                            [PDK__MEMBER_WAITING] = "waiting",
                                                            [PDK__MEMBER_INSIDE] = "inside",
                                                            [PDK__MEMBER_CHECKING] = "checking",
                                                            [PDK__MEMBER_OVER] = "over"};
    const char *word = t->machine == NULL         ? pdk__session_phase_name(t->s.phase)
                       : t->machine == &contender ? pdk__phase_name(t->c.phase)
                                                  : words[t->member.phase];
    tell(t, " %s\n", word != NULL ? word : "?");
}

static const struct question {
    const char *words;
    void (*tell)(struct trace *t);
} questions[] = {{"wakes", tell_wakes},         {"believed", tell_believed}, {"now", tell_now},
                 {"proof needed", tell_wanted}, {"in doubt", tell_doubt},    {"attempt", tell_attempt},
                 {"phase", tell_phase}};

static bool asks(struct line *l)
{
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        if (begins(l, questions[i].words)) {
            finish(l);
            questions[i].tell(l->t);
            return true;
        }
    return false;
}

/* --- the story --------------------------------------------------------------------------------------------------- */

/* TEXT begins with an event; its LENGTH does not count the colon. */
static void feed_line(struct trace *t, const char *text, size_t length)
{
    struct line l = {.t = t, .text = text, .length = length};
    tell(t, "%.*s:", (int)length, text);
    split(&l);
    bool passes = begins(&l, "pass");
    if (passes || begins(&l, "version")) {
        int64_t value = number(&l);
        finish(&l);
        t->now_ms += passes ? value : 0;
        t->version = passes ? t->version : (int32_t)value;
        tell(t, " -\n");
    } else if (asks(&l)) {
        return;
    } else if (t->machine != NULL) {
        feed_event(&l);
    } else {
        feed_session(&l);
    }
}

static void forget(struct trace *t, const char *file, int line)
{
    t->file = file;
    t->line = line;
    t->length = 0;
    t->text[0] = '\0';
}

void pdk__story(const char *file, int line, struct trace *t, const char *format, ...)
{
    char text[sizeof t->text];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    CHECK(n >= 0 && (size_t)n < sizeof text);
    forget(t, file, line);
    for (const char *at = text; *at != '\0';) {
        size_t length = strcspn(at, "\n"), event = strcspn(at, ":\n");
        if (event == length || at[length] == '\0')
            pdk__test_fail(file, line, "\"%.*s\": a line has an event, a colon and actions", (int)length, at);
        feed_line(t, at, event);
        at += length + 1;
    }
    pdk__test_str(file, line, "what came", t->text, "the story", text);
}

/* The stories of the program that runs. */
static struct {
    const char *file;
    struct trace *t;
    const struct story *stories;
} told;

/* The story that has the name of the test that runs. Each part of it begins anew. */
static void tell_story(void)
{
    const struct story *s = told.stories;
    while (strcmp(s->name, pdk__test_name()) != 0)
        s++;
    for (const char *part = s->text; part != NULL;) {
        const char *end = strstr(part, "\n\n");
        int length = end != NULL ? (int)(end + 1 - part) : (int)strlen(part);
        s->begin();
        pdk__story(told.file, 0, told.t, "%.*s", length, part);
        part = end != NULL ? end + 2 : NULL;
    }
}

int pdk__story_main(int argc, char **argv, const char *name, const char *file, struct trace *t,
                    const struct story *stories, const struct pdk__test *tests)
{
    struct pdk__test all[TESTS_MAX] = {{0}};
    size_t n = 0;
    for (const struct story *s = stories; s->name != NULL && n < TESTS_MAX - 1; s++)
        all[n++] = (struct pdk__test){s->name, tell_story};
    for (; tests != NULL && tests->name != NULL && n < TESTS_MAX - 1; tests++)
        all[n++] = *tests;
    assert(n < TESTS_MAX - 1);
    told.file = file;
    told.t = t;
    told.stories = stories;
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = name, .tests = all});
}

void pdk__feed(const char *file, int line, struct trace *t, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    CHECK(n >= 0 && (size_t)n < sizeof text);
    forget(t, file, line);
    feed_line(t, text, (size_t)n);
}
