#include "lib/zk/tls.h"
#include "config.h"

#ifdef PDK_WITH_TLS

#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/core/host.h"
#include "lib/zk/registry.h"
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

extern zhandle_t *zookeeper_init_ssl(const char *hosts, const char *files, watcher_fn watcher, int timeout_ms,
                                     const clientid_t *id, void *context, int flags);

/* Contexts that follow each other sooner come from files that cannot be read: the client tries them without a pause. */
enum { AGAIN_MS = 20 };

/* The handshake of the calling thread, which is one of a handle of ours. */
static _Thread_local int64_t began_ms;
static _Thread_local char why[160];

/* --- whose thread it is ------------------------------------------------------------------------------------------ */

#define THREAD_NAME "pdk-tls-%07" PRIxPTR
enum { NAME_MAX_BYTES = 16 };

static uintptr_t id_of_thread(void)
{
    char name[NAME_MAX_BYTES] = "";
    uintptr_t id = 0;
    if (prctl(PR_GET_NAME, name) != 0 || sscanf(name, "pdk-tls-%" SCNxPTR, &id) != 1)
        return 0;
    return id;
}

/* The client of the calling thread, with a reference; NULL when it has none, or that is gone. */
static struct pdk_client *client_of_thread(void)
{
    uintptr_t id = id_of_thread();
    return id != 0 ? pdk__registry_find(id) : NULL;
}

/* --- certificates ------------------------------------------------------------------------------------------------ */

static STACK_OF(X509) * read_certificates(const char *file)
{
    STACK_OF(X509) *all = sk_X509_new_null();
    BIO *in = BIO_new_file(file, "r");
    X509 *one;
    while (all != NULL && in != NULL && (one = PEM_read_bio_X509(in, NULL, NULL, NULL)) != NULL)
        if (sk_X509_push(all, one) <= 0)
            X509_free(one);
    BIO_free(in);
    ERR_clear_error(); /* the end of the file is one */
    return all;
}

static bool is_named(X509 *cert, const struct pdk__host *host)
{
    char name[256];
    unsigned char address[16];
    size_t length = (size_t)snprintf(name, sizeof name, "%.*s", host->n_name, host->name);
    if (length == 0 || length >= sizeof name)
        return false;
    if (inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1)
        return X509_check_ip_asc(cert, name, 0) == 1;
    return X509_check_host(cert, name, length, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS, NULL) == 1;
}

/* "h1:2181,[fd00::1]:2181/chroot": does CERT name one of them? */
static bool names_one_of(X509 *cert, const char *hosts)
{
    struct pdk__host host;
    while (pdk__host_next(&hosts, &host))
        if (host.n_port > 0 && is_named(cert, &host))
            return true;
    return false;
}

/* Only what the user's authorities have signed counts: the context has those of the system, too. */
static bool is_accepted(struct pdk_client *c, X509_STORE_CTX *store)
{
    const struct pdk__security *s = &c->options.security;
    STACK_OF(X509) *authorities = read_certificates(s->ca);
    if (authorities == NULL) {
        X509_STORE_CTX_set_error(store, X509_V_ERR_OUT_OF_MEM);
        return false;
    }
    X509_STORE_CTX_set0_trusted_stack(store, authorities);
    bool ok = X509_verify_cert(store) > 0;
    if (ok && !s->any_name && !names_one_of(X509_STORE_CTX_get0_cert(store), c->hosts)) {
        X509_STORE_CTX_set_error(store, X509_V_ERR_HOSTNAME_MISMATCH);
        ok = false;
    }
    sk_X509_pop_free(authorities, X509_free);
    return ok;
}

static int verify(X509_STORE_CTX *store, void *id)
{
    struct pdk_client *c = pdk__registry_find((uintptr_t)id);
    if (c == NULL) {
        X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
        return 0;
    }
    bool ok = is_accepted(c, store);
    if (ok)
        atomic_store(&c->handle.tls_checked, true);
    else
        snprintf(why, sizeof why, "%s", X509_verify_cert_error_string(X509_STORE_CTX_get_error(store)));
    pdk__client_unref(c);
    return ok;
}

/* --- the handshake ----------------------------------------------------------------------------------------------- */

/* The client waits for it in a loop without an end, which close does not end either. */
static bool is_over(struct pdk_client *c)
{
    if (c == NULL || atomic_load(&c->handle.tls_dropped))
        return true;
    int64_t patience_ms = c->options.session_timeout_ms / 3 * (c->options.policy.movable ? 1 : 2);
    return pdk__now_ms() - began_ms >= patience_ms;
}

/* It begins once the files are read, which is no fault of the server. */
static void on_progress(const SSL *ssl, int where, int ret)
{
    if (where == SSL_CB_HANDSHAKE_START)
        began_ms = pdk__now_ms();
    if (where != SSL_CB_CONNECT_EXIT || ret > 0)
        return;
    struct pdk_client *c = client_of_thread();
    if (is_over(c)) {
        snprintf(why, sizeof why, "the handshake was not answered in time");
        shutdown(SSL_get_fd(ssl), SHUT_RDWR);
    }
    if (c != NULL)
        pdk__client_unref(c);
}

/* Without a password the client would ask the terminal. OpenSSL overwrites BUF. */
static int give_password(char *buf, int size, int writes, void *unused)
{
    (void)writes, (void)unused;
    struct pdk_client *c = client_of_thread();
    int n = c != NULL ? pdk__security_secret(&c->options.security, buf, (size_t)size) : -1;
    if (c != NULL)
        pdk__client_unref(c);
    return n;
}

static void on_context(void *context, void *value, CRYPTO_EX_DATA *data, int index, long number, void *arg)
{
    uintptr_t id = id_of_thread();
    (void)value, (void)data, (void)index, (void)number, (void)arg;
    if (id == 0)
        return;
    if (pdk__now_ms() - began_ms < AGAIN_MS)
        poll(NULL, 0, AGAIN_MS);
    began_ms = pdk__now_ms();
    why[0] = '\0';
    ERR_clear_error();
    SSL_CTX_set_cert_verify_callback(context, verify, (void *)id);
    SSL_CTX_set_default_passwd_cb(context, give_password);
    SSL_CTX_set_info_callback(context, on_progress);
}

/* Threads of a handle may be in OpenSSL when the program exits: no handler of exit() may free what they use. Only the
 * first call of a process decides that. */
static void set_up(void)
{
    OPENSSL_init_ssl(OPENSSL_INIT_LOAD_SSL_STRINGS | OPENSSL_INIT_LOAD_CRYPTO_STRINGS | OPENSSL_INIT_NO_ATEXIT, NULL);
    SSL_CTX_get_ex_new_index(0, NULL, on_context, NULL, NULL);
}

static bool own_certificate_expired(void)
{
    struct pdk_client *c = client_of_thread();
    STACK_OF(X509) *own = c != NULL ? read_certificates(c->options.security.cert) : NULL;
    bool expired = sk_X509_num(own) > 0 && X509_cmp_current_time(X509_get0_notAfter(sk_X509_value(own, 0))) < 0;
    sk_X509_pop_free(own, X509_free);
    if (c != NULL)
        pdk__client_unref(c);
    return expired;
}

bool pdk__tls_why(char *buf, size_t size)
{
    unsigned long error = ERR_peek_last_error();
    const char *reason = error != 0 ? ERR_reason_error_string(error) : NULL;
    if (why[0] == '\0' && reason == NULL)
        return false;
    /* ZooKeeper's servers answer by the same alert to all that they do not accept. */
    if (why[0] == '\0' && ERR_GET_REASON(error) >= SSL_AD_REASON_OFFSET && own_certificate_expired())
        reason = "the client's own certificate has expired";
    snprintf(buf, size, "%s", why[0] != '\0' ? why : reason);
    why[0] = '\0';
    ERR_clear_error();
    return true;
}

/* --- opening ----------------------------------------------------------------------------------------------------- */

static int give_password_of(char *buf, int size, int writes, void *security)
{
    (void)writes;
    return pdk__security_secret(security, buf, (size_t)size);
}

static const char *first_fault(SSL_CTX *ctx, const struct pdk__security *s)
{
    if (SSL_CTX_load_verify_locations(ctx, s->ca, NULL) != 1)
        return s->ca;
    if (SSL_CTX_use_certificate_chain_file(ctx, s->cert) != 1)
        return s->cert;
    if (SSL_CTX_use_PrivateKey_file(ctx, s->key, SSL_FILETYPE_PEM) != 1 || SSL_CTX_check_private_key(ctx) != 1)
        return s->key;
    return NULL;
}

/* The first error of the queue is the cause: "No such file or directory", "bad decrypt", "key values mismatch". */
static void describe_fault(const char *file, char *text, size_t size)
{
    unsigned long error = ERR_peek_error();
    const char *reason = ERR_GET_LIB(error) == ERR_LIB_SYS ? strerror(ERR_GET_REASON(error))
                                                           : ERR_reason_error_string(error);
    if (ERR_GET_REASON(error) == ERR_R_INTERRUPTED_OR_CANCELLED)
        reason = "the password is missing";
    snprintf(text, size, "%s: %s", file, reason != NULL ? reason : "cannot be used");
}

int pdk__tls_check_files(const struct pdk__security *s, char *text, size_t size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_up);
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    if (ctx == NULL)
        return PDK_ENOMEM;
    ERR_clear_error();
    SSL_CTX_set_default_passwd_cb(ctx, give_password_of);
    SSL_CTX_set_default_passwd_cb_userdata(ctx, (void *)s);
    const char *file = first_fault(ctx, s);
    if (file != NULL)
        describe_fault(file, text, size);
    ERR_clear_error();
    SSL_CTX_free(ctx);
    return file != NULL ? PDK_ETLS : 0;
}

/* zookeeper_init_ssl() begins with strtok(), and goes on by resolving names. Two must not begin at once, and none
 * should wait for the other's names: one that has the lock for STRTOK_MS is past strtok(). */
enum { STRTOK_MS = 200 };
static pthread_mutex_t beginning = PTHREAD_MUTEX_INITIALIZER;

static bool begin_alone(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += STRTOK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    return pthread_mutex_timedlock(&beginning, &until) == 0;
}

static zhandle_t *open_named(struct pdk_client *c, const char *hosts, const char *files, watcher_fn watcher)
{
    char before[NAME_MAX_BYTES] = "", name[NAME_MAX_BYTES];
    snprintf(name, sizeof name, THREAD_NAME, c->id);
    prctl(PR_GET_NAME, before);
    prctl(PR_SET_NAME, name);
    bool alone = begin_alone();
    zhandle_t *zh = zookeeper_init_ssl(hosts, files, watcher, c->options.session_timeout_ms, NULL, (void *)c->id,
                                       ZOO_NO_LOG_CLIENTENV);
    int error = errno;
    if (alone)
        pthread_mutex_unlock(&beginning);
    prctl(PR_SET_NAME, before);
    errno = error;
    return zh;
}

zhandle_t *pdk__tls_open(struct pdk_client *c, const char *hosts, watcher_fn watcher, log_callback_fn log)
{
    const struct pdk__security *s = &c->options.security;
    size_t size = strlen(s->ca) + strlen(s->cert) + strlen(s->key) + sizeof ",,,-";
    char *files = pdk__alloc(size);
    if (files == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    snprintf(files, size, "%s,%s,%s,-", s->ca, s->cert, s->key); /* the password is never asked for */
    zhandle_t *zh = open_named(c, hosts, files, watcher);
    int error = errno;
    pdk__free(files);
    if (zh != NULL)
        zoo_set_log_callback(zh, log);
    errno = error;
    return zh;
}

#else

int pdk__tls_check_files(const struct pdk__security *s, char *why, size_t size)
{
    (void)s, (void)why, (void)size;
    return PDK_ENOTSUP;
}

zhandle_t *pdk__tls_open(struct pdk_client *c, const char *hosts, watcher_fn watcher, log_callback_fn log)
{
    (void)c, (void)hosts, (void)watcher, (void)log;
    return NULL;
}

bool pdk__tls_why(char *buf, size_t size)
{
    (void)buf, (void)size;
    return false;
}

#endif
