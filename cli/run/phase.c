#include "cli/run/phase.h"

#include "lib/assert.h"

#include <paddock/semaphore.h>
#include <stdio.h>

void pdk__cli_phase_move(struct pdk__cli_acquisition *c, enum pdk__cli_phase phase)
{
#define TO(phase) (1U << PHASE_##phase)
    static const unsigned moves[] = {[PHASE_CONNECTING] = TO(WAITING) | TO(ENDED),
                                     [PHASE_WAITING] = TO(HELD) | TO(LEAVING) | TO(ENDED),
                                     [PHASE_HELD] = TO(WAITING) | TO(LEAVING),
                                     [PHASE_LEAVING] = TO(LEAVING) | TO(ENDED),
                                     [PHASE_ENDED] = 0};
    assert((moves[c->phase] & 1U << phase) != 0);
    c->phase = phase;
    if (phase == PHASE_ENDED)
        c->deadline = -1;
}

/* The limit is known only now, from its node. */
static void tell_limit(struct pdk__cli_acquisition *c)
{
    const struct pdk__cli_options *o = c->options;
    int limit = o->limit_from != NULL ? (int)pdk_semaphore_limit(c->lock.lock) : 0;
    if (limit > 0 && o->count > limit)
        snprintf(c->why, sizeof c->why, "%d permits are more than the limit of %d", o->count, limit);
}

void pdk__cli_phase_end(struct pdk__cli_acquisition *c, int rc)
{
    assert(rc != 0);
    pdk__cli_phase_move(c, PHASE_ENDED);
    c->rc = rc;
    if (rc == PDK_EINVAL && c->lock.lock != NULL)
        tell_limit(c);
    if (c->why[0] == '\0' && c->lock.lock != NULL)
        pdk_lock_last_error(c->lock.lock, c->why, sizeof c->why);
    if (c->leader != NULL)
        pdk_lock_last_error(c->leader, c->why, sizeof c->why);
    if (c->why[0] == '\0' && c->client != NULL)
        pdk_client_last_error(c->client, c->why, sizeof c->why);
    if (c->why[0] == '\0')
        snprintf(c->why, sizeof c->why, "%s", pdk_strerror(rc));
}
