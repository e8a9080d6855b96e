/* Preloaded: a resolver that never answers. */
#include <netdb.h>
#include <unistd.h>

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **res)
{
    (void)node, (void)service, (void)hints, (void)res;
    for (;;)
        pause();
}
