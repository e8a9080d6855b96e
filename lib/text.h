/*
 * A text for people that is kept. It takes as much memory as it is long, because most contenders have none for all of
 * their lives. A zeroed one is "". So is one for which there was no memory.
 */
#ifndef PDK__TEXT_H
#define PDK__TEXT_H

#include <stddef.h>

struct pdk__text {
    char *chars; /* NULL: "" */
};

/* Keep a copy of CHARS, which may be of the same text; "" frees the memory. */
void pdk__text_set(struct pdk__text *text, const char *chars);

static inline const char *pdk__text(const struct pdk__text *text) { return text->chars != NULL ? text->chars : ""; }

#endif
