/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secured connections: TLS, and authentication by SASL. ZooKeeper's client must have been built with them.
 *
 * Caveats, first:
 *  - Debian's libzookeeper-mt2 has neither. Every setter here answers PDK_ENOTSUP then, so no program speaks in
 *    plain text unasked. pdk_has() tells what is there.
 *  - One client has TLS or SASL, not both: ZooKeeper's client has no call for both. With TLS, use
 *    pdk_client_options_add_auth(), or the certificate itself: the servers' scheme "x509".
 *  - ZooKeeper's client checks neither names nor which authority has signed: it takes a certificate of any authority of
 *    the system, for any name. The library checks both. It does so through hooks of OpenSSL, for connections of its
 *    own handles only. A connection that was not checked is not used: the client is over with PDK_EAUTH.
 *  - An adopted handle has the security with which the program has made it. These options do not concern it, and
 *    neither do the checks.
 *  - Certificates and key are read again for each connection. A file that is replaced counts from the next one on.
 *  - ZooKeeper's client resumes no TLS session: each connection costs a whole handshake.
 *  - ZooKeeper's client calls strtok() when a handle with TLS is made, which happens on a thread of the library. A
 *    program that has such a client must use strtok_r() in its own threads.
 *  - OpenSSL frees at exit what its threads may still use. The library's first such client of the process keeps it from
 *    that. A program that uses OpenSSL before calls OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL) first of all.
 */
#ifndef PADDOCK_SECURE_H
#define PADDOCK_SECURE_H

#include <paddock/client.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pdk_feature { PDK_TLS = 1, PDK_SASL = 2 } pdk_feature;

/* Does this build have FEATURE? False for another number. Any thread, also after fork. */
bool pdk_has(pdk_feature feature);

/*
 * Put a secret into BUF, of SIZE bytes. Returns its length, which is less than SIZE, or a negative number when there is
 * none.
 *
 * It is called for each connection that needs it, on a thread of the library or of ZooKeeper's client. It must not call
 * the library. BUF is overwritten after its use. ARG is borrowed until pdk_client_close() has returned. Close waits 500
 * ms for a call that is under way; one that lasts longer has ARG until it returns.
 */
typedef int (*pdk_secret_cb)(char *buf, size_t size, void *arg);

/*
 * Connect by TLS. CA, CERT and KEY are files in PEM: the authorities that may have signed the servers' certificates,
 * the client's own certificate with its chain, and its private key. PASSWORD gives the password of KEY; it may be NULL
 * when KEY has none.
 *
 * A server is accepted when one of the authorities in CA has signed its certificate, when that is valid now and made
 * for servers, and when it names one of the hosts of the list by which the client was created. With ANY_NAME the name
 * does not matter.
 *
 * The library copies the names of the files. They are read on a thread of the library, for the first time inside
 * pdk_client_new(). That answers PDK_ETLS when one of them cannot be read, or when key and certificate do not belong
 * together. While no server can be connected to by TLS, pdk_client_wait() answers PDK_ETLS in place of PDK_ETIMEDOUT.
 * pdk_client_last_error() has the reason, as "TLS with 127.0.0.1:2281: certificate has expired". A client without TLS
 * has PDK_ETIMEDOUT at a port with it, and the reason "connection closed by 127.0.0.1:2281".
 *
 * The reason comes from lines of ZooKeeper's client: without them (pdk_log_zookeeper(PDK_LOG_NONE)) there is neither.
 *
 * PDK_ENOTSUP: ZooKeeper's client has no TLS; O is not changed.
 * PDK_EINVAL: a file is not named, or its name has a comma in it (ZooKeeper's client takes a list); or O has SASL.
 * PDK_ENOMEM.
 *
 * The trap: with ANY_NAME, every holder of a server's certificate that CA has signed can pose as a server of the
 * ensemble. Let CA sign for nothing but the ensemble.
 */
int pdk_client_options_set_tls(pdk_client_options *o, const char *ca, const char *cert, const char *key, bool any_name,
                               pdk_secret_cb password, void *arg);

/*
 * Authenticate by SASL: by MECHANISM ("DIGEST-MD5", or another that the system's Cyrus SASL knows), as USER.
 *
 * PASSWORD gives the user's password; it may be NULL for a mechanism that needs none. Its bytes stay in memory until
 * the handle is closed, and are overwritten then. A server that refuses ends the client: PDK_EAUTH.
 *
 * The trap: SASL hides the password of DIGEST-MD5 on the network, and nothing else. All that follows is plain text.
 *
 * Cyrus SASL has one state for the process, which the first client locks by sasl_set_mutex(). A program that itself
 * calls sasl_client_init() before must call sasl_set_mutex() before that.
 *
 * PDK_ENOTSUP: ZooKeeper's client has no SASL; O is not changed.
 * PDK_EINVAL: MECHANISM or USER is NULL or empty; or O has TLS.
 * PDK_ENOMEM.
 */
int pdk_client_options_set_sasl(pdk_client_options *o, const char *mechanism, const char *user, pdk_secret_cb password,
                                void *arg);

#ifdef __cplusplus
}
#endif

#endif
