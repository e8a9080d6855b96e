/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors: every function that can fail returns 0 or one of these negative codes.
 *
 * A code is the class of the failure. The ..._last_error() of the object on which the call was made describes the
 * incident. A caller has three questions, and a function answers each: may I simply try again? may it have
 * happened all the same? is this object finished?
 */
#ifndef PADDOCK_ERROR_H
#define PADDOCK_ERROR_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, code, class, text). Classes: PLAIN says no to all three questions; RETRY: nothing happened, the same call may
 * succeed later; UNKNOWN: it may have happened; FATAL: the object will never succeed again. */
#define PDK_ERRORS(X)                                                                                                  \
    X(PDK_EINVAL, -1, PLAIN, "invalid argument")                                                                       \
    X(PDK_ENOMEM, -2, RETRY, "out of memory")                                                                          \
    X(PDK_EBUSY, -3, RETRY, "in use")                                                                                  \
    X(PDK_ETIMEDOUT, -4, RETRY, "timed out")                                                                           \
    X(PDK_EPERM, -5, PLAIN, "not held by the caller")                                                                  \
    X(PDK_EDEADLK, -6, PLAIN, "a blocking call on a callback thread would never return")                               \
    X(PDK_EFORKED, -7, FATAL, "the object belongs to the parent process")                                              \
    X(PDK_ECLOSED, -8, FATAL, "the client is closed")                                                                  \
    X(PDK_ECANCELED, -9, PLAIN, "cancelled")                                                                           \
    X(PDK_ELOST, -10, PLAIN, "the lock was lost while it was held")                                                    \
    X(PDK_EEXPIRED, -11, FATAL, "the session expired and the handle is not ours to renew")                             \
    X(PDK_EDISCONNECTED, -12, RETRY, "no server of the ensemble answers")                                              \
    X(PDK_EUNKNOWN, -13, UNKNOWN, "the connection was lost: it may or may not have happened")                          \
    X(PDK_EACCES, -14, PLAIN, "not permitted by the ACL")                                                              \
    X(PDK_EAUTH, -15, FATAL, "the servers refused the authentication")                                                 \
    X(PDK_EPATH, -16, PLAIN, "not a valid lock path")                                                                  \
    X(PDK_EHOST, -17, PLAIN, "the host list cannot be resolved")                                                       \
    X(PDK_EREFUSED, -18, PLAIN, "the servers refuse the request")                                                      \
    X(PDK_EEXHAUSTED, -19, PLAIN, "the sequence counter of the lock path is exhausted")                                \
    X(PDK_ENOENT, -20, PLAIN, "the path does not exist")                                                               \
    X(PDK_ESYSTEM, -21, RETRY, "the operating system refused a thread or a descriptor")                                \
    X(PDK_ELIMIT, -22, RETRY, "more locks than one session can carry")                                                 \
    X(PDK_ESTALE, -23, PLAIN, "the servers' transaction numbers are behind the token that was asked for")              \
    X(PDK_ESHORT, -24, FATAL, "the session timeout is too short for the servers' tick and the margins")                \
    X(PDK_EACL, -25, PLAIN, "the servers do not take the ACL: they know no such scheme, or no such identity in it")    \
    X(PDK_ENOTSUP, -26, PLAIN, "not supported")                                                                        \
    X(PDK_ETLS, -27, RETRY, "no TLS connection could be made")                                                         \
    X(PDK_EMIXED, -28, PLAIN, "the path has contenders of another recipe, or with another limit")                      \
    X(PDK_ECONFLICT, -29, PLAIN, "the node is not as the write requires")                                              \
    X(PDK_EDONE, -30, PLAIN, "the job is done")                                                                        \
    X(PDK_ERECORD, -31, PLAIN, "the record of the last run cannot be believed")                                        \
    X(PDK_ESERVER, -32, FATAL, "the servers are not ZooKeeper's: they resume no session")

#define PDK__ENUMERATE(name, code, class, text) name = (code),
enum pdk_error { PDK_OK = 0, PDK_ERRORS(PDK__ENUMERATE) PDK__ERROR_END = 1 };
#undef PDK__ENUMERATE

/* The meaning of a code, in one line without a full stop. Static text, never NULL; any thread, also after fork. */
const char *pdk_strerror(int code);

/* The code's name, as "PDK_EBUSY". Static text; "PDK_E?" for a number that is no code. */
const char *pdk_strerrorname(int code);

/* May the same call simply be made again? Nothing happened, and later it may succeed. */
bool pdk_err_retriable(int code);

/* May it have happened all the same? The outcome is known only to the servers; the library goes on cleaning up. */
bool pdk_err_unknown(int code);

/* Is the object finished? No later call on it, or on its client, will succeed. */
bool pdk_err_fatal(int code);

#ifdef __cplusplus
}
#endif

#endif
