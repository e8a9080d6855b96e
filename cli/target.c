#include "cli/target.h"

#include "cli/message.h"
#include "cli/number.h"
#include "lib/assert.h"
#include "lib/core/host.h"
#include "lib/core/path.h"

#include <stdio.h>
#include <string.h>

const char *pdk__cli_short(const char *text, char buf[PDK__CLI_SHORT])
{
    enum { HALF = PDK__CLI_SHORT / 2 - 2 };
    size_t length = strlen(text);
    assert(text != buf);
    if (length < PDK__CLI_SHORT)
        snprintf(buf, PDK__CLI_SHORT, "%s", text);
    else
        snprintf(buf, PDK__CLI_SHORT, "%.*s...%s", HALF, text, text + length - HALF);
    return buf;
}

/* --- the path ---------------------------------------------------------------------------------------------------- */

/* No part is empty, "." or "..". */
static bool is_plain(const char *path)
{
    for (const char *at = path; *at == '/'; at += 1 + strcspn(at + 1, "/")) {
        size_t length = strcspn(at + 1, "/");
        if (length == 0 || (length <= 2 && strspn(at + 1, ".") == length))
            return false;
    }
    return true;
}

static int refuse_path(const char *command, const char *path)
{
    char text[PDK__CLI_SHORT];
    size_t length = strlen(path);
    pdk__cli_short(path, text);
    if (*path != '/')
        return pdk__cli_usage("%s: a lock path begins with '/', '%s' does not", command, text);
    while (length > 0 && path[length - 1] == '/')
        length--;
    if (length == 0)
        return pdk__cli_usage("%s: '%s' is no lock; a lock is a path below it, as /locks/nightly", command, text);
    if (path[length] == '/')
        return pdk__cli_usage("%s: a lock path does not end with '/': '%s'", command, text);
    if (is_plain(path))
        return pdk__cli_usage("%s: not a valid lock path, for it has a control character, or over %d bytes: '%s'",
                              command, PDK__PATH_MAX, text);
    return pdk__cli_usage("%s: no part of a lock path is empty, '.' or '..': '%s'", command, text);
}

int pdk__cli_target_path(const char *command, const char *path)
{
    return pdk__path_valid(path) ? 0 : refuse_path(command, path);
}

/* --- the ensemble ------------------------------------------------------------------------------------------------ */

/* A single '/' is the root itself. */
static int check_chroot(const char *command, const char *hosts)
{
    char text[PDK__CLI_SHORT];
    const char *chroot = strchr(hosts, '/');
    if (chroot == NULL || strcmp(chroot, "/") == 0 || pdk__path_valid(chroot))
        return 0;
    return pdk__cli_usage("%s: '%s' is no chroot: a part of it is empty, '.' or '..', or it has a control character",
                          command, pdk__cli_short(chroot, text));
}

static bool has_port(const struct pdk__host *host)
{
    char text[8];
    int port;
    snprintf(text, sizeof text, "%.*s", host->n_port, host->port);
    return host->n_name > 0 && host->n_port < (int)sizeof text && pdk__cli_number_whole(text, 1, 65535, &port);
}

int pdk__cli_target_hosts(const char *command, const char *hosts)
{
    char entry[512], text[PDK__CLI_SHORT];
    struct pdk__host host;
    const char *at = hosts;
    int n = 0;
    for (; pdk__host_next(&at, &host); n++) {
        snprintf(entry, sizeof entry, "%.*s", host.n_entry, host.entry);
        if (!has_port(&host))
            return pdk__cli_usage("%s: '%s' is no HOST:PORT with a port from 1 to 65535", command,
                                  pdk__cli_short(entry, text));
    }
    if (n == 0)
        return pdk__cli_usage("%s: '%s' has no HOST:PORT", command, pdk__cli_short(hosts, text));
    return check_chroot(command, hosts);
}

size_t pdk__cli_target_chroot_parent(const char *hosts, char *buf, size_t size)
{
    const char *chroot = strchr(hosts, '/'), *last = strrchr(hosts, '/');
    if (chroot == NULL || last == chroot)
        return 0;
    return (size_t)snprintf(buf, size, "%.*s", (int)(last - chroot), chroot);
}
