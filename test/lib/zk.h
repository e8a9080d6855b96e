/* Helpers on ZooKeeper's own client, for tests. They may use its blocking calls. */
#ifndef PDK__TEST_ZK_H
#define PDK__TEST_ZK_H

#include <stdint.h>
#include <zookeeper/zookeeper.h>

/* A connected handle. The test fails when there is none within a minute. The caller frees it by zookeeper_close(). */
zhandle_t *pdk__zk_open(const char *hosts, int session_ms);

/* The children of PATH, or its Stat. Returns ZOK or ZNONODE. A request whose answer was lost is repeated for up to a
 * minute; any other error fails the test and is named. No error is reported as zero children. */
int pdk__zk_list(zhandle_t *zh, const char *path, struct String_vector *names);
int pdk__zk_stat(zhandle_t *zh, const char *path, struct Stat *stat);

/*
 * End the session (zoo_client_id() of its handle) at once, as its own client would: attach to it on another connection,
 * to the server at PORT of the loopback interface, and close it. Its nodes are deleted when this returns. Returns 0, or
 * -1 when the server did not do it. The owner's proxy should refuse and cut first, and accept again afterwards: then
 * the owner learns EXPIRED, and not only that its connection ended.
 */
int pdk__zk_kill_session(int port, const clientid_t *id);

/* The same, again and again until the server knows no such session: a reconnect of its owner that the server had read
 * before the owner's proxy was cut takes the session back from the connection that is to end it. */
void pdk__zk_end_session(int port, const clientid_t *id);

#endif
