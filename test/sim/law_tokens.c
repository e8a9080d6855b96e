/*
 * Every grant has a token. Later grants of a path have larger tokens, also after the path was deleted and created
 * again. A reader that is made under its writer's number has the writer's token.
 *
 * Excused is such a reader when a hostile client had put another node in the writer's place. The library answers its
 * caller that the writer's lock is lost.
 */
#include "test/sim/laws.h"

static int64_t last[PATHS], last_alone[PATHS]; /* of all, and of those that exclude others of their kind */

static void begin(struct world *w)
{
    (void)w;
    for (int i = 0; i < PATHS; i++)
        last[i] = last_alone[i] = 0;
}

static void granted(struct world *w, const struct claim *claim)
{
    const struct node *node = world_node(w, claim);
    if (node == NULL) { /* too late to matter: a resource that saw the next token refuses this one */
        excuse(EXCUSE_LATE_GRANT);
        return;
    }
    const char *base = claim->machine->wish->base;
    bool under = base != NULL;
    if (laws_writer_replaced(w, claim)) {
        excuse(EXCUSE_REPLACED_WRITER);
        return;
    }
    if (under && claim->token != last_alone[claim->path])
        world_break(w, law_tokens.name, "a reader under its writer's number has another token");
    if (!under && !claim->confirmed && claim->token != node->czxid)
        world_break(w, law_tokens.name, "the token is not the node's czxid");
    if (!under && claim->confirmed && (claim->token <= node->czxid || claim->token > node->mzxid))
        world_break(w, law_tokens.name, "the token is of no write of the node");
    bool reads = claim->tag == PDK__TAG_READ || claim->tag == PDK__TAG_PERMIT;
    int64_t before = reads ? last_alone[claim->path] - under : last[claim->path];
    if (claim->token <= before)
        world_break(w, law_tokens.name, "token %llx after %llx", (unsigned long long)claim->token,
                    (unsigned long long)before);
    if (claim->token > last[claim->path])
        last[claim->path] = claim->token;
    if (!reads)
        last_alone[claim->path] = claim->token;
}

const struct law law_tokens = {.name = "tokens", .begin = begin, .granted = granted};
