/* Functions of the C library that CBMC does not have. */
#include <string.h>

size_t strspn(const char *text, const char *of)
{
    size_t n = 0;
    while (text[n] != '\0' && strchr(of, text[n]) != NULL)
        n++;
    return n;
}

size_t strcspn(const char *text, const char *of)
{
    size_t n = 0;
    while (text[n] != '\0' && strchr(of, text[n]) == NULL)
        n++;
    return n;
}
