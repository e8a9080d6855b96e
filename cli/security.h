/* Options of secured connections: names of files and users by options, secrets by a file or the environment. */
#ifndef PDK_CLI_SECURITY_H
#define PDK_CLI_SECURITY_H

#include <paddock/secure.h>

struct pdk__cli_security {
    const char *ca, *cert, *key; /* NULL: no TLS */
    bool any_name;
    const char *user;          /* NULL: no SASL */
    const char *mechanism;     /* NULL: the default */
    const char *password_file; /* of the key, or of the user; NULL: PADDOCK_PASSWORD has it, if there is one */
};

/* Defaults, with the environment. */
void pdk__cli_security_begin(struct pdk__cli_security *s);

/* Pass them on to O, which borrows S. COMMAND is for messages. Returns 0 or an exit status, already explained. */
int pdk__cli_security_take(struct pdk__cli_security *s, const char *command, pdk_client_options *o);

/* ZooKeeper's client, where it uses TLS, says nothing of its own on standard error. To be called in the process that
 * has the client, which keeps the descriptor that this opens. */
void pdk__cli_security_silence(const struct pdk__cli_security *s);

/* For --version: what ZooKeeper's client was built with. */
const char *pdk__cli_security_built(void);

#endif
