/*
 * A session that writes a little, all the time.
 *
 * ZooKeeper 3.8.0 as an ensemble can leave the reply to its only client lying until somebody else writes
 * (ZOOKEEPER-4537); a test would take that for a stall of ours.
 */
#ifndef PDK__TEST_BEAT_H
#define PDK__TEST_BEAT_H

typedef struct pdk__beat pdk__beat;

/* Write to a node of its own, "/beat", some times a second, as long as any of HOSTS serves. The caller frees. */
pdk__beat *pdk__beat_new(const char *hosts);
void pdk__beat_free(pdk__beat *b);

#endif
