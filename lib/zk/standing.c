#include "lib/zk/standing.h"
#include "lib/assert.h"
#include "lib/identity.h"
#include "lib/incident.h"
#include "lib/zk/code.h"
#include "lib/zk/log.h"
#include <stdio.h>
#include <string.h>

/* --- the place in the queue -------------------------------------------------------------------------------------- */

/* One that does not wait for ours can hold beside us. */
static void note_stranger(struct pdk__standing *s, const char *child)
{
    char clean[128];
    if (s->strangers)
        return;
    s->strangers = true;
    const struct pdk__library *library = pdk__name_library(child);
    pdk__incident_clean(clean, sizeof clean, child, strlen(child));
    pdk__log(s->client, PDK_LOG_INFO, "%s: a contender of %s, %s: %s", s->path, library->name, library->conduct, clean);
}

void pdk__standing_describe_misfit(const char *node, char *buf, size_t size)
{
    char clean[128];
    pdk__incident_clean(clean, sizeof clean, node, strlen(node));
    snprintf(buf, size, "contenders of different recipes, %s among them", clean);
}

/* By the first listing that shows our node. */
static void note_misfit(struct pdk__standing *s, const struct pdk__event *event)
{
    char text[PDK__REASON_MAX];
    const char *misfit = pdk__rule_misfit(s->machine->wish->rule, event->children, event->n_children);
    s->parts = pdk__rule_has_parts(event->children, event->n_children);
    if (misfit == NULL)
        return;
    pdk__standing_describe_misfit(misfit, text, sizeof text);
    pdk__text_set(&s->misfit, text);
    pdk__log(s->client, PDK_LOG_WARNING, "%s: %s", s->path, text);
}

/* Junk holds a permit, and no client will ever give it back. */
static void note_holder(struct pdk__standing *s, const char *child)
{
    char clean[120], holder[128];
    pdk__incident_clean(clean, sizeof clean, child, strlen(child));
    snprintf(holder, sizeof holder, "%s%s", clean, pdk__name_glance(child).kind == PDK__NAME_JUNK ? " (junk)" : "");
    pdk__text_set(&s->holder, holder);
}

static void note_listing(struct pdk__standing *s, const struct pdk__event *event)
{
    bool has_node = s->machine->node.exists == PDK__NODE_YES;
    int64_t own = has_node ? pdk__name_parse(s->machine->node.name).sequence : INT64_MAX;
    int64_t lowest = INT64_MAX, nearest = INT64_MIN;
    const char *first = NULL;
    if (!s->known && has_node)
        note_misfit(s, event);
    s->known = true;
    s->ahead = 0;
    s->library = NULL;
    for (size_t i = 0; i < event->n_children; i++) {
        const char *child = event->children[i];
        struct pdk__name name = pdk__name_glance(child);
        if (name.kind == PDK__NAME_FOREIGN)
            note_stranger(s, child);
        int64_t at = pdk__rule_position(s->machine->wish->rule, &name);
        if (at >= own)
            continue;
        s->ahead++;
        if (at > nearest && has_node) {
            nearest = at;
            s->library = pdk__name_library(child);
        }
        if (at < lowest) {
            lowest = at;
            first = child;
        }
    }
    pdk__text_set(&s->who, "");
    if (first != NULL)
        note_holder(s, first);
    else
        pdk__text_set(&s->holder, "");
}

void pdk__standing_owner(char *buf, size_t size, const char *data, int length)
{
    struct pdk__identity id = {0};
    char host[128], label[64];
    buf[0] = '\0';
    if (length <= 0 || length > PDK__IDENTITY_MAX)
        return;
    pdk__identity_parse(&id, data, (size_t)length);
    pdk__incident_clean(host, sizeof host, id.host, strlen(id.host));
    pdk__incident_clean(label, sizeof label, id.label, strlen(id.label));
    if (host[0] != '\0' && id.pid != 0)
        snprintf(buf, size, "%s pid %lld%s%s%s", host, (long long)id.pid, label[0] != '\0' ? " (" : "", label,
                 label[0] != '\0' ? ")" : "");
    else
        snprintf(buf, size, "%s", host);
}

void pdk__standing_predecessor(struct pdk__standing *s, const char *owner)
{
    assert(pdk__client_locked(s->client));
    pdk__text_set(&s->who, owner);
}

void pdk__standing_clear(struct pdk__standing *s)
{
    pdk__text_set(&s->holder, "");
    pdk__text_set(&s->who, "");
    pdk__text_set(&s->misfit, "");
    pdk__text_set(&s->why, "");
}

/* Contenders of Curator go by the same rules. Those of other libraries may not: a program that waits for one, or for
 * its dead client's session, should know. */
static void describe_place(const struct pdk__standing *s, char *buf, size_t size)
{
    bool watches_first = s->ahead == (s->machine->queue.before ? 2 : 1);
    const char *who = pdk__text(&s->who);
    if (!watches_first || who[0] == '\0')
        who = pdk__text(&s->holder);
    bool strange = s->library != NULL && s->library->conduct[0] != '\0';
    if (s->ahead == 0)
        snprintf(buf, size, "first in the queue");
    else
        snprintf(buf, size, "held by %s, %zu ahead%s%s%s%s", who, s->ahead, strange ? ", behind a contender of " : "",
                 strange ? s->library->name : "", strange ? ", " : "", strange ? s->library->conduct : "");
}

static void describe_situation(struct pdk__standing *s, enum pdk__phase phase, char *buf, size_t size)
{
    struct pdk_client *c = s->client;
    char server[300];
    pdk__account_connection(c, server, sizeof server);
    if (c->session.phase != PDK__SESSION_CONNECTED)
        snprintf(buf, size, "%s", server);
    else if (pdk__client_unfit(c, buf, size))
        return;
    else if (s->machine->queue.spent)
        snprintf(buf, size, "the sequence numbers of the path are used up, and contenders are still there");
    else if (phase == PDK__DELAYED)
        snprintf(buf, size, "first in the queue, while a lock delay runs");
    else if (phase == PDK__AWAITING_LEASE)
        snprintf(buf, size, "first in the queue, but the session is not proven to live for long enough (%s%s)", server,
                 c->account.renewal == ZNOAUTH ? "; the path does not permit DELETE, by which it is renewed" : "");
    else if (s->known)
        describe_place(s, buf, size);
    else
        snprintf(buf, size, "%s, which has not answered", server);
}

void pdk__standing_situation(struct pdk__standing *s, char *buf, size_t size)
{
    describe_situation(s, s->machine->phase, buf, size);
}

int64_t pdk__standing_ahead(const struct pdk__standing *s) { return s->known ? (int64_t)s->ahead : -1; }

/* --- why --------------------------------------------------------------------------------------------------------- */

/* The permission that was missing when EVENT reported a refusal. */
static const char *permission(const struct pdk__event *event)
{
    switch (event->kind) {
    case PDK__EV_CREATED:
    case PDK__EV_MADE_PARENTS:
        return "CREATE";
    case PDK__EV_DELETED:
        return "DELETE";
    case PDK__EV_CONFIRMED:
    case PDK__EV_RECORDED:
        return "WRITE";
    default:
        return "READ";
    }
}

static const char *request(enum pdk__event_kind kind)
{
    switch (kind) {
    case PDK__EV_CREATED:
        return "create of its node";
    case PDK__EV_MADE_PARENTS:
        return "create of the lock path, of container nodes";
    case PDK__EV_DELETED:
        return "delete of its node";
    case PDK__EV_CONFIRMED:
        return "write of its node";
    case PDK__EV_RECORDED:
        return "write of the lock path";
    case PDK__EV_LISTED:
        return "list of the lock path";
    default:
        return "read of a node";
    }
}

static void why_refused(enum pdk__event_kind kind, int code, char *buf, size_t size)
{
    char words[100];
    pdk__code_describe(code, words, sizeof words);
    snprintf(buf, size, "%s: %s", request(kind), words);
}

static void why_lost(struct pdk__standing *s, const struct pdk__event *event, char *buf, size_t size)
{
    struct pdk_client *c = s->client;
    char connection[300];
    pdk__account_connection(c, connection, sizeof connection);
    switch (event->kind) {
    case PDK__EV_SESSION_EXPIRED:
        snprintf(buf, size, "the session expired: %.250s", c->account.reason);
        break;
    case PDK__EV_SESSION_OVER:
    case PDK__EV_SESSION_LEFT:
        snprintf(buf, size, "%s", event->error == PDK_ECLOSED ? pdk_strerror(PDK_ECLOSED) : c->account.reason);
        break;
    case PDK__EV_LEASE_EXPIRED:
    case PDK__EV_LEASE_LOW:
    case PDK__EV_TIMER:
        if (c->account.renewal == ZNOAUTH)
            snprintf(buf, size, "the session could not be renewed: the path does not permit DELETE");
        else
            snprintf(buf, size, "no server has confirmed in time that the session lives: %.200s", connection);
        break;
    default:
        snprintf(buf, size, "its node is deleted");
    }
}

static pdk_loss loss_of(const struct pdk__event *event)
{
    switch (event->kind) {
    case PDK__EV_SESSION_EXPIRED:
        return PDK_LOSS_SESSION;
    case PDK__EV_SESSION_OVER:
    case PDK__EV_SESSION_LEFT:
        return event->error == PDK_EEXPIRED ? PDK_LOSS_SESSION : PDK_LOSS_CLOSED;
    case PDK__EV_LEASE_EXPIRED:
    case PDK__EV_LEASE_LOW:
    case PDK__EV_TIMER:
        return PDK_LOSS_LEASE;
    default:
        return PDK_LOSS_NODE;
    }
}

static void why_failed(struct pdk__standing *s, enum pdk__phase before, const struct pdk__event *event, int error,
                       char *buf, size_t size)
{
    buf[0] = '\0';
    if (error == PDK_ETIMEDOUT || error == PDK_EBUSY)
        describe_situation(s, before, buf, size);
    else if (error == PDK_EACCES)
        snprintf(buf, size, "%s is missing", permission(event));
    else if (event->outcome == PDK__REFUSED && (error == PDK_EREFUSED || error == PDK_EPATH))
        why_refused(event->kind, event->code, buf, size);
    else if (event->kind == PDK__EV_CREATED && event->outcome == PDK__NO_NODE &&
             (error == PDK_EREFUSED || error == PDK_EPATH))
        why_refused(PDK__EV_MADE_PARENTS, s->parents_code, buf, size);
    else if (error == PDK_EREFUSED && s->machine->node.lost_creates > 0)
        snprintf(buf, size, "each create of its node ended the connection, and made no node");
    else if (error != PDK_ECLOSED && event->kind == PDK__EV_SESSION_OVER)
        snprintf(buf, size, "%s", pdk__account_beyond(s->client->account.reason, error));
}

/* The program closes the client, and the server that answers takes the node away with the session. */
static bool goes_with_session(const struct pdk__standing *s, const struct pdk__event *event)
{
    const struct pdk_client *c = s->client;
    bool closes = event->kind == PDK__EV_SESSION_OVER && event->error == PDK_ECLOSED;
    return closes && !c->adopted && c->zh != NULL && zoo_state(c->zh) == ZOO_CONNECTED_STATE;
}

static void why_left(struct pdk__standing *s, const struct pdk__event *event, int error, char *buf, size_t size)
{
    if (error == PDK_EUNKNOWN && goes_with_session(s, event))
        snprintf(buf, size, "the node goes with the session, which is closed");
    else if (error == PDK_EACCES)
        snprintf(buf, size, "the path does not permit DELETE, so the node stays until the session ends");
    else if (error == PDK_ELOST)
        snprintf(buf, size, "another client had deleted its node before it was unlocked");
    else if (error == PDK_EUNKNOWN)
        pdk__account_connection(s->client, buf, size);
    else if (event->outcome == PDK__REFUSED)
        why_refused(event->kind, event->code, buf, size);
    else
        buf[0] = '\0';
}

/* --- the log of a contender ------------------------------------------------------------------------------------- */

static void tell_end(struct pdk__standing *s, const struct pdk__event *event, int error)
{
    char why[PDK__REASON_MAX];
    if (error == 0) {
        pdk__log(s->client, PDK_LOG_INFO, "%s: nothing is left on the servers", s->path);
        return;
    }
    why_left(s, event, error, why, sizeof why);
    pdk__text_set(&s->why, why);
    if (error == PDK_EUNKNOWN && goes_with_session(s, event))
        pdk__log(s->client, PDK_LOG_INFO, "%s: %s", s->path, why);
    else
        pdk__log(s->client, PDK_LOG_WARNING, "%s: %s%s%s", s->path, pdk_strerror(error), why[0] != '\0' ? ": " : "",
                 why);
}

static void tell(struct pdk__standing *s, enum pdk__phase before, const struct pdk__event *event,
                 const struct pdk__action *action)
{
    struct pdk_client *c = s->client;
    const char *path = s->path;
    char why[PDK__REASON_MAX], server[300];
    switch (action->kind) {
    case PDK__ACT_GRANTED:
        pdk__log(c, PDK_LOG_INFO, "%s: granted, token %lld, node %s", path, (long long)action->token,
                 s->machine->node.name);
        break;
    case PDK__ACT_FAILED:
        why_failed(s, before, event, action->error, why, sizeof why);
        pdk__text_set(&s->why, why);
        pdk__log(c, PDK_LOG_INFO, "%s: not granted: %s%s%s", path, pdk_strerror(action->error),
                 why[0] != '\0' ? ": " : "", why);
        break;
    case PDK__ACT_SUSPECT:
        pdk__account_connection(c, server, sizeof server);
        pdk__log(c, PDK_LOG_WARNING, "%s: suspect: %lld ms are left, %s", path,
                 (long long)pdk__account_left_ms(c, event->now_ms), server);
        break;
    case PDK__ACT_HELD:
        pdk__log(c, PDK_LOG_INFO, "%s: held again", path);
        break;
    case PDK__ACT_LOST:
        why_lost(s, event, why, sizeof why);
        pdk__text_set(&s->why, why);
        s->loss = loss_of(event);
        pdk__log(c, PDK_LOG_WARNING, "%s: lost: %s", path, why);
        break;
    case PDK__ACT_REVOKED:
        pdk__log(c, PDK_LOG_INFO, "%s: another client asks for it", path);
        break;
    case PDK__ACT_DONE:
        tell_end(s, event, action->error);
        break;
    default:
        break;
    }
}

static void tell_phase(struct pdk__standing *s, enum pdk__phase before, const struct pdk__event *event)
{
    struct pdk_client *c = s->client;
    const char *path = s->path;
    enum pdk__phase now = s->machine->phase;
    char place[PDK__REASON_MAX];
    pdk__log(c, PDK_LOG_DEBUG, "%s: %s -> %s", path, pdk__phase_name(before), pdk__phase_name(now));
    if (now == PDK__WAITING) {
        describe_place(s, place, sizeof place);
        pdk__log(c, PDK_LOG_INFO, "%s: waiting: %s", path, place);
    } else if (now == PDK__RECOVERING) {
        pdk__log(c, PDK_LOG_INFO, "%s: a create has no answer: its node is looked for", path);
    } else if (now == PDK__DELETING && s->machine->requested) {
        pdk__log(c, PDK_LOG_WARNING, "%s: waiting: %s", path,
                 s->machine->queue.spent ? "its sequence numbers are used up; it is made again once it is empty"
                                         : "another contender has its number, so it queues again");
    } else if (now == PDK__BACKOFF && !s->machine->queue.spent) {
        pdk__log(c, PDK_LOG_INFO, "%s: no answer: asked again in %lld ms", path,
                 (long long)(s->machine->rest_ms - event->now_ms));
    }
}

bool pdk__standing_slow(struct pdk__standing *s, char why[PDK__REASON_MAX])
{
    struct pdk_client *c = s->client;
    bool waits = s->machine->requested && !pdk__phase_grants(s->machine->phase);
    if (!waits || s->slow_link == c->account.n_links || !pdk__client_unfit(c, why, PDK__REASON_MAX))
        return false;
    assert(s->slow_link < c->account.n_links);
    s->slow_link = c->account.n_links;
    pdk__log(c, PDK_LOG_WARNING, "%s: not granted yet: %s", s->path, why);
    return true;
}

void pdk__standing_step(struct pdk__standing *s, enum pdk__phase before, const struct pdk__event *event,
                        const struct pdk__actions *actions)
{
    bool joined = !s->known && s->machine->node.exists == PDK__NODE_YES;
    if (event->kind == PDK__EV_MADE_PARENTS)
        s->parents_code = event->code;
    if (event->kind == PDK__EV_LISTED && event->outcome == PDK__OK) {
        note_listing(s, event);
        if (joined)
            pdk__stats_queue(&s->client->stats, s->ahead);
    }
    if (before != s->machine->phase)
        tell_phase(s, before, event);
    for (size_t i = 0; i < actions->n; i++)
        tell(s, before, event, &actions->list[i]);
    if (s->machine->node.exists != PDK__NODE_YES) /* a later node will be after all nodes created until then */
        s->known = false;
}
