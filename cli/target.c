#include "cli/target.h"

#include "cli/message.h"
#include "cli/number.h"
#include "lib/assert.h"
#include "lib/core/path.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* The next HOST:PORT at *AT, into ENTRY; false at the end of the list, which is a chroot's slash or the text's end. */
static bool next(const char **at, char *entry, size_t size)
{
    if (**at == '\0' || **at == '/')
        return false;
    size_t length = strcspn(*at, ",/");
    snprintf(entry, size, "%.*s", (int)length, *at);
    *at += length + ((*at)[length] == ',');
    return true;
}

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

int pdk__cli_target_hosts(const char *command, const char *hosts)
{
    char entry[512], text[PDK__CLI_SHORT];
    const char *at = hosts;
    int port;
    if (*hosts == '/')
        return pdk__cli_usage("%s: '%s' has a chroot, and no HOST:PORT before it", command,
                              pdk__cli_short(hosts, text));
    while (next(&at, entry, sizeof entry)) {
        const char *colon = strrchr(entry, ':');
        if (colon == NULL || colon == entry || !pdk__cli_number_whole(colon + 1, 1, 65535, &port))
            return pdk__cli_usage("%s: '%s' is no HOST:PORT with a port from 1 to 65535", command,
                                  pdk__cli_short(entry, text));
    }
    return check_chroot(command, hosts);
}

size_t pdk__cli_target_chroot_parent(const char *hosts, char *buf, size_t size)
{
    const char *chroot = strchr(hosts, '/'), *last = strrchr(hosts, '/');
    if (chroot == NULL || last == chroot)
        return 0;
    return (size_t)snprintf(buf, size, "%.*s", (int)(last - chroot), chroot);
}

/* --- unknown hosts ----------------------------------------------------------------------------------------------- */

enum { RESOLVE_MS = 1000 };

static bool is_known(const char *host)
{
    struct addrinfo *found = NULL;
    int rc = getaddrinfo(host, NULL, NULL, &found);
    if (rc == 0)
        freeaddrinfo(found);
    return rc == 0;
}

static void find_unknown(const char *hosts, char *host, size_t size)
{
    const char *at = hosts;
    bool known = true;
    while (known && next(&at, host, size)) {
        char *colon = strrchr(host, ':');
        if (colon != NULL)
            *colon = '\0';
        known = is_known(host);
    }
    if (known)
        *host = '\0';
}

/* For the thread that asks; the thread owns this, because a resolver may hang for longer than the wait for its
 * answer. */
struct inquiry {
    int answer; /* a pipe's end */
    char hosts[];
};

static void *inquire(void *arg)
{
    struct inquiry *q = arg;
    char host[PDK__CLI_SHORT] = "";
    find_unknown(q->hosts, host, sizeof host);
    (void)!write(q->answer, host, sizeof host); /* less than PIPE_BUF: whole, or not at all */
    close(q->answer);
    free(q);
    return NULL;
}

static bool start_inquiry(const char *hosts, int answer)
{
    pthread_t thread;
    size_t size = strlen(hosts) + 1;
    struct inquiry *q = malloc(sizeof *q + size);
    if (q == NULL)
        return false;
    q->answer = answer;
    memcpy(q->hosts, hosts, size);
    if (pthread_create(&thread, NULL, inquire, q) == 0)
        return pthread_detach(thread) == 0;
    free(q);
    return false;
}

bool pdk__cli_target_unknown_host(const char *hosts, char host[PDK__CLI_SHORT])
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    bool asked = start_inquiry(hosts, ends[1]);
    if (!asked)
        close(ends[1]);
    struct pollfd fd = {.fd = ends[0], .events = POLLIN};
    bool answered = asked && poll(&fd, 1, RESOLVE_MS) > 0 && read(ends[0], host, PDK__CLI_SHORT) == PDK__CLI_SHORT;
    close(ends[0]);
    return answered && *host != '\0';
}
