/* Our identity to the servers, and the permissions on our nodes, in the form that people write. */
#ifndef PDK_CLI_CREDENTIALS_H
#define PDK_CLI_CREDENTIALS_H

#include <paddock/client.h>

/* "digest:user:password". 0, or -1 when TEXT has another form. */
int pdk__cli_credentials_take(pdk_client_options *o, const char *text);

/* A file of such lines; empty ones and those that begin with '#' do not count. 0, the number of the first bad line, or
 * a negative errno. */
int pdk__cli_credentials_read(pdk_client_options *o, const char *file);

/* "world:anyone:r", "digest:user:hash:rwcda". 0, or -1 when TEXT has another form. */
int pdk__cli_credentials_acl(pdk_client_options *o, const char *text);

#endif
