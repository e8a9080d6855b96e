/*
 * A process that speaks Curator (CuratorPeer.java) or kazoo (kazoo_peer.py), one at a time. A failing one ends the test
 * that asks it.
 */
#ifndef PDK__INTEROP_PEER_H
#define PDK__INTEROP_PEER_H

#include <stdbool.h>

/* Compile SOURCE, a file of the source tree, into DIR. The class path to run it with, static; NULL when Java or one of
 * Curator's jars is missing, and *WHY tells which, static. */
const char *peer_class_path(const char *dir, const char *source, const char **why);

/* Compile the peer into DIR; skips the tests when Java or one of Curator's jars is missing. In the setup. */
void peer_compile(const char *dir);

/* Start Curator's: its contenders are of PATH, on the server at 127.0.0.1:PORT. Ends the one before. */
void peer_start(int port, const char *path, int session_ms);

/* Skips the tests when Debian's Python or its kazoo is missing. In the setup. */
void peer_need_kazoo(void);

/* Start kazoo's: its contenders are of PATH, on the server at 127.0.0.1:PORT. Ends the one before. */
void peer_start_kazoo(int port, const char *path);

/* Say a line to it: "ID COMMAND [ARGUMENT...]". */
void peer_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The next line it says, waiting for it; borrowed until the next call. */
const char *peer_hear(void);

/* Has it nothing to say right now? */
bool peer_silent(void);

/* kill -9. */
void peer_kill(void);

/* Let it end on its own. When there is none, nothing happens. */
void peer_end(void);

#endif
