/*
 * The servers' replies and watch events: what each means for the contender.
 */
#ifndef PDK__REPLY_H
#define PDK__REPLY_H

#include "lib/core/contender.h"

/* An event of the servers. A stale one changes nothing. */
void pdk__reply(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out);

#endif
