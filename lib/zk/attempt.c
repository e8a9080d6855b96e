#include "lib/zk/attempt.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/random.h>

/*
 * Unique within a session, whichever threads and clients of the process share it, hence one counter for the process. It
 * begins at a random number, because a later process may attach to the same session while the first one's node still
 * exists. No lock: the child of a fork() might find it taken.
 */
static atomic_uint_least32_t last_attempt;

static void begin_somewhere(void)
{
    uint32_t somewhere;
    if (getrandom(&somewhere, sizeof somewhere, GRND_NONBLOCK) == sizeof somewhere)
        atomic_store(&last_attempt, somewhere);
}

uint32_t pdk__attempt_next(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    uint32_t attempt;
    pthread_once(&once, begin_somewhere);
    do
        attempt = atomic_fetch_add(&last_attempt, 1) + 1;
    while (attempt == 0); /* 0 means no attempt to a machine */
    return attempt;
}
