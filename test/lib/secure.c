#include "test/lib/secure.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <zookeeper/zookeeper.h>

bool pdk__speaks_tls(void)
{
    const char *ca = getenv("PADDOCK_TLS_CA");
    return ca != NULL && *ca != '\0';
}

int pdk__speak_tls(pdk_client_options *o)
{
    if (!pdk__speaks_tls())
        return 0;
    zoo_set_log_stream(fopen("/dev/null", "we"));
    return pdk_client_options_set_tls(o, getenv("PADDOCK_TLS_CA"), getenv("PADDOCK_TLS_CERT"),
                                      getenv("PADDOCK_TLS_KEY"), false, NULL, NULL);
}

static void set_file(const char *name, const char *dir, const char *file)
{
    char whole[PATH_MAX];
    snprintf(whole, sizeof whole, "%s/%s", dir, file);
    setenv(name, whole, 1);
}

void pdk__speak_tls_by(const char *dir)
{
    set_file("PADDOCK_TLS_CA", dir, "ours.crt");
    set_file("PADDOCK_TLS_CERT", dir, "client.crt");
    set_file("PADDOCK_TLS_KEY", dir, "plain.key");
}

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
