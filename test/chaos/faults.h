/* The kinds of faults, by name, in three sorts: against a client, against the servers, by an administrator. */
#ifndef CHAOS_FAULTS_H
#define CHAOS_FAULTS_H

#include <stdbool.h>

/* X(id, name, sort) */
#define FAULTS(X)                                                                                                      \
    X(CUT, "connection cut", CLIENT)                                                                                   \
    X(CUT_STORM, "connection cut, over and over", CLIENT)                                                              \
    X(REQUEST_LOST, "request lost before the server", CLIENT)                                                          \
    X(REQUEST_UNKNOWN, "connection lost after a request", CLIENT)                                                      \
    X(REPLY_LOST, "reply lost", CLIENT)                                                                                \
    X(REPLY_LAST, "connection lost after a reply", CLIENT)                                                             \
    X(REQUEST_HELD, "request held, then let go", CLIENT)                                                               \
    X(REPLY_HELD, "reply held, then let go", CLIENT)                                                                   \
    X(DELAY, "network delay", CLIENT)                                                                                  \
    X(BLACKHOLE_SHORT, "client cut off, less than its session", CLIENT)                                                \
    X(BLACKHOLE_LONG, "client cut off, more than its session", CLIENT)                                                 \
    X(DEAF, "client does not hear the servers", CLIENT)                                                                \
    X(MUTE, "servers do not hear the client", CLIENT)                                                                  \
    X(REFUSED_SHORT, "connections refused, less than a session", CLIENT)                                               \
    X(REFUSED_LONG, "connections refused, more than a session", CLIENT)                                                \
    X(FLAP, "client cut off again and again", CLIENT)                                                                  \
    X(STOP_SHORT, "client stopped, less than its session", CLIENT)                                                     \
    X(STOP_LONG, "client stopped, more than its session", CLIENT)                                                      \
    X(KILL, "client killed, another takes its place", CLIENT)                                                          \
    X(SESSION_KILLED, "session ended from outside", CLIENT)                                                            \
    X(FOLLOWER_KILLED, "follower killed and restarted", SERVER)                                                        \
    X(LEADER_KILLED, "leader killed and restarted", SERVER)                                                            \
    X(FOLLOWER_PAUSED, "follower paused", SERVER)                                                                      \
    X(LEADER_PAUSED, "leader paused", SERVER)                                                                          \
    X(FOLLOWER_CUT, "follower cut off from its leader", SERVER)                                                        \
    X(LEADER_CUT, "leader cut off from its followers", SERVER)                                                         \
    X(LINK_DELAY, "delay between the servers", SERVER)                                                                 \
    X(SERVER_STOPPED, "server stopped in order and restarted", SERVER)                                                 \
    X(ROLLING, "rolling restart", SERVER)                                                                              \
    X(NO_QUORUM, "two servers killed and restarted", SERVER)                                                           \
    X(NODE_DELETED, "a contender's node deleted", ADMIN)                                                               \
    X(PATH_DELETED, "the lock's path deleted", ADMIN)                                                                  \
    X(FOREIGN, "a foreign contender", ADMIN)                                                                           \
    X(JUNK, "nodes that no lock library made", ADMIN)                                                                  \
    X(STALLED, "an ensemble that committed nothing any more: its leader killed", SERVER)

#define FAULT_ENUMERATE(id, name, sort) FAULT_##id,
enum fault_id { FAULTS(FAULT_ENUMERATE) N_FAULTS };
#undef FAULT_ENUMERATE

enum fault_sort { SORT_CLIENT, SORT_SERVER, SORT_ADMIN };

const char *fault_name(enum fault_id id);
enum fault_sort fault_sort(enum fault_id id);

/* Whether it acts on a certain message, which a proxy has to understand. */
bool fault_needs_messages(enum fault_id id);

#endif
