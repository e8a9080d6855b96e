/*
 * A session that writes all the time.
 *
 * An ensemble of ZooKeeper 3.8.0 can withhold the reply to its only client until another client writes
 * (ZOOKEEPER-4537). A test would take that for a stall of ours.
 */
#ifndef PDK__TEST_BEAT_H
#define PDK__TEST_BEAT_H

typedef struct pdk__beat pdk__beat;

/* Write to a node of its own, "/beat", some times a second, as long as any of HOSTS serves. The caller frees. */
pdk__beat *pdk__beat_new(const char *hosts);
void pdk__beat_free(pdk__beat *b);

#endif
