/* A doubly linked list whose links are in its members; an empty list, or a member of none, points at itself. */
#ifndef PDK__LIST_H
#define PDK__LIST_H

#include <stdbool.h>
#include <stddef.h>

struct pdk__list {
    struct pdk__list *next, *previous;
};

/* The member of TYPE whose FIELD is LINK. */
#define PDK__MEMBER(link, type, field) ((type *)(void *)((char *)(link)-offsetof(type, field)))

/* For each LINK of LIST, in order. Only the current one may be removed. */
#define PDK__LIST_EACH(link, list)                                                                                     \
    for (struct pdk__list *link = (list)->next, *link##_next = link->next; link != (list);                             \
         link = link##_next, link##_next = link->next)

static inline void pdk__list_init(struct pdk__list *list) { list->next = list->previous = list; }

static inline bool pdk__list_empty(const struct pdk__list *list) { return list->next == list; }

static inline void pdk__list_append(struct pdk__list *list, struct pdk__list *link)
{
    link->next = list;
    link->previous = list->previous;
    list->previous->next = link;
    list->previous = link;
}

static inline void pdk__list_remove(struct pdk__list *link)
{
    link->previous->next = link->next;
    link->next->previous = link->previous;
    pdk__list_init(link);
}

#endif
