#include "lib/core/ask.h"
#include "lib/assert.h"

struct pdk__action *pdk__ask_push(struct pdk__actions *out, enum pdk__action_kind kind)
{
    return pdk__actions_add(out, (struct pdk__action){.kind = kind});
}

struct pdk__action *pdk__ask(struct pdk__contender *c, struct pdk__actions *out, enum pdk__action_kind kind,
                             enum pdk__phase phase)
{
    assert(c->session.connected && c->phase != PDK__DONE);
    struct pdk__action *action = pdk__ask_push(out, kind);
    action->op = c->op = ++*c->ops;
    c->asked_ms = c->now_ms;
    c->phase = phase;
    return action;
}

void pdk__ask_create(struct pdk__contender *c, struct pdk__actions *out)
{
    assert(c->requested && c->node.exists == PDK__NODE_NO);
    assert(c->attempt != 0 && c->attempt != c->spare);
    pdk__ask(c, out, PDK__ACT_CREATE, PDK__CREATING);
    c->node.exists = PDK__NODE_MAYBE;
    c->node.verified = false;
}

/* Sent without waiting for an answer: the servers carry out the requests of a session in order. */
void pdk__ask_create_with_parents(struct pdk__contender *c, struct pdk__actions *out, bool all)
{
    struct pdk__action *parents = pdk__ask_push(out, PDK__ACT_PARENTS);
    pdk__ask_create(c, out);
    parents->op = c->op;
    parents->all = all;
    c->node.parents_made = PDK__OK;
}

void pdk__ask_barrier(struct pdk__contender *c, struct pdk__actions *out)
{
    assert(c->node.exists == PDK__NODE_MAYBE);
    pdk__ask(c, out, PDK__ACT_BARRIER, PDK__RECOVERING);
    c->node.name[0] = '\0';
}

void pdk__ask_own(struct pdk__contender *c, struct pdk__actions *out)
{
    assert(c->session.connected && c->node.exists == PDK__NODE_YES);
    assert(c->node.name[0] != '\0');
    struct pdk__action *action = pdk__ask_push(out, PDK__ACT_OWN);
    action->op = c->node.watch_op = ++*c->ops;
    action->by_exists = c->node.by_exists;
    c->node.watch = PDK__OWN_ASKED;
}

int64_t pdk__ask_own_unwatched_ms(const struct pdk__contender *c)
{
    int64_t unwatched_ms = c->wish->conditions->long_held ? 0 : c->session.timeout_ms / PDK__UNWATCHED_PART;
    return c->node.shown_ms + unwatched_ms;
}

/* After SUSPECT only a look at the node makes a holder of it again: that does not wait. */
int64_t pdk__ask_own_due_ms(const struct pdk__contender *c)
{
    int64_t until_ms = pdk__ask_own_unwatched_ms(c);
    return c->phase == PDK__SUSPECT || until_ms < c->node.again_ms ? c->node.again_ms : until_ms;
}

void pdk__ask_own_if_due(struct pdk__contender *c, struct pdk__actions *out)
{
    if (c->node.watch == PDK__OWN_UNWATCHED && c->now_ms >= pdk__ask_own_due_ms(c))
        pdk__ask_own(c, out);
}

void pdk__ask_watch(struct pdk__contender *c, struct pdk__actions *out, const char *predecessor, bool by_exists)
{
    assert((predecessor != NULL || c->queue.watching) && c->node.exists == PDK__NODE_YES);
    struct pdk__action *action = pdk__ask(c, out, PDK__ACT_WATCH, PDK__WATCHING);
    action->name = predecessor;
    action->by_exists = c->queue.by_exists = by_exists;
    action->by_children = c->wish->rule->by_children;
    action->again = c->queue.watching;
    c->queue.watching = true;
}

void pdk__ask_unwatch(struct pdk__contender *c, struct pdk__actions *out)
{
    if (!c->queue.watching || !c->session.connected)
        return;
    pdk__ask_push(out, PDK__ACT_UNWATCH);
    c->queue.watching = false;
}

void pdk__ask_confirm(struct pdk__contender *c, struct pdk__actions *out)
{
    assert(c->wish->conditions->confirmed && c->node.verified);
    struct pdk__action *action = pdk__ask(c, out, PDK__ACT_CONFIRM, PDK__CONFIRMING);
    action->version = c->node.version;
    action->revoked = c->node.revoked;
}

void pdk__ask_record(struct pdk__contender *c, struct pdk__actions *out, int32_t version)
{
    assert(c->wish->conditions->lock_delay_ms > 0 && c->record.ours != PDK__RECORD_YES);
    pdk__ask(c, out, PDK__ACT_RECORD, PDK__WRITING_HOLDER)->version = version;
    c->record.ours = PDK__RECORD_MAYBE;
}

void pdk__ask_clear(struct pdk__contender *c, struct pdk__actions *out)
{
    assert(c->record.ours == PDK__RECORD_YES);
    struct pdk__action *action = pdk__ask_push(out, PDK__ACT_CLEAR);
    action->op = c->record.clear_op = ++*c->ops;
    action->version = c->record.version;
}

void pdk__ask_rivals(struct pdk__contender *c, struct pdk__actions *out)
{
    assert(c->session.connected && c->node.exists == PDK__NODE_YES);
    pdk__ask_push(out, PDK__ACT_RIVALS)->op = c->rivals.op = ++*c->ops;
    c->rivals.state = PDK__RIVALS_ASKED;
}

/* Numbers of servers before 3.6 become negative. */
static bool near_end(const struct pdk__contender *c)
{
    int64_t sequence = pdk__name_parse(c->node.name).sequence;
    return sequence >= PDK__NAME_NEAR_END || sequence < 0;
}

void pdk__ask_delete(struct pdk__contender *c, struct pdk__actions *out)
{
    assert((!c->requested || c->queue.leaves) && c->node.exists == PDK__NODE_YES);
    /* The watch is known to be removed once the delete, sent after it, is answered. Until then both are sent again. */
    if (c->queue.watching)
        pdk__ask_push(out, PDK__ACT_UNWATCH);
    pdk__own_node_forget_watch(&c->node);
    if (c->record.ours == PDK__RECORD_YES) /* a record that MAY be ours has no known version: it could be another's */
        pdk__ask_clear(c, out);
    if (near_end(c))
        pdk__ask_push(out, PDK__ACT_RENEW);
    pdk__ask(c, out, PDK__ACT_DELETE, PDK__DELETING);
    c->node.n_deletes++;
}
