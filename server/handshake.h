/* The first and the last request of a ZooKeeper session, written by hand: to check that a server grants one, or to
 * end one. */
#ifndef PDK__SERVER_HANDSHAKE_H
#define PDK__SERVER_HANDSHAKE_H

#include <stdbool.h>
#include <stdint.h>

enum { PDK__PASSWORD_SIZE = 16 };

/* A connection to PORT of the loopback interface; sending and receiving take TIMEOUT_MS each at most. Returns a
 * descriptor, to be closed by the caller, or -1 with errno. */
int pdk__server_dial(int port, int timeout_ms);

/* On the connection FD, ask for session *ID, or for a new one when *ID is 0; then *ID is its number. PASSWORD is the
 * session's; of a new one, zeros. Returns 0, or -1 when the server does not grant it; *ID is 0 then if it knows no such
 * session. */
int pdk__handshake(int fd, int64_t *id, const char password[PDK__PASSWORD_SIZE]);

/* Does the server at PORT of the loopback interface grant a session? The session is closed again. A member of an
 * ensemble grants one only when a quorum has written it. Returns within about TIMEOUT_MS. */
bool pdk__server_grants_session(int port, int timeout_ms);

#endif
