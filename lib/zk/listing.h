/* A list of contenders, inside. */
#ifndef PDK__LISTING_H
#define PDK__LISTING_H

#include "paddock/contenders.h"

/* The path that was listed; borrowed. */
const char *pdk__listing_path(const pdk_contender_list *list);

#endif
