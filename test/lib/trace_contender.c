/*
 * The steps of contenders, in the words of the model's machine (test/model/machine.pml). A line for each:
 *
 *     C SERIAL SEED CONNECTED LOW TRIES LOOKS              a contender begins
 *     S SERIAL MESSAGE NUMBER DATA OWN NEAR BEFORE AHEAD OURS REPLACED
 *       PHASE WANTED NODE GRANTED LOST N [KIND OP NODE]... TEXT
 *     X SERIAL REASON                                      what comes is outside the model, and left out
 *
 * The meaning of an answer is judged here once more, and not taken from what the code made of it. A phase that the
 * model lacks is -1.
 */
#include "lib/core/contender.h"
#include "test/lib/trace.h"
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

FILE *trace_out;
uint64_t trace_seed;

/* machine.pml has these numbers. */
enum message {
    NOTHING,
    CREATE,
    LIST,
    BARRIER,
    WATCH,
    OWN,
    DELETE,
    IDENTIFY = 8,
    EVENT,
    DOWN,
    UP,
    EXPIRED,
    ACQUIRE = 16,
    RELEASE,
    RESTED,
    DUE,
    AGAIN,
    LEASE_LOW,
    LEASE_OK,
    LEASE_EXPIRED,
    OVER,
    LEFT,
    CHANGED,
    NO_PATH = 254,
    FAILED
};

enum { NOBODY = -1, FIRST_NODE = 1000, LOST_CREATES_MAX = 8 };

static const int phases[PDK__N_PHASES] = {
    [PDK__READING_HOLDER] = -1, [PDK__DELAYED] = -1,       [PDK__WRITING_HOLDER] = -1,
    [PDK__CONFIRMING] = -1,     [PDK__IDLE] = 0,           [PDK__DISCONNECTED] = 1,
    [PDK__LOOKING] = 2,         [PDK__CREATING] = 3,       [PDK__RECOVERING] = 4,
    [PDK__LISTING] = 5,         [PDK__WATCHING] = 6,       [PDK__WAITING] = 7,
    [PDK__VERIFYING_NODE] = 8,  [PDK__HELD] = 9,           [PDK__SUSPECT] = 10,
    [PDK__DELETING] = 11,       [PDK__DONE] = 12,          [PDK__IDENTIFYING] = 13,
    [PDK__BACKOFF] = 14,        [PDK__AWAITING_LEASE] = 15};

/* --- what is remembered of a seed --------------------------------------------------------------------------------- */

struct traced {
    const struct pdk__contender *contender;
    int serial;
    bool outside;
    int watched; /* the node that it asked last to watch */
};

struct node {
    int number;
    char name[];
};

static void *contenders, *nodes; /* trees, by address and by name */
static int n_serials, n_nodes;
static uint64_t seed_at_hand;

static int by_contender(const void *a, const void *b)
{
    uintptr_t left = (uintptr_t)((const struct traced *)a)->contender;
    uintptr_t right = (uintptr_t)((const struct traced *)b)->contender;
    return (left > right) - (left < right);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct node *)a)->name, ((const struct node *)b)->name);
}

static void forget(void)
{
    if (seed_at_hand == trace_seed)
        return;
    seed_at_hand = trace_seed;
    tdestroy(contenders, free);
    tdestroy(nodes, free);
    contenders = nodes = NULL;
}

/* NULL: it has ended, or none of it is told. */
static struct traced *find(const struct pdk__contender *c)
{
    forget();
    struct traced **found = tfind(&(struct traced){.contender = c}, &contenders, by_contender);
    return found != NULL ? *found : NULL;
}

static void drop(struct traced *t)
{
    tdelete(t, &contenders, by_contender);
    free(t);
}

static struct traced *begin(const struct pdk__contender *c)
{
    struct traced *t = find(c);
    if (t != NULL)
        drop(t);
    t = malloc(sizeof *t);
    if (t == NULL)
        abort();
    *t = (struct traced){.contender = c, .serial = n_serials++};
    if (tsearch(t, &contenders, by_contender) == NULL)
        abort();
    return t;
}

static int number_of(const char *name)
{
    struct node *new = malloc(sizeof *new + strlen(name) + 1), **found;
    if (new == NULL)
        abort();
    new->number = FIRST_NODE + n_nodes;
    strcpy(new->name, name);
    if ((found = tsearch(new, &nodes, by_name)) == NULL)
        abort();
    n_nodes += *found == new;
    if (*found != new)
        free(new);
    return (*found)->number;
}

/* --- what is outside the model ------------------------------------------------------------------------------------ */

/* The model admits one, and has no conditions. NULL: it has this wish. */
static const char *foreign(const struct pdk__wish *wish)
{
    const struct pdk__rule *rule = wish->rule;
    if (rule->by_children || rule->counts_junk)
        return "a permit";
    if (wish->base != NULL)
        return "a writer that goes on as a reader";
    if (wish->conditions->lock_delay_ms > 0)
        return "a lock delay";
    if (wish->conditions->confirmed)
        return "confirmed grants";
    return wish->conditions->min_token > 0 ? "a least token" : NULL;
}

/* --- a listing ---------------------------------------------------------------------------------------------------- */

struct place {
    int own, near, before, ahead;
    bool ours;     /* the nearest is of the same session */
    bool replaced; /* and leaves, perhaps, another in its place */
};

static const char *const message_names[] = {"nothing", "create", "list",     "barrier",   "watch",    "own",
                                            "delete",  "",       "identify", "event",     "down",     "up",
                                            "expired", "",       "",         "",          "acquire",  "release",
                                            "rested",  "due",    "again",    "lease low", "lease ok", "lease expired",
                                            "over",    "left",   "changed"};

static const struct place nowhere = {.own = NOBODY, .near = NOBODY, .before = NOBODY};

/* A position that orders contenders, and no other counts as one. */
static bool ordered(const struct pdk__name *name)
{
    return name->kind != PDK__NAME_JUNK && name->sequence >= 0 && name->sequence < PDK__SEQUENCE_LAST;
}

/* After a lost create: the first with our session and attempt, of those after the one that was looked at last. */
static const char *candidate(const struct pdk__contender *c, const struct pdk__event *ev)
{
    const char *found = NULL;
    int64_t after = *c->node.name != '\0' ? pdk__name_parse(c->node.name).sequence : INT64_MIN, least = INT64_MAX;
    for (size_t i = 0; i < ev->n_children; i++) {
        struct pdk__name name = pdk__name_parse(ev->children[i]);
        if (name.kind == PDK__NAME_OURS && name.session == c->session.id && name.attempt == c->attempt &&
            name.sequence > after && name.sequence < least) {
            least = name.sequence;
            found = ev->children[i];
        }
    }
    return found;
}

static const char *own_name(const struct pdk__contender *c, const struct pdk__event *ev)
{
    if (c->phase == PDK__RECOVERING)
        return candidate(c, ev);
    for (size_t i = 0; i < ev->n_children && c->node.exists == PDK__NODE_YES; i++)
        if (strcmp(ev->children[i], c->node.name) == 0)
            return c->node.name;
    return NULL;
}

static bool tagged(const struct pdk__name *name, unsigned tags)
{
    return (name->kind == PDK__NAME_OURS || name->kind == PDK__NAME_CURATOR) && (tags & 1U << name->tag) != 0;
}

/* Those ahead of OWN, or all of them, that the rule does not pass; false: two have one number, or there is none. */
static bool rank(const struct pdk__contender *c, const struct pdk__event *ev, const char *own, struct place *p)
{
    int64_t at = own != NULL ? pdk__name_parse(own).sequence : INT64_MAX, near = -1, before = -1;
    for (size_t i = 0; i < ev->n_children; i++) {
        struct pdk__name name = pdk__name_parse(ev->children[i]);
        if (name.kind == PDK__NAME_JUNK || (own != NULL && strcmp(ev->children[i], own) == 0) ||
            tagged(&name, c->wish->rule->passes))
            continue;
        if (!ordered(&name) || name.sequence == at || name.sequence == near || name.sequence == before)
            return false;
        if (name.sequence > at)
            continue;
        p->ahead++;
        if (name.sequence > near) {
            before = near;
            near = name.sequence;
            p->before = p->near;
            p->near = number_of(ev->children[i]);
            p->ours = name.kind == PDK__NAME_OURS && name.session == c->session.id;
            p->replaced = tagged(&name, c->wish->rule->replaced);
        } else if (name.sequence > before) {
            before = name.sequence;
            p->before = number_of(ev->children[i]);
        }
    }
    return own == NULL || (at >= 0 && at < PDK__SEQUENCE_LAST);
}

/* --- one message -------------------------------------------------------------------------------------------------- */

struct message_told {
    enum message kind;
    int64_t number;
    int data;
    struct place place;
};

static bool refused(const struct pdk__event *ev)
{
    return ev->outcome == PDK__NO_AUTH || ev->outcome == PDK__REFUSED || ev->outcome == PDK__CHANGED;
}

static bool ours(const struct pdk__contender *c, const struct pdk__event *ev)
{
    return ev->outcome == PDK__OK && ev->owner == c->session.id && ev->token > 0;
}

static const char *take_created(const struct pdk__contender *c, const struct pdk__event *ev, struct message_told *m)
{
    m->kind = CREATE;
    if (ev->outcome == PDK__UNKNOWN || (ev->outcome == PDK__OK && (ev->name == NULL || *ev->name == '\0')))
        m->data = FAILED;
    else if (ev->outcome == PDK__NO_NODE)
        m->data = NO_PATH;
    else if (ours(c, ev))
        m->data = number_of(ev->name);
    else
        return "a create that is refused";
    return m->data == NO_PATH && c->node.parents_made != PDK__OK ? "a path that is refused" : NULL;
}

static const char *take_listed(const struct pdk__contender *c, const struct pdk__event *ev, struct message_told *m)
{
    m->kind = LIST;
    m->data = ev->outcome == PDK__UNKNOWN ? FAILED : 0;
    if (ev->outcome == PDK__UNKNOWN)
        return NULL;
    if (refused(ev))
        return "a listing that is refused";
    const char *own = ev->outcome == PDK__OK ? own_name(c, ev) : NULL;
    if (ev->outcome == PDK__OK && !rank(c, ev, own, &m->place))
        return "numbers that do not order";
    m->place.own = own != NULL ? number_of(own) : NOBODY;
    if (c->phase == PDK__RECOVERING && own == NULL && c->node.lost_creates >= LOST_CREATES_MAX)
        return "creates that are lost again and again";
    return NULL;
}

static const char *take_identified(const struct pdk__contender *c, const struct pdk__event *ev, struct message_told *m)
{
    m->kind = IDENTIFY;
    m->data = ev->outcome == PDK__UNKNOWN ? FAILED : ours(c, ev);
    return refused(ev) ? "a read that is refused" : NULL;
}

static const char *take_watched(const struct pdk__event *ev, struct message_told *m)
{
    m->kind = WATCH;
    m->data = ev->outcome == PDK__UNKNOWN ? FAILED : ev->outcome == PDK__OK;
    return refused(ev) ? "a watch that is refused" : NULL;
}

static const char *take_own(const struct pdk__contender *c, const struct pdk__event *ev, struct message_told *m)
{
    m->kind = OWN;
    m->data = ev->outcome == PDK__UNKNOWN ? FAILED : ours(c, ev) && ev->token == c->node.token;
    return refused(ev) ? "a watch that is refused" : NULL;
}

static const char *take_reply(const struct pdk__contender *c, const struct pdk__event *ev, struct message_told *m)
{
    m->number = (int64_t)ev->op;
    switch (ev->kind) {
    case PDK__EV_CREATED:
        return take_created(c, ev, m);
    case PDK__EV_LISTED:
        return take_listed(c, ev, m);
    case PDK__EV_IDENTIFIED:
        return take_identified(c, ev, m);
    case PDK__EV_WATCHED:
        return take_watched(ev, m);
    case PDK__EV_OWN:
        return take_own(c, ev, m);
    case PDK__EV_BARRIER:
        m->kind = BARRIER;
        m->data = ev->outcome == PDK__OK ? 0 : FAILED;
        return NULL;
    case PDK__EV_DELETED:
        m->kind = DELETE;
        m->data = ev->outcome == PDK__UNKNOWN ? FAILED : 0;
        return NULL;
    default:
        return "another question";
    }
}

/* A watch's event is of the path. The model's machine knows whether it still waits for it. */
static void take_event(const struct traced *t, const struct pdk__contender *c, const struct pdk__event *ev,
                       struct message_told *m)
{
    m->kind = ev->deleted ? EVENT : CHANGED;
    m->number = ev->first;
    m->data = ev->kind == PDK__EV_FIRED ? t->watched : number_of(c->node.name);
}

static enum message clock_message(const struct pdk__contender *c, const struct pdk__event *ev)
{
    if (c->requested && !pdk__phase_grants(c->phase) && ev->now_ms >= c->wish->deadline_ms)
        return RELEASE;
    return c->phase == PDK__BACKOFF && ev->now_ms >= c->rest_ms ? RESTED : DUE;
}

static const char *take_session(const struct pdk__contender *c, const struct pdk__event *ev, struct message_told *m)
{
    m->kind = UP;
    return ev->session != c->session.id && c->node.exists != PDK__NODE_NO ? "another session without a word" : NULL;
}

/* NULL, or why it is outside the model. */
static const char *take(const struct traced *t, const struct pdk__contender *c, const struct pdk__event *ev,
                        struct message_told *m)
{
    static const enum message kinds[] = {[PDK__EV_RELEASE] = RELEASE,
                                         [PDK__EV_RULE] = NOTHING,
                                         [PDK__EV_IDLE] = NOTHING,
                                         [PDK__EV_USED] = NOTHING,
                                         [PDK__EV_LOOK_AGAIN] = AGAIN,
                                         [PDK__EV_SESSION_DOWN] = DOWN,
                                         [PDK__EV_LEASE_OK] = LEASE_OK,
                                         [PDK__EV_LEASE_LOW] = LEASE_LOW,
                                         [PDK__EV_LEASE_EXPIRED] = LEASE_EXPIRED,
                                         [PDK__EV_SESSION_EXPIRED] = EXPIRED,
                                         [PDK__EV_SESSION_OVER] = OVER,
                                         [PDK__EV_SESSION_LEFT] = LEFT,
                                         [PDK__EV_MADE_PARENTS] = NOTHING,
                                         [PDK__EV_RIVALS] = NOTHING,
                                         [PDK__EV_RIVALS_FIRED] = DUE};
    *m = (struct message_told){.place = nowhere};
    switch (ev->kind) {
    case PDK__EV_ACQUIRE:
        m->kind = ACQUIRE;
        return c->spent > 0 ? "used up numbers" : foreign(c->wish);
    case PDK__EV_TIMER:
        m->kind = clock_message(c, ev);
        return NULL;
    case PDK__EV_SESSION_UP:
        return take_session(c, ev, m);
    case PDK__EV_FIRED:
    case PDK__EV_OWN_FIRED:
        take_event(t, c, ev, m);
        return NULL;
    case PDK__EV_RELEASE:
    case PDK__EV_RULE:
    case PDK__EV_IDLE:
    case PDK__EV_USED:
    case PDK__EV_LOOK_AGAIN:
    case PDK__EV_SESSION_DOWN:
    case PDK__EV_LEASE_OK:
    case PDK__EV_LEASE_LOW:
    case PDK__EV_LEASE_EXPIRED:
    case PDK__EV_SESSION_EXPIRED:
    case PDK__EV_SESSION_OVER:
    case PDK__EV_SESSION_LEFT:
    case PDK__EV_MADE_PARENTS:
    case PDK__EV_RIVALS:
    case PDK__EV_RIVALS_FIRED:
        m->kind = kinds[ev->kind];
        return NULL;
    default:
        return take_reply(c, ev, m);
    }
}

/* --- what the code did -------------------------------------------------------------------------------------------- */

struct request_told {
    enum message kind;
    uint64_t op;
    int node;
};

static int request(struct traced *t, const struct pdk__contender *c, const struct pdk__action *a,
                   struct request_told told[2])
{
    told[0] = (struct request_told){.op = a->op};
    switch (a->kind) {
    case PDK__ACT_CREATE:
    case PDK__ACT_BARRIER:
        told[0].kind = a->kind == PDK__ACT_CREATE ? CREATE : BARRIER;
        told[1] = (struct request_told){.kind = LIST, .op = a->op};
        return 2;
    case PDK__ACT_LIST:
        told[0].kind = LIST;
        return 1;
    case PDK__ACT_IDENTIFY:
        told[0].kind = IDENTIFY;
        told[0].node = number_of(a->name);
        return 1;
    case PDK__ACT_WATCH: /* without a name: the same again */
        told[0].kind = WATCH;
        told[0].node = t->watched = a->name != NULL ? number_of(a->name) : t->watched;
        return 1;
    case PDK__ACT_OWN:
        told[0].kind = OWN;
        told[0].node = number_of(c->node.name);
        return 1;
    case PDK__ACT_DELETE:
        told[0].kind = DELETE;
        told[0].node = number_of(c->node.name);
        return 1;
    default:
        return 0;
    }
}

static bool has(const struct pdk__actions *out, enum pdk__action_kind kind)
{
    for (size_t i = 0; i < out->n; i++)
        if (out->list[i].kind == kind)
            return true;
    return false;
}

static void leave(struct traced *t, const char *why)
{
    t->outside = true;
    fprintf(trace_out, "X %d %s\n", t->serial, why);
}

/* Told before the step, which may abort: then the line ends here. */
static void tell_message(const struct traced *t, const struct message_told *m)
{
    const struct place *p = &m->place;
    fprintf(trace_out, "S %d %d %" PRId64 " %d %d %d %d %d %d %d", t->serial, (int)m->kind, m->number, m->data, p->own,
            p->near, p->before, p->ahead, p->ours, p->replaced);
}

static void tell_outcome(struct traced *t, const struct pdk__contender *before, const struct pdk__contender *c,
                         const struct message_told *m, const struct pdk__actions *out)
{
    struct request_told requests[2 * PDK__ACTIONS_MAX];
    int n = 0;
    for (size_t i = 0; i < out->n; i++)
        n += request(t, c, &out->list[i], requests + n);
    fprintf(trace_out, " %d %d %d %d %d %d", phases[c->phase], c->requested, (int)c->node.exists,
            has(out, PDK__ACT_GRANTED), has(out, PDK__ACT_LOST), n);
    for (int i = 0; i < n; i++)
        fprintf(trace_out, " %d %" PRIu64 " %d", (int)requests[i].kind, requests[i].op, requests[i].node);
    fprintf(trace_out, " %s (%d): %s -> %s\n", message_names[m->kind], m->data, pdk__phase_name(before->phase),
            pdk__phase_name(c->phase));
}

/* --- the machine, wrapped ----------------------------------------------------------------------------------------- */

void __real_pdk__contender_init(struct pdk__contender *c, uint64_t *ops, const struct pdk__wish *wish, uint32_t attempt,
                                uint64_t seed, int64_t session, bool connected, bool lease_ok);
void __real_pdk__contender_step(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out);
void __wrap_pdk__contender_init(struct pdk__contender *c, uint64_t *ops, const struct pdk__wish *wish, uint32_t attempt,
                                uint64_t seed, int64_t session, bool connected, bool lease_ok);
void __wrap_pdk__contender_step(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out);

void __wrap_pdk__contender_init(struct pdk__contender *c, uint64_t *ops, const struct pdk__wish *wish, uint32_t attempt,
                                uint64_t seed, int64_t session, bool connected, bool lease_ok)
{
    __real_pdk__contender_init(c, ops, wish, attempt, seed, session, connected, lease_ok);
    if (trace_out == NULL)
        return;
    const struct traced *t = begin(c);
    fprintf(trace_out, "C %d %" PRIu64 " %d %d %d %d\n", t->serial, trace_seed, connected, !lease_ok, wish->try_only,
            wish->conditions->look_ahead);
}

void __wrap_pdk__contender_step(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    struct traced *t = trace_out != NULL ? find(c) : NULL;
    if (t == NULL || t->outside) {
        __real_pdk__contender_step(c, ev, out);
        return;
    }
    const struct pdk__contender before = *c;
    struct message_told m;
    const char *why = take(t, &before, ev, &m);
    if (why != NULL)
        leave(t, why);
    else
        tell_message(t, &m);
    __real_pdk__contender_step(c, ev, out);
    if (why == NULL)
        tell_outcome(t, &before, c, &m, out);
    if (c->phase == PDK__DONE)
        drop(t);
}
