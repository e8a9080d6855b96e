/* The driver's registry, as it ships; and a way to forget the processes of the run before. Compiled with shim.h. */
#include "lib/zk/registry.c" /* NOLINT: its variables are its own */

void registry_begin(void);

void registry_begin(void)
{
    pdk__list_init(&clients);
    last_id = 0;
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}
