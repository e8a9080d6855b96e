/* ZooKeeper's four-letter words: one TCP connection, one question, one answer. */
#ifndef PDK__SERVER_WORDS_H
#define PDK__SERVER_WORDS_H

#include <stddef.h>

/* Ask WORD ("srvr", "mntr", ...) of HOST (a dotted address) and PORT. At most SIZE bytes of the answer, with the
 * NUL, are written to BUF. Returns its length, or -1 with errno when no server answered within two seconds. */
int pdk__server_4lw(const char *host, int port, const char *word, char *buf, size_t size);

/* A port of the loopback interface that no process has bound. No port is given out twice by one process; another
 * process may take it first, so be prepared to ask again. -1 with errno when there is none. */
int pdk__server_free_port(void);

/* Keep a port for a server that listens on it only part of the time. pdk__server_free_port() of other processes
 * passes it over, and until the server listens clients are refused. Returns a descriptor, to be closed by the
 * caller, or also to be listened on; -1 with errno. It does not block listeners with SO_REUSEADDR, such as Java's
 * and ZooKeeper's. */
int pdk__server_hold_port(int port);

#endif
