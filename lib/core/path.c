#include "lib/core/path.h"
#include <string.h>

static bool part_valid(const char *part, size_t length)
{
    if (length == 0 || (length == 1 && part[0] == '.') || (length == 2 && part[0] == '.' && part[1] == '.'))
        return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)part[i] < 0x20 || part[i] == 0x7f)
            return false;
    return true;
}

bool pdk__path_valid(const char *path)
{
    size_t length = strlen(path);
    if (length < 2 || length > PDK__PATH_MAX || path[0] != '/')
        return false;
    for (size_t from = 0, to; (to = pdk__path_next(path, from)) != 0; from = to)
        if (!part_valid(path + from + 1, to - from - 1))
            return false;
    return path[length - 1] != '/';
}

size_t pdk__path_next(const char *path, size_t length)
{
    if (path[length] == '\0')
        return 0;
    return length + 1 + strcspn(path + length + 1, "/");
}
