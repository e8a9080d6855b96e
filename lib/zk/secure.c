#include "lib/zk/secure.h"
#include "lib/assert.h"
#include "lib/zk/log.h"
#include "lib/zk/sasl.h"
#include "lib/zk/tls.h"

static bool wants_tls(const struct pdk_client *c) { return !c->adopted && c->options.security.ca != NULL; }
static bool wants_sasl(const struct pdk_client *c) { return !c->adopted && c->options.security.mechanism != NULL; }

bool pdk__secure_wanted(const struct pdk_client *c) { return wants_tls(c) || wants_sasl(c); }

int pdk__secure_check(struct pdk_client *c)
{
    char why[200] = "";
    int rc = wants_tls(c) ? pdk__tls_check_files(&c->options.security, why, sizeof why) : 0;
    if (rc == PDK_ETLS)
        pdk__log_set_trouble(c, why, true);
    return rc;
}

zhandle_t *pdk__secure_open(struct pdk_client *c, const char *hosts, watcher_fn watcher)
{
    assert(wants_tls(c) != wants_sasl(c));
    atomic_store(&c->handle.tls_checked, false);
    atomic_store(&c->handle.tls_dropped, false);
    return wants_tls(c) ? pdk__tls_open(c, hosts, watcher, pdk__log_zookeeper(c)) : pdk__sasl_open(c, hosts, watcher);
}

bool pdk__secure_checked(struct pdk_client *c) { return !wants_tls(c) || atomic_load(&c->handle.tls_checked); }

void pdk__secure_closing(struct pdk_client *c) { atomic_store(&c->handle.tls_dropped, true); }

void pdk__secure_closed(struct pdk_client *c) { pdk__sasl_closed(c); }
