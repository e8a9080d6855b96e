#include "cli/look/diagnosis.h"

#include "cli/conflicts.h"
#include "cli/look/counter.h"
#include "cli/look/findings.h"
#include "cli/look/site.h"
#include "cli/owner.h"
#include "lib/core/name.h"

#include <string.h>
#include <zookeeper/zookeeper.h>

/* --- the recipe -------------------------------------------------------------------------------------------------- */

enum { MUTEX = 1, LEADER = 2, RWLOCK = 4, PERMITS = 8, OTHER = 16 };

static unsigned recipe_of(const pdk_contender_list *list, size_t i)
{
    static const unsigned recipes[PDK__N_TAGS] = {[PDK__TAG_LOCK] = MUTEX,
                                                  [PDK__TAG_LATCH] = LEADER,
                                                  [PDK__TAG_READ] = RWLOCK,
                                                  [PDK__TAG_WRITE] = RWLOCK,
                                                  [PDK__TAG_PERMIT] = PERMITS};
    struct pdk__name name = pdk__name_parse(pdk_contender_text(list, i, PDK_CONTENDER_NAME));
    if (name.kind == PDK__NAME_JUNK)
        return 0;
    return name.kind == PDK__NAME_FOREIGN ? OTHER : recipes[name.tag];
}

static unsigned recipes_of(const pdk_contender_list *list)
{
    unsigned all = 0;
    for (size_t i = 0; i < pdk_contender_list_size(list); i++)
        all |= recipe_of(list, i);
    return all;
}

/* Of a path without contenders. Junk that makes it a lock is permits. */
static const char *recipe_of_site(enum pdk__cli_site site)
{
    if (site == SITE_LOCK)
        return "permits";
    bool told = site == SITE_SEMAPHORE || site == SITE_DOUBLE_BARRIER || site == SITE_DIRECTORY;
    return told ? pdk__cli_site_word(site) : "none";
}

const char *pdk__cli_diagnosis_recipe(const pdk_contender_list *list)
{
    switch (recipes_of(list)) {
    case 0:
        return recipe_of_site(pdk__cli_site(list));
    case MUTEX:
        return "mutex";
    case LEADER:
        return "leader";
    case RWLOCK:
    case RWLOCK | MUTEX: /* which goes with it, as a writer does */
        return "rwlock";
    case PERMITS:
        return "permits";
    case OTHER:
        return "foreign";
    default:
        return "mixed";
    }
}

/* --- nodes of one kind ------------------------------------------------------------------------------------------- */

typedef bool (*check)(const pdk_contender_list *list, size_t i);

/* One finding for all nodes of which IS is true; TEXT says what they are. */
static void find_nodes(json_t *all, const pdk_contender_list *list, check is, const char *code, const char *advice,
                       const char *text)
{
    json_t *finding = NULL;
    for (size_t i = 0; i < pdk_contender_list_size(list); i++) {
        if (!is(list, i))
            continue;
        if (finding == NULL)
            finding = pdk__cli_finding(all, code, advice, "%s", text);
        pdk__cli_finding_node(finding, pdk_contender_text(list, i, PDK_CONTENDER_NAME));
    }
}

static bool is_unknown(const pdk_contender_list *list, size_t i)
{
    return pdk_contender_number(list, i, PDK_CONTENDER_DIALECT) == PDK_DIALECT_FOREIGN && !pdk__cli_is_kazoo(list, i);
}

/* Of which there are contenders: this library's and Curator's, which go together, kazoo's, go-zookeeper's, others. */
static unsigned libraries_of(const pdk_contender_list *list)
{
    unsigned libraries = 0;
    for (size_t i = 0; i < pdk_contender_list_size(list); i++)
        if (!pdk__cli_is_junk(list, i))
            libraries |= pdk__cli_is_kazoo(list, i) ? 2 : pdk__cli_is_go(list, i) ? 4 : is_unknown(list, i) ? 8 : 1;
    return libraries;
}

/* Among themselves all is well. */
static void find_foreign(json_t *all, const pdk_contender_list *list)
{
    unsigned libraries = libraries_of(list);
    if ((libraries & (libraries - 1)) == 0)
        return;
    find_nodes(all, list, pdk__cli_is_kazoo, FOREIGN,
               "use the subclass of kazoo's Lock that CAVEATS in paddock(1) has, or give kazoo a path of its own",
               "contenders of kazoo, which see each other only, and hold it beside any other holder");
    find_nodes(
        all, list, pdk__cli_is_go, FOREIGN,
        "keep the path free of nodes that are no contenders, and do not rely on the holder being notified",
        "contenders of go-zookeeper, which wait for all others, but fail at a node without a number, and are not "
        "notified when they lose the lock");
    find_nodes(all, list, is_unknown, FOREIGN, "give that recipe a path of its own",
               "contenders of an unknown recipe: this library waits for them, and they may not wait for others");
}

static bool is_junk(const pdk_contender_list *list, size_t i)
{
    bool part = pdk__cli_is_part(pdk_contender_text(list, i, PDK_CONTENDER_NAME)) && pdk__cli_has_leases(list);
    return pdk__cli_is_junk(list, i) && !part;
}

/* The members of a double barrier have no number, and nodes that stay can be the paths of other locks. */
static void find_junk(json_t *all, const pdk_contender_list *list)
{
    size_t n = pdk_contender_list_size(list);
    bool permits = n > 0 && pdk_contender_holds(list, n - 1); /* junk is last */
    enum pdk__cli_site site = pdk__cli_site(list);
    if (site == SITE_DOUBLE_BARRIER || site == SITE_DIRECTORY)
        return;
    find_nodes(all, list, is_junk, JUNK,
               "move them, once 'paddock ls -r' has shown what lies below: the path of a lock is for that lock alone",
               permits ? "nodes that no lock library could have created, of which each takes a permit"
                       : "nodes that no lock library could have created; other libraries fail at them");
}

static bool is_curators_member(const pdk_contender_list *list, size_t i)
{
    return pdk__cli_is_curators_member(pdk_contender_text(list, i, PDK_CONTENDER_NAME));
}

/* Once "ready" stands, all have come. */
static void find_early(json_t *all, const pdk_contender_list *list)
{
    if (pdk__cli_site(list) == SITE_DOUBLE_BARRIER && !pdk__cli_is_ready(list))
        find_nodes(all, list, is_curators_member, EARLY,
                   "have them look, once they have entered, whether all are there; or use a Curator later than 5.9.0",
                   "members of Curator's that wait in a double barrier: from 4.1.0 to 5.9.0 their entry can end before "
                   "all have come, when the connection is lost and made again (GH-1290)");
}

static bool is_persistent(const pdk_contender_list *list, size_t i)
{
    bool seen = pdk_contender_number(list, i, PDK_CONTENDER_TOKEN) != 0;
    return !pdk__cli_is_junk(list, i) && seen && pdk_contender_number(list, i, PDK_CONTENDER_SESSION) == 0;
}

static void find_persistent(json_t *all, const pdk_contender_list *list)
{
    find_nodes(all, list, is_persistent, PERSISTENT,
               "delete them; 'paddock break --force' does that to the holder's node",
               "contenders' nodes that are not ephemeral, and stay when their sessions end");
}

static bool is_unreadable(const pdk_contender_list *list, size_t i)
{
    return !pdk_contender_number(list, i, PDK_CONTENDER_READABLE);
}

static void find_unreadable(json_t *all, const pdk_contender_list *list)
{
    find_nodes(all, list, is_unreadable, UNREADABLE,
               "give all contenders READ in the ACL of the nodes, or look with their credentials (--auth)",
               "nodes whose ACL does not permit READ here; contenders that may not read them wait longer, or fail");
}

/* Where no contender is, a path that nobody may write below is no lock's. Above the paths of other locks, and a
 * semaphore's parts, nobody need delete. */
static void find_acl(json_t *all, const pdk_contender_list *list)
{
    const char *who = pdk_contender_list_text(list, PDK_LIST_LACKING);
    int64_t lacks = pdk_contender_list_number(list, PDK_LIST_LACKS);
    enum pdk__cli_site site = pdk__cli_site(list);
    if (site == SITE_DIRECTORY || site == SITE_SEMAPHORE)
        return;
    if ((lacks & ZOO_PERM_CREATE) != 0 && recipes_of(list) != 0)
        pdk__cli_finding(all, ACL_LACKS, "give contenders CREATE, READ and DELETE in the ACL of the path",
                         "the ACL of the path permits CREATE to nobody: no new contender can queue");
    else if ((lacks & ZOO_PERM_DELETE) != 0)
        pdk__cli_finding(all, ACL_LACKS, "give those who may CREATE also READ and DELETE in the ACL of the path",
                         "the ACL of the path lets %s queue, and does not permit DELETE: its nodes stay until its "
                         "sessions end",
                         who);
    else if (lacks == ZOO_PERM_READ)
        pdk__cli_finding(all, ACL_LACKS, "give those who may CREATE also READ and DELETE in the ACL of the path",
                         "the ACL of the path lets %s create nodes, and does not permit READ: it is granted nothing",
                         who);
}

static bool is_dead(const pdk_contender_list *list, size_t i)
{
    return pdk_contender_number(list, i, PDK_CONTENDER_DEAD);
}

static void find_orphans(json_t *all, const pdk_contender_list *list)
{
    find_nodes(all, list, is_dead, ORPHAN,
               "wait until the session has timed out; 'paddock break --force' deletes the holder's node at once",
               "nodes of processes of this machine that have ended; they block until their sessions have timed out");
}

/* --- ties -------------------------------------------------------------------------------------------------------- */

/* A reader stands under its writer's number as long as both are there. */
static bool is_tie(const pdk_contender_list *list, size_t i, size_t k)
{
    int64_t a = pdk_contender_number(list, i, PDK_CONTENDER_MODE),
            b = pdk_contender_number(list, k, PDK_CONTENDER_MODE);
    bool under = (a == PDK_MODE_READ && b == PDK_MODE_WRITE) || (a == PDK_MODE_WRITE && b == PDK_MODE_READ);
    bool one_session = pdk_contender_number(list, i, PDK_CONTENDER_SESSION) ==
                       pdk_contender_number(list, k, PDK_CONTENDER_SESSION);
    return pdk_contender_number(list, i, PDK_CONTENDER_SEQUENCE) ==
               pdk_contender_number(list, k, PDK_CONTENDER_SEQUENCE) &&
           !(under && one_session);
}

/* The list has equal numbers beside each other, and junk last. */
static void find_ties(json_t *all, const pdk_contender_list *list)
{
    json_t *finding = NULL;
    for (size_t i = 1; i < pdk_contender_list_size(list); i++) {
        if (pdk_contender_number(list, i, PDK_CONTENDER_SEQUENCE) !=
            pdk_contender_number(list, i - 1, PDK_CONTENDER_SEQUENCE))
            finding = NULL;
        if (pdk__cli_is_junk(list, i) || !is_tie(list, i, i - 1))
            continue;
        if (finding == NULL) {
            finding = pdk__cli_finding(all, TIE,
                                       "delete those whose owner is not known; look at the counter of the path",
                                       "contenders with the same number, %lld: there is no order among them",
                                       (long long)pdk_contender_number(list, i, PDK_CONTENDER_SEQUENCE));
            pdk__cli_finding_node(finding, pdk_contender_text(list, i - 1, PDK_CONTENDER_NAME));
        }
        pdk__cli_finding_node(finding, pdk_contender_text(list, i, PDK_CONTENDER_NAME));
    }
}

/* --- settings ---------------------------------------------------------------------------------------------------- */

static void find_mixed(json_t *all, const pdk_contender_list *list)
{
    static const char *const advice[N_CONFLICTS] = {
        [CONFLICT_RECIPES] = "give each recipe a path of its own",
        [CONFLICT_CONFIRMED] = "use --confirmed for all contenders, or for none",
        [CONFLICT_DELAY] = "use --lock-delay for all contenders, or for none",
        [CONFLICT_LIMITS] = "use the same --limit for all contenders; after a change of it, wait until the older "
                            "permits are back",
        [CONFLICT_KAZOO] = NULL}; /* a finding of another kind */
    struct pdk__cli_conflicts c = {0};
    pdk__cli_conflicts_add(&c, list);
    unsigned found = pdk__cli_conflicts_found(&c);
    for (int i = 0; i < N_CONFLICTS; i++)
        if ((found & 1U << i) != 0 && advice[i] != NULL)
            pdk__cli_finding(all, MIXED, advice[i], "%s", pdk__cli_conflict_texts[i]);
}

static void find_counter(json_t *all, const pdk_contender_list *list)
{
    char text[256];
    struct pdk__cli_counter counter = pdk__cli_counter(list);
    pdk__cli_counter_text(&counter, text, sizeof text);
    if (*text != '\0')
        pdk__cli_finding(all, COUNTER, pdk__cli_counter_advice, "%s", text);
}

json_t *pdk__cli_diagnose(const pdk_contender_list *list)
{
    json_t *all = json_array();
    find_foreign(all, list);
    find_junk(all, list);
    find_early(all, list);
    find_ties(all, list);
    find_persistent(all, list);
    find_unreadable(all, list);
    find_acl(all, list);
    find_mixed(all, list);
    find_counter(all, list);
    find_orphans(all, list);
    return all;
}
