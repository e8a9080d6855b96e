#include "recipes/part.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include <stdio.h>
#include <string.h>

/* The client's reason is better than the claim's, but does not tell the place of a request that timed out. */
void pdk__part_keep_reason(struct pdk__part *part, int rc)
{
    part->why[0] = '\0';
    if (rc != PDK_ETIMEDOUT)
        pdk__account_error(part->object->client, rc, part->why, sizeof part->why);
    if (part->why[0] == '\0')
        snprintf(part->why, sizeof part->why, "%s", part->claim.standing.why);
    part->waited_ms = pdk__now_ms() - part->began_ms;
}

static const char *named_path(const struct pdk__part *part)
{
    return part->verbs->names_path ? part->path : part->object->path;
}

static void describe(const struct pdk__part *part, const char *verb, int rc, char text[PDK__INCIDENT_MAX])
{
    const char *path = named_path(part);
    assert(pdk__client_locked(part->object->client));
    if (rc == PDK_ETIMEDOUT)
        snprintf(text, PDK__INCIDENT_MAX, "%s %s: timed out after %lld ms%s%s", verb, path, (long long)part->waited_ms,
                 part->why[0] != '\0' ? ": " : "", part->why);
    else
        pdk__incident_format(text, verb, path, rc, part->why);
}

void pdk__part_incident(struct pdk__part *part, const char *verb, int rc)
{
    describe(part, verb, rc, part->object->error);
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
    char *text = part->object->error;
    const char *why = part->claim.standing.why;
    size_t n = strlen(text);
    if (strstr(text, why) == NULL)
        snprintf(text + n, PDK__INCIDENT_MAX - n, "%s%s", n > 0 ? "; " : "", why);
}

void pdk__part_note_hindrance(struct pdk__part *part, const char *why)
{
    char *text = part->object->error;
    const char *path = named_path(part);
    if (part->stage == PDK__HOLD_PENDING)
        snprintf(text, PDK__INCIDENT_MAX, "%s %s: not granted yet: %s", part->verbs->acquire, path, why);
    else if (part->stage == PDK__HOLD_GRANTED)
        snprintf(text, PDK__INCIDENT_MAX, "%s %s: %s", part->verbs->keep, path, why);
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
