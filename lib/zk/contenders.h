/* A snapshot of a lock's contenders: a survey (survey.h), repeated until it succeeds or its deadline has come. */
#ifndef PDK__CONTENDERS_H
#define PDK__CONTENDERS_H

#include "lib/zk/survey.h"

/* Without the lock. On success *LIST is the caller's. The errors of pdk_contenders(). */
int pdk__contenders_ask(struct pdk_client *c, struct pdk__question q, struct pdk_contender_list **list);

#endif
