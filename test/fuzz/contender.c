/*
 * The contender machine among liars. The bytes choose the caller's acts, the session's fate, and the servers' answers,
 * be they true or not; late answers to old questions included. Each question is answered at most once, and a create's
 * or barrier's answer comes before the listing sent after it: that much the driver promises. At the end the world is
 * mended, and the contender must come to its end.
 */
#include "lib/core/contender.h"
#include "paddock/error.h"
#include "test/fuzz/fuzz.h"

const char pdk__fuzz_name[] = "contender";

enum { CHILDREN_MAX = 8, ENOUGH_STEPS = 200 };

struct play {
    struct bytes b;
    struct pdk__contender c;
    struct pdk__wish wish;
    struct pdk__conditions conditions;
    uint64_t ops;
    uint32_t attempts;
    int64_t now_ms;
    int64_t timeout_ms;
    int64_t session;
    bool connected, proven, acquired, released, over;
    /* the last main question, and the one about the own node */
    enum pdk__action_kind question;
    uint64_t op, own_op, parents_op;
    int answers; /* that are still to come for the main question */
    bool own_open;
    /* the reports to the caller */
    int outcomes;
    bool granted, suspect, lost, revoked, done;
    /* the servers' statements, true or not */
    int64_t vouched; /* the session that was said to own the node */
    bool unsure;     /* a create may have happened */
    bool agreed;     /* the last barrier was */
    int64_t written; /* by the last confirmation */
    bool recorded;   /* the path may carry our record */
    struct pdk__delay delay;
    /* after mending: is the node there? */
    bool there;
};

/* --- what comes out ---------------------------------------------------------------------------------------------- */

static void ask(struct play *p, const struct pdk__action *a)
{
    MUST(p->connected && a->op != 0 && a->op <= p->ops);
    if (a->kind == PDK__ACT_OWN) {
        MUST(a->op > p->own_op);
        p->own_op = a->op;
        p->own_open = true;
        return;
    }
    MUST(a->op > p->op);
    if (a->kind == PDK__ACT_PARENTS) { /* answered before the create that follows it */
        p->parents_op = a->op;
        return;
    }
    MUST(p->parents_op <= p->op || (a->kind == PDK__ACT_CREATE && a->op == p->parents_op));
    MUST(a->kind != PDK__ACT_WATCH || a->name != NULL || p->c.queue.watching);
    p->op = a->op;
    /* A second node is never asked for while the first can be. */
    MUST(a->kind != PDK__ACT_CREATE || !p->unsure);
    p->unsure = p->unsure || a->kind == PDK__ACT_CREATE;
    p->question = a->kind;
    p->recorded = p->recorded || a->kind == PDK__ACT_RECORD;
    p->answers = a->kind == PDK__ACT_CREATE || a->kind == PDK__ACT_BARRIER ? 2 : 1;
    p->answers += p->parents_op == p->op;
}

static void hear(struct play *p, const struct pdk__action *a)
{
    MUST(!p->done);
    bool held = p->granted && !p->lost && !p->released;
    switch (a->kind) {
    case PDK__ACT_GRANTED:
        MUST(p->outcomes++ == 0 && p->acquired && !p->released && p->connected && a->token != 0);
        MUST(p->proven);
        MUST(p->vouched == p->session);
        MUST(a->token >= p->conditions.min_token);
        MUST(!p->conditions.confirmed || a->token == p->written);
        MUST(p->conditions.lock_delay_ms == 0 || p->recorded);
        p->granted = true;
        break;
    case PDK__ACT_FAILED:
        MUST(p->outcomes++ == 0 && p->acquired && !p->released && a->error != 0);
        break;
    case PDK__ACT_SUSPECT:
        MUST(held && !p->suspect && (!p->connected || !p->proven));
        p->suspect = true;
        break;
    case PDK__ACT_HELD:
        MUST(held && p->suspect && p->connected && p->proven);
        p->suspect = false;
        break;
    case PDK__ACT_LOST:
        MUST(held);
        p->lost = true;
        break;
    case PDK__ACT_REVOKED:
        MUST(held && !p->revoked);
        p->revoked = true;
        break;
    case PDK__ACT_DONE:
        MUST(p->outcomes == 1 || p->released);
        p->done = true;
        break;
    case PDK__ACT_CLEAR:
        MUST(!p->lost && p->recorded && p->conditions.lock_delay_ms > 0);
        break;
    case PDK__ACT_UNWATCH:
    case PDK__ACT_RENEW:
    case PDK__ACT_STRAY:
        break;
    default:
        ask(p, a);
    }
}

static void step(struct play *p, struct pdk__event event)
{
    struct pdk__actions actions;
    event.now_ms = p->now_ms;
    if (p->c.spare == 0)
        p->c.spare = ++p->attempts;
    uint64_t ops = p->ops;
    pdk__contender_step(&p->c, &event, &actions);
    for (size_t i = 0; i < actions.n; i++)
        hear(p, &actions.list[i]);
    /* One main question at a time, and one about the own node. */
    MUST(p->ops - ops <= 2);
    MUST(!p->done || pdk__contender_wake_ms(&p->c) == PDK__NEVER);
}

/* --- what goes in: answers --------------------------------------------------------------------------------------- */

static void write_name(struct play *p, char *name, uint8_t how)
{
    static const char *const forms[] = {"_c_8612d63e-bf96-4b12-a950-74da4d73b8ee-lock-%010d", "notes-%03d",
                                        "5c1e__lock__%010d", "backup-%09d"};
    int sequence = (how & 15) == 15 ? INT32_MAX : (how & 15) == 14 ? INT32_MIN : how & 15;
    if (how < 0x80) {
        bool ours = (how & 0x60) == 0;
        pdk__name_format(name, ours ? p->session : p->session + (how >> 5 & 1), p->c.attempt + (ours ? 0 : how >> 6),
                         (enum pdk__tag)(how >> 4 & 1));
        snprintf(name + strlen(name), 16, "%010d", sequence);
    } else if (how < 0xf0) {
        snprintf(name, 96, forms[how >> 4 & 3], sequence);
    } else {
        size_t i = 0;
        for (; i < 90; i++)
            if ((name[i] = (char)take(&p->b)) == '\0')
                break;
        name[i] = '\0';
    }
}

static enum pdk__outcome outcome(uint8_t byte)
{
    static const enum pdk__outcome outcomes[] = {PDK__OK,      PDK__OK,      PDK__OK,      PDK__OK,
                                                 PDK__NO_NODE, PDK__NO_AUTH, PDK__REFUSED, PDK__UNKNOWN};
    return outcomes[byte & 7];
}

static void list(struct play *p, struct pdk__event event)
{
    char names[CHILDREN_MAX][128];
    const char *children[CHILDREN_MAX];
    size_t n = event.outcome == PDK__OK ? take(&p->b) % (CHILDREN_MAX + 1) : 0;
    for (size_t i = 0; i < n; i++) {
        write_name(p, names[i], take(&p->b));
        children[i] = names[i];
    }
    event.children = children;
    event.n_children = n;
    step(p, event);
}

/* The kind of the next answer to a question. */
static enum pdk__event_kind answer_to(enum pdk__action_kind question, int answers)
{
    switch (question) {
    case PDK__ACT_CREATE:
        return answers == 3 ? PDK__EV_MADE_PARENTS : answers == 2 ? PDK__EV_CREATED : PDK__EV_LISTED;
    case PDK__ACT_BARRIER:
        return answers == 2 ? PDK__EV_BARRIER : PDK__EV_LISTED;
    case PDK__ACT_IDENTIFY:
        return PDK__EV_IDENTIFIED;
    case PDK__ACT_WATCH:
        return PDK__EV_WATCHED;
    case PDK__ACT_CONFIRM:
        return PDK__EV_CONFIRMED;
    case PDK__ACT_READ_RECORD:
        return PDK__EV_RECORD_READ;
    case PDK__ACT_RECORD:
        return PDK__EV_RECORDED;
    case PDK__ACT_DELETE:
        return PDK__EV_DELETED;
    default:
        return PDK__EV_LISTED;
    }
}

/* Record the facts that an answer to the last question tells of the node. */
static void learn(struct play *p, const struct pdk__event *event)
{
    bool ok = event->outcome == PDK__OK;
    if (event->op != p->op && event->op != p->own_op)
        return;
    if (event->kind == PDK__EV_BARRIER)
        p->agreed = ok;
    if (event->kind == PDK__EV_LISTED && p->question == PDK__ACT_BARRIER && p->agreed)
        p->unsure = false;
    if (event->kind == PDK__EV_CREATED && event->outcome != PDK__UNKNOWN)
        p->unsure = false;
    bool tells_owner = event->kind == PDK__EV_CREATED || event->kind == PDK__EV_OWN ||
                       event->kind == PDK__EV_IDENTIFIED;
    if (ok && tells_owner && event->owner == p->session)
        p->vouched = p->session;
    if (ok && event->kind == PDK__EV_CONFIRMED && event->op == p->op && event->owner == p->session)
        p->written = event->token;
}

static void answer(struct play *p, uint64_t op, enum pdk__event_kind kind)
{
    char name[128];
    uint8_t how = take(&p->b);
    struct pdk__event event = {.kind = kind, .op = op, .outcome = outcome(how)};
    bool writes = kind == PDK__EV_CONFIRMED || kind == PDK__EV_RECORDED;
    if (writes && event.outcome == PDK__REFUSED && how >= 0x80)
        event.outcome = PDK__CHANGED;
    event.error = event.outcome == PDK__OK ? 0 : PDK_EREFUSED;
    event.owner = p->session + (how >= 0xe0);
    event.token = 1 + take(&p->b);
    event.revoked = kind == PDK__EV_OWN && event.token > 0xc0;
    learn(p, &event);
    if (kind == PDK__EV_LISTED) {
        list(p, event);
        return;
    }
    write_name(p, name, take(&p->b));
    event.name = kind == PDK__EV_RECORD_READ && how >= 0x80 ? NULL : name;
    event.version = (int32_t)event.token;
    if (kind == PDK__EV_RECORD_READ && event.outcome == PDK__OK && event.op == p->op && event.name != NULL &&
        strcmp(event.name, p->c.node.name) == 0)
        p->recorded = true;
    step(p, event);
}

static void answer_main(struct play *p)
{
    if (p->answers == 0)
        return;
    answer(p, p->op, answer_to(p->question, p->answers--));
}

static void answer_own(struct play *p)
{
    if (!p->own_open)
        return;
    p->own_open = false;
    answer(p, p->own_op, PDK__EV_OWN);
}

/* To a question that is no more the last of its kind. */
static void answer_late(struct play *p)
{
    static const enum pdk__event_kind kinds[] = {PDK__EV_CREATED,     PDK__EV_MADE_PARENTS, PDK__EV_BARRIER,
                                                 PDK__EV_LISTED,      PDK__EV_WATCHED,      PDK__EV_DELETED,
                                                 PDK__EV_OWN,         PDK__EV_OWN_FIRED,    PDK__EV_CONFIRMED,
                                                 PDK__EV_RECORD_READ, PDK__EV_RECORDED,     PDK__EV_CLEARED};
    uint64_t back = take(&p->b), op = back < p->ops ? p->ops - back : 0;
    uint8_t kind = op != p->op && op != p->own_op ? take(&p->b) : 0;
    if (op != p->op && op != p->own_op)
        answer(p, op, kinds[kind >= 0xf8 ? 8 + kind % 4 : kind & 7]);
}

/* --- what goes in: the caller, the clock, the session ------------------------------------------------------------ */

static void acquire(struct play *p)
{
    uint8_t how = take(&p->b);
    /* After the end of the session the driver begins nothing. */
    if (p->acquired || p->released || p->over)
        return;
    p->acquired = true;
    p->wish.try_only = (how & 1) != 0;
    p->wish.deadline_ms = how >= 0x80 ? PDK__NEVER : p->now_ms + how * 20;
    step(p, (struct pdk__event){.kind = PDK__EV_ACQUIRE});
}

static void release(struct play *p)
{
    p->released = true;
    step(p, (struct pdk__event){.kind = PDK__EV_RELEASE});
}

static void leave(struct play *p) { step(p, (struct pdk__event){.kind = PDK__EV_SESSION_LEFT, .error = PDK_ECLOSED}); }

static void pass_time(struct play *p, int64_t ms)
{
    p->now_ms += ms;
    step(p, (struct pdk__event){.kind = PDK__EV_TIMER});
}

static void prove(struct play *p, bool proven)
{
    p->proven = proven;
    step(p, (struct pdk__event){.kind = proven ? PDK__EV_LEASE_OK : PDK__EV_LEASE_LOW});
}

static void wake(struct play *p)
{
    int64_t at = pdk__contender_wake_ms(&p->c);
    pass_time(p, at != PDK__NEVER && at > p->now_ms ? at - p->now_ms : 0);
}

static void up(struct play *p, int64_t session)
{
    if (p->over)
        return;
    p->unsure = p->unsure && session == p->session;
    p->session = session;
    p->connected = true;
    step(p, (struct pdk__event){.kind = PDK__EV_SESSION_UP, .session = session, .timeout_ms = p->timeout_ms});
}

static void down(struct play *p, enum pdk__event_kind kind)
{
    p->connected = p->connected && kind == PDK__EV_LEASE_EXPIRED;
    p->unsure = p->unsure && kind != PDK__EV_SESSION_EXPIRED && kind != PDK__EV_SESSION_OVER;
    p->proven = p->proven && kind != PDK__EV_SESSION_EXPIRED && kind != PDK__EV_SESSION_OVER;
    p->over = p->over || kind == PDK__EV_SESSION_OVER;
    step(p, (struct pdk__event){.kind = kind, .error = PDK_ECLOSED});
}

static void fire(struct play *p, enum pdk__event_kind kind, bool deleted)
{
    bool own = kind == PDK__EV_OWN_FIRED;
    step(p, (struct pdk__event){.kind = kind, .op = own ? p->c.node.watch_op : p->c.op, .deleted = deleted});
}

static void anything(struct play *p)
{
    uint8_t what = take(&p->b);
    switch (what & 15) {
    case 0:
        acquire(p);
        break;
    case 1:
        if (what >= 0x80)
            release(p);
        else if (what >= 0x60)
            leave(p);
        else if (p->acquired)
            step(p, (struct pdk__event){.kind = PDK__EV_LOOK_AGAIN});
        break;
    case 2:
        pass_time(p, take(&p->b) * 20);
        break;
    case 3:
        if (what >= 0x80)
            prove(p, what >= 0xc0);
        else
            wake(p);
        break;
    case 4:
        up(p, p->session);
        break;
    case 5:
        up(p, p->session + 16);
        break;
    case 6:
        down(p, PDK__EV_SESSION_DOWN);
        break;
    case 7:
        down(p, what >= 0xe0 ? PDK__EV_SESSION_OVER : what >= 0x80 ? PDK__EV_LEASE_EXPIRED : PDK__EV_SESSION_EXPIRED);
        break;
    case 8:
        fire(p, PDK__EV_FIRED, what >= 0x80);
        break;
    case 9:
        fire(p, PDK__EV_OWN_FIRED, what >= 0x80);
        break;
    case 10:
        answer_late(p);
        break;
    case 11:
    case 12:
        answer_own(p);
        break;
    default:
        answer_main(p);
    }
}

/* --- the world mended -------------------------------------------------------------------------------------------- */

static void answer_truly(struct play *p)
{
    char name[PDK__NAME_MAX + 16];
    pdk__name_format(name, p->session, p->c.attempt, p->wish.rule->tag);
    strcat(name, "0000000005");
    const char *children[] = {name};
    struct pdk__event event = {.kind = answer_to(p->question, p->answers--),
                               .op = p->op,
                               .owner = p->session,
                               .token = 5,
                               .name = name,
                               .children = children};
    if (event.kind == PDK__EV_CREATED)
        p->there = true;
    if (event.kind == PDK__EV_CONFIRMED)
        event.token = 1000;
    if (event.kind == PDK__EV_RECORD_READ)
        event.name = NULL;
    if (event.kind == PDK__EV_WATCHED || (event.kind == PDK__EV_CONFIRMED && !p->there))
        event.outcome = PDK__NO_NODE;
    if (event.kind == PDK__EV_DELETED && !p->there)
        event.outcome = PDK__NO_NODE;
    if (event.kind == PDK__EV_DELETED)
        p->there = false;
    event.error = event.outcome == PDK__NO_NODE ? PDK_ENOENT : 0;
    event.n_children = p->there;
    learn(p, &event);
    step(p, event);
}

static void answer_own_truly(struct play *p)
{
    struct pdk__event event = {.kind = PDK__EV_OWN, .op = p->own_op, .owner = p->session, .token = 5};
    event.outcome = p->there ? PDK__OK : PDK__NO_NODE;
    event.error = p->there ? 0 : PDK_ENOENT;
    p->own_open = false;
    learn(p, &event);
    step(p, event);
}

static void go_on(struct play *p)
{
    if (p->own_open && p->own_op == p->c.node.watch_op)
        answer_own_truly(p);
    else if (p->answers > 0 && p->op == p->c.op)
        answer_truly(p);
    else if (p->c.phase == PDK__WAITING)
        fire(p, PDK__EV_FIRED, true);
    else if (p->granted && !p->released)
        release(p);
    else
        wake(p);
}

static void mend(struct play *p, bool patient)
{
    p->there = p->c.node.exists == PDK__NODE_YES || (p->c.node.exists == PDK__NODE_MAYBE && take(&p->b) != 0);
    acquire(p);
    if ((!patient || !p->acquired) && !p->done)
        release(p);
    if (!p->connected)
        up(p, p->session);
    prove(p, true);
    for (int i = 0; i < ENOUGH_STEPS && !p->done; i++)
        go_on(p);
    MUST(p->done);
}

/* In a quarter of the plays a grant can have further conditions than to be the first. */
static void impose(struct play *p, uint8_t seed)
{
    struct pdk__conditions *conditions = &p->conditions;
    conditions->delay = &p->delay;
    if ((seed & 0xc0) != 0x80)
        return;
    if ((seed & 4) != 0)
        conditions->min_token = 0x80;
    conditions->confirmed = (seed & 8) != 0;
    conditions->lock_delay_ms = (seed & 16) != 0 ? 500 : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct play p = {.b = {data, size}, .now_ms = 1000, .session = 0x1000};
    static const struct pdk__rule *const rules[] = {&pdk__rule_mutex, &pdk__rule_mutex, &pdk__rule_reader,
                                                    &pdk__rule_writer};
    uint8_t seed = take(&p.b);
    p.connected = (seed & 1) != 0;
    p.wish = (struct pdk__wish){.rule = rules[seed >> 4 & 3], .conditions = &p.conditions};
    pdk__contender_init(&p.c, &p.ops, &p.wish, ++p.attempts, seed, p.connected ? p.session : 0, p.connected, false);
    p.c.session.timeout_ms = p.timeout_ms = (seed & 64) != 0 ? 10000 : 0; /* 0: the own node is watched at once */
    impose(&p, seed);
    while (p.b.left > 0)
        anything(&p);
    mend(&p, (seed & 2) != 0);
    return 0;
}
