/*
 * The judge of events: each event means something for one noun, and that noun's file returns the verdict.
 */
#ifndef PDK__JUDGE_H
#define PDK__JUDGE_H

#include "lib/core/contender.h"

/* A reply, a watch event, or an event of the session. It is not stale. */
struct pdk__verdict pdk__judge(struct pdk__contender *c, const struct pdk__event *ev);

/* An event of the session. */
struct pdk__verdict pdk__judge_session(struct pdk__contender *c, const struct pdk__event *ev);

#endif
