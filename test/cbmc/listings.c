/*
 * All listings of up to four children: contenders of each recipe, ours and Curator's, those of two other libraries, and
 * junk, in each order, with each order of their numbers, ties and the ends of the counter among them. Each contender
 * goes by its own place, and no more hold than the rules admit.
 *
 * Those of ours carry the same session and attempt wherever their names stay different: each is a forged name of the
 * others. The rule of who blocks whom is said here once more, without names.
 */
#include "lib/core/order.h"
#include "lib/core/rule.h"
#include "test/cbmc/search.h"

/* A name is parsed once, or most of the time would go there. */
#define pdk__name_glance glance_at
#include "lib/core/name.c"
#undef pdk__name_glance

enum { MOST = 4, LIMITS = 3, N_ROWS = 2 };

/* The kinds of children: ours by their tags, Curator's by theirs, then these. */
enum { CURATOR = PDK__N_TAGS, KAZOO = 2 * PDK__N_TAGS, RECIPE, JUNK, N_KINDS };

/* The numbers that children have by their rank. */
static const int64_t rows[N_ROWS][MOST] = {{0, 5, 6, PDK__SEQUENCE_LAST - 1}, {INT32_MIN, -1, 7, PDK__SEQUENCE_LAST}};

struct child {
    int kind, rank;
    int64_t number; /* not of junk */
    char name[PDK__NAME_MAX];
    struct pdk__name glanced;
};

static struct child all[MOST];
static const char *names[MOST];
static struct pdk__place places[MOST]; /* each by its own rule */
static size_t n;
static size_t limit; /* the permits of the semaphore */

/* --- names -------------------------------------------------------------------------------------------------------- */

static const char *const tag_texts[PDK__N_TAGS] = {"lock-", "latch-", "__READ__", "__WRIT__", "lease-"};

static bool numbered(const struct child *c) { return c->kind < JUNK; }

/* The one of the recipes whose names have this tag; PDK__N_TAGS: none. */
static int tag(const struct child *c)
{
    return c->kind < CURATOR ? c->kind : c->kind < KAZOO ? c->kind - CURATOR : PDK__N_TAGS;
}

static bool has_twin(size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(all[k].name, all[i].name) == 0)
            return true;
    return false;
}

static void write_name(struct child *c, int attempt)
{
    static const char *const plain[N_KINDS] = {[KAZOO] = "__lock__", [RECIPE] = "x-", [JUNK] = "-member"};
    if (c->kind < CURATOR)
        snprintf(c->name, sizeof c->name, "0100001e4e830000-%08x-%s", attempt, tag_texts[tag(c)]);
    else if (c->kind < KAZOO)
        snprintf(c->name, sizeof c->name, "_c_8612d63e-bf96-%04x-%s", attempt, tag_texts[tag(c)]);
    else
        snprintf(c->name, sizeof c->name, "%d%s", attempt, plain[c->kind]);
    if (numbered(c))
        sprintf(c->name + strlen(c->name), "%010d", (int)c->number);
}

static void name_all(void)
{
    for (size_t i = 0; i < n; i++) {
        names[i] = all[i].name;
        write_name(&all[i], 0);
        for (int attempt = 1; has_twin(i); attempt++)
            write_name(&all[i], attempt);
        all[i].glanced = glance_at(all[i].name);
    }
}

/* --- what blocks what --------------------------------------------------------------------------------------------- */

static bool exclusive(const struct child *c)
{
    return numbered(c) && tag(c) != PDK__TAG_READ && tag(c) != PDK__TAG_PERMIT;
}

/* To a permit, all that is none has come first. */
static int64_t position(const struct child *own, const struct child *other)
{
    return tag(own) == PDK__TAG_PERMIT && tag(other) != PDK__TAG_PERMIT ? INT64_MIN : other->number;
}

static bool in_the_way(const struct child *own, const struct child *other)
{
    if (own == other || position(own, other) >= own->number)
        return false;
    if (tag(own) == PDK__TAG_PERMIT)
        return true;
    if (own->kind == KAZOO && other->kind != KAZOO)
        return false;
    return numbered(other) && !(tag(own) == PDK__TAG_READ && tag(other) == PDK__TAG_READ);
}

static size_t admits(const struct child *c) { return tag(c) == PDK__TAG_PERMIT ? limit : 1; }

static size_t count_blocking(const struct child *own)
{
    size_t blocking = 0;
    for (size_t i = 0; i < n; i++)
        blocking += in_the_way(own, &all[i]);
    return blocking;
}

/* --- places ------------------------------------------------------------------------------------------------------- */

static const struct child *child_of(const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (names[i] == name)
            return &all[i];
    return NULL;
}

struct pdk__name pdk__name_glance(const char *text) { return child_of(text)->glanced; }

static struct pdk__rule rule_of(const struct child *c)
{
    struct pdk__name name = pdk__name_parse(c->name);
    return pdk__rule_of(&name, (int64_t)limit, false);
}

static struct pdk__place place_of(const struct child *c, const struct child *base)
{
    struct pdk__rule rule = rule_of(c);
    return pdk__rule_place(&rule, names, n, c->name, base != NULL ? base->name : NULL);
}

static const struct pdk__place *place(const struct child *c) { return &places[c - all]; }

static bool in_order(const struct child *c) { return c->number >= 0 && c->number < PDK__SEQUENCE_LAST; }

/* As the queue of a contender takes it. */
static bool holds(const struct child *c) { return place(c)->admitted && !place(c)->tied && in_order(c); }

static bool holds_under(const struct child *c, const struct child *base)
{
    struct pdk__place p = place_of(c, base);
    PROVE(!p.baseless, "a base in the listing is found");
    return p.admitted && !p.tied && in_order(c);
}

/* NEAREST is as near as any that blocks OWN, but for ONE. */
static bool is_nearest(const struct child *own, const struct child *nearest, const struct child *one)
{
    if (nearest == one || !in_the_way(own, nearest))
        return false;
    for (size_t i = 0; i < n; i++)
        if (&all[i] != one && in_the_way(own, &all[i]) && position(own, &all[i]) > position(own, nearest))
            return false;
    return true;
}

static void prove_place(const struct child *own)
{
    const struct pdk__place p = *place(own);
    const struct child *nearest = child_of(p.predecessor), *second = child_of(p.before);
    PROVE(p.present, "a contender in the listing has a place");
    PROVE(p.blocking == count_blocking(own), "as many block it as are ahead and not passed");
    PROVE(p.admitted == (p.blocking < admits(own)) && p.next == (p.blocking == admits(own)),
          "fewer than the rule admits do not block");
    PROVE(nearest == NULL ? p.blocking == 0 : is_nearest(own, nearest, NULL),
          "the predecessor is the nearest that blocks");
    PROVE(second == NULL ? p.blocking < 2 : is_nearest(own, second, nearest), "the one before it is the next nearest");
    REACH(second != NULL && p.next);
}

/* --- more than one ------------------------------------------------------------------------------------------------ */

struct holders {
    size_t exclusive, readers, permits;
};

/* kazoo's wait for no other library. */
static struct holders count_holders(void)
{
    struct holders h = {0};
    for (size_t i = 0; i < n; i++) {
        if (!numbered(&all[i]) || all[i].kind == KAZOO || !holds(&all[i]))
            continue;
        h.exclusive += exclusive(&all[i]);
        h.readers += tag(&all[i]) == PDK__TAG_READ;
        h.permits += tag(&all[i]) == PDK__TAG_PERMIT;
    }
    return h;
}

static void prove_exclusion(struct holders h)
{
    PROVE(h.exclusive <= 1, "one holds alone, at most");
    PROVE(h.exclusive == 0 || h.readers == 0, "no reader holds beside one that holds alone");
    PROVE(h.permits == 0 || h.exclusive + h.readers + h.permits <= limit, "no more hold than there are permits");
    REACH(h.readers == MOST);
    REACH(h.permits == LIMITS);
    REACH(h.exclusive == 1 && n == MOST);
}

/* A reader that is made under a writer's number holds beside that writer, and beside readers. */
static void prove_under(const struct child *reader, const struct child *writer)
{
    if (!holds_under(reader, writer))
        return;
    for (size_t i = 0; i < n; i++)
        if (&all[i] != writer && all[i].kind != KAZOO && exclusive(&all[i]))
            PROVE(!holds(&all[i]), "a reader under a writer's number holds beside no other");
    REACH(count_blocking(writer) == 0 && n == MOST);
}

static void prove_all_under(void)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            if (tag(&all[i]) == PDK__TAG_READ && tag(&all[k]) == PDK__TAG_WRITE && all[i].number == all[k].number)
                prove_under(&all[i], &all[k]);
}

/* Where all understand each other, the first is not left waiting. */
static void prove_progress(struct holders h)
{
    bool locks = true, permits = true, ordered = true;
    for (size_t i = 0; i < n; i++) {
        locks &= !numbered(&all[i]) || tag(&all[i]) < PDK__TAG_PERMIT;
        permits &= tag(&all[i]) == PDK__TAG_PERMIT;
        for (size_t k = 0; k < i; k++)
            ordered &= !numbered(&all[i]) || !numbered(&all[k]) || all[i].number != all[k].number;
    }
    const struct child *first = child_of(pdk__order_first(names, n));
    if (first == NULL || !ordered || !(locks || permits) || !in_order(first))
        return;
    PROVE(h.exclusive + h.readers + h.permits > 0 && holds(first), "the first of them holds");
}

/* --- when one goes ------------------------------------------------------------------------------------------------ */

static bool admitted_without(const struct child *own, const struct child *other)
{
    const char *left[MOST];
    size_t n_left = 0;
    for (size_t i = 0; i < n; i++)
        if (&all[i] != other)
            left[n_left++] = names[i];
    struct pdk__rule rule = rule_of(own);
    return pdk__rule_place(&rule, left, n_left, own->name, NULL).admitted;
}

static void prove_deletions(const struct child *own)
{
    const struct pdk__place p = *place(own);
    const struct child *predecessor = child_of(p.predecessor);
    for (size_t i = 0; i < n; i++) {
        if (&all[i] == own)
            continue;
        bool then = admitted_without(own, &all[i]);
        PROVE(!p.admitted || then, "a holder remains one when others go");
        PROVE(p.admitted || admits(own) > 1 || !then || &all[i] == predecessor, "only its predecessor's end admits it");
        PROVE(!then || p.admitted || p.next, "one deletion admits only the next");
    }
    PROVE(!p.next || admitted_without(own, predecessor), "the end of its predecessor admits the next");
}

/* Two of one recipe, or of recipes that go together. */
static bool kin(const struct child *a, const struct child *b)
{
    return numbered(a) && numbered(b) && (tag(a) == PDK__TAG_PERMIT) == (tag(b) == PDK__TAG_PERMIT);
}

static void prove_leader(const struct child *own)
{
    const struct child *predecessor = child_of(place(own)->predecessor);
    for (size_t i = 0; place(own)->leads && i < n; i++)
        if (kin(own, &all[i]) && all[i].number < own->number && &all[i] != predecessor && !place(&all[i])->admitted)
            PROVE(!admitted_without(&all[i], predecessor), "what leads is the first that is admitted");
    REACH(place(own)->next && !place(own)->leads);
}

/* One that comes after all others is admitted exactly where a look before it said so. */
static void prove_look(void)
{
    const struct child *last = &all[n - 1];
    if (!numbered(last) || last->kind == KAZOO)
        return;
    for (size_t i = 0; i + 1 < n; i++)
        if (numbered(&all[i]) && all[i].number >= last->number)
            return;
    struct pdk__rule rule = rule_of(last);
    bool free = pdk__rule_free(&rule, names, n - 1, 1);
    PROVE(free == place(last)->admitted, "a look tells whether one more is admitted");
    REACH(free);
    REACH(!free);
}

/* --- all listings ------------------------------------------------------------------------------------------------- */

static bool has_permit(void)
{
    for (size_t i = 0; i < n; i++)
        if (tag(&all[i]) == PDK__TAG_PERMIT)
            return true;
    return false;
}

static void prove_listing(void)
{
    search_cases++;
    for (size_t i = 0; i < n; i++)
        places[i] = numbered(&all[i]) ? place_of(&all[i], NULL) : (struct pdk__place){0};
    struct holders h = count_holders();
    prove_exclusion(h);
    prove_progress(h);
    prove_all_under();
    prove_look();
    for (size_t i = 0; i < n; i++)
        if (numbered(&all[i])) {
            prove_place(&all[i]);
            prove_deletions(&all[i]);
            prove_leader(&all[i]);
        }
}

static void number_all(const int64_t row[MOST])
{
    for (size_t i = 0; i < n; i++)
        all[i].number = numbered(&all[i]) ? row[all[i].rank] : INT64_MAX;
}

static void prove_ranks(void)
{
    for (int row = 0; row < N_ROWS; row++) {
        number_all(rows[row]);
        name_all();
        for (limit = 1; limit <= (has_permit() ? LIMITS : 1); limit++)
            prove_listing();
    }
}

/* Each rank is another's, or the next above: what is left out has the same order. */
static bool ranks_are_dense(void)
{
    unsigned ranks = 0;
    for (size_t i = 0; i < n; i++)
        ranks |= numbered(&all[i]) ? 1U << all[i].rank : 0;
    return (ranks & (ranks + 1)) == 0;
}

static void prove_with(size_t i)
{
    if (i == n) {
        if (ranks_are_dense())
            prove_ranks();
        return;
    }
    for (all[i].kind = 0; all[i].kind < N_KINDS; all[i].kind++)
        for (all[i].rank = 0; all[i].rank < (numbered(&all[i]) ? MOST : 1); all[i].rank++)
            prove_with(i + 1);
}

static void show(void)
{
    for (size_t i = 0; i < n; i++)
        puts(names[i]);
}

int main(void)
{
    search_show = show;
    for (n = 1; n <= MOST; n++)
        prove_with(0);
    return search_end();
}
