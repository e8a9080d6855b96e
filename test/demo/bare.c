/*
 * A client of ZooKeeper's own C library that does nothing: it measures the cost of a session without a lock.
 *
 *     bare HOSTS SESSION_MS
 *
 * Ends at the end of its input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <zookeeper/zookeeper.h>

static void ignore_event(zhandle_t *zh, int type, int state, const char *path, void *arg)
{
    (void)zh, (void)type, (void)state, (void)path, (void)arg;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 64;
    zoo_set_debug_level((ZooLogLevel)0);
    zhandle_t *zh = zookeeper_init(argv[1], ignore_event, atoi(argv[2]), NULL, NULL, 0);
    if (zh == NULL)
        return 1;
    while (getchar() != EOF)
        ;
    return zookeeper_close(zh);
}
