/* Preloaded: a client that is never made. */
#include <paddock/client.h>
#include <unistd.h>

int pdk_client_new(pdk_client **out, const char *hosts, const pdk_client_options *options)
{
    (void)out, (void)hosts, (void)options;
    for (;;)
        pause();
}
