/* Listings of some paths, with any names and any data: who waits for whom, and what is wrong. */
#include "cli/look/census.h"
#include "cli/look/diagnosis.h"
#include "lib/core/order.h"
#include "lib/zk/listing.h"
#include "test/fuzz/fuzz.h"

const char pdk__fuzz_name[] = "census";

enum { PLACES = 3, NODES = 24 };

struct scene {
    struct pdk_contender_list lists[PLACES];
    struct pdk__listing_item items[PLACES][NODES];
    struct pdk__cli_place places[PLACES];
    struct pdk__cli_tree tree;
};

/* A line is the digit of a place, a digit for its session, a name, and after a space the node's data. */
static void add(struct scene *s, char *line, int64_t token)
{
    struct pdk_contender_list *list = &s->lists[(unsigned char)line[0] % PLACES];
    if (line[0] == '\0' || line[1] == '\0' || line[2] == '\0' || list->n == NODES)
        return;
    char *name = line + 2, *data = strchr(name, ' ');
    data = data != NULL ? data : name + strlen(name);
    if (*data != '\0')
        *data++ = '\0';
    struct pdk__listing_item *item = &list->items[list->n];
    *item = (struct pdk__listing_item){.name = name, .data = data, .size = strlen(data)};
    item->stat.czxid = token;
    item->stat.ephemeralOwner = line[1] - '0';
    item->parsed = pdk__name_parse(name);
    pdk__identity_parse(&item->identity, data, item->size);
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i].name, name) == 0)
            return; /* the servers have each name once */
    list->n++;
}

static int compare(const void *a, const void *b)
{
    const struct pdk__listing_item *x = a, *y = b;
    return pdk__order_compare(x->name, y->name);
}

static void build(struct scene *s, char *text)
{
    static char paths[PLACES][4] = {"/a", "/b", "/c"};
    int64_t token = 1;
    *s = (struct scene){.tree = {.places = s->places, .n = PLACES}};
    for (size_t p = 0; p < PLACES; p++) {
        s->lists[p] = (struct pdk_contender_list){.path = paths[p], .items = s->items[p]};
        s->places[p] = (struct pdk__cli_place){.path = paths[p], .list = &s->lists[p]};
    }
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        add(s, line, token++);
    for (size_t p = 0; p < PLACES; p++) {
        if (s->lists[p].n > 0)
            qsort(s->items[p], s->lists[p].n, sizeof **s->items, compare);
        s->tree.n_contenders += s->lists[p].n;
    }
}

/* In a circle each waits for the next one, and none can go on. */
static void check_circle(const struct pdk__cli_census *c, size_t deadlock)
{
    size_t circle[PLACES * NODES + 1];
    size_t n = pdk__cli_waits_circle(&c->waits, &c->verdict, deadlock, circle);
    MUST(n >= 1 && n <= c->waits.n_actors);
    for (size_t i = 0; i < n; i++) {
        const struct pdk__cli_wait *wait = &c->waits.list[circle[i]];
        bool leads = false;
        for (size_t k = 0; k < wait->n; k++)
            leads = leads || wait->blockers[k] == c->waits.list[circle[(i + 1) % n]].actor;
        MUST(leads && c->verdict.stuck[wait->actor]);
    }
}

static void check(const struct pdk__cli_census *c)
{
    char who[500];
    for (size_t i = 0; i < c->waits.n; i++)
        MUST(c->reasons[i].node < c->n_nodes && c->reasons[i].holder < c->waits.n_actors);
    for (size_t a = 0; a < c->waits.n_actors; a++) {
        pdk__cli_actor(c, a, who, sizeof who);
        MUST(strchr(who, '\x1b') == NULL && strchr(who, '\n') == NULL);
    }
    for (size_t d = 1; d <= c->verdict.n_deadlocks; d++)
        check_circle(c, d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct scene s;
    struct pdk__cli_census first, second;
    char *text = text_of(data, size);
    build(&s, text);
    MUST(pdk__cli_census_take(&first, &s.tree, NULL, false));
    check(&first);
    MUST(pdk__cli_census_take(&second, &s.tree, &s.tree, false)); /* the same nodes, twice */
    MUST(second.waits.n == first.waits.n && second.verdict.n_deadlocks == first.verdict.n_deadlocks);
    pdk__cli_census_free(&first);
    pdk__cli_census_free(&second);
    for (size_t p = 0; p < PLACES; p++)
        json_decref(pdk__cli_diagnose(&s.lists[p]));
    free(text);
    return 0;
}
