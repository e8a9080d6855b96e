/* Paths, as a caller or a command line may give them. */
#include "lib/core/path.h"
#include "test/fuzz/fuzz.h"

const char pdk__fuzz_name[] = "path";

/* The rules of the header, one after the other. */
static bool valid(const char *path)
{
    size_t length = strlen(path);
    if (path[0] != '/' || length < 2 || length > PDK__PATH_MAX || path[length - 1] == '/')
        return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)path[i] < ' ' || path[i] == 127)
            return false;
    static const char *const never[] = {"//", "/./", "/../"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (strstr(path, never[i]) != NULL)
            return false;
    return strcmp(strrchr(path, '/'), "/.") != 0 && strcmp(strrchr(path, '/'), "/..") != 0;
}

/* Each ancestor of a valid path is one itself, is longer than the one before, and the last one is the path. */
static void check_ancestors(const char *path)
{
    size_t length = 0, next;
    while ((next = pdk__path_next(path, length)) != 0) {
        MUST(next > length && path[length] == '/' && (path[next] == '/' || path[next] == '\0'));
        MUST(memchr(path + length + 1, '/', next - length - 1) == NULL);
        char *ancestor = text_of((const uint8_t *)path, next);
        MUST(pdk__path_valid(ancestor));
        free(ancestor);
        length = next;
    }
    MUST(length == strlen(path));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *path = text_of(data, size);
    MUST(pdk__path_valid(path) == valid(path));
    if (pdk__path_valid(path))
        check_ancestors(path);
    free(path);
    return 0;
}
