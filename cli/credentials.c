#include "cli/credentials.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int pdk__cli_credentials_take(pdk_client_options *o, const char *text)
{
    const char *colon = strchr(text, ':');
    if (colon == NULL || colon == text || colon[1] == '\0')
        return -1;
    char *scheme = strndup(text, (size_t)(colon - text));
    int rc = scheme != NULL ? pdk_client_options_add_auth(o, scheme, colon + 1) : PDK_ENOMEM;
    free(scheme);
    return rc == 0 ? 0 : -1;
}

enum { FILE_MAX = 65536 };

static int take_lines(pdk_client_options *o, char *text, size_t size)
{
    int number = 0;
    for (char *line = text, *next; line < text + size; line = next) {
        char *end = memchr(line, '\n', size - (size_t)(line - text));
        next = end != NULL ? end + 1 : text + size;
        number++;
        line[strcspn(line, "\r\n")] = '\0';
        if (*line != '\0' && *line != '#' && pdk__cli_credentials_take(o, line) != 0)
            return number;
    }
    return 0;
}

/* The lines are secrets: no buffer of the stream has them, and ours is wiped. A device may have no end. */
static int read_lines(pdk_client_options *o, FILE *in)
{
    static char text[FILE_MAX + 1];
    setvbuf(in, NULL, _IONBF, 0);
    size_t size = fread(text, 1, FILE_MAX, in);
    int bad = size == FILE_MAX ? -EFBIG : take_lines(o, text, size);
    explicit_bzero(text, sizeof text);
    return bad;
}

int pdk__cli_credentials_read(pdk_client_options *o, const char *file)
{
    FILE *in = fopen(file, "re");
    if (in == NULL)
        return -errno;
    errno = 0;
    int rc = read_lines(o, in);
    if (rc == 0 && ferror(in))
        rc = errno != 0 ? -errno : -EIO;
    fclose(in);
    return rc;
}

static int permissions(const char *letters)
{
    static const char known[] = "rwcda";
    static const int bits[] = {PDK_PERM_READ, PDK_PERM_WRITE, PDK_PERM_CREATE, PDK_PERM_DELETE, PDK_PERM_ADMIN};
    int perms = 0;
    for (; *letters != '\0'; letters++) {
        const char *at = strchr(known, *letters);
        if (at == NULL)
            return 0;
        perms |= bits[at - known];
    }
    return perms;
}

int pdk__cli_credentials_acl(pdk_client_options *o, const char *text)
{
    const char *first = strchr(text, ':'), *last = strrchr(text, ':');
    /* The identity may contain colons of its own, as digest's does; it may be empty, as that of "auth" is. */
    if (first == NULL || first == text || first == last || permissions(last + 1) == 0)
        return -1;
    char *scheme = strndup(text, (size_t)(first - text));
    char *id = strndup(first + 1, (size_t)(last - first - 1));
    int rc = scheme != NULL && id != NULL ? pdk_client_options_add_acl(o, scheme, id, permissions(last + 1))
                                          : PDK_ENOMEM;
    free(scheme);
    free(id);
    return rc == 0 ? 0 : -1;
}
