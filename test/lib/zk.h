/* Small helps on ZooKeeper's own client, for tests: they may use its blocking calls. */
#ifndef PDK__TEST_ZK_H
#define PDK__TEST_ZK_H

#include <stdint.h>
#include <zookeeper/zookeeper.h>

/* A connected handle; the test fails when there is none within a minute. The caller gives it to zookeeper_close(). */
zhandle_t *pdk__zk_open(const char *hosts, int session_ms);

/* The children of PATH, or its state. ZOK or ZNONODE: a request whose answer was lost is made again, for a minute, and
 * whatever else goes wrong fails the test with its name. Zero children are an answer, an error is none. */
int pdk__zk_list(zhandle_t *zh, const char *path, struct String_vector *names);
int pdk__zk_stat(zhandle_t *zh, const char *path, struct Stat *stat);

/*
 * End the session (zoo_client_id() of its handle) at once, as its own client would: attach to it on another connection,
 * to the server at PORT of the loopback interface, and close it. Its nodes are gone when this returns. Returns 0, or -1
 * when the server did not do it. To make sure that the owner hears EXPIRED, and not merely the end of its connection,
 * let its proxy refuse and cut first, and accept again afterwards.
 */
int pdk__zk_kill_session(int port, const clientid_t *id);

#endif
