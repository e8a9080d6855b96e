/* Servers that speak TLS and plain text on one port, by the files that test/tls/certificates makes. */
#ifndef TEST_SECURE_H
#define TEST_SECURE_H

enum { PDK__SECURE_PROPERTIES = 7 };

/* Puts the properties of such servers, with the certificates in DIR, into LIST, and NULL behind them. The texts are good
 * until the next call. */
void pdk__secure_properties(const char *dir, const char *list[PDK__SECURE_PROPERTIES + 1]);

#endif
