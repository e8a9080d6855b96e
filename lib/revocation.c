#include "lib/revocation.h"
#include "lib/alloc.h"
#include <string.h>

enum { WORD = sizeof PDK__REVOKE - 1 };

static bool begins(const char *data, size_t size) { return size >= WORD && memcmp(data, PDK__REVOKE, WORD) == 0; }

bool pdk__revocation_bare(const char *data, size_t size) { return size == WORD && begins(data, size); }

bool pdk__revocation_asks(const char *data, size_t size) { return pdk__revocation_prefix(data, size) > 0; }

size_t pdk__revocation_prefix(const char *data, size_t size)
{
    if (!begins(data, size))
        return 0;
    if (size == WORD)
        return WORD;
    return data[WORD] == ' ' ? WORD + 1 : 0;
}

char *pdk__revocation_with(const char *data, size_t size, size_t *total)
{
    *total = size > 0 ? WORD + 1 + size : WORD;
    char *text = pdk__alloc(*total + 1);
    if (text == NULL)
        return NULL;
    memcpy(text, PDK__REVOKE " ", size > 0 ? WORD + 1 : WORD);
    if (size > 0)
        memcpy(text + WORD + 1, data, size);
    return text; /* zeroed, hence terminated */
}
