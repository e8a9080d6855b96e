/* SPDX-License-Identifier: Apache-2.0 */
/* Take a lock, say which token it came with, release it: mutex [HOSTS [PATH]]. */
#include <inttypes.h>
#include <paddock.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    pdk_client *client = NULL;
    pdk_mutex *mutex = NULL;
    int64_t token = 0;
    char why[300];

    int rc = pdk_client_new(&client, argc > 1 ? argv[1] : "127.0.0.1:2181", NULL);
    if (rc == 0)
        rc = pdk_mutex_new(&mutex, client, argc > 2 ? argv[2] : "/locks/orders", NULL);
    if (rc == 0)
        rc = pdk_mutex_timedlock(mutex, 10000); /* or pdk_mutex_lock(), or pdk_mutex_trylock() */
    if (rc == 0) {
        pdk_lock_token(mutex, &token, NULL);
        printf("held, token %" PRId64 "\n", token); /* the work; give the token to what you write to */
        rc = pdk_mutex_unlock(mutex);               /* PDK_ELOST: it was not ours any more while we worked */
    }
    if (rc != 0) { /* the text names the server or the holder, where there is one */
        bool told = pdk_lock_last_error(mutex, why, sizeof why) > 0;
        fprintf(stderr, "mutex: %s\n", told ? why : pdk_strerror(rc));
    }
    pdk_lock_free(mutex);
    pdk_client_free(client);
    return rc != 0;
}
