#include "lib/zk/options.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include <errno.h>
#include <string.h>

enum { TIMEOUT_DEFAULT_MS = 10000, TIMEOUT_MIN_MS = 100, TIMEOUT_MAX_MS = 86400000 };

void pdk__options_init(struct pdk_client_options *o)
{
    memset(o, 0, sizeof *o);
    o->session_timeout_ms = TIMEOUT_DEFAULT_MS;
    strncpy(o->label, program_invocation_short_name, sizeof o->label - 1);
    pdk__identity_machine(o->machine);
    pdk__identity_under(o->under);
}

pdk_client_options *pdk_client_options_new(void)
{
    pdk_client_options *o = pdk__alloc(sizeof *o);
    if (o != NULL)
        pdk__options_init(o);
    return o;
}

static void free_secret(char *text)
{
    explicit_bzero(text, strlen(text));
    pdk__free(text);
}

void pdk__options_clear(struct pdk_client_options *o)
{
    assert(o->n_auths >= 0 && o->n_auths <= PDK__AUTHS_MAX && o->n_acls >= 0 && o->n_acls <= PDK__ACLS_MAX);
    for (int i = 0; i < o->n_auths; i++) {
        pdk__free(o->auths[i].scheme);
        free_secret(o->auths[i].cred);
    }
    for (int i = 0; i < o->n_acls; i++) {
        pdk__free(o->acls[i].id.scheme);
        pdk__free(o->acls[i].id.id);
    }
    o->n_auths = o->n_acls = 0;
    pdk__security_clear(&o->security);
}

void pdk_client_options_free(pdk_client_options *o)
{
    if (o == NULL)
        return;
    pdk__options_clear(o);
    pdk__free(o);
}

int pdk_client_options_set_session_timeout_ms(pdk_client_options *o, int timeout_ms)
{
    if (o == NULL || timeout_ms < TIMEOUT_MIN_MS || timeout_ms > TIMEOUT_MAX_MS)
        return PDK_EINVAL;
    o->session_timeout_ms = timeout_ms;
    return 0;
}

static bool valid_ms(int ms) { return ms >= 0 && ms <= TIMEOUT_MAX_MS; }

int pdk_client_options_set_clock(pdk_client_options *o, int tick_ms, int margin_ms)
{
    if (o == NULL || !valid_ms(tick_ms) || !valid_ms(margin_ms))
        return PDK_EINVAL;
    o->policy.tick_ms = tick_ms;
    o->policy.margin_ms = margin_ms;
    return 0;
}

/* Two copies or none. */
static int copy_pair(char **a, char **b, const char *first, const char *second)
{
    *a = pdk__strdup(first);
    *b = pdk__strdup(second);
    if (*a != NULL && *b != NULL)
        return 0;
    pdk__free(*a);
    pdk__free(*b);
    return PDK_ENOMEM;
}

int pdk_client_options_add_auth(pdk_client_options *o, const char *scheme, const char *cred)
{
    if (o == NULL || scheme == NULL || *scheme == '\0' || cred == NULL || o->n_auths == PDK__AUTHS_MAX)
        return PDK_EINVAL;
    struct pdk__auth *auth = &o->auths[o->n_auths];
    int rc = copy_pair(&auth->scheme, &auth->cred, scheme, cred);
    o->n_auths += rc == 0;
    return rc;
}

int pdk_client_options_add_acl(pdk_client_options *o, const char *scheme, const char *id, int perms)
{
    if (o == NULL || scheme == NULL || *scheme == '\0' || id == NULL || perms <= 0 || perms > PDK_PERM_ALL ||
        o->n_acls == PDK__ACLS_MAX)
        return PDK_EINVAL;
    struct ACL *acl = &o->acls[o->n_acls];
    acl->perms = perms;
    int rc = copy_pair(&acl->id.scheme, &acl->id.id, scheme, id);
    o->n_acls += rc == 0;
    return rc;
}

int pdk_client_options_set_label(pdk_client_options *o, const char *label)
{
    if (o == NULL || label == NULL || strlen(label) >= sizeof o->label)
        return PDK_EINVAL;
    strcpy(o->label, label);
    return 0;
}

int pdk_client_options_set_dispatch(pdk_client_options *o, bool by_caller)
{
    if (o == NULL)
        return PDK_EINVAL;
    o->dispatch_by_caller = by_caller;
    return 0;
}

int pdk_client_options_set_on_session(pdk_client_options *o, pdk_session_cb cb, void *arg)
{
    if (o == NULL)
        return PDK_EINVAL;
    o->on_session = cb;
    o->on_session_arg = arg;
    return 0;
}

int pdk__options_copy(struct pdk_client_options *to, const struct pdk_client_options *from)
{
    *to = *from;
    to->n_auths = to->n_acls = 0;
    int rc = pdk__security_copy(&to->security, &from->security);
    for (int i = 0; i < from->n_auths && rc == 0; i++)
        rc = pdk_client_options_add_auth(to, from->auths[i].scheme, from->auths[i].cred);
    for (int i = 0; i < from->n_acls && rc == 0; i++)
        rc = pdk_client_options_add_acl(to, from->acls[i].id.scheme, from->acls[i].id.id, from->acls[i].perms);
    if (rc != 0)
        pdk__options_clear(to);
    return rc;
}

struct ACL_vector pdk__options_acl(struct pdk_client_options *o)
{
    assert(o->n_acls >= 0 && o->n_acls <= PDK__ACLS_MAX);
    return o->n_acls > 0 ? (struct ACL_vector){.count = o->n_acls, .data = o->acls} : ZOO_OPEN_ACL_UNSAFE;
}
