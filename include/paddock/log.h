/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of a client: the actions of the library and of ZooKeeper's client, and their reasons, in lines for people.
 *
 * Caveats, first:
 *  - The wording of a line may change with any release. Programs decide by codes, states and callbacks.
 *  - Lines are handed over by a queue of 256. A program that takes them slowly loses the newest ones, and one line
 *    tells how many.
 *  - ZooKeeper's client takes one plain function for its lines, without a context. The library has 64 of those: the
 *    65th client at a time in a process, and any further one, has no lines of ZooKeeper's client.
 */
#ifndef PADDOCK_LOG_H
#define PADDOCK_LOG_H

#include <paddock/client.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pdk_log_level {
    PDK_LOG_NONE = 0,
    PDK_LOG_ERROR = 1, /* the client is over, but for its close */
    /* A lock or term was lost, the session expired, the connection was lost or could not be made. A lock is not granted
     * because the link is too slow for the session timeout: once per request and connection. A path does not permit
     * DELETE. */
    PDK_LOG_WARNING = 2,
    PDK_LOG_INFO = 3, /* connections, requests for locks, grants, releases, the place in the queue */
    PDK_LOG_DEBUG = 4 /* each step of each request, and all lines of ZooKeeper's client */
} pdk_log_level;

/* A line of TEXT, borrowed for the call, without a newline. AT_MS is the time of the line, in milliseconds since
 * 1970. */
typedef void (*pdk_log_cb)(pdk_client *c, pdk_log_level level, int64_t at_ms, const char *text, void *arg);

/*
 * Set the log of clients made with O: lines of LEVEL and below go to CB.
 *
 * CB runs where all callbacks of the client run: on the library's thread, or inside pdk_client_dispatch(), one at a
 * time, with no lock held. It may call any function of the library that does not wait. The last lines come during
 * pdk_client_close(). When pdk_client_new() fails, its lines come before it returns, and C is valid only for that call
 * of CB. In a program that dispatches, these lines run inside pdk_client_new().
 *
 * ARG is borrowed until pdk_client_close() has returned. CB NULL or LEVEL PDK_LOG_NONE: no log, the default.
 *
 * PDK_EINVAL: O is NULL, or LEVEL is none of the above.
 *
 * Lines of ZooKeeper's client come only from a handle of the library's own. With an adopted handle they go to the
 * application's log. The process-wide level of pdk_log_zookeeper() limits them. Their errors and warnings are
 * PDK_LOG_WARNING here when they repeat nothing; all others are PDK_LOG_DEBUG.
 *
 * A handle with TLS gets its log a moment after it was made: lines before that go to the stream of the process, which
 * is zoo_set_log_stream()'s, by default standard error.
 *
 * The trap: a callback that calls the library at PDK_LOG_DEBUG can make more lines than it takes.
 */
int pdk_client_options_set_log(pdk_client_options *o, pdk_log_level level, pdk_log_cb cb, void *arg);

/*
 * Set the level of ZooKeeper's client for the whole process. Its own default is PDK_LOG_INFO.
 *
 * The level takes effect at once, in all threads, for all handles of the process, also those that the application has
 * made. The library never calls this function itself.
 *
 * PDK_EINVAL: LEVEL is none of the above.
 */
int pdk_log_zookeeper(pdk_log_level level);

#ifdef __cplusplus
}
#endif

#endif
