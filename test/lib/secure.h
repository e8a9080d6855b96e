/* Clients that speak TLS; and servers that speak it and plain text on one port, by the files that test/tls/certificates
 * makes. */
#ifndef TEST_SECURE_H
#define TEST_SECURE_H

#include <paddock.h>
#include <stdbool.h>

/* Do the clients of this process speak TLS? By the files that the environment names, as for paddock(1). */
bool pdk__speaks_tls(void);

/* Then O speaks it. Returns 0, or what the setter answers. The line that such a handle prints first is dropped. */
int pdk__speak_tls(pdk_client_options *o);

enum { PDK__SECURE_PROPERTIES = 7 };

/* Those of this process and its children do from now on, by the certificates in DIR. */
void pdk__speak_tls_by(const char *dir);

/* Puts the properties of such servers, with the certificates in DIR, into LIST, and NULL behind them. The texts are
 * good until the next call. */
void pdk__secure_properties(const char *dir, const char *list[PDK__SECURE_PROPERTIES + 1]);

#endif
