/* The identity without a JSON library, for C libraries that none is there for: it reads what it wrote,
 * and a bare host. */
#include "lib/identity.h"
#include "lib/alloc.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ROOM = PDK__LABEL_MAX + 128 };

int64_t pdk__identity_thread(void) { return 0; }

void pdk__identity_own(struct pdk__identity *identity, const char *label)
{
    memset(identity, 0, sizeof *identity);
    snprintf(identity->label, sizeof identity->label, "%s", label);
}

char *pdk__identity_format(const struct pdk__identity *identity)
{
    char data[ROOM];
    snprintf(data, sizeof data, "{\"confirmed\":%d,\"lock_delay_ms\":%" PRId64 ",\"thread\":0,\"label\":\"%s\"}",
             identity->confirmed, identity->lock_delay_ms, identity->label);
    return pdk__strdup(data);
}

void pdk__identity_parse(struct pdk__identity *identity, const char *data, size_t size)
{
    char text[ROOM];
    int confirmed = 0;
    memset(identity, 0, sizeof *identity);
    snprintf(text, sizeof text, "%.*s", (int)(size < sizeof text ? size : sizeof text - 1), data);
    if (text[0] != '{') {
        snprintf(identity->host, sizeof identity->host, "%.*s", PDK__HOST_MAX - 1, text);
        return;
    }
    sscanf(text, "{\"confirmed\":%d,\"lock_delay_ms\":%" SCNd64 ",\"thread\":%*d,\"label\":\"%255[^\"]", &confirmed,
           &identity->lock_delay_ms, identity->label);
    identity->confirmed = confirmed != 0;
}

void pdk__identity_machine(char machine[PDK__MACHINE_MAX]) { machine[0] = '\0'; }

void pdk__identity_under(char under[PDK__UNDER_MAX]) { under[0] = '\0'; }

bool pdk__identity_dead(const struct pdk__identity *identity)
{
    (void)identity;
    return false;
}
