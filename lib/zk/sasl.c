#include "lib/zk/sasl.h"
#include "config.h"

#ifdef PDK_WITH_SASL

#include "lib/alloc.h"
#include "lib/zk/log.h"
#include <errno.h>
#include <sasl/sasl.h>
#include <string.h>

/* Declared here, since zookeeper.h declares them only where the macros of its own build are set. */
typedef struct zoo_sasl_params {
    const char *service;
    const char *host;
    const char *mechlist;
    const sasl_callback_t *callbacks;
} zoo_sasl_params_t;
extern zhandle_t *zookeeper_init_sasl(const char *hosts, watcher_fn watcher, int timeout_ms, const clientid_t *id,
                                      void *context, int flags, log_callback_fn log, zoo_sasl_params_t *params);

enum { SECRET_MAX = 1024 };

struct pdk__sasl {
    sasl_callback_t callbacks[5];
    union {
        sasl_secret_t secret;
        char bytes[sizeof(sasl_secret_t) + SECRET_MAX];
    } memory;
};

/* --- answers ----------------------------------------------------------------------------------------------------- */

static int give_user(void *context, int id, const char **result, unsigned *length)
{
    const struct pdk_client *c = context;
    (void)id;
    *result = c->options.security.user;
    if (length != NULL)
        *length = (unsigned)strlen(*result);
    return SASL_OK;
}

/* Cyrus borrows it until the authentication is over, without saying when that is. */
static int give_secret(sasl_conn_t *connection, void *context, int id, sasl_secret_t **result)
{
    struct pdk_client *c = context;
    sasl_secret_t *secret = &c->handle.sasl->memory.secret;
    (void)connection, (void)id;
    int n = pdk__security_secret(&c->options.security, (char *)secret->data, SECRET_MAX);
    if (n < 0)
        return SASL_FAIL;
    secret->len = (unsigned long)n;
    *result = secret;
    return SASL_OK;
}

/* The realm that the server offers. */
static int give_realm(void *context, int id, const char **offered, const char **result)
{
    (void)context, (void)id;
    *result = offered != NULL && offered[0] != NULL ? offered[0] : "";
    return SASL_OK;
}

/* --- locks ------------------------------------------------------------------------------------------------------- */

static void *make_lock(void)
{
    pthread_mutex_t *lock = pdk__alloc(sizeof *lock);
    if (lock != NULL && pthread_mutex_init(lock, NULL) != 0) {
        pdk__free(lock);
        return NULL;
    }
    return lock;
}

static int take_lock(void *lock) { return pthread_mutex_lock(lock) == 0 ? SASL_OK : SASL_FAIL; }

static int give_lock(void *lock) { return pthread_mutex_unlock(lock) == 0 ? SASL_OK : SASL_FAIL; }

static void free_lock(void *lock)
{
    pthread_mutex_destroy(lock);
    pdk__free(lock);
}

/* Mechanisms keep what a login leaves for the next one of the process, and lock it by what they are given: by nothing,
 * unless that is said before the first call. An application that has begun before us has had to say it itself. */
static void start_sasl(void)
{
    sasl_set_mutex(make_lock, take_lock, give_lock, free_lock);
    sasl_client_init(NULL);
}

/* --- a handle ---------------------------------------------------------------------------------------------------- */

typedef int (*callback_fn)(void);
typedef void (*any_fn)(void);

static bool prepare(struct pdk_client *c)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start_sasl);
    if (c->handle.sasl == NULL && (c->handle.sasl = pdk__alloc(sizeof *c->handle.sasl)) == NULL)
        return false;
    const sasl_callback_t callbacks[] = {{SASL_CB_USER, (callback_fn)(any_fn)give_user, c},
                                         {SASL_CB_AUTHNAME, (callback_fn)(any_fn)give_user, c},
                                         {SASL_CB_PASS, (callback_fn)(any_fn)give_secret, c},
                                         {SASL_CB_GETREALM, (callback_fn)(any_fn)give_realm, c},
                                         {SASL_CB_LIST_END, NULL, NULL}};
    memcpy(c->handle.sasl->callbacks, callbacks, sizeof callbacks);
    return true;
}

zhandle_t *pdk__sasl_open(struct pdk_client *c, const char *hosts, watcher_fn watcher)
{
    const char *mechanism = c->options.security.mechanism;
    if (!prepare(c)) {
        errno = ENOMEM;
        return NULL;
    }
    /* The name that ZooKeeper's servers have for this mechanism, whatever they are called. */
    const char *host = strcmp(mechanism, "DIGEST-MD5") == 0 ? "zk-sasl-md5" : NULL;
    zoo_sasl_params_t params = {
        .service = "zookeeper", .host = host, .mechlist = mechanism, .callbacks = c->handle.sasl->callbacks};
    return zookeeper_init_sasl(hosts, watcher, c->options.session_timeout_ms, NULL, (void *)c->id, ZOO_NO_LOG_CLIENTENV,
                               pdk__log_zookeeper(c), &params);
}

void pdk__sasl_closed(struct pdk_client *c)
{
    if (c->handle.sasl == NULL)
        return;
    explicit_bzero(&c->handle.sasl->memory, sizeof c->handle.sasl->memory);
    pdk__free(c->handle.sasl);
    c->handle.sasl = NULL;
}

#else

zhandle_t *pdk__sasl_open(struct pdk_client *c, const char *hosts, watcher_fn watcher)
{
    (void)c, (void)hosts, (void)watcher;
    return NULL;
}

void pdk__sasl_closed(struct pdk_client *c) { (void)c; }

#endif
