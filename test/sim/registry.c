/* The driver's registry, as it ships; and a way to forget the processes of the run before. Compiled with shim.h. */
#include "lib/zk/registry.c" /* NOLINT: its variables are its own */
#include <string.h>

void registry_begin(void);

void registry_begin(void)
{
    memset(by_id, 0, sizeof by_id);
    memset(by_handle, 0, sizeof by_handle);
    last_id = 0;
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}
