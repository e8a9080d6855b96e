/* ZooKeeper's four-letter words: one TCP connection, one question, one answer. */
#ifndef PDK__SERVER_WORDS_H
#define PDK__SERVER_WORDS_H

#include <stddef.h>

/* Ask WORD ("srvr", "mntr", ...) of HOST (a dotted address) and PORT. At most SIZE bytes of the answer, with the NUL,
 * come into BUF. Returns its length, or -1 with errno when no server answered within two seconds. */
int pdk__server_4lw(const char *host, int port, const char *word, char *buf, size_t size);

/* A port of the loopback interface that nobody has bound. No port is given out twice by one process; another process
 * may take it first, so be prepared to ask again. -1 with errno when there is none. */
int pdk__server_free_port(void);

/* Keep a port for somebody who will listen on it, now and then: pdk__server_free_port() of other processes passes it
 * over, and meanwhile clients are refused. Returns a descriptor, to be closed by the caller, or also to be listened on;
 * -1 with errno. Listeners with SO_REUSEADDR, as Java's and ZooKeeper's are, are not in each other's way with it. */
int pdk__server_hold_port(int port);

#endif
