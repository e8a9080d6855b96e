#include "lib/zk/security.h"
#include "config.h"
#include "lib/alloc.h"
#include "lib/zk/options.h"
#include <string.h>

#ifdef PDK_WITH_TLS
static const bool with_tls = true;
#else
static const bool with_tls = false;
#endif

#ifdef PDK_WITH_SASL
static const bool with_sasl = true;
#else
static const bool with_sasl = false;
#endif

bool pdk_has(pdk_feature feature) { return (feature == PDK_TLS && with_tls) || (feature == PDK_SASL && with_sasl); }

void pdk__security_clear(struct pdk__security *s)
{
    char **texts[] = {&s->ca, &s->cert, &s->key, &s->mechanism, &s->user};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        pdk__free(*texts[i]);
        *texts[i] = NULL;
    }
}

static char *copy(const char *text, int *rc)
{
    char *twin = text != NULL ? pdk__strdup(text) : NULL;
    if (text != NULL && twin == NULL)
        *rc = PDK_ENOMEM;
    return twin;
}

int pdk__security_copy(struct pdk__security *to, const struct pdk__security *from)
{
    int rc = 0;
    struct pdk__security s = *from;
    s.ca = copy(from->ca, &rc);
    s.cert = copy(from->cert, &rc);
    s.key = copy(from->key, &rc);
    s.mechanism = copy(from->mechanism, &rc);
    s.user = copy(from->user, &rc);
    if (rc != 0)
        pdk__security_clear(&s);
    *to = s;
    return rc;
}

int pdk__security_secret(const struct pdk__security *s, char *buf, size_t size)
{
    int n = s->secret != NULL ? s->secret(buf, size, s->secret_arg) : -1;
    return n >= 0 && (size_t)n < size ? n : -1;
}

/* --- options ----------------------------------------------------------------------------------------------------- */

static int replace(struct pdk__security *s, const struct pdk__security *wanted)
{
    struct pdk__security copied;
    int rc = pdk__security_copy(&copied, wanted);
    if (rc != 0)
        return rc;
    pdk__security_clear(s);
    *s = copied;
    return 0;
}

/* ZooKeeper's client takes the names in one text, with commas between them. */
static bool is_file(const char *name) { return name != NULL && *name != '\0' && strchr(name, ',') == NULL; }

int pdk_client_options_set_tls(pdk_client_options *o, const char *ca, const char *cert, const char *key, bool any_name,
                               pdk_secret_cb password, void *arg)
{
    if (!pdk_has(PDK_TLS))
        return PDK_ENOTSUP;
    if (o == NULL || !is_file(ca) || !is_file(cert) || !is_file(key) || o->security.mechanism != NULL)
        return PDK_EINVAL;
    return replace(&o->security, &(struct pdk__security){.ca = (char *)ca,
                                                         .cert = (char *)cert,
                                                         .key = (char *)key,
                                                         .any_name = any_name,
                                                         .secret = password,
                                                         .secret_arg = arg});
}

int pdk_client_options_set_sasl(pdk_client_options *o, const char *mechanism, const char *user, pdk_secret_cb password,
                                void *arg)
{
    if (!pdk_has(PDK_SASL))
        return PDK_ENOTSUP;
    if (o == NULL || mechanism == NULL || *mechanism == '\0' || user == NULL || *user == '\0' || o->security.ca != NULL)
        return PDK_EINVAL;
    return replace(&o->security,
                   &(struct pdk__security){
                       .mechanism = (char *)mechanism, .user = (char *)user, .secret = password, .secret_arg = arg});
}
