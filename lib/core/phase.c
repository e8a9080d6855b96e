/* Invariants are checked in release builds too: a lock that goes on after one is broken is worse than one that
 * stops. */
#undef NDEBUG

#include "lib/core/phase.h"
#include "lib/core/contender.h"
#include <assert.h>
#include <string.h>

#define TO(phase) (UINT32_C(1) << PDK__##phase)

/* The moves. A phase may always stay. */
static const uint32_t moves[PDK__N_PHASES] = {
    [PDK__IDLE] = TO(ADRIFT) | TO(LOOKING) | TO(CREATING) | TO(DONE),
    [PDK__ADRIFT] = TO(LOOKING) | TO(CREATING) | TO(RECOVERING) | TO(LISTING) | TO(DELETING) | TO(DONE),
    [PDK__RESTING] = TO(ADRIFT) | TO(LOOKING) | TO(CREATING) | TO(RECOVERING) | TO(LISTING) | TO(DELETING) | TO(DONE),
    [PDK__LOOKING] = TO(ADRIFT) | TO(RESTING) | TO(CREATING) | TO(DONE),
    [PDK__CREATING] = TO(ADRIFT) | TO(RESTING) | TO(PARENTS) | TO(WATCHING) | TO(READING) | TO(CONFIRMING) |
                      TO(PROVING) | TO(HELD) | TO(DELETING) | TO(DONE),
    [PDK__PARENTS] = TO(ADRIFT) | TO(RESTING) | TO(CREATING) | TO(DONE),
    [PDK__RECOVERING] = TO(ADRIFT) | TO(RESTING) | TO(CREATING) | TO(IDENTIFYING) | TO(DONE),
    [PDK__IDENTIFYING] = TO(ADRIFT) | TO(RESTING) | TO(CREATING) | TO(RECOVERING) | TO(LISTING) | TO(DELETING) |
                         TO(DONE),
    [PDK__LISTING] = TO(ADRIFT) | TO(RESTING) | TO(CREATING) | TO(WATCHING) | TO(CHECKING) | TO(READING) |
                     TO(CONFIRMING) | TO(PROVING) | TO(HELD) | TO(DELETING) | TO(DONE),
    [PDK__WATCHING] = TO(ADRIFT) | TO(RESTING) | TO(CREATING) | TO(LISTING) | TO(WAITING) | TO(CHECKING) | TO(READING) |
                      TO(CONFIRMING) | TO(PROVING) | TO(HELD) | TO(DELETING) | TO(DONE),
    [PDK__WAITING] = TO(ADRIFT) | TO(CREATING) | TO(LISTING) | TO(CHECKING) | TO(READING) | TO(CONFIRMING) |
                     TO(PROVING) | TO(HELD) | TO(DELETING) | TO(DONE),
    [PDK__CHECKING] = TO(ADRIFT) | TO(RESTING) | TO(CREATING) | TO(READING) | TO(CONFIRMING) | TO(PROVING) | TO(HELD) |
                      TO(DELETING) | TO(DONE),
    [PDK__READING] = TO(ADRIFT) | TO(RESTING) | TO(CREATING) | TO(CHECKING) | TO(DELAYED) | TO(MARKING) |
                     TO(CONFIRMING) | TO(PROVING) | TO(HELD) | TO(DELETING) | TO(DONE),
    [PDK__DELAYED] = TO(ADRIFT) | TO(CREATING) | TO(CHECKING) | TO(READING) | TO(DELETING) | TO(DONE),
    [PDK__MARKING] = TO(ADRIFT) | TO(RESTING) | TO(CREATING) | TO(CHECKING) | TO(CONFIRMING) | TO(PROVING) | TO(HELD) |
                     TO(DELETING) | TO(DONE),
    [PDK__CONFIRMING] = TO(ADRIFT) | TO(RESTING) | TO(CREATING) | TO(PROVING) | TO(HELD) | TO(DELETING) | TO(DONE),
    [PDK__PROVING] = TO(ADRIFT) | TO(CREATING) | TO(CHECKING) | TO(HELD) | TO(DELETING) | TO(DONE),
    [PDK__HELD] = TO(SUSPECT) | TO(ADRIFT) | TO(DELETING) | TO(DONE),
    [PDK__SUSPECT] = TO(HELD) | TO(ADRIFT) | TO(DELETING) | TO(DONE),
    [PDK__DELETING] = TO(ADRIFT) | TO(RESTING) | TO(DONE),
    [PDK__DONE] = 0,
};

const char *pdk__phase_name(enum pdk__phase phase)
{
    static const char *const names[PDK__N_PHASES] = {
        "idle",        "adrift",     "resting",  "looking", "creating", "parents",  "recovering",
        "identifying", "listing",    "watching", "waiting", "checking", "reading",  "delayed",
        "marking",     "confirming", "proving",  "held",    "suspect",  "deleting", "done"};
    return phase < PDK__N_PHASES ? names[phase] : "?";
}

bool pdk__phase_grants(enum pdk__phase phase) { return phase == PDK__HELD || phase == PDK__SUSPECT; }

/* Is a reply to the main question awaited? */
static bool asking(enum pdk__phase phase)
{
    return phase == PDK__LOOKING || phase == PDK__CREATING || phase == PDK__PARENTS || phase == PDK__RECOVERING ||
           phase == PDK__IDENTIFYING || phase == PDK__LISTING || phase == PDK__WATCHING || phase == PDK__READING ||
           phase == PDK__MARKING || phase == PDK__CONFIRMING || phase == PDK__DELETING;
}

bool pdk__phase_first(enum pdk__phase phase)
{
    return phase == PDK__CHECKING || phase == PDK__READING || phase == PDK__DELAYED || phase == PDK__MARKING ||
           phase == PDK__CONFIRMING || phase == PDK__PROVING;
}

/* A node known to be ours is the same one until it is forgotten: neither its name nor its token changes. */
static void check_identity(const struct pdk__contender *c, const struct pdk__contender *before)
{
    if (c->node != PDK__NODE_YES || before->node != PDK__NODE_YES)
        return;
    assert(c->attempt == before->attempt && strcmp(c->name, before->name) == 0);
    assert(c->token == before->token);
}

void pdk__phase_check(const struct pdk__contender *c, const struct pdk__contender *before)
{
    enum pdk__phase phase = c->phase;
    assert(phase == before->phase || (moves[before->phase] & UINT32_C(1) << phase) != 0);
    check_identity(c, before);
    if (asking(phase) || phase == PDK__WAITING)
        assert(c->connected && c->op != 0);
    if (phase == PDK__ADRIFT)
        assert(!c->connected && (c->wanted || c->node != PDK__NODE_NO));
    if (phase == PDK__HELD)
        assert(c->connected && c->verified && c->proven);
    if (phase == PDK__PROVING)
        assert(c->connected && c->verified && !c->proven);
    if (pdk__phase_grants(phase) || pdk__phase_first(phase) || phase == PDK__WATCHING || phase == PDK__WAITING)
        assert((c->wanted || phase == PDK__MARKING) && c->node == PDK__NODE_YES);
    if ((pdk__phase_grants(phase) || phase == PDK__PROVING) && c->conditions.confirmed)
        assert(c->confirmed != 0);
    if ((pdk__phase_grants(phase) || phase == PDK__PROVING || phase == PDK__CONFIRMING) &&
        c->conditions.lock_delay_ms > 0)
        assert(c->mark == PDK__MARK_YES);
    if (c->mark != PDK__MARK_NO)
        assert(c->node == PDK__NODE_YES && c->conditions.lock_delay_ms > 0);
    if (c->confirmed != 0)
        assert(c->node == PDK__NODE_YES && c->conditions.confirmed);
    if (phase == PDK__LOOKING || phase == PDK__PARENTS)
        assert(c->wanted && c->node == PDK__NODE_NO);
    if (phase == PDK__CREATING)
        assert(c->node != PDK__NODE_NO);
    if (phase == PDK__RECOVERING || phase == PDK__IDENTIFYING)
        assert(c->node == PDK__NODE_MAYBE);
    if (phase == PDK__LISTING)
        assert(c->wanted && c->node == PDK__NODE_YES);
    if (phase == PDK__DELETING)
        assert(!c->wanted && c->node == PDK__NODE_YES);
    if (phase == PDK__DONE)
        assert(!c->wanted && c->node == PDK__NODE_NO);
    if (c->verified)
        assert(c->node == PDK__NODE_YES && c->token != 0);
    if (c->revoked)
        assert(c->node == PDK__NODE_YES);
}
