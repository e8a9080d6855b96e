/* The client's options, inside. */
#ifndef PDK__OPTIONS_H
#define PDK__OPTIONS_H

#include "lib/core/session.h"
#include "lib/identity.h"
#include "lib/zk/security.h"
#include "paddock/client.h"
#include "paddock/log.h"
#include <zookeeper/zookeeper.h>

enum { PDK__AUTHS_MAX = 8, PDK__ACLS_MAX = 16 };

struct pdk__auth {
    char *scheme;
    char *cred;
};

struct pdk_client_options {
    int session_timeout_ms;
    struct pdk__session_policy policy;
    bool dispatch_by_caller;
    char label[PDK__LABEL_MAX];
    char machine[PDK__MACHINE_MAX]; /* of the identity */
    char under[PDK__UNDER_MAX];
    pdk_session_cb on_session;
    void *on_session_arg;
    pdk_log_level log_level;
    pdk_log_cb log_cb;
    void *log_arg;
    int n_auths;
    struct pdk__auth auths[PDK__AUTHS_MAX];
    int n_acls;
    struct ACL acls[PDK__ACLS_MAX];
    struct pdk__security security;
};

void pdk__options_init(struct pdk_client_options *o);

/* Deep copy; PDK_ENOMEM leaves TO empty. */
int pdk__options_copy(struct pdk_client_options *to, const struct pdk_client_options *from);

/* Free what it owns, not itself. */
void pdk__options_clear(struct pdk_client_options *o);

/* The ACL for every node we create; borrowed from O. */
struct ACL_vector pdk__options_acl(struct pdk_client_options *o);

#endif
