#include "test/story/trace.h"
#include "paddock/error.h"
#include "test/lib/check.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

static void tell_action(struct trace *t, const struct pdk__action *a)
{
    static const char *const names[] = {"create",  "parents", "barrier+list", "list",      "identify", "watch",
                                        "unwatch", "own",     "confirm",      "read",      "record",   "clear",
                                        "rivals",  "delete",  "stray",        "renew",     "granted",  "failed",
                                        "suspect", "held",    "lost",         "contended", "revoked",  "done"};
    tell(t, " %s", names[a->kind]);
    if (a->kind == PDK__ACT_WATCH && a->by_children)
        tell(t, "(children)");
    else if (a->kind == PDK__ACT_WATCH)
        tell(t,
             a->name == NULL ? "(same)"
             : a->by_exists  ? "(exists)"
                             : "(%s)",
             a->name != NULL ? a->name + strlen(a->name) - 1 : NULL);
    if (a->kind == PDK__ACT_PARENTS && a->all)
        tell(t, "(all)");
    if (a->kind == PDK__ACT_IDENTIFY)
        tell(t, "(%s)", a->name + strlen(a->name) - 1);
    if (a->kind == PDK__ACT_OWN && a->by_exists)
        tell(t, "(exists)");
    if (a->kind == PDK__ACT_FAILED || (a->kind == PDK__ACT_DONE && a->error != 0))
        tell(t, "(%s)", pdk_strerrorname(a->error));
    if (a->kind == PDK__ACT_CONFIRM)
        tell(t, a->revoked ? "(revoked, version %d)" : "(version %d)", (int)a->version);
    if (a->kind == PDK__ACT_RECORD || a->kind == PDK__ACT_CLEAR)
        tell(t, "(version %d)", (int)a->version);
    if (a->kind == PDK__ACT_GRANTED)
        CHECK((t->granted = a->token) != 0);
}

static void remember(struct trace *t, const struct pdk__action *a)
{
    if (a->kind == PDK__ACT_OWN)
        t->own_op = a->op;
    else if (a->kind == PDK__ACT_CLEAR)
        t->clear_op = a->op;
    else if (a->op != 0 && a->kind != PDK__ACT_RIVALS)
        t->op = a->op;
    if (a->kind == PDK__ACT_WATCH) {
        if (a->name != NULL)
            snprintf(t->last_name, sizeof t->last_name, "%s", a->name);
        t->last_by_exists = a->by_exists;
    }
}

static void step(struct trace *t, const char *name, struct pdk__event event)
{
    struct pdk__actions actions;
    event.now_ms = t->now_ms;
    if (t->c.spare == 0)
        t->c.spare = ++t->attempts;
    pdk__contender_step(&t->c, &event, &actions);
    tell(t, "%s:", name);
    for (size_t i = 0; i < actions.n; i++) {
        tell_action(t, &actions.list[i]);
        remember(t, &actions.list[i]);
        CHECK(actions.list[i].kind != PDK__ACT_DONE || i == actions.n - 1);
    }
    tell(t, actions.n == 0 ? " -\n" : "\n");
}

void trace_begin(struct trace *t, bool connected) { trace_begin_as(t, &pdk__rule_mutex, connected); }

void trace_begin_as(struct trace *t, const struct pdk__rule *rule, bool connected)
{
    *t = (struct trace){.now_ms = 1000, .attempts = TRACE_ATTEMPT, .token = 77};
    t->wish = (struct pdk__wish){.rule = rule, .conditions = &t->conditions};
    pdk__contender_init(&t->c, &t->ops, &t->wish, TRACE_ATTEMPT, 7, connected ? TRACE_SESSION : 0, connected, true);
}

void trace_reset(struct trace *t)
{
    t->length = 0;
    t->text[0] = '\0';
}

void acquire(struct trace *t, int64_t deadline_ms)
{
    t->wish.deadline_ms = deadline_ms < 0 ? PDK__NEVER : t->now_ms + deadline_ms;
    step(t, "acquire", (struct pdk__event){.kind = PDK__EV_ACQUIRE});
}

void try_acquire(struct trace *t)
{
    t->wish.try_only = true;
    t->wish.deadline_ms = PDK__NEVER;
    step(t, "try", (struct pdk__event){.kind = PDK__EV_ACQUIRE});
}

void release(struct trace *t) { step(t, "release", (struct pdk__event){.kind = PDK__EV_RELEASE}); }

void later(struct trace *t, int64_t ms)
{
    t->now_ms += ms;
    step(t, "later", (struct pdk__event){.kind = PDK__EV_TIMER});
}

void up(struct trace *t, int64_t session)
{
    step(t, "up", (struct pdk__event){.kind = PDK__EV_SESSION_UP, .session = session, .timeout_ms = t->timeout_ms});
}

void down(struct trace *t) { step(t, "down", (struct pdk__event){.kind = PDK__EV_SESSION_DOWN}); }

void proven(struct trace *t) { step(t, "proven", (struct pdk__event){.kind = PDK__EV_LEASE_OK}); }

void doubted(struct trace *t) { step(t, "doubted", (struct pdk__event){.kind = PDK__EV_LEASE_LOW}); }

void presumed(struct trace *t) { step(t, "presumed", (struct pdk__event){.kind = PDK__EV_LEASE_EXPIRED}); }

void expired(struct trace *t) { step(t, "expired", (struct pdk__event){.kind = PDK__EV_SESSION_EXPIRED}); }

void given_up(struct trace *t)
{
    step(t, "given up", (struct pdk__event){.kind = PDK__EV_SESSION_EXPIRED, .error = PDK_EUNKNOWN});
}

void over(struct trace *t, int error)
{
    step(t, "over", (struct pdk__event){.kind = PDK__EV_SESSION_OVER, .error = error});
}

void left(struct trace *t, int error)
{
    step(t, "left", (struct pdk__event){.kind = PDK__EV_SESSION_LEFT, .error = error});
}

void created_by(struct trace *t, const char *name, int64_t owner)
{
    step(t, "created",
         (struct pdk__event){.kind = PDK__EV_CREATED, .op = t->op, .name = name, .owner = owner, .token = t->token});
}

void created(struct trace *t, const char *name) { created_by(t, name, t->c.session.id); }

static void answer_with(struct trace *t, enum pdk__event_kind kind, const char *const *children)
{
    size_t n = 0;
    while (children[n] != NULL)
        n++;
    step(t, kind == PDK__EV_LISTED ? "listed" : "watched",
         (struct pdk__event){.kind = kind, .op = t->op, .children = children, .n_children = n});
}

void listed(struct trace *t, const char *const *children) { answer_with(t, PDK__EV_LISTED, children); }

void watched_children(struct trace *t, const char *const *children) { answer_with(t, PDK__EV_WATCHED, children); }

void look_again(struct trace *t) { step(t, "look again", (struct pdk__event){.kind = PDK__EV_LOOK_AGAIN}); }

void limit_changed(struct trace *t) { step(t, "limit", (struct pdk__event){.kind = PDK__EV_RULE}); }

void idle(struct trace *t) { step(t, "idle", (struct pdk__event){.kind = PDK__EV_IDLE}); }

void used(struct trace *t) { step(t, "used", (struct pdk__event){.kind = PDK__EV_USED}); }

void rivals(struct trace *t, const char *const *children)
{
    size_t n = 0;
    while (children[n] != NULL)
        n++;
    uint64_t op = t->c.rivals.op;
    step(t, "rivals", (struct pdk__event){.kind = PDK__EV_RIVALS, .op = op, .children = children, .n_children = n});
}

void rivals_fired(struct trace *t)
{
    step(t, "rivals changed", (struct pdk__event){.kind = PDK__EV_RIVALS_FIRED, .op = t->c.rivals.op});
}

void identified(struct trace *t, int64_t owner)
{
    step(t, owner == t->c.session.id ? "ours" : "not ours",
         (struct pdk__event){
             .kind = PDK__EV_IDENTIFIED, .op = t->op, .owner = owner, .token = t->token, .version = t->version});
}

void own_by(struct trace *t, int64_t owner)
{
    step(t, "own",
         (struct pdk__event){
             .kind = PDK__EV_OWN, .op = t->own_op, .owner = owner, .token = t->token, .version = t->version});
}

void own(struct trace *t) { own_by(t, t->c.session.id); }

void own_revoked(struct trace *t)
{
    step(t, "own asks",
         (struct pdk__event){.kind = PDK__EV_OWN,
                             .op = t->own_op,
                             .owner = t->c.session.id,
                             .token = t->token,
                             .version = t->version,
                             .revoked = true});
}

void confirmed_by(struct trace *t, int64_t owner, int64_t token)
{
    step(t, "confirmed",
         (struct pdk__event){
             .kind = PDK__EV_CONFIRMED, .op = t->op, .owner = owner, .token = token, .version = t->c.node.version + 1});
}

void confirmed(struct trace *t, int64_t token) { confirmed_by(t, t->c.session.id, token); }

void read_record(struct trace *t, const char *name, int64_t token, int32_t version)
{
    t->record_version = version;
    step(t, name != NULL ? "recorded before" : "not recorded",
         (struct pdk__event){
             .kind = PDK__EV_RECORD_READ, .op = t->op, .name = name, .token = token, .version = version});
}

void recorded(struct trace *t)
{
    step(t, "recorded", (struct pdk__event){.kind = PDK__EV_RECORDED, .op = t->op, .version = t->record_version + 1});
}

static const char *name_of(enum pdk__event_kind kind)
{
    switch (kind) {
    case PDK__EV_CREATED:
        return "created";
    case PDK__EV_MADE_PARENTS:
        return "made parents";
    case PDK__EV_BARRIER:
        return "barrier";
    case PDK__EV_LISTED:
        return "listed";
    case PDK__EV_IDENTIFIED:
        return "identified";
    case PDK__EV_WATCHED:
        return "watched";
    case PDK__EV_OWN:
        return "own";
    case PDK__EV_CONFIRMED:
        return "confirmed";
    case PDK__EV_RECORD_READ:
        return "read";
    case PDK__EV_RECORDED:
        return "recorded";
    case PDK__EV_CLEARED:
        return "cleared";
    case PDK__EV_RIVALS:
        return "rivals";
    case PDK__EV_DELETED:
        return "deleted";
    default:
        return "?";
    }
}

static const char *outcome_name(enum pdk__outcome outcome)
{
    static const char *const names[] = {"", " no node", " no auth", " refused", " unknown", " changed"};
    return names[outcome];
}

static void reply_with(struct trace *t, uint64_t op, enum pdk__event_kind kind, enum pdk__outcome outcome, int error)
{
    char text[64];
    snprintf(text, sizeof text, "%s%s", name_of(kind), outcome_name(outcome));
    step(t, text,
         (struct pdk__event){.kind = kind, .op = op, .outcome = outcome, .error = error, .name = t->last_name});
}

void reply(struct trace *t, enum pdk__event_kind kind, enum pdk__outcome outcome, int error)
{
    reply_with(t, kind == PDK__EV_OWN ? t->own_op : t->op, kind, outcome, error);
}

void ok(struct trace *t, enum pdk__event_kind kind) { reply(t, kind, PDK__OK, 0); }

void reply_to(struct trace *t, uint64_t op, enum pdk__event_kind kind, enum pdk__outcome outcome)
{
    reply_with(t, op, kind, outcome, 0);
}

void fired(struct trace *t, bool deleted)
{
    step(t, deleted ? "gone" : "changed", (struct pdk__event){.kind = PDK__EV_FIRED, .op = t->op, .deleted = deleted});
}

void first_fired(struct trace *t)
{
    step(t, "first gone", (struct pdk__event){.kind = PDK__EV_FIRED, .op = t->op, .deleted = true, .first = true});
}

void own_fired(struct trace *t, bool deleted)
{
    step(t, deleted ? "own gone" : "own changed",
         (struct pdk__event){.kind = PDK__EV_OWN_FIRED, .op = t->own_op, .deleted = deleted});
}

/* --- the session ------------------------------------------------------------------------------------------------- */

static void session_step(struct trace *t, const char *name, struct pdk__session_event event)
{
    static const char *const names[] = {"up",   "down", "proven", "doubted", "presumed", "expired",
                                        "over", "open", "probe",  "touch",   "sync",     "leave"};
    struct pdk__session_actions actions;
    event.now_ms = t->now_ms;
    event.since_ms = t->opening_ms;
    pdk__session_step(&t->s, &event, &actions);
    tell(t, "%s:", name);
    for (size_t i = 0; i < actions.n; i++) {
        const struct pdk__session_action *a = &actions.list[i];
        tell(t, " %s", names[a->kind]);
        if (a->kind == PDK__SACT_OPEN)
            t->opening_ms = t->now_ms;
        if (a->kind == PDK__SACT_UP)
            tell(t, "(%llx)", (unsigned long long)a->session);
        if (a->kind == PDK__SACT_OVER)
            tell(t, "(%s)", pdk_strerrorname(a->error));
    }
    tell(t, actions.n == 0 ? " -\n" : "\n");
}

void session_begin(struct trace *t, bool renewable)
{
    *t = (struct trace){.now_ms = 1000, .opening_ms = 1000};
    pdk__session_init(&t->s, renewable, (struct pdk__session_policy){.tick_ms = 1000}, 7, 3000, t->now_ms);
}

void session_event(struct trace *t, enum pdk__session_event_kind kind)
{
    static const char *const names[] = {"connected", "disconnected", "expired",  "auth failed", "opened", "open failed",
                                        "close",     "later",        "answered", "unasked",     "wanted", "unwanted"};
    session_step(t, names[kind], (struct pdk__session_event){.kind = kind});
}

void session_connected(struct trace *t, int64_t id, int64_t timeout_ms)
{
    session_step(t, "connected",
                 (struct pdk__session_event){.kind = PDK__SEV_CONNECTED, .session = id, .timeout_ms = timeout_ms});
}

void session_answered(struct trace *t, int64_t ago_ms, bool agreed)
{
    session_step(t, agreed ? "agreed" : "answered",
                 (struct pdk__session_event){.kind = PDK__SEV_ANSWERED,
                                             .sent_ms = t->now_ms - ago_ms,
                                             .agreed = agreed,
                                             .asked = t->s.n_asked > 0,
                                             .wrote = t->s.renewed_ms == t->s.asked_ms});
}

void session_synced(struct trace *t, int64_t ago_ms)
{
    session_step(t, "synced",
                 (struct pdk__session_event){
                     .kind = PDK__SEV_ANSWERED, .sent_ms = t->now_ms - ago_ms, .led = true, .asked = t->s.n_asked > 0});
}

void session_later(struct trace *t, int64_t ms)
{
    t->now_ms += ms;
    session_event(t, PDK__SEV_TIMER);
}
