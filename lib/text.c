#include "lib/text.h"
#include "lib/alloc.h"

void pdk__text_set(struct pdk__text *text, const char *chars)
{
    char *before = text->chars;
    text->chars = chars[0] != '\0' ? pdk__strdup(chars) : NULL;
    pdk__free(before);
}
