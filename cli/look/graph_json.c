#include "cli/look/graph.h"

#include "cli/json.h"
#include "cli/look/listing.h"
#include "cli/owner.h"

#include <stdio.h>
#include <stdlib.h>

static json_t *number(size_t n) { return json_integer((json_int_t)n); }

static json_t *actor_object(const struct pdk__cli_census *census, size_t actor)
{
    char session[24];
    json_t *object = json_object();
    size_t node = census->speaker[actor], i = census->nodes[node].i;
    const pdk_contender_list *list = pdk__cli_node_list(census, node);
    snprintf(session, sizeof session, "%016llx",
             (unsigned long long)pdk_contender_number(list, i, PDK_CONTENDER_SESSION));
    json_object_set_new(object, "id", number(actor));
    pdk__cli_json_text(object, "session", session);
    pdk__cli_json_text(object, "host", pdk_contender_text(list, i, PDK_CONTENDER_HOST));
    json_object_set_new(object, "pid", json_integer(pdk_contender_number(list, i, PDK_CONTENDER_PID)));
    json_object_set_new(object, "thread", json_integer(pdk_contender_number(list, i, PDK_CONTENDER_THREAD)));
    pdk__cli_json_text(object, "label", pdk_contender_text(list, i, PDK_CONTENDER_LABEL));
    pdk__cli_json_text(object, "dialect", pdk__cli_library(list, i));
    json_object_set_new(object, "stuck", json_boolean(census->verdict.stuck[actor]));
    json_object_set_new(object, "holds", json_array());
    return object;
}

static json_t *actors(const struct pdk__cli_census *census)
{
    json_t *all = json_array();
    for (size_t a = 0; a < census->waits.n_actors; a++)
        json_array_append_new(all, actor_object(census, a));
    for (size_t node = 0; node < census->n_nodes; node++) {
        if (!census->nodes[node].holds)
            continue;
        json_t *hold = json_object();
        pdk__cli_json_text(hold, "path", pdk__cli_node_path(census, node));
        pdk__cli_json_text(
            hold, "node",
            pdk_contender_text(pdk__cli_node_list(census, node), census->nodes[node].i, PDK_CONTENDER_NAME));
        json_t *holder = json_array_get(all, census->nodes[node].actor);
        json_array_append_new(json_object_get(holder, "holds"), hold);
    }
    return all;
}

static json_t *wait_object(const struct pdk__cli_census *census, size_t i)
{
    const struct pdk__cli_wait *wait = &census->waits.list[i];
    const struct pdk__cli_reason *reason = &census->reasons[i];
    const pdk_contender_list *list = pdk__cli_node_list(census, reason->node);
    size_t at = census->nodes[reason->node].i;
    json_t *object = json_object(), *blockers = json_array();
    for (size_t k = 0; k < wait->n; k++)
        json_array_append_new(blockers, number(wait->blockers[k]));
    json_object_set_new(object, "actor", number(wait->actor));
    pdk__cli_json_text(object, "kind", reason->command ? "command" : "lock");
    pdk__cli_json_text(object, "path", pdk__cli_node_path(census, reason->node));
    pdk__cli_json_text(object, "node", pdk_contender_text(list, at, PDK_CONTENDER_NAME));
    json_object_set_new(object, "since_ms", json_integer(pdk_contender_number(list, at, PDK_CONTENDER_SINCE_MS)));
    json_object_set_new(object, "for", blockers);
    json_object_set_new(object, "needs", number(wait->excess));
    json_object_set_new(object, "any_of", json_boolean(wait->excess < wait->n));
    return object;
}

static json_t *deadlock_object(const struct pdk__cli_census *census, size_t deadlock, size_t *circle)
{
    json_t *object = json_object(), *members = json_array(), *waits = json_array();
    for (size_t a = 0; a < census->waits.n_actors; a++)
        if (census->verdict.deadlock[a] == deadlock)
            json_array_append_new(members, number(a));
    size_t n = pdk__cli_waits_circle(&census->waits, &census->verdict, deadlock, circle);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(waits, number(circle[i]));
    json_object_set_new(object, "actors", members);
    json_object_set_new(object, "cycle", waits);
    return object;
}

static json_t *deadlocks(const struct pdk__cli_census *census)
{
    json_t *all = json_array();
    size_t *circle = calloc(census->waits.n_actors + 1, sizeof *circle);
    for (size_t d = 1; circle != NULL && d <= census->verdict.n_deadlocks; d++)
        json_array_append_new(all, deadlock_object(census, d, circle));
    free(circle);
    return all;
}

int pdk__cli_graph_json(const struct pdk__cli_census *census)
{
    json_t *top = json_object(), *waits = json_array();
    for (size_t i = 0; i < census->waits.n; i++)
        json_array_append_new(waits, wait_object(census, i));
    json_object_set_new(top, "paths", number(census->tree->n));
    json_object_set_new(top, "looked_at", number(census->tree->n_paths));
    json_object_set_new(top, "refused", number(census->tree->n_refused));
    json_object_set_new(top, "truncated", json_boolean(census->tree->truncated || census->truncated));
    json_object_set_new(top, "actors", actors(census));
    json_object_set_new(top, "waits", waits);
    json_object_set_new(top, "deadlocks", deadlocks(census));
    return pdk__cli_json_print(top);
}
