/* The options of secured connections: which files, which user. Nothing here connects. */
#ifndef PDK__SECURITY_H
#define PDK__SECURITY_H

#include "paddock/secure.h"

struct pdk__security {
    char *ca; /* NULL: no TLS */
    char *cert;
    char *key;
    bool any_name;
    char *mechanism; /* NULL: no SASL */
    char *user;
    pdk_secret_cb secret; /* the password of the key, or of the user; NULL: none */
    void *secret_arg;
};

int pdk__security_copy(struct pdk__security *to, const struct pdk__security *from);
void pdk__security_clear(struct pdk__security *s);

/* Call `secret`: the length of what is now in BUF, or -1. */
int pdk__security_secret(const struct pdk__security *s, char *buf, size_t size);

#endif
