/* No handle of the simulator has TLS or SASL. Compiled with shim.h. */
#include "lib/zk/secure.h"
#include "lib/zk/tls.h"

bool pdk__secure_wanted(const struct pdk_client *c)
{
    (void)c;
    return false;
}

int pdk__secure_check(struct pdk_client *c)
{
    (void)c;
    return 0;
}

zhandle_t *pdk__secure_open(struct pdk_client *c, const char *hosts, watcher_fn watcher)
{
    (void)c, (void)hosts, (void)watcher;
    return NULL;
}

bool pdk__secure_checked(struct pdk_client *c)
{
    (void)c;
    return true;
}

void pdk__secure_closing(struct pdk_client *c) { (void)c; }
void pdk__secure_closed(struct pdk_client *c) { (void)c; }

bool pdk__tls_why(char *buf, size_t size)
{
    (void)buf, (void)size;
    return false;
}
