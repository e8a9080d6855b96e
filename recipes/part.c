#include "recipes/part.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include <stdio.h>
#include <string.h>

/* The client's reason is better than the claim's, but does not tell the place of a request that timed out, or which
 * request was refused. */
void pdk__part_keep_reason(struct pdk__part *part, int rc)
{
    char why[PDK__REASON_MAX] = "";
    if (rc != PDK_ETIMEDOUT && rc != PDK_EREFUSED)
        pdk__account_error(part->object->client, rc, why, sizeof why);
    pdk__text_set(&part->why, why[0] != '\0' ? why : pdk__text(&part->claim.standing.why));
    part->waited_ms = pdk__now_ms() - part->began_ms;
}

static const char *named_path(const struct pdk__part *part)
{
    return part->verbs->names_path ? part->path : part->object->path;
}

static void describe(const struct pdk__part *part, const char *verb, int rc, char text[PDK__INCIDENT_MAX])
{
    const char *path = named_path(part), *why = pdk__text(&part->why);
    assert(pdk__client_locked(part->object->client));
    if (rc == PDK_ETIMEDOUT)
        snprintf(text, PDK__INCIDENT_MAX, "%s %s: timed out after %lld ms%s%s", verb, path, (long long)part->waited_ms,
                 why[0] != '\0' ? ": " : "", why);
    else
        pdk__incident_format(text, verb, path, rc, why);
}

void pdk__part_incident(struct pdk__part *part, const char *verb, int rc)
{
    char text[PDK__INCIDENT_MAX];
    describe(part, verb, rc, text);
    pdk__text_set(&part->object->error, text);
}

int pdk__part_blame(const struct pdk__part *part, const char *verb, int rc)
{
    char text[PDK__INCIDENT_MAX];
    describe(part, verb, rc, text);
    pdk__incident_note(part->object->number, text);
    return rc;
}

void pdk__part_note_leftover(struct pdk__part *part)
{
    char text[PDK__INCIDENT_MAX];
    const char *error = pdk__text(&part->object->error), *why = pdk__text(&part->claim.standing.why);
    snprintf(text, sizeof text, "%s%s%s", error, error[0] != '\0' ? "; " : "", why);
    if (strstr(error, why) == NULL)
        pdk__text_set(&part->object->error, text);
}

void pdk__part_note_hindrance(struct pdk__part *part, const char *why)
{
    char text[PDK__INCIDENT_MAX];
    bool pending = part->stage == PDK__HOLD_PENDING;
    if (!pending && part->stage != PDK__HOLD_GRANTED)
        return;
    snprintf(text, sizeof text, "%s %s: %s%s", pending ? part->verbs->acquire : part->verbs->keep, named_path(part),
             pending ? "not granted yet: " : "", why);
    pdk__text_set(&part->object->error, text);
}

void pdk__part_note_misfit(struct pdk__part *part)
{
    const char *misfit = pdk__text(&part->claim.standing.misfit);
    if (misfit[0] != '\0')
        pdk__part_note_hindrance(part, misfit);
}

void pdk__part_clear(struct pdk__part *part)
{
    pdk__text_set(&part->why, "");
    pdk__claim_clear(&part->claim);
}

int pdk__part_guard(struct pdk__part *part, struct zoo_op *check)
{
    if (part->lent == NULL)
        part->lent = pdk__object_lend(part->object, part->path, part->node);
    if (part->lent == NULL)
        return PDK_ENOMEM;
    zoo_check_op_init(check, part->lent, -1);
    return 0;
}
