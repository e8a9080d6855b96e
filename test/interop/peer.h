/* A process that speaks Curator (CuratorPeer.java), kazoo (kazoo_peer.py) or go-zookeeper (gozk), one at a time. */
#ifndef PDK__INTEROP_PEER_H
#define PDK__INTEROP_PEER_H

#include "test/lib/program.h"

/* It reads lines "ID COMMAND [ARGUMENT...]", and prints lines "ID RESULT...". */
extern struct program peer;

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

/* Build go-zookeeper's in DIR; skips the tests when Go or the module is missing. In the setup. */
void peer_build_go(const char *dir);

/* Start it; its commands name their paths. On the server at 127.0.0.1:PORT. Ends the one before. */
void peer_start_go(int port);

/* The next two lines are these, of two of its threads, in either order. */
void peer_hear_both(const char *one, const char *other);

#endif
