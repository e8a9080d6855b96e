/* Lock and unlock a free mutex N times: lock_cycles HOSTS N. test/build/assertions-cost counts its instructions. */
#include <paddock.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    pdk_client *client = NULL;
    pdk_mutex *mutex = NULL;
    int rc = argc == 3 ? pdk_client_new(&client, argv[1], NULL) : PDK_EINVAL;
    if (rc == 0)
        rc = pdk_mutex_new(&mutex, client, "/lock-cycles", NULL);
    for (int i = 0; rc == 0 && i < atoi(argv[2]); i++) {
        rc = pdk_mutex_lock(mutex);
        if (rc == 0)
            rc = pdk_mutex_unlock(mutex);
    }
    if (rc != 0)
        fprintf(stderr, "lock_cycles: %s\n", pdk_strerror(rc));
    pdk_lock_free(mutex);
    pdk_client_free(client);
    return rc == 0 ? 0 : 1;
}
