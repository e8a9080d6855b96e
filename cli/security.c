#include "cli/security.h"

#include "cli/message.h"

#include <errno.h>
#include <fcntl.h>
#include <paddock/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

static const char *given(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && *value != '\0' ? value : NULL;
}

void pdk__cli_security_begin(struct pdk__cli_security *s)
{
    *s = (struct pdk__cli_security){.ca = given("PADDOCK_TLS_CA"),
                                    .cert = given("PADDOCK_TLS_CERT"),
                                    .key = given("PADDOCK_TLS_KEY"),
                                    .user = given("PADDOCK_SASL_USER")};
}

/* --- the secret -------------------------------------------------------------------------------------------------- */

/* Without stdio, whose buffer would keep it. */
static int read_secret(const char *file, char *buf, size_t size)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, buf, size);
    int error = errno;
    close(fd);
    errno = error;
    if (n < 0)
        return -1;
    errno = EMSGSIZE;
    const char *end = memchr(buf, '\n', (size_t)n);
    return end != NULL ? (int)(end - buf) : (size_t)n < size ? (int)n : -1;
}

static int give_secret(char *buf, size_t size, void *arg)
{
    const struct pdk__cli_security *s = arg;
    const char *secret = getenv("PADDOCK_PASSWORD");
    if (s->password_file != NULL)
        return read_secret(s->password_file, buf, size);
    if (secret == NULL || strlen(secret) >= size)
        return -1;
    memcpy(buf, secret, strlen(secret));
    return (int)strlen(secret);
}

/* Told now, for later it would only be a key that cannot be read, or a refusal. */
static int check_password_file(const struct pdk__cli_security *s, const char *command)
{
    char secret[1024];
    if (s->password_file == NULL)
        return 0;
    int n = read_secret(s->password_file, secret, sizeof secret);
    int error = errno;
    explicit_bzero(secret, sizeof secret);
    if (n >= 0)
        return 0;
    return pdk__cli_usage("%s: --password-file %s: %s", command, s->password_file, strerror(error));
}

/* --- to the client ----------------------------------------------------------------------------------------------- */

static int refuse(const char *command, const char *what, int rc)
{
    if (rc == PDK_ENOTSUP)
        return pdk__cli_usage("%s: ZooKeeper's client on this machine was built without %s; see paddock(1)", command,
                              what);
    return pdk__cli_usage("%s: %s: %s", command, what, pdk_strerror(rc));
}

static int take_tls(struct pdk__cli_security *s, const char *command, pdk_client_options *o)
{
    if (s->ca == NULL || s->cert == NULL || s->key == NULL)
        return pdk__cli_usage("%s: TLS needs --tls-ca, --tls-cert and --tls-key", command);
    int rc = pdk_client_options_set_tls(o, s->ca, s->cert, s->key, s->any_name, give_secret, s);
    if (rc == PDK_EINVAL)
        return pdk__cli_usage("%s: the name of a file for TLS is empty, or has a comma in it", command);
    if (rc != 0)
        return refuse(command, "TLS", rc);
    return 0;
}

static int take_sasl(struct pdk__cli_security *s, const char *command, pdk_client_options *o)
{
    const char *mechanism = s->mechanism != NULL ? s->mechanism : "DIGEST-MD5";
    int rc = pdk_client_options_set_sasl(o, mechanism, s->user, give_secret, s);
    return rc == 0 ? 0 : refuse(command, "SASL", rc);
}

/* An option that would have no effect. */
static int check_use(const struct pdk__cli_security *s, const char *command, bool tls, bool sasl)
{
    if (s->any_name && !tls)
        return pdk__cli_usage("%s: --tls-any-name needs --tls-ca, --tls-cert and --tls-key", command);
    if (s->mechanism != NULL && !sasl)
        return pdk__cli_usage("%s: --sasl-mechanism needs --sasl-user", command);
    if (s->password_file != NULL && !tls && !sasl)
        return pdk__cli_usage("%s: --password-file needs --sasl-user, or the files of TLS", command);
    return 0;
}

int pdk__cli_security_take(struct pdk__cli_security *s, const char *command, pdk_client_options *o)
{
    bool tls = s->ca != NULL || s->cert != NULL || s->key != NULL, sasl = s->user != NULL;
    int status = check_use(s, command, tls, sasl);
    if (status == 0)
        status = check_password_file(s, command);
    if (status != 0)
        return status;
    if (tls && sasl)
        return pdk__cli_usage("%s: ZooKeeper's client has either TLS or SASL, not both", command);
    if (tls)
        return take_tls(s, command, o);
    return sasl ? take_sasl(s, command, o) : 0;
}

/* The first line of a handle with TLS goes to the stream of the process: standard error. */
void pdk__cli_security_silence(const struct pdk__cli_security *s)
{
    static FILE *nowhere;
    if (s->ca != NULL && nowhere == NULL && (nowhere = fopen("/dev/null", "we")) != NULL)
        zoo_set_log_stream(nowhere);
}

const char *pdk__cli_security_built(void)
{
    if (pdk_has(PDK_TLS))
        return pdk_has(PDK_SASL) ? "TLS, SASL" : "TLS, no SASL";
    return pdk_has(PDK_SASL) ? "SASL, no TLS" : "no TLS, no SASL";
}
