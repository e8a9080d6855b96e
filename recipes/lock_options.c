#include "recipes/lock_options.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include <limits.h>
#include <string.h>

/* --- the rows ---------------------------------------------------------------------------------------------------- */

enum { DATA_MAX = 65536, DAY_MS = 86400000, ALL = PDK__MUTEX | PDK__RWLOCK | PDK__SEMAPHORE | PDK__MULTILOCK };

enum type { FLAG, INT, UNSIGNED, INT64 };

/* An option but the data: its place, its range from 0 on, and the kinds that have it. The default is 0. */
struct row {
    size_t at;
    enum type type;
    int64_t most;
    unsigned kinds;
    bool of_node; /* objects that share a node have the same */
};

enum { MIN_TOKEN, CONFIRMED, LOCK_DELAY, LOOK_AHEAD, REFUSE_MIXED, UNLOCK_NOWAIT, LOCAL_HANDOVER, IDLE_HOLD, N_ROWS };

#define AT(member) offsetof(pdk_lock_options, member)

static const struct row rows[N_ROWS] = {
    [MIN_TOKEN] = {AT(conditions.min_token), INT64, INT64_MAX, ALL, true},
    [CONFIRMED] = {AT(conditions.confirmed), FLAG, true, ALL, true},
    [LOCK_DELAY] = {AT(conditions.lock_delay_ms), INT, DAY_MS, PDK__MUTEX, true},
    [LOOK_AHEAD] = {AT(conditions.look_ahead), FLAG, true, PDK__MUTEX | PDK__RWLOCK | PDK__MULTILOCK, true},
    [REFUSE_MIXED] = {AT(unmixed), FLAG, true, ALL | PDK__LEADER, true},
    [UNLOCK_NOWAIT] = {AT(unlock_nowait), FLAG, true, ALL, false},
    [LOCAL_HANDOVER] = {AT(handover_budget), UNSIGNED, UINT_MAX, PDK__MUTEX, false},
    [IDLE_HOLD] = {AT(idle_hold_ms), INT, DAY_MS, PDK__MUTEX | PDK__RWLOCK, false},
};

static int64_t get(const pdk_lock_options *o, const struct row *row)
{
    const void *at = (const char *)o + row->at;
    switch (row->type) {
    case FLAG:
        return *(const bool *)at;
    case INT:
        return *(const int *)at;
    case UNSIGNED:
        return *(const unsigned *)at;
    default:
        return *(const int64_t *)at;
    }
}

static int set(pdk_lock_options *o, unsigned option, int64_t value)
{
    const struct row *row = &rows[option];
    if (o == NULL || value < 0 || value > row->most)
        return PDK_EINVAL;
    void *at = (char *)o + row->at;
    switch (row->type) {
    case FLAG:
        *(bool *)at = value != 0;
        break;
    case INT:
        *(int *)at = (int)value;
        break;
    case UNSIGNED:
        *(unsigned *)at = (unsigned)value;
        break;
    default:
        *(int64_t *)at = value;
    }
    return 0;
}

/* --- what the program sets --------------------------------------------------------------------------------------- */

pdk_lock_options *pdk_lock_options_new(void) { return pdk__alloc(sizeof(pdk_lock_options)); }

void pdk_lock_options_free(pdk_lock_options *o)
{
    if (o != NULL)
        pdk__lock_options_clear(o);
    pdk__free(o);
}

int pdk_lock_options_set_data(pdk_lock_options *o, const void *data, size_t size)
{
    if (o == NULL || (data == NULL && size > 0) || size > DATA_MAX)
        return PDK_EINVAL;
    void *copy = pdk__memdup(data, size);
    if (copy == NULL)
        return PDK_ENOMEM;
    pdk__free(o->data);
    o->data = copy;
    o->data_size = size;
    return 0;
}

int pdk_lock_options_set_min_token(pdk_lock_options *o, int64_t min_token) { return set(o, MIN_TOKEN, min_token); }

int pdk_lock_options_set_confirmed(pdk_lock_options *o, bool confirmed) { return set(o, CONFIRMED, confirmed); }

int pdk_lock_options_set_lock_delay_ms(pdk_lock_options *o, int delay_ms) { return set(o, LOCK_DELAY, delay_ms); }

int pdk_lock_options_set_look_ahead(pdk_lock_options *o, bool look_ahead) { return set(o, LOOK_AHEAD, look_ahead); }

int pdk_lock_options_set_refuse_mixed(pdk_lock_options *o, bool refuse) { return set(o, REFUSE_MIXED, refuse); }

int pdk_lock_options_set_unlock_nowait(pdk_lock_options *o, bool nowait) { return set(o, UNLOCK_NOWAIT, nowait); }

int pdk_lock_options_set_keep(pdk_lock_options *o, unsigned turns, int idle_ms)
{
    int rc = set(o, IDLE_HOLD, idle_ms); /* a number of turns is never out of range */
    return rc == 0 ? set(o, LOCAL_HANDOVER, turns) : rc;
}

/* --- what a lock makes of them ----------------------------------------------------------------------------------- */

bool pdk__lock_options_suit(const pdk_lock_options *o, enum pdk__lock_kinds kind)
{
    for (const struct row *row = rows; row < rows + N_ROWS; row++)
        if (get(o, row) != 0 && (row->kinds & (unsigned)kind) == 0)
            return false;
    return true;
}

bool pdk__lock_options_alike(const pdk_lock_options *a, const pdk_lock_options *b)
{
    for (const struct row *row = rows; row < rows + N_ROWS; row++)
        if (row->of_node && get(a, row) != get(b, row))
            return false;
    return (a->data == NULL) == (b->data == NULL) && a->data_size == b->data_size &&
           (a->data == NULL || memcmp(a->data, b->data, a->data_size) == 0);
}

int pdk__lock_options_copy(pdk_lock_options *to, const pdk_lock_options *from)
{
    *to = *from;
    to->data = from->data != NULL ? pdk__memdup(from->data, from->data_size) : NULL;
    return from->data == NULL || to->data != NULL ? 0 : PDK_ENOMEM;
}

void pdk__lock_options_clear(pdk_lock_options *o) { pdk__free(o->data); }
