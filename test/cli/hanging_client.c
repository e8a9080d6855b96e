/* Preloaded: the creation of a client never ends. */
#include <paddock/client.h>
#include <unistd.h>

int pdk_client_new(pdk_client **out, const char *hosts, const pdk_client_options *options)
{
    (void)out, (void)hosts, (void)options;
    for (;;)
        pause();
}
