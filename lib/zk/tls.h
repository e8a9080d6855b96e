/*
 * TLS of ZooKeeper's client, and what that leaves unchecked.
 *
 * ZooKeeper's client (3.8, 3.9) makes a context of OpenSSL for each connection, on the thread of its own that has the
 * socket. It loads the authorities of the system beside the ones that it was given, checks no name, gives the server
 * unlimited time for the handshake, keeps the password of the key, and asks the terminal for one that is missing. It
 * has no call to change any of that. OpenSSL has: it calls back when a context is made anywhere in the process
 * (CRYPTO_get_ex_new_index(3)), and the context takes functions that verify certificates, give passwords, and are told
 * of the handshake's progress. The contexts of our handles are recognized by their thread: it inherits the name of the
 * one that opens the handle. Another system, or a client with an OpenSSL of its own, may break that: then
 * pdk__tls_checked() stays false, and the session is refused.
 */
#ifndef PDK__TLS_H
#define PDK__TLS_H

#include "lib/zk/client.h"

/* Can the files be used? 0; or PDK_ETLS, with the reason in WHY; or PDK_ENOMEM. */
int pdk__tls_check_files(const struct pdk__security *s, char *why, size_t size);

/* As zookeeper_init2(). Its first line goes to the process's own log of ZooKeeper's client,
 * later ones to LOG. */
zhandle_t *pdk__tls_open(struct pdk_client *c, const char *hosts, watcher_fn watcher, log_callback_fn log);

/* Copy the reason for the last failure on the calling thread, a thread of ZooKeeper's client, into BUF, and forget it.
 * False when TLS has not failed there. */
bool pdk__tls_why(char *buf, size_t size);

#endif
