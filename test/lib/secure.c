#include "test/lib/secure.h"

#include <limits.h>
#include <stdio.h>

void pdk__secure_properties(const char *dir, const char *list[PDK__SECURE_PROPERTIES + 1])
{
    static char key_store[PATH_MAX], trust_store[PATH_MAX];
    int n = 0;
    snprintf(key_store, sizeof key_store, "zookeeper.ssl.keyStore.location=%s/good.p12", dir);
    snprintf(trust_store, sizeof trust_store, "zookeeper.ssl.trustStore.location=%s/trust.p12", dir);
    list[n++] = "zookeeper.serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory";
    list[n++] = "zookeeper.client.portUnification=true";
    /* which a secureClientPort would set */
    list[n++] = "zookeeper.authProvider.x509=org.apache.zookeeper.server.auth.X509AuthenticationProvider";
    list[n++] = key_store;
    list[n++] = "zookeeper.ssl.keyStore.password=secret";
    list[n++] = trust_store;
    list[n++] = "zookeeper.ssl.trustStore.password=secret";
    list[n] = NULL;
}
