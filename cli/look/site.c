#include "cli/look/site.h"

#include "cli/owner.h"
#include "lib/core/double_barrier.h"

#include <ctype.h>
#include <string.h>

static bool is_ephemeral(const pdk_contender_list *list, size_t i)
{
    return pdk_contender_number(list, i, PDK_CONTENDER_SESSION) != 0;
}

static size_t count_hex(const char *text)
{
    size_t n = 0;
    while (isxdigit((unsigned char)text[n]))
        n++;
    return n;
}

bool pdk__cli_is_curators_member(const char *name)
{
    return strlen(name) == 36 && count_hex(name) == 8 && strspn(name, "0123456789abcdef-") == 36;
}

/* Paddock's members have their session and attempt before the word, Curator's are UUIDs, kazoo's the same without
 * hyphens. */
static bool is_member_name(const char *name)
{
    size_t session = count_hex(name), n = strlen(name);
    if (session == 16 && name[session] == '-') {
        const char *attempt = name + session + 1;
        return count_hex(attempt) == 8 && strcmp(attempt + 8, "-member") == 0;
    }
    return pdk__cli_is_curators_member(name) || (n == 32 && session == n);
}

static bool takes_part(const pdk_contender_list *list, size_t i)
{
    const char *name = pdk_contender_text(list, i, PDK_CONTENDER_NAME);
    return strcmp(name, PDK__READY) == 0 || (is_ephemeral(list, i) && is_member_name(name));
}

/* Newer servers do not tell the kind of a node that this client may not read. Such a node must not hide what its
 * siblings are. */
static bool may_stay(const pdk_contender_list *list, size_t i) { return !is_ephemeral(list, i); }

static bool all(const pdk_contender_list *list, bool (*is)(const pdk_contender_list *list, size_t i))
{
    for (size_t i = 0; i < pdk_contender_list_size(list); i++)
        if (!is(list, i))
            return false;
    return true;
}

bool pdk__cli_is_part(const char *name) { return strcmp(name, "locks") == 0 || strcmp(name, "leases") == 0; }

static bool has(const pdk_contender_list *list, const char *name)
{
    for (size_t i = 0; i < pdk_contender_list_size(list); i++)
        if (strcmp(pdk_contender_text(list, i, PDK_CONTENDER_NAME), name) == 0)
            return true;
    return false;
}

bool pdk__cli_has_leases(const pdk_contender_list *list) { return has(list, "leases"); }

bool pdk__cli_is_ready(const pdk_contender_list *list) { return has(list, PDK__READY); }

enum pdk__cli_site pdk__cli_site(const pdk_contender_list *list)
{
    if (pdk_contender_list_size(list) == 0)
        return SITE_EMPTY;
    if (!pdk__cli_is_junk(list, 0) || pdk_contender_holds(list, 0)) /* junk that is a permit */
        return SITE_LOCK;
    if (pdk__cli_has_leases(list))
        return SITE_SEMAPHORE;
    if (all(list, takes_part))
        return SITE_DOUBLE_BARRIER;
    return all(list, may_stay) ? SITE_DIRECTORY : SITE_UNKNOWN;
}

const char *pdk__cli_site_word(enum pdk__cli_site site)
{
    static const char *const words[] = {[SITE_EMPTY] = "empty",         [SITE_LOCK] = "lock",
                                        [SITE_SEMAPHORE] = "semaphore", [SITE_DOUBLE_BARRIER] = "double_barrier",
                                        [SITE_DIRECTORY] = "directory", [SITE_UNKNOWN] = "unknown"};
    return words[site];
}
